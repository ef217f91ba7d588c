"""From errors as an annotator states them to errors with a place in the response."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from judgesmith.programs.annotator_lines import closing_of
from judgesmith.programs.annotator_stated import StatedError
from judgesmith.programs.locating import Locator, Place
from judgesmith.signatures.annotating import MOST_ERRORS
from judgesmith.signatures.judgement import ErrorSpan, Note

# What stands behind a quotation and this is how it should be.
_CORRECTED = re.compile(
    r"(?<=[\"”»'’`)])\s*+\(?(?:→|[-=]>"
    r"|(?:should|ought to|must) (?:be|read|say)\b|instead of\b|rather than\b|correct(?:ed|ly)?\b)",
    re.IGNORECASE,
)
_QUOTED = 8  # quotations of one error that become errors of their own
_OPENING = '"“„«「『`'


def error_spans(
    stated: Sequence[StatedError], response: str, *, about: str, criterion: str = ""
) -> tuple[tuple[ErrorSpan, ...], tuple[Note, ...]]:
    """Return errors with their places, the most severe if they are many, and what was left out.

    Parameters
    ----------
    stated : sequence of StatedError
        In the order in which the annotator names them.
    response : str
        The text that they are in.
    about : str
        What the notes are about: ``overall``, or ``criterion:NAME``.
    criterion : str
        The criterion that they offend; empty for the whole.

    Returns
    -------
    tuple of ErrorSpan
        At most ``MOST_ERRORS``, in the same order. Their text is that of the response where they
        have a place, and as the annotator quotes it otherwise.
    tuple of Note
        That errors were left out, or severities could not be read.

    Examples
    --------
    >>> said = StatedError(location='"in 1998" and "in May"', explanation="No.", severity=4.0)
    >>> spans, _ = error_spans([said], "It opened in May, in 1998.", about="overall")
    >>> [(one.text, one.start, one.end) for one in spans]
    [('in 1998', 18, 25), ('in May', 10, 16)]
    """
    find = Locator(response)
    found = [
        ErrorSpan(
            text=quoted if place.start is None else response[place.start : place.end],
            start=place.start,
            end=place.end,
            severity=one.severity,
            explanation=one.explanation,
            located=place.located,
            ambiguous=place.ambiguous,
            criterion=criterion,
        )
        for one in stated
        for quoted, place in places_of(one.location, find)
    ]
    notes = []
    n_ungraded = sum(one.severity is None for one in stated)
    if n_ungraded:
        text = f"{n_ungraded} of {len(stated)} errors have no severity that can be read"
        notes.append(Note(kind="unread", about=about, text=text))
    if len(found) > MOST_ERRORS:
        text = f"{len(found) - MOST_ERRORS} of {len(found)} errors were left out, the mildest"
        notes.append(Note(kind="left out", about=about, text=text))
        worst = sorted(range(len(found)), key=lambda at: (-(found[at].severity or 0), at))
        found = [found[at] for at in sorted(worst[:MOST_ERRORS])]
    return tuple(found), tuple(notes)


def places_of(location: str, find: Locator) -> Iterator[tuple[str, Place]]:
    """Yield what a location quotes, each with its place: several quotations are several places.

    What stands in the response as it is, is one quotation, whatever marks it has inside.

    Examples
    --------
    >>> find = Locator('She said "yes" and left.')
    >>> [place.start for _, place in places_of('said "yes" and', find)]
    [4]
    >>> [quoted for quoted, _ in places_of('the words "yes" and "no"', find)]
    ['yes', 'no']
    """
    whole = find.look(location)
    if whole.located in ("exact", "normalised", "missing"):
        yield location, find(location)
        return
    several = list(quoted_in(_CORRECTED.split(location, maxsplit=1)[0]))[:_QUOTED]
    if not several:
        yield location, find(location)
    for quoted in several:
        yield quoted, find(quoted, is_quoted=True)


def quoted_in(text: str) -> Iterator[str]:
    """Yield what stands between marks of quotation in a text, without the marks.

    Examples
    --------
    >>> list(quoted_in('"at ten" and “Oslo”, not "'))
    ['at ten', 'Oslo']
    """
    at = 0
    while at < len(text):
        if text[at] in _OPENING and (end := closing_of(text[at:])) is not None:
            inner = text[at + 1 : at + end - 1].strip()
            if inner:
                yield inner
            at += end
        else:
            at += 1
