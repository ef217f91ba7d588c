"""What is written of judgements: rows, costs, and why there is no score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm import Usage


def knows_costs(lm: dspy.LM) -> bool:
    """Return whether it can be told what the judgements of a model cost."""
    from judgesmith.programs.lm import lm_client_of

    client = lm_client_of(lm)
    if client is None or client.price is None:
        return False
    return client.ledger is not None or client.price.usd(1, 1) == 0


def usd_of(judgements: Sequence[Judgement], lm: dspy.LM) -> tuple[float, ...]:
    """Return what each judgement costs in dollars, whether or not its answers were cached."""
    from judgesmith.programs.lm import lm_client_of

    client = lm_client_of(lm)
    if client is None or client.price is None or not knows_costs(lm):
        return ()
    if client.ledger is None or client.price.usd(1, 1) == 0:
        return (0.0,) * len(judgements)
    calls = dict.fromkeys(bytes.fromhex(call) for one in judgements for call in one.calls)
    usd = {}
    for call, answer in client.ledger.lookup_many(calls).items():
        tokens = (answer.input_tokens, answer.output_tokens)
        counted = None not in tokens
        usd[call.hex()] = client.price.usd(*map(int, tokens)) if counted else float("nan")  # type: ignore[arg-type]
    return tuple(sum(usd.get(call, float("nan")) for call in one.calls) for one in judgements)


def usage_of(*models: dspy.LM) -> Usage | None:
    """Return what went through several models together; None where one is not ours."""
    from judgesmith.programs.lm import lm_client_of

    clients = [lm_client_of(one) for one in models]
    parts = [one.usage for one in clients if one is not None]
    if len(parts) < len(models):
        return None
    return summed(parts)


def summed(parts: Sequence[Usage]) -> Usage:
    """Return what went through all together; a cost that is unknown once is unknown."""
    from judgesmith.programs.lm import Usage

    costs = [one.cost_usd for one in parts]
    counted = [one.name for one in fields(Usage) if one.name != "cost_usd"]
    return Usage(
        **{name: sum(getattr(one, name) for one in parts) for name in counted},
        cost_usd=None if None in costs else sum(one for one in costs if one is not None),
    )


def score_row(item: RatedItem, judgement: Judgement) -> dict[str, Any]:
    fields = {"score", "explanation", "criteria", "errors", "problem"}
    unsaid = ("reason", "weighting", "notes", "label", "probability")
    fields |= {name for name in unsaid if getattr(judgement, name)}
    # What its kind of judgement adds: the members of a panel, the interval of a calibrated judge.
    fields |= set(type(judgement).model_fields) - set(Judgement.model_fields)
    plain = judgement.model_dump(mode="json", include=fields)
    ids = {"source_id": item.source_id, "system_id": item.system_id, "key": item.key}
    return {**ids, **plain}
