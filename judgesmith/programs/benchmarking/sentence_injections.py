"""Errors that are whole sentences: put in, left out, moved, cut off."""

from __future__ import annotations

from judgesmith.programs.benchmarking.injection_room import Room
from judgesmith.programs.perturbing.case import (
    NOT_ENGLISH,
    Change,
    Found,
    drawn_order,
    too_few,
)
from judgesmith.programs.perturbing.languages import word_set
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.sentences import joined_by, left_out, one_sentence
from judgesmith.signatures.perturbation import Skipped

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


def off_topic_sentence(room: Room) -> Found:
    """Put in a sentence that belongs to another subject."""
    return _put_in(room, _others_sentence(room) or _unused(room, _OFF_TOPIC))


def unsupported_addition(room: Room) -> Found:
    """Put in a statement that nothing in the source bears out."""
    return _put_in(room, _unused(room, _UNFOUNDED) or _others_sentence(room))


def empty_talk(room: Room) -> Found:
    """Put in a sentence that says nothing."""
    return _put_in(room, _unused(room, _EMPTY))


def rude_remark(room: Room) -> Found:
    """Put in a sentence that insults."""
    return _put_in(room, _unused(room, _RUDE))


def repetition(room: Room) -> Found:
    """Say a sentence without errors once more, at another gap or right after itself."""
    sentences = room.whole_sentences
    if not sentences:
        return too_few(1, "sentences") if not room.passage.sentences else NO_PLACE
    return _put_in(room, room.shown(sentences[room.rng.randrange(len(sentences))]))


def contradiction(room: Room) -> Found:
    """Deny a sentence right after it was said."""
    if not room.passage.may_be_english or not room.passage.has_latin:
        return NOT_ENGLISH
    for place in drawn_order(len(room.whole_sentences), room.rng):
        start, end = room.whole_sentences[place]
        said = room.text[start:end]
        if room.is_free(end, end) and len(Passage(said).words) > 1 and "?" not in said:
            opens = (start, start + len(said.split()[0])) not in room.passage.openers
            kept = said if opens else _inner(room, (start, end))
            return [(end, end, f"{joined_by(room.case)}Yet it is not true that {kept}")]
    return NO_PLACE


def sentence_omission(room: Room) -> Found:
    """Leave out a sentence without errors; one is left at least."""
    sentences = room.passage.sentences
    if len(sentences) < 2:
        return too_few(2, "sentences")
    for place in drawn_order(len(sentences), room.rng):
        change = left_out(room.case, place)
        if room.is_free(*sentences[place]) and room.holds([change]):
            return [change]
    return NO_PLACE


def sentence_moved(room: Room) -> Found:
    """Take a sentence without errors to another gap of the text."""
    sentences = room.passage.sentences
    if len(sentences) < 2:
        return too_few(2, "sentences")
    for place in drawn_order(len(sentences), room.rng):
        out = left_out(room.case, place)
        if not room.is_free(*sentences[place]) or not room.holds([out]):
            continue
        said = room.shown(sentences[place])
        for gap in drawn_order(len(sentences) + 1, room.rng):
            if gap in (place, place + 1):
                continue
            back = _at_gap(room, gap, said)
            if room.holds([back]) and not out[0] <= back[0] <= out[1]:
                return [out, back]
    return NO_PLACE


def _put_in(room: Room, said: str | None) -> Found:
    """Return what puts a sentence into a free gap between sentences, or at an end."""
    if not room.passage.sentences:
        return too_few(1, "sentences")
    if not said:
        return NO_PLACE
    for gap in drawn_order(len(room.passage.sentences) + 1, room.rng):
        for before in (False, True):
            change = _at_gap(room, gap, said, before_next=before)
            if room.holds([change]):
                return [change]
    return NO_PLACE


def _at_gap(room: Room, gap: int, said: str, *, before_next: bool = False) -> Change:
    """Return what puts a sentence after the one before a gap, or before the one after it."""
    sentences, between = room.passage.sentences, joined_by(room.case)
    if gap == 0 or (before_next and gap < len(sentences)):
        start = sentences[gap][0]
        return start, start, said + between
    end = sentences[gap - 1][1]
    return end, end, between + said


def _unused(room: Room, choices: tuple[str, ...]) -> str | None:
    """Return a sentence that is not in the text, for texts that may be English."""
    if not room.passage.may_be_english or not room.passage.has_latin:
        return None
    left = [one for one in choices if one not in room.text]
    return left[room.rng.randrange(len(left))] if left else None


def _others_sentence(room: Room) -> str | None:
    """Return a sentence from a text of another source, if there is one."""
    donors = room.case.donors
    given = None if donors is None else donors.other_than(room.case.item, room.rng)
    said = None if given is None else one_sentence(given, room.rng)
    return None if said is None or said in room.text else said


def _inner(room: Room, sentence: tuple[int, int]) -> str:
    """Return a sentence as it is written within another one."""
    said = room.shown(sentence)
    word = said.split()[0]
    return said[0].lower() + said[1:] if word.istitle() and word.lower() in SMALL_OPENERS else said
