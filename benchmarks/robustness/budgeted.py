"""One run under a ceiling, in a process of its own: what ``budgets`` starts, stops and restarts.

    python -m benchmarks.robustness.budgeted LEDGER URL N_ITEMS MAX_TOKENS CEILING VALUE

``MAX_TOKENS`` is the ceiling of one answer (0 for none), ``CEILING`` one of ``max_calls``,
``max_tokens``, ``max_usd`` and ``max_minutes``. Prints one JSON object.
"""

import json
import sys

from judgesmith import ActiveCritic, RatedItem, iter_scores, model
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.programs.lm import lm_client_of

PRICE = (1000.0, 4000.0)


def main(ledger: str, url: str, n_items: str, max_tokens: str, ceiling: str, value: str) -> None:
    """Judge as many items as the ceiling lets through."""
    ceilings = {ceiling: int(value) if ceiling in ("max_calls", "max_tokens") else float(value)}
    lm = model("openai/m", api_base=url, ledger=ledger, run_id="run", price=PRICE, **ceilings)
    judge = ActiveCritic(variant="vanilla", max_tokens=int(max_tokens) or None)
    items = (RatedItem(source="Judge it.", response=f"item-{n} 文") for n in range(int(n_items)))
    judged = [judgement for _, judgement in iter_scores(judge, items, lm=lm, concurrency=32)]
    unasked = [one for one in judged if was_not_asked(one)]
    stack = lm_client_of(lm)
    told = {
        "scored": sum(one.score is not None for one in judged),
        "unasked": len(unasked),
        "other": len(judged) - len(unasked) - sum(one.score is not None for one in judged),
        "calls": stack.usage.calls,
        "spent": [getattr(stack.spent, one) for one in ("calls", "tokens", "usd", "minutes")],
        "on_record": stack.ledger.query("SELECT count(*) FROM answers")[0][0],
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
