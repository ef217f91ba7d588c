"""``--dry-run``: what a command would ask and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.shared.printing import counted, print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dspy

    from judgesmith.experiments.estimates import RunEstimate
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import Usage
    from judgesmith.signatures.items import RatedItem


def print_estimate(
    estimate: RunEstimate, *, as_json: bool, searched: bool = False, **n_judged: int
) -> None:
    """Say what a run would ask and cost; ``searched`` where it searches the protocol.

    ``n_judged`` is how many things are judged, by what they are called: ``rows=9``.
    """
    if as_json:
        print_json({**estimate.to_dict(), **n_judged})
        return
    for what, n in n_judged.items():
        say(f"{counted(n, what.removesuffix('s'))} to judge:")
    if not estimate.max_calls:
        say("No model is asked: the scores are on file.")
        return
    if estimate.expected_calls is not None:
        why = ", as most candidates are dropped early" * searched
        say(f"Typically about {estimate.expected_calls} calls{why}. At most:")
    cost = "unknown (give --price)" if estimate.cost_usd is None else f"${estimate.cost_usd:.2f}"
    unlisted = estimate.calls_without_probabilities
    without = "" if unlisted is None else f", {unlisted} from a model without log-probabilities"
    say(
        f"{estimate.calls} calls if every answer can be read{without}, at most "
        f"{estimate.max_calls}; about "
        f"{estimate.input_tokens} tokens in and {estimate.output_tokens} out, cost {cost}"
        f"{' (of the first number)' if without else ''}.\n"
        "No model calls were made. Cached answers are not subtracted."
    )


def estimate_note(estimate: RunEstimate | None, usage: Usage) -> list[str]:
    """Return how many calls a search of the protocol took, beside what was estimated."""
    if estimate is None:
        return []
    rule = estimate.expected_calls
    expected = "" if rule is None else f"about {rule}, "
    return [
        f"{usage.calls} calls, {usage.hits} cached answers; the estimate was {expected}at most "
        f"{estimate.calls} calls."
    ]


def judging_estimate(
    saved: AnySaved, items: Sequence[RatedItem], lms: Sequence[dspy.LM], *, often: int = 1
) -> RunEstimate:
    """Return what it takes that a judge, bound to its models, judges every item."""
    from judgesmith.experiments.estimates import estimate_judging

    return estimate_judging([saved], items, by_name(lms), lms[0], often=often)


def by_name(lms: Sequence[dspy.LM]) -> dict[str, dspy.LM]:
    """Return models by the names that judges ask them by."""
    return {str(lm.model): lm for lm in lms}


def nothing_asked() -> RunEstimate:
    """Return the estimate of a command that reads scores on file."""
    from judgesmith.experiments.estimates import NO_CALLS

    return NO_CALLS
