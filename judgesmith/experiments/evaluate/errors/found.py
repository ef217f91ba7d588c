"""The errors that a judge found in texts: where, how bad, how many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from judgesmith.data.scores import Criteria
from judgesmith.errors import InputError
from judgesmith.programs.families.forms.annotators import SEVERITIES
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import ErrorSpan, Judgement


@dataclass(frozen=True, kw_only=True)
class TextErrors:
    """A text and what a judge says is wrong with it."""

    item: RatedItem
    errors: tuple[ErrorSpan, ...] | None  # None without a readable answer
    score: float | None = None  # in points of the judge's scale
    explanation: str = ""
    criteria: Criteria = field(default_factory=dict)  # from 0 to 100
    notes: tuple[str, ...] = ()
    problem: str | None = None
    support: tuple[tuple[str, ...], ...] = ()

    @property
    def finders(self) -> dict[ErrorSpan, tuple[str, ...]]:
        """The members of a panel that found each of ``distinct_errors``, where that is known."""
        found: dict[ErrorSpan, tuple[str, ...]] = {}
        for error, names in zip(self.errors or (), self.support, strict=False):
            plain = _on_no_criterion(error)
            found[plain] = tuple(dict.fromkeys((*found.get(plain, ()), *names)))
        return found

    @property
    def source(self) -> str:
        """What tells its source from others: intervals draw sources."""
        return self.item.source_id or self.item.source


@dataclass(frozen=True, kw_only=True)
class FoundErrors:
    """What a judge found in every text of a set."""

    label: str
    texts: tuple[TextErrors, ...]
    n_unused: int

    @property
    def n_unscored(self) -> int:
        """Texts without an answer that could be read."""
        return sum(text.errors is None for text in self.texts)


def distinct_errors(errors: Sequence[ErrorSpan]) -> dict[ErrorSpan, tuple[str, ...]]:
    """Return each error without its criterion, and the criteria that it offends, in order."""
    found: dict[ErrorSpan, tuple[str, ...]] = {}
    for error in errors:
        plain = _on_no_criterion(error)
        before = found.setdefault(plain, ())
        if error.criterion and error.criterion not in before:
            found[plain] = (*before, error.criterion)
    return found


def _on_no_criterion(error: ErrorSpan) -> ErrorSpan:
    return error.model_copy(update={"criterion": ""}) if error.criterion else error


def found_errors(
    items: Sequence[RatedItem], judgements: Sequence[Judgement], *, label: str
) -> FoundErrors:
    """Return the errors that a judge has just found, as a file of scores would state them."""
    texts = (
        TextErrors(
            item=item,
            errors=None if one.score is None and not one.errors else one.errors,
            score=one.score,
            explanation=one.explanation,
            criteria=one.criteria,
            notes=tuple(note.text for note in one.notes),
            problem=one.problem,
        )
        for item, one in zip(items, judgements, strict=True)
    )
    return FoundErrors(label=label, texts=tuple(texts), n_unused=0)


SEVERITY_WORDS: Mapping[str, int] = {
    word.casefold(): points for points, word in enumerate(SEVERITIES, start=1)
}
"""The points that words stand for, from the least to the worst."""

MAJOR = 3.0
"""Points from which an error counts as a major one, where there are but two classes."""

Grade = Literal["ungraded", "minor", "moderate", "major"]

_WORD_OF = {points: word for word, points in SEVERITY_WORDS.items()}


def severity_points(stated: object) -> float | None:
    """Return what points a number or a word stands for, None for nothing."""
    if stated is None:
        return None
    if isinstance(stated, str) and (points := SEVERITY_WORDS.get(stated.strip().casefold())):
        return float(points)
    if isinstance(stated, int | float) and not isinstance(stated, bool) and math.isfinite(stated):
        return float(stated)
    raise InputError(f"expected a number, or one of {', '.join(SEVERITY_WORDS)}; got {stated!r}.")


def severity_text(severity: float | None) -> str:
    if severity is None:
        return "of no stated severity"
    word = _WORD_OF.get(_nearest(severity))
    return f"{word}, {severity:g} of 5" if word else f"severity {severity:g}"


def grade_of(severity: float | None) -> Grade:
    """Return in which of the ways an error is marked that readers can tell apart."""
    if severity is None:
        return "ungraded"
    points = _nearest(severity)
    return "minor" if points < 3 else "moderate" if points == 3 else "major"


def is_major(severity: float | None, *, major: float = MAJOR) -> bool:
    """Say whether an error counts as a major one; one of no stated severity does not."""
    return severity is not None and severity >= major


def _nearest(severity: float) -> int:
    return math.floor(severity + 0.5)


GRADES: tuple[Grade, ...] = ("major", "moderate", "minor", "ungraded")
PLACES = ("exact", "normalised", "fuzzy", "placed", "missing", "unresolved", "unplaced")
"""How places were found; ``placed`` and ``unplaced`` where the judge does not say how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTotals:
    """Counts over all texts."""

    texts: int
    unscored: int
    with_errors: int
    errors: int
    ambiguous: int
    noted: int
    grades: Mapping[str, int]
    places: Mapping[str, int]
    criteria: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def error_totals(found: FoundErrors) -> ErrorTotals:
    of_texts = [distinct_errors(text.errors or ()) for text in found.texts]
    errors = [error for one in of_texts for error in one]
    grades = Counter(grade_of(error.severity) for error in errors)
    places = Counter(map(_found_how, errors))
    return ErrorTotals(
        texts=len(found.texts),
        unscored=found.n_unscored,
        with_errors=sum(bool(text.errors) for text in found.texts),
        errors=len(errors),
        ambiguous=sum(error.ambiguous for error in errors),
        noted=sum(bool(text.notes) for text in found.texts),
        grades={name: grades[name] for name in GRADES},
        places={name: places[name] for name in PLACES},
        criteria=dict(
            Counter(name for one in of_texts for criteria in one.values() for name in criteria)
        ),
    )


def _found_how(error: ErrorSpan) -> str:
    return error.located or ("unplaced" if error.start is None else "placed")


def worst_first(texts: Iterable[TextErrors]) -> list[TextErrors]:
    """Return texts by the sum of their errors' points, the largest first, in order where equal."""

    def points(text: TextErrors) -> float:
        errors = distinct_errors(text.errors or ())
        return sum(1.0 if one.severity is None else one.severity for one in errors)

    return sorted(texts, key=points, reverse=True)


MOST = 50
"""Errors that are shown of one text; more help no reader."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """An error and the number it is shown by."""

    number: int
    error: ErrorSpan
    criteria: tuple[str, ...] = ()

    @property
    def grade(self) -> Grade:
        """How it is marked."""
        return grade_of(self.error.severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text in which nothing begins or ends."""

    text: str
    closes: tuple[int, ...] = ()
    opens: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    left_out: int = 0


def numbered_errors(errors: Sequence[ErrorSpan]) -> tuple[Numbered, ...]:
    """Return errors in the order of the text, those without a place after them."""
    criteria = distinct_errors(errors)
    placed = [one for one in criteria if one.start is not None]
    placed.sort(key=lambda one: (one.start, one.end))
    others = [one for one in criteria if one.start is None]
    return tuple(
        Numbered(number, one, criteria[one])
        for number, one in enumerate([*placed, *others], start=1)
    )


def place_text(error: ErrorSpan) -> str:
    """Return where an error is and how its place was found, in words."""
    if error.start is None:
        return _WITHOUT_PLACE.get(error.located or "", "without a place")
    at = "before character" if error.start == error.end else f"characters {error.start} to"
    parts = [f"{at} {error.end}"]
    if error.located in _OTHERWISE:
        parts.append(_OTHERWISE[error.located])
    if error.ambiguous:
        parts.append("one of several such places")
    return ", ".join(parts)


_WITHOUT_PLACE = {
    "missing": "missing from the text",
    "unresolved": "quoted, but not in the text",
}
_OTHERWISE = {
    "normalised": "quoted with other spaces, case or quotation marks",
    "fuzzy": "quoted with other letters",
}


def quoted_otherwise(error: ErrorSpan, response: str) -> str:
    """Return what was quoted, where that is not what stands at the place that was found."""
    there = "" if error.start is None else response[error.start : error.end]
    if error.located == "missing" or error.text == there:
        return ""
    return error.text.strip()


def text_pieces(text: str, errors: Sequence[Numbered], *, around: int) -> Iterator[Piece]:
    """Yield a text piece by piece, with the errors that begin, end and run on there."""
    spans = {
        one.number: (one.error.start, one.error.end)
        for one in errors
        if one.error.start is not None and one.error.end is not None
    }
    points = sorted({0, len(text), *(edge for span in spans.values() for edge in span)})
    for start, end in zip(points, [*points[1:], len(text)], strict=True):
        empty = tuple(n for n, span in spans.items() if span == (start, start))
        closes = tuple(n for n, span in spans.items() if span[0] < start == span[1])
        opens = tuple(n for n, span in spans.items() if span[0] == start < span[1])
        over = tuple(n for n, span in spans.items() if span[0] <= start < span[1])
        if empty:
            yield Piece(text="", closes=closes, opens=empty)
            closes = empty
        tail = around if end < len(text) else 0
        hidden = end - start - around - tail
        if hidden > around:
            yield Piece(text=text[start : start + around], closes=closes, opens=opens, over=over)
            yield Piece(text=text[end - tail : end], over=over, left_out=hidden)
        elif end > start or closes:
            yield Piece(text=text[start:end], closes=closes, opens=opens, over=over)


def worst_grade(piece: Piece, errors: Sequence[Numbered]) -> Grade | None:
    """Return how the gravest of ``errors`` that run over a piece is marked, None without any."""
    over = (one.grade for one in errors if one.number in piece.over)
    return min(over, key=GRADES.index, default=None)
