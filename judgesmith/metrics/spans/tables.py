"""Error spans of many texts as arrays."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from judgesmith.metrics.arrays import FloatArray, IntArray, score_vector

# Times the longest line it is still far from the largest float.
_LARGEST_SEVERITY = 1e100
_WHOLE = (int, np.integer)


class Span(NamedTuple):
    """A stretch of a text, with how bad it is and of what kind.

    Attributes
    ----------
    start, end : int or None
        Character offsets, ``end`` excluded. None together, or equal, where the error has no
        place in the text, such as an omission: it is left out and counted.
    severity : float, above 0 and up to 1e100
        How bad it is, for example 1 for minor and 5 for major.
    label : hashable
        Its kind, where kinds are told apart; nan is none, as None is.

    Examples
    --------
    >>> Span(0, 4, severity=5.0)
    Span(start=0, end=4, severity=5.0, label=None)
    """

    start: int | None
    end: int | None
    severity: float = 1.0
    label: Hashable = None


TextSpans = Iterable[Sequence[Any]]
"""The spans of one text: a :class:`Span` each, or ``(start, end[, severity[, label]])``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSide:
    """The located spans of one side, one array entry each."""

    texts: IntArray
    starts: IntArray
    ends: IntArray
    severities: FloatArray
    labels: IntArray
    n_unlocated: int


def read_side(
    texts: list[tuple[int, TextSpans | None]], name: str, labels: dict[Hashable, int]
) -> SpanSide:
    """Read the spans of numbered texts into arrays, with the numbers that labels got so far."""
    owners, starts, ends, severities, codes = [], [], [], [], []
    n_unlocated = 0
    for number, (index, spans) in enumerate(texts):
        if isinstance(spans, (str, bytes)) or not isinstance(spans, Iterable):
            raise ValueError(
                f"{name} must hold a list of spans for each text; text {index} has {spans!r}."
            )
        for given in spans:
            try:
                span = Span(*given)
            except TypeError as error:
                raise ValueError(
                    f"a span must be (start, end[, severity[, label]]); text {index} of {name} has "
                    f"{given!r}. Every text needs a list of its own spans."
                ) from error
            if span.start is None and span.end is None:
                n_unlocated += 1
                continue
            owners.append(number)
            starts.append(span.start)
            ends.append(span.end)
            severities.append(span.severity)
            codes.append(_label_code(span.label, labels, name))
    where = np.array(owners, dtype=np.int64)
    first, last = (_offsets(each, name) for each in (starts, ends))
    wrong = (first < 0) | (first > last)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"a span must have 0 <= start <= end; text {texts[where[at]][0]} of {name} has "
            f"({first[at]}, {last[at]})."
        )
    located = first < last
    return SpanSide(
        texts=where[located],
        starts=first[located],
        ends=last[located],
        severities=_severities(severities, name)[located],
        labels=np.array(codes, dtype=np.int64)[located],
        n_unlocated=n_unlocated + int(np.count_nonzero(~located)),
    )


def _label_code(label: Hashable, labels: dict[Hashable, int], name: str) -> int:
    """Return the number of a label; the nan of a data frame is no label, as None is."""
    if isinstance(label, float) and math.isnan(label):
        label = None
    try:
        return labels.setdefault(label, len(labels))
    except TypeError as error:
        raise ValueError(
            f"the label of a span in {name} must be one value, such as a string; got {label!r}."
        ) from error


def _offsets(given: list[int | None], name: str) -> IntArray:
    """Return offsets as integers, or say that they are none."""
    odd_kinds = [
        kind for kind in set(map(type, given)) if kind is bool or not issubclass(kind, _WHOLE)
    ]
    try:
        if not odd_kinds:
            return np.array(given, dtype=np.int64)
        odd = next(one for one in given if type(one) in odd_kinds)
    except OverflowError:
        odd = max(given, key=lambda one: abs(one or 0))
    raise ValueError(
        f"start and end of a span in {name} must both be whole numbers of characters, or both "
        f"None; got {odd!r} among them."
    )


def _severities(given: list[float], name: str) -> FloatArray:
    """Return positive weights."""
    severities = score_vector(given, name=f"severities in {name}", allow_missing=True)
    wrong = ~((severities > 0) & (severities <= _LARGEST_SEVERITY))
    if wrong.any():
        raise ValueError(
            f"severities in {name} must be finite numbers above 0, such as 1 for minor and 5 for "
            f"major; got {severities[wrong][0]}."
        )
    return severities


_LONGEST_LINE = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTable:
    """Both sides of the texts that have predicted spans, an empty list included."""

    predicted: SpanSide
    gold: SpanSide
    kept: IntArray
    n_given: int

    @classmethod
    def of(
        cls, human: Iterable[TextSpans | None], judge: Iterable[TextSpans | None]
    ) -> "SpanTable":
        """Check every span and leave out texts whose predicted spans are None."""
        sides = _texts(judge, "predicted"), _texts(human, "gold")
        if len(sides[0]) != len(sides[1]):
            raise ValueError(
                "predicted and gold must be aligned, one list of spans per text; got "
                f"{len(sides[0])} and {len(sides[1])}."
            )
        missing = [index for index, spans in enumerate(sides[1]) if _is_missing(spans)]
        if missing:
            raise ValueError(
                f"gold has no list of spans for {len(missing)} of {len(sides[1])} texts, the first "
                f"at index {missing[0]}; give only annotated texts, with [] where none was marked."
            )
        kept = [index for index, spans in enumerate(sides[0]) if not _is_missing(spans)]
        labels: dict[Hashable, int] = {}
        first, second = (
            read_side([(index, side[index]) for index in kept], name, labels)
            for side, name in zip(sides, ("predicted", "gold"), strict=True)
        )
        return cls(
            predicted=first,
            gold=second,
            kept=np.array(kept, dtype=np.int64),
            n_given=len(sides[0]),
        )

    @property
    def n_texts(self) -> int:
        """Texts kept."""
        return len(self.kept)

    def line(self, *keys: str) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Lay the texts end to end, apart by the named properties of their spans as well."""
        both = self.predicted, self.gold
        n = len(self.predicted.texts)
        texts = np.concatenate([side.texts for side in both])
        codes = np.unique(texts, return_inverse=True)[1]
        for key in keys:
            column = np.concatenate([getattr(side, key) for side in both])
            value = np.unique(column, return_inverse=True)[1]
            codes = codes * (int(value.max(initial=0)) + 1) + value
            codes = np.unique(codes, return_inverse=True)[1]
        ends = np.concatenate([side.ends for side in both])
        n_codes = int(codes.max(initial=-1)) + 1
        lengths = np.zeros(n_codes, np.int64)
        np.maximum.at(lengths, codes, ends)
        if float(lengths.sum(dtype=np.float64)) > _LONGEST_LINE:
            raise ValueError(
                "the texts are too long to be laid end to end; give offsets in characters."
            )
        owner = np.zeros(n_codes, np.int64)
        owner[codes] = texts
        return codes[:n], codes[n:], np.cumsum(lengths) - lengths, owner


def _texts(given: Iterable[TextSpans | None], name: str) -> list[TextSpans | None]:
    """Return one entry per text."""
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, Iterable):
        raise TypeError(
            f"{name} must hold a list of spans for each text; got {type(given).__name__}."
        )
    return list(given)


def _is_missing(spans: object) -> bool:
    """Say whether a text has no list of spans: None, or the nan of a data frame."""
    return spans is None or (isinstance(spans, float) and math.isnan(spans))
