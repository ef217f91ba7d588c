"""Which change of a text belongs to which error that was reported of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from judgesmith.programs.benchmarking.reported_errors import ReportedError
from judgesmith.programs.perturbing.differences import Token, tokens_of

ELSEWHERE: Final = "changed where no error is reported"
"""There is a change outside all places that were reported."""

NOWHERE: Final = "nothing was changed where an error is reported"
"""A reported place is as it was, or is the place of another error."""

Change = tuple[range, range]
"""Places of tokens that are gone from a text, and of those that stand there instead."""


def places_by_report(
    found: Sequence[Change],
    reported: Sequence[ReportedError],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> list[list[Change]] | str:
    """Return the changes of each reported error, or why they cannot be told apart.

    Parameters
    ----------
    found : sequence of Change
        Where the two texts differ, in order.
    reported : sequence of ReportedError
        What is said of each error.
    tokens, other : sequence of Token
        The text before and after.

    Returns
    -------
    list of list of Change, or str
        Aligned with ``reported``, none empty: changes at one place, the same change wherever it
        is made, or words that stand elsewhere now. Otherwise ``ELSEWHERE`` or ``NOWHERE``.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.differences import tokens_of
    >>> before, after = tokens_of("Ann left."), tokens_of("Bob left.")
    >>> said = [ReportedError(number=1, was="Ann", now="Bob")]
    >>> places_by_report([(range(0, 1), range(0, 1))], said, before, after)
    [[(range(0, 1), range(0, 1))]]
    """
    before = [_occurrences(one.was, tokens) for one in reported]
    after = [_occurrences(one.now, other) for one in reported]
    ends = len(tokens), len(other)
    own: list[list[Change]] = [[] for _ in reported]
    waiting: list[tuple[Change, dict[int, Change]]] = []
    for at, place in enumerate(found):
        fits: dict[int, Change] = {}
        for slid in _slides(place, found, at, tokens, other):
            for number in range(len(reported)):
                if number not in fits and _covers(before[number], after[number], slid, ends):
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
    places: Sequence[Change],
    quoted: Sequence[Sequence[range]],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> bool:
    """Say whether changes stand in one place, are the same everywhere, or move words."""
    for side, occurrences in enumerate(quoted):
        end = len((tokens, other)[side])
        if any(all(_holds(one, place[side], end) for place in places) for one in occurrences):
            return True
    gone = [tuple(tokens[one].key for one in removed) for removed, _ in places]
    come = [tuple(other[one].key for one in added) for _, added in places]
    if len(set(gone)) == len(set(come)) == 1:
        return gone[0] != () and come[0] != ()
    return sorted(sum(gone, ())) == sorted(sum(come, ()))


def _covers(
    before: Sequence[range], after: Sequence[range], place: Change, ends: tuple[int, int]
) -> bool:
    removed, added = place
    return any(_holds(one, removed, ends[0]) for one in before) or any(
        _holds(one, added, ends[1]) for one in after
    )


def _holds(quoted: range, part: range, end: int) -> bool:
    """Say whether a quotation holds tokens; none at all have to be between two of its own.

    At an end of the text, that of ``end`` tokens, there is nothing on one side to be quoted.
    """
    inside = quoted.start <= part.start and part.stop <= quoted.stop
    if part or not inside:
        return inside
    return part.start in (0, end) or quoted.start < part.start < quoted.stop


def _slides(
    place: Change,
    found: Sequence[Change],
    at: int,
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> Iterator[Change]:
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


def _occurrences(quoted: str, tokens: Sequence[Token]) -> list[range]:
    """Return the places of tokens at which quoted words stand.

    Where they stand nowhere as they are quoted, capitals do not count, nor marks at the ends.
    """
    wanted = tokens_of(quoted)
    found = _same([one.key for one in wanted], [one.key for one in tokens])
    if found or not wanted:
        return found
    while wanted and not wanted[0].is_word:
        wanted = wanted[1:]
    while wanted and not wanted[-1].is_word:
        wanted = wanted[:-1]
    small = [one.key.casefold() for one in tokens]
    return _same([one.key.casefold() for one in wanted], small)


def _same(wanted: Sequence[str], keys: Sequence[str]) -> list[range]:
    """Return where some keys stand among others."""
    n = len(wanted)
    starts = (place for place, key in enumerate(keys) if wanted and key == wanted[0])
    return [range(one, one + n) for one in starts if keys[one : one + n] == wanted]
