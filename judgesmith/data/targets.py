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
from judgesmith.errors import InputError
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
    return float(ratings[0]) if len(set(ratings)) == 1 else None


def rating_points(answer: object, scale: Scale | None) -> float:
    """Return the points that a cell of a table states."""
    if scale is not None and isinstance(answer, str) and answer in scale.labels:
        return scale.read(answer)
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
    """

    name: str
    scale: Scale
    values: NDArray[np.float64]
    n_raters: NDArray[np.intp]
    reasons: tuple[str | None, ...]

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
    aggregate : {"mean", "median", "mode", "unanimous"}
        How an item's ratings on one criterion become one value.

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
    target, criteria = criteria_behind(dataset, target)
    scales = [dataset.scales[criterion] for criterion in criteria]
    # One criterion keeps its scale as it is; a mean of whole points is no whole point.
    scale = scales[0] if len(criteria) == 1 else _common(scales)
    values = np.full(len(dataset), np.nan)
    n_raters = np.zeros(len(dataset), dtype=np.intp)
    reasons: list[str | None] = []
    for index, item in enumerate(dataset):
        parts = [rating_value(item.human.get(name, ()), aggregate) for name in criteria]
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
    targets = Targets(
        name=target, scale=scale, values=values, n_raters=n_raters, reasons=tuple(reasons)
    )
    _refuse_useless(targets)
    return targets


def nobody_said(n: int, *, name: str, scale: Scale) -> Targets:
    """Return the targets of ``n`` unrated items."""
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
    """Return each item's ratings on a target, one per rater, in points of the target's scale.

    For a mean these are the means of what each rater said on the criteria. That needs an
    item to have equally many ratings on all of them, in one order of raters; an item that has
    not gets none.
    """
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
    """Return the name that is meant: the very same, else the only one that folds to the same.

    None if missing. See :func:`judgesmith.signatures.rubric.folded`.
    """
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
    if missing:
        return f"nobody rated {', '.join(missing)}"
    return f"raters differ on {', '.join(without)}"


def _refuse_useless(targets: Targets) -> None:
    values = targets.values[targets.rated]
    if not values.size:
        reasons = "; ".join(f"{n} × {reason}" for reason, n in targets.reason_counts().items())
        raise UselessTargetError(f"no item has a value on {targets.name}: {reasons}.")
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
