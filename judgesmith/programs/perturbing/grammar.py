"""Faults of grammar: agreement, articles, tense, pronouns, word order."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn_order, too_few
from judgesmith.programs.perturbing.catalogue import Every
from judgesmith.programs.perturbing.languages import word_set
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.programs.perturbing.wrong_forms import wrong_form

# Articles and prepositions, which stand before what they belong to.
_BEFORE = MappingProxyType(
    {
        "English": word_set("the a an of to in for at by with from into my your his its our"),
        "German": word_set(
            "der die das den dem des ein eine einen einem einer mit von zu im am für bei"
        ),
        "French": word_set("le la les un une des du de dans pour sur avec au aux"),
        "Spanish": word_set("el la los las un una de del en por con para al su sus"),
        "Italian": word_set("il lo la gli un una di del della dei in per con al alla da"),
        "Portuguese": word_set("o os um uma de do da dos das em no na por com para ao"),
        "Dutch": word_set("de het een van in op te met voor aan bij"),
    }
)


def grammatical_errors(case: Case) -> Found:
    """Make k faults in words drawn at random, or one in every sentence and more as needed.

    Notes
    -----
    A fault is a wrong form of a common English word, a missing article, a participle in place of
    a past tense, or two words that change places. The last is possible in any script and tried
    where nothing else is, so other languages get faults of word order alone.
    """
    passage = case.passage
    sentences = passage.sentences
    if isinstance(case.amount, Every):
        k = max(-(-len(sentences) // case.amount.step), case.amount.at_least)
        parts = [passage.words_of(sentence) for sentence in sentences[:: case.amount.step]]
    else:
        k, parts = case.amount, []
    changes: list[Change] = []
    used: set[Span] = set()
    for part in parts:
        _add(changes, used, part, case, n=1)
    _add(changes, used, passage.words, case, n=k - len(changes))
    if len(changes) == k:
        return changes
    return too_few(k, "places for faults of grammar", "place for a fault of grammar")


def _add(changes: list[Change], used: set[Span], words: list[Span], case: Case, *, n: int) -> None:
    """Add ``n`` faults in some words, or as many as there are, at words not used before.

    Faults of form come first, then words that others have to follow: of any two words that change
    places nobody may notice.
    """
    passage = case.passage
    faults = [wrong_form] if passage.may_be_english else []
    for fault in (*faults, _small_word_late, _order):
        for place in drawn_order(len(words), case.rng):
            if n <= 0:
                return
            touched = words[place : place + 1 if fault is wrong_form else place + 2]
            if not used.isdisjoint(touched):
                continue
            change = fault(passage, words, place)
            if change is not None:
                changes.append(change)
                used.update(touched)
                n -= 1


def _small_word_late(passage: Passage, words: Sequence[Span], place: int) -> Change | None:
    """Return what puts an article or a preposition after the word that it belongs before."""
    small = _BEFORE.get(passage.language or "English", frozenset())
    return _order(passage, words, place) if passage.small(words[place]) in small else None


def _order(passage: Passage, words: Sequence[Span], place: int) -> Change | None:
    """Return what lets two words change places that have at most a blank between them.

    Of names and numbers nobody knows in which order they were.
    """
    if place + 1 >= len(words):
        return None
    (start, middle), (after, end) = words[place], words[place + 1]
    between = passage.text[middle:after]
    one, two = passage.text[start:middle], passage.text[after:end]
    if between not in ("", " ") or one == two or (_is_fixed(one) and _is_fixed(two)):
        return None
    return (start, end, two + between + one)


def _is_fixed(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()
