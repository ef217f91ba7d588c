"""What it takes that saved judges judge items, such as a panel's, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.experiments.estimating import (
    ATTEMPTS_TO_READ,
    CHARACTERS_PER_TOKEN,
    TOKENS_PER_EXPLAINED_SCORE,
    RunEstimate,
)
from judgesmith.experiments.panel_rows import PanelParts
from judgesmith.programs.asking import calls_per_item
from judgesmith.programs.saved_kinds import AnySaved, SavedHolder
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.saved import SavedJudge


def estimate_panel(
    members: Mapping[str, AnySaved], parts: PanelParts, lms: Mapping[str, dspy.LM], lm: dspy.LM
) -> RunEstimate:
    """Return what ``learn_panel`` asks: every member, of every row.

    Parameters
    ----------
    members : dict of str to saved judge
        By name.
    parts : PanelParts
        The rows.
    lms : dict of str to dspy.LM
        By the name of the model that members were made with.
    lm : dspy.LM
        For members of other models.
    """
    held = () if parts.heldout is None else parts.heldout.items
    return estimate_judging(members.values(), (*parts.selection.items, *held), lms, lm)


def estimate_judging(
    judges: Iterable[AnySaved],
    items: Sequence[RatedItem],
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
) -> RunEstimate:
    """Return what it takes that every judge judges every item; see ``estimate_panel``."""
    from judgesmith.programs.models import stack_of

    texts = sum(len(one.source) + len(one.context or "") + len(one.response) for one in items)
    calls = n_in = n_out = 0
    cost: float | None = 0.0
    for judge in (leaf for one in judges for leaf in _leaves(one)):
        per_item = calls_per_item(judge)
        questions = list(judge.questions.values())
        fixed = sum(len(one.as_text()) for one in questions)
        per_question = per_item / max(len(questions), 1)
        characters = per_question * (len(items) * fixed + len(questions) * texts)
        said = round(characters / CHARACTERS_PER_TOKEN)
        n_scores = sum(
            len(judge.protocol.rubric.criteria) if "assessments" in one.outputs else 1
            for one in questions
        )
        answered = round(per_question * len(items) * n_scores * TOKENS_PER_EXPLAINED_SCORE)
        stack = stack_of(lms.get(judge.model, lm))
        price = None if stack is None else stack.price
        cost = None if cost is None or price is None else cost + price.usd(said, answered)
        calls += per_item * len(items)
        n_in, n_out = n_in + said, n_out + answered
    return RunEstimate(
        calls=calls,
        max_calls=ATTEMPTS_TO_READ * calls,
        input_tokens=n_in,
        output_tokens=n_out,
        cost_usd=cost,
    )


def _leaves(judge: AnySaved) -> Iterator[SavedJudge]:
    """Yield the saved judges that ask a model themselves."""
    if not isinstance(judge, SavedHolder):
        yield judge
        return
    for name in judge.asked:
        member = judge.members[name]
        yield from _leaves(member)  # type: ignore[arg-type]
