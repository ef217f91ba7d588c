"""Asking which of two texts about different sources is better, for a great many pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import dspy

from judgesmith.programs.asking import Asker, current_lm
from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.benchmarking.comparing_steps import AcrossPair, Compared, across_steps
from judgesmith.programs.constructing import without_untold
from judgesmith.programs.judging import Steps
from judgesmith.programs.pair_steps import pair_inputs
from judgesmith.programs.readable import Readable, readable_of
from judgesmith.programs.running import CONCURRENCY, Work, beginning, work_each
from judgesmith.signatures.comparing_across import CompareAcross
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.pairs import PairsProtocol
from judgesmith.signatures.rubric import Criterion, Rubric

if TYPE_CHECKING:
    from judgesmith.signatures.rated import RatedItem

CALLS_PER_PAIR = 2
"""Model calls that a pair takes if every answer can be read: one for each order."""


class AcrossComparer(AskingModule):
    """The DSPy program that compares two texts about different sources on one criterion.

    Parameters
    ----------
    criterion : Criterion
        The one thing that counts.
    task : str
        What the texts were written for; may be empty, and is not shown then.

    Examples
    --------
    >>> from judgesmith.signatures.rated import RatedItem
    >>> good = RatedItem(source="Ann left Rome. It rained.", response="Ann left Rome.")
    >>> bad = RatedItem(source="Bob saw Carl.", response="The the bridge in 1987 cats.")
    >>> AcrossComparer(Criterion(name="fluency", definition="Is it well written?"))(
    ...     first=bad, second=good
    ... ).relation
    'second'
    """

    def __init__(self, criterion: Criterion, *, task: str = "") -> None:
        super().__init__(PairsProtocol(rubric=Rubric(task=task, criteria=(criterion,))))
        told = self.fixed_inputs("compare")
        self.compare = dspy.Predict(without_untold(CompareAcross, told))

    @property
    def protocol(self) -> PairsProtocol:
        """Task and criterion, and what the calls are made with."""
        own = self._settings
        assert isinstance(own, PairsProtocol)
        return own

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criterion as far as there are any."""
        return pair_inputs(self.protocol)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what compares two texts judges none by itself.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a comparer judges no single text; give it pairs through a Comparator.")

    def forward(self, *, first: RatedItem, second: RatedItem) -> Compared:
        """Compare two texts, asked through DSPy's current model."""
        return self.taken(across_steps(AcrossPair(first, second)))


class Comparator:
    """Compares texts about different sources on one criterion, many pairs at a time.

    Every pair is asked about in both orders. A pair and its reverse are the same two questions, so
    that with a ledger the second of them costs nothing.

    Parameters
    ----------
    criterion : Criterion
        The one thing that counts.
    task : str
        What the texts were written for; may be empty.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Pairs compared at the same time.

    Examples
    --------
    >>> from judgesmith.signatures.rated import RatedItem
    >>> told = RatedItem(source="It rained.", response="It rained.")
    >>> fluent = Criterion(name="fluency", definition="Is it well written?")
    >>> [found.relation for _, found in Comparator(fluent).each([AcrossPair(told, told)])]
    ['similar']
    """

    def __init__(
        self,
        criterion: Criterion,
        *,
        task: str = "",
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
    ) -> None:
        self._lm = lm or current_lm()
        self._asker = Asker.of(AcrossComparer(criterion, task=task), self._lm)
        self._concurrency = concurrency

    def each(
        self, pairs: Iterable[AcrossPair], *, progress: Callable[[int], None] | None = None
    ) -> Iterator[tuple[AcrossPair, Compared]]:
        """Yield pairs with what became of them, in order, reading ``pairs`` only as far as needed.

        Parameters
        ----------
        pairs : iterable of AcrossPair
            Nothing is kept of those that were handed out: there may be millions.
        progress : callable or None
            Told the number of pairs finished since it was last told.

        Raises
        ------
        ModelError, LedgerError
            As for ``judge_items``. A pair that the budget did not reach has no answer, and says so.
        """
        return work_each(
            _Comparing(self._asker, readable_of(self._lm)),
            pairs,
            concurrency=self._concurrency,
            may_begin=beginning(CALLS_PER_PAIR, self._lm),
            progress=progress,
        )


class _Comparing(Work[AcrossPair, Compared]):
    """Pairs, each asked about in both orders."""

    def __init__(self, asker: Asker, readable: Readable) -> None:
        super().__init__(asker, readable)

    async def done(self, unit: AcrossPair) -> Compared:
        """Return which of two texts is better."""
        found = await self.asker.taken(across_steps(unit))
        self.readable.add(_as_read(found))
        return found

    def undone(self, unit: AcrossPair, problem: str) -> Compared:
        """Return that there is no answer."""
        return Compared(problem=problem)


_READ = Judgement(score=0.0)


def _as_read(found: Compared) -> Judgement:
    """Return what was read of a pair: something if one order has an answer, or why nothing was."""
    if found.given is None and found.swapped is None:
        return Judgement.unscored(str(found.problem), calls=found.calls)
    return _READ
