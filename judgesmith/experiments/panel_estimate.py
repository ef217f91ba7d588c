"""What it takes that saved judges judge items, such as a panel's, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.experiments.estimating import RunEstimate
from judgesmith.experiments.judging_estimate import (
    CHARACTERS_PER_TOKEN,
    JudgingEffort,
    Lengths,
    judging_effort,
    sizes_of,
)
from judgesmith.experiments.panel_rows import PanelParts
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

    total = JudgingEffort()
    n_in = n_out = 0
    cost: float | None = 0.0
    for judge in (leaf for one in judges for leaf in _leaves(one)):
        if not items:
            break
        effort = judging_effort(judge.protocol, judge.questions, sizes_of(items), Lengths.of(items))
        said = round(effort.characters / CHARACTERS_PER_TOKEN)
        answered = round(effort.answered)
        stack = stack_of(lms.get(judge.model, lm))
        price = None if stack is None else stack.price
        cost = None if cost is None or price is None else cost + price.usd(said, answered)
        total += effort
        n_in, n_out = n_in + said, n_out + answered
    calls, usual, unlisted = map(math.ceil, (total.calls, total.usual, total.unlisted))
    return RunEstimate(
        calls=calls,
        max_calls=math.ceil(total.most),
        input_tokens=n_in,
        output_tokens=n_out,
        cost_usd=cost,
        expected_calls=usual if usual < calls else None,
        calls_without_probabilities=unlisted if unlisted > calls else None,
    )


def _leaves(judge: AnySaved) -> Iterator[SavedJudge]:
    """Yield the saved judges that ask a model themselves."""
    if not isinstance(judge, SavedHolder):
        yield judge
        return
    for name in judge.asked:
        member = judge.members[name]
        yield from _leaves(member)  # type: ignore[arg-type]
