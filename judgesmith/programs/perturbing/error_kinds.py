"""Rules that inject single errors, and the places of a text without errors."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, Final

from pydantic import Field

from judgesmith.errors import InputError
from judgesmith.programs.features.words import word_set
from judgesmith.programs.perturbing import catalogue, damage, grammar
from judgesmith.programs.perturbing.damage import joined_by, left_out, one_sentence
from judgesmith.programs.perturbing.grammar import names_and_numbers
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped, SubAspect, Target
from judgesmith.signatures.plain_data import FrozenModel


class InjectionJob(FrozenModel):
    """A text to inject errors into."""

    key: str
    task: str = ""
    source_id: str = ""
    source: str = ""
    context: str | None = None
    target: Target
    criterion: str = Field(min_length=1)
    definition: str = ""
    sub_aspects: tuple[SubAspect, ...] = Field(min_length=1)
    sample: int = Field(default=0, ge=0)

    def generator(self, seed: int) -> Random:
        state = hashlib.blake2b(f"{seed} {self.key}".encode(errors="surrogatepass"), digest_size=16)
        return Random(int.from_bytes(state.digest()))


def drawn_sub_aspects(
    sub_aspects: Sequence[SubAspect], n: int, rng: Random
) -> tuple[SubAspect, ...]:
    """Return ``n`` sub-aspects in random order, all once before any is there again."""
    if n < 0 or not sub_aspects:
        raise InputError(
            f"expected zero or more errors of at least one sub-aspect; got {n} of "
            f"{len(sub_aspects)}."
        )
    found: list[SubAspect] = []
    while len(found) < n:
        found += rng.sample(list(sub_aspects), len(sub_aspects))
    return tuple(found[:n])


class TakenPlaces:
    """Spans of a text that no other change may touch, with fast lookup."""

    def __init__(self, spans: Iterable[Span]) -> None:
        several = sorted(set(spans))
        self._points = [start for start, end in several if start == end]
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in several:
            if start == end:
                continue
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def meets(self, start: int, end: int) -> bool:
        """Say whether a span reaches into a taken one, or where one of both is empty, meets it."""
        point = bisect_left(self._points, start)
        if point < len(self._points) and self._points[point] <= end:
            return True
        empty = start == end
        place = bisect_left(self._ends, start if empty else start + 1)
        return place < len(self._ends) and self._starts[place] < end + empty

    def is_met_by(self, change: catalogue.Change) -> bool:
        start, end, put = change
        if start < end or not put or not self.meets(start, end):
            return self.meets(start, end)
        if start in self._points:
            return True
        place = bisect_left(self._ends, start)
        after = start == self._ends[place] and put[0].isspace()
        before = start == self._starts[place] and put[-1].isspace()
        return not (after or before)


class Room:
    """A text with injected errors, and the places without errors."""

    def __init__(
        self,
        target: Target,
        *,
        rng: Random,
        donors: catalogue.Donors | None = None,
        **about: Any,
    ) -> None:
        item = RatedItem(response=target.text, **about)
        self.case = catalogue.Case(
            item=item, passage=Passage(target.text), amount=1, rng=rng, donors=donors
        )
        self.passage, self.text, self.rng = self.case.passage, target.text, rng
        self._spans = [span for one in target.errors for span in one.spans]

    @cached_property
    def is_english(self) -> bool:
        return self.passage.may_be_english and self.passage.has_latin

    @cached_property
    def taken(self) -> TakenPlaces:
        return TakenPlaces(one for span in self._spans for one in (span, self._widened(span)))

    @cached_property
    def words(self) -> list[Span]:
        return [word for word in self.passage.words if self.is_free(*word)]

    @cached_property
    def whole_sentences(self) -> list[Span]:
        return [sentence for sentence in self.passage.sentences if self.is_free(*sentence)]

    @cached_property
    def starts_of_sentences(self) -> frozenset[int]:
        return frozenset(start for start, _ in self.passage.sentences)

    def shown(self, span: Span) -> str:
        return self.passage.shown(span)

    def is_free(self, start: int, end: int) -> bool:
        """Say whether a place is apart from all errors; an empty one, not beside any either."""
        return not self.taken.meets(start, end)

    def holds(self, changes: Iterable[catalogue.Change]) -> bool:
        return not any(map(self.taken.is_met_by, changes))

    def n_words_taken(self, changes: Iterable[catalogue.Change]) -> int:
        """Return how many free words changes take away or put elsewhere."""
        gone = TakenPlaces((start, end) for start, end, _ in changes if start < end)
        return sum(gone.meets(*word) for word in self.words)

    def runs(self, n: int) -> Iterator[tuple[Span, ...]]:
        """Yield ``n`` free words that follow each other in one sentence, in random order."""
        words = self.passage.words
        for first in catalogue.drawn_order(max(0, len(words) - n + 1), self.rng):
            start, end = words[first][0], words[first + n - 1][1]
            if self.is_free(start, end) and not self._is_cut(start, end):
                yield tuple(words[first : first + n])

    @cached_property
    def _ends_of_sentences(self) -> list[int]:
        return [end for _, end in self.passage.sentences]

    def _is_cut(self, start: int, end: int) -> bool:
        ends = self._ends_of_sentences
        place = bisect_left(ends, start + 1)
        return place < len(ends) and ends[place] < end

    @cached_property
    def _ends_of_words(self) -> list[int]:
        return [end for _, end in self.passage.words]

    def _widened(self, span: Span) -> Span:
        start, end = span
        words = self.passage.words
        first = bisect_left(self._ends_of_words, start)
        last = bisect_left(words, (end + 1, 0))
        if first >= last:
            return span
        return min(start, words[first][0]), max(end, words[last - 1][1])


ErrorRule = Callable[[Room], catalogue.Found]

NO_PLACE = Skipped(reason="no place apart from earlier errors")
"""Why there is no room for a further error of a kind."""

SMALL_OPENERS = word_set(
    "the a an this that these those it he she they we you there his her their its our some many "
    "most all both each every one two three in on at by for from with after before when while"
)
"""English words that have a capital only because they open a sentence."""

_OFF_TOPIC = (
    "Rye bread keeps longer when it is wrapped in a dry cloth.",
    "The tide tables for that coast are printed every autumn.",
    "A chess clock has two faces and one spring.",
    "Most ferns do badly in a window that faces south.",
    "The third violin was tuned half a tone too low.",
    "Wool shrinks in water that is too warm.",
    "Old maps of the river show an island that is no longer there.",
    "Beekeepers move their hives after sunset.",
    "The recipe asks for two cups of barley and a pinch of salt.",
    "Paint dries more slowly in a cellar than under a roof.",
    "The museum of clocks is closed on the first day of the month.",
    "Some owls hunt in the early afternoon.",
)
_UNFOUNDED = (
    "A second inquiry into this was opened soon afterwards.",
    "Several witnesses have since taken back what they said.",
    "The cost of it was later put at nine million.",
    "A book about it is to appear next spring.",
    "Experts in three other countries came to the same result.",
    "The same had already happened eleven years before.",
    "Two of those concerned have refused to comment.",
    "It was first reported by a local newspaper.",
    "Nearly half of all people asked said that they agreed.",
    "A spokeswoman later denied all of this.",
    "An appeal was turned down within a week.",
    "The details were kept secret for a month.",
)
_EMPTY = (
    "There is much that could be said about all of this.",
    "It is what it is, and time will tell.",
    "All of this is worth knowing, in one way or another.",
    "As with most things, there are many sides to it.",
    "It goes without saying that these are things that happen.",
    "In a way that is how things stand at this point in time.",
    "One may think about this what one likes.",
    "That is certainly something to be aware of in general.",
)
_RUDE = (
    "Any fool could have told you that.",
    "Whoever does not see this is plainly stupid.",
    "Not that you would understand it anyway.",
    "Shut up and take it or leave it.",
    "What a pathetic lot they all are.",
    "Nobody with half a brain would ask.",
)


def off_topic_sentence(room: Room) -> catalogue.Found:
    return _put_in(room, _others_sentence(room) or _unused(room, _OFF_TOPIC))


def unfounded_statement(room: Room) -> catalogue.Found:
    """Put in a statement that nothing in the source bears out."""
    return _put_in(room, _unused(room, _UNFOUNDED) or _others_sentence(room))


def repeated_sentence(room: Room) -> catalogue.Found:
    """Say a sentence without errors once more, at another gap or right after itself."""
    sentences = room.whole_sentences
    if not sentences:
        return catalogue.too_few(1, "sentences") if not room.passage.sentences else NO_PLACE
    return _put_in(room, room.shown(sentences[room.rng.randrange(len(sentences))]))


def contradiction(room: Room) -> catalogue.Found:
    """Contradict a sentence right after it."""
    if not room.is_english:
        return catalogue.NOT_ENGLISH
    for place in catalogue.drawn_order(len(room.whole_sentences), room.rng):
        start, end = room.whole_sentences[place]
        said = room.text[start:end]
        if room.is_free(end, end) and len(Passage(said).words) > 1 and "?" not in said:
            opens = (start, start + len(said.split()[0])) not in room.passage.openers
            kept = said if opens else _inner(room, (start, end))
            return [(end, end, f"{joined_by(room.case)}Yet it is not true that {kept}")]
    return NO_PLACE


def sentence_omission(room: Room) -> catalogue.Found:
    """Leave out a sentence without errors; one is left at least."""
    sentences = room.passage.sentences
    if len(sentences) < 2:
        return catalogue.too_few(2, "sentences")
    for place in catalogue.drawn_order(len(sentences), room.rng):
        change = left_out(room.case, place)
        if room.is_free(*sentences[place]) and room.holds([change]):
            return [change]
    return NO_PLACE


def sentence_moved(room: Room) -> catalogue.Found:
    """Take a sentence without errors to another gap of the text."""
    sentences = room.passage.sentences
    if len(sentences) < 2:
        return catalogue.too_few(2, "sentences")
    for place in catalogue.drawn_order(len(sentences), room.rng):
        out = left_out(room.case, place)
        if not room.is_free(*sentences[place]) or not room.holds([out]):
            continue
        said = room.shown(sentences[place])
        for gap in catalogue.drawn_order(len(sentences) + 1, room.rng):
            if gap in (place, place + 1):
                continue
            back = _at_gap(room, gap, said)
            if room.holds([back]) and not out[0] <= back[0] <= out[1]:
                return [out, back]
    return NO_PLACE


def _put_in(room: Room, said: str | None) -> catalogue.Found:
    """Return what puts a sentence into a free gap between sentences, or at an end."""
    if not room.passage.sentences:
        return catalogue.too_few(1, "sentences")
    if not said:
        return NO_PLACE
    for gap in catalogue.drawn_order(len(room.passage.sentences) + 1, room.rng):
        for before in (False, True):
            change = _at_gap(room, gap, said, before_next=before)
            if room.holds([change]):
                return [change]
    return NO_PLACE


def _at_gap(room: Room, gap: int, said: str, *, before_next: bool = False) -> catalogue.Change:
    sentences, between = room.passage.sentences, joined_by(room.case)
    if gap == 0 or (before_next and gap < len(sentences)):
        start = sentences[gap][0]
        return start, start, said + between
    end = sentences[gap - 1][1]
    return end, end, between + said


def _unused(room: Room, choices: tuple[str, ...]) -> str | None:
    if not room.is_english:
        return None
    left = [one for one in choices if one not in room.text]
    return left[room.rng.randrange(len(left))] if left else None


def _others_sentence(room: Room) -> str | None:
    donors = room.case.donors
    given = None if donors is None else donors.other_than(room.case.item, room.rng)
    said = None if given is None else one_sentence(given, room.rng)
    return None if said is None or said in room.text else said


def _inner(room: Room, sentence: tuple[int, int]) -> str:
    said = room.shown(sentence)
    word = said.split()[0]
    return said[0].lower() + said[1:] if word.istitle() and word.lower() in SMALL_OPENERS else said


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
_FIRST_WORDS = "Nevertheless/As a consequence/By contrast/For example/In other words/Similarly"
_OPENINGS = tuple(f"{one}, " for one in _FIRST_WORDS.split("/"))
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
    return {**back, **table}


OPPOSITES: Final = _pairs(_OPPOSITES, both=True)
"""English words and what says the opposite in their place."""

STRONGER: Final = _pairs(_STRONGER)  # English words and what says too much in their place

WRONG_LINKS: Final = _pairs(_WRONG_LINKS)
"""English words that join statements, and what joins them wrongly."""


def wrong_connective(room: Room) -> catalogue.Found:
    """Join two statements by a word that says something else of how they belong together."""
    if not room.is_english:
        return catalogue.NOT_ENGLISH
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


def vague_mentions(room: Room) -> catalogue.Found:
    """Put something vague in the place of one name or number."""
    if not room.is_english:
        return catalogue.NOT_ENGLISH
    mentions = list(names_and_numbers(room.passage, room.case.item.source))
    if not mentions:
        return Skipped(reason="no name or number")
    return _one_of(room, [(*span, _vague(room, span)) for span in mentions])


def unclear_reference(room: Room) -> catalogue.Found:
    """Put a pronoun that may mean anybody in the place of a name."""
    if not room.is_english:
        return catalogue.NOT_ENGLISH
    changes = []
    for start, end in names_and_numbers(room.passage, room.case.item.source):
        if room.text[start].isdigit() or room.text[end : end + 1] in ("'", "\u2019"):
            continue
        opens = start in room.starts_of_sentences
        put = ("they", "it", "this one")[room.rng.randrange(3)]
        changes.append((start, end, put.capitalize() if opens else put))
    return _one_of(room, changes) if changes else Skipped(reason="no name")


def phrase_omission(room: Room) -> catalogue.Found:
    """Leave out four words that follow each other within a sentence."""
    if len(room.passage.words) <= _PHRASE:
        return catalogue.too_few(_PHRASE + 1, "words")
    for words in room.runs(_PHRASE):
        change = damage.gone(room.text, words[0][0], words[-1][1])
        if room.holds([change]):
            return [change]
    return NO_PLACE


def phrase_moved(room: Room) -> catalogue.Found:
    """Let two runs of two words change places within a sentence."""
    for words in room.runs(4):
        (start, _), (_, middle), (after, _), (_, end) = words
        one, two = room.text[start:middle], room.text[after:end]
        if one != two and room.text[middle:after] in ("", " "):
            return [(start, end, two + room.text[middle:after] + one)]
    return NO_PLACE


def _by_table(table: Mapping[str, str], what: str) -> ErrorRule:
    """Return a rule that exchanges one word that a table knows."""

    def change(room: Room) -> catalogue.Found:
        if not room.is_english:
            return catalogue.NOT_ENGLISH
        changes = list(_exchanges(room, table, free=False))
        return _one_of(room, changes) if changes else Skipped(reason=f"no word {what}")

    return change


def _exchanges(
    room: Room, table: Mapping[str, str], *, free: bool = True
) -> Iterator[catalogue.Change]:
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


def _one_of(room: Room, changes: list[catalogue.Change]) -> catalogue.Found:
    free = [change for change in changes if room.holds([change])]
    return catalogue.drawn(free, 1, room.rng) if free else NO_PLACE


def _vague(room: Room, span: Span) -> str:
    said = room.shown(span)
    if _YEAR.fullmatch(said):
        return "some year or other"
    if said[0].isdigit():
        return "some"
    put = _VAGUE_NAMES[room.rng.randrange(len(_VAGUE_NAMES))]
    opens = span[0] in room.starts_of_sentences
    return put.capitalize() if opens else put


def _repeating(n: int) -> ErrorRule:
    """Return a rule that says ``n`` words that follow each other again, right after themselves."""

    def change(room: Room) -> catalogue.Found:
        for words in room.runs(n):
            start, end = words[0][0], words[-1][1]
            if room.is_free(end, end):
                between = "" if _is_unspaced(room, words[-1]) else " "
                return [(end, end, between + room.text[start:end])]
        return NO_PLACE if len(room.passage.words) >= n else catalogue.too_few(n, "words")

    return change


def _is_unspaced(room: Room, word: Span) -> bool:
    start, end = word
    return end - start == 1 and ord(room.text[start]) > 0x0E00 and room.text[start].isalpha()


def _inserting(choices: tuple[str, ...]) -> ErrorRule:
    """Return a rule that puts one of some phrases between two words."""

    def change(room: Room) -> catalogue.Found:
        if not room.is_english:
            return catalogue.NOT_ENGLISH
        left = [one for one in choices if one not in room.text] or list(choices)
        put = left[room.rng.randrange(len(left))]
        for (_, end), (start, _) in room.runs(2):
            if room.text[end:start] == " " and room.is_free(end, end):
                return [(end, end, f", {put},")]
        return NO_PLACE

    return change


_TRIES = 12


@dataclass(frozen=True, slots=True)
class InjectionRule:
    """One kind of error."""

    kind: str
    says: str
    change: ErrorRule


def _anywhere(rule: Callable[[catalogue.Case], catalogue.Found], tries: int = _TRIES) -> ErrorRule:
    """Return a rule that draws again where it met an earlier error."""

    def change(room: Room) -> catalogue.Found:
        for _ in range(tries):
            found = rule(room.case)
            if isinstance(found, Skipped) or room.holds(found):
                return found
        return NO_PLACE

    return change


def _in_a_sentence(rule: Callable[[catalogue.Case], catalogue.Found]) -> ErrorRule:
    def change(room: Room) -> catalogue.Found:
        found: catalogue.Found = catalogue.too_few(1, "sentences")
        for place in catalogue.drawn_order(len(room.passage.sentences), room.rng):
            start, end = room.passage.sentences[place]
            one = replace(room.case, passage=Passage(room.text[start:end]))
            found = rule(one)
            if isinstance(found, Skipped):
                continue
            moved = [(start + first, start + last, put) for first, last, put in found]
            free = [one for one in moved if room.holds([one])]
            if free:
                return free
            found = NO_PLACE
        return found

    return change


def _rules(*several: tuple[str, str, ErrorRule]) -> Mapping[str, InjectionRule]:
    return {kind: InjectionRule(kind, says, do) for kind, says, do in several}


RULES: Final[Mapping[str, InjectionRule]] = _rules(
    # What the text says.
    ("fictional_entities", "a name or number is invented", _anywhere(grammar.fictional_entities)),
    ("number_swap", "a number is not the right one", _anywhere(damage.number_swap)),
    ("negation", "a statement is turned round", _anywhere(damage.negation)),
    (
        "opposite_words",
        "a word says the opposite of what is meant",
        _by_table(OPPOSITES, "with an opposite"),
    ),
    ("overstatement", "more is said than is known", _by_table(STRONGER, "of caution")),
    ("contradiction", "a statement is denied right after it", contradiction),
    ("unsupported_addition", "a statement is made up", unfounded_statement),
    # What it leaves out.
    (
        "key_sentence_omission",
        "what matters most is left out",
        _anywhere(damage.key_sentence_omission, tries=1),
    ),
    ("sentence_omission", "a sentence is left out", sentence_omission),
    ("phrase_omission", "words that are needed are left out", phrase_omission),
    ("vague_mentions", "it is not said who, what or how much", vague_mentions),
    # How it hangs together.
    ("reordering", "two sentences stand in each other's place", _anywhere(damage.reordering)),
    ("sentence_moved", "a sentence stands in the wrong place", sentence_moved),
    ("off_topic_sentence", "a sentence belongs to another subject", off_topic_sentence),
    ("wrong_connective", "statements are joined by the wrong word", wrong_connective),
    ("unclear_reference", "it is unclear who or what is meant", unclear_reference),
    # How short it is.
    ("repetition", "a sentence is said twice", repeated_sentence),
    ("rewriting", "the same is said again in other words", _anywhere(damage.rewriting)),
    ("phrase_repetition", "words are said twice", _repeating(3)),
    ("empty_talk", "a sentence says nothing", lambda room: _put_in(room, _unused(room, _EMPTY))),
    ("wordy_phrases", "words are used that say nothing", _inserting(_PADDING)),
    # How it is written.
    ("grammatical_errors", "there is a fault of grammar", _anywhere(grammar.grammatical_errors)),
    ("character_typos", "a word is mistyped", _anywhere(damage.character_typos)),
    ("character_deletions", "a letter is missing", _anywhere(damage.character_deletions)),
    ("punctuation_loss", "a sentence has lost its marks", _in_a_sentence(damage.punctuation_loss)),
    ("case_loss", "a sentence has lost its capitals", _in_a_sentence(damage.case_loss)),
    ("word_deletions", "a word is missing", _anywhere(damage.word_deletions)),
    ("word_repetition", "a word stands there twice", _repeating(1)),
    ("phrase_moved", "words stand in the wrong order", phrase_moved),
    ("truncation", "a sentence breaks off", _in_a_sentence(damage.truncation)),
    ("register_break", "words belong to another way of speaking", _inserting(_ODD)),
    (
        "rude_remark",
        "a remark insults a reader or the person it is about",
        lambda room: _put_in(room, _unused(room, _RUDE)),
    ),
)
"""All rules by kind, see :class:`InjectionRule`."""
