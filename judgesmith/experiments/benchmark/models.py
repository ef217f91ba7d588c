"""Who builds a benchmark: a model for each role, and what each step of the work asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError, JudgesmithError, did_you_mean
from judgesmith.experiments.benchmark.settings import ROLES
from judgesmith.programs.judging.rows import usage_of
from judgesmith.signatures.judgement import Cause, Reason

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm import Usage


def check_benchmark_roles(roles: Iterable[str]) -> None:
    for role in roles:
        if role not in ROLES:
            raise InputError(
                f"building a benchmark has no role {role[:80]!r}.",
                hint=did_you_mean(role, ROLES) or f"it has {', '.join(ROLES)}.",
            )


@dataclass(kw_only=True)
class StepCost:
    """What one step asked of one model, in this process."""

    step: str
    role: str
    model: str
    questions: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0  # at the prices in force; None if the price is unknown

    def add(self, before: Usage, after: Usage) -> None:
        """Add what a model was asked between two moments."""
        self.calls += after.calls - before.calls
        self.questions += _questions(after) - _questions(before)
        self.input_tokens += after.input_tokens - before.input_tokens
        self.output_tokens += after.output_tokens - before.output_tokens
        unknown = None in (self.cost_usd, before.cost_usd, after.cost_usd)
        self.cost_usd = (
            None
            if unknown
            else (self.cost_usd or 0) + (after.cost_usd or 0) - (before.cost_usd or 0)
        )


def _questions(usage: Usage) -> int:
    return usage.calls - usage.retries + usage.hits - usage.renewals


@dataclass(kw_only=True)
class BenchmarkModels:
    """A model for each role, and what they were asked."""

    by_role: Mapping[str, dspy.LM]
    concurrency: int = 32
    costs: list[StepCost] = field(default_factory=list)

    @property
    def names(self) -> dict[str, str]:
        """Return what the models are called, by role."""
        return {role: str(lm.model) for role, lm in self.by_role.items()}

    @property
    def builders(self) -> dict[str, str]:
        """Return what the models that were asked anything are called, by role."""
        asked = {one.role for one in self.costs if one.questions}
        unknown = {role for role, lm in self.by_role.items() if usage_of(lm) is None}
        return {role: name for role, name in self.names.items() if role in asked | unknown}

    @contextmanager
    def step(self, step: str, role: str) -> Iterator[dspy.LM]:
        """Return the model of a role, and count what it is asked in the block as ``step``."""
        lm = self.by_role[role]
        cost = next((one for one in self.costs if (one.step, one.role) == (step, role)), None)
        if cost is None:
            cost = StepCost(step=step, role=role, model=self.names[role])
            self.costs.append(cost)
        before = usage_of(lm)
        yield lm
        after = usage_of(lm)
        if before is not None and after is not None:
            cost.add(before, after)

    def questions(self) -> list[dict[str, Any]]:
        """Return how many answers each step took, ready for JSON."""
        return [
            {"step": one.step, "role": one.role, "model": one.model, "questions": one.questions}
            for one in self.costs
        ]


class UnfinishedError(JudgesmithError):
    """The budget ended before a benchmark was complete; all answers are cached."""


def refuse_unfinished(causes: Iterable[Cause | None]) -> None:
    """Refuse to continue past the end of the budget: a benchmark is complete or not written."""
    for cause in causes:
        if cause is not None and cause.reason is Reason.OVER_BUDGET:
            raise UnfinishedError(cause.detail or cause.text)
