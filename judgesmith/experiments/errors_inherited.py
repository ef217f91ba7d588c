"""Errors that a judge marks in a changed text, and not already in what it was made from."""

from __future__ import annotations

from dataclasses import replace

from judgesmith.experiments.errors_found import TextErrors
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.perturbation import Perturbed

Place = tuple[int, int]


def new_errors(
    version: TextErrors, original: TextErrors, made: Perturbed, *, overlap: float
) -> TextErrors:
    """Return a version's errors without those that are marked in the original, too.

    Texts have errors of their own; those say nothing about the change. An error that touches what
    was changed is always new.

    Parameters
    ----------
    version, original : TextErrors
        What is marked in either. Where nobody knows what is marked in the original, all is new.
    made : Perturbed
        The version and its edits.
    overlap : float, from 0 to 1
        Least share of their characters that two errors must have in common to be one.

    Examples
    --------
    >>> from judgesmith.signatures.perturbation import Edit
    >>> from judgesmith.signatures.items import RatedItem
    >>> before = RatedItem(response="A red dog ran.")
    >>> after = RatedItem(response="An old red cat ran.")
    >>> made = Perturbed(
    ...     text=after.response,
    ...     edits=(Edit(start=0, end=1, text="An old"), Edit(start=6, end=9, text="cat")),
    ... )
    >>> marked = [ErrorSpan(text="red", start=2, end=5)]
    >>> again = [ErrorSpan(text="red", start=7, end=10), ErrorSpan(text="cat", start=11, end=14)]
    >>> found = new_errors(
    ...     TextErrors(item=after, errors=tuple(again)),
    ...     TextErrors(item=before, errors=tuple(marked)),
    ...     made,
    ...     overlap=0.5,
    ... )
    >>> [error.text for error in found.errors]
    ['cat']
    """
    if version.errors is None or not original.errors:
        return version
    known = [place for error in original.errors if (place := _place(error))]
    kept = []
    for error in version.errors:
        place = _place(error)
        before = place and _before(place, made)
        if before is None or not any(_share(before, one) >= overlap for one in known):
            kept.append(error)
    return replace(version, errors=tuple(kept), support=())


def _place(error: ErrorSpan) -> Place | None:
    if error.start is None or error.end is None or error.start == error.end:
        return None
    return error.start, error.end


def _before(place: Place, made: Perturbed) -> Place | None:
    """Return where a place of the version stood in the original; None if it was changed."""
    start, end = place
    moved = 0
    for edit, (first, last) in zip(made.edits, made.spans, strict=True):
        if first >= end:
            break
        if last > start:
            return None
        moved += (edit.end - edit.start) - len(edit.text)
    return start + moved, end + moved


def _share(one: Place, other: Place) -> float:
    """Return characters in both over characters in either; nothing in common is below any share."""
    both = min(one[1], other[1]) - max(one[0], other[0])
    if both <= 0:
        return -1.0
    return both / (max(one[1], other[1]) - min(one[0], other[0]))
