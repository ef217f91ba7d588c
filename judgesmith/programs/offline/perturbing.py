"""How the offline model changes texts: by the rules for the kind that the order names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.reader import Fields, Question

# The rules are imported by whoever asks for them: no judge does, and they take a while.


@answers_signature(inputs="change", outputs="steps")
def _plan(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteChangeSteps``: the same steps for every change."""
    from judgesmith.programs.perturbing.orders import GENERAL_STEPS

    return {"steps": ["\n".join(GENERAL_STEPS)]}


@answers_signature(inputs="change text", outputs="changed", optional="steps refused")
def _change(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``ChangeText``."""
    refused = (fields.get("refused") or "").encode()
    seed = int.from_bytes(hashlib.blake2b(refused, digest_size=4).digest())
    return {"changed": [text_changed(fields["text"] or "", fields["change"] or "", seed=seed)]}


def text_changed(text: str, order: str, *, seed: int) -> str:
    """Return a text changed by rule as an order says, or as it is where no rule can change it.

    Parameters
    ----------
    text : str
        The text.
    order : str
        As ``order_of`` words it.
    seed : int
        Of what the rule draws: another one for another attempt.

    Examples
    --------
    >>> from judgesmith.programs.perturbing import PERTURBATIONS
    >>> from judgesmith.programs.perturbing.orders import order_of
    >>> text_changed("They were late.", order_of(PERTURBATIONS["grammatical_errors"], 1), seed=1)
    'They was late.'
    >>> text_changed("They were late.", "Sing it.", seed=1)
    'They were late.'
    """
    from judgesmith.programs.perturbing.catalogue import PERTURBATIONS
    from judgesmith.programs.perturbing.orders import read_order
    from judgesmith.programs.perturbing.perturbing import perturb
    from judgesmith.signatures.perturbation import Perturbed
    from judgesmith.signatures.rated import RatedItem

    kind, amount = read_order(order) or ("", 1)
    ways = [one for one in PERTURBATIONS.values() if one.kind == kind]
    if not ways:
        return text
    found = perturb(RatedItem(response=text), ways[0], amount=amount, seed=seed)
    return found.text if isinstance(found, Perturbed) else text
