"""Errors of a few words: exchanged, made vague, said twice, left out, out of place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from judgesmith.programs.benchmarking.injection_room import Room
from judgesmith.programs.benchmarking.sentence_injections import NO_PLACE, SMALL_OPENERS
from judgesmith.programs.perturbing.case import NOT_ENGLISH, Change, Found, drawn, too_few
from judgesmith.programs.perturbing.name_runs import names_and_numbers
from judgesmith.programs.perturbing.passage import Span
from judgesmith.signatures.perturbation import Skipped

_OPPOSITES = (
    "more/less most/least higher/lower highest/lowest high/low rise/fall rose/fell rising/falling "
    "increase/decrease increased/decreased increases/decreases increasing/decreasing first/last "
    "before/after won/lost win/lose wins/loses winning/losing best/worst better/worse "
    "largest/smallest larger/smaller large/small bigger/smaller big/little up/down early/late "
    "earlier/later old/young older/younger oldest/youngest new/old open/closed opened/closed "
    "always/never good/bad above/below over/under inside/outside with/without into/out_of "
    "accepted/rejected agreed/refused arrived/left bought/sold began/ended begin/end start/end "
    "started/stopped success/failure successful/unsuccessful support/oppose supports/opposes "
    "supported/opposed love/hate loves/hates loved/hated like/dislike likes/dislikes near/far_from "
    "strong/weak stronger/weaker fast/slow faster/slower long/short longer/shorter easy/hard "
    "easier/harder rich/poor hot/cold warm/cool happy/sad safe/dangerous legal/illegal "
    "guilty/innocent alive/dead dead/alive killed/saved died/survived injured/unharmed "
    "allowed/forbidden possible/impossible likely/unlikely known/unknown true/false right/wrong "
    "father/mother mother/father son/daughter daughter/son husband/wife wife/husband "
    "brother/sister sister/brother man/woman woman/man men/women women/men boy/girl girl/boy "
    "morning/evening day/night north/south east/west northern/southern eastern/western "
    "left/right many/few everyone/nobody everything/nothing admitted/denied confirmed/denied "
    "praised/blamed approved/rejected signed/left joined/left beat/lost_to against/for "
    "public/private common/rare rare/common full/empty heavy/light cheap/expensive"
)
_STRONGER = (
    "some/all many/all most/all several/countless few/no often/always sometimes/always "
    "usually/always rarely/never may/will might/will could/will can/must probably/certainly "
    "possibly/certainly perhaps/certainly likely/certain reportedly/undoubtedly "
    "allegedly/undoubtedly alleged/proven suspected/proven nearly/exactly almost/exactly "
    "around/exactly about/exactly roughly/exactly approximately/exactly suggests/proves "
    "suggest/prove suggested/proved believes/knows believe/know believed/knew thinks/knows "
    "think/know claims/proves claimed/proved said/proved says/proves hopes/knows hope/know "
    "expected/certain appears/is seems/is appeared/was seemed/was should/must helped/forced "
    "good/perfect bad/terrible important/all-important large/gigantic big/gigantic"
)
_WRONG_LINKS = (
    "but/so because/although although/because so/but while/because however/therefore "
    "therefore/however also/instead and/but after/because when/although since/although "
    "if/because then/nevertheless"
)
_OPENINGS = (
    "Nevertheless, ",
    "As a consequence, ",
    "By contrast, ",
    "For example, ",
    "In other words, ",
    "Similarly, ",
)
_PADDING = (
    "as it were and so to speak",
    "it must be noted in this connection",
    "as has been or may have been said",
    "to all intents and purposes",
    "at this point in time, more or less",
    "if one may put it in this manner",
)
_ODD = ("um, like, you know", "lol", "or whatever", "heretofore", "methinks", "innit", "so yeah")
_VAGUE_NAMES = ("someone or something", "somebody or other", "a certain one")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_PHRASE = 4


def _pairs(line: str, *, both: bool = False) -> Mapping[str, str]:
    pairs = [pair.replace("_", " ").split("/") for pair in line.split()]
    table = dict(reversed(pairs))
    back = {other: one for one, other in reversed(pairs)} if both else {}
    return MappingProxyType({**back, **table})


OPPOSITES: Final = _pairs(_OPPOSITES, both=True)
"""English words and what says the opposite in their place."""

STRONGER: Final = _pairs(_STRONGER)
"""English words and what says too much in their place."""

WRONG_LINKS: Final = _pairs(_WRONG_LINKS)
"""English words that join statements, and what joins them wrongly."""


def opposite_words(room: Room) -> Found:
    """Exchange a word for one that says the opposite."""
    return _exchanged(room, OPPOSITES, "with an opposite")


def overstatement(room: Room) -> Found:
    """Exchange a careful word for one that says too much."""
    return _exchanged(room, STRONGER, "of caution")


def wrong_connective(room: Room) -> Found:
    """Join two statements by a word that says something else of how they belong together."""
    if not room.passage.may_be_english or not room.passage.has_latin:
        return NOT_ENGLISH
    changes = list(_exchanges(room, WRONG_LINKS))
    for sentence in room.passage.sentences[1:]:
        opener = room.passage.words_of(sentence)[:1]
        if opener and room.is_free(opener[0][0], opener[0][1]):
            start, end = opener[0]
            word = room.shown((start, end))
            put = _OPENINGS[room.rng.randrange(len(_OPENINGS))]
            if word.lower() in SMALL_OPENERS and word.istitle():
                changes.append((start, end, put + word.lower()))
            else:
                changes.append((start, start, put))
    return _one_of(room, changes)


def vague_mentions(room: Room) -> Found:
    """Put something vague in the place of one name or number."""
    if not room.passage.may_be_english or not room.passage.has_latin:
        return NOT_ENGLISH
    mentions = list(names_and_numbers(room.passage, room.case.item.source))
    if not mentions:
        return Skipped(reason="no name or number")
    return _one_of(room, [(*span, _vague(room, span)) for span in mentions])


def unclear_reference(room: Room) -> Found:
    """Put a pronoun that may mean anybody in the place of a name."""
    if not room.passage.may_be_english or not room.passage.has_latin:
        return NOT_ENGLISH
    changes = []
    for start, end in names_and_numbers(room.passage, room.case.item.source):
        if room.text[start].isdigit() or room.text[end : end + 1] in ("'", "\u2019"):
            continue
        opens = start in room.starts_of_sentences
        put = ("they", "it", "this one")[room.rng.randrange(3)]
        changes.append((start, end, put.capitalize() if opens else put))
    return _one_of(room, changes) if changes else Skipped(reason="no name")


def phrase_omission(room: Room) -> Found:
    """Leave out four words that follow each other within a sentence."""
    if len(room.passage.words) <= _PHRASE:
        return too_few(_PHRASE + 1, "words")
    for words in room.runs(_PHRASE):
        change = _gone(room.text, words[0][0], words[-1][1])
        if room.holds([change]):
            return [change]
    return NO_PLACE


def phrase_repetition(room: Room) -> Found:
    """Say three words that follow each other once more, right after themselves."""
    return _said_again(room, 3)


def word_repetition(room: Room) -> Found:
    """Say a word twice."""
    return _said_again(room, 1)


def phrase_moved(room: Room) -> Found:
    """Let two runs of two words change places within a sentence."""
    for words in room.runs(4):
        (start, _), (_, middle), (after, _), (_, end) = words
        one, two = room.text[start:middle], room.text[after:end]
        if one != two and room.text[middle:after] in ("", " "):
            return [(start, end, two + room.text[middle:after] + one)]
    return NO_PLACE


def wordy_phrases(room: Room) -> Found:
    """Put a phrase without content between two words."""
    return _between_words(room, _PADDING)


def register_break(room: Room) -> Found:
    """Put a phrase between two words that belongs to another way of speaking."""
    return _between_words(room, _ODD)


def _exchanged(room: Room, table: Mapping[str, str], what: str) -> Found:
    if not room.passage.may_be_english or not room.passage.has_latin:
        return NOT_ENGLISH
    changes = list(_exchanges(room, table, free=False))
    if not changes:
        return Skipped(reason=f"no word {what}")
    return _one_of(room, changes)


def _exchanges(room: Room, table: Mapping[str, str], *, free: bool = True) -> Iterator[Change]:
    """Yield what exchanges words that a table knows; capitals within sentences are of names."""
    for start, end in room.words if free else room.passage.words:
        word = room.text[start:end]
        other = table.get(word.lower())
        if other is None:
            continue
        if word.islower():
            yield start, end, other
        elif word.istitle() and (start, end) in room.passage.openers:
            yield start, end, other[0].upper() + other[1:]


def _one_of(room: Room, changes: list[Change]) -> Found:
    free = [change for change in changes if room.holds([change])]
    return drawn(free, 1, room.rng) if free else NO_PLACE


def _vague(room: Room, span: Span) -> str:
    said = room.shown(span)
    if _YEAR.fullmatch(said):
        return "some year or other"
    if said[0].isdigit():
        return "some"
    put = _VAGUE_NAMES[room.rng.randrange(len(_VAGUE_NAMES))]
    opens = span[0] in room.starts_of_sentences
    return put.capitalize() if opens else put


def _gone(text: str, start: int, end: int) -> Change:
    """Return what leaves words out with one of the blanks around them."""
    if start and text[start - 1].isspace():
        return start - 1, end, ""
    return start, end + (end < len(text) and text[end].isspace()), ""


def _said_again(room: Room, n: int) -> Found:
    for words in room.runs(n):
        start, end = words[0][0], words[-1][1]
        if room.is_free(end, end):
            between = "" if _is_unspaced(room, words[-1]) else " "
            return [(end, end, between + room.text[start:end])]
    return NO_PLACE if len(room.passage.words) >= n else too_few(n, "words")


def _is_unspaced(room: Room, word: Span) -> bool:
    """Say whether a word is of a script that is written without blanks."""
    start, end = word
    return end - start == 1 and ord(room.text[start]) > 0x0E00 and room.text[start].isalpha()


def _between_words(room: Room, choices: tuple[str, ...]) -> Found:
    if not room.passage.may_be_english or not room.passage.has_latin:
        return NOT_ENGLISH
    left = [one for one in choices if one not in room.text] or list(choices)
    put = left[room.rng.randrange(len(left))]
    for (_, end), (start, _) in room.runs(2):
        if room.text[end:start] == " " and room.is_free(end, end):
            return [(end, end, f", {put},")]
    return NO_PLACE
