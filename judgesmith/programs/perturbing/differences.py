"""Where a text that somebody wrote anew differs from the original, word by word, as edits.

Blanks and the shape of quotation marks and dashes are no differences: where nothing else was
changed the original stands as it was, so that the edits hold what was meant and nothing else.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from judgesmith.errors import InputError
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.perturbation import Edit

_SHAPES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
_MOST_PAIRS = 1_000_000  # of equal words of both texts, which comparing takes time for


class Incomparable(InputError):  # noqa: N818 - says what happened
    """Two texts are too long, or repeat themselves too much, to be compared word by word."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a single mark, and where it stands.

    Attributes
    ----------
    text : str
        As written.
    start, end : int
        Its place, in characters.
    is_word : bool
        False for marks.
    """

    text: str
    start: int
    end: int
    is_word: bool

    @property
    def key(self) -> str:
        """What it is compared by: one shape for all quotation marks, dashes and widths."""
        if self.text.isascii() and "`" not in self.text:
            return self.text
        return unicodedata.normalize("NFKC", self.text.translate(_SHAPES)).translate(_SHAPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where two texts differ.

    Attributes
    ----------
    removed : range
        Places of the original's tokens that are gone; empty where something was put in. It
        starts, then, at the token before which that was done.
    added : range
        Places of the other text's tokens that stand there instead.
    edit : Edit
        The same in characters of the original.
    """

    removed: range
    added: range
    edit: Edit


def tokens_of(text: str) -> list[Token]:
    """Return the words, numbers and marks of a text, in order, without the blanks.

    Examples
    --------
    >>> [token.text for token in tokens_of("It's 3.5 km (so)!")]
    ["It's", '3.5', 'km', '(', 'so', ')', '!']
    """
    found: list[Token] = []
    place = 0
    for start, end in [*Passage(text).words, (len(text), len(text))]:
        marks = enumerate(text[place:start], start=place)
        found += [Token(sign, at, at + 1, False) for at, sign in marks if not sign.isspace()]
        if end > start:
            found.append(Token(text[start:end], start, end, True))
        place = end
    return found


def differences(original: Sequence[Token], other: Sequence[Token], text: str) -> list[Difference]:
    """Return where another text differs from an original, in order.

    Parameters
    ----------
    original, other : sequence of Token
        Both texts in parts.
    text : str
        The other text.

    Raises
    ------
    Incomparable
        If there are too many words that occur in both.

    Examples
    --------
    >>> old, new = "Ann  left \u201cRome\u201d.", 'Bob left "Rome" today.'
    >>> [one.edit.text for one in differences(tokens_of(old), tokens_of(new), new)]
    ['Bob', ' today']
    """
    a, b = [one.key for one in original], [one.key for one in other]
    first = 0
    while first < min(len(a), len(b)) and a[first] == b[first]:
        first += 1
    last = 0
    while last < min(len(a), len(b)) - first and a[-1 - last] == b[-1 - last]:
        last += 1
    middle_a, middle_b = a[first : len(a) - last], b[first : len(b) - last]
    counts = Counter(middle_b)
    if sum(counts[key] for key in middle_a) > _MOST_PAIRS:
        raise Incomparable("too many equal words to compare")
    matcher = SequenceMatcher(None, middle_a, middle_b, autojunk=False)
    return [
        Difference(
            removed=(removed := range(first + i, first + i_end)),
            added=(added := range(first + j, first + j_end)),
            edit=edit_of(original, other, removed, added, text),
        )
        for tag, i, i_end, j, j_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def edit_of(
    original: Sequence[Token], other: Sequence[Token], removed: range, added: range, text: str
) -> Edit:
    """Return a difference in characters; one of the blanks beside it comes or goes with it."""
    if removed and added:
        new = text[other[added.start].start : other[added.stop - 1].end]
        return Edit(
            start=original[removed.start].start, end=original[removed.stop - 1].end, text=new
        )
    start = original[removed.start - 1].end if removed.start else 0
    before = other[added.start - 1].end if added.start else 0
    has_more = removed.stop < len(original)
    if removed:
        first, last = original[removed.start].start, original[removed.stop - 1].end
        end = original[removed.stop].start if has_more else last
        after = other[added.start].start if added.start < len(other) else before
        keeps_first = removed.start > 0 and end - last != after - before
        # Of the blanks on both sides the one stays that is as wide as in the other text.
        if not removed.start or (keeps_first and first - start == after - before and has_more):
            return Edit(start=first, end=end)
        return Edit(start=start, end=last)
    new = text[other[added.start].start : other[added.stop - 1].end]
    gap_before = text[before : other[added.start].start]
    if not has_more:
        return Edit(start=start, end=start, text=gap_before + new if removed.start else new)
    end = original[removed.start].start
    gap_after = text[other[added.stop - 1].end : other[added.stop].start]
    if not removed.start:
        return Edit(start=end, end=end, text=new + gap_after)
    if (end > start) == bool(gap_after):  # the blank that is there stands after what comes
        return Edit(start=start, end=start, text=gap_before + new)
    if (end > start) == bool(gap_before):
        return Edit(start=end, end=end, text=new + gap_after)
    return Edit(start=start, end=end, text=gap_before + new + gap_after)
