"""Asking which of two responses is better, for many pairs at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.programs.asking import Askable, Asker, with_own_models
from judgesmith.programs.preference import Preference, preference_steps
from judgesmith.programs.readable import Readable, readable_of
from judgesmith.programs.running import CONCURRENCY, Work, beginning, work_each
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.pairs import PairsProtocol
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsePair:
    """Two responses to one source.

    Attributes
    ----------
    source, context, first, second : str
        The texts; ``context`` may be None.
    source_id, first_id, second_id : str
        What they are called; may be empty.
    """

    source: str
    first: str
    second: str
    context: str | None = None
    source_id: str = ""
    first_id: str = ""
    second_id: str = ""

    @classmethod
    def of(cls, first: RatedItem, second: RatedItem) -> ResponsePair:
        """Return the pair of two items' responses to the first one's source."""
        return cls(
            source=first.source,
            context=first.context,
            first=first.response,
            second=second.response,
            source_id=first.source_id,
            first_id=first.system_id,
            second_id=second.system_id,
        )


def prefer_each(
    judge: Askable,
    pairs: Iterable[ResponsePair],
    *,
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[ResponsePair, Preference]]:
    """Yield pairs with what a judge prefers, in order, reading ``pairs`` only as far as needed.

    Parameters
    ----------
    judge : Pairs or SavedJudge
        A judge that compares. It is asked in both orders, in the words that it has or was saved
        with.
    pairs : iterable of ResponsePair
        What to compare.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Pairs compared at the same time.
    progress : callable or None
        Told the number of pairs finished since it was last told.

    Raises
    ------
    ValueError
        If the judge compares nothing.
    ModelError, LedgerError
        As for ``judge_items``. A pair that the budget did not reach has no answer, and says so.

    Examples
    --------
    >>> from judgesmith.programs.pairs import Pairs
    >>> pair = ResponsePair(source="It rained.", first="It rained.", second="It rained.")
    >>> [found.probability for _, found in prefer_each(Pairs(), [pair])]
    [0.5]
    """
    protocol = judge.protocol
    if not isinstance(protocol, PairsProtocol):
        raise InputError(
            f"a judge of the kind {protocol.judge} scores single texts and compares nothing; "
            "compile one with --judge pairs."
        )
    judge, lm = with_own_models(judge, lm)
    return work_each(
        _Pairs(protocol, Asker.of(judge, lm), readable_of(lm)),
        pairs,
        concurrency=concurrency,
        may_begin=beginning(2 * protocol.samples, lm),
        progress=progress,
    )


class _Pairs(Work[ResponsePair, Preference]):
    """Pairs, each asked about in both orders."""

    def __init__(self, protocol: PairsProtocol, asker: Asker, readable: Readable) -> None:
        super().__init__(asker, readable)
        self._protocol = protocol

    async def done(self, unit: ResponsePair) -> Preference:
        """Return which of two responses is better."""
        found = await self.asker.taken(
            preference_steps(
                self._protocol,
                source=unit.source,
                first=unit.first,
                second=unit.second,
                context=unit.context,
            )
        )
        self.readable.add(as_read(found))
        return found

    def undone(self, unit: ResponsePair, problem: str) -> Preference:
        """Return that there is no answer."""
        return Preference.unanswered(problem)


def as_read(found: Preference) -> Judgement:
    """Return what was read of a pair: something if one order has an answer, or why nothing was."""
    if found.given.stated is None and found.swapped.stated is None:
        return Judgement.unscored(str(found.problem), calls=found.calls)
    return Judgement(score=0.0)
