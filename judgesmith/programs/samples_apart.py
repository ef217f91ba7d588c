"""Several answers of a judge to each text, each a judgement of its own.

A judge that is told to take samples makes one judgement of them. Whoever wants to know how often
each rating was given needs them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from judgesmith.programs.asking import Askable, Asker, calls_per_item, current_lm
from judgesmith.programs.families import family_of
from judgesmith.programs.judging import AnySteps, Ask
from judgesmith.programs.readable import Readable, readable_of
from judgesmith.programs.running import CONCURRENCY, Work, beginning, judges_sources, work_each
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

Value = TypeVar("Value")
Samples = tuple[Judgement, ...]


def judged_samples(
    judge: Askable,
    items: Iterable[RatedItem],
    n: int,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> list[Samples]:
    """Return ``n`` judgements of every item, in order.

    The requests are those of the same judge with ``samples=n``, so that what either has asked is
    on record for the other.

    Parameters
    ----------
    judge : Judge or SavedJudge
        That takes one sample. Its temperature is that of its protocol.
    items : iterable of RatedItem
        Ratings in them are never read.
    n : int
        How many, 1 or more.
    lm, concurrency, progress
        As for ``judge_items``.

    Raises
    ------
    ValueError
        If the judge compares responses, takes several samples itself, or ``n`` is below 1.
    ModelError, LedgerError
        As for ``judge_items``.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> item = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> judge = ActiveCritic(variant="vanilla", answers="1..5", temperature=1.0)
    >>> ((first, *others),) = judged_samples(judge, [item], 4)
    >>> first.score, [one.score for one in others]
    (75.0, [50.0, 100.0, 100.0])
    """
    if n < 1:
        raise ValueError(f"samples are 1 or more; got {n}.")
    if judges_sources(judge):
        raise ValueError(
            "a judge that compares the responses to a source ranks them and gives no samples of a "
            "score; leave the samples out."
        )
    if judge.protocol.samples != 1:
        raise ValueError(
            f"the judge itself takes {judge.protocol.samples} samples of each text; set it to one."
        )
    lm = lm or current_lm()
    work = _Apart(judge, n, Asker.of(judge, lm), readable_of(lm))
    may_begin = beginning(n * calls_per_item(judge), lm)
    done = work_each(work, items, concurrency=concurrency, may_begin=may_begin, progress=progress)
    return [several for _, several in done]


class _Apart(Work[RatedItem, Samples]):
    """Items, each judged several times."""

    def __init__(self, judge: Askable, n: int, asker: Asker, readable: Readable) -> None:
        super().__init__(asker, readable)
        self._judge = judge
        self._more_texts = family_of(judge.protocol.judge).more_texts
        self._n = n

    async def done(self, unit: RatedItem) -> Samples:
        """Return all judgements of one item."""
        found = []
        steps: Any = self._judge.steps
        for sample in range(self._n):
            once = steps(
                source=unit.source,
                response=unit.response,
                context=unit.context,
                **self._more_texts(unit.references),
            )
            found.append(await self.asker.taken(_of_sample(once, sample, self._n)))
            self.readable.add(found[-1])
        return tuple(found)

    def undone(self, unit: RatedItem, problem: str) -> Samples:
        """Return that no sample has a score: one that was cut short would be no fair sample."""
        return (Judgement.unscored(problem),) * self._n


def _of_sample(steps: AnySteps[Value], sample: int, n: int) -> Generator[Any, Any, Value]:
    """Return the same steps with every question asked for one of ``n`` samples.

    A first attempt has the number of its sample, a second one that many after the last sample, as
    in judges that take samples themselves.
    """

    def numbered(ask: Ask) -> Ask:
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
