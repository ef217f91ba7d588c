"""Whether what a model made of a text is what it was told to make, and nothing else.

Words are compared with words: which of them were exchanged, put in, left out. That an error is one
of grammar, that an invented name is a good one, or that a paraphrase means the same, nobody can
tell this way; what is checked is what would make a text another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from judgesmith.programs.perturbing.catalogue import Amount
from judgesmith.programs.perturbing.differences import (
    Difference,
    Incomparable,
    Token,
    differences,
    tokens_of,
)
from judgesmith.programs.perturbing.languages import is_foreign, language_of
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.sentence_checks import (
    Insertion,
    emptiness_fault,
    insertions,
    paraphrase_fault,
    restating_fault,
)
from judgesmith.programs.perturbing.word_checks import entity_fault, grammar_fault
from judgesmith.programs.perturbing.wrapping import spoken_around, unwrapped
from judgesmith.signatures.perturbation import Edit, Perturbation, Perturbed, edited

NOT_ANOTHER = "unchanged"
"""The fault of an answer that gives the text back."""


_SLACK = 20  # characters that short texts may differ by
_MOST_EVER, _LONG = 4, 1000  # lengths and characters of an answer with all that is around it


@dataclass(frozen=True, slots=True)
class _Bounds:
    """How long an answer may be, in lengths of the original, and characters beyond that."""

    least: float
    most: float
    beyond: int = _SLACK


_LENGTHS: Final[Mapping[str, _Bounds]] = MappingProxyType(
    {
        "fictional_entities": _Bounds(0.5, 2.0),
        "grammatical_errors": _Bounds(0.7, 1.3),
        "rewriting": _Bounds(1.0, 3.0, 60),
        "empty_sentences": _Bounds(1.0, 2.0, 200),
        "paraphrase": _Bounds(0.5, 2.0),
    }
)


def verified(
    answer: str, original: str, perturbation: Perturbation, amount: Amount
) -> Perturbed | str:
    """Return a changed text with its edits, or what is wrong with it.

    Parameters
    ----------
    answer : str
        What the model wrote. Fences, code blocks and quotation marks around all of it are taken
        off, and blanks are put back as they were.
    original : str
        The text it was given.
    perturbation : Perturbation
        What it was told to do; of a kind that ``order_of`` has words for.
    amount : int or Every
        How often.

    Returns
    -------
    Perturbed or str
        The text and its edits, which reproduce it; or a few words that are the same for all
        answers with the same fault.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.catalogue import PERTURBATIONS
    >>> minor = PERTURBATIONS["fictional_entities/minor"]
    >>> verified("Then Bob left Rome.", "Then Ann left Rome.", minor, 1).edits
    (Edit(start=5, end=8, text='Bob'),)
    >>> verified("Then Bob stayed in Rome.", "Then Ann left Rome.", minor, 1)
    'words changed that are no names or numbers'
    >>> verified("I'm sorry, I cannot help with that.", "Then Ann left Rome.", minor, 1)
    'a refusal'
    """
    if len(answer) > _MOST_EVER * len(original) + _LONG:
        return "too long"  # before anything is looked for in it
    text = unwrapped(answer, original)
    if not text:
        return "empty"
    if fault := spoken_around(text, original) or _length_fault(text, original, perturbation.kind):
        return fault
    tokens, other = tokens_of(original), tokens_of(text)
    if [token.key for token in tokens] == [token.key for token in other]:
        return NOT_ANOTHER
    try:
        if perturbation.kind in _INSERTING:
            return _with_insertions(text, original, tokens, other, perturbation.kind, amount)
        found = differences(tokens, other, text)
    except Incomparable as fault_:
        return str(fault_)
    edits = [one.edit for one in found]
    if fault := added_fault(edits, text, original):
        return fault
    fault = _REPLACING[perturbation.kind](tokens, other, found, original, amount)
    return fault or remade(original, edits, other)


def _with_insertions(
    text: str,
    original: str,
    tokens: Sequence[Token],
    other: Sequence[Token],
    kind: str,
    amount: Amount,
) -> Perturbed | str:
    found = insertions(original, tokens, text, other)
    if isinstance(found, str):
        return found
    edits = [one.edit for one in found]
    fault = added_fault(edits, text, original) or _INSERTING[kind](original, found, amount)
    return fault or remade(original, edits, other)


def remade(original: str, edits: Sequence[Edit], other: Sequence[Token]) -> Perturbed | str:
    """Return what edits make of a text, or why it is not the other one, word by word."""
    passage = Passage(original)
    if not all(passage.is_between(one.start) and passage.is_between(one.end) for one in edits):
        return "a character cut apart"
    changed = edited(original, edits)
    if [token.key for token in tokens_of(changed)] != [token.key for token in other]:
        return "words run together"
    return Perturbed(text=changed, edits=tuple(edits))


def _length_fault(text: str, original: str, kind: str) -> str:
    bounds, n = _LENGTHS[kind], len(original.strip())
    if len(text) > bounds.most * n + bounds.beyond:
        return "too long"
    return "too short" if len(text) < bounds.least * n - _SLACK else ""


def added_fault(edits: Sequence[Edit], text: str, original: str) -> str:
    """Return what is wrong with what was added, whatever was asked for."""
    added = " ".join(one.text for one in edits)
    if is_foreign(added, original):
        return "another script"
    was, said = (language_of(_words(one)) for one in (original, text))
    if was and said and was != said:
        return "another language"
    put_in = language_of(_words(added))
    return "another language" if was and put_in and was != put_in else ""


def _words(text: str) -> list[str]:
    return [token.key.casefold() for token in tokens_of(text) if token.is_word]


_Replacing = Callable[[Sequence[Token], Sequence[Token], Sequence[Difference], str, Amount], str]
_Inserting = Callable[[str, Sequence[Insertion], Amount], str]

_REPLACING: Final[Mapping[str, _Replacing]] = MappingProxyType(
    {
        "fictional_entities": entity_fault,
        "grammatical_errors": grammar_fault,
        "paraphrase": paraphrase_fault,
    }
)
_INSERTING: Final[Mapping[str, _Inserting]] = MappingProxyType(
    {"rewriting": restating_fault, "empty_sentences": emptiness_fault}
)
