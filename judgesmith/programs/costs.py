"""What a judgement costs: the tokens of the answers behind it, at the prices in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.models import Usage


def knows_costs(lm: dspy.LM) -> bool:
    """Say whether it can be told what the judgements of a model cost.

    That takes a price and, where it is not 0, a ledger, which remembers how long answers were.

    Examples
    --------
    >>> from judgesmith.programs.models import model
    >>> knows_costs(model("offline", ledger=None)), knows_costs(object())
    (True, False)
    >>> knows_costs(model("openai/m", ledger=None, price=(1, 2)))
    False
    """
    from judgesmith.programs.models import stack_of

    stack = stack_of(lm)
    if stack is None or stack.price is None:
        return False
    return stack.ledger is not None or stack.price.usd(1, 1) == 0


def usd_of(judgements: Sequence[Judgement], lm: dspy.LM) -> tuple[float, ...]:
    """Return what each judgement costs in dollars, whether or not its answers were on record.

    Every call counts as often as it stands behind a judgement. Tokens that a server did not count
    are nan, and so is what they cost.

    Parameters
    ----------
    judgements : sequence of Judgement
        By judges that asked ``lm``.
    lm : dspy.LM
        The model.

    Returns
    -------
    tuple of float
        One per judgement; none at all where nobody knows (see ``knows_costs``).
    """
    from judgesmith.programs.models import stack_of

    stack = stack_of(lm)
    if stack is None or stack.price is None or not knows_costs(lm):
        return ()
    if stack.ledger is None or stack.price.usd(1, 1) == 0:
        return (0.0,) * len(judgements)
    calls = dict.fromkeys(bytes.fromhex(call) for one in judgements for call in one.calls)
    usd = {}
    for call, answer in stack.ledger.lookup_many(calls).items():
        tokens = (answer.input_tokens, answer.output_tokens)
        counted = None not in tokens
        usd[call.hex()] = stack.price.usd(*map(int, tokens)) if counted else float("nan")  # type: ignore[arg-type]
    return tuple(sum(usd.get(call, float("nan")) for call in one.calls) for one in judgements)


def usage_of(*models: dspy.LM) -> Usage | None:
    """Return what went through several models together; None where one is not ours.

    Examples
    --------
    >>> from judgesmith.programs.models import model
    >>> usage_of(model("offline", ledger=None), model("offline", ledger=None)).calls
    0
    """
    from judgesmith.programs.models import stack_of

    stacks = [stack_of(one) for one in models]
    parts = [one.usage for one in stacks if one is not None]
    if len(parts) < len(models):
        return None
    return summed(parts)


def summed(parts: Sequence[Usage]) -> Usage:
    """Return what went through all together; a cost that is unknown once is unknown.

    Examples
    --------
    >>> from judgesmith.programs.models import Usage
    >>> summed([Usage(calls=1, cost_usd=0.5), Usage(calls=2, cost_usd=None)]).calls
    3
    """
    from judgesmith.programs.models import Usage

    costs = [one.cost_usd for one in parts]
    return Usage(
        calls=sum(one.calls for one in parts),
        hits=sum(one.hits for one in parts),
        input_tokens=sum(one.input_tokens for one in parts),
        output_tokens=sum(one.output_tokens for one in parts),
        cost_usd=None if None in costs else sum(one for one in costs if one is not None),
        retries=sum(one.retries for one in parts),
        seconds=sum(one.seconds for one in parts),
    )
