"""Whether new sentences stand after old ones that stayed, and say what they are to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from judgesmith.programs.features.words import Text
from judgesmith.programs.perturbing.catalogue import Amount, wanted
from judgesmith.programs.perturbing.differences import Difference, Token, tokens_of
from judgesmith.programs.perturbing.mentions import (
    capitals_tell,
    is_number,
    mentions,
    negations_in,
    numbers_in,
    plain,
)
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.word_checks import kept_fault
from judgesmith.signatures.perturbation import Edit

_LEAST_SHARED = 0.2  # of the content words of a sentence that is said again
_LEAST_KEPT = 0.15  # of the content words of a text in other words
_LEAST_OTHER = 0.1  # of the words of a text in other words
_LEAST_NEW = 2  # words of a sentence said again that it does not share in this order
_LENGTHS = (0.35, 2.5)  # of a sentence said again, in lengths of the sentence
_MOST_EMPTY_WORDS = 30
_MOST_SENTENCES = 2  # that one sentence is said again in


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """What was put in after a sentence.

    Attributes
    ----------
    after : int
        Number of the sentence, from 0.
    text : str
        What was put in, without the blanks around it.
    edit : Edit
        The same in characters of the original.
    """

    after: int
    text: str
    edit: Edit


def insertions(
    original: str, tokens: Sequence[Token], text: str, other: Sequence[Token]
) -> list[Insertion] | str:
    """Return what a text has between and after the sentences of an original that all stayed.

    Parameters
    ----------
    original, text : str
        Both texts.
    tokens, other : sequence of Token
        The same in parts.

    Returns
    -------
    list of Insertion or str
        In order; or why it is not the original with something put in after its sentences.

    Examples
    --------
    >>> old, new = "Ann left. Bob ran.", "Ann left. She went away. Bob ran."
    >>> insertions(old, tokens_of(old), new, tokens_of(new))[0].text
    'She went away.'
    >>> insertions(old, tokens_of(old), "Ann left.", tokens_of("Ann left."))
    'a sentence of the text changed or lost'
    """
    ends = [end for _, end in Passage(original).sentences]
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
            found.append(_insertion(number - 1, tokens[first - 1].end, text, other, at, place))
        at, first = place + len(sentence), last
    if at < len(other):
        found.append(_insertion(len(ends) - 1, tokens[-1].end, text, other, at, len(other)))
    return found


def _place_of(sentence: Sequence[str], keys: Sequence[str], at: int) -> int | None:
    """Return where a sentence stands next, from a place on."""
    n = len(sentence)
    for place in range(at, len(keys) - n + 1):
        if keys[place] == sentence[0] and keys[place : place + n] == sentence:
            return place
    return None


def _insertion(
    after: int, place: int, text: str, other: Sequence[Token], first: int, stop: int
) -> Insertion:
    said = text[other[first].start : other[stop - 1].end]
    gap = text[other[first - 1].end : other[first].start]
    return Insertion(after=after, text=said, edit=Edit(start=place, end=place, text=gap + said))


def restating_fault(original: str, found: Sequence[Insertion], amount: Amount) -> str:
    """Return what is wrong with sentences that are to say those before them again."""
    passage = Passage(original)
    known = {plain(token) for token in tokens_of(original)}
    for one in found:
        sentence = passage.shown(passage.sentences[one.after])
        if fault := _restated_fault(one.text, sentence, known):
            return fault
    return _number_fault(len(found), amount, len(passage.sentences))


def _restated_fault(said: str, sentence: str, known: set[str]) -> str:
    old, new = tokens_of(sentence), tokens_of(said)
    least, most = _LENGTHS
    n_sentences = len(Passage(said).sentences)
    if not least * len(sentence) - 20 <= len(said) <= most * len(sentence) + 20:
        return "a new sentence much longer or shorter than the one it repeats"
    if not 1 <= n_sentences <= _MOST_SENTENCES:
        return "more than a sentence put in"
    if not numbers_in(new).keys() <= numbers_in(old).keys():
        return "a number lost or added"
    if negations_in(new) != negations_in(old):
        return "a negation lost or added"
    names = {plain(new[place]) for place in mentions(new, sure=True) if not is_number(new[place])}
    if capitals_tell(new) and names - known:
        return "a name added"
    was, now = ([plain(token) for token in part if token.is_word] for part in (old, new))
    matcher = SequenceMatcher(None, was, now, autojunk=False)
    n_shared = sum(block.size for block in matcher.get_matching_blocks())
    if max(len(was), len(now)) - n_shared < _LEAST_NEW:
        return "a sentence repeated word for word"
    return (
        ""
        if _shares(said, sentence, _LEAST_SHARED)
        else "a sentence put in that says something else"
    )


def _shares(said: str, original: str, least: float) -> bool:
    """Say whether a text has enough of the content words of another, or that has none."""
    stems, others = Text(original).stem_counts, Text(said).stem_counts
    n = len(stems)
    return n == 0 or sum(stem in others for stem in stems) >= least * n


def emptiness_fault(original: str, found: Sequence[Insertion], amount: Amount) -> str:
    """Return what is wrong with sentences that are to say nothing."""
    passage = Passage(original)
    known = {plain(token) for token in tokens_of(original)}
    for one in found:
        said = tokens_of(one.text)
        if sum(token.is_word for token in said) > _MOST_EMPTY_WORDS:
            return "a new sentence too long to say nothing"
        if numbers_in(said) or negations_in(said):
            return "a number or a negation put in"
        if any(plain(said[place]) not in known for place in mentions(said, sure=True)):
            return "a name added"
        if one.text.casefold() in original.casefold():
            return "a sentence repeated word for word"
    return _number_fault(len(found), amount, len(passage.sentences))


def _number_fault(n: int, amount: Amount, n_sentences: int) -> str:
    n_wanted = wanted(amount, n_sentences)
    if isinstance(amount, int):
        return (
            "" if n == n_wanted else f"{'fewer' if n < n_wanted else 'more'} changes than asked for"
        )
    # A model may begin to count at the second sentence.
    least = max(min(n_wanted, n_sentences // amount.step), amount.at_least)
    return "fewer changes than asked for" if n < least else ""


def paraphrase_fault(
    tokens: Sequence[Token],
    other: Sequence[Token],
    found: Sequence[Difference],
    original: str,
    amount: Amount,
) -> str:
    """Return what is wrong with a text that is to say the same in other words."""
    if fault := kept_fault(tokens, other):
        return fault
    said = " ".join(token.text for token in other)
    if not _shares(said, original, _LEAST_KEPT):
        return "a text that says something else"
    was, now = (
        Counter(plain(token) for token in part if token.is_word) for part in (tokens, other)
    )
    if sum(n for word, n in now.items() if word not in was) < _LEAST_OTHER * now.total():
        return "hardly any other words"
    if tokens and not tokens[-1].is_word and other[-1].is_word:
        return "a text that breaks off"
    return ""
