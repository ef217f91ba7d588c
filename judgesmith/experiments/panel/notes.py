"""What a reader of a panel should know beside its numbers, and what each part is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from statistics import fmean

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.compile.notes import notes_on_versions, unclear_text
from judgesmith.experiments.compile.versions import DiscernmentReport, unnoticed_note
from judgesmith.experiments.evaluate.agreement import Gain
from judgesmith.experiments.panel.rows import PanelParts
from judgesmith.metrics.records import Record
from judgesmith.optimizers import PanelSelection, parse_objectives
from judgesmith.optimizers.fitting.panels import unpredicted
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import as_objective
from judgesmith.optimizers.rows import Rows
from judgesmith.signatures.aggregation import Middle, PanelWeights
from judgesmith.signatures.scale import Scale

MOST_MEMBERS = 10
"""A panel of so many has 1,023 subsets; each further member doubles them."""

STATISTICS = ("q", "pearson", "spearman", "kendall", "spearman@sample")
"""What is told of each subset by default; the first orders them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset(Record):
    """Some members of a panel, and how well they agree with people."""

    members: tuple[str, ...]
    values: Mapping[str, float]  # by statistic; nan where it is undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetAnalysis(Record):
    """All non-empty subsets of a panel."""

    subsets: tuple[Subset, ...]
    n: int
    n_left_out: int
    middle: Middle

    @property
    def whole(self) -> Subset:
        return max(self.subsets, key=lambda one: len(one.members))

    def place_of(self, subset: Subset) -> int:
        """Return how many subsets are better, and one more."""
        return self.subsets.index(subset) + 1

    def by_size(self, statistic: str) -> dict[int, tuple[float, float]]:
        """Return mean and largest value of a statistic, by the number of members."""
        found = {}
        for size in range(1, len(self.whole.members) + 1):
            values = [one.values[statistic] for one in self.subsets if len(one.members) == size]
            defined = [value for value in values if not math.isnan(value)]
            found[size] = (fmean(defined), max(defined)) if defined else (math.nan, math.nan)
        return found


def subset_analysis(
    rows: Rows,
    scores: Mapping[str, Sequence[float | None]],
    scales: Mapping[str, Scale],
    *,
    statistics: Sequence[str | Objective] = STATISTICS,
    middle: Middle = "mean",
) -> SubsetAnalysis:
    """Return how well every non-empty subset of a panel agrees with people; nothing is asked.

    Each subset's score is the plain mean, or median, of its members' shares of their scales. All
    are compared on the rows that every member has a score of, so that none looks better for
    having passed over hard ones. Held-out rows select no subset here: the best of many
    looks better than it is.

    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", on the structure of the ensemble.
    """
    names = tuple(scores)
    if not names or len(names) > MOST_MEMBERS:
        raise InputError(
            f"subsets are of 1 to {MOST_MEMBERS} members, as each further one doubles them; got "
            f"{len(names)}."
        )
    for name, given in scores.items():
        if len(given) != len(rows):
            raise InputError(f"expected one score per row, {len(rows)}; {name} has {len(given)}.")
    common = [
        place
        for place in range(len(rows))
        if all(given[place] is not None for given in scores.values())
    ]
    if len(common) < 2:
        raise InputError(
            f"subsets are compared on rows that every member has a score of, two at least; there "
            f"are {len(common)} of {len(rows)}."
        )
    table = unpredicted(rows.take(common))
    objectives = {str(one): as_objective(one) for one in statistics}
    first = next(iter(objectives))
    subsets = []
    sizes = range(1, len(names) + 1)
    for chosen in chain.from_iterable(combinations(names, size) for size in sizes):
        weights = PanelWeights.equal({name: scales[name] for name in chosen}, middle)
        together = [
            weights.apply({name: scores[name][place] for name in chosen}) for place in common
        ]
        predicted = table.predicting(np.asarray(together, dtype=float), judge_scale=weights.scale)
        values = {name: one.value(predicted) for name, one in objectives.items()}
        subsets.append(Subset(members=chosen, values=values))

    def rank(one: Subset) -> tuple[bool, float, int]:
        value = one.values[first]
        return math.isnan(value), -value if not math.isnan(value) else 0.0, len(one.members)

    return SubsetAnalysis(
        subsets=tuple(sorted(subsets, key=rank)),
        n=len(common),
        n_left_out=len(rows) - len(common),
        middle=middle,
    )


_INCOMPLETE = "the budget ended before every row was judged; a larger one resumes from here."


def panel_notes(
    learner: PanelSelection | None,
    weights: PanelWeights,
    best: str,
    parts: PanelParts,
    gain: Gain | None,
    subsets: SubsetAnalysis | None,
    discernment: DiscernmentReport | None = None,
    *,
    objective: str,
    complete: bool,
) -> list[str]:
    said = []
    if parts.versions is not None and parts.selection is not None:
        if not parts.selection.is_rated:
            said.append(
                "the data has no ratings, so the panel's agreement with human ratings is unknown: "
                "it was selected by its sensitivity to changes. Rate some responses before you "
                "trust its scores."
            )
        said += notes_on_versions(parts.versions, parts.selection, parts.heldout)
        said += unnoticed_note(discernment, parse_objectives(objective))
    if parts.n_known:
        rated = "rated " * parts.is_rated
        said.append(
            f"{parts.n_known} {rated}rows are of sources that a judge of the panel was made from; "
            "they were left out."
        )
    trials = () if learner is None else learner.trials_
    ways = ", ".join(f"{one.name} {one.value:.3f}" for one in trials)
    if learner is not None and ways:
        said.append(
            f"{learner.objective} of the ways to weigh the judges, cross-fitted by source: {ways}; "
            f"{learner.chosen_} was taken, which asks {', '.join(weights.asked)}."
        )
    if len(weights.asked) == 1:
        said.append(
            "no panel agreed better than one judge alone: score with that one by itself, which is "
            "a usual outcome."
        )
    if learner is not None and learner.unweighed_:
        said.append(
            f"{', '.join(learner.unweighed_)} gave too few scores to be weighed, and is not asked."
        )
    if len(weights.asked) > 1:
        said += _unclear_gains(best, gain, discernment)
    if subsets is not None and subsets.n_left_out:
        said.append(
            f"subsets are compared on the {subsets.n} rows that every judge has a score of; "
            f"{subsets.n_left_out} are left out."
        )
    return [*said, *([] if complete else [_INCOMPLETE])]


def _unclear_gains(
    best: str, gain: Gain | None, discernment: DiscernmentReport | None
) -> Iterator[str]:
    """Yield which gains over the best judge the rows held out do not show."""
    found = None if gain is None else gain["dataset"]["q"]
    if found is not None and not (found.is_clear and found.low > 0):
        yield (
            f"the gain in q over the best judge, {best}, is not significant: its interval "
            f"{unclear_text(found)}."
        )
    seen = None if discernment is None else discernment.seen
    more = None if seen is None else seen.gain.get("d_avg")
    if more is not None and not (more.is_clear and more.low > 0):
        yield (
            f"the gain in d_avg over the best judge, {best}, is not significant: its interval "
            f"{unclear_text(more)}."
        )


def unreported_notes(middle: Middle, parts: PanelParts, *, complete: bool) -> list[str]:
    """Return the notes of a panel of whose agreement with people nothing is known."""
    why = "the data has no ratings"
    if parts.is_rated:
        why = (
            f"{parts.n_rated} rated rows are too few to tell how well judges agree (and "
            f"{parts.n_known} are of sources that one of them was made from)"
        )
    n = len(parts.texts)
    kept = f" {n} texts were judged to be kept with it, so that they can be judged again." * bool(n)
    return [
        f"{why}, so the panel's agreement with human ratings is unknown: its score is the plain "
        f"{middle} of its judges.{kept} Rate some texts before you trust its scores.",
        *([] if complete else [_INCOMPLETE]),
    ]
