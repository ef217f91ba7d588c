"""What a few words of English grammar let us check: pairs that do not go together, and people.

Texts in other languages simply show no such pairs and no such people.
"""

from __future__ import annotations

import re
from itertools import product

from judgesmith.programs.features.words import Text

_VERBS = "is are was were has have had does did will would can could should"
_BE = "is are was were be been"


def _pairs(first: str, second: str) -> set[tuple[str, str]]:
    return set(product(first.split(), second.split()))


# An article wants a noun; a preposition wants no finite verb; some verbs exclude each other.
# Pairs that a comma may rightly part ("of, and") are left out, for words come without commas.
_BROKEN = (
    _pairs("the an every its their my your our", _VERBS)
    | _pairs("the an every its their my your our", "of for with from into at because than")
    | _pairs("the an a every", "the an a he she they it and or but")
    | _pairs("a", "is are was were has have had of with from")
    | _pairs("of for with from into at to", "is are was were has had does did of")
    | _pairs("is are was were be been", _BE + " has have had do does did can")
    | _pairs("i", "is are has")
    | _pairs("he she", "are have")
    | _pairs("we they", "is was has")
    | _pairs("did does do can could will would should", "is are was were had has")
    | _pairs("and or but", "and or but")
)
_MANY = frozenset({"two", "three", "four", "five", "many", "several", "both"})
# "Skool , is a restaurant": no comma parts a subject from its verb.
_PARTED = re.compile(r"[^,.;]{1,40} ?, (?:is|are|was|has) ")

_PEOPLE = (
    frozenset(["i", "me", "my", "mine", "myself"]),
    frozenset(["we", "us", "our", "ours", "ourselves"]),
    frozenset(["he", "him", "his", "himself", "male"]),
    frozenset(["she", "her", "hers", "herself", "female"]),
)
_CLASS = {word: place for place, people in enumerate(_PEOPLE) for word in people}


def broken_pairs(response: Text) -> int:
    """Count neighbouring words that English grammar keeps apart.

    Examples
    --------
    >>> broken_pairs(Text("He went to the is a house.")), broken_pairs(Text("He went home."))
    (1, 0)
    >>> broken_pairs(Text("Skool , is an cheap place."))
    2
    """
    words = response.words
    found = int(_PARTED.match(response.text) is not None)
    for start, end in response.sentences:
        before = ""
        for word in words[start:end]:
            if (before, word) in _BROKEN:
                found += 1
            elif before == "an":
                found += len(word) > 3 and word[0] in "bcdfgjklmnpqrtvwz"
            elif before == "a":
                found += len(word) > 3 and word[0] in "aei"
            elif word in _MANY:
                found += before == "is" and words[start] == "there"
            before = word
    return found


def same_people(response: list[str], source: list[str]) -> float:
    """Return the share of the response's I, we, he and she that the source speaks of as well.

    Parameters
    ----------
    response, source : list of str
        Words in lower case.

    Returns
    -------
    float
        A fraction; 1 if either text has no such word, for then nothing can clash.

    Examples
    --------
    >>> same_people("she lost her hat".split(), "he left".split())
    0.0
    """
    known = {_CLASS[word] for word in source if word in _CLASS}
    mine = [_CLASS[word] for word in response if word in _CLASS]
    if not known or not mine:
        return 1.0
    return sum(one in known for one in mine) / len(mine)
