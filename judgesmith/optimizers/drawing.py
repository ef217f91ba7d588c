"""Drawing demonstrations: which rated rows are shown to the model, and in what form.

Active-Critic, stage 3. A labelled demonstration shows texts and the human score; a bootstrapped
one also shows the criterion scores and explanations of a run of the uncompiled judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.rows import Rows
from judgesmith.programs.critic_steps import assessments_text
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.points import whole
from judgesmith.signatures.protocol import Demonstration, Protocol
from judgesmith.signatures.rated import RatedItem

NEAR = 10.0
"""A run is kept for bootstrapping when its overall is this near to the human score, of 100."""

FEWEST_KEPT = 25
"""With fewer runs that near, the nearest ones are kept up to this number."""

Shown = Mapping[str, tuple[Demonstration, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Rows that may be shown, with what the teacher made of them.

    Attributes
    ----------
    rows : Rows
        Rated rows that nothing is selected on.
    runs : dict of int to Judgement
        The teacher's runs that may be shown, by row.
    """

    rows: Rows
    runs: Mapping[int, Judgement]

    def draw(
        self, protocol: Protocol, n: int, n_bootstrapped: int, rng: np.random.Generator
    ) -> Shown:
        """Return ``n`` demonstrations by predictor, ``n_bootstrapped`` of them with runs.

        The overall question gets both kinds, in drawn order; the criteria question the
        bootstrapped ones; a vanilla judge labelled ones.
        """
        kept = np.asarray(sorted(self.runs), dtype=int)
        with_runs = (
            rng.permutation(kept)[:n_bootstrapped] if protocol.variant == "fine" else kept[:0]
        )
        others = np.setdiff1d(np.arange(len(self.rows)), with_runs)
        labelled = rng.permutation(others)[: n - len(with_runs)]
        order = rng.permutation(np.concatenate([with_runs, labelled]))
        bootstrapped = set(with_runs.tolist())
        if protocol.variant == "vanilla":
            return {"grade": tuple(self._labelled(i, {}) for i in order)}
        fixed = {"task": protocol.rubric.task}
        shown = {
            "overall": tuple(
                self._argued(i, fixed) if i in bootstrapped else self._labelled(i, fixed)
                for i in order
            ),
            "assess": tuple(self._assessed(i, protocol) for i in order if i in bootstrapped),
        }
        return {name: several for name, several in shown.items() if several}

    def _labelled(self, row: int, fixed: Mapping[str, str]) -> Demonstration:
        score = round(float(self.rows.percent()[row]))
        return Demonstration(
            inputs={**fixed, **_texts(self.rows.items[row])}, outputs={"score": score}
        )

    def _argued(self, row: int, fixed: Mapping[str, str]) -> Demonstration:
        run = self.runs[row]
        inputs = {
            **fixed,
            **_texts(self.rows.items[row]),
            "assessments": assessments_text(run.criteria),
        }
        # The run's own score stays: its explanation argues for that one.
        outputs = {"explanation": run.explanation, "score": round(run.raw or 0.0)}
        return Demonstration(inputs=inputs, outputs=outputs, kind="bootstrapped")

    def _assessed(self, row: int, protocol: Protocol) -> Demonstration:
        from judgesmith.programs.critic_steps import criteria_text

        run = self.runs[row]
        inputs = {
            "task": protocol.rubric.task,
            "criteria": criteria_text(protocol.rubric),
            **_texts(self.rows.items[row]),
        }
        assessments = [
            {
                "criterion": name,
                "explanation": one.explanation,
                "score": None if one.score is None else whole(one.score),
            }
            for name, one in run.criteria.items()
        ]
        return Demonstration(
            inputs=inputs, outputs={"assessments": assessments}, kind="bootstrapped"
        )


def kept_runs(rows: Rows, judgements: Sequence[Judgement]) -> dict[int, Judgement]:
    """Return the teacher's runs that may be shown: those near to what people said.

    Parameters
    ----------
    rows : Rows
        The pool.
    judgements : sequence of Judgement
        The teacher's, one per row.
    """
    distance = {
        row: abs(one.raw - percent)
        for row, (one, percent) in enumerate(zip(judgements, rows.percent(), strict=True))
        if one.raw is not None and one.criteria
    }
    nearest = sorted(distance, key=lambda row: (distance[row], row))
    n_near = sum(gap <= NEAR for gap in distance.values())
    return {row: judgements[row] for row in nearest[: max(n_near, FEWEST_KEPT)]}


def demonstration_plan(
    n: int, n_rounds: int, rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Yield how many demonstrations each round shows, and how many of them bootstrapped.

    The first round shows none, the second labelled ones only, the others a random share.

    Examples
    --------
    >>> list(demonstration_plan(3, 4, np.random.default_rng(0)))
    [(0, 0), (3, 0), (3, 3), (3, 2)]
    """
    for number in range(n_rounds):
        if number == 0:
            yield 0, 0
        elif number == 1:
            yield n, 0
        else:
            yield n, int(rng.integers(n + 1))


def _texts(item: RatedItem) -> dict[str, str | None]:
    return {"source": item.source, "context": item.context, "response": item.response}
