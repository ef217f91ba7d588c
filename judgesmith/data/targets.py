"""The one number per item that a judge should agree with, made of what several raters said."""

from __future__ import annotations

import difflib
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.columns import OVERALL
from judgesmith.data.items import DataSet
from judgesmith.data.problems import shown_value
from judgesmith.errors import InputError
from judgesmith.front_door import at
from judgesmith.signatures.items import Aggregate, RatedItem
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import Scale

_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)


def rating_value(ratings: Sequence[float], how: Aggregate = "mean") -> float | None:
    """Return the one value that stands for an item's ratings, or None without ratings."""
    if how not in get_args(Aggregate):
        raise InputError(f"ratings are aggregated by {', '.join(get_args(Aggregate))}; got {how}.")
    if not ratings:
        return None
    if how == "mean":
        return math.fsum(ratings) / len(ratings)
    if how == "median":
        return float(statistics.median(ratings))
    if how == "mode":
        return float(statistics.median(statistics.multimode(ratings)))
    if how in OF_LABELS:
        raise InputError(
            f"{how} is for labels such as pass and fail, and these are ratings.", where="aggregate"
        )
    return float(ratings[0]) if len(set(ratings)) == 1 else None


OF_LABELS = ("any-fail", "any-pass", "dawid-skene")
"""Ways to make several labels one that ratings do not have."""


def label_value(labels: Sequence[float], scale: Scale, how: Aggregate = "mean") -> float | None:
    """Return the one label that stands for an item's labels, in points; None without a majority.

    ``mean``, ``median`` and ``mode`` are the majority, which a tie has not.

    Examples
    --------
    >>> verdicts = Scale.of_labels("fail", "pass")
    >>> label_value((1, 1, 0), verdicts), label_value((1, 0), verdicts)
    (1.0, None)
    >>> label_value((1, 1, 0), verdicts, "any-fail")
    0.0
    """
    if not labels:
        return None
    good = scale.read(scale.positive)
    if how == "any-pass" and good in labels:
        return good
    if how == "any-fail" and any(one != good for one in labels):
        labels = [one for one in labels if one != good]
    if how == "unanimous":
        return float(labels[0]) if len(set(labels)) == 1 else None
    often = statistics.multimode(labels)
    return float(often[0]) if len(often) == 1 else None


def weighed_labels(dataset: DataSet, criterion: str) -> list[float | None]:
    """Return the likeliest label per item where raters err each in their own way; None on a tie."""
    labelled = [item.human.get(criterion, ()) for item in dataset]
    most = max(map(len, labelled), default=0)
    columns: dict[str, int] = {}
    table = np.full((len(dataset), 1), np.nan)
    for row, (item, given) in enumerate(zip(dataset, labelled, strict=True)):
        names = item.raters.get(criterion, ())
        if len(names) < len(given) and len(given) not in (0, most):
            raise InputError(
                "Dawid and Skene's estimate needs to know who gave which label; "
                f"{shown_value(item.source_id)} has {len(given)} of {most} labels and no names.",
                hint="give each rater a column (--map score=anna+ben), or the field raters.",
            )
        for place, label in enumerate(given):
            name = names[place] if place < len(names) else str(place)
            column = columns.setdefault(name, len(columns))
            if column >= table.shape[1]:
                table = np.pad(table, ((0, 0), (0, 1)), constant_values=np.nan)
            table[row, column] = label
    chances = at("judgesmith.metrics.verdicts:dawid_skene")(table).probabilities
    found: list[float | None] = []
    values = np.unique(table[~np.isnan(table)])
    for given, own in zip(labelled, np.asarray(chances), strict=True):
        best = np.flatnonzero(own == own.max())
        found.append(float(values[best[0]]) if given and len(best) == 1 else None)
    return found


def rating_points(answer: object, scale: Scale | None) -> float:
    """Return the points that a cell of a table states."""
    if scale is not None and (label := scale.label(answer)) is not None:
        return scale.read(label)
    if scale is not None and scale.is_verdict:
        raise InputError(expected_rating(scale))
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    if number or (isinstance(answer, str) and _NUMBER.fullmatch(answer)):
        points = _float(answer)
        if math.isfinite(points) and (scale is None or points in scale):
            return points
    raise InputError(expected_rating(scale))


def _float(answer: object) -> float:
    """Return a number or its spelling as a float; integers too large for one are infinite."""
    try:
        return float(answer)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf


def expected_rating(scale: Scale | None) -> str:
    """Return what a rating on ``scale`` looks like, for messages."""
    if scale is None:
        return "a number"
    ends = f"from {scale.low:g} to {scale.high:g}"
    if scale.is_verdict:
        return f"one of the labels {', '.join(scale.labels)}, or unsure or n/a"
    if scale.labels:
        return f"one of {', '.join(scale.labels)}, or a whole number {ends}"
    return f"a {'whole ' if scale.kind == 'integer' else ''}number {ends}"


MEAN = "mean"
"""The target that averages all criteria but ``overall``."""

PLUS = "+"
"""What stands between the criteria that a target averages."""

FRACTION = Scale(low=0, high=1)
"""What a mean over criteria with different scales is measured in: 0 is worst, 1 is best."""


class UselessTargetError(InputError):
    """A target on which items are rated, but that no judge can agree with."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """What people think of each item of a set, on one scale.

    Parameters
    ----------
    name : str
        A criterion, ``overall``, ``mean``, or criteria with ``+`` between them.
    scale : Scale
        What ``values`` are measured in.
    values : array of float, shape (n_items,), in points of ``scale``
        nan for unrated items.
    n_raters : array of int, shape (n_items,)
        How many ratings are behind each value; for a mean the fewest of any criterion.
    reasons : tuple of str or None, length n_items
        Why an item is unrated; None where there is a value.
    labels : array of int, shape (n_items,), or None
        Of labels without an order, places among ``scale.labels``, -1 for none; ``values`` are then
        the best point for the positive label and the worst for every other. None elsewhere.
    """

    name: str
    scale: Scale
    values: NDArray[np.float64]
    n_raters: NDArray[np.intp]
    reasons: tuple[str | None, ...]
    labels: NDArray[np.intp] | None = None

    def __repr__(self) -> str:
        return f"Targets({self.name}, {self.scale}, {len(self.rated)} of {len(self.values)} rated)"

    @property
    def is_verdict(self) -> bool:
        """Whether people gave labels such as pass and fail, not ratings."""
        return self.scale.is_verdict

    @property
    def rated(self) -> NDArray[np.intp]:
        """Return the indices of rated items."""
        return np.flatnonzero(np.isfinite(self.values))

    @property
    def n_unrated(self) -> int:
        """Return how many items have no value."""
        return len(self.values) - len(self.rated)

    @property
    def fractions(self) -> NDArray[np.float64]:
        """Return the values as fractions of the scale: 0 is worst, 1 is best, nan is unrated."""
        return np.asarray([self.scale.fraction(value) for value in self.values], dtype=float)

    def reason_counts(self) -> dict[str, int]:
        """Return how many items are unrated for each reason, most frequent first."""
        return dict(Counter(reason for reason in self.reasons if reason).most_common())

    def take(self, indices: Iterable[int]) -> Targets:
        """Return the targets of the items at ``indices``, in that order."""
        chosen = np.asarray(list(indices), dtype=np.intp)
        return Targets(
            name=self.name,
            scale=self.scale,
            values=self.values[chosen],
            n_raters=self.n_raters[chosen],
            reasons=tuple(self.reasons[index] for index in chosen),
            labels=None if self.labels is None else self.labels[chosen],
        )


def targets_of(dataset: DataSet, target: str = "auto", aggregate: Aggregate = "mean") -> Targets:
    """Return the value of every item on the target.

    Parameters
    ----------
    dataset : DataSet
        With ratings on at least one criterion.
    target : str
        A criterion; ``mean``, the mean over the criteria except ``overall``, each as a
        fraction of its scale, in points where all scales agree and from 0 to 1 otherwise (a
        criterion that is itself called ``mean`` comes first); ``coherence+fluency``, the mean
        over exactly these, likewise; or ``auto``, which is ``overall`` where people rated that
        and ``mean`` otherwise. Names may differ in upper and lower case, ``_`` and blanks where
        that leaves no doubt; the result has them as the data does.
    aggregate : {"mean", "median", "mode", "unanimous", "any-fail", "any-pass", "dawid-skene"}
        How an item's ratings on one criterion become one value. Of labels the first three are the
        majority, and an item with a tie is unrated; ``any-fail`` passes what all raters pass,
        ``any-pass`` fails what all fail, ``dawid-skene`` weighs raters by how they agree.

    Returns
    -------
    Targets
        An item that lacks a rating on any criterion of a mean is unrated: a mean over
        fewer criteria would be on other terms than the rest.

    Raises
    ------
    ValueError
        If the target or a part of it is unrated, or a sum names a criterion twice.
    UselessTargetError
        If no item has a value on it, or all have the same; a ``ValueError`` too.

    Examples
    --------
    >>> likert = {"clear": Scale(low=1, high=5), "kind": Scale(low=1, high=5)}
    >>> rated = [{"clear": (4,), "kind": (2,)}, {"clear": (5,), "kind": (5,)}, {"clear": (5,)}]
    >>> items = [RatedItem(response="", human=human, scale=likert) for human in rated]
    >>> targets = targets_of(DataSet(name="toy", items=tuple(items)))
    >>> targets.name, targets.values.tolist(), targets.reasons[2]
    ('mean', [3.0, 5.0, nan], 'nobody rated kind')
    >>> targets_of(DataSet(name="toy", items=tuple(items)), "Kind + clear").name
    'kind+clear'
    """
    targets = all_targets(dataset, target, aggregate)
    _refuse_useless(targets)
    return targets


def all_targets(dataset: DataSet, target: str, aggregate: Aggregate = "mean") -> Targets:
    """Return what :func:`targets_of` does, also where no judge can agree with it."""
    target, criteria = criteria_behind(dataset, target)
    scales = [dataset.scales[criterion] for criterion in criteria]
    # One criterion keeps its scale as it is; a mean of whole points is no whole point.
    scale = scales[0] if len(criteria) == 1 else _common(scales)
    if any(one.is_verdict for one in scales) and len(criteria) > 1:
        labelled = [name for name in criteria if dataset.scales[name].is_verdict]
        raise InputError(
            f"labels have no mean: {', '.join(labelled)} of {target} hold labels.",
            where="--target",
            hint=f"name one criterion: {', '.join(criteria)}.",
        )
    if scale.is_verdict and aggregate == "dawid-skene":
        estimated = weighed_labels(dataset, criteria[0])
    values = np.full(len(dataset), np.nan)
    n_raters = np.zeros(len(dataset), dtype=np.intp)
    reasons: list[str | None] = []
    for index, item in enumerate(dataset):
        if not scale.is_verdict:
            parts = [rating_value(item.human.get(name, ()), aggregate) for name in criteria]
        elif aggregate == "dawid-skene":
            parts = [estimated[index]]
        else:
            parts = [label_value(item.human.get(criteria[0], ()), scale, aggregate)]
        reason = _why_unrated(item, criteria, parts)
        reasons.append(reason)
        if reason is not None:
            continue
        n_raters[index] = min(len(item.human[name]) for name in criteria)
        if len(criteria) == 1:
            values[index] = parts[0]
        else:
            said = [part for part in parts if part is not None]
            values[index] = _mean_points(said, scales, scale)
    labels = None
    if not scale.ordered:
        labels = np.where(np.isnan(values), -1, np.nan_to_num(values)).astype(np.intp)
        values = np.where(np.isnan(values), np.nan, values == scale.read(scale.positive))
    return Targets(
        name=target,
        scale=scale,
        values=values,
        n_raters=n_raters,
        reasons=tuple(reasons),
        labels=labels,
    )


def nobody_said(n: int, *, name: str, scale: Scale) -> Targets:
    return Targets(
        name=name,
        scale=scale,
        values=np.full(n, np.nan),
        n_raters=np.zeros(n, dtype=np.intp),
        reasons=("nobody rated it",) * n,
    )


def target_names(dataset: DataSet) -> tuple[str, ...]:
    """Return what a set can be judged by: its criteria, and ``mean`` where it differs."""
    parts = [name for name in dataset.criteria if name != OVERALL]
    return (*dataset.criteria, *([MEAN] if parts and MEAN not in dataset.criteria else []))


def ratings_behind(dataset: DataSet, target: str) -> list[tuple[float, ...]]:
    """Return each item's ratings on a target, one per rater; of a mean, if raters are aligned."""
    _, criteria = criteria_behind(dataset, target)
    if len(criteria) == 1:
        return [item.human.get(criteria[0], ()) for item in dataset]
    scales = [dataset.scales[name] for name in criteria]
    common = _common(scales)
    found: list[tuple[float, ...]] = []
    for item in dataset:
        columns = [item.human.get(name, ()) for name in criteria]
        by_rater = zip(*columns, strict=True) if len({*map(len, columns)}) == 1 else ()
        found.append(tuple(_mean_points(said, scales, common) for said in by_rater))
    return found


def _mean_points(points: Iterable[float], scales: Sequence[Scale], common: Scale) -> float:
    fractions = [scale.fraction(one) for scale, one in zip(scales, points, strict=True)]
    return common.points(float(np.mean(fractions)))


def criteria_behind(dataset: DataSet, target: str) -> tuple[str, tuple[str, ...]]:
    """Return a target's name as the data has it, and the criteria that it averages."""
    names = target_names(dataset)
    if not names:
        raise InputError(
            f"{dataset.name} has no ratings to agree with; its {len(dataset)} items are unrated.",
            hint="say --map score=COLUMN if a column holds ratings.",
        )
    if target == "auto":
        target = OVERALL if OVERALL in names else MEAN
    found = meant_by(target, names)
    if found is None and PLUS in target:
        parts = _summands(dataset, target)
        return PLUS.join(parts), parts
    if found is None:
        raise nobody_rated([target], dataset, names)
    if found in dataset.criteria:
        return found, (found,)
    return found, tuple(name for name in dataset.criteria if name != OVERALL)


def meant_by(name: str, names: Sequence[str]) -> str | None:
    """Return the very same name, else the only one that folds to the same; None if missing."""
    if name in names:
        return name
    meant = [one for one in names if folded(one) == folded(name)]
    if len(meant) > 1:
        raise InputError(
            f"{name!r} may be any of {', '.join(map(repr, meant))}.", hint="write it as there."
        )
    return meant[0] if meant else None


def _summands(dataset: DataSet, target: str) -> tuple[str, ...]:
    """Return the criteria of a sum; where names hold a ``+`` themselves, the longest counts."""
    words = target.split(PLUS)
    if not all(word.strip() for word in words):
        raise InputError(f"criteria are added as in coherence+fluency; got {target!r}.")
    found: list[str] = []
    unknown: list[str] = []
    while words:
        sums = ((n, PLUS.join(words[:n])) for n in range(len(words), 0, -1))
        known = ((n, meant_by(one, dataset.criteria)) for n, one in sums)
        n, name = next(((n, name) for n, name in known if name is not None), (1, None))
        if name is None:
            unknown.append(words[0].strip())
        else:
            found.append(name)
        words = words[n:]
    if unknown:
        raise nobody_rated(unknown, dataset, dataset.criteria)
    twice = [name for name, n in Counter(found).items() if n > 1]
    if twice:
        raise InputError(
            f"{target!r} names {', '.join(twice)} more than once; a mean takes each once."
        )
    return tuple(found)


def nobody_rated(unknown: Sequence[str], dataset: DataSet, names: Sequence[str]) -> InputError:
    """Return the error that ``unknown`` is unrated: which targets exist, and which is near."""
    close = [near for name in unknown for near in difflib.get_close_matches(name, names, n=1)]
    said = " or ".join(map(repr, unknown))
    return InputError(
        f"no ratings of {said} in {dataset.name}; there is {', '.join(names)}.",
        hint=f"did you mean {' and '.join(dict.fromkeys(close))}?" if close else None,
    )


def _common(scales: list[Scale]) -> Scale:
    if any(scale != scales[0] for scale in scales):
        return FRACTION
    first = scales[0]
    return Scale(low=first.low, high=first.high, higher_is_better=first.higher_is_better)


def _why_unrated(
    item: RatedItem, criteria: Sequence[str], parts: Sequence[float | None]
) -> str | None:
    without = [name for name, part in zip(criteria, parts, strict=True) if part is None]
    if not without:
        return None
    missing = [name for name in without if not item.human.get(name)]
    if undecided := [name for name in missing if item.undecided.get(name)]:
        return f"raters are undecided on {', '.join(undecided)}"
    if missing:
        return f"nobody rated {', '.join(missing)}"
    return f"raters differ on {', '.join(without)}"


def _refuse_useless(targets: Targets) -> None:
    values = targets.values[targets.rated]
    if not values.size:
        reasons = "; ".join(f"{n} × {reason}" for reason, n in targets.reason_counts().items())
        raise UselessTargetError(f"no item has a value on {targets.name}: {reasons}.")
    if np.ptp(values) == 0 and targets.is_verdict and targets.labels is None:
        only = targets.scale.labels[int(values[0])]
        raise UselessTargetError(
            f"all {values.size} labelled items are {only!r} on {targets.name}: of each other label "
            "at least one is needed to learn anything, and 22 to promise a rate of 90%.",
            hint="label more items, bad ones among them.",
        )
    if np.ptp(values) == 0:
        if values.size == 1:
            raise UselessTargetError(
                f"a single item is rated on {targets.name}, and agreement needs several.",
                hint="rate more, or choose another target.",
            )
        raise UselessTargetError(
            f"all {values.size} rated items have the same value on {targets.name}, "
            f"{values[0]:g}: a judge cannot agree or disagree with that.",
            hint="choose another target.",
        )
