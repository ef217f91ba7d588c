"""Agreement on each criterion that a judge scores and people rated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.agreeing import (
    Report,
    Unscored,
    agreement_report,
    oriented,
    plain,
    unscored,
)
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.ratings import Aggregate
from judgesmith.experiments.targets import UselessTargetError, targets_of
from judgesmith.metrics.correlation import Level, Statistic
from judgesmith.optimizers.predictions import on_criterion, prediction_table
from judgesmith.signatures import Judgement
from judgesmith.signatures.rubric import folded

LEVELS: tuple[Level, ...] = ("dataset",)
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
"""What is computed of every criterion: there may be ten, and intervals take their time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionReports:
    """Agreement with people by criterion, under the names that people's ratings have.

    Attributes
    ----------
    reports : dict of str to Report
        Criteria that the judge scores and people rated, in the data's order.
    unscored : dict of str to Unscored
        For each of these, the rated rows without a score on it.
    left_out : dict of str to str
        Criteria that both know and that still have no report, and why in one sentence.
    """

    reports: Mapping[str, Report] = field(default_factory=dict)
    unscored: Mapping[str, Unscored] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the reports by name, ready for JSON."""
        return {name: plain(report) for name, report in self.reports.items()}


def criterion_reports(
    dataset: DataSet,
    places: Sequence[int],
    judgements: Sequence[Judgement],
    *,
    aggregate: Aggregate = "mean",
    rng: np.random.Generator,
    levels: Sequence[Level] = LEVELS,
    statistics: Sequence[Statistic] = STATISTICS,
) -> CriterionReports:
    """Return how well a judge's score on each criterion agrees with what people said on it.

    Parameters
    ----------
    dataset : DataSet
        Rated items. Criteria have the judge's names in it, but for case, ``_`` and blanks.
    places : sequence of int
        Indices of the judged items in ``dataset``.
    judgements : sequence of Judgement
        One for each place.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How an item's ratings on one criterion become one value.
    rng : Generator
        Draws the intervals.
    levels, statistics : sequence of str
        What is computed, as for ``agreement_report``; every one costs time, by criterion.

    Raises
    ------
    ValueError
        If there is not one judgement for each place.

    Examples
    --------
    >>> from judgesmith.experiments.reading import read_items
    >>> from judgesmith.programs import ActiveCritic, judge_items
    >>> data = read_items("sample")
    >>> judgements = judge_items(ActiveCritic(), data.items[:40])
    >>> found = criterion_reports(data, range(40), judgements, rng=np.random.default_rng(0))
    >>> {name: report["dataset"]["pearson"].n for name, report in found.reports.items()}
    {'faithfulness': 40, 'fluency': 40}
    """
    if len(places) != len(judgements):
        raise InputError(
            f"need one judgement for each place; got {len(judgements)} for {len(places)}."
        )
    chosen = np.asarray(places, dtype=np.intp)
    part = dataset.subset(chosen.tolist())
    names = judged_criteria(judgements)
    # The same resamples for every criterion: none depends on which others there are.
    seed = int(rng.integers(2**63))
    reports: dict[str, Report] = {}
    without: dict[str, Unscored] = {}
    left_out: dict[str, str] = {}
    for name in dataset.criteria:
        if folded(name) not in names:
            continue
        if name not in part.criteria:
            left_out[name] = "nobody rated it on these rows"
            continue
        try:
            targets = targets_of(part, name, aggregate)
        except UselessTargetError as fault:
            left_out[name] = str(fault).rstrip(".")
            continue
        rated = targets.rated
        table = prediction_table(
            on_criterion([judgements[i] for i in rated.tolist()], name),
            oriented(targets)[rated],
            # Groups are those of the whole set: rows may hang together through others.
            sources=dataset.groups[chosen[rated]],
            systems=np.asarray([part[i].system_id for i in rated.tolist()]),
        )
        reports[name] = agreement_report(
            table, rng=np.random.default_rng(seed), levels=levels, statistics=statistics
        )
        without[name] = unscored(table)
    return CriterionReports(reports=reports, unscored=without, left_out=left_out)


def judged_criteria(judgements: Iterable[Judgement]) -> dict[str, str]:
    """Return the judge's criteria by their folded names; none where it scores only the whole."""
    names = dict.fromkeys(name for one in judgements for name in one.criteria)
    return {folded(name): name for name in names}
