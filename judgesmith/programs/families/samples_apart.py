"""Several answers of a judge to each text, or to each pair of texts, one by one.

A judge that is told to take samples makes one judgement of them. Whoever wants to know how often
each answer was given needs them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from judgesmith.errors import InputError
from judgesmith.programs.families.pairwise import (
    PairwiseConfig,
    Preference,
    ResponsePair,
    as_read,
    preference_steps,
)
from judgesmith.programs.judging.executors import (
    Executor,
    JudgeLike,
    calls_per_item,
    with_own_models,
)
from judgesmith.programs.judging.program import AnySteps, PromptRequest, gather
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    Readable,
    Work,
    beginning,
    judges_sources,
    readable_of,
    work_each,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Judgement

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
    progress: Callable[[int], None] | None = None,
) -> list[Samples]:
    """Return ``n`` judgements of every item, in order."""
    if judges_sources(judge):
        raise InputError(
            "a judge that compares the responses to a source ranks them and gives no samples of a "
            "score.",
            hint="leave the samples out.",
        )
    _check_samples(judge, n)
    judge, lm = with_own_models(judge, lm)
    work = _Apart(judge, n, Executor.of(judge, lm), readable_of(lm))
    may_begin = beginning(n * calls_per_item(judge), lm)
    done = work_each(work, items, concurrency=concurrency, may_begin=may_begin, progress=progress)
    return [several for _, several in done]


class _Apart(Work[RatedItem, Samples]):
    """Items, each judged several times."""

    def __init__(self, judge: JudgeLike, n: int, executor: Executor, readable: Readable) -> None:
        super().__init__(executor, readable)
        self._judge = judge
        self._more_texts = family_of(judge.protocol.judge).more_texts
        self._n = n

    async def done(self, unit: RatedItem) -> Samples:
        steps: Any = self._judge.steps
        texts = {"source": unit.source, "response": unit.response, "context": unit.context}
        more = self._more_texts(unit.references)
        samples = [_of_sample(steps(**texts, **more), n, self._n) for n in range(self._n)]
        found: list[Judgement] = await self.executor.taken(gather(samples))
        for one in found:
            self.readable.add(one)
        return tuple(found)

    def undone(self, unit: RatedItem, cause: Cause) -> Samples:
        """Return that no sample has a score: one that was cut short would be no fair sample."""
        return (Judgement.unscored(cause),) * self._n


def preferred_samples(
    judge: JudgeLike,
    pairs: Iterable[ResponsePair],
    n: int,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> list[Preferences]:
    """Return ``n`` preferences between the texts of every pair, in order, each in both orders."""
    protocol = judge.protocol
    if not isinstance(protocol, PairwiseConfig):
        raise InputError(
            f"a judge of the kind {protocol.judge} scores single texts and compares nothing.",
            hint="compile one with --judge pairs.",
        )
    _check_samples(judge, n)
    judge, lm = with_own_models(judge, lm)
    work = _Compared(protocol, n, Executor.of(judge, lm), readable_of(lm))
    may_begin = beginning(2 * n, lm)
    done = work_each(work, pairs, concurrency=concurrency, may_begin=may_begin, progress=progress)
    return [several for _, several in done]


class _Compared(Work[ResponsePair, Preferences]):
    """Pairs, each compared several times."""

    def __init__(
        self, protocol: PairwiseConfig, n: int, executor: Executor, readable: Readable
    ) -> None:
        super().__init__(executor, readable)
        self._protocol = protocol
        self._n = n

    async def done(self, unit: ResponsePair) -> Preferences:
        texts = {"source": unit.source, "first": unit.first, "second": unit.second}
        samples = [
            _of_sample(preference_steps(self._protocol, **texts, context=unit.context), n, self._n)
            for n in range(self._n)
        ]
        found = await self.executor.taken(gather(samples))
        for one in found:
            self.readable.add(as_read(one))
        return tuple(found)

    def undone(self, unit: ResponsePair, cause: Cause) -> Preferences:
        return (Preference.unanswered(cause),) * self._n


def _check_samples(judge: JudgeLike, n: int) -> None:
    if n < 1:
        raise InputError(f"samples are 1 or more; got {n}.")
    if judge.protocol.samples != 1:
        raise InputError(
            f"the judge itself takes {judge.protocol.samples} samples of each text.",
            hint="set it to one.",
        )


def _of_sample(steps: AnySteps[Value], sample: int, n: int) -> Generator[Any, Any, Value]:
    """Return the same steps with every question asked for one of ``n`` samples."""

    def numbered(ask: PromptRequest) -> PromptRequest:
        return replace(ask, sample=ask.sample * n + sample)

    try:
        asked = next(steps)
        while True:
            if isinstance(asked, tuple):
                reply = yield tuple(map(numbered, asked))
            else:
                reply = yield numbered(asked)
            asked = steps.send(reply)
    except StopIteration as end:
        value: Value = end.value
        return value
