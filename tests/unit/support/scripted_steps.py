"""Steps of a judge that are told what is answered, one question after the other."""

from collections.abc import Callable, Iterable
from typing import Any

from judgesmith.programs.judging.program import (
    JudgeProgram,
    ModelReply,
    PromptRequest,
    RequestProgram,
    answered,
)
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.perturbing.catalogue import amount_of
from judgesmith.programs.perturbing.orders import GENERAL_STEPS
from judgesmith.programs.perturbing.perturber import perturber
from judgesmith.programs.perturbing.rewriting import (
    Counts,
    Wanted,
    change_steps,
    planning_steps,
)
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped


def program_of(
    protocol: JudgeConfig, *, source: str = "s", response: str = "r", context: str | None = None
) -> JudgeProgram:
    """Return the judgement of one response by a protocol, as a generator of questions."""
    item = RatedItem(source=source, response=response, context=context)
    return family_of(protocol.judge).program(protocol, item)


def perturbed_by_dspy(text: str, perturbation: Perturbation) -> Perturbed | Skipped:
    """Return a text changed through DSPy's current model, by the steps that it plans."""
    wanted = Wanted(
        item=RatedItem(response=text), perturbation=perturbation, amount=amount_of(perturbation)
    )
    program = perturber()
    plan = () if wanted.no_use else program.run(planning_steps(wanted.order))
    steps = GENERAL_STEPS if isinstance(plan, Cause) else plan
    return program.run(change_steps(wanted, steps, Counts()))


def scripted(
    steps: RequestProgram[Any],
    replies: Iterable[ModelReply | Callable[[PromptRequest], ModelReply]],
) -> tuple[Any, list[PromptRequest]]:
    """Return what steps come to, and what they asked; every reply must be wanted."""
    asked: list[PromptRequest] = []
    left = iter(replies)

    def reply(ask: PromptRequest) -> ModelReply:
        asked.append(ask)
        one = next(left, None)
        assert one is not None, f"one question too many: {ask.predictor}"
        return one if isinstance(one, ModelReply) else one(ask)

    found = answered(steps, reply)
    assert next(left, None) is None, "a reply too many"
    return found, asked
