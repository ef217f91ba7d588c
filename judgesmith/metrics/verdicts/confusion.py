"""Raters' labels against a judge's verdicts: tables of counts, and what follows from them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    in_order,
    is_missing,
    label_list,
    number,
    ratio,
    source_codes,
)
from judgesmith.metrics.ratings.kappa import kappa_of_tables
from judgesmith.metrics.resampling.draws import Counted

VerdictMetric = Literal[
    "accuracy",
    "balanced_accuracy",
    "mcc",
    "kappa",
    "quadratic_kappa",
    "ac1",
    "f1",
    "macro_f1",
    "tpr",
    "tnr",
    "precision",
    "npv",
    "cost",
]

OF_POSITIVE = ("tpr", "tnr", "precision", "npv", "f1")
"""Metrics that need to know the positive label."""

Values = Iterable[object]
Classes = Sequence[object] | None

# The negative and the positive word of each pair that needs no explanation.
_PAIRS = (("fail", "pass"), ("no", "yes"), ("false", "true"), (False, True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedVerdicts:
    """Rows with a label and the verdicts of every judge, as places in ``classes``."""

    kept: IntArray  # indices of the rows
    true: IntArray
    said: IntArray  # one row per judge
    sources: IntArray
    n_sources: int
    classes: tuple[object, ...]
    positive: int  # -1: unknown
    n_unlabelled: int
    n_unscored: int

    @classmethod
    def of(
        cls,
        labels: Values,
        *verdicts: Values,
        sources: Sequence[object] | NDArray[np.generic] | None = None,
        classes: Classes = None,
        positive: object = None,
    ) -> "CodedVerdicts":
        """Keep the rows with all of them, and count the others."""
        names = ("labels", *(["verdicts"] if len(verdicts) == 1 else ["first", "second"]))
        given = [
            label_list(each, name=name)
            for each, name in zip((labels, *verdicts), names, strict=True)
        ]
        lengths = [len(each) for each in given]
        if len(set(lengths)) > 1:
            raise ValueError(f"{', '.join(names)} must have one entry per row; got {lengths}.")
        known, place = class_list([value for each in given for value in each], classes, positive)
        codes = np.stack(
            [class_codes(each, known, name=name) for each, name in zip(given, names, strict=True)]
        )
        labelled, kept = codes[0] >= 0, codes.min(axis=0) >= 0
        own = source_codes(sources, len(kept), kept)
        return cls(
            kept=np.flatnonzero(kept),
            true=codes[0, kept],
            said=codes[1:, kept],
            sources=own,
            n_sources=int(own.max(initial=-1)) + 1,
            classes=known,
            positive=place,
            n_unlabelled=int(np.count_nonzero(~labelled)),
            n_unscored=int(np.count_nonzero(labelled & ~kept)),
        )

    @property
    def place(self) -> int:
        if self.positive < 0:
            raise ValueError(
                f"positive= must say which of {list(self.classes)} is the label of a good row."
            )
        return self.positive

    def sums(self, judge: int = 0) -> FloatArray:
        """Return each source's table of labels by verdicts, shape (n_sources, n_classes ** 2)."""
        n = len(self.classes)
        cells = (self.sources * n + self.true) * n + self.said[judge]
        found = np.bincount(cells, minlength=self.n_sources * n**2)
        return found.reshape(self.n_sources, n**2).astype(np.float64)

    def counted(self, name: VerdictMetric, judge: int = 0) -> Counted:
        """Return a metric as a function of how often sources, with a row that counts, are drawn."""
        sums, place = self.sums(judge), self.positive
        whole = sums.sum(axis=0)
        value = float(Tables.of(whole[None], whole, place).value(name)[0])
        good = self.true == place
        own = {"tpr": good, "tnr": ~good}.get(name, np.ones(len(good), bool))
        return Counted(
            value=value,
            of_counts=lambda counts: Tables.of(counts @ sums, whole, place).value(name),
            n_units=len(np.unique(self.sources[own])),
            n_undefined=int(math.isnan(value)),
        )

    def cost_of(self, costs: Mapping[object, float] | None) -> FloatArray | None:
        """Return what a wrong verdict on each class costs."""
        return None if costs is None else cost_vector(costs, self.classes)


def class_list(
    values: Iterable[object], classes: Sequence[object] | None, positive: object
) -> tuple[tuple[object, ...], int]:
    """Return the classes, those that occur if none are given, and the place of the positive one."""
    known: tuple[object, ...]
    if classes is None:
        given = [value for value in values if not is_missing(value)]
        try:
            occur = set(given)
        except TypeError as error:
            raise TypeError(f"labels must be words, booleans or numbers; {error}.") from error
        folded = {_folded(each) for each in occur}
        pair = next((pair for pair in _PAIRS if folded <= {*pair}), ())
        known = tuple(_as_written(word, occur) for word in pair) or tuple(in_order(occur))
    else:
        known = tuple(classes)
        if len(set(known)) != len(known) or len(known) < 2:
            raise ValueError(f"classes must be two or more different labels; got {list(known)}.")
    if positive is None:
        # 1 is a label of its own, and not true, where there are other numbers than 0.
        words = {pair[1] for pair in (_PAIRS if set(known) == {0, 1} else _PAIRS[:3])}
        found = [place for place, each in enumerate(known) if _folded(each) in words]
        return known, found[0] if len(found) == 1 else -1
    if positive not in known:
        if classes is not None or len(known) > 1:
            raise ValueError(f"positive must be one of {list(known)}; got {positive!r}.")
        known = (*known, positive)
    return known, known.index(positive)


def _folded(value: object) -> object:
    return value.casefold() if isinstance(value, str) else value


def _as_written(word: object, occur: Iterable[object]) -> object:
    """Return a known word as the rows write it."""
    return next((each for each in occur if _folded(each) == word), word)


def class_codes(values: Sequence[object], classes: Sequence[object], *, name: str) -> IntArray:
    """Return the place of each value among the classes, -1 where it is missing."""
    places = {each: place for place, each in enumerate(classes)}
    codes = np.full(len(values), -1)
    for row, value in enumerate(values):
        place = places.get(value)
        if place is not None:
            codes[row] = place
        elif not is_missing(value):
            raise ValueError(
                f"{name} must each be one of {list(classes)}; got {value!r} at index {row}."
            )
    return codes


def cost_vector(costs: Mapping[object, float], classes: Sequence[object]) -> FloatArray:
    """Return what a wrong verdict on each class costs, 0 or more."""
    unknown = [label for label in costs if label not in classes]
    if unknown or len(costs) != len(classes):
        raise ValueError(
            f"costs must say of each of {list(classes)} what a wrong verdict costs; got "
            f"{dict(costs)}."
        )
    found = np.array([number(costs[each], name="a cost") for each in classes])
    if not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        raise ValueError(f"costs must be 0 or more, and one of them above 0; got {dict(costs)}.")
    return found


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of labels by verdicts, each of which gives every metric its value."""

    counts: FloatArray
    whole: FloatArray  # of all rows: macro metrics average over its labels
    positive: int
    costs: FloatArray | None = None

    @classmethod
    def of(
        cls, sums: FloatArray, whole: FloatArray, positive: int, costs: FloatArray | None = None
    ) -> "Tables":
        """Give flat tables their shape."""
        n = math.isqrt(sums.shape[-1])
        return cls(sums.reshape(-1, n, n), whole.reshape(n, n), positive, costs)

    def value(self, name: VerdictMetric) -> FloatArray:
        """Return one metric of each table, nan where it is undefined."""
        return _METRICS[name](self)

    @property
    def n(self) -> FloatArray:
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @property
    def true(self) -> FloatArray:
        """Rows that raters gave each label."""
        return np.asarray(self.counts.sum(axis=2))

    @property
    def said(self) -> FloatArray:
        """Rows that the judge gave each label."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def right(self) -> FloatArray:
        """Rows of each label that the judge gave that label."""
        return np.diagonal(self.counts, axis1=1, axis2=2)

    @property
    def recalls(self) -> FloatArray:
        """Share of each label's rows that the judge gave that label."""
        return ratio(self.right, self.true)

    @property
    def f1s(self) -> FloatArray:
        """Harmonic mean of each label's precision and recall."""
        return ratio(2 * self.right, self.true + self.said)

    def accuracy(self) -> FloatArray:
        return ratio(self.right.sum(axis=1), self.n)

    def balanced_accuracy(self) -> FloatArray:
        occurs = self.whole.sum(axis=1) > 0
        if np.count_nonzero(occurs) < 2:
            return np.full(len(self.counts), np.nan)
        return np.asarray(self.recalls[:, occurs].mean(axis=1))

    def macro_f1(self) -> FloatArray:
        occurs = self.whole.sum(axis=0) + self.whole.sum(axis=1) > 0
        if not occurs.any():
            return np.full(len(self.counts), np.nan)
        return np.asarray(self.f1s[:, occurs].mean(axis=1))

    def mcc(self) -> FloatArray:
        """Gorodkin's correlation of the two classifications."""
        square = self.n**2
        spread = [square - np.sum(each**2, axis=1) for each in (self.true, self.said)]
        shared = self.n * self.right.sum(axis=1) - np.sum(self.true * self.said, axis=1)
        return ratio(shared, np.sqrt(spread[0] * spread[1]))

    def ac1(self) -> FloatArray:
        n_classes = self.counts.shape[1]
        shares = ratio(self.true + self.said, 2 * self.n[:, None])
        chance = np.sum(shares * (1 - shares), axis=1) / (n_classes - 1)
        return ratio(self.accuracy() - chance, 1 - chance)

    def of_positive(self, given: FloatArray, *, rest: bool = False) -> FloatArray:
        """Return the share of right verdicts among rows given the positive label, or another."""
        both = self.counts[:, self.positive, self.positive]
        whole = given[:, self.positive]
        if not rest:
            return ratio(both, whole)
        others = self.n - self.true[:, self.positive] - self.said[:, self.positive] + both
        return ratio(others, self.n - whole)

    def cost(self) -> FloatArray:
        if self.costs is None:
            raise ValueError("costs must say what a wrong verdict on each label costs; got None.")
        return ratio((self.true - self.right) @ self.costs, self.n)


def _kappa(tables: Tables, weights: Literal["nominal", "quadratic"]) -> FloatArray:
    n_classes = tables.counts.shape[1]
    return kappa_of_tables(tables.counts.reshape(len(tables.counts), -1), n_classes, weights)


_METRICS: dict[VerdictMetric, Callable[[Tables], FloatArray]] = {
    "accuracy": Tables.accuracy,
    "balanced_accuracy": Tables.balanced_accuracy,
    "mcc": Tables.mcc,
    "kappa": lambda tables: _kappa(tables, "nominal"),
    "quadratic_kappa": lambda tables: _kappa(tables, "quadratic"),
    "ac1": Tables.ac1,
    "f1": lambda tables: tables.f1s[:, tables.positive],
    "macro_f1": Tables.macro_f1,
    "tpr": lambda tables: tables.of_positive(tables.true),
    "tnr": lambda tables: tables.of_positive(tables.true, rest=True),
    "precision": lambda tables: tables.of_positive(tables.said),
    "npv": lambda tables: tables.of_positive(tables.said, rest=True),
    "cost": Tables.cost,
}
