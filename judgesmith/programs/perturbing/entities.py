"""Names and numbers replaced by invented ones."""

from __future__ import annotations

import re
from itertools import count

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn, too_few
from judgesmith.programs.perturbing.name_runs import names_and_numbers
from judgesmith.programs.perturbing.passage import Span
from judgesmith.programs.perturbing.words import other_number

_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_SERIES = {name: series.split() for series in (_MONTHS, _DAYS) for name in series.split()}
_SYLLABLES = (
    "Bel Cor Dra Fen Gal Hal Jor Kel Lor Mav Nor Ost Pel Quil Ral Sor Tav Ul Vel Wen Zan",
    "a e i o u an er il or un",
    "bek dra fin gard kos lan mir nor rik sen than vik wyn zor",
)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_TRIES = 20


def fictional_entities(case: Case) -> Found:
    """Give k names or numbers, each wherever it stands, the place to invented ones.

    Notes
    -----
    What counts as a name says ``names_and_numbers``. A part of a name that stands alone belongs
    to it: *Bell* and *Ann Bell* are one. Days and months become other ones.
    """
    entities = _entities(case)
    k = case.wanted(len(entities))
    if len(entities) < k:
        return too_few(k, "names and numbers", "name or number")
    taken = {word for name in entities for word in name.split(" ")} | set(entities)
    made: dict[str, str] = {}
    changes = list[Change]()
    for name in drawn(list(entities), k, case.rng):
        for part in (name,) if name[0].isdigit() else name.split(" "):
            if part not in made:
                made[part] = _invented(part, case, taken)
                taken.add(made[part])
        for start, end in entities[name]:
            shown = case.passage.shown((start, end))
            other = made.get(shown) or " ".join(made[part] for part in shown.split(" "))
            changes.append((start, end, other))
    return changes


def _entities(case: Case) -> dict[str, list[Span]]:
    """Return where each name and number stands, in order of first appearance."""
    found: dict[str, list[Span]] = {}
    for span in names_and_numbers(case.passage, case.item.source):
        found.setdefault(case.passage.shown(span), []).append(span)
    longer: dict[str, str] = {}
    for name in found:
        parts = name.split(" ")
        if len(parts) > 1:
            for part in parts:
                longer.setdefault(part, name)
    for name in [one for one in found if longer.get(one, one) != one]:
        found[longer[name]] += found.pop(name)
    return found


def _invented(name: str, case: Case, taken: set[str]) -> str:
    """Return what stands for a word of a name or for a number, and is not in the text."""
    for n_more in count():
        # Where so many are taken that none is left of this length, they get longer.
        for _ in range(_TRIES):
            if name[0].isdigit():
                more = (str(case.rng.randrange(10)) for _ in range(n_more))
                other = _ordinal(other_number(name, case) + "".join(more))
            else:
                other = _word(name, case, n_more)
            if other not in taken:
                return other
    raise AssertionError("there is always a longer one")


def _ordinal(number: str) -> str:
    """Return a number with the ending that English has for it, if it has one: 22nd for 22st."""
    found = _ORDINAL.fullmatch(number)
    if found is None:
        return number
    digits = found[1]
    teen = len(digits) > 1 and digits[-2] == "1"
    return digits + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th"))


def _word(word: str, case: Case, n_more: int) -> str:
    """Return another day or month, or a word nobody knows, in capitals if the old one is."""
    series = [other for other in _SERIES.get(word, ()) if other != word]
    if series and not n_more:
        return series[case.rng.randrange(len(series))]
    heads, middles, tails = (syllables.split() for syllables in _SYLLABLES)
    parts = [heads, *[middles] * (n_more + 1), tails]
    invented = "".join(part[case.rng.randrange(len(part))] for part in parts)
    return invented.upper() if word.isupper() else invented
