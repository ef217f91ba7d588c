"""Where in a response the words stand that somebody quotes from it.

Looked for as they are quoted, then without regard to case, space and kinds of quotation marks,
then for a stretch that is nearly the same. Offsets count code points, the end is excluded.
"""

from __future__ import annotations

import functools
import html
import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgesmith.programs.locating_alike import alike, cuts_a_word
from judgesmith.programs.locating_folded import Folded, folded
from judgesmith.programs.locating_gaps import with_gaps
from judgesmith.signatures.judgement import Located

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
class Place:
    """Where a quotation stands, and how that was found.

    Attributes
    ----------
    start, end : int or None
        Offsets in the response in code points, end excluded; None where it has no place.
    located : str
        See ``ErrorSpan``.
    ambiguous : bool
        Whether it stands there more than once, and this is one of the places.
    """

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
    r"""Finds quotations from one response for one reader of it.

    A quotation that stands in several places is given the first that this reader has not used.

    Parameters
    ----------
    response : str
        The text that is quoted from.

    Examples
    --------
    >>> find = Locator("It rained. It rained.\nThe “Bridge” was closed.")
    >>> find("It rained."), find("It rained.").start
    (Place(start=0, end=10, located='exact', ambiguous=True), 11)
    >>> find('the "bridge" was').located, find("The Bridge was cloesd").located
    ('normalised', 'fuzzy')
    >>> find("It snowed in May."), find("(omission)").located
    (Place(start=None, end=None, located='unresolved', ambiguous=False), 'missing')
    """

    def __init__(self, response: str) -> None:
        self.response = response
        self._used: set[tuple[int, int]] = set()

    def __call__(self, quoted: str, *, is_quoted: bool = False) -> Place:
        """Return where ``quoted`` stands, and remember that this place is used.

        Quotation marks around the whole of it are taken as marks where it does not stand in the
        response with them, dots at an end or inside as words left out. Words such as "none" or
        "omission" that stand alone and unquoted say that what is wrong is not there; "the
        entire response" is all of it. ``is_quoted`` says that marks were around it.
        """
        place = self.look(quoted, is_quoted=is_quoted)
        if place.start is not None and place.end is not None:
            self._used.add((place.start, place.end))
        return place

    def look(self, quoted: str, *, is_quoted: bool = False) -> Place:
        """Return where ``quoted`` stands without using the place."""
        plain = quoted.strip()
        if _MISSING.fullmatch(plain) and not _is_quoted(plain):
            return Place(None, None, "missing")
        found = self._found(plain)
        if found is None:
            in_marks = is_quoted or _is_quoted(plain)
            return Place(None, None, _unfound(plain, in_marks=in_marks))
        stretch, located = found
        return Place(stretch.start, stretch.end, located, stretch.ambiguous)

    def _found(self, plain: str) -> tuple[_Stretch, Located] | None:
        forms = _forms(plain)
        for form in forms:
            if (exact := self._first(form, self.response, None)) is not None:
                return exact, "exact"
        for form in forms:
            if (close := self._without_case(form)) is not None:
                return close, "normalised"
        if _WHOLE.fullmatch(plain) and self.response and not _is_quoted(plain):
            return _Stretch(0, len(self.response), ambiguous=False), "normalised"
        for form in forms:
            if (near := self._with_words_left_out(form) or self._much_like(form)) is not None:
                return near, "fuzzy"
        return None

    @functools.cached_property
    def _folded(self) -> Folded:
        return folded(self.response)

    def _first(self, quoted: str, text: str, within: Folded | None) -> _Stretch | None:
        """Return the first place that is not used yet, in whole words if there is such a one."""
        places = list(itertools.islice(_occurrences(quoted, text), _OCCURRENCES))
        whole = [one for one in places if not cuts_a_word(text, one, one + len(quoted))]
        spans = [(one, one + len(quoted)) for one in whole or places]
        return self._free(spans if within is None else [self._in_response(*one) for one in spans])

    def _free(self, spans: Sequence[tuple[int, int]]) -> _Stretch | None:
        """Return the first stretch that is not used yet, or the first if all are."""
        if not spans:
            return None
        start, end = next((one for one in spans if one not in self._used), spans[0])
        return _Stretch(start, end, ambiguous=len(spans) > 1)

    def _in_response(self, start: int, end: int) -> tuple[int, int]:
        """Return offsets in the response of a stretch of it folded."""
        first, last = self._folded.original(start, end)
        while last < len(self.response) and unicodedata.combining(self.response[last]):
            last += 1
        return first, last

    def _without_case(self, quoted: str) -> _Stretch | None:
        return self._first(folded(quoted).text, self._folded.text, self._folded)

    def _with_words_left_out(self, quoted: str) -> _Stretch | None:
        """Return the stretch from the first to the last of several parts with dots between."""
        parts = [one for part in _ELLIPSIS.split(quoted) if (one := folded(part).text)]
        found = with_gaps(parts, self._folded.text) if len(parts) > 1 else None
        return None if found is None else _Stretch(*self._in_response(*found), ambiguous=False)

    def _much_like(self, quoted: str) -> _Stretch | None:
        found = alike(folded(quoted).text, self._folded.text)
        best = [one for one in found if one[0] > found[0][0] - 1e-9]
        return self._free([self._in_response(start, end) for _, start, end in best])


def _forms(plain: str) -> list[str]:
    """Return a quotation as it is, then without marks around it, dots at its ends, markup in it."""
    forms = [plain]
    while len(forms) <= _LAYERS and len(forms[-1]) > 2 and _is_quoted(forms[-1]):
        forms.append(forms[-1][1:-1].strip())
    # A quotation that was cut off, or begun outside, has a mark at one end alone.
    emphasised = forms[-1].strip("*_ ").lstrip(_OPENING).rstrip(_CLOSING)
    undotted = _ELLIPSIS.sub("", emphasised, count=1) if _dots_first(emphasised) else emphasised
    undotted = re.sub(rf"(?:{_ELLIPSIS.pattern})\Z", "", undotted)
    bare = html.unescape(undotted).translate(_UNMARKED).replace("**", "").strip(_QUOTES + " ")
    forms += [emphasised, undotted.strip(), bare]
    return [one for one in dict.fromkeys(forms) if one]


def _dots_first(text: str) -> bool:
    return _ELLIPSIS.match(text) is not None


def _is_quoted(text: str) -> bool:
    """Say whether marks of quotation are around the whole."""
    return len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES


def _unfound(plain: str, *, in_marks: bool) -> Located:
    """Return what a quotation without a place is; in marks it is words, however it begins."""
    says = _MISSING_QUOTED if in_marks else _MISSING_AND_MORE
    return "missing" if not plain or says.match(plain) else "unresolved"


def _occurrences(quoted: str, text: str) -> Iterator[int]:
    """Yield where a stretch stands, without overlaps."""
    at = text.find(quoted) if quoted else -1
    while at >= 0:
        yield at
        at = text.find(quoted, at + len(quoted))
