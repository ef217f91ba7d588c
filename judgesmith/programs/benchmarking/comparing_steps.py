"""Which of two texts about different sources is better, asked in both orders: the steps.

Free of DSPy: whoever drives the generator decides how the model is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judgesmith.programs.judging import AnySteps, Ask, Calls, asked
from judgesmith.programs.preference import unsendable
from judgesmith.programs.together import together
from judgesmith.signatures.comparing_across import Relation
from judgesmith.signatures.rated import RatedItem

COMPARE = "compare"
"""The question."""

_AGAIN = 1  # number of the second attempt at a question
_TURNED: Mapping[Relation, Relation] = {"first": "second", "similar": "similar", "second": "first"}
_SIGNS: Mapping[Relation, Literal[-1, 0, 1]] = {"first": 1, "similar": 0, "second": -1}


@dataclass(frozen=True, slots=True)
class AcrossPair:
    """Two texts to compare, each with what it was written about.

    Attributes
    ----------
    first, second : RatedItem
        Of each the source, the context and the response are shown, and nothing else.
    """

    first: RatedItem
    second: RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a model says of a pair in both orders, and what that comes to.

    Attributes
    ----------
    given, swapped : {"first", "similar", "second"} or None
        The better text of the pair as it said with the first shown first, and with the second
        shown first; None where there is no answer.
    problem : str or None
        Why an answer is missing; None where both are there.
    calls : tuple of str
        Identities of the model calls behind it.

    Examples
    --------
    >>> found = Compared(given="first", swapped="second")
    >>> found.relation, found.disagree, found.sign
    ('similar', True, 0)
    """

    given: Relation | None = None
    swapped: Relation | None = None
    problem: str | None = None
    calls: tuple[str, ...] = ()

    @property
    def relation(self) -> Relation | None:
        """The relation that both orders agree on, ``similar`` if they do not, or None.

        A model that prefers what is shown first contradicts itself and comes to nothing.
        """
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
    """Ask which text of a pair is better, in both orders at once.

    Examples
    --------
    >>> rain, snow = (RatedItem(source=one, response=one) for one in ("It rained.", "It snowed."))
    >>> asks = next(across_steps(AcrossPair(rain, snow)))
    >>> [ask.inputs["first"] for ask in asks]
    ['It rained.', 'It snowed.']
    """
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
