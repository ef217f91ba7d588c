"""Texts that are to have a rating: references with errors put in, all of a text at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judgesmith.experiments.benchmarking.plan import Plan, counting
from judgesmith.experiments.benchmarking.sources import BenchmarkSource
from judgesmith.programs.perturbing.injection.injecting import (
    Counts,
    InjectionJob,
    drawn_sub_aspects,
    inject_each,
)
from judgesmith.signatures.perturbation import Skipped, SubAspect, Target
from judgesmith.signatures.questions.texts import Reference
from judgesmith.signatures.rubric import Criterion

COPY = "the same text as another one of its source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text that is to be rated.

    Attributes
    ----------
    source : BenchmarkSource
        What it is about.
    reference : Reference
        What it was made from.
    target : Target
        The text, and the errors in it.
    aimed : float or None
        The rating that its number of errors is for; None in a pilot.
    """

    source: BenchmarkSource
    reference: Reference
    target: Target
    aimed: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A text that is to be made.

    Attributes
    ----------
    source : BenchmarkSource
        What it is to be about.
    reference : Reference
        What it is made from.
    n_errors : int
        How many errors it gets.
    aimed : float or None
        As for a candidate.
    sides : tuple of SubAspect
        What the errors are bound to; empty draws from all of the criterion.
    """

    source: BenchmarkSource
    reference: Reference
    n_errors: int
    aimed: float | None = None
    sides: tuple[SubAspect, ...] = ()


def made_candidates(
    plan: Plan, criterion: Criterion, orders: Sequence[Order], *, step: str
) -> tuple[list[Candidate], Counts]:
    """Return the texts of some orders, and what became of the others.

    A text without errors is the reference itself. Of equal texts of a source the first counts;
    the others are dropped.

    Parameters
    ----------
    plan : Plan
        What the benchmark is built from.
    criterion : Criterion
        What is to suffer.
    orders : sequence of Order
        What is wanted.
    step : str
        What the work is called, where costs are told.

    Raises
    ------
    UnfinishedError
        If the budget ended before all was made.
    ModelError, LedgerError
        If a model cannot be asked at all, or the ledger not used.
    """
    jobs: dict[int, InjectionJob] = {}
    n_before: Counter[tuple[str, str]] = Counter()
    n_asked: Counter[tuple[str, str, tuple[SubAspect, ...]]] = Counter()
    for place, order in enumerate(orders):
        own = (order.source.id, order.reference.id)
        n_before[own] += 1
        if order.n_errors:
            job = _job(plan, criterion, order, key=f"{step} {n_before[own]}")
            # What is asked twice is to be answered twice: a model would make the same text again.
            asked = (*own, job.sub_aspects)
            jobs[place] = job.model_copy(update={"sample": n_asked[asked]})
            n_asked[asked] += 1
    tell = plan.tells(f"{step} ({criterion.name})", len(jobs))
    made: dict[int, Target] = {}
    with plan.models.step(step, "injector") as lm, counting() as counts:
        done = inject_each(
            jobs.values(),
            lm,
            seed=plan.settings.seed,
            donors=plan.donors,
            concurrency=plan.models.concurrency,
            told=plan.note,
            counts=counts,
        )
        for place, (_, found) in zip(jobs, done, strict=True):
            if not isinstance(found, Skipped):
                made[place] = found
            if tell is not None:
                tell(1)
    candidates: dict[tuple[str, str], Candidate] = {}
    for place, order in enumerate(orders):
        target = made.get(place) if order.n_errors else Target(text=order.reference.text)
        if target is None:
            continue
        known = candidates.setdefault(
            (order.source.id, target.text),
            Candidate(
                source=order.source, reference=order.reference, target=target, aimed=order.aimed
            ),
        )
        if known.target is not target:
            counts.made -= bool(order.n_errors)
            counts.dropped[COPY] += 1
    return list(candidates.values()), counts


def _job(plan: Plan, criterion: Criterion, order: Order, *, key: str) -> InjectionJob:
    known = plan.sub_aspects[criterion.name]
    job = plan.job(order.source, criterion, order.reference, known, key=key)
    rng = job.generator(plan.settings.seed)
    sides = order.sides or drawn_sub_aspects(known, order.n_errors, rng)
    return job.model_copy(update={"sub_aspects": sides})
