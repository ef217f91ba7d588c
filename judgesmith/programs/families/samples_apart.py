"""Every sample of a judge's answers to a text or a pair, where a judge reduces its own to one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from judgesmith.errors import InputError
from judgesmith.programs.families.pairwise import (
    Preference,
    ResponsePair,
    as_read,
    compares,
    pair_steps,
)
from judgesmith.programs.judging.executors import (
    Executor,
    JudgeLike,
    calls_per_item,
    with_own_models,
)
from judgesmith.programs.judging.program import PromptRequest, RequestProgram, gather
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    StepsWork,
    beginning,
    judges_sources,
    read_rate_of,
    work_each,
)
from judgesmith.results.progress import OnProgress
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy


Value = TypeVar("Value")
Samples = tuple[Judgement, ...]
Preferences = tuple[Preference, ...]


def judged_samples(
    judge: JudgeLike,
    items: Iterable[RatedItem],
    n: int,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
) -> list[Samples]:
    """Return ``n`` judgements of every item, in order."""
    if judges_sources(judge):
        raise InputError(
            "a judge that ranks the responses to a source has no samples of a score.",
            hint="leave the samples out.",
        )
    judge, lm = _sampling_once(judge, n, lm)
    # A sample that was cut short would be no fair one: all or none are kept.
    work = StepsWork[RatedItem, Samples](
        Executor.of(judge, lm),
        lambda item: _several(lambda: judge.steps(item), n),
        lambda item, cause: (Judgement.unscored(cause),) * n,
        readable=read_rate_of(lm),
        judged=lambda found: found,
    )
    may_begin = beginning(n * calls_per_item(judge), lm)
    done = work_each(
        work, items, concurrency=concurrency, may_begin=may_begin, on_progress=on_progress
    )
    return [several for _, several in done]


def preferred_samples(
    judge: JudgeLike,
    pairs: Iterable[ResponsePair],
    n: int,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
) -> list[Preferences]:
    """Return ``n`` preferences between the texts of every pair, in order, each in both orders."""
    protocol = compares(judge)
    judge, lm = _sampling_once(judge, n, lm)
    work = StepsWork[ResponsePair, Preferences](
        Executor.of(judge, lm),
        lambda pair: _several(lambda: pair_steps(protocol, pair), n),
        lambda pair, cause: (Preference.unanswered(cause),) * n,
        readable=read_rate_of(lm),
        judged=lambda found: map(as_read, found),
    )
    may_begin = beginning(2 * n, lm)
    done = work_each(
        work, pairs, concurrency=concurrency, may_begin=may_begin, on_progress=on_progress
    )
    return [several for _, several in done]


def _sampling_once(judge: JudgeLike, n: int, lm: Any) -> tuple[Any, Any]:
    """Return a judge that takes one sample, and the model that it is asked through."""
    if n < 1:
        raise InputError(f"samples must be 1 or more; got {n}.")
    if judge.protocol.samples != 1:
        raise InputError(
            f"the judge already takes {judge.protocol.samples} samples of each text.",
            hint="set its samples to 1.",
        )
    return with_own_models(judge, lm)


def _several(
    steps: Callable[[], RequestProgram[Value]], n: int
) -> Generator[Any, Any, tuple[Value, ...]]:
    """Return the results of ``n`` samples of the same steps, asked concurrently."""
    found = yield from gather([_of_sample(steps(), sample, n) for sample in range(n)])
    return tuple(found)


def _of_sample(steps: RequestProgram[Value], sample: int, n: int) -> Generator[Any, Any, Value]:
    """Return the same steps with every question asked for one of ``n`` samples."""

    def numbered(ask: PromptRequest) -> PromptRequest:
        return replace(ask, sample=ask.sample * n + sample)

    try:
        asked = next(steps)
        while True:
            ask = tuple(map(numbered, asked)) if isinstance(asked, tuple) else numbered(asked)
            asked = steps.send((yield ask))
    except StopIteration as end:
        value: Value = end.value
        return value
