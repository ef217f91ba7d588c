"""Perturbations by rule: characters, typing errors, words, sentences, and controls."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from random import Random
from typing import Final

from judgesmith.programs.features.texts import CHARACTER_NOTE, Text
from judgesmith.programs.features.words import word_set
from judgesmith.programs.perturbing.catalogue import (
    NOT_ENGLISH,
    Case,
    Change,
    Every,
    Found,
    drawn,
    drawn_order,
    too_few,
)
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.signatures.perturbation import Skipped


def whole_characters(changes: Iterable[Change], passage: Passage) -> list[Change]:
    r"""Return the changes that begin and end between characters and do change something."""
    text, found = passage.text, list[Change]()
    for start, end, put in changes:
        if text[start:end] == put:
            continue
        first, last = start, end
        while not passage.is_between(first):
            first -= 1
        while not passage.is_between(last):
            last += 1
        first = last if start == end else first  # what is put in goes after the character
        if put and first != last and (first, last) != (start, end):
            put = text[first:start] + put + text[end:last]
        if not found or first >= found[-1][1]:
            found.append((first, last, put))
    return found


def _neighbours(*rows: str) -> Mapping[str, str]:
    """Return by key those left and right of it, and above and below, half a key apart."""
    found: dict[str, str] = {}
    for number, row in enumerate(rows):
        for place, key in enumerate(row):
            near = row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
            if number > 0:
                near += rows[number - 1][place : place + 2]
            if number + 1 < len(rows):
                near += rows[number + 1][max(place - 1, 0) : place + 1]
            found[key] = near
    return found


NEIGHBOURS: Final[Mapping[str, str]] = {
    **_neighbours("1234567890"),
    **_neighbours("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    **_neighbours("йцукенгшщзх", "фывапролджэ", "ячсмитьбю"),
}
"""Keys beside a key, by key: digits, and the letters of the usual Latin and Russian boards."""

LOOKALIKES: Final[Mapping[str, str]] = dict(
    zip("l1o0s5z2b6g9OISZB8iuvcenhmw", "1l0o5s2z6b9g0l528Blvuechnnv", strict=True)
)
"""What a letter or digit is mistaken for."""


class Slips:
    """The letters of a text, and each kind of typing error at a letter."""

    def __init__(self, text: str, letters: Sequence[Span], rng: Random) -> None:
        self._text = text
        self._letters = letters
        self._rng = rng

    def neighbour(self, index: int) -> Change | None:
        start, end = self._letters[index]
        near = self._near(self._text[start:end])
        return (start, end, near) if near else None

    def lookalike(self, index: int) -> Change | None:
        """Write what looks alike, also a letter without its accent."""
        start, end = self._letters[index]
        letter = self._text[start:end]
        other = LOOKALIKES.get(letter) or unicodedata.normalize("NFD", letter)[0]
        return (start, end, other) if other != letter and other.isalnum() else None

    def transposition(self, index: int) -> Change | None:
        """Write two letters of a word in the wrong order."""
        follows = self._following(index)
        if follows is None:
            return None
        start, middle, end = self._letters[index][0], follows[0], follows[1]
        one, two = self._text[start:middle], self._text[middle:end]
        return (start, end, two + one) if one != two else None

    def omission(self, index: int) -> Change | None:
        """Leave out a letter that stands beside another, and is not doubled."""
        start, end = self._letters[index]
        joined = self._following(index) is not None or self._preceding(index) is not None
        return (start, end, "") if joined and self._is_single(index) else None

    def extra(self, index: int) -> Change | None:
        start, end = self._letters[index]
        near = self._near(self._text[start:end])
        return (end, end, near) if near and self._is_single(index) else None

    def doubling(self, index: int) -> Change | None:
        start, end = self._letters[index]
        return (end, end, self._text[start:end]) if self._is_single(index) else None

    def undoubling(self, index: int) -> Change | None:
        follows = self._following(index)
        if follows is None or self._text[slice(*follows)] != self._shown(index):
            return None
        once = self._preceding(index) != self._shown(index)
        after = self._following(index + 1)
        once = once and (after is None or self._text[slice(*after)] != self._shown(index))
        return (*follows, "") if once else None

    def extra_space(self, index: int) -> Change | None:
        follows = self._following(index)
        return None if follows is None else (follows[0], follows[0], " ")

    def missing_space(self, index: int) -> Change | None:
        end = self._letters[index][1]
        if index + 1 == len(self._letters) or self._letters[index + 1][0] != end + 1:
            return None
        return (end, end + 1, "") if self._text[end] == " " else None

    def _shown(self, index: int) -> str:
        return self._text[slice(*self._letters[index])]

    def _following(self, index: int) -> Span | None:
        if index + 1 >= len(self._letters):
            return None
        span = self._letters[index + 1]
        return span if span[0] == self._letters[index][1] else None

    def _preceding(self, index: int) -> str | None:
        if index == 0 or self._letters[index - 1][1] != self._letters[index][0]:
            return None
        return self._shown(index - 1)

    def _is_single(self, index: int) -> bool:
        letter, follows = self._shown(index), self._following(index)
        after = None if follows is None else self._text[slice(*follows)]
        return letter not in (after, self._preceding(index))

    def _near(self, letter: str) -> str:
        near = NEIGHBOURS.get(letter.lower(), "")
        if not near:
            return ""
        hit = near[self._rng.randrange(len(near))]
        return hit.upper() if letter.isupper() else hit


SLIPS: Final[tuple[Callable[[Slips, int], Change | None], ...]] = (
    Slips.neighbour,
    Slips.lookalike,
    Slips.transposition,
    Slips.omission,
    Slips.extra,
    Slips.doubling,
    Slips.undoubling,
    Slips.extra_space,
    Slips.missing_space,
)
"""Every kind of slip: each returns a change at a letter, or None where it cannot happen."""


def character_deletions(case: Case) -> Found:
    """Delete k letters or digits, each with its marks; some must be left."""
    letters, k = case.passage.letters, case.wanted(len(case.passage.letters))
    if len(letters) <= k:
        return too_few(k + 1, "letters and digits")
    return [(*letter, "") for letter in drawn(letters, k, case.rng)]


def character_typos(case: Case) -> Found:
    """Make k typing slips of kinds drawn evenly, no two side by side."""
    letters, k = case.passage.letters, case.wanted(len(case.passage.letters))
    slips = Slips(case.passage.text, letters, case.rng)
    taken: set[int] = set()
    changes: list[Change] = []
    for index in drawn_order(len(letters), case.rng):
        if len(changes) == k:
            break
        for place in drawn_order(len(SLIPS), case.rng):
            change = SLIPS[place](slips, index)
            if change is not None and taken.isdisjoint(range(change[0] - 1, change[1] + 2)):
                taken.update(range(change[0], max(change[1], change[0] + 1)))
                changes.append(change)
                break
    return changes if len(changes) == k else too_few(k, "places for typing slips")


def case_loss(case: Case) -> Found:
    text = case.passage.text
    if text.islower():
        return Skipped(reason="no capital letter")
    changes: list[Change] = []
    capitals = (place for place, sign in enumerate(text) if sign.lower() != sign)
    for _, run in groupby(enumerate(capitals), key=lambda pair: pair[1] - pair[0]):
        places = [place for _, place in run]
        start, end = places[0], places[-1] + 1
        changes.append((start, end, "".join(sign.lower() for sign in text[start:end])))
    return changes or Skipped(reason="no capital letter")


def punctuation_loss(case: Case) -> Found:
    """Drop all punctuation around words, and the blank before a mark that stands alone."""
    text, changes = case.passage.text, list[Change]()
    words = case.passage.words
    if not words:
        return Skipped(reason="no word")
    for (_, start), (end, _) in pairwise([(0, 0), *words, (len(text), 0)]):
        changes += _marks(text, start, end)
    return changes or Skipped(reason="no punctuation")


def _marks(text: str, start: int, end: int) -> list[Change]:
    """Return what drops the marks between two words, with the blanks that would double."""
    gap, changes, place = text[start:end], list[Change](), 0
    while place < len(gap):
        if not _is_mark(gap[place]):
            place += 1
            continue
        first = place
        while place < len(gap) and _is_mark(gap[place]):
            place += 1
        blank = gap[first - 1 : first] in (" ", "\t") and gap[place : place + 1] in ("", " ", "\t")
        if blank and (not changes or changes[-1][1] < start + first):
            first -= 1
        changes.append((start + first, start + place, ""))
    return changes


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P")


def reordering(case: Case) -> Found:
    """Let k sentences change places so that none stays where it was, or all of them."""
    sentences, shown = case.passage.sentences, case.passage.shown
    everything = isinstance(case.amount, Every)
    # One sentence alone has nowhere to go.
    k = max(len(sentences), 3) if everything else max(case.wanted(len(sentences)), 2)
    if len(sentences) < k:
        return too_few(k, "sentences")
    texts = [shown(sentence) for sentence in sentences]
    places = list(drawn_order(len(sentences), case.rng))
    if not everything:
        places = list({texts[place]: place for place in places}.values())[:k]
    if len(places) < k:
        return too_few(k, "different sentences")
    # In a circle that keeps equal texts together, whoever moves on by the longest run of equals
    # finds another text, unless one text has more than half of the places.
    first = {texts[place]: rank for rank, place in reversed(list(enumerate(places)))}
    circle = sorted(places, key=lambda place: first[texts[place]])
    runs = [texts[place] for place in circle]
    shift = max(Counter(runs).values())
    if 2 * shift > len(circle):
        return Skipped(reason="more than half of the sentences are the same")
    moved = circle[shift:] + circle[:shift]
    return [(*sentences[place], texts[other]) for place, other in zip(circle, moved, strict=True)]


def key_sentence_omission(case: Case) -> Found:
    """Leave out the sentence that holds most of what the source speaks of most."""
    sentences = case.passage.sentences
    if len(sentences) < 2:
        return too_few(2, "sentences")
    counts = Text(case.item.source).stem_counts + Text(case.passage.text).stem_counts
    weights = [
        sum(counts[stem] for stem in Text(case.passage.shown(sentence)).stem_counts)
        for sentence in sentences
    ]
    return [left_out(case, weights.index(max(weights)))]


def left_out(case: Case, index: int) -> tuple[int, int, str]:
    """Return what removes a sentence and the blanks on one side of it."""
    sentences = case.passage.sentences
    start, end = sentences[index]
    if index + 1 < len(sentences):
        return start, sentences[index + 1][0], ""
    return sentences[index - 1][1], end, ""


def unsupported_addition(case: Case) -> Found:
    """Put a sentence from a text of another source after one of the sentences."""
    sentences = case.passage.sentences
    if not sentences:
        return too_few(1, "sentences")
    given = None if case.donors is None else case.donors.other_than(case.item, case.rng)
    if given is None:
        return Skipped(reason="no text of another source to take a sentence from")
    added = one_sentence(given, case.rng)
    if added is None or added in case.passage.text:
        return Skipped(reason="the text of another source has no sentence of its own")
    after = sentences[case.rng.randrange(len(sentences))][1]
    return [(after, after, joined_by(case) + added)]


def one_sentence(text: str, rng: Random) -> str | None:
    passage = Passage(text)
    if not passage.sentences:
        return None
    return passage.shown(passage.sentences[rng.randrange(len(passage.sentences))])


def repetition(case: Case) -> Found:
    """Say a sentence again, right after itself."""
    sentences = case.passage.sentences
    if not sentences:
        return too_few(1, "sentences")
    sentence = sentences[case.rng.randrange(len(sentences))]
    return [(sentence[1], sentence[1], joined_by(case) + case.passage.shown(sentence))]


def joined_by(case: Case) -> str:
    """Return what stands between sentences of the text: a blank, or nothing in some scripts."""
    sentences, text = case.passage.sentences, case.passage.text
    for one, other in pairwise(sentences):
        if "\n" not in text[one[1] : other[0]]:
            return text[one[1] : other[0]]
    return "" if Text(text).script == CHARACTER_NOTE else " "


def truncation(case: Case) -> Found:
    """Cut the text off in the middle of a sentence, with 40 to 80 % of its words left."""
    words, text = case.passage.words, case.passage.text
    if len(words) < 2:
        return too_few(2, "words")
    least, most = max(1, int(0.4 * len(words))), max(1, int(0.8 * len(words)))
    closed = {bisect_left(words, (end, end)) for _, end in case.passage.sentences}
    inside = [n for n in range(least, most + 1) if n < len(words) and n not in closed]
    kept = inside[case.rng.randrange(len(inside))] if inside else least
    return [(words[kept - 1][1], len(text), "")]


_EMPTY = (
    "All of this is worth knowing.",
    "That is how things stand.",
    "So much can be said of it.",
    "This is as good a place as any to say so.",
)


def padding(case: Case) -> Found:
    """Set every sentence on a line of its own, with an empty line before and after the text."""
    text, sentences = case.passage.text, case.passage.sentences
    if not sentences:
        return Skipped(reason="no word")
    changes: list[Change] = [(0, 0, "\n")]
    for one, other in pairwise(sentences):
        if "\n" not in text[one[1] : other[0]]:
            changes.append((one[1], other[0], "\n"))
    return [*changes, (len(text), len(text), "\n")]


def empty_sentences(case: Case) -> Found:
    """Put an English sentence without any content after k sentences, or every second one."""
    sentences = case.passage.sentences
    if not case.passage.may_be_english:
        return NOT_ENGLISH
    k = case.wanted(len(sentences))
    if len(sentences) < k:
        return too_few(k, "sentences")
    between = joined_by(case)
    places = [end for _, end in drawn(sentences, k, case.rng)]
    return [(place, place, between + _EMPTY[case.rng.randrange(len(_EMPTY))]) for place in places]


WRONG_ENDING = "wrong_ending"  # the field of a row that holds an ending known to be wrong


def another_text(case: Case) -> Found:
    given = None if case.donors is None else case.donors.other_than(case.item, case.rng)
    if given is None:
        return Skipped(reason="no text of another source to put in its place")
    return _replaced(case, given)


def wrong_ending(case: Case) -> Found:
    """Put the ending that the row itself calls wrong in the place of the right one."""
    given = case.item.extra.get(WRONG_ENDING)
    if not isinstance(given, str) or not given.strip():
        return Skipped(reason=f"the row has no field {WRONG_ENDING}")
    if given.split() == case.passage.text.split():
        return Skipped(reason="the wrong ending is the right one")
    return _replaced(case, given)


def _replaced(case: Case, text: str) -> Found:
    if not case.passage.words:
        return Skipped(reason="no word")
    return [(0, len(case.passage.text), text)]


_BE_AND_MODALS = word_set("is are was were am will would can could shall should may might must")
_HAVE = word_set("have has had")
# Where these follow, the verb is in front of its subject, or denied already.
_NOT_BEFORE = word_set(
    "i you he she it we they there this that these those not no never nothing nobody none neither "
    "nowhere hardly barely rather n't and or but"
)
# Where these stand before, it is a noun; or 10 am.
_NOUN_AFTER = word_set("a an the his her my your our their its free of with all any last")
_PARTICIPLE = re.compile(
    "[a-z]+(?:ed|wn|ken|ten|ven)|been|become|begun|done|gone|made|said|seen|won|lost|come|found|told|"
    "led|sent|met|paid|put|set|built|bought|brought|caught|taught|thought|sold|spent|held|kept|left|"
    "sought|hit|run|got|chosen|risen|fallen|stolen|sworn|worn|torn|drawn"
)
_KEEPS_BEFORE = word_set("or why if as")
_KEEPS_AFTER = re.compile(r"(?i)\s+(?:only|just|merely|least|even|yet)\b|\s*[^\s\w]|\s*$")
_NOT = re.compile(r"(?P<before>[ \t]+)(?:not|never)\b|[ \t]?n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
_TOGETHER = re.compile(r"\s*(?:[-–—:/,&]|,?\s*\b(?:and|or|by|[A-Z]\w+),?)?\s*")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")


def word_deletions(case: Case) -> Found:
    """Delete k words that follow each other, with what is between them; some must be left."""
    words, text = case.passage.words, case.passage.text
    k = case.wanted(len(words))
    if len(words) <= k:
        return too_few(k + 1, "words")
    first = case.rng.randrange(len(words) - k + 1)
    return [gone(text, words[first][0], words[first + k - 1][1])]


def gone(text: str, start: int, end: int) -> Change:
    """Return what takes a span away, with one of the blanks around it: the one before, if any."""
    if start and text[start - 1].isspace():
        return start - 1, end, ""
    return start, end + (end < len(text) and text[end].isspace()), ""


def negation(case: Case) -> Found:
    """Put 'not' after a form of to be, to have or a modal verb; or take one away."""
    if not case.passage.may_be_english:
        return NOT_ENGLISH
    text, changes = case.passage.text, list[Change]()
    for found in _NOT.finditer(text):
        if not found["before"] or _may_lose(text, found):
            changes.append(_affirmed(text, found))
    negated = {start for start, _, _ in changes}
    words = case.passage.words
    for place, (_, end) in enumerate(words):
        if end not in negated and _takes_not(case.passage, words, place):
            changes.append((end, end, " not"))
    wanted = case.wanted(len(changes))
    if len(changes) < wanted or not changes:
        return too_few(max(wanted, 1), "verbs that can be negated", "verb that can be negated")
    return drawn(changes, wanted, case.rng)


def _may_lose(text: str, found: re.Match[str]) -> bool:
    """Return whether a sentence can continue without this 'not': not in 'or not' and 'not only'."""
    before = text[max(0, found.start() - 20) : found.start()].split()
    opens = not before or before[-1].lower() in _KEEPS_BEFORE or not before[-1][-1].isalpha()
    return not (opens or _KEEPS_AFTER.match(text, found.end()))


def _takes_not(passage: Passage, words: Sequence[Span], place: int) -> bool:
    """Say whether 'not' can follow a word; capitals are names, months or questions."""
    verb = passage.shown(words[place])
    if not (verb in _BE_AND_MODALS or verb in _HAVE) or place + 1 >= len(words) or not place:
        return False
    (last, start), (end, after) = words[place - 1], words[place + 1]
    if passage.text[words[place][1] : end] != " " or not passage.shown((end, after))[0].isalpha():
        return False
    following, before = passage.small((end, after)), passage.small((last, start))
    if following in _NOT_BEFORE or before in _NOUN_AFTER or before[-1].isdigit():
        return False
    return verb in _BE_AND_MODALS or _PARTICIPLE.fullmatch(following) is not None


def _affirmed(text: str, found: re.Match[str]) -> Change:
    """Return what takes a 'not' away, and writes a shortened verb in full: won't, will."""
    if found["before"]:
        return (*found.span(), "")
    start, end = found.span()
    head = start
    while head > 0 and text[head - 1].isalpha():
        head -= 1
    whole = _SHORTENED.get(text[head:start].lower())
    if whole is None:
        return start, end, ""
    return head, end, whole.capitalize() if text[head:start].istitle() else whole


def number_swap(case: Case) -> Found:
    """Let two different numbers change places, or write another number where there is one."""
    spans = [found.span() for found in _NUMBER.finditer(case.passage.text)]
    text, shown = case.passage.text, case.passage.shown
    if not spans:
        return Skipped(reason="no number in digits")
    order = list(drawn_order(len(spans), case.rng))
    one = spans[order[0]]
    for place in order[1:]:
        other = spans[place]
        between = text[min(one[1], other[1]) : max(one[0], other[0])]
        differ = shown(other).replace(",", "") != shown(one).replace(",", "")
        if differ and not _TOGETHER.fullmatch(between):
            return [(*one, shown(other)), (*other, shown(one))]
    return [(*one, other_number(shown(one), case))]


def other_number(number: str, case: Case) -> str:
    """Return a number of the same length that differs, with the same marks between its digits."""
    digits = [place for place, sign in enumerate(number) if sign.isdigit()]
    signs = list(number)
    changed = digits if len(digits) == 1 else digits[: max(1, len(digits) - 1)]
    for place in changed:
        least = 1 if place == digits[0] and len(digits) > 1 else 0
        signs[place] = str(case.rng.randrange(least, 10))
    if "".join(signs) == number:
        first = int(number[digits[0]])
        signs[digits[0]] = str(first % 9 + 1)
    return "".join(signs)


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


SAME: Final[Mapping[str, str]] = dict(_pairs())
"""Words and phrases, and what says the same in most places."""

_KNOWN = re.compile(
    rf"(?<!['’-])\b(?:{'|'.join(sorted(map(re.escape, SAME), key=len, reverse=True))})\b(?!['’-])",
    re.IGNORECASE,
)
# By the words found: what must not stand before and after, and what has to stand after them.
_NO_DEGREE = r"(?:more|less|most|so|as|how|too|very|not|no|than) "
_GUARDS: Final[Mapping[str, tuple[str, str]]] = {
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
    """Put a sentence that says the same again after k sentences, or after every second one."""
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
    parts, place = [], 0
    for start, end, other in _otherwise(Passage(sentence)):
        parts += [sentence[place:start], other]
        place = end
    said = "".join([*parts, sentence[place:]])
    return _OPENINGS[case.rng.randrange(len(_OPENINGS))] + said
