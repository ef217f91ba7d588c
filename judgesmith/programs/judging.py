"""How a judge asks: one description of the steps, driven through DSPy or through templates.

A judge writes its steps once, as a generator that yields an ``Ask`` for every model call, is
sent a ``Reply``, and returns a ``Judgement``. Calls that do not wait for each other are yielded
as a tuple, which is answered by a tuple. Who drives the generator decides how the model is
reached: ``Judge.forward`` through DSPy's predictors, the runner through rendered templates.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

from judgesmith.programs.answer_probabilities import AnswerProbabilities
from judgesmith.signatures.judgement import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilitiesOf:
    """What probabilities are wanted of an answer.

    Attributes
    ----------
    field : str
        The output field that holds the answer, or records with one score each.
    answers : tuple of str
        What may be answered, as it is written.
    records : tuple of str
        Names of the records whose scores are meant; empty where the field is one answer.
    top : int
        Alternatives to each token that a server is asked for.
    """

    field: str
    answers: tuple[str, ...]
    records: tuple[str, ...] = ()
    top: int = 20

    @property
    def names(self) -> tuple[str, ...]:
        """What the probabilities are called in a reply: the records, or the field."""
        return self.records or (self.field,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to the model.

    Attributes
    ----------
    predictor : str
        Which of the judge's predictors asks.
    inputs : dict of str to str or None
        Values of the signature's input fields, except those the template fixes.
    sample : int
        0 for the first answer to this question, 1, 2, … for further ones.
    probabilities : ProbabilitiesOf or None
        Of which answers the probabilities are wanted, too.
    attempt : int
        1, 2, … ask anew what could not be read, where it was answered before the run began; a
        reply to any other is ``kept``.
    temperature : float or None
        Of this call; None takes the protocol's. Models that were made without one are sent none.
    continuation : str or None
        A text whose tokens' log-probabilities are wanted after the question, instead of an answer:
        the reply has them as ``logprobs``, a tuple of numbers.
    """

    predictor: str
    inputs: Mapping[str, str | None]
    sample: int = 0
    attempt: int = 0
    probabilities: ProbabilitiesOf | None = None
    temperature: float | None = None
    continuation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back: fields, or the reason why there are none.

    Attributes
    ----------
    fields : dict or None
        Output fields by name; None where there was no readable answer.
    problem : str
        Why there are no fields; empty otherwise.
    call : str
        Identity of the model call, hexadecimal; empty where it is unknown.
    final : bool
        True where asking again cannot help.
    recorded : bool
        True where the answer was on record.
    kept : bool
        True where nothing is asked anew.
    probabilities : dict of str to AnswerProbabilities
        Those that were asked for, each with the reason where there are none; empty where none
        were asked for, or there are no fields.
    """

    fields: Mapping[str, Any] | None = None
    problem: str = ""
    call: str = ""
    final: bool = False
    recorded: bool = False
    kept: bool = False
    probabilities: Mapping[str, AnswerProbabilities] = field(default_factory=dict)


Value = TypeVar("Value")

AnySteps = Generator[Ask | tuple[Ask, ...], Any, Value]
"""Questions on the way to a value: sent a ``Reply`` for an ``Ask``, and a tuple for a tuple."""

Steps = AnySteps[Judgement]
"""A judgement under way."""


@dataclass(slots=True)
class Calls:
    """Collects the identities of the calls behind one judgement, in order.

    Attributes
    ----------
    made : list of str
        The identities.
    latest : Reply or None
        What came back last: the reply that is being read.
    """

    made: list[str] = field(default_factory=list)
    latest: Reply | None = None

    def __call__(self, reply: Reply) -> Reply:
        """Remember the call behind ``reply`` and hand the reply on."""
        self.latest = reply
        if reply.call:
            self.made.append(reply.call)
        return reply


def asked(
    ask: Ask, read: Callable[[Mapping[str, Any]], Value], *, again: int, calls: Calls
) -> Generator[Ask, Reply, Value | str]:
    """Ask, and once more where the answer is missing, unreadable or out of range.

    Where neither answer is of use and they were on record, both are asked for anew, if they are
    of a run that is finished.

    Parameters
    ----------
    ask : Ask
        The question.
    read : callable
        Takes the fields and returns a value, or raises ValueError with a sentence why not.
    again : int
        Sample number of the second attempt, so that it is a new question to the ledger.
    calls : Calls
        Where the calls are remembered.

    Returns
    -------
    value or str
        What ``read`` returned, or the sentence that says why there is no value.
    """
    problem = ""
    recorded = True
    attempts = count()
    while recorded:
        attempt, recorded = next(attempts), False
        for sample in (ask.sample, again):
            first = sample == ask.sample and not attempt
            reply = calls((yield ask if first else replace(ask, sample=sample, attempt=attempt)))
            if reply.kept:
                continue
            recorded = recorded or reply.recorded
            if reply.fields is None:
                problem = reply.problem
                if reply.final:
                    return problem
                continue
            try:
                return read(reply.fields)
            except ValueError as fault:
                problem = str(fault)
    return problem
