"""How well a judge, or a file of scores, agrees with people on a rated set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.experiments.agreeing import Report, Unscored, agreement_report, plain, unscored
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.score_files import Scores
from judgesmith.experiments.targets import Targets, targets_of
from judgesmith.optimizers.table import JudgedTable, judged_table
from judgesmith.programs import Judge, SavedJudge, judge_items
from judgesmith.signatures import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable

    import dspy


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Agreement with people, on rows the judge has seen and on others apart.

    Attributes
    ----------
    label, target : str
        What was evaluated, and against which ratings.
    unseen, seen : Report or None
        On rows that the judge was not made from, and on those it was; None without such rows.
        Of scores on file nobody knows what made them: all their rows count as unseen.
    unscored : Unscored
        Rows without a score among all rated ones.
    n_unseen, n_seen, n_unrated : int
        Rated rows of either kind, and rows nobody rated.
    """

    label: str
    target: str
    unseen: Report | None
    seen: Report | None
    unscored: Unscored
    n_unseen: int
    n_seen: int
    n_unrated: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "judge": self.label,
            "target": self.target,
            "rows": {
                "unseen": self.n_unseen,
                "seen": self.n_seen,
                "unscored": self.unscored.n,
                "unrated": self.n_unrated,
            },
            "problems": dict(self.unscored.reasons),
            "heldout": plain(self.unseen),
            "seen": plain(self.seen),
        }


def evaluate_judge(
    judge: Judge | SavedJudge,
    dataset: DataSet,
    targets: Targets | None = None,
    *,
    lm: dspy.LM | None = None,
    rng: np.random.Generator,
    label: str = "judge",
    concurrency: int = 32,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Judge every rated row and report the agreement, rows the judge was made from apart.

    Parameters
    ----------
    judge : Judge or SavedJudge
        Only a saved judge knows which rows it was made from.
    dataset : DataSet
        Rated items.
    targets : Targets or None
        Which ratings count; None takes what the judge was compiled for, or the set's own default.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    rng : Generator
        Draws the intervals.
    label : str
        What the judge is called in the report.
    concurrency : int
        Items judged at the same time.
    progress : callable or None
        Told how many items were finished since it was last told.

    Raises
    ------
    ValueError
        If nobody rated the target.

    Examples
    --------
    >>> from judgesmith.experiments.reading import read_items
    >>> from judgesmith.programs import ActiveCritic
    >>> found = evaluate_judge(ActiveCritic(), read_items("sample"), rng=np.random.default_rng(0))
    >>> found.target, found.n_unseen, found.seen is None
    ('overall', 160, True)
    """
    if targets is None:
        targets = targets_of(dataset, getattr(judge, "target", "auto"))
    items = [dataset[i] for i in targets.rated.tolist()]
    judgements = judge_items(judge, items, lm=lm, concurrency=concurrency, progress=progress)
    known = judge.seen_keys if isinstance(judge, SavedJudge) else frozenset()
    seen = np.asarray([item.key in known for item in items], dtype=bool)
    return _evaluation(label, dataset, targets, judgements, seen, rng)


def evaluate_scores(
    scores: Scores, dataset: DataSet, targets: Targets, *, rng: np.random.Generator
) -> Evaluation:
    """Report the agreement of scores that are already there."""
    judgements = [
        Judgement(score=None if np.isnan(value) else float(value), problem=problem)
        for value, problem in zip(scores.values, scores.problems, strict=True)
    ]
    rated = targets.rated.tolist()
    nothing_seen = np.zeros(len(rated), dtype=bool)
    chosen = [judgements[i] for i in rated]
    return _evaluation(scores.label, dataset, targets, chosen, nothing_seen, rng)


def rated_table(dataset: DataSet, targets: Targets, judgements: Sequence[Judgement]) -> JudgedTable:
    """Return the table of the rated rows, one judgement per rated row."""
    rated = targets.rated
    return judged_table(
        judgements,
        targets.values[rated],
        sources=dataset.groups[rated],
        systems=np.asarray([dataset[i].system_id for i in rated.tolist()]),
    )


def _evaluation(
    label: str,
    dataset: DataSet,
    targets: Targets,
    judgements: Sequence[Judgement],
    seen: np.ndarray,
    rng: np.random.Generator,
) -> Evaluation:
    table = rated_table(dataset, targets, judgements)
    return Evaluation(
        label=label,
        target=targets.name,
        unseen=_report(table, ~seen, rng),
        seen=_report(table, seen, rng),
        unscored=unscored(table),
        n_unseen=int(np.sum(~seen)),
        n_seen=int(np.sum(seen)),
        n_unrated=targets.n_unrated,
    )


def _report(table: JudgedTable, chosen: np.ndarray, rng: np.random.Generator) -> Report | None:
    return agreement_report(table.take(np.flatnonzero(chosen)), rng=rng) if chosen.any() else None
