"""What a supervisor lists, held against the response and the annotations that it was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from judgesmith.programs.annotator_answers import quoted_in
from judgesmith.programs.locating import Locator, Place
from judgesmith.programs.panel_annotations import Annotation, Merged
from judgesmith.programs.panel_merging import merged_error
from judgesmith.programs.supervisor_answers import Entry

_LONGEST = 4_000  # characters of a location in which several quotations are looked for
_MOST_PLACES = 8  # of the annotations that an entry names, around which its words are looked for


def checked(
    entries: Sequence[Entry], annotations: Sequence[Annotation], response: str
) -> tuple[list[Merged], int]:
    """Return the errors that stand, and how many entries do not.

    An entry stands if its stretch is in the response and touches one of the annotations that it
    names, or any where it names none that there is; or if nothing is to be quoted and one of
    these misses something. It is as severe as the severest of those, whatever it says itself.
    One that quotes several stretches is several. Entries far beyond the number of annotations are
    not looked at, and count among those that do not stand.

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
    most = 2 * len(annotations) + 8
    single = [one for entry in entries[:most] for one in _by_stretch(entry, anywhere)]
    found: list[Merged] = []
    for entry in single:
        named = [by_number[number] for number in entry.numbers if number in by_number]
        place = _around(entry.location, named, response) if named else anywhere(entry.location)
        one = _merged(entry, place, named or annotations, response)
        if one is not None and not any(one.error == other.error for other in found):
            found.append(one)
    n_unread = max(len(entries) - most, 0)
    return sorted(found, key=_in_order), len(single) + n_unread - len(found)


def _by_stretch(entry: Entry, find: Locator) -> list[Entry]:
    """Return an entry for each stretch that it quotes, as of two no single one covers both."""
    several = list(islice(quoted_in(entry.location[:_LONGEST]), _MOST_PLACES))
    if len(several) < 2 or find.look(entry.location).located in ("exact", "normalised"):
        return [entry]
    return [replace(entry, location=f'"{one}"') for one in several]


def _merged(
    entry: Entry, place: Place, basis: Sequence[Annotation], response: str
) -> Merged | None:
    """Return the error that an entry is, None where it does not stand."""
    if place.located == "missing":
        missing = [one for one in basis if one.span is None]
        return merged_error(missing, response, None, entry.explanation) if missing else None
    if place.start is None or place.end is None:
        return None
    touching = [one for one in basis if _touches(one, place.start, place.end)]
    if not touching:
        return None
    return merged_error(touching, response, (place.start, place.end), entry.explanation)


def _around(quoted: str, named: Sequence[Annotation], response: str) -> Place:
    """Return where a quotation stands that touches one of some annotations.

    The same words may stand elsewhere, too: it is looked for around each of these.
    """
    spans = list(dict.fromkeys(one.span for one in named if one.span is not None))
    for start, end in spans[:_MOST_PLACES]:
        first = max(start - len(quoted), 0)
        found = Locator(response[first : end + len(quoted)])(quoted)
        if found.start is None or found.end is None:
            continue
        begun, ended = found.start + first, found.end + first
        if any(_touches(one, begun, ended) for one in named):
            return Place(begun, ended, found.located, found.ambiguous)
    return Locator("")(quoted)  # in none of the places; perhaps it says that something is missing


def _touches(one: Annotation, start: int, end: int) -> bool:
    span = one.span
    return span is not None and span[0] < end and start < span[1]


def _in_order(one: Merged) -> tuple[bool, int, int]:
    """Return what errors are ordered by: their place, those without one last."""
    start, end = one.error.start, one.error.end
    return (start is None, start or 0, end or 0)
