"""Perturbation of one text by rule, deterministic for a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import Final

from judgesmith.errors import InputError
from judgesmith.programs.perturbing import damage, grammar
from judgesmith.programs.perturbing.catalogue import Amount, Case, Donors, Every, Found, amount_of
from judgesmith.programs.perturbing.damage import whole_characters
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Edit, Perturbation, Perturbed, Skipped, edited

Rule = Callable[[Case], Found]

RULES: Final[Mapping[str, Rule]] = {
    "character_deletions": damage.character_deletions,
    "character_typos": damage.character_typos,
    "case_loss": damage.case_loss,
    "punctuation_loss": damage.punctuation_loss,
    "word_deletions": damage.word_deletions,
    "fictional_entities": grammar.fictional_entities,
    "grammatical_errors": grammar.grammatical_errors,
    "negation": damage.negation,
    "number_swap": damage.number_swap,
    "number_change": grammar.number_change,
    "name_swap": grammar.name_swap,
    "reordering": damage.reordering,
    "rewriting": damage.rewriting,
    "random_ending": damage.another_text,
    "wrong_ending": damage.wrong_ending,
    "random_answer": damage.another_text,
    "random_response": damage.another_text,
    "key_sentence_omission": damage.key_sentence_omission,
    "unsupported_addition": damage.unsupported_addition,
    "repetition": damage.repetition,
    "truncation": damage.truncation,
    "paraphrase": damage.paraphrase,
    "padding": damage.padding,
    "empty_sentences": damage.empty_sentences,
}
"""What changes a text, by kind; also for kinds that a model is better at."""

# One text is changed in many ways, one after the other.
_passage = lru_cache(maxsize=2)(Passage)


def perturb(
    item: RatedItem,
    perturbation: Perturbation,
    *,
    amount: Amount | None = None,
    donors: Donors | None = None,
    seed: int,
) -> Perturbed | Skipped:
    """Return an item's response changed by rule, or why it cannot be changed in this way.

    Parameters
    ----------
    item : RatedItem
        Whose response is changed. Its ratings are not read.
    perturbation : Perturbation
        What is done. The kinds whose method is ``model`` are done by rule as well: this is what
        the offline model answers.
    amount : int, Every or None
        How many places are changed; None for what ``amount_of`` says in general.
    donors : Donors or None
        Texts of other sources, for the kinds that put one in.
    seed : int
        Of the draws, with the item's texts and the perturbation's name. What is drawn for one
        item does not depend on any other, except on which donors there are.

    Returns
    -------
    Perturbed or Skipped
        A text that differs from the original, and the edits that make it one; or the reason, in
        words that are the same for all texts that lack the same.

    Raises
    ------
    ValueError
        If no rule is known for the kind, or ``amount`` is below 1.

    Examples
    --------
    >>> from judgesmith.programs.perturbing.catalogue import PERTURBATIONS
    >>> item = RatedItem(source="a report", response="The bridge opened on Monday. It is long.")
    >>> found = perturb(item, PERTURBATIONS["reordering/minor"], seed=0)
    >>> found.text
    'It is long. The bridge opened on Monday.'
    >>> perturb(item, PERTURBATIONS["reordering/major"], seed=0)
    Skipped(reason='fewer than 3 sentences')
    """
    rule = RULES.get(perturbation.kind)
    if rule is None:
        raise InputError(
            f"there is no rule for the kind {perturbation.kind!r}.",
            hint=f"give one of {', '.join(RULES)}.",
        )
    wanted = amount_of(perturbation) if amount is None else amount
    if not isinstance(wanted, Every) and wanted < 1:
        raise InputError(f"amount must be at least 1; got {wanted}.")
    text = item.response
    case = Case(
        item=item,
        passage=_passage(text),
        amount=wanted,
        rng=_generator(seed, item, perturbation),
        donors=donors,
    )
    found = rule(case)
    if isinstance(found, Skipped):
        return found
    changes = whole_characters(sorted(found), case.passage)
    edits = tuple(Edit(start=start, end=end, text=put) for start, end, put in changes)
    changed = edited(text, edits)
    if changed == text:
        return Skipped(reason="the change did not alter the text")
    if not any(sign.isalnum() for sign in changed):
        return Skipped(reason="no word would be left")
    return Perturbed(text=changed, edits=edits)


def _generator(seed: int, item: RatedItem, perturbation: Perturbation) -> Random:
    state = hashlib.blake2b(f"{seed} {perturbation.name} {item.key}".encode(), digest_size=16)
    return Random(int.from_bytes(state.digest()))
