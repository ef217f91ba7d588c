"""Errors put into references, at once or one after the other, each bound to a sub-aspect.

Without a language model, and with the offline model, rules put them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.programs.benchmarking.injection_counts import Counts
from judgesmith.programs.benchmarking.injection_job import Job, drawn_sub_aspects
from judgesmith.programs.benchmarking.rule_injecting import NO_ROOM, sequence_by_rule
from judgesmith.programs.perturbing.by_model import changes_by_rule
from judgesmith.programs.perturbing.donors import Donors
from judgesmith.programs.running import CONCURRENCY
from judgesmith.signatures.injection import SubAspect, Target
from judgesmith.signatures.perturbation import Skipped

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.benchmarking.injector import ModelInjector

__all__ = ["Counts", "Job", "drawn_sub_aspects", "inject_each", "sequences"]


def inject_each(
    jobs: Iterable[Job],
    lm: dspy.LM | None = None,
    *,
    seed: int,
    donors: Donors | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[Job, Target | Skipped]]:
    """Yield jobs, each with its text after one error for each of its sub-aspects, in order.

    Parameters
    ----------
    jobs : iterable of Job
        Read only as far as needed.
    lm : dspy.LM or None
        The model that puts the errors in, all of a text at once. Without one, and with the
        offline model, rules do.
    seed : int
        Of the rules' draws, with the job's key. What is drawn for one job does not depend on any
        other.
    donors : Donors or None
        Texts of other sources, for rules that put in what belongs elsewhere.
    concurrency : int
        Texts that the model is asked about at the same time.
    told : callable or None
        Told in sentences what stood in for what, and what could not be asked.
    counts : Counts or None
        Where what happened is counted.

    Returns
    -------
    iterator of (Job, Target or Skipped)
        The text with exactly one more error per sub-aspect, each at places of its own; or why
        there is none, in words that are the same for all jobs with the same reason. By rule a
        sub-aspect that has no room left gives way to another one of the same job.

    Raises
    ------
    ModelError, LedgerError, Stopped
        See ``judge_items``.

    Examples
    --------
    >>> from judgesmith.signatures.injection import SubAspect
    >>> sides = [SubAspect(criterion="fluency", name=name) for name in ("spelling", "grammar")]
    >>> job = Job(
    ...     key="a",
    ...     target=Target(text="They were late. It had rained all day."),
    ...     criterion="fluency",
    ...     sub_aspects=sides,
    ... )
    >>> ((_, made),) = inject_each([job], seed=0)
    >>> [error.sub_aspect for error in made.errors]
    ['spelling', 'grammar']
    """
    counted = Counts() if counts is None else counts
    if lm is not None and not changes_by_rule(lm):
        yield from _by_model(lm, counted, concurrency, told).each(jobs)
        return
    for job in jobs:
        rng = job.generator(seed)
        made = list(sequence_by_rule(job, job.sub_aspects, rng=rng, donors=donors))
        whole = len(made) == len(job.sub_aspects)
        counted.rebound += _n_rebound(made, job.sub_aspects) if whole else 0
        counted.outcome("" if whole else NO_ROOM)
        yield job, made[-1] if whole else Skipped(reason=NO_ROOM)


def sequences(
    jobs: Iterable[Job],
    steps: int,
    lm: dspy.LM | None = None,
    *,
    seed: int,
    donors: Donors | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[Job, tuple[Target, ...]]]:
    """Yield jobs, each with its text and what becomes of it error by error, in order.

    Parameters
    ----------
    jobs : iterable of Job
        Their sub-aspects are what each step draws from, all once before any repeats.
    steps : int
        Errors put in one after the other, at least 1.
    lm, seed, donors, concurrency, told, counts
        See ``inject_each``.

    Returns
    -------
    iterator of (Job, tuple of Target)
        The job's own text first, then with one error more each time: all earlier errors and all
        else are as before. Fewer than ``steps`` + 1 where a step failed for good; the text
        alone where the first one did.

    Examples
    --------
    >>> from judgesmith.signatures.injection import SubAspect
    >>> side = SubAspect(criterion="coherence", name="nothing said twice")
    >>> job = Job(
    ...     key="a",
    ...     target=Target(text="It rained all day. Nobody came."),
    ...     criterion="coherence",
    ...     sub_aspects=[side],
    ... )
    >>> ((_, found),) = sequences([job], 3, seed=0)
    >>> [target.n_errors for target in found]
    [0, 1, 2, 3]
    """
    if steps < 1:
        raise InputError(f"a sequence has 1 step or more; got {steps}.")
    counted = Counts() if counts is None else counts
    if lm is not None and not changes_by_rule(lm):
        yield from _by_model(lm, counted, concurrency, told).sequences(jobs, steps, seed=seed)
        return
    for job in jobs:
        rng = job.generator(seed)
        drawn = drawn_sub_aspects(job.sub_aspects, steps, rng)
        found = (job.target, *sequence_by_rule(job, drawn, rng=rng, donors=donors))
        for _ in found[1:]:
            counted.outcome()
        counted.rebound += _n_rebound(found[1:], drawn)
        if len(found) <= steps:
            counted.outcome(NO_ROOM)
        counted.sequence(len(found), steps + 1)
        yield job, found


def _n_rebound(made: Sequence[Target], drawn: Sequence[SubAspect]) -> int:
    """Return how many errors, each the last of its text, are bound to something else than drawn."""
    pairs = zip(made, drawn, strict=False)
    return sum(one.errors[-1].sub_aspect != wanted.name for one, wanted in pairs)


def _by_model(
    lm: dspy.LM, counts: Counts, concurrency: int, told: Callable[[str], None] | None
) -> ModelInjector:
    from judgesmith.programs.benchmarking.injector import ModelInjector

    return ModelInjector(lm, counts, concurrency=concurrency, told=told)
