"""Whether only names and numbers were exchanged, or only grammar was broken, and how often."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from judgesmith.programs.perturbing.catalogue import Amount, wanted
from judgesmith.programs.perturbing.differences import Difference, Token
from judgesmith.programs.perturbing.languages import FUNCTION_WORDS, language_of
from judgesmith.programs.perturbing.mentions import (
    capitals_tell,
    is_capital,
    is_number,
    mentions,
    names_number,
    negations_in,
    numbers_in,
    plain,
)
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.wrong_forms import WRONG_FORMS

# Words inside names, such as Bank of Rome.
_INSIDE = frozenset(["of", "the", "de", "del", "di", "du", "la", "le", "van", "von", "-", "&"])
_NAME_MARKS = frozenset("-'.,&:/")
_MOST_LEFT = 1 / 3  # of the names and numbers, where all are to be replaced
_SHORT = 4  # letters of a word that carries little meaning, in languages that are not known
_ALIKE = 0.5
_MOST_WORDS = 3  # exchanged in one place by an error of grammar
_MOST_PUT_IN = 2  # where nothing was taken away
_MOST_CHANGED = 0.4  # of all words, by errors of grammar


def entity_fault(
    tokens: Sequence[Token],
    other: Sequence[Token],
    found: Sequence[Difference],
    original: str,
    amount: Amount,
) -> str:
    """Return what is wrong with names and numbers that were replaced by invented ones.

    Parameters
    ----------
    tokens, other : sequence of Token
        The original and the answer in parts.
    found : sequence of Difference
        Where they differ.
    original : str
        The text that was given.
    amount : int or Every
        How many are to be replaced; the same one in several places counts once.
    """
    told = capitals_tell(tokens)
    named = {one for one in mentions(tokens) if told or is_number(tokens[one])}
    known = {token.key for token in tokens}
    replaced: list[set[str]] = []
    most = 0
    for one in found:
        removed = [tokens[place] for place in one.removed]
        added = [other[place] for place in one.added]
        if [plain(token) for token in removed + added] in (["a", "an"], ["an", "a"]):
            continue  # as the invented name begins with another sound
        is_named = [place in named or names_number(tokens[place]) for place in one.removed]
        if not any(is_named) or not all(map(_may_go, removed, is_named)):
            return "words changed that are no names or numbers"
        new = [token for token in added if is_capital(token) or names_number(token) or not told]
        if not new or not all(token in new or _joins(token) for token in added):
            return "a name or number that was not replaced by one"
        if all(token.key in known for token in new):
            return "a name or number that stands in the text already"
        gone = [token for token, is_one in zip(removed, is_named, strict=True) if is_one]
        replaced.append({plain(token) for token in gone})
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
    """Return what is wrong with a number of changes that can be counted in several ways."""
    if fewest > amount:
        return "more changes than asked for"
    return "fewer changes than asked for" if most < amount else ""


def _may_go(token: Token, is_named: bool) -> bool:
    return is_named or _joins(token)


def _joins(token: Token) -> bool:
    """Say whether a word or mark may stand inside a name, such as 'of' or a hyphen."""
    return plain(token) in _INSIDE or token.key in _NAME_MARKS or plain(token) in ("a", "an")


def _n_apart(several: Sequence[set[str]]) -> int:
    """Return how many groups there are of sets that share a word with another of the group."""
    groups: list[set[str]] = []
    for one in several:
        joined = [group for group in groups if group & one]
        groups = [group for group in groups if not group & one]
        groups.append(one.union(*joined))
    return len(groups)


def _n_joined(tokens: Sequence[Token], found: Sequence[Difference]) -> int:
    """Return how often two exchanges are apart by small words of one name, as in Bank of Rome."""
    return sum(
        all(plain(token) in _INSIDE for token in tokens[one.removed.stop : other.removed.start])
        for one, other in pairwise(found)
        if one.removed and other.removed
    )


def grammar_fault(
    tokens: Sequence[Token],
    other: Sequence[Token],
    found: Sequence[Difference],
    original: str,
    amount: Amount,
) -> str:
    """Return what is wrong with a text that was to get errors of grammar; see ``entity_fault``.

    A word that stands elsewhere than before counts as one error. Where neighbouring words were
    exchanged, it cannot be told whether that is one error or several: either number will do.
    """
    if fault := kept_fault(tokens, other):
        return fault
    known = {plain(token) for token in tokens}
    parts = [_Exchange.of(one, tokens, other) for one in found]
    is_formal = _Formal(tokens)
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
    sentences = Passage(original).sentences
    n = wanted(amount, len(sentences))
    all_of_them = not isinstance(amount, int)
    most = sum(max(len(one.old), len(one.new)) for one in parts)
    if most < n or (all_of_them and _untouched(original, tokens, found)):
        return "fewer changes than asked for"
    fewest = len(parts) - len(put_in & left_out)
    n_changed = sum(len(one.old) + len(one.new) for one in parts) / 2
    n_words = sum(token.is_word for token in tokens)
    many = fewest > (2 * n if all_of_them else n) or n_changed > _MOST_CHANGED * n_words + 1
    return "more changes than asked for" if many else ""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What was said in one place and what is said now, without capitals."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    of_words: bool

    @classmethod
    def of(cls, one: Difference, tokens: Sequence[Token], other: Sequence[Token]) -> _Exchange:
        """Return it for one difference."""
        removed, added = tokens[_slice(one.removed)], other[_slice(one.added)]
        old, new = (tuple(map(plain, part)) for part in (removed, added))
        return cls(old, new, all(token.is_word for token in (*removed, *added)))


def _slice(places: range) -> slice:
    return slice(places.start, places.stop)


def kept_fault(tokens: Sequence[Token], other: Sequence[Token]) -> str:
    """Return whether a name, a number or a negation of a text was lost, or one has come in."""
    if numbers_in(tokens) != numbers_in(other):
        return "a number lost or added"
    if negations_in(tokens) != negations_in(other):
        return "a negation lost or added"
    if capitals_tell(tokens):
        names = {plain(tokens[place]) for place in mentions(tokens, sure=True)}
        said = {plain(token) for token in other}
        if any(name not in said for name in names if not name[0].isdigit()):
            return "a name lost"
        known = {plain(token) for token in tokens}
        new = {plain(other[place]) for place in mentions(other, sure=True)} - known
        if any(not name[0].isdigit() for name in new):
            return "a name added"
    return ""


class _Formal:
    """Tells words that carry little meaning, and forms of one word, in the language of a text."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        language = language_of(plain(token) for token in tokens if token.is_word)
        self._small = FUNCTION_WORDS[language] if language else None

    def __call__(self, word: str, others: Sequence[str]) -> bool:
        """Say whether a word carries little meaning, or one of others may be a form of it."""
        small = len(word) <= _SHORT if self._small is None else word in self._small
        return small or any(_is_form(word, one) for one in others)


def _is_form(word: str, other: str) -> bool:
    """Say whether two words may be forms of one: nearly all that are begin with one letter."""
    if WRONG_FORMS.get(word) == other:
        return True
    alike = SequenceMatcher(None, word, other, autojunk=False).ratio() >= _ALIKE
    return alike and word[:1] == other[:1]


def _untouched(original: str, tokens: Sequence[Token], found: Sequence[Difference]) -> bool:
    """Say whether a sentence of some words was left as it is."""
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
