"""Whether a model put in the errors it was asked for, where it says, and changed nothing else.

Words are compared with words. Whether an error is a good one of its kind nobody can tell this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from judgesmith.programs.benchmarking.reported_errors import ReportedError
from judgesmith.programs.perturbing.differences import (
    Incomparable,
    Token,
    differences,
    edit_of,
    tokens_of,
)
from judgesmith.programs.perturbing.verifying import NOT_ANOTHER, added_fault, remade
from judgesmith.programs.perturbing.wrapping import spoken_around, unwrapped
from judgesmith.signatures.injection import (
    EARLIER_TOUCHED,
    SubAspect,
    Target,
    touches,
    with_error,
)
from judgesmith.signatures.perturbation import Edit

UNCHANGED: Final = NOT_ANOTHER
"""The text came back as it was."""

TOO_MUCH: Final = "too much was changed"
"""More words came or went than so many errors take, or a place is as wide as half the text."""

ELSEWHERE: Final = "changed where no error is reported"
"""There is a change outside all places that were reported."""

NOWHERE: Final = "nothing was changed where an error is reported"
"""A reported place is as it was, or is the place of another error."""

TOO_CLOSE: Final = "two errors at one place"
"""Errors touch each other."""

_WORDS_OF_ONE = 30  # that an error may take or bring, also in a short text
_SHARE_OF_ONE = 1 / 3
_MOST_LOST = 0.75
_MOST_LOST_TO_ONE = 0.5
_FEW = 6
_WIDEST, _WIDEST_SHARE = 40, 0.5
_MOST_EVER, _LONG = 4, 1000  # lengths and characters of an answer with all that is around it

_Place = tuple[range, range]
"""Places of tokens that are gone from a text, and of those that stand there instead."""


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
    if _is_too_much(found, tokens, other, len(reported)):
        return TOO_MUCH
    places = _by_report(found, reported, tokens, other)
    if isinstance(places, str):
        return places
    several = [
        [edit_of(tokens, other, removed, added, text) for removed, added in own] for own in places
    ]
    edits = sorted((edit for own in several for edit in own), key=lambda one: one.start)
    if any(touches(edit, span) for edit in edits for one in target.errors for span in one.spans):
        return EARLIER_TOUCHED
    if fault := added_fault(edits, text, original):
        return fault
    made = remade(original, edits, other)
    if isinstance(made, str):
        return made
    return _with_errors(target, several, reported, sub_aspects)


def _is_too_much(
    found: Sequence[_Place], tokens: Sequence[Token], other: Sequence[Token], n_errors: int
) -> bool:
    n_lost = sum(tokens[place].is_word for removed, _ in found for place in removed)
    n_new = sum(other[place].is_word for _, added in found for place in added)
    n_words = sum(token.is_word for token in tokens)
    most = n_errors * max(_WORDS_OF_ONE, _SHARE_OF_ONE * n_words)
    share = _MOST_LOST if n_errors > 1 else _MOST_LOST_TO_ONE
    return n_new > most or n_lost > min(most, max(_FEW, share * n_words))


def _by_report(
    found: Sequence[_Place],
    reported: Sequence[ReportedError],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> list[list[_Place]] | str:
    """Return the changes of each reported error, or why they cannot be told apart."""
    widest = max(_WIDEST, _WIDEST_SHARE * max(len(tokens), len(other)))
    was = [tokens_of(one.was) for one in reported]
    now = [tokens_of(one.now) for one in reported]
    if any(len(quoted) > widest for quoted in (*was, *now)):
        return TOO_MUCH
    before = [_occurrences(quoted, tokens) for quoted in was]
    after = [_occurrences(quoted, other) for quoted in now]
    own: list[list[_Place]] = [[] for _ in reported]
    waiting: list[tuple[_Place, dict[int, _Place]]] = []
    for at, place in enumerate(found):
        fits: dict[int, _Place] = {}
        for slid in _slides(place, found, at, tokens, other):
            for number in range(len(reported)):
                if number not in fits and _covers(before[number], after[number], slid):
                    fits[number] = slid
        if not fits:
            return ELSEWHERE
        if len(fits) == 1:
            ((number, slid),) = fits.items()
            own[number].append(slid)
        else:
            waiting.append((place, fits))
    for _, fits in waiting:
        number = min(fits, key=lambda one: (len(own[one]), one))
        own[number].append(fits[number])
    if not all(own):
        return NOWHERE
    for places, *quoted in zip(own, before, after, strict=True):
        if not _is_one_error(places, quoted, tokens, other):
            return ELSEWHERE
    return own


def _is_one_error(
    places: Sequence[_Place],
    quoted: Sequence[Sequence[range]],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> bool:
    """Say whether changes stand in one place, are the same everywhere, or move words."""
    for side, occurrences in enumerate(quoted):
        if any(all(_holds(one, place[side]) for place in places) for one in occurrences):
            return True
    gone = [tuple(tokens[one].key for one in removed) for removed, _ in places]
    come = [tuple(other[one].key for one in added) for _, added in places]
    if len(set(gone)) == len(set(come)) == 1:
        return gone[0] != () and come[0] != ()
    return sorted(sum(gone, ())) == sorted(sum(come, ()))


def _covers(before: Sequence[range], after: Sequence[range], place: _Place) -> bool:
    removed, added = place
    return any(_holds(one, removed) for one in before) or any(_holds(one, added) for one in after)


def _holds(quoted: range, part: range) -> bool:
    """Say whether a quotation holds tokens; none at all have to be between two of its own."""
    if part:
        return quoted.start <= part.start and part.stop <= quoted.stop
    return quoted.start < part.start < quoted.stop


def _slides(
    place: _Place,
    found: Sequence[_Place],
    at: int,
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> Iterator[_Place]:
    """Yield where a change may as well have been made: of equal words any may be the new ones."""
    yield place
    removed, added = place
    if removed and added:
        return
    moving, keys = (added, other) if added else (removed, tokens)
    first = (found[at - 1][bool(added)].stop + 1) if at else 0
    last = (found[at + 1][bool(added)].start - 1) if at + 1 < len(found) else len(keys)
    for step in (-1, 1):
        by = 0
        while True:
            start, stop = moving.start + by, moving.stop + by
            if step < 0:
                if start <= first or keys[start - 1].key != keys[stop - 1].key:
                    break
            elif stop >= last or keys[start].key != keys[stop].key:
                break
            by += step
            yield _moved(removed, by), _moved(added, by)


def _moved(one: range, by: int) -> range:
    return range(one.start + by, one.stop + by)


def _occurrences(quoted: Sequence[Token], tokens: Sequence[Token]) -> list[range]:
    """Return the places of tokens at which quoted ones stand."""
    wanted = [token.key for token in quoted]
    if not wanted:
        return []
    keys, n = [token.key for token in tokens], len(wanted)
    starts = (place for place, key in enumerate(keys) if key == wanted[0])
    return [range(one, one + n) for one in starts if keys[one : one + n] == wanted]


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
            [_shifted(edit, done) for edit in edits],
            sub_aspect=sub_aspect.name,
            kind="model",
            explanation=said.explanation,
        )
        if isinstance(made, str):
            return TOO_CLOSE
        target = made
        done += edits
    return target


def _shifted(edit: Edit, done: Sequence[Edit]) -> Edit:
    by = sum(len(one.text) - (one.end - one.start) for one in done if one.end <= edit.start)
    return edit.model_copy(update={"start": edit.start + by, "end": edit.end + by})
