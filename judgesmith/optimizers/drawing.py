"""Drawing demonstrations: which rated rows are shown to the model, and in what form.

Active-Critic, stage 3. A labelled demonstration shows texts and what people said; a bootstrapped
one also shows the criterion scores and explanations of a run of the uncompiled judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.rows import Rows
from judgesmith.programs.judging.logprobs import as_stated
from judgesmith.programs.judging.prompts import LEFT_OUT
from judgesmith.programs.judging.scoring import (
    assessing_names,
    assessments_text,
    fixed_inputs,
    question_names,
)
from judgesmith.signatures.config import ActiveCriticConfig, Demonstration, JudgeConfig
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import is_percent, level_of

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
    partial_demos : bool
        Whether the question about all criteria is also shown labelled rows with the overall
        score alone, where people did not score the criteria.
    """

    rows: Rows
    runs: Mapping[int, Judgement]
    partial_demos: bool = False

    def draw(
        self, protocol: ActiveCriticConfig, n: int, n_bootstrapped: int, rng: np.random.Generator
    ) -> Shown:
        """Return ``n`` demonstrations by question, ``n_bootstrapped`` of them with runs.

        A vanilla judge is shown labelled ones. The one question of a coarse judge and the
        overall question of a fine one get both kinds, in drawn order. A question about criteria
        gets the bootstrapped ones, and those labelled ones whose criteria people scored.
        """
        runs = () if protocol.variant == "vanilla" else sorted(self.runs)
        kept = np.asarray(runs, dtype=int)
        with_runs = rng.permutation(kept)[:n_bootstrapped]
        others = np.setdiff1d(np.arange(len(self.rows)), with_runs)
        labelled = rng.permutation(others)[: n - len(with_runs)]
        order = rng.permutation(np.concatenate([with_runs, labelled])).tolist()
        return self.shown(protocol, order, with_runs.tolist())

    def shown(
        self, protocol: ActiveCriticConfig, order: Sequence[int], with_runs: Iterable[int]
    ) -> Shown:
        """Return the rows in ``order`` by question, those in ``with_runs`` with their runs."""
        bootstrapped = set(with_runs)
        shown = {}
        for question in question_names(protocol):
            drawn = [self._shown(protocol, question, row, row in bootstrapped) for row in order]
            if found := tuple(one for one in drawn if one is not None):
                shown[question] = found
        return shown

    def _shown(
        self, protocol: ActiveCriticConfig, question: str, row: int, bootstrapped: bool
    ) -> Demonstration | None:
        """Return a row as one question shows it, or None where there is nothing to show."""
        inputs = {**fixed_inputs(protocol, question), **_texts(self.rows.items[row])}
        assessing = question in assessing_names(protocol)
        outputs: Mapping[str, Any] | None
        if bootstrapped:
            run = self.runs[row]
            names = protocol.rubric.names
            criteria = {name: run.criteria[name] for name in names if name in run.criteria}
            if question == "overall":
                inputs["assessments"] = assessments_text(criteria, protocol.answers)
            if assessing:
                outputs = _assessed(protocol, question, criteria)
            else:
                # The run's own score stays: its explanation argues for that one.
                own = level_of(_as_asked(run.raw or 0.0, protocol), protocol.answers)
                outputs = {"explanation": run.explanation, "score": own}
                outputs = _in_words(outputs, protocol)
            kind = "bootstrapped"
        else:
            outputs = (
                self._labelled(protocol, question, row)
                if assessing
                else self._graded(protocol, row)
            )
            kind = "labelled"
        if outputs is None:
            return None
        return Demonstration.model_validate({"inputs": inputs, "outputs": outputs, "kind": kind})

    def _graded(self, protocol: ActiveCriticConfig, row: int) -> dict[str, Any]:
        return {"score": level_of(self._percent(protocol, row), protocol.answers)}

    def _percent(self, protocol: ActiveCriticConfig, row: int) -> float:
        return _as_asked(float(self.rows.percent()[row]), protocol)

    def _labelled(
        self, protocol: ActiveCriticConfig, question: str, row: int
    ) -> dict[str, Any] | None:
        """Return what people said of the criteria that a question asks for."""
        rated = self.rows.criteria
        said = {
            name: float(rated[folded(name)][row])
            for name in protocol.rubric.names
            if folded(name) in rated and not np.isnan(rated[folded(name)][row])
        }
        criteria = {
            name: CriterionScore(score=round(points), explanation=LEFT_OUT)
            for name, points in said.items()
        }
        if question != "assess" or len(criteria) == len(protocol.rubric.names):
            return _assessed(protocol, question, criteria)
        if self.partial_demos:
            graded = CriterionScore(score=self._percent(protocol, row), explanation=LEFT_OUT)
            return {"assessments": _records({"overall": graded}, protocol)}
        return None


def demonstrated(protocol: JudgeConfig) -> ActiveCriticConfig:
    """Return a protocol whose questions show graded examples.

    Raises
    ------
    ValueError
        If judges of its family show none.
    """
    if not isinstance(protocol, ActiveCriticConfig):
        raise InputError(
            f"a {protocol.judge} judge shows no graded examples; search none for it, or use an "
            "active-critic judge."
        )
    return protocol


def _as_asked(percent: float, protocol: ActiveCriticConfig) -> float:
    """Return a whole number where models answer on 0 to 100; other scales round by themselves."""
    return round(percent) if is_percent(protocol.answers) else percent


def kept_runs(
    rows: Rows, judgements: Sequence[Judgement], *, criteria: Sequence[str] = ()
) -> dict[int, Judgement]:
    """Return the teacher's runs that may be shown: those near to what people said.

    Runs without a word or a criterion's score show no more than the row itself and are left out,
    as are those that lack the score of a criterion that is asked for, and those whose words
    quote what marks the fields of a question: an answer that is shown has no fences.

    Parameters
    ----------
    rows : Rows
        The pool.
    judgements : sequence of Judgement
        The teacher's, one per row.
    criteria : sequence of str
        Names of the criteria that the questions they are to be shown in ask for.
    """
    judgements = [as_stated(one) for one in judgements]  # what an answer that is shown says
    distance = {
        row: abs(one.raw - percent)
        for row, (one, percent) in enumerate(zip(judgements, rows.percent(), strict=True))
        if one.raw is not None
        and (one.criteria or one.explanation)
        and _is_whole(one, criteria)
        and not any(map(imitates_layout, _words_of(one)))
    }
    nearest = sorted(distance, key=lambda row: (distance[row], row))
    n_near = sum(gap <= NEAR for gap in distance.values())
    return {row: judgements[row] for row in nearest[: max(n_near, FEWEST_KEPT)]}


def shown_keys(shown: Shown) -> tuple[str, ...]:
    """Return ``RatedItem.key`` of every row that demonstrations were made from, each once."""
    return tuple(dict.fromkeys(one.key for several in shown.values() for one in several))


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


def _assessed(
    protocol: ActiveCriticConfig, question: str, criteria: Mapping[str, CriterionScore]
) -> dict[str, Any] | None:
    """Return the answer to a question about all criteria, or to one about a single criterion."""
    if question == "assess":
        return {"assessments": _records(criteria, protocol)}
    name = protocol.rubric.names[assessing_names(protocol).index(question)]
    one = criteria.get(name)
    if one is None or one.score is None:
        return None
    return _in_words(
        {"explanation": one.explanation, "score": level_of(one.score, protocol.answers)}, protocol
    )


def _records(
    criteria: Mapping[str, CriterionScore], protocol: ActiveCriticConfig
) -> list[dict[str, Any]]:
    """Return assessments with their keys in the order in which they are asked for."""
    keys = {
        "before": ("criterion", "explanation", "score"),
        "after": ("criterion", "score", "explanation"),
        "none": ("criterion", "score"),
    }[protocol.explain]
    records = []
    for name, one in criteria.items():
        score = None if one.score is None else level_of(one.score, protocol.answers)
        record = {"criterion": name, "explanation": one.explanation or LEFT_OUT, "score": score}
        records.append({key: record[key] for key in keys})
    return records


def _in_words(outputs: Mapping[str, Any], protocol: ActiveCriticConfig) -> dict[str, Any]:
    """Return an answer without its explanation, where none is asked for or there is none."""
    silent = protocol.explain == "none" or outputs["explanation"] in ("", LEFT_OUT)
    return {k: v for k, v in outputs.items() if k != "explanation" or not silent}


def _is_whole(judgement: Judgement, criteria: Sequence[str]) -> bool:
    """Say whether no criterion is without a score: a gap is nothing to learn from."""
    scored = [name for name, one in judgement.criteria.items() if one.score is not None]
    return len(scored) == len(judgement.criteria) and set(criteria) <= set(scored)


def _words_of(judgement: Judgement) -> Iterator[str]:
    yield judgement.explanation
    yield from (one.explanation for one in judgement.criteria.values())


def _texts(item: RatedItem) -> dict[str, str | None]:
    return {"source": item.source, "context": item.context, "response": item.response}
