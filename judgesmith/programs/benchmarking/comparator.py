"""Asking which of two texts about different sources is better, for a great many pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from judgesmith.programs.families.steps.pairwise import pair_inputs
from judgesmith.programs.families.steps.preference import unsendable
from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.executors import Asker, current_lm
from judgesmith.programs.judging.judge import without_untold
from judgesmith.programs.judging.program import AnySteps, Ask, Calls, Steps, asked, together
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    Readable,
    Work,
    beginning,
    readable_of,
    work_each,
)
from judgesmith.signatures.family_configs import PairwiseConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.questions.pairwise import CompareAcross, Relation
from judgesmith.signatures.rubric import Criterion, Rubric

COMPARE = "compare"
"""The question."""

_AGAIN = 1  # number of the second attempt at a question
_TURNED: Mapping[Relation, Relation] = {"first": "second", "similar": "similar", "second": "first"}
_SIGNS: Mapping[Relation, Literal[-1, 0, 1]] = {"first": 1, "similar": 0, "second": -1}


@dataclass(frozen=True, slots=True)
class AcrossPair:
    """Two texts to compare, each with what it was written about."""

    first: RatedItem
    second: RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a model says of a pair in both orders, and what that comes to."""

    given: Relation | None = None
    swapped: Relation | None = None
    problem: str | None = None
    calls: tuple[str, ...] = ()

    @property
    def relation(self) -> Relation | None:
        """The relation that both orders agree on, ``similar`` if they do not, or None."""
        if self.given is None or self.swapped is None:
            return None
        return self.given if self.given == self.swapped else "similar"

    @property
    def sign(self) -> Literal[-1, 0, 1] | None:
        """1 where the first is better, -1 where the second is, 0 for similar; None without one."""
        return None if self.relation is None else _SIGNS[self.relation]

    @property
    def disagree(self) -> bool | None:
        """Whether the two orders differ; None where one has no answer."""
        if self.given is None or self.swapped is None:
            return None
        return self.given != self.swapped


def across_steps(pair: AcrossPair) -> AnySteps[Compared]:
    """Ask which text of a pair is better, in both orders at once."""
    sides = [(pair.first, pair.second), (pair.second, pair.first)]
    inputs = [{**_shown("first", one), **_shown("second", two)} for one, two in sides]
    fault = unsendable({name.replace("_", " "): text or "" for name, text in inputs[0].items()})
    if fault is not None:
        return Compared(problem=fault)
    calls = Calls()
    given, swapped = yield from together(
        [
            asked(Ask(predictor=COMPARE, inputs=shown), _read, again=_AGAIN, calls=calls)
            for shown in inputs
        ]
    )
    turned = swapped if isinstance(swapped, str) else _Answer(_TURNED[swapped.said])
    problems = [one for one in (given, turned) if isinstance(one, str)]
    return Compared(
        given=None if isinstance(given, str) else given.said,
        swapped=None if isinstance(turned, str) else turned.said,
        problem=f"a comparison has no answer: {problems[0]}" if problems else None,
        calls=tuple(calls.made),
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer, told from the sentence that says why there is none."""

    said: Relation


def _shown(place: str, item: RatedItem) -> dict[str, str | None]:
    """Return the fields in which a text and its source are shown."""
    return {
        f"{place}_source": item.source,
        f"{place}_context": item.context,
        place: item.response,
    }


def _read(fields: Mapping[str, Any]) -> _Answer:
    return _Answer(fields["better"])


CALLS_PER_PAIR = 2
"""Model calls that a pair takes if every answer can be read: one for each order."""


class AcrossComparer(AskingModule):
    """The DSPy program that compares two texts about different sources on one criterion."""

    def __init__(self, criterion: Criterion, *, task: str = "") -> None:
        super().__init__(PairwiseConfig(rubric=Rubric(task=task, criteria=(criterion,))))
        told = self.fixed_inputs("compare")
        self.compare = dspy.Predict(without_untold(CompareAcross, told))

    @property
    def protocol(self) -> PairwiseConfig:
        """Task and criterion, and what the calls are made with."""
        own = self._settings
        assert isinstance(own, PairwiseConfig)
        return own

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criterion as far as there are any."""
        return pair_inputs(self.protocol)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what compares two texts judges none by itself."""
        raise TypeError("a comparer judges no single text; give it pairs through a Comparator.")

    def forward(self, *, first: RatedItem, second: RatedItem) -> Compared:
        """Compare two texts, asked through DSPy's current model."""
        return self.taken(across_steps(AcrossPair(first, second)))


class Comparator:
    """Compares texts about different sources on one criterion, many pairs at a time."""

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
        """Yield pairs with what became of them, in order, reading only as far as needed."""
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
