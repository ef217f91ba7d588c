"""Perturbation by a language model: the request, and the verification of its answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, Literal

from judgesmith.errors import InputError
from judgesmith.programs.features.texts import Text
from judgesmith.programs.perturbing.catalogue import Amount, Every, fewer_than, wanted
from judgesmith.programs.perturbing.grammar import WRONG_FORMS
from judgesmith.programs.perturbing.passage import (
    FUNCTION_WORDS,
    Incomparable,
    Passage,
    Token,
    TokenDifference,
    capitals_tell,
    differences,
    is_capital,
    is_foreign,
    is_number,
    language_of,
    mentions,
    names_number,
    negations_in,
    numbers_in,
    plain_passage,
    spoken_around,
    tokens_of,
    unwrapped,
)
from judgesmith.signatures.perturbation import Edit, Perturbation, Perturbed, edited

# Words inside names, such as Bank of Rome.
_INSIDE = frozenset(["of", "the", "de", "del", "di", "du", "la", "le", "van", "von", "-", "&"])
_NAME_MARKS = frozenset("-'.,&:/")
_MOST_LEFT = 1 / 3  # of the names and numbers, where all are to be replaced
_SHORT = 4  # letters of a word that carries little meaning, in languages that are not known
_ALIKE = 0.5
_MOST_WORDS = 3  # exchanged in one place by an error of grammar
_MOST_PUT_IN = 2  # where nothing was taken away
_NAME_STEM = 4  # letters that forms of one name share, such as China and Chinese
_MOST_CHANGED = 0.4  # of all words, by errors of grammar


@dataclass(frozen=True, slots=True)
class RewrittenText:
    """A rewritten text and its original, with the tokens of both."""

    original: str
    text: str
    tokens: Sequence[Token]
    other: Sequence[Token]


def entity_fault(made: RewrittenText, found: Sequence[TokenDifference], amount: Amount) -> str:
    """Return what is wrong with names and numbers that were replaced by invented ones."""
    tokens, other = made.tokens, made.other
    told = capitals_tell(tokens)
    named = {one for one in mentions(tokens) if told or is_number(tokens[one])}
    known = {token.key for token in tokens}
    replaced: list[set[str]] = []
    most = 0
    for one in found:
        removed = [tokens[place] for place in one.removed]
        added = [other[place] for place in one.added]
        if [plain_passage(token) for token in removed + added] in (["a", "an"], ["an", "a"]):
            continue  # as the invented name begins with another sound
        is_named = [place in named or names_number(tokens[place]) for place in one.removed]
        joined = map(_joins, removed)
        if not any(is_named) or not all(a or b for a, b in zip(is_named, joined, strict=True)):
            return "words changed that are no names or numbers"
        new = [token for token in added if is_capital(token) or names_number(token) or not told]
        if not new or not all(token in new or _joins(token) for token in added):
            return "a name or number that was not replaced by one"
        if all(token.key in known for token in new):
            return "a name or number that stands in the text already"
        gone = [token for token, is_one in zip(removed, is_named, strict=True) if is_one]
        replaced.append({plain_passage(token) for token in gone})
        # "Article 9", "Monday, 5 May 1990": numbers may belong to a name or stand for themselves.
        most += len(gone)
    n = _n_apart(replaced) - _n_joined(tokens, found)
    if isinstance(amount, int):
        return _number_fault(n, most, amount)
    touched = {place for one in found for place in one.removed}
    sure = mentions(tokens, sure=True) & named
    left = len(sure - touched)
    few = most < amount.at_least or left > _MOST_LEFT * len(sure)
    return "fewer changes than asked for" if few else ""


def _number_fault(fewest: int, most: int, amount: int) -> str:
    if fewest > amount:
        return "more changes than asked for"
    return "fewer changes than asked for" if most < amount else ""


def _joins(token: Token) -> bool:
    return (
        plain_passage(token) in _INSIDE
        or token.key in _NAME_MARKS
        or plain_passage(token) in ("a", "an")
    )


def _n_apart(several: Sequence[set[str]]) -> int:
    groups: list[set[str]] = []
    for one in several:
        joined = [group for group in groups if group & one]
        groups = [group for group in groups if not group & one]
        groups.append(one.union(*joined))
    return len(groups)


def _n_joined(tokens: Sequence[Token], found: Sequence[TokenDifference]) -> int:
    return sum(
        all(
            plain_passage(token) in _INSIDE
            for token in tokens[one.removed.stop : other.removed.start]
        )
        for one, other in pairwise(found)
        if one.removed and other.removed
    )


def grammar_fault(made: RewrittenText, found: Sequence[TokenDifference], amount: Amount) -> str:
    """Return what is wrong with a text that was to get errors of grammar; see ``entity_fault``."""
    tokens, other = made.tokens, made.other
    if fault := kept_fault(tokens, other):
        return fault
    known = {plain_passage(token) for token in tokens}
    parts = [_Exchange.of(one, tokens, other) for one in found]
    is_formal = _formal(tokens)
    put_in = {word for one in parts for word in one.new}
    left_out = {word for one in parts for word in one.old}
    for one in parts:
        if len(one.old) > _MOST_WORDS or len(one.new) > (_MOST_WORDS if one.old else _MOST_PUT_IN):
            return "too many words changed in one place"
        if not one.of_words:
            return "marks changed"
        # A word that has moved was taken away in one place and stands in another.
        gone = all(word in put_in or is_formal(word, one.new) for word in one.old)
        come = all(word in known or is_formal(word, one.old) for word in one.new)
        if one.old == one.new or not (gone and come):
            return "words changed that carry the meaning"
    sentences = Passage(made.original).sentences
    n = wanted(amount, len(sentences))
    all_of_them = not isinstance(amount, int)
    most = sum(max(len(one.old), len(one.new)) for one in parts)
    if most < n or (all_of_them and _untouched(made.original, tokens, found)):
        return "fewer changes than asked for"
    fewest = len(parts) - len(put_in & left_out)
    n_changed = sum(len(one.old) + len(one.new) for one in parts) / 2
    n_words = sum(token.is_word for token in tokens)
    many = fewest > (2 * n if all_of_them else n) or n_changed > _MOST_CHANGED * n_words + 1
    return "more changes than asked for" if many else ""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The old and new words at one place, in lower case."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    of_words: bool

    @classmethod
    def of(cls, one: TokenDifference, tokens: Sequence[Token], other: Sequence[Token]) -> _Exchange:
        removed = [tokens[place] for place in one.removed]
        added = [other[place] for place in one.added]
        old, new = (tuple(map(plain_passage, part)) for part in (removed, added))
        return cls(old, new, all(token.is_word for token in (*removed, *added)))


def kept_fault(
    tokens: Sequence[Token], other: Sequence[Token], *, letters: int | None = None
) -> str:
    """Return whether a name (by ``letters``), a number or a negation was lost or has come in."""

    def name_of(token: Token) -> str:
        """Return a name in small letters, U.S. as US; a mark as it is."""
        return plain_passage(token).replace(".", "")[:letters] or token.key

    if numbers_in(tokens) != numbers_in(other):
        return "a number lost or added"
    if negations_in(tokens) != negations_in(other):
        return "a negation lost or added"
    if capitals_tell(tokens):
        names = {name_of(tokens[place]) for place in mentions(tokens, sure=True)}
        said = set(map(name_of, other))
        if any(name not in said for name in names if not name[0].isdigit()):
            return "a name lost"
        known = set(map(name_of, tokens))
        new = {name_of(other[place]) for place in mentions(other, sure=True)} - known
        if any(not name[0].isdigit() for name in new):
            return "a name added"
    return ""


def _formal(tokens: Sequence[Token]) -> Callable[[str, Sequence[str]], bool]:
    """Return what recognizes function words, and forms of one word, in the language of a text."""
    language = language_of(plain_passage(token) for token in tokens if token.is_word)

    def is_formal(word: str, others: Sequence[str]) -> bool:
        small = word in FUNCTION_WORDS[language] if language else len(word) <= _SHORT
        return small or any(_is_form(word, one) for one in others)

    return is_formal


def _is_form(word: str, other: str) -> bool:
    """Say whether two words may be forms of one: nearly all that are begin with one letter."""
    if WRONG_FORMS.get(word) == other:
        return True
    alike = SequenceMatcher(None, word, other, autojunk=False).ratio() >= _ALIKE
    return alike and word[:1] == other[:1]


def _untouched(original: str, tokens: Sequence[Token], found: Sequence[TokenDifference]) -> bool:
    passage = Passage(original)
    starts = [start for start, _ in passage.sentences[1:]]
    touched = set()
    for one in found:
        # What was put in may belong to the words on either side.
        places = one.removed or range(one.removed.start - 1, one.removed.start + 1)
        touched |= {
            bisect_right(starts, tokens[place].start)
            for place in places
            if 0 <= place < len(tokens)
        }
    return any(
        place not in touched and len(passage.words_of(sentence)) >= _MOST_WORDS
        for place, sentence in enumerate(passage.sentences)
    )


_LEAST_SHARED = 0.2  # of the content words of a sentence that is said again
_LEAST_KEPT = 0.15  # of the content words of a text in other words
_LEAST_OTHER = 0.1  # of the words of a text in other words
_LEAST_NEW = 2  # words of a sentence said again that it does not share in this order
_LENGTHS = (0.35, 2.5)  # of a sentence said again, in lengths of the sentence
_MOST_EMPTY_WORDS = 30
_MOST_SENTENCES = 2  # that one sentence is said again in


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """An insertion after a sentence."""

    after: int
    text: str
    edit: Edit


def insertions(made: RewrittenText) -> list[Insertion] | str:
    """Return what a text has between and after the sentences of an original that all stayed."""
    tokens, other = made.tokens, made.other
    ends = [end for _, end in Passage(made.original).sentences]
    if not ends:
        return "no sentence in the text"
    keys = [token.key for token in other]
    found: list[Insertion] = []
    at, first = 0, 0
    for number, end in enumerate(ends):
        last = first
        while last < len(tokens) and (tokens[last].start < end or number == len(ends) - 1):
            last += 1
        sentence = [token.key for token in tokens[first:last]]
        place = _place_of(sentence, keys, at)
        if place is None:
            return "a sentence of the text changed or lost"
        if place > at:
            if number == 0:
                return "something put before the text"
            found.append(_insertion(number - 1, tokens[first - 1].end, made, at, place))
        at, first = place + len(sentence), last
    if at < len(other):
        found.append(_insertion(len(ends) - 1, tokens[-1].end, made, at, len(other)))
    return found


def _place_of(sentence: Sequence[str], keys: Sequence[str], at: int) -> int | None:
    n = len(sentence)
    for place in range(at, len(keys) - n + 1):
        if keys[place] == sentence[0] and keys[place : place + n] == sentence:
            return place
    return None


def _insertion(after: int, place: int, made: RewrittenText, first: int, stop: int) -> Insertion:
    text, other = made.text, made.other
    said = text[other[first].start : other[stop - 1].end]
    gap = text[other[first - 1].end : other[first].start]
    return Insertion(after=after, text=said, edit=Edit(start=place, end=place, text=gap + said))


def restating_fault(
    original: str, found: Sequence[Insertion], amount: Amount, check: FactsCheck = "words"
) -> str:
    """Return what is wrong with sentences that are to say those before them again."""
    passage = Passage(original)
    known = {plain_passage(token) for token in tokens_of(original)}
    for one in found:
        sentence = passage.shown(passage.sentences[one.after])
        fault = _restated_fault(one.text, sentence)
        if fault or (check == "words" and (fault := _other_facts(one.text, sentence, known))):
            return fault
    return _sentence_number_fault(len(found), amount, len(passage.sentences))


def _restated_fault(said: str, sentence: str) -> str:
    old, new = tokens_of(sentence), tokens_of(said)
    least, most = _LENGTHS
    n_sentences = len(Passage(said).sentences)
    if not least * len(sentence) - 20 <= len(said) <= most * len(sentence) + 20:
        return "a new sentence much longer or shorter than the one it repeats"
    if not 1 <= n_sentences <= _MOST_SENTENCES:
        return "more than a sentence put in"
    was, now = ([plain_passage(token) for token in part if token.is_word] for part in (old, new))
    matcher = SequenceMatcher(None, was, now, autojunk=False)
    n_shared = sum(block.size for block in matcher.get_matching_blocks())
    if max(len(was), len(now)) - n_shared < _LEAST_NEW:
        return "a sentence repeated word for word"
    return ""


def _other_facts(said: str, sentence: str, known: set[str]) -> str:
    """Return what, by its words, a sentence states that the one before it does not."""
    old, new = tokens_of(sentence), tokens_of(said)
    if not numbers_in(new).keys() <= numbers_in(old).keys():
        return "a number lost or added"
    if negations_in(new) != negations_in(old):
        return "a negation lost or added"
    names = {
        plain_passage(new[place]) for place in mentions(new, sure=True) if not is_number(new[place])
    }
    if capitals_tell(new) and names - known:
        return "a name added"
    alike = _shares(said, sentence, _LEAST_SHARED)
    return "" if alike else "a sentence put in that says something else"


def _shares(said: str, original: str, least: float) -> bool:
    stems, others = Text(original).stem_counts, Text(said).stem_counts
    n = len(stems)
    return n == 0 or sum(stem in others for stem in stems) >= least * n


def emptiness_fault(original: str, found: Sequence[Insertion], amount: Amount) -> str:
    passage = Passage(original)
    known = {plain_passage(token) for token in tokens_of(original)}
    for one in found:
        said = tokens_of(one.text)
        if sum(token.is_word for token in said) > _MOST_EMPTY_WORDS:
            return "a new sentence too long to say nothing"
        if numbers_in(said) or negations_in(said):
            return "a number or a negation put in"
        if any(plain_passage(said[place]) not in known for place in mentions(said, sure=True)):
            return "a name added"
        if one.text.casefold() in original.casefold():
            return "a sentence repeated word for word"
    return _sentence_number_fault(len(found), amount, len(passage.sentences))


def _sentence_number_fault(n: int, amount: Amount, n_sentences: int) -> str:
    n_wanted = wanted(amount, n_sentences)
    if isinstance(amount, int):
        which = "fewer" if n < n_wanted else "more"
        return "" if n == n_wanted else f"{which} changes than asked for"
    # A model may begin to count at the second sentence.
    least = max(min(n_wanted, n_sentences // amount.step), amount.at_least)
    return "fewer changes than asked for" if n < least else ""


def paraphrase_fault(
    made: RewrittenText,
    found: Sequence[TokenDifference],
    amount: Amount,
    check: FactsCheck = "words",
) -> str:
    """Return the fault of a paraphrase; empty if it has none."""
    tokens, other = made.tokens, made.other
    if check == "words":
        if fault := kept_fault(tokens, other, letters=_NAME_STEM):
            return fault
        said = " ".join(token.text for token in other)
        if not _shares(said, made.original, _LEAST_KEPT):
            return "a text that says something else"
    was, now = (
        Counter(plain_passage(one) for one in part if one.is_word) for part in (tokens, other)
    )
    if sum(n for word, n in now.items() if word not in was) < _LEAST_OTHER * now.total():
        return "hardly any other words"
    if tokens and not tokens[-1].is_word and other[-1].is_word:
        return "a text that breaks off"
    return ""


FactsCheck = Literal["words", "model"]
"""How it is seen that other words state the same facts: by the words, or a model is asked."""

CHECKED_BY_MODEL: Final = ("paraphrase", "rewriting")
"""The kinds of change that say the same in other words."""

NOT_ANOTHER = "unchanged"  # the fault of an answer that gives the text back


_SLACK = 20  # characters that short texts may differ by
_MOST_EVER, _LONG = 4, 1000  # lengths and characters of an answer with all that is around it


@dataclass(frozen=True, slots=True)
class _Bounds:
    """How long an answer may be, in lengths of the original, and characters beyond that."""

    least: float
    most: float
    beyond: int = _SLACK


_ANY_LENGTHS: Final[Mapping[str, _Bounds]] = {
    "fictional_entities": _Bounds(0.5, 2.0),
    "grammatical_errors": _Bounds(0.7, 1.3),
    "rewriting": _Bounds(1.0, 3.0, 60),
    "empty_sentences": _Bounds(1.0, 2.0, 200),
    "paraphrase": _Bounds(0.5, 2.0),
}


def changed_text(answer: str, original: str, *, too_long: str = "too long") -> RewrittenText | str:
    """Return the text in an answer, or why it is not another text."""
    if len(answer) > _MOST_EVER * len(original) + _LONG:
        return too_long  # before anything is looked for in it
    text = unwrapped(answer, original)
    if not text:
        return "empty"
    if fault := spoken_around(text, original):
        return fault
    made = RewrittenText(original, text, tokens_of(original), tokens_of(text))
    if [token.key for token in made.tokens] == [token.key for token in made.other]:
        return NOT_ANOTHER
    return made


def verified_change(
    answer: str,
    original: str,
    perturbation: Perturbation,
    amount: Amount,
    *,
    check: FactsCheck = "words",
) -> Perturbed | str:
    """Return a changed text with its edits, or what is wrong with it, as ``check`` has it."""
    made = changed_text(answer, original)
    if isinstance(made, str):
        return made
    kind = perturbation.kind
    told = {"check": check} if kind in CHECKED_BY_MODEL else {}
    if fault := _length_fault(made.text, original, kind):
        return fault
    if kind in _INSERTING:
        inserted = insertions(made)
        if isinstance(inserted, str):
            return inserted
        edits = [one.edit for one in inserted]
        fault = added_fault(edits, made) or _INSERTING[kind](original, inserted, amount, **told)
        return fault or remade(edits, made)
    try:
        found = differences(made.tokens, made.other, made.text)
    except Incomparable as fault_:
        return str(fault_)
    edits = [one.edit for one in found]
    fault = added_fault(edits, made) or _REPLACING[kind](made, found, amount, **told)
    return fault or remade(edits, made)


def remade(edits: Sequence[Edit], made: RewrittenText) -> Perturbed | str:
    """Return what edits make of the original, or why it is not the text, word by word."""
    passage = Passage(made.original)
    if not all(passage.is_between(one.start) and passage.is_between(one.end) for one in edits):
        return "a character cut apart"
    changed = edited(made.original, edits)
    if [token.key for token in tokens_of(changed)] != [token.key for token in made.other]:
        return "words run together"
    return Perturbed(text=changed, edits=tuple(edits))


def _length_fault(text: str, original: str, kind: str) -> str:
    bounds, n = _ANY_LENGTHS[kind], len(original.strip())
    if len(text) > bounds.most * n + bounds.beyond:
        return "too long"
    return "too short" if len(text) < bounds.least * n - _SLACK else ""


def added_fault(edits: Sequence[Edit], made: RewrittenText) -> str:
    """Return what is wrong with what was added, whatever was asked for."""
    added = " ".join(one.text for one in edits)
    if is_foreign(added, made.original):
        return "another script"
    was, said = (language_of(_words(one)) for one in (made.original, made.text))
    if was and said and was != said:
        return "another language"
    put_in = language_of(_words(added))
    return "another language" if was and put_in and was != put_in else ""


def _words(text: str) -> list[str]:
    return [token.key.casefold() for token in tokens_of(text) if token.is_word]


_Replacing = Callable[..., str]
_Inserting = Callable[..., str]

_REPLACING: Final[Mapping[str, _Replacing]] = {
    "fictional_entities": entity_fault,
    "grammatical_errors": grammar_fault,
    "paraphrase": paraphrase_fault,
}
_INSERTING: Final[Mapping[str, _Inserting]] = {
    "rewriting": restating_fault,
    "empty_sentences": emptiness_fault,
}


LONGEST = 20_000  # characters of the longest text that a language model is asked to write anew
_EXACTLY = "{n} of them, no more and no fewer"

_ORDERS: Final[Mapping[str, tuple[str, str, str]]] = {
    "fictional_entities": (
        "Replace named entities and numbers of the text by invented ones of the same sort, "
        "which occur nowhere in it",
        _EXACTLY,
        "all of them, and at least {n}",
    ),
    "grammatical_errors": (
        "Put errors of grammar into the text, such as a wrong form of a verb, a missing "
        "article or a wrong preposition. Keep its meaning, its spelling, its marks, and all "
        "names, numbers and negations. This many errors",
        _EXACTLY,
        "at least one in every sentence, and at least {n} altogether",
    ),
    "rewriting": (
        "Say sentences of the text once more in other words, and put each new sentence right "
        "after the one that it repeats. The old sentences all stay as they are. This is done "
        "to so many of them",
        "{n}, no more and no fewer",
        "every second one, and at least {n}",
    ),
    "paraphrase": (
        "Say the text in other words, about as long, with every fact, name, number and "
        "negation as it is. Say so much of it in other words",
        "{n} sentences",
        "all of it",
    ),
    "empty_sentences": (
        "Add sentences without any content after sentences of the text, such as one that says "
        "that all this is worth knowing: no fact, name, number or negation, and no remark to "
        "whoever reads your answer. The old sentences all stay as they are. Add so many",
        "{n}, no more and no fewer",
        "one after every second sentence, and at least {n}",
    ),
}

GENERAL_STEPS: Final = (
    "Read the text from beginning to end.",
    "Mark the places where the order can be carried out, and take as many as it says.",
    "Change these places, and copy all else letter by letter.",
    "Compare with the text that was given: nothing else may differ.",
)
"""How to go about a change where no model wrote steps for it."""

_TOLD = re.compile(r"([a-z ]+) \((?:(\d+)|(?:all|every (2)nd)(?:, at least (\d+))?)\): ")


def can_be_ordered(perturbation: Perturbation) -> bool:
    """Return whether a language model can make this perturbation."""
    return perturbation.kind in _ORDERS


def order_of(perturbation: Perturbation, amount: Amount) -> str:
    """Return what is to be done to a text, as ``name (how much): order``."""
    if not can_be_ordered(perturbation):
        raise InputError(
            f"no prompt exists for {perturbation}; kinds that a model can change are "
            f"{', '.join(_ORDERS)}.",
            hint="ask for it by rule.",
        )
    what, some, every = _ORDERS[perturbation.kind]
    how = some if isinstance(amount, int) else every
    n = amount if isinstance(amount, int) else amount.at_least
    return f"{perturbation.kind.replace('_', ' ')} ({amount}): {what}: {how.format(n=n)}."


def read_order(text: str) -> tuple[str, Amount] | None:
    """Return the kind and the amount that an order names; None if it is no order of these."""
    found = _TOLD.match(text)
    if found is None or (kind := found[1].replace(" ", "_")) not in _ORDERS:
        return None
    if found[2]:
        return kind, int(found[2])
    return kind, Every(step=int(found[3] or 1), at_least=int(found[4] or 1))


def no_use(text: str, perturbation: Perturbation, amount: Amount) -> str:
    """Return why a text cannot be perturbed in this way; empty if it can."""
    if len(text) > LONGEST:
        return f"longer than {LONGEST} characters"
    passage = Passage(text)
    if not passage.words:
        return "no word"
    least = amount if isinstance(amount, int) else amount.at_least
    if perturbation.kind in ("rewriting", "empty_sentences") and len(passage.sentences) < least:
        return fewer_than(least, "sentences")
    if perturbation.kind == "grammatical_errors" and len(passage.words) < 3 * least:
        return f"fewer than {3 * least} words"
    if perturbation.kind in ("fictional_entities", "paraphrase"):
        tokens = tokens_of(text)
        told = capitals_tell(tokens)
        if perturbation.kind == "paraphrase":
            return "" if told else "a text whose names cannot be told by capitals"
        places = {one for one in mentions(tokens) if told or is_number(tokens[one])}
        if _n_runs(tokens, places) < least:
            return fewer_than(least, "names and numbers", "name or number")
    return ""


def _n_runs(tokens: Sequence[Token], places: Collection[int]) -> int:
    """Return how many different runs of neighbouring words there are at some places."""
    runs: set[tuple[str, ...]] = set()
    run: list[str] = []
    for place, token in enumerate(tokens):
        if place in places:
            run.append(token.key)
        elif run:
            runs.add(tuple(run))
            run = []
    return len(runs | {tuple(run)} - {()})
