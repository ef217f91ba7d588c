"""Differences between a rewritten text and its original, and removal of what surrounds it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from judgesmith.errors import InputError
from judgesmith.programs.perturbing.passage import FUNCTION_WORDS, Passage
from judgesmith.signatures.fences import imitates_layout
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
    """A word, a number or a single mark, and where it stands."""

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
class TokenDifference:
    """One place where two texts differ."""

    removed: range
    added: range
    edit: Edit


def tokens_of(text: str) -> list[Token]:
    """Return the words, numbers and marks of a text, in order, without the blanks."""
    found: list[Token] = []
    place = 0
    for start, end in [*Passage(text).words, (len(text), len(text))]:
        marks = enumerate(text[place:start], start=place)
        found += [Token(sign, at, at + 1, False) for at, sign in marks if not sign.isspace()]
        if end > start:
            found.append(Token(text[start:end], start, end, True))
        place = end
    return found


def differences(
    original: Sequence[Token], other: Sequence[Token], text: str
) -> list[TokenDifference]:
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
        TokenDifference(
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
    """Return a difference in characters; one of the blanks next to it comes or goes with it."""
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


_FUNCTION = frozenset().union(*FUNCTION_WORDS.values())


def _all(*words: str) -> frozenset[str]:
    return frozenset(word for several in words for word in several.split())


# Opens sentences so often that a capital there says nothing.
_OPENING = _FUNCTION | _all(
    "i my our your me him them if so then than after before although because however while once "
    "yesterday today tomorrow now here also all both each every many most more another other one "
    "two three four five six seven eight nine ten no nobody nothing never only just even still "
    "despite during since until under over between among about according such how why where"
)
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        start=2,
    )
}
_NEGATIONS = _all(
    "not no never none nobody nothing neither nor nowhere without cannot",
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder",
    "ne pas jamais aucun aucune rien personne sans non mai nessuno nessuna niente senza",
    "nunca nadie nada ningún ninguna tampoco não nenhum nenhuma niet geen nooit niets не нет ни",
    "不 没 沒 無 无 非 未",
)
_ENDS = frozenset(".!?\u2026\u3002\uff01\uff1f:\"'\u201c\u201d\u2018([-\u2013\u2014\u2022*")
_MOST_CAPITALS = 0.8


def capitals_tell(tokens: Sequence[Token]) -> bool:
    """Say whether names can be told from other words by their capitals."""
    words = [pair for pair in _opening(tokens) if pair[0].text[0].isalpha()]
    cased = [pair for pair in words if pair[0].text[0].lower() != pair[0].text[0].upper()]
    if 2 * len(cased) < len(words):
        return False
    within = [token for token, opens in cased if not opens]
    return sum(is_capital(one) for one in within) <= _MOST_CAPITALS * len(within)


def mentions(tokens: Sequence[Token], *, sure: bool = False) -> frozenset[int]:
    opening = {id(token): opens for token, opens in _opening(tokens)}
    within = {
        token.key
        for token in tokens
        if token.is_word and is_capital(token) and not opening[id(token)]
    }
    found = set()
    for place, token in enumerate(tokens):
        if is_number(token):
            found.add(place)
        elif token.is_word and is_capital(token):
            opens = opening[id(token)]
            doubtful = opens and token.key not in within
            if not doubtful or not (sure or plain(token) in _OPENING):
                found.add(place)
    return frozenset(found)


def is_number(token: Token) -> bool:
    return token.is_word and any(map(str.isdigit, token.text))


def names_number(token: Token) -> bool:
    """Say whether a word is a number, in digits or in English words from two to twelve."""
    return is_number(token) or plain(token) in _NUMBER_WORDS


def is_capital(token: Token) -> bool:
    """Say whether a word may be a name: it has a capital, and is more than one letter."""
    text = token.text
    return text[0].isupper() and not (len(text) == 1 or text.startswith(("I'", "I\u2019")))


def plain(token: Token) -> str:
    word = token.key.casefold()
    for ending in ("'s", "'"):
        word = word.removesuffix(ending)
    return word


def numbers_in(tokens: Sequence[Token]) -> Counter[str]:
    """Return the numbers of a text, those from two to twelve in English words as well."""
    counts: Counter[str] = Counter()
    for token in tokens:
        if is_number(token):
            counts[token.key.replace(",", "")] += 1
        elif (word := plain(token)) in _NUMBER_WORDS:
            counts[_NUMBER_WORDS[word]] += 1
    return counts


def negations_in(tokens: Sequence[Token]) -> int:
    """Return how many words of a text deny something, in some European languages and Chinese."""
    words = [token.key.casefold() for token in tokens if token.is_word]
    return sum(word in _NEGATIONS or word.endswith("n't") for word in words)


def _opening(tokens: Sequence[Token]) -> list[tuple[Token, bool]]:
    found, opens = [], True
    for token in tokens:
        if token.is_word:
            found.append((token, opens))
            opens = False
        elif token.text in _ENDS:
            opens = True
    return found


_FENCE = re.compile(r"<verbatim-([0-9a-f]{12})>\s*\n(.*)\n\s*</verbatim-\1>", re.DOTALL)
_BLOCK = re.compile(r"(```+|~~~+)\w*[ \t]*\n(.*)\n[ \t]*\1", re.DOTALL)
_QUOTED = (('"', '"'), ("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"))

_REFUSES = re.compile(
    r"\W*+(?:i['\u2019]?m sorry|i am sorry|sorry,|i apologi[sz]e|as an ai\b|as a language model"
    r"|i (?:can(?:no|['\u2019])t|am unable|am not able|won['\u2019]t|will not|must decline)"
    r"|i['\u2019]m (?:unable|not able)|unfortunately, i\b)",
    re.IGNORECASE,
)
_REMARKS = re.compile(
    r"\W*+(?:sure\b[,!.:]|certainly\b[,!.:]|of course\b[,!.:]|okay\b[,!.:]|ok\b[,!.:]"
    r"|absolutely\b[,!.:]|here(?:['\u2019]s| is| are) (?:the|a|an|your|my|one)\b[^.!?\n]{0,80}:"
    r"|(?:the )?(?:changed|modified|revised|edited|rewritten|paraphrased|new|final) "
    r"(?:text|version)\b[^.!?\n]{0,40}:"
    r"|(?:output|answer|result|text|note|explanation|changes(?: made)?)\s*:"
    r"|i (?:hope|have|['\u2019]ve|replaced|changed|introduced|added|kept|made)\b[^.!?\n]{0,80}"
    r"(?:\b(?:this|text|error|errors|sentence|sentences|entity|entities|helps|order)\b)"
    r"|let me know\b|is there anything else\b|feel free\b)",
    re.IGNORECASE,
)
_UNSEEN = ("Cc", "Cf", "Co", "Cn", "Cs")
_MARKUP = frozenset("*_#`~|<>[]{}\\^=")


def unwrapped(answer: str, original: str) -> str:
    r"""Return a text without the fence, the code block or the quotation marks around all of it."""
    text, plain = answer.strip(), original.strip()
    for pattern in (_FENCE, _BLOCK):
        if (found := pattern.fullmatch(text)) and not pattern.fullmatch(plain):
            text = found[2].strip()
    for opens, closes in _QUOTED:
        inside = text[len(opens) : -len(closes)]
        around = text.startswith(opens) and text.endswith(closes) and len(text) > 2
        own = plain.startswith(opens) or plain.endswith(closes)
        if around and not own and opens not in inside and closes not in inside:
            text = inside.strip()
    return text


def spoken_around(text: str, original: str) -> str:
    r"""Return what is wrong with a text that does not only say what the original says."""
    if _REFUSES.match(text) and not _REFUSES.match(original):
        return "a refusal"
    lines, own = text.strip().split("\n"), original.strip().split("\n")
    for line, other in ((lines[0], own[0]), (lines[-1], own[-1])):
        if _REMARKS.match(line) and not _REMARKS.match(other):
            return "a remark beside the text"
    if lines[0].rstrip().endswith(":") and not own[0].rstrip().endswith(":"):
        return "a remark beside the text"
    if imitates_layout(text) and not imitates_layout(original):
        return "marks of the layout of questions"
    new = set(text) - set(original)
    if new & _MARKUP:
        return "markup that the text does not have"
    if any(unicodedata.category(sign) in _UNSEEN and not sign.isspace() for sign in new):
        return "invisible signs"
    return ""
