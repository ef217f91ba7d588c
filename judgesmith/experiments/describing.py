"""What a set of rated texts is good for: its size, its ratings, its texts, and its traps."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.experiments.cautions import cautions
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.mirrored import mirrored_criteria
from judgesmith.experiments.rater_columns import rater_names
from judgesmith.experiments.rating_summary import RatingSummary, rating_summary
from judgesmith.experiments.ratings import Aggregate, rating_value
from judgesmith.experiments.targets import (
    Targets,
    UselessTargetError,
    ratings_behind,
    target_names,
    targets_of,
)
from judgesmith.experiments.text_summary import TextSummary, text_summary
from judgesmith.metrics import spearman
from judgesmith.metrics.comparing import sample_size_pearson
from judgesmith.signatures.scale import Scale

HALF_WIDTH = 0.05
EXPECTED_CORRELATION = 0.5
"""What :func:`describe` plans for: a judge of middling agreement, known to ±0.05."""


_UNDEFINED = "undefined"

_WHO = {
    "unnamed": "two-way ICC takes the n-th rating of every item for the same person's, as rows do "
    "not name their raters.",
    "varying": "no two-way ICC, as other raters rated other items.",
    "uneven": "no two-way ICC, as items have different numbers of ratings and rows do not name "
    "their raters.",
}
"""What is said of the columns of ratings, by what they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """All that ``judgesmith check`` reports.

    Parameters
    ----------
    name : str
        The set.
    n_items, n_sources, n_systems, n_unrated : int
        Rows; groups that splits keep together; system ids; rows without any rating.
    criteria : tuple of RatingSummary
        One per rated criterion.
    target : RatingSummary or None
        What a judge would be compiled for; None where there is nothing to agree with.
    unrated_reasons : dict of str to int
        Why items have no value on the target.
    length_correlation : float
        Spearman correlation of the target, better is higher, with the characters of the
        response, -1 to 1.
    labels_needed : int
        Rated items that pin a correlation of .5 down to ±.05 at 95 %, if items were
        independent; sources with several items need more.
    half_width : float
        To what the rated items there are pin it down likewise; nan below 4.
    texts : TextSummary
        Lengths, empty texts, repetitions.
    mirrored : tuple of str
        Criteria that are preferences between two texts, in the form of ratings.
    warnings : tuple of str
        What to mind, in sentences.
    notes : tuple of str
        How the rows were read.
    """

    name: str
    n_items: int
    n_sources: int
    n_systems: int
    n_unrated: int
    criteria: tuple[RatingSummary, ...]
    target: RatingSummary | None
    unrated_reasons: dict[str, int]
    length_correlation: float
    labels_needed: int
    half_width: float
    texts: TextSummary
    mirrored: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None, scales are texts."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def overview(self) -> list[list[str]]:
        """Return rows of name and value about the set as a whole."""
        rows = [
            ["rows", str(self.n_items)],
            ["sources", str(self.n_sources)],
            ["systems", str(self.n_systems)],
            ["unrated rows", str(self.n_unrated)],
        ]
        if self.target is not None:
            target = self.target
            several = f"{target.n_several} items with several raters"
            rows += [
                ["target", f"{target.name} on {target.scale}"],
                ["rated on it", str(target.n_rated)],
                ["a perfect judge's Pearson", f"{_number(target.ceiling)} ({several})"],
                ["one rater's with the others", _number(target.rater_vs_rest.value)],
                ["Spearman with length", _number(self.length_correlation)],
                [
                    f"known to at 95 %, if Pearson is {EXPECTED_CORRELATION:g}",
                    f"{'' if math.isnan(self.half_width) else '±'}{_number(self.half_width)}; "
                    f"±{HALF_WIDTH:g} needs {self.labels_needed} independent items",
                ],
            ]
        return [*rows, *self.texts.rows()]

    def criteria_table(self) -> list[list[str]]:
        """Return a header and one row per criterion, then the target if it is none of them.

        Measures that are undefined throughout are left out.
        """
        header = ["criterion", "scale", "rated", "unrated", "raters", "range", "mean", "sd"]
        header += ["ties", "α interval", "α ordinal", "ICC one", "ICC mean", "ICC two-way"]
        header += ["rater vs rest", "ceiling"]
        table = [header, *map(_criterion_row, self.summaries)]
        # What is undefined throughout is said in words, by the warnings.
        kept = [{*cells[1:]} != {_UNDEFINED} for cells in zip(*table, strict=True)]
        return [list(itertools.compress(row, kept)) for row in table]

    @property
    def summaries(self) -> tuple[RatingSummary, ...]:
        """The criteria, and the target where it is none of them nor a mean over one alone."""
        names = [one.name for one in self.criteria]
        if self.target is None or self.target.name in names or len(names) == 1:
            return self.criteria
        return (*self.criteria, self.target)

    def rater_notes(self) -> list[str]:
        """Return what two-way correlations take for granted, and why some have none."""
        said = []
        for who, text in _WHO.items():
            names = [one.name for one in self.summaries if one.who == who]
            if names:
                said.append(f"{', '.join(names)}: {text}")
        return said


def describe(
    dataset: DataSet,
    *,
    target: str = "auto",
    aggregate: Aggregate = "mean",
    rng: np.random.Generator,
) -> Description:
    """Return what there is to know about a set before a judge is compiled from it.

    Parameters
    ----------
    dataset : DataSet
        May be unrated.
    target, aggregate : str
        As for :func:`~judgesmith.experiments.targets.targets_of`.
    rng : Generator
        Splits raters in halves for the human ceiling, and draws sources.

    Raises
    ------
    ValueError
        If nobody rated the target in a set that is rated on others. A target on which all
        items are equal is no error here but a warning.

    Examples
    --------
    >>> from judgesmith.signatures.items import RatedItem
    >>> form = {"overall": Scale(low=1, high=5)}
    >>> said = [(1, 2), (4, 4), (3, 5)]
    >>> items = [
    ...     RatedItem(source=str(n), response="r", human={"overall": r}, scale=form)
    ...     for n, r in enumerate(said)
    ... ]
    >>> found = describe(DataSet(name="toy", items=tuple(items)), rng=np.random.default_rng(0))
    >>> found.n_sources, found.target.name, round(found.target.icc_single, 2)
    (3, 'overall', 0.67)
    """
    targets: Targets | None = None
    trouble: list[str] = []
    if target_names(dataset):
        try:
            targets = targets_of(dataset, target, aggregate)
        except UselessTargetError as error:
            trouble.append(str(error))
    names = rater_names(dataset)
    sources = dataset.groups.tolist()

    def summary(
        name: str, scale: Scale, values: ArrayLike, ratings: Sequence[Sequence[float]]
    ) -> RatingSummary:
        return rating_summary(name, scale, values, ratings, rng=rng, sources=sources, names=names)

    criteria = tuple(
        summary(name, dataset.scales[name], *_ratings_of(dataset, name, aggregate))
        for name in dataset.criteria
    )
    on_target = None
    if targets is not None:
        by_name = {one.name: one for one in criteria}
        on_target = by_name.get(targets.name) or summary(
            targets.name, targets.scale, targets.values, ratings_behind(dataset, targets.name)
        )
    found = Description(
        name=dataset.name,
        n_items=len(dataset),
        n_sources=len(np.unique(dataset.groups)),
        n_systems=len({item.system_id for item in dataset if item.system_id}),
        n_unrated=dataset.n_unrated,
        criteria=criteria,
        target=on_target,
        unrated_reasons={} if targets is None else targets.reason_counts(),
        length_correlation=float("nan") if targets is None else _with_length(dataset, targets),
        labels_needed=sample_size_pearson(HALF_WIDTH, EXPECTED_CORRELATION),
        half_width=_half_width(0 if targets is None else len(targets.rated)),
        texts=text_summary(dataset),
        mirrored=mirrored_criteria(dataset),
        warnings=tuple(trouble),
        notes=dataset.notes,
    )
    return dataclasses.replace(found, warnings=(*trouble, *cautions(found)))


def _ratings_of(
    dataset: DataSet, name: str, aggregate: Aggregate
) -> tuple[NDArray[np.float64], list[tuple[float, ...]]]:
    """Return each item's value on a criterion, and the ratings behind it."""
    ratings = [item.human.get(name, ()) for item in dataset]
    values = [rating_value(one, aggregate) for one in ratings]
    return np.asarray(values, dtype=float), ratings


def _with_length(dataset: DataSet, targets: Targets) -> float:
    lengths = [float(len(dataset[index].response)) for index in targets.rated]
    return spearman(targets.fractions[targets.rated], lengths)


def _half_width(n: int) -> float:
    """Return half the length of Fisher's 95 % interval of the expected correlation."""
    if n < 4:
        return float("nan")
    middle = math.atanh(EXPECTED_CORRELATION)
    reach = NormalDist().inv_cdf(0.975) / math.sqrt(n - 3)
    return (math.tanh(middle + reach) - math.tanh(middle - reach)) / 2


def _plain(value: Any) -> Any:
    """Return records as dictionaries, scales as texts, nan as None."""
    if isinstance(value, Scale):
        return str(value)
    if dataclasses.is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _number(value: float) -> str:
    return _UNDEFINED if math.isnan(value) else f"{value:.2f}"


def _criterion_row(one: RatingSummary) -> list[str]:
    raters = ", ".join(f"{k} ({n})" for k, n in one.raters.items() if k)
    reliability = (
        one.alpha_interval,
        one.alpha_ordinal,
        one.icc_single,
        one.icc_mean,
        one.icc_agreement,
        one.rater_vs_rest.value,
        one.ceiling,
    )
    return [
        one.name,
        str(one.scale),
        str(one.n_rated),
        str(one.n_unrated),
        raters,
        f"{one.low:.4g} to {one.high:.4g}",
        _number(one.mean),
        _number(one.sd),
        _number(one.tied),
        *map(_number, reliability),
    ]
