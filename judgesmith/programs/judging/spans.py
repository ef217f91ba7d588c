"""Where in a response the words stand that somebody quotes from it."""

from __future__ import annotations

import functools
import html
import itertools
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex
from rapidfuzz.distance import Indel

from judgesmith.signatures.judgement import Located

_MARKS = {
    **dict.fromkeys("‘’‚‛′`´ʼ‹›＇", "'"),
    **dict.fromkeys("“”„‟″«»「」『』〝〞＂", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
    # With and without their dots, as case is changed in other languages and in Turkish.
    **dict.fromkeys("İı", "i"),
    # Seen by nobody: soft hyphen, joiners and marks of direction, byte order mark.
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""),
}


@functools.lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """Return what one character is folded to: nothing, one character or several."""
    if character in _MARKS:
        return _MARKS[character]
    if character.isspace():
        return " "
    # Compatible forms are decomposed, so that a letter with an accent is the same however it is
    # written, and a ligature or a wide letter is what it looks like.
    return unicodedata.normalize("NFKD", character).casefold()


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and where each of its characters comes from."""

    text: str
    places: array[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        return self.places[start], self.places[end - 1] + 1


def folded_text(text: str) -> Folded:
    """Return ``text`` folded, in time linear in its length."""
    pieces: list[str] = []
    places = array("q")
    space = True  # None is needed where the text begins.
    for place, character in enumerate(text):
        piece = _folded(character)
        if piece == " ":
            if space:
                continue
            space = True
        elif piece:
            space = False
        pieces.append(piece)
        for _ in piece:
            places.append(place)
    if space and pieces:
        while pieces and not pieces[-1]:
            pieces.pop()
        if pieces and pieces[-1] == " ":
            pieces.pop()
            places.pop()
    return Folded("".join(pieces), places)


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
    """Return the stretches of ``text`` that are much like ``quoted``, the likest first."""
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
    first, last, most = start, end, end - start
    while first > max(0, start - most) and _UNCUT.fullmatch(text, first - 1, first + 1):
        first -= 1
    while last < min(len(text), end + most) and _UNCUT.fullmatch(text, last - 1, last + 1):
        last += 1
    return first, last


def cuts_a_word(text: str, start: int, end: int) -> bool:
    """Return whether a stretch begins or ends inside a word, in scripts with spaces."""
    return any(_UNCUT.fullmatch(text, max(0, at - 1), at + 1) for at in (start, end))


_TRIES = 10_000  # places of one part that are looked at


def with_gaps(parts: Sequence[str], text: str) -> tuple[int, int] | None:
    """Return the stretch from the first part to the last, if they follow each other."""
    end = 0
    for place, part in enumerate(parts):
        at = _next(part, text, end, opens=place == 0, closes=place == len(parts) - 1)
        if at is None:
            return None
        end = at + len(part)
    # The first words may stand once more before the last.
    start = end
    for place in reversed(range(len(parts))):
        before = _last(parts[place], text, start, opens=place == 0)
        if before is None:
            return None
        start = before
    return start, end


def _next(part: str, text: str, start: int, *, opens: bool, closes: bool) -> int | None:
    """Return where a part stands from ``start`` on, between whole words at the outer ends."""
    at = start - 1
    for _ in range(_TRIES):
        at = text.find(part, at + 1)
        if at < 0:
            return None
        if not (opens and _cut(text, at)) and not (closes and _cut(text, at + len(part))):
            return at
    return None


def _last(part: str, text: str, end: int, *, opens: bool) -> int | None:
    """Return the last place of a part before ``end``."""
    for _ in range(_TRIES):
        at = text.rfind(part, 0, end)
        if at < 0:
            return None
        if not (opens and _cut(text, at)):
            return at
        end = at + len(part) - 1
    return None


def _cut(text: str, at: int) -> bool:
    return cuts_a_word(text, at, at)


_OCCURRENCES = 10_000  # of one quotation that are looked at before the first free one is taken
_UNMARKED = str.maketrans("", "", "\\`")  # escapes and code, that a quotation may be written in
_LAYERS = 3  # of quotation marks that are taken off
_QUOTES = "\"'“”„‟‘’‚‛`´«»‹›「」『』〝〞"
_OPENING = '"“„«「『'
_CLOSING = '"”»」』'
_ELLIPSIS = re.compile(r"\[ ?(?:\.{3,}|…) ?\]|\( ?(?:\.{3,}|…) ?\)|\.{3,}+|…")
_NOWHERE = (
    r"(?:none|null|nil|n\s*/\s*a|nothing|nowhere|absent|missing|omission|omitted|left out"
    r"|not (?:applicable|available|present|mentioned|stated|included|given|in the \w+)"
    r"|no (?:(?:specific|exact|particular|single) )?(?:location|span|text|quote|words?)"
    r"|keine?|fehlt|auslassung|aucune?|absente?|ningun[oa]|ninguna?|omisi[oó]n|falta|nessun[oa]?"
    r"|omissione|无|無|没有|沒有|缺失|遗漏|遺漏|なし|нет|пропуск)"
)
_MISSING = re.compile(rf"[\W_]*{_NOWHERE}[\W_]*", re.IGNORECASE)
_MISSING_AND_MORE = re.compile(rf"[\W_]*{_NOWHERE}(?![\w'’])", re.IGNORECASE)
_MISSING_QUOTED = re.compile(rf"[\W_]*{_NOWHERE}(?=\s*[^\w\s'’])", re.IGNORECASE)
_WHOLE = re.compile(
    r"[\W_]*(?:the )?(?:(?:entire|whole|full|complete) "
    r"(?:response|text|answer|output|summary|story|article|dialogue|passage)"
    r"|throughout(?: the \w+)?|everything|all of it)[\W_]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """Where a quotation stands, and how that was found."""

    start: int | None
    end: int | None
    located: Located
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Offsets in the response, and whether they are one choice of several."""

    start: int
    end: int
    ambiguous: bool


class Locator:
    r"""Finds quotations from one response for one reader of it."""

    def __init__(self, response: str) -> None:
        self.response = response
        self._used: set[tuple[int, int]] = set()

    def __call__(self, quoted: str, *, is_quoted: bool = False) -> SpanPlace:
        place = self.look(quoted, is_quoted=is_quoted)
        if place.start is not None and place.end is not None:
            self._used.add((place.start, place.end))
        return place

    def look(self, quoted: str, *, is_quoted: bool = False) -> SpanPlace:
        """Return where ``quoted`` stands without using the place."""
        plain = quoted.strip()
        if _MISSING.fullmatch(plain) and not _is_quoted(plain):
            return SpanPlace(None, None, "missing")
        found = self._found(plain)
        if found is None:
            in_marks = is_quoted or _is_quoted(plain)
            # In marks it is words, however it begins.
            says = _MISSING_QUOTED if in_marks else _MISSING_AND_MORE
            return SpanPlace(
                None, None, "missing" if not plain or says.match(plain) else "unresolved"
            )
        stretch, located = found
        return SpanPlace(stretch.start, stretch.end, located, stretch.ambiguous)

    def _found(self, plain: str) -> tuple[_Stretch, Located] | None:
        forms = _forms(plain)
        for form in forms:
            if (exact := self._first(form, self.response, None)) is not None:
                return exact, "exact"
        for form in forms:
            folded = folded_text(form).text
            if (close := self._first(folded, self._folded.text, self._folded)) is not None:
                return close, "normalised"
        if _WHOLE.fullmatch(plain) and self.response and not _is_quoted(plain):
            return _Stretch(0, len(self.response), ambiguous=False), "normalised"
        for form in forms:
            if (near := self._with_words_left_out(form) or self._much_like(form)) is not None:
                return near, "fuzzy"
        return None

    @functools.cached_property
    def _folded(self) -> Folded:
        return folded_text(self.response)

    def _first(self, quoted: str, text: str, within: Folded | None) -> _Stretch | None:
        places = list(itertools.islice(_occurrences(quoted, text), _OCCURRENCES))
        whole = [one for one in places if not cuts_a_word(text, one, one + len(quoted))]
        spans = [(one, one + len(quoted)) for one in whole or places]
        return self._free(spans if within is None else [self._in_response(*one) for one in spans])

    def _free(self, spans: Sequence[tuple[int, int]]) -> _Stretch | None:
        if not spans:
            return None
        start, end = next((one for one in spans if one not in self._used), spans[0])
        return _Stretch(start, end, ambiguous=len(spans) > 1)

    def _in_response(self, start: int, end: int) -> tuple[int, int]:
        first, last = self._folded.original(start, end)
        while last < len(self.response) and unicodedata.combining(self.response[last]):
            last += 1
        return first, last

    def _with_words_left_out(self, quoted: str) -> _Stretch | None:
        parts = [one for part in _ELLIPSIS.split(quoted) if (one := folded_text(part).text)]
        found = with_gaps(parts, self._folded.text) if len(parts) > 1 else None
        return None if found is None else _Stretch(*self._in_response(*found), ambiguous=False)

    def _much_like(self, quoted: str) -> _Stretch | None:
        found = alike(folded_text(quoted).text, self._folded.text)
        best = [one for one in found if one[0] > found[0][0] - 1e-9]
        return self._free([self._in_response(start, end) for _, start, end in best])


def _forms(plain: str) -> list[str]:
    """Return a quotation as it is, then without marks around it, dots at its ends, markup in it."""
    forms = [plain]
    while len(forms) <= _LAYERS and len(forms[-1]) > 2 and _is_quoted(forms[-1]):
        forms.append(forms[-1][1:-1].strip())
    # A quotation that was cut off, or begun outside, has a mark at one end alone.
    emphasised = forms[-1].strip("*_ ").lstrip(_OPENING).rstrip(_CLOSING)
    undotted = _ELLIPSIS.sub("", emphasised, count=1) if _ELLIPSIS.match(emphasised) else emphasised
    undotted = re.sub(rf"(?:{_ELLIPSIS.pattern})\Z", "", undotted)
    bare = html.unescape(undotted).translate(_UNMARKED).replace("**", "").strip(_QUOTES + " ")
    forms += [emphasised, undotted.strip(), bare]
    return [one for one in dict.fromkeys(forms) if one]


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES


def _occurrences(quoted: str, text: str) -> Iterator[int]:
    at = text.find(quoted) if quoted else -1
    while at >= 0:
        yield at
        at = text.find(quoted, at + len(quoted))
