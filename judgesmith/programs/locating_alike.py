"""Where a text has a stretch that is nearly what was quoted.

Short pieces of the quotation that are rare in the text say where to look; the few places that
most of them point to are aligned with the quotation, letter by letter. So the work stays
linear in the length of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex
from rapidfuzz.distance import Indel

SIMILARITY = 0.85
"""The least likeness: twice the letters in common, in order, over all letters of both."""
SHORTEST = 4
"""Characters that a quotation needs before anything like it is looked for."""
LENGTH = 0.25
"""By how much of the quotation's length a stretch may be longer or shorter."""
# Two characters of one word. Scripts without space between words have none to keep whole.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_UNCUT = regex.compile(rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]{{2}}", regex.VERSION1)
_LONGEST = 4_000  # characters of a quotation: alignment takes length squared
_PIECES = 128  # of a quotation, evenly spread
_RARE = 24  # pieces that are looked up, the rarest first
_HITS = 20_000  # places in the text that they may point to, together
_WINDOWS = 8  # places that are aligned


def alike(quoted: str, text: str) -> list[tuple[float, int, int]]:
    """Return the stretches of ``text`` that are much like ``quoted``, the likest first.

    Parameters
    ----------
    quoted, text : str
        Both folded alike.

    Returns
    -------
    list of (float, int, int)
        Similarity, ``SIMILARITY`` to 1, and offsets, end excluded; stretches do not overlap.
        Empty where there is none, or ``quoted`` is too short or too long to tell.

    Examples
    --------
    >>> text = "the old bridge was opened in 1998."
    >>> ((likeness, start, end),) = alike("old brigde was opend", text)
    >>> round(likeness, 2), text[start:end]
    (0.93, 'old bridge was opened')
    >>> alike("1999", text)
    []
    """
    if not SHORTEST <= len(quoted) <= _LONGEST:
        return []
    found = []
    for start, end in _windows(quoted, text):
        best = _aligned(quoted, text, start, end)
        if best is not None:
            found.append(best)
    found.sort(key=lambda one: (-one[0], one[1]))
    kept: list[tuple[float, int, int]] = []
    for likeness, start, end in found:
        if all(end <= one[1] or one[2] <= start for one in kept):
            kept.append((likeness, start, end))
    return kept


def _windows(quoted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of the text that pieces of the quotation point to most."""
    slack = max(2, round(len(quoted) * LENGTH))
    votes: Counter[int] = Counter()
    for place, hit in _hits(quoted, text):
        votes[(hit - place) // slack] += 1
    # What falls between two neighbours counts for both.
    joined = Counter({one: n + votes.get(one + 1, 0) for one, n in votes.items()})
    for bucket, _ in sorted(joined.items(), key=lambda one: (-one[1], one[0]))[:_WINDOWS]:
        start = (bucket - 1) * slack
        yield max(0, start), min(len(text), start + len(quoted) + 4 * slack)


def _hits(quoted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield places of rare pieces in the quotation, each with one of those in the text."""
    # A quotation this much like the text shares a piece this long with it, if not more.
    length = 2 if len(quoted) < 7 else 3 if len(quoted) < 14 else 4
    last = len(quoted) - length
    step = max(1, last // _PIECES)
    first: dict[str, int] = {}
    for place in range(0, last + 1, step):
        first.setdefault(quoted[place : place + length], place)
    counts = {piece: n for piece in first if (n := text.count(piece))}
    left = _HITS
    for piece in sorted(counts, key=lambda one: (counts[one], first[one]))[:_RARE]:
        hit = text.find(piece)
        while hit >= 0 and left:
            yield first[piece], hit
            left -= 1
            hit = text.find(piece, hit + 1)


def _aligned(quoted: str, text: str, start: int, end: int) -> tuple[float, int, int] | None:
    """Return the stretch of a window that is likest to the quotation, if it is like enough."""
    stretch = _densest(quoted, text[start:end])
    if stretch is None:
        return None
    # Whole words are pointed at, in scripts that have space between words.
    first, last = _whole_words(text, start + stretch[0], start + stretch[1])
    likeness = Indel.normalized_similarity(quoted, text[first:last])
    if likeness < SIMILARITY or abs(last - first - len(quoted)) > LENGTH * len(quoted):
        return None
    return likeness, first, last


def _densest(quoted: str, window: str) -> tuple[int, int] | None:
    """Return the stretch of a window with most letters in common, less those that are not."""
    best, kept = 0, None
    total, begun, ended, before = 0, 0, 0, 0
    for block in Indel.opcodes(quoted, window):
        if block.tag != "equal":
            continue
        gap = max(block.dest_start - ended, block.src_start - before)
        total -= gap
        if total <= 0:
            total, begun = 0, block.dest_start
        total += block.dest_end - block.dest_start
        ended, before = block.dest_end, block.src_end
        if total > best:
            best, kept = total, (begun, ended)
    return kept


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch made longer at both ends until no word is cut, or it is too long."""
    first, last, most = start, end, end - start
    while first > max(0, start - most) and _UNCUT.fullmatch(text, first - 1, first + 1):
        first -= 1
    while last < min(len(text), end + most) and _UNCUT.fullmatch(text, last - 1, last + 1):
        last += 1
    return first, last


def cuts_a_word(text: str, start: int, end: int) -> bool:
    """Say whether a stretch begins or ends inside a word, in scripts with space between words.

    Examples
    --------
    >>> cuts_a_word("the bridge", 4, 10), cuts_a_word("the bridge", 1, 10)
    (False, True)
    """
    return any(_UNCUT.fullmatch(text, max(0, at - 1), at + 1) for at in (start, end))
