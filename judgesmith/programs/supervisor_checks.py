"""What a supervisor lists, held against the response and the annotations that it was given."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.programs.locating import Locator, Place
from judgesmith.programs.panel_annotations import Annotation, Merged
from judgesmith.programs.panel_merging import merged_error
from judgesmith.programs.supervisor_answers import Entry

_AROUND = 3  # how many times the length of a quotation may be between it and what it merges


def checked(
    entries: Sequence[Entry], annotations: Sequence[Annotation], response: str
) -> tuple[list[Merged], int]:
    """Return the errors that stand, and how many entries do not.

    An entry stands if its stretch is in the response and touches one of the annotations that it
    names, or any where it names none that there is; or if nothing is to be quoted and one of
    these misses something. It is as severe as the severest of those, whatever it says itself.

    Examples
    --------
    >>> from judgesmith.signatures.judgement import ErrorSpan
    >>> error = ErrorSpan(text="ten", start=18, end=21, severity=3, explanation="It was nine.")
    >>> given = [Annotation(number=1, member="a", error=error)]
    >>> said = [
    ...     Entry(numbers=(1,), location="at ten", severity="5"),
    ...     Entry(numbers=(1,), location="The ferry"),
    ...     Entry(location="at noon"),
    ... ]
    >>> found, n_dropped = checked(said, given, "The ferry left at ten.")
    >>> [(one.error.text, one.error.severity) for one in found], n_dropped
    ([('at ten', 3.0)], 2)
    """
    by_number = {one.number: one for one in annotations}
    anywhere = Locator(response)
    found: list[Merged] = []
    for entry in entries:
        named = [by_number[number] for number in entry.numbers if number in by_number]
        one = _merged(entry, named or list(annotations), anywhere, near=bool(named))
        if one is not None and not any(one.error == other.error for other in found):
            found.append(one)
    return sorted(found, key=_place), len(entries) - len(found)


def _merged(
    entry: Entry, basis: Sequence[Annotation], anywhere: Locator, *, near: bool
) -> Merged | None:
    place = _nearby(entry.location, basis, anywhere.response) if near else None
    if place is None:
        place = anywhere(entry.location)
    if place.located == "missing":
        missing = [one for one in basis if one.span is None]
        if not missing:
            return None
        return merged_error(missing, anywhere.response, None, entry.explanation)
    if place.start is None or place.end is None:
        return None
    start, end = place.start, place.end
    touching = [one for one in basis if _touches(one, start, end)]
    if not touching:
        return None
    return merged_error(touching, anywhere.response, (start, end), entry.explanation)


def _nearby(quoted: str, basis: Sequence[Annotation], response: str) -> Place | None:
    """Return where a quotation stands around what it merges; None if it does not stand there."""
    spans = [one.span for one in basis if one.span is not None]
    if not spans:
        return None
    around = _AROUND * len(quoted)
    first = max(min(start for start, _ in spans) - around, 0)
    last = max(end for _, end in spans) + around
    # The place that touches is wanted, of all where the same words stand.
    for start, end in (*spans, (first, last)):
        window = response[max(start - len(quoted), 0) : end + len(quoted)]
        offset = max(start - len(quoted), 0)
        found = Locator(window)(quoted)
        if found.start is None or found.end is None:
            continue
        begun, ended = found.start + offset, found.end + offset
        if any(_touches(one, begun, ended) for one in basis):
            return Place(begun, ended, found.located, found.ambiguous)
    return None


def _touches(one: Annotation, start: int, end: int) -> bool:
    span = one.span
    return span is not None and span[0] < end and start < span[1]


def _place(one: Merged) -> tuple[bool, int, int]:
    """Return what errors are ordered by: their place, those without one last."""
    start, end = one.error.start, one.error.end
    return (start is None, start or 0, end or 0)
