"""A text as characters, words and sentences, its language, and its differences from another."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

import regex

from judgesmith.errors import InputError
from judgesmith.programs.features.words import word_set
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.perturbation import Edit

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the a an this that these those some any each every either neither no all "
        "both few fewer many more most much other another several such and or nor but so yet "
        "although because if unless while whereas whether though than of to in for on as at by "
        "with from into onto about above across after against along among around before "
        "behind below beneath beside besides between beyond despite down during except inside "
        "like near off out outside over past since through throughout toward towards under "
        "until up upon within i me my mine myself you your yours yourself he him his himself "
        "she her hers herself it its itself we us our ours ourselves they them their theirs "
        "themselves one who whom whose which what when where why how there here then be am is "
        "are was were been being have has had having do does did doing done will would can "
        "could shall should may might must not",
        "German": "der die das den dem des ein eine einen einem einer und ist war sind waren "
        "nicht mit von zu im am auf für sich er sie es wir ich auch als bei nach wurde wird "
        "hat haben dass aber oder",
        "French": "le la les un une des du de et est était sont dans que qui ne pas pour sur "
        "avec au aux ce cette ces il elle ils nous vous par plus se sa son ses a été ont mais "
        "ou où",
        "Spanish": "el la los las un una unos unas de del y es era son en que no por con para "
        "al se su sus lo como más este esta fue han ha pero o muy hay también",
        "Italian": "il lo la gli le un una di del della dei e è era sono in che non per con si "
        "al alla da nel nella come più questo questa ha hanno ma o anche",
        "Portuguese": "o a os as um uma de do da dos das e é era são em no na nos nas que não "
        "por com para se ao à seu sua como mais este esta foi têm mas ou também",
        "Dutch": "de het een van en is was zijn waren in op te dat die niet met voor aan er "
        "hij zij wij ik ook als bij naar door om maar of wordt werd heeft hebben",
    }.items()
}
"""Words so common in a language that a few sentences of it hold several of them."""

_LANGUAGES = {
    word: tuple(one for one, others in FUNCTION_WORDS.items() if word in others)
    for common in FUNCTION_WORDS.values()
    for word in common
}
_TELLING = 3  # function words of one language that a text holds at least, to be taken for it
_FOREIGN_LETTERS = 0.2
_ENGLISH_SHARE = 0.25  # of the words of a text, beyond the first few, that are common in English


def language_of(words: Iterable[str]) -> str | None:
    """Return the language whose commonest words a text holds most, if that is clear."""
    hits = Counter(dict.fromkeys(FUNCTION_WORDS, 0))
    for word, n in Counter(words).items():
        for language in _LANGUAGES.get(word, ()):
            hits[language] += n
    (first, n), (_, n_second) = hits.most_common(2)
    return first if n >= _TELLING and 2 * n >= 3 * n_second else None


def may_be_english(words: Sequence[str]) -> bool:
    if language_of(words) not in (None, "English"):
        return False
    common = FUNCTION_WORDS["English"]
    return sum(word in common for word in words) >= _ENGLISH_SHARE * (len(words) - _TELLING)


def may_be_german(words: Sequence[str]) -> bool:
    """Say whether nouns may be written with capitals, so that a capital makes no name."""
    told = language_of(words)
    if told is not None:
        return told == "German"
    german, english = (
        sum(word in FUNCTION_WORDS[language] for word in words)
        for language in ("German", "English")
    )
    return german > english


def scripts_of(text: str) -> Counter[str]:
    if text.isascii():
        return Counter(LATIN=n) if (n := sum(map(str.isalpha, text))) else Counter()
    letters = Counter(sign for sign in text if sign.isalpha())
    found: Counter[str] = Counter()
    for sign, n in letters.items():
        found[unicodedata.name(sign, "UNKNOWN").split()[0].split("-")[0]] += n
    return found


def is_foreign(added: str, original: str) -> bool:
    """Say whether what was added is written in letters that the original does not know."""
    letters = scripts_of(added)
    if not letters:
        return False
    known = scripts_of(original)
    strange = sum(n for script, n in letters.items() if script not in known)
    return strange > _FOREIGN_LETTERS * letters.total()


Span = tuple[int, int]

# Scripts written without spaces: each character stands for a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Myanmar}\p{Khmer}\p{Tibetan}"
_SPACED = rf"(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}]\p{{M}}*)"
_WORD = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*|{_SPACED}++(?:['’.,:\-](?=[\p{{L}}\p{{N}}]){_SPACED}++)*"
)
_OPENING = frozenset('.!?:;\n"“”`«‘„')
_LATIN = re.compile("[A-Za-z]")
_WINDOW = 4096
_GRAPHEME = regex.compile(r"\X")
# Texts of which every sign is a character by itself, whose words need no table of scripts.
_PLAIN = re.compile(r"[\x00-\x0c\x0e-\u02ff\u2010-\u2027\u20ac]*")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’.,:\-][^\W_]+)*")


class Passage:
    r"""A text and the spans of its parts, computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def letters(self) -> list[Span]:
        """Letters and digits, each with the marks that stand on it: no edit falls between them."""
        text = self.text
        if self.is_plain:
            return [(place, place + 1) for place, sign in enumerate(text) if sign.isalnum()]
        found = (match.span() for match in _GRAPHEME.finditer(text))
        return [(start, end) for start, end in found if text[start].isalnum()]

    @cached_property
    def is_plain(self) -> bool:
        """Whether each sign is a character by itself: no marks, joiners or paired line ends."""
        return _PLAIN.fullmatch(self.text) is not None

    @cached_property
    def _starts(self) -> bytearray:
        flags = bytearray(len(self.text) + 1)
        for match in _GRAPHEME.finditer(self.text):
            flags[match.start()] = 1
        flags[-1] = 1
        return flags

    @cached_property
    def has_latin(self) -> bool:
        return _LATIN.search(self.text) is not None

    @cached_property
    def language(self) -> str | None:
        """The language whose commonest words it holds most, if that is clear."""
        return language_of(map(self.small, self.words))

    @cached_property
    def may_be_german(self) -> bool:
        return may_be_german([self.small(word) for word in self.words])

    @cached_property
    def may_be_english(self) -> bool:
        return may_be_english([self.small(word) for word in self.words])

    @cached_property
    def openers(self) -> frozenset[Span]:
        """The first word of each sentence, and of what is quoted or set apart in it."""
        text, found, before = self.text, list[Span](), -1
        for start, end in self.words:
            if before < 0 or not _OPENING.isdisjoint(text[before:start]):
                found.append((start, end))
            before = end
        return frozenset(found)

    def is_between(self, place: int) -> bool:
        return self.is_plain or self._starts[place] == 1

    @cached_property
    def words(self) -> list[Span]:
        pattern = _PLAIN_WORD if self.is_plain else _WORD
        return [match.span() for match in pattern.finditer(self.text)]

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences without blanks around them; what holds no word belongs to the one before."""
        text, spans, start = self.text, list[Span](), -1
        for place, end in _pieces(text):
            blank_before = start < 0
            start = place if blank_before else start
            if not self.is_between(end):
                continue
            if any(sign.isalnum() for sign in text[start:end]):
                spans.append((start, end))
                start = -1
            elif spans and blank_before:
                spans[-1] = (spans[-1][0], end)
                start = -1
        return [self._trimmed(start, end) for start, end in spans]

    def _trimmed(self, start: int, end: int) -> Span:
        piece = self.text[start:end]
        end = start + len(piece.rstrip())
        start += len(piece) - len(piece.lstrip())
        while not self.is_between(start):
            start -= 1
        return start, end

    def shown(self, span: Span) -> str:
        return self.text[span[0] : span[1]]

    def small(self, span: Span) -> str:
        return self.shown(span).lower().replace("\u2019", "'")

    def with_neighbours(self, span: Span) -> Span:
        """Return a span with the word on either side, or up to the end of the text."""
        start, end = span
        before = max((word[0] for word in self.words if word[1] <= start), default=0)
        after = min((word[1] for word in self.words if word[0] >= end), default=len(self.text))
        return before, after

    def words_of(self, sentence: Span) -> list[Span]:
        start, end = sentence
        first = bisect_left(self.words, (start, start))
        last = bisect_left(self.words, (end, end))
        return self.words[first:last]


def _pieces(text: str) -> Iterator[Span]:
    """Yield where sentences are, with the blanks after them, so that they make up the text."""
    # It takes no lone surrogates either; each is replaced by one other character.
    from sentencex import get_sentence_boundaries

    plain_passage = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    start, window = 0, _WINDOW
    while start < len(plain_passage):
        pieces = get_sentence_boundaries("en", plain_passage[start : start + window])
        is_last = start + window >= len(plain_passage)
        whole = pieces if is_last else pieces[:-1]  # the last one may go on behind the window
        for piece in whole:
            yield start + piece["start_index"], start + piece["end_index"]
        if is_last:
            return
        if whole:
            start, window = start + whole[-1]["end_index"], _WINDOW
        else:
            window *= 2


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
        return _replacement(original, other, removed, added, text)
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


def _replacement(
    original: Sequence[Token], other: Sequence[Token], removed: range, added: range, text: str
) -> Edit:
    """Return words in place of others, with a blank beside them where only one text has it."""
    start, end = original[removed.start].start, original[removed.stop - 1].end
    new_start, new_end = other[added.start].start, other[added.stop - 1].end
    if removed.start and added.start:
        before, new_before = original[removed.start - 1].end, other[added.start - 1].end
        if (start > before) != (new_start > new_before):
            start, new_start = before, new_before
    if removed.stop < len(original) and added.stop < len(other):
        after, new_after = original[removed.stop].start, other[added.stop].start
        if (after > end) != (new_after > new_end):
            end, new_end = after, new_after
    return Edit(start=start, end=end, text=text[new_start:new_end])


_FUNCTION = frozenset().union(*FUNCTION_WORDS.values())


# Opens sentences so often that a capital there says nothing.
_OPENERS = _FUNCTION | word_set(
    "i my our your me him them if so then than after before although because however while once "
    "yesterday today tomorrow now here also all both each every many most more another other one "
    "two three four five six seven eight nine ten no nobody nothing never only just even still "
    "despite during since until under over between among about according such how why where"
)
_COUNTED = "two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_COUNTED.split(), start=2)}
_NEGATIONS = word_set(
    "not no never none nobody nothing neither nor nowhere without cannot "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder "
    "ne pas jamais aucun aucune rien personne sans non mai nessuno nessuna niente senza "
    "nunca nadie nada ningún ninguna tampoco não nenhum nenhuma niet geen nooit niets не нет ни "
    "不 没 沒 無 无 非 未"
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
            if not doubtful or not (sure or plain_passage(token) in _OPENERS):
                found.add(place)
    return frozenset(found)


def is_number(token: Token) -> bool:
    return token.is_word and any(map(str.isdigit, token.text))


def names_number(token: Token) -> bool:
    """Say whether a word is a number, in digits or in English words from two to twelve."""
    return is_number(token) or plain_passage(token) in _NUMBER_WORDS


def is_capital(token: Token) -> bool:
    """Say whether a word may be a name: it has a capital, and is more than one letter."""
    text = token.text
    return text[0].isupper() and not (len(text) == 1 or text.startswith(("I'", "I\u2019")))


def plain_passage(token: Token) -> str:
    word = token.key.casefold()
    for ending in ("'s", "'"):
        word = word.removesuffix(ending)
    return word


_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)$")


def numbers_in(tokens: Sequence[Token]) -> Counter[str]:
    """Return the numbers of a text, those from two to twelve in English words as well."""
    counts: Counter[str] = Counter()
    for token in tokens:
        if is_number(token):
            counts[_ORDINAL.sub("", token.key.replace(",", ""))] += 1
        elif (word := plain_passage(token)) in _NUMBER_WORDS:
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
    text, plain_passage = answer.strip(), original.strip()
    for pattern in (_FENCE, _BLOCK):
        if (found := pattern.fullmatch(text)) and not pattern.fullmatch(plain_passage):
            text = found[2].strip()
    for opens, closes in _QUOTED:
        inside = text[len(opens) : -len(closes)]
        around = text.startswith(opens) and text.endswith(closes) and len(text) > 2
        own = plain_passage.startswith(opens) or plain_passage.endswith(closes)
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
