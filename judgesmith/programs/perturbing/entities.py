"""Names and numbers replaced by invented ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn, too_few
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.programs.perturbing.words import other_number

_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_SERIES = {name: series.split() for series in (_MONTHS, _DAYS) for name in series.split()}
# Capitalised wherever they stand, yet no names.
_NO_NAMES = frozenset(["I", "I'm", "I've", "I'd", "I'll", "I’m", "I’ve", "I’d", "I’ll", "OK", "Ok"])
_SYLLABLES = (
    "Bel Cor Dra Fen Gal Hal Jor Kel Lor Mav Nor Ost Pel Quil Ral Sor Tav Ul Vel Wen Zan",
    "a e i o u an er il or un",
    "bek dra fin gard kos lan mir nor rik sen than vik wyn zor",
)
_TRIES = 20
_OPENING = frozenset('.!?:;\n"“”`«‘')
_POSSESSIVE = re.compile(r"['’]s?$")


def fictional_entities(case: Case) -> Found:
    """Give k names or numbers, each wherever it stands, the place to invented ones.

    Notes
    -----
    A name is a run of capitalised words that does not only open a sentence; a number is
    written in digits. Days and months become other ones. Scripts without capitals have numbers
    alone.
    """
    entities = _entities(case.passage)
    k = case.wanted(len(entities))
    if len(entities) < k:
        return too_few(k, "names and numbers")
    chosen, taken = drawn(list(entities), k, case.rng), set(entities)
    changes = list[Change]()
    for name in chosen:
        other = _invented(name, case, taken)
        taken.add(other)
        changes += [(*span, other) for span in entities[name]]
    return changes


def _entities(passage: Passage) -> dict[str, list[Span]]:
    """Return where each name and number stands, in order of first appearance."""
    found: dict[str, list[Span]] = {}
    for span in _runs(passage):
        found.setdefault(passage.shown(span), []).append(span)
    return found


def _runs(passage: Passage) -> Iterator[Span]:
    """Yield the spans of numbers and of runs of capitalised words that are names."""
    text, words = passage.text, passage.words
    openers = _openers(passage)
    # A word that opens a sentence is a name if it is capitalised elsewhere, too.
    names = {
        text[start:end]
        for start, end in words
        if text[start].isupper() and (start, end) not in openers
    }
    run: list[Span] = []
    for start, end in words:
        word = text[start:end]
        if run and not (_is_capital(word) and text[run[-1][1] : start] == " "):
            yield run[0][0], run[-1][1]
            run = []
        if word[0].isdigit():
            yield start, end
        elif _is_capital(word) and (run or (start, end) not in openers or word in names):
            bare = _POSSESSIVE.sub("", word)
            run.append((start, start + len(bare)))
    if run:
        yield run[0][0], run[-1][1]


def _openers(passage: Passage) -> set[Span]:
    """Return the first word of each sentence, and of what is quoted or set apart in it."""
    text, found, before = passage.text, set[Span](), -1
    for start, end in passage.words:
        if before < 0 or not _OPENING.isdisjoint(text[before:start]):
            found.add((start, end))
        before = end
    return found


def _is_capital(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word not in _NO_NAMES


def _invented(name: str, case: Case, taken: set[str]) -> str:
    """Return what stands in the place of a name or number and is not in the text already."""
    for n_more in count():
        # Where so many are taken that none is left of this length, they get longer.
        for _ in range(_TRIES):
            if name[0].isdigit():
                more = (str(case.rng.randrange(10)) for _ in range(n_more))
                other = other_number(name, case) + "".join(more)
            else:
                other = " ".join(_word(word, case, n_more) for word in name.split(" "))
            if other not in taken:
                return other
    raise AssertionError("there is always a longer one")


def _word(word: str, case: Case, n_more: int) -> str:
    """Return another day or month, or a word nobody knows, in capitals if the old one is."""
    series = [other for other in _SERIES.get(word, ()) if other != word]
    if series and not n_more:
        return series[case.rng.randrange(len(series))]
    heads, middles, tails = (syllables.split() for syllables in _SYLLABLES)
    parts = [heads, *[middles] * (n_more + 1), tails]
    invented = "".join(part[case.rng.randrange(len(part))] for part in parts)
    return invented.upper() if word.isupper() else invented
