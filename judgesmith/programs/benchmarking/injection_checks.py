"""Whether a model put in the errors it was asked for, where it says, and changed nothing else.

Words are compared with words. Whether an error is a good one of its kind nobody can tell this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from judgesmith.programs.benchmarking.reported_errors import ReportedError
from judgesmith.programs.benchmarking.reported_places import Change, places_by_report
from judgesmith.programs.perturbing.differences import (
    Incomparable,
    Token,
    differences,
    edit_of,
    tokens_of,
)
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.verifying import NOT_ANOTHER, added_fault, remade
from judgesmith.programs.perturbing.wrapping import spoken_around, unwrapped
from judgesmith.signatures.injection import (
    EARLIER_TOUCHED,
    SubAspect,
    Target,
    mends,
    touches,
    with_error,
)
from judgesmith.signatures.perturbation import Edit

UNCHANGED: Final = NOT_ANOTHER
"""The text came back as it was."""

TOO_MUCH: Final = "too much was changed"
"""More words came or went than so many errors take, or a place is as wide as half the text."""

TOO_CLOSE: Final = "two errors at one place"
"""Errors touch each other."""

_WORDS_OF_ONE = 30  # that an error may take or bring, also in a short text
_SHARE_OF_ONE = 1 / 3
_MOST_LOST = 0.75
_MOST_LOST_TO_ONE = 0.5
_FEW = 6
_WIDEST, _WIDEST_SHARE = 40, 0.5
_MOST_EVER, _LONG = 4, 1000  # lengths and characters of an answer with all that is around it


def verified_errors(
    answer: str,
    reported: Sequence[ReportedError],
    target: Target,
    sub_aspects: Sequence[SubAspect],
) -> Target | str:
    """Return a target with the errors that a model put in, or what is wrong with its answer.

    Parameters
    ----------
    answer : str
        The text as the model wrote it. Fences around all of it are taken off; blanks and shapes
        of quotation marks are put back as they were.
    reported : sequence of ReportedError
        What it says of each error.
    target : Target
        What it was given.
    sub_aspects : sequence of SubAspect
        What the errors are bound to, aligned with ``reported``.

    Returns
    -------
    Target or str
        The text with all these errors, at places apart from each other and from earlier ones; or
        a few words that are the same for all answers with the same fault.

    Examples
    --------
    >>> given = Target(text="Then Ann left Rome.")
    >>> side = [SubAspect(criterion="consistency", name="names")]
    >>> said = [ReportedError(number=1, was="Ann", now="Bob", explanation="It was Ann.")]
    >>> verified_errors("Then Bob left Rome.", said, given, side).errors[0].spans
    ((5, 8),)
    >>> verified_errors("Now Bob left Rome.", said, given, side)
    'changed where no error is reported'
    >>> verified_errors("Then Ann left Rome.", said, given, side)
    'unchanged'
    """
    original = target.text
    if len(answer) > _MOST_EVER * len(original) + _LONG:
        return TOO_MUCH  # before anything is looked for in it
    text = unwrapped(answer, original)
    if not text:
        return "empty"
    if fault := spoken_around(text, original):
        return fault
    tokens, other = tokens_of(original), tokens_of(text)
    if [token.key for token in tokens] == [token.key for token in other]:
        return UNCHANGED
    try:
        found = [(one.removed, one.added) for one in differences(tokens, other, text)]
    except Incomparable as fault_:
        return str(fault_)
    longest = max(
        (len(tokens_of(original[start:end])) for start, end in Passage(original).sentences),
        default=0,
    )
    if _is_too_much(found, tokens, other, len(reported), longest):
        return TOO_MUCH
    widest = max(_WIDEST, _WIDEST_SHARE * max(len(tokens), len(other)), longest + _FEW)
    if any(len(tokens_of(one)) > widest for said in reported for one in (said.was, said.now)):
        return TOO_MUCH
    places = places_by_report(found, reported, tokens, other)
    if isinstance(places, str):
        return places
    several = [
        [edit_of(tokens, other, removed, added, text) for removed, added in own] for own in places
    ]
    edits = _in_order(edit for own in several for edit in own)
    if any(one.end > other.start for one, other in pairwise(edits)):
        return TOO_CLOSE
    if any(touches(edit, span) for edit in edits for one in target.errors for span in one.spans):
        return EARLIER_TOUCHED
    if mends(target, edits):
        return EARLIER_TOUCHED
    if fault := added_fault(edits, text, original):
        return fault
    made = remade(original, edits, other)
    if isinstance(made, str):
        return made
    return _with_errors(target, several, reported, sub_aspects)


def _is_too_much(
    found: Sequence[Change],
    tokens: Sequence[Token],
    other: Sequence[Token],
    n_errors: int,
    longest: int,
) -> bool:
    """Say whether more words came or went than so many errors take: a sentence each, at most."""
    n_lost = sum(tokens[place].is_word for removed, _ in found for place in removed)
    n_new = sum(other[place].is_word for _, added in found for place in added)
    n_words = sum(token.is_word for token in tokens)
    most = n_errors * max(_WORDS_OF_ONE, _SHARE_OF_ONE * n_words, longest + _FEW)
    share = _MOST_LOST if n_errors > 1 else _MOST_LOST_TO_ONE
    return n_new > most or n_lost > min(most, max(_FEW, share * n_words))


def _with_errors(
    target: Target,
    several: Sequence[Sequence[Edit]],
    reported: Sequence[ReportedError],
    sub_aspects: Sequence[SubAspect],
) -> Target | str:
    """Return a target with errors added one after the other, each at its place by then."""
    done: list[Edit] = []
    for edits, said, sub_aspect in zip(several, reported, sub_aspects, strict=True):
        made = with_error(
            target,
            [_shifted(edit, done) for edit in _in_order(edits)],
            sub_aspect=sub_aspect.name,
            kind="model",
            explanation=said.explanation,
        )
        if isinstance(made, str):
            return TOO_CLOSE
        target = made
        done += edits
    return target


def _in_order(edits: Iterable[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda one: (one.start, one.end))


def _shifted(edit: Edit, done: Sequence[Edit]) -> Edit:
    by = sum(len(one.text) - (one.end - one.start) for one in done if one.end <= edit.start)
    return edit.model_copy(update={"start": edit.start + by, "end": edit.end + by})
