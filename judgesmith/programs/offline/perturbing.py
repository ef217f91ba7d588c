"""How the offline model changes texts: by the rules for the kind that the order names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.reader import Fields, Question
from judgesmith.programs.perturbing.catalogue import PERTURBATIONS
from judgesmith.programs.perturbing.orders import GENERAL_STEPS, read_order
from judgesmith.programs.perturbing.perturbing import perturb
from judgesmith.signatures.perturbation import Perturbed
from judgesmith.signatures.rated import RatedItem

_BY_KIND = {one.kind: one for one in PERTURBATIONS.values()}


@answers_signature(inputs="change", outputs="steps")
def _plan(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteChangeSteps``: the same steps for every change."""
    return {"steps": ["\n".join(GENERAL_STEPS)]}


@answers_signature(inputs="change text", outputs="changed", optional="steps refused")
def _change(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``ChangeText``: by rule, or with the text as it is where no rule can change it."""
    text = fields["text"] or ""
    order = read_order(fields["change"] or "")
    if order is not None and (perturbation := _BY_KIND.get(order[0])) is not None:
        again = hashlib.blake2b((fields.get("refused") or "").encode(), digest_size=4).digest()
        found = perturb(
            RatedItem(response=text),
            perturbation,
            amount=order[1],
            seed=int.from_bytes(again),
        )
        if isinstance(found, Perturbed):
            text = found.text
    return {"changed": [text]}
