"""The same said in other English words: as a control, or needlessly after what it repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from judgesmith.programs.perturbing.case import NOT_ENGLISH, Case, Change, Found, drawn, too_few
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.sentences import joined_by

# Pairs that need no look at what the words around them mean: the same word class, in the same
# constructions, of the same register. Nouns and adjectives hardly ever are.
_EACH_WAY = (
    "someone=somebody everyone=everybody anyone=anybody toward=towards began_to=started_to "
    "begin_to=start_to begins_to=starts_to usually=normally for_example=for_instance "
    "each_other=one_another per_cent=percent despite=in_spite_of cannot=can't isn't=is_not "
    "aren't=are_not wasn't=was_not weren't=were_not don't=do_not doesn't=does_not didn't=did_not "
    "won't=will_not couldn't=could_not wouldn't=would_not shouldn't=should_not "
    "haven't=have_not hasn't=has_not hadn't=had_not often=frequently"
)
_ONE_WAY = (
    "nearly=almost maybe=perhaps rapidly=quickly began=started purchased=bought kids=children "
    "amongst=among whilst=while although=though movie=film movies=films tried_to=attempted_to "
    "trying_to=attempting_to in_order_to=to prior_to=before occurred=happened "
    "near_the=close_to_the the_entire=the_whole all_of_the=all_the both_of_the=both_the "
    "is_able_to=can are_able_to=can more_than=over i'm=I_am they're=they_are we're=we_are "
    "you're=you_are he_will_be=he'll_be she_will_be=she'll_be it_will_be=it'll_be "
    "they_will_be=they'll_be we_will_be=we'll_be you_will_be=you'll_be i_will_be=I'll_be "
    "they_have_been=they've_been we_have_been=we've_been i_have_been=I've_been"
)


def _pairs() -> Iterator[tuple[str, str]]:
    for said in (_EACH_WAY, _ONE_WAY):
        for one, other in (pair.replace("_", " ").split("=") for pair in said.split()):
            yield one, other
            if said is _EACH_WAY:
                yield other, one


SAME: Final[Mapping[str, str]] = MappingProxyType(dict(_pairs()))
"""Words and phrases, and what says the same in most places."""

_KNOWN = re.compile(
    rf"(?<!['’-])\b(?:{'|'.join(sorted(map(re.escape, SAME), key=len, reverse=True))})\b(?!['’-])",
    re.IGNORECASE,
)
# By the words found: what must not stand before and after, and what has to stand after them.
_NO_DEGREE = r"(?:more|less|most|so|as|how|too|very|not|no|than) "
_GUARDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "often": (_NO_DEGREE, " than not| enough"),
        "frequently": (_NO_DEGREE, " enough"),
        "nearly": (_NO_DEGREE, " enough"),
        "usually": ("(?:than|as) ", "$^"),
        "normally": ("(?:than|as) ", "$^"),
        "occurred": ("$^", " to "),
        "everyone": ("$^", " of"),
        "anyone": ("$^", " of"),
        "someone": ("$^", " of"),
        "kids": ("(?:he|she|who|nobody) ", "$^"),
        "movie": ("$^", " theat"),
        "in order to": ("(?:not|so) ", " (?:not|avoid) "),
        "more than": ("(?:no|not|little|much|any|far|and|once) ", r"(?! \d)"),
        "all of the": ("$^", " (?:above|same|time)"),
        "near the": ("(?:the|draws?|drew|drawing) ", "$^"),
    }
)
# A contracted verb cannot be written in full in front of its subject: isn't it.
_INVERTED = re.compile(r" (?:i|you|he|she|it|we|they|there|this|that|the)\b", re.IGNORECASE)
_OPENINGS = ("In other words: ", "That is to say: ", "Put differently: ", "To say it again: ")


def paraphrase(case: Case) -> Found:
    """Say what can safely be said otherwise in k places, or wherever there is one."""
    if not case.passage.may_be_english:
        return NOT_ENGLISH
    places = list(_otherwise(case.passage))
    k = case.wanted(len(places))
    if len(places) < k:
        what = "that rules can say otherwise"
        return too_few(k, f"words or phrases {what}", f"word or phrase {what}")
    return drawn(places, k, case.rng)


def rewriting(case: Case) -> Found:
    """Put a sentence that says the same again after k sentences, or after every second one.

    Notes
    -----
    The new sentence opens with words that announce it and a colon, after which a capital may
    stand, and says otherwise what can safely be said so.
    """
    passage = case.passage
    if not passage.may_be_english or (passage.words and not passage.has_latin):
        return NOT_ENGLISH
    places = passage.sentences
    k = case.wanted(len(places))
    if len(places) < k:
        return too_few(k, "sentences")
    if isinstance(case.amount, int):
        chosen = drawn(places, k, case.rng)
    else:
        chosen = places[:: case.amount.step]
        chosen += [place for n, place in enumerate(places) if n % case.amount.step][
            : k - len(chosen)
        ]
    between = joined_by(case)
    return [(end, end, between + _restated(passage.text[start:end], case)) for start, end in chosen]


def _otherwise(passage: Passage) -> Iterator[Change]:
    """Yield what says the same in other words, place by place."""
    text = passage.text
    opening = {start for start, _ in passage.openers}
    for found in _KNOWN.finditer(text):
        said, (start, end) = found.group(), found.span()
        small = said.lower()
        # Other capitals are of names and titles, where every word stays.
        opens = start in opening and said[1:] == small[1:]
        if not (said == small or opens or said[:2] in ("I'", "I ")) or not _is_free(text, found):
            continue
        other = SAME[small]
        if opens and said[0].isupper():
            other = other[0].upper() + other[1:]
        yield start, end, other


def _is_free(text: str, found: re.Match[str]) -> bool:
    """Say whether what stands around a word or phrase leaves it its usual meaning."""
    small, (start, end) = found.group().lower(), found.span()
    if small.endswith("n't") and _INVERTED.match(text, end):
        return False
    if small.endswith(" not") and not text[end : end + 2].strip().isalpha():
        return False
    if small.endswith(("'re", "'m", "been", " be")) and text[end : end + 1] != " ":
        return False
    before, after = _GUARDS.get(small, ("$^", "$^"))
    if re.search(f"\\b{before}$", text[max(0, start - 20) : start], re.IGNORECASE):
        return False
    return not re.match(after, text[end : end + 12], re.IGNORECASE)


def _restated(sentence: str, case: Case) -> str:
    """Return a sentence in other words, as far as rules can, and announced as that."""
    parts, place = [], 0
    for start, end, other in _otherwise(Passage(sentence)):
        parts += [sentence[place:start], other]
        place = end
    said = "".join([*parts, sentence[place:]])
    return _OPENINGS[case.rng.randrange(len(_OPENINGS))] + said
