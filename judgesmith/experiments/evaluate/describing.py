"""What a rated dataset is good for: its size, its ratings, its texts, and its traps.

Thresholds for a caution are rules of thumb for when to speak up; none changes a number.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.data.columns import OVERALL
from judgesmith.data.items import DataSet
from judgesmith.data.targets import (
    Targets,
    UselessTargetError,
    all_targets,
    rating_value,
    ratings_behind,
    target_names,
    targets_of,
)
from judgesmith.experiments.evaluate.label_summary import (
    LabelSummary,
    label_cautions,
    label_summary,
)
from judgesmith.metrics import Estimate, human_ceiling, icc, krippendorff_alpha, spearman
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.metrics.comparing import sample_size_pearson
from judgesmith.metrics.ratings import HumanCeiling, rater_vs_rest
from judgesmith.metrics.records import Record
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.scale import Scale

FEWEST_PAIRS = 10
"""Fewer pairs than this may mirror each other by chance."""


def mirrored_criteria(dataset: DataSet) -> tuple[str, ...]:
    """Return the criteria on which the ratings of every source's two texts mirror each other."""
    found = []
    for name in dataset.criteria:
        scale = dataset.scales[name]
        by_source: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
        for item in dataset:
            if item.human.get(name):
                by_source[item.source_id].append(item.human[name])
        pairs = list(by_source.values())
        if len(pairs) < FEWEST_PAIRS or any(len(pair) != 2 for pair in pairs):
            continue
        if all(_mirrored(one, other, scale.low + scale.high) for one, other in pairs):
            found.append(name)
    return tuple(found)


def _mirrored(one: tuple[float, ...], other: tuple[float, ...], ends: float) -> bool:
    if len(one) != len(other):
        return False
    return all(abs(a + b - ends) < 1e-9 for a, b in zip(one, other, strict=True))


RATERS = "raters"
"""The field in which rows may name who rated, one name for each rating, in order."""

Who = Literal["named", "unnamed", "varying", "uneven", "none"]

Names = Sequence[tuple[str, ...] | None]
"""The raters of each item, None where its row does not name them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterTable:
    """The ratings of items with several, and what their columns are."""

    ratings: NDArray[np.float64]  # nan where a rating is missing
    items: NDArray[np.intp]
    who: Who

    @property
    def may_be_people(self) -> bool:
        """Whether columns are people, or may be."""
        return self.who in ("named", "unnamed")


def rater_table(ratings: Sequence[Sequence[float]], names: Names | None = None) -> RaterTable:
    """Return the ratings of all items with two or more."""
    items = [place for place, one in enumerate(ratings) if len(one) > 1]
    several = [ratings[place] for place in items]
    who: Who = "none"
    if several:
        who = "unnamed" if len({*map(len, several)}) == 1 else "uneven"
    whose = [None if names is None else names[place] for place in items]
    named = [
        one
        for one, said in zip(whose, several, strict=True)
        if one is not None and len(one) == len(said)
    ]
    if several and len(named) == len(several):
        who = "varying"
        if len({frozenset(one) for one in named}) == 1:
            who = "named"
            several = [
                [value for _, value in sorted(zip(one, said, strict=True))]
                for one, said in zip(named, several, strict=True)
            ]
    columns = itertools.zip_longest(*several, fillvalue=float("nan"))
    table = np.asarray(list(columns), dtype=float).T if several else np.empty((0, 0))
    return RaterTable(ratings=table, items=np.asarray(items, dtype=np.intp), who=who)


def rater_names(dataset: DataSet) -> list[tuple[str, ...] | None]:
    """Return who rated each item, as its row says; None where it does not, or names one twice."""
    return [_names(item.extra.get(RATERS)) for item in dataset]


def _names(given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    if not all(isinstance(one, str | int) for one in given):
        return None
    names = tuple(map(str, given))
    return names if len(set(names)) == len(names) else None


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSummary(Record):
    """Numbers on one criterion or target; nan where they are undefined."""

    name: str
    scale: Scale
    n_rated: int
    n_unrated: int
    low: float
    high: float
    mean: float
    sd: float
    n_levels: int
    tied: float
    at_top: float
    raters: dict[int, int]
    n_several: int
    alpha_interval: float
    alpha_ordinal: float
    icc_single: float
    icc_mean: float
    who: Who
    icc_agreement: float
    icc_consistency: float
    rater_vs_rest: Estimate
    ceiling: float
    no_ceiling: str | None


def rating_summary(
    name: str,
    scale: Scale,
    values: ArrayLike,
    ratings: Sequence[Sequence[float]],
    *,
    rng: np.random.Generator,
    sources: Sequence[object] | None = None,
    names: Names | None = None,
) -> RatingSummary:
    """Return the numbers that a person wants to see before trusting a criterion."""
    given = np.asarray(values, dtype=float)
    given = given[np.isfinite(given)]
    n = len(given)
    levels, counts = np.unique(given, return_counts=True)
    best = scale.high if scale.higher_is_better else scale.low
    raters = rater_table(ratings, names)
    table = raters.ratings
    one_way = icc(table)
    two_way = table if raters.may_be_people else table[:0]
    ceiling = human_ceiling(table, seed=rng)
    nan = float("nan")
    return RatingSummary(
        name=name,
        scale=scale,
        n_rated=n,
        n_unrated=len(ratings) - n,
        low=float(levels[0]) if n else nan,
        high=float(levels[-1]) if n else nan,
        mean=float(given.mean()) if n else nan,
        sd=float(given.std(ddof=1)) if n > 1 else nan,
        n_levels=len(levels),
        tied=float(np.sum(counts * (counts - 1.0)) / (n * (n - 1.0))) if n > 1 else nan,
        at_top=float(np.mean(given == best)) if n else nan,
        raters=dict(sorted(Counter(map(len, ratings)).items())),
        n_several=len(table),
        alpha_interval=krippendorff_alpha(table, measurement="interval"),
        alpha_ordinal=krippendorff_alpha(table, measurement="ordinal"),
        icc_single=one_way.single,
        icc_mean=one_way.mean,
        who=raters.who,
        icc_agreement=icc(two_way, model="agreement").single,
        icc_consistency=icc(two_way, model="consistency").single,
        rater_vs_rest=rater_vs_rest(
            table,
            sources=None if sources is None else [sources[place] for place in raters.items],
            seed=rng,
        ).average,
        ceiling=ceiling.ceiling,
        no_ceiling=_no_ceiling(given, ratings, ceiling),
    )


def _no_ceiling(
    values: FloatArray, ratings: Sequence[Sequence[float]], found: HumanCeiling
) -> str | None:
    """Return why no ceiling can be given, None where there is one."""
    if not math.isnan(found.ceiling):
        return None
    if not values.size:
        return "no item has a value"
    if not any(ratings):
        return "its criteria have different numbers of ratings, so that the whole has no rating"
    if not found.n_items:
        whole = bool(np.all(values == np.round(values)))
        what = "one rating, or a figure" if whole else "a mean or another figure"
        return f"each item has a single value, {what} without the ratings behind it"
    if found.n_items == 1:
        return "a single item has several ratings"
    if math.isnan(found.half_correlation):
        return "the ratings of half of the raters are all equal"
    return (
        f"halves of the raters correlate with {found.half_correlation:.2f}; there is nothing that "
        "they agree on"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths(Record):
    """Characters of one kind of text, over the items that have it."""

    n: int
    shortest: int
    median: float
    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSummary(Record):
    """Numbers on the texts of a set."""

    lengths: dict[str, Lengths]
    empty_responses: int
    empty_sources: int
    repeated_items: int
    rated_differently: int
    shared_responses: int
    items_with_shared_response: int
    sources_with_several_ids: int

    def rows(self) -> list[list[str]]:
        """Return rows of name and value for a table."""
        rows = [
            [f"{name}, characters", f"{one.shortest} to {one.longest}, median {one.median:g}"]
            for name, one in self.lengths.items()
        ]
        rows.append(["empty responses", str(self.empty_responses)])
        rows.append(["repeated items", str(self.repeated_items)])
        shared = f"{self.shared_responses} ({self.items_with_shared_response} items)"
        rows.append(["responses given to several sources", shared])
        return rows


def text_summary(dataset: DataSet) -> TextSummary:
    first_with: dict[str, int] = {}
    repeated = differently = 0
    groups_of: defaultdict[str, set[int]] = defaultdict(set)
    ids_of: defaultdict[str, set[str]] = defaultdict(set)
    n_with: Counter[str] = Counter()
    for index, (item, group) in enumerate(zip(dataset, dataset.groups.tolist(), strict=True)):
        earlier = first_with.setdefault(item.key, index)
        if earlier != index:
            repeated += 1
            differently += item.human != dataset[earlier].human
        if item.response.strip():
            groups_of[item.response].add(group)
            n_with[item.response] += 1
        if item.source.strip():
            ids_of[item.source].add(item.source_id)
    shared = [response for response, groups in groups_of.items() if len(groups) > 1]
    texts = {
        "source": [len(item.source) for item in dataset if item.source],
        "context": [len(item.context) for item in dataset if item.context],
        "response": [len(item.response) for item in dataset],
        "references": [len(text) for item in dataset for text in item.references],
    }
    return TextSummary(
        lengths={name: _lengths(sizes) for name, sizes in texts.items() if sizes},
        empty_responses=sum(not item.response.strip() for item in dataset),
        empty_sources=sum(not item.source.strip() for item in dataset),
        repeated_items=repeated,
        rated_differently=differently,
        shared_responses=len(shared),
        items_with_shared_response=sum(n_with[response] for response in shared),
        sources_with_several_ids=sum(len(ids) > 1 for ids in ids_of.values()),
    )


def _lengths(sizes: list[int]) -> Lengths:
    return Lengths(
        n=len(sizes), shortest=min(sizes), median=float(np.median(sizes)), longest=max(sizes)
    )


NEAR_ZERO = 0.1
NEAR_ONE = 0.9
MOSTLY_TIED = 0.5
LENGTH_MATTERS = 0.3
FEW_ITEMS = 40
FEW_SOURCES = 10


def cautions(found: Description) -> tuple[str, ...]:
    """Return warnings about a set, those on ratings first."""
    # Criteria of one form often share a trait: it is said once, with all their names.
    names: dict[str, list[str]] = {}
    labelled = {one.name: one for one in found.labels}
    for one in found.summaries:
        labels = labelled.get(one.name)
        for trait in _traits(one) if labels is None else label_cautions(labels):
            names.setdefault(trait, []).append(one.name)
    on_ratings = [f"{', '.join(those)}: {trait}" for trait, those in names.items()]
    return (*on_ratings, *_on_preferences(found), *_on_target(found), *_on_texts(found))


def _on_preferences(found: Description) -> Iterator[str]:
    if found.mirrored:
        yield (
            f"{', '.join(found.mirrored)}: the ratings of every source's two texts mirror each "
            "other: these are preferences between the two, and say nothing across sources."
        )


def _traits(one: RatingSummary) -> Iterator[str]:
    if one.n_levels == 1:
        yield f"all values are {one.low:g}; nothing can agree or disagree with that."
        return
    middle = (one.scale.low + one.scale.high) / 2
    if one.n_rated >= FEW_ITEMS and (one.high <= middle or one.low >= middle):
        yield f"all values are {one.low:g} to {one.high:g}, in one half of the scale {one.scale}."
    if one.icc_single < NEAR_ZERO:
        yield (
            f"ICC of one rater {one.icc_single:.2f}, of the mean {one.icc_mean:.2f}; "
            "a criterion near zero cannot be a useful target."
        )
    elif one.icc_single > NEAR_ONE:
        yield (
            f"ICC of one rater {one.icc_single:.2f} is unusual for people who rated "
            "independently; the human ceiling may be too high."
        )
    if one.no_ceiling is not None:
        yield (
            f"no ceiling: {one.no_ceiling}. How well raters agree is unknown, and so is how well "
            "a judge could do."
            if not one.n_several
            else f"no ceiling: {one.no_ceiling}."
        )
    lone = one.raters.get(1, 0)
    if one.n_several and lone:
        yield (
            f"{_count(lone, 'item')} with a single rating where others have several; it may "
            "be a mean already, and is left out of rater agreement."
        )
    if one.tied > MOSTLY_TIED:
        top = f", {one.at_top:.0%} of items are at the top" if one.at_top > MOSTLY_TIED else ""
        yield (
            f"{one.tied:.0%} of all pairs of items are tied{top}; rank correlations rest on "
            "the others."
        )


def _on_target(found: Description) -> Iterator[str]:
    target = found.target
    if target is None:
        if not found.criteria:
            yield (
                "nothing is rated; a judge can score these texts, and be selected by its "
                "sensitivity to changes (compile --objective d_avg), but not by agreement."
            )
        return
    for reason, n in found.unrated_reasons.items():
        yield f"{target.name}: no value for {n} of {found.n_items} items, {reason}."
    if target.n_rated < FEW_ITEMS and not target.scale.is_verdict:
        known = f"tells a correlation of .5 to ±{found.half_width:.2f} at best"
        yield (
            f"{target.name}: rated on {_count(target.n_rated, 'item')} only, which "
            f"{'tells nothing of a correlation' if math.isnan(found.half_width) else known}."
        )
    if abs(found.length_correlation) > LENGTH_MATTERS:
        longer = "higher" if found.length_correlation > 0 else "lower"
        yield (
            f"{target.name}: longer responses are rated {longer} (Spearman "
            f"{found.length_correlation:.2f}); a judge may learn length alone."
        )


def _on_texts(found: Description) -> Iterator[str]:
    texts, n = found.texts, found.n_items
    if found.n_sources < FEW_SOURCES:
        yield (
            f"only {_count(found.n_sources, 'source')}; intervals rest on sources and will be "
            "wide or undefined."
        )
    if found.n_systems < 2:
        named = "one system" if found.n_systems else "no system"
        yield f"{named} is named; agreement on systems cannot be measured."
    if texts.empty_sources == n:
        yield "there are no source texts; the judge sees responses alone."
    elif texts.empty_sources:
        yield f"{_count(texts.empty_sources, 'item')} with an empty source."
    if texts.empty_responses:
        yield f"{_count(texts.empty_responses, 'item')} with an empty response."
    if texts.rated_differently:
        yield (
            f"{_count(texts.rated_differently, 'item')} with the texts of an earlier item but "
            "other ratings."
        )
    if texts.shared_responses:
        yield (
            f"{_count(texts.shared_responses, 'response')} given to several sources "
            f"({_count(texts.items_with_shared_response, 'item')}); parts without a common "
            "source can still share them."
        )
    if texts.sources_with_several_ids:
        yield (
            f"{_count(texts.sources_with_several_ids, 'source text')} under several ids; splits "
            "keep them together."
        )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


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
class Description(Record, report="judgesmith.cli.data.check:report"):
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
    labels : tuple of LabelSummary
        One per criterion with labels such as pass and fail.
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
    labels: tuple[LabelSummary, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None, scales are texts."""
        found = Record.to_dict(self)
        if not self.labels:
            del found["labels"]
        return found

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
            labels = next((one for one in self.labels if one.name == target.name), None)
            n_rated = target.n_rated if labels is None else labels.n_labelled
            rows += [
                ["target", f"{target.name} on {target.scale}"],
                ["rated rows", str(n_rated)],
            ]
        if self.target is not None and not self.target.scale.is_verdict:
            rows += [
                ["ceiling set by rater noise", f"{_number(target.ceiling)} ({several})"],
                ["rater-vs-rest correlation", _number(target.rater_vs_rest.value)],
                ["Spearman with length", _number(self.length_correlation)],
                [
                    f"margin of error at r = {EXPECTED_CORRELATION:g}",
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
        rated = [one for one in self.summaries if not one.scale.is_verdict]
        table = [header, *map(_criterion_row, rated)] if rated else [header[:1]]
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
            rated = (one for one in self.summaries if not one.scale.is_verdict)
            names = [one.name for one in rated if one.who == who]
            if names:
                said.append(f"{', '.join(names)}: {text}")
        return said


def rater_correlation(dataset: DataSet, target: str, *, seed: Seed) -> float:
    """Return a rater's mean correlation with the mean of the others; nan if no rater has others."""
    if "+" not in target and target not in (*dataset.criteria, "mean"):
        return float("nan")
    table = rater_table(ratings_behind(dataset, target), rater_names(dataset)).ratings
    return float(rater_vs_rest(table, seed=seed, n_resamples=20).average.value)


def describe(
    dataset: DataSet,
    *,
    target: str = "auto",
    aggregate: Aggregate = "mean",
    seed: Seed,
) -> Description:
    """Return what there is to know about a set before a judge is compiled from it.

    Parameters
    ----------
    dataset : DataSet
        May be unrated.
    target, aggregate : str
        As for :func:`~judgesmith.data.targets.targets_of`.
    seed : int or numpy.random.Generator
        Splits raters in halves for the human ceiling, and draws sources.

    Raises
    ------
    ValueError
        If the target is unrated in a set that is rated on others. A target on which all
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
    >>> found = describe(DataSet(name="toy", items=tuple(items)), seed=0)
    >>> found.n_sources, found.target.name, round(found.target.icc_single, 2)
    (3, 'overall', 0.67)
    """
    rng = generator(seed)
    targets: Targets | None = None
    trouble: list[str] = []
    labelled = [name for name in dataset.criteria if dataset.scales[name].is_verdict]
    is_mean = OVERALL not in dataset.criteria and len(dataset.criteria) > 1
    if labelled and target == "auto" and is_mean:
        trouble.append(f"{', '.join(labelled)}: labels have no mean; name one with --target.")
    elif target_names(dataset):
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
        labels=tuple(
            label_summary(dataset, all_targets(dataset, name, aggregate), seed=rng)
            for name in labelled
        ),
    )
    return dataclasses.replace(found, warnings=(*trouble, *cautions(found)))


def _ratings_of(
    dataset: DataSet, name: str, aggregate: Aggregate
) -> tuple[NDArray[np.float64], list[tuple[float, ...]]]:
    """Return each item's value on a criterion, and the ratings behind it."""
    ratings = [item.human.get(name, ()) for item in dataset]
    if dataset.scales[name].is_verdict:
        return all_targets(dataset, name, aggregate).values, ratings
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
