"""Spans of two sides in many texts, laid end to end on one line of characters."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.checks import IntArray
from judgesmith.metrics.spans.span_side import SpanSide, TextSpans, read_side

__all__ = ["SpanTable"]

_LONGEST_LINE = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTable:
    """Both sides of the texts that have predicted spans, an empty list included.

    Attributes
    ----------
    predicted, gold : SpanSide
        Texts are numbered alike, from 0.
    kept : int array, shape (n_texts,)
        Where these texts stood among those given.
    n_given : int
        How many were given.
    """

    predicted: SpanSide
    gold: SpanSide
    kept: IntArray
    n_given: int

    @classmethod
    def of(
        cls, predicted: Iterable[TextSpans | None], gold: Iterable[TextSpans | None]
    ) -> "SpanTable":
        """Check every span and leave out texts whose predicted spans are None.

        Raises
        ------
        ValueError
            If the texts do not pair up, gold spans are missing for a text, or a span is not as
            described in :class:`Span`.
        TypeError
            If a side is not a list of texts.
        """
        sides = _texts(predicted, "predicted"), _texts(gold, "gold")
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
        """Lay the texts end to end, apart by the named properties of their spans as well.

        Returns
        -------
        codes_predicted, codes_gold : int array, one per span
            The stretch of line that the span lies on: one per text and value of the keys.
        begins : int array, one per stretch
            Where on the line it begins.
        texts : int array, one per stretch
            Its text.
        """
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
