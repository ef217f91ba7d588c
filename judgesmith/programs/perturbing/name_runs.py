"""Names and numbers of a text, and where they stand, by capitals and by what the source shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from judgesmith.programs.perturbing.languages import FUNCTION_WORDS, word_set
from judgesmith.programs.perturbing.passage import Passage, Span

# Capitalised wherever they stand, yet no names.
_NO_NAMES = word_set(
    "however i i'm i've i'd i'll ok mr mrs ms miss dr sir lord lady prof male female neutral"
)
# They open sentences, or what is quoted, so often that a capital there says nothing.
_OPENING = word_set(
    "i my our your then than after before although because however while once yesterday today "
    "tomorrow now here also all both each every many most more another other one two three four "
    "five six seven eight nine ten no nobody nothing never only just even still despite during "
    "since until under over between among about according such how why where former ex police "
    "last next first second third according officials researchers experts young meanwhile "
    "let please yes oh well good very back poor dear thanks thank so if when"
)
_COMMON = _OPENING | FUNCTION_WORDS["English"]
# Parts of names where another part follows at once: New Zealand.
_PARTS = word_set("new old great saint")
_ADVERB = re.compile("[a-z]+(?:ly|ing|ed)")
_POSSESSIVE = re.compile(r"['’]s?$")
_MODALS = frozenset(["may", "will"])
_MOST_CAPITALS = 0.8
_FEW = 3

_passage = lru_cache(maxsize=2)(Passage)


def names_and_numbers(passage: Passage, source: str = "") -> Iterator[Span]:
    """Yield where names and numbers stand, in order.

    Parameters
    ----------
    passage : Passage
        The text.
    source : str
        What it was written from: a word with a capital within a sentence there has one because it
        is a name.

    Notes
    -----
    A number begins with a digit. A name is a run of capitalised words, without the articles,
    prepositions and titles at its ends. A capital at the beginning of a sentence counts
    if the word has one elsewhere, or if another name follows at once. German writes all nouns
    with capitals: there only words all in capitals are names, and those of a source in another
    language. Where most words have a capital, and in scripts without, there are numbers alone.

    Examples
    --------
    >>> passage = Passage("Mr Bell met Ann in The Hague. He's 41. Ann's late.")
    >>> [passage.shown(span) for span in names_and_numbers(passage)]
    ['Bell', 'Ann', 'Hague', '41', 'Ann']
    >>> passage = Passage("Das Haus ist nicht von der EU und nicht von Ann.")
    >>> [passage.shown(span) for span in names_and_numbers(passage)]
    ['EU']
    >>> [passage.shown(span) for span in names_and_numbers(passage, "It was Ann, not the EU.")]
    ['EU', 'Ann']
    """
    text, words = passage.text, passage.words
    are_names = _names(passage, source)
    run: list[Span] = []
    for span in words:
        start, end = span
        if run and not (span in are_names and text[run[-1][1] : start] == " "):
            yield from _trimmed(passage, run)
            run = []
        if text[start].isdigit():
            yield span
        elif span in are_names:
            run.append((start, start + len(_bare(text[start:end]))))
            if run[-1][1] != end:  # a possessive ends a name
                yield from _trimmed(passage, run)
                run = []
    yield from _trimmed(passage, run)


@lru_cache(maxsize=2)
def _names(passage: Passage, source: str) -> Collection[Span]:
    """Return the words that are names or parts of one."""
    within = [span for span in passage.words if span not in passage.openers]
    capital = {span for span in passage.words if _is_capital(passage.shown(span))}
    cased = [span for span in within if passage.shown(span)[0].isalpha()]
    if len(cased) >= _FEW and len(capital & set(cased)) > _MOST_CAPITALS * len(cased):
        return ()
    given = _passage(source)
    shown_names = _within(given) if not given.may_be_german else set[str]()
    if passage.may_be_german:
        return {
            span
            for span in capital
            if _bare(passage.shown(span)) in shown_names or _is_short_form(passage.shown(span))
        }
    names = _within(passage) | shown_names
    small = {passage.shown(span) for span in passage.words} | _small(given)
    found = {span for span in capital if span not in passage.openers}
    for place, span in enumerate(passage.words):
        if span not in capital or span in found:
            continue
        word = _bare(passage.shown(span))
        lower = word.lower()
        follows = passage.words[place + 1 : place + 2]
        leads = bool(follows) and follows[0] in found and follows[0][0] == span[1] + 1
        if lower in _PARTS:
            is_name = leads
        elif lower in _COMMON or lower in small:
            is_name = False
        else:
            is_name = word in names or (leads and not _ADVERB.fullmatch(lower))
        if is_name:
            found.add(span)
    return found


def _within(passage: Passage) -> set[str]:
    """Return the words that have a capital though they open no sentence."""
    return {
        _bare(passage.shown(span))
        for span in passage.words
        if span not in passage.openers and _is_capital(passage.shown(span))
    }


@lru_cache(maxsize=2)
def _small(passage: Passage) -> frozenset[str]:
    return frozenset(passage.shown(span) for span in passage.words)


def _trimmed(passage: Passage, run: list[Span]) -> Iterator[Span]:
    """Yield a run of words without those at its ends that are no names, if any is left."""
    while run and _is_common(passage, run[0]):
        run = run[1:]
    while run and _is_common(passage, run[-1]):
        run = run[:-1]
    if run:
        yield run[0][0], run[-1][1]


def _is_common(passage: Passage, span: Span) -> bool:
    word = passage.shown(span)
    small = word.lower().replace("’", "'")
    if _is_short_form(word) and small not in _NO_NAMES:
        return False
    if small in _MODALS:
        return False
    own = FUNCTION_WORDS.get(passage.language or "English", FUNCTION_WORDS["English"])
    return small in _NO_NAMES or small in own or small in FUNCTION_WORDS["English"]


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word)


def _is_capital(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word.replace("’", "'").lower() not in _NO_NAMES


def _is_short_form(word: str) -> bool:
    return len(word) > 1 and word.isupper()
