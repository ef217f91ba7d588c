"""The local perspective of a judge that compares: which of two texts has fewer errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.asked_samples import sampled_once
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.direct_comparison import DirectComparison, compare_directly
from judgesmith.experiments.perspective_ratings import builders
from judgesmith.experiments.perspective_report import built_by_itself
from judgesmith.experiments.perspectives import (
    TEMPERATURE,
    criteria_of_target,
    nothing_scored,
)
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.signatures.rubric import folded

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectReport:
    """How often a judge that compares prefers the text with fewer errors, by criterion.

    Attributes
    ----------
    label : str
        What was evaluated.
    reports : dict of str to DirectComparison
        By criterion, in the data's order.
    notes : tuple of str
        What a reader should know.
    """

    label: str
    reports: Mapping[str, DirectComparison]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "judge": self.label,
            "perspective": "local",
            "compared": {name: one.to_dict() for name, one in self.reports.items()},
            "notes": list(self.notes),
        }


def compared_by_judge(
    judge: SavedJudge,
    dataset: DataSet,
    *,
    target: str | None = None,
    samples: int | None = None,
    lm: dspy.LM | None = None,
    models: Sequence[str] = (),
    label: str = "judge",
    concurrency: int = 32,
    progress: Callable[[int], None] | None = None,
) -> DirectReport:
    """Ask a judge that compares about texts of a source that differ by one to five errors.

    Parameters
    ----------
    judge : SavedJudge
        That compares two texts.
    dataset : DataSet
        A built benchmark whose rows say how many errors they have.
    target : str or None
        A criterion; None takes the one that the judge was compiled for, or the only one.
    samples : int or None
        Answers in each order, at temperature 1; None takes the judge as it was saved.
    lm, models, label, concurrency, progress
        As for ``perspective_of_judge``.

    Raises
    ------
    ValueError
        As for ``compare_directly``; if it is not clear which criterion is meant.
    """
    names, alone = criteria_of_target(dataset, target)
    if not alone:
        names = [one for one in names if folded(one) == folded(judge.target)]
        if not names:
            raise nothing_scored(dataset)
    n = judge.protocol.samples if samples is None else samples
    temperature = judge.protocol.temperature if samples is None else TEMPERATURE
    once = sampled_once(judge, temperature)
    reports = {
        name: compare_directly(
            once, dataset, name, samples=n, lm=lm, concurrency=concurrency, progress=progress
        )
        for name in names
    }
    notes = [
        f"it was compiled for {judge.target}, and compares texts by {name}."
        for name in names
        if folded(name) != folded(judge.target)
    ]
    notes += built_by_itself(builders(dataset), {*judge.models, *models})
    return DirectReport(label=label, reports=reports, notes=tuple(notes))
