"""What every part of a panel would be worth: agreement of all its subsets, from one run of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from statistics import fmean

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.records import Record
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
    """Some members of a panel, and how well they agree with people.

    Attributes
    ----------
    members : tuple of str
        In the panel's order.
    values : dict of str to float
        By statistic; nan where it is undefined.
    """

    members: tuple[str, ...]
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetAnalysis(Record):
    """All non-empty subsets of a panel.

    Attributes
    ----------
    subsets : tuple of Subset
        The best by the first statistic first; of equals the smaller one.
    n : int
        Rows that they are compared on: those that every member has a score of.
    n_left_out : int
        Rows that a member has no score of.
    middle : {"mean", "median"}
        What of the members' scores is taken.
    """

    subsets: tuple[Subset, ...]
    n: int
    n_left_out: int
    middle: Middle

    @property
    def whole(self) -> Subset:
        """The whole panel."""
        return max(self.subsets, key=lambda one: len(one.members))

    def place_of(self, subset: Subset) -> int:
        """Return how many subsets are better, and one more."""
        return self.subsets.index(subset) + 1

    def by_size(self, statistic: str) -> dict[int, tuple[float, float]]:
        """Return mean and largest value of a statistic, by the number of members.

        Subsets of which it is undefined are left out; nan where it is of all of a size.
        """
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
    having passed over hard ones. No subset is chosen by held-out rows here: the best of many
    looks better than it is.

    Parameters
    ----------
    rows : Rows
        What people said.
    scores : dict of str to sequence of (float or None)
        By member, its score of every row.
    scales : dict of str to Scale
        What each member's scores are measured in.
    statistics : sequence of str or Objective
        What is told of each; the first orders them.
    middle : {"mean", "median"}
        What of the members' scores is taken.

    Raises
    ------
    ValueError
        If scores and rows do not pair up, there are no members or more than ``MOST_MEMBERS``,
        or fewer than two rows that all of them scored.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", on the structure of the ensemble.

    Examples
    --------
    >>> from judgesmith.signatures import RatedItem
    >>> texts = [RatedItem(source=str(n), response="r") for n in range(4)]
    >>> rows = Rows(
    ...     items=tuple(texts), human=np.array([1.0, 2, 3, 4]), groups=np.arange(4),
    ...     systems=np.array(["s"] * 4), scale=Scale(low=1, high=5),
    ... )
    >>> said = {"a": [1, 3, 2, 4], "b": [1, 2, 4, 3], "c": [4, 3, 2, 1]}
    >>> found = subset_analysis(rows, said, dict.fromkeys("abc", Scale(low=1, high=5)))
    >>> len(found.subsets), found.subsets[0].members, found.n
    (7, ('a', 'b'), 4)
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
