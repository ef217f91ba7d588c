"""The same said in other English words: as a control, or needlessly after what it repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn, too_few
from judgesmith.programs.perturbing.sentences import joined_by

_EACH_WAY = (
    "almost=nearly perhaps=maybe big=large bigger=larger biggest=largest quickly=rapidly "
    "often=frequently began=started bought=purchased whole=entire film=movie films=movies "
    "someone=somebody everyone=everybody anyone=anybody toward=towards among=amongst ill=sick "
    "until=till although=though mother=mom father=dad cannot=can't isn't=is_not aren't=are_not "
    "wasn't=was_not weren't=were_not don't=do_not doesn't=does_not didn't=did_not "
    "won't=will_not couldn't=could_not wouldn't=would_not shouldn't=should_not "
    "haven't=have_not hasn't=has_not hadn't=had_not"
)
_ONE_WAY = (
    "recently=lately immediately=at_once usually=normally famous=well-known kids=children "
    "kid=child doctor=physician doctors=physicians said=stated tried_to=attempted_to "
    "trying_to=attempting_to several=a_number_of currently=at_present however=nevertheless "
    "died=passed_away despite=in_spite_of occurred=happened begin=start begins=starts "
    "near_the=close_to_the as_well_as=and_also in_order_to=to more_than=over "
    "i'm=I_am they're=they_are we're=we_are you're=you_are"
)


def _pairs() -> Iterator[tuple[str, str]]:
    for said in (_EACH_WAY, _ONE_WAY):
        for one, other in (pair.replace("_", " ").split("=") for pair in said.split()):
            yield one, other
            if said is _EACH_WAY and one != "although":
                yield other, one


SAME: Final[Mapping[str, str]] = MappingProxyType(dict(_pairs()))
"""Words and phrases, and what says the same in most places."""

_KNOWN = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, SAME), key=len, reverse=True))})\b(?!['’-])",
    re.IGNORECASE,
)
_LATIN = re.compile("[A-Za-z]")
_OPENINGS = ("In other words, ", "That is to say, ", "Put differently, ", "To say it again, ")
# Opens a sentence with a capital alone; any other capital may be a name's.
_SMALL = (
    "a an the this that these those he she it they we you his her its their our there here in on "
    "at by for from with as after before when while if but and so then one two three some many "
    "most all both each no not"
)


def paraphrase(case: Case) -> Found:
    """Say what can safely be said otherwise in k places, or wherever there is one."""
    places = list(_otherwise(case.passage.text))
    k = case.wanted(len(places))
    if len(places) < k:
        return too_few(k, "words or phrases that rules can say otherwise")
    return drawn(places, k, case.rng)


def rewriting(case: Case) -> Found:
    """Put a sentence that says the same again after k sentences, or after every second one.

    Notes
    -----
    The new sentence opens with words that announce it and says otherwise what can safely be
    said so. Sentences without a Latin letter are passed over: the rules know English words alone.
    """
    passage = case.passage
    places = [place for place in passage.sentences if _has_latin(passage.shown(place))]
    k = case.wanted(len(places))
    if len(places) < k:
        return too_few(k, "sentences in Latin letters")
    if isinstance(case.amount, int):
        chosen = drawn(places, k, case.rng)
    else:
        chosen = places[:: case.amount.step]
        chosen += [place for n, place in enumerate(places) if n % case.amount.step][
            : k - len(chosen)
        ]
    between = joined_by(case)
    return [(end, end, between + _restated(passage.text[start:end], case)) for start, end in chosen]


def _otherwise(text: str) -> Iterator[Change]:
    """Yield what says the same in other words, place by place."""
    for found in _KNOWN.finditer(text):
        word = found.group()
        other = SAME[word.lower()]
        if word[0].isupper() and not other[0].isupper():
            other = other[0].upper() + other[1:]
        yield (*found.span(), other)


def _restated(sentence: str, case: Case) -> str:
    """Return a sentence in other words, as far as rules can, and announced as that."""
    parts, place = [], 0
    for start, end, other in _otherwise(sentence):
        parts += [sentence[place:start], other]
        place = end
    said = "".join([*parts, sentence[place:]])
    first = said.split(maxsplit=1)[0]
    if first.lower() in _SMALL.split():
        said = said[0].lower() + said[1:]
    return _OPENINGS[case.rng.randrange(len(_OPENINGS))] + said


def _has_latin(text: str) -> bool:
    return _LATIN.search(text) is not None
