"""Exemplars of every level of quality, written for a source by halving: worst, best, then between.

What is asked depends on the source, its context, the criterion and the number of levels alone, so
that a ledger has the exemplars of a source for the responses of all systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from judgesmith.programs.judging import AnySteps, Ask, Calls
from judgesmith.programs.together import together
from judgesmith.signatures.exemplars import ExemplarProtocol

WARM = 0.7
"""Least temperature of a second attempt: at 0 a model would write the same text again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A response that was written to stand on a level.

    Attributes
    ----------
    level : int
        1 (worst) to N (best).
    text : str
        As the model wrote it; perhaps empty.
    flags : tuple of str
        What is wrong with it after two attempts: ``empty``, or ``copy of level 1``.
    """

    level: int
    text: str
    flags: tuple[str, ...] = ()


def n_rounds(levels: int) -> int:
    """Return in how many rounds of questions that many exemplars are written.

    Examples
    --------
    >>> [n_rounds(n) for n in (2, 3, 4, 5, 6, 9)]
    [1, 2, 3, 3, 4, 4]
    """
    return (levels - 2).bit_length() + 1


def written_exemplars(
    protocol: ExemplarProtocol,
    criterion: str,
    *,
    source: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[tuple[Exemplar, ...] | str]:
    """Return the exemplars of levels 1 to N, or the sentence that says why there are none.

    The worst and the best are asked for at once, then what stands between them:
    ``fill(low, high)`` makes ``(low + high) // 2`` and fills both halves at the same time. A text
    that is empty or a copy of a neighbour is asked for once more, then kept and flagged.

    Parameters
    ----------
    protocol : ExemplarProtocol
        How many levels, and how the writer is asked.
    criterion : str
        As the model reads it, ``NAME: MEANING``.
    source, context : str
        What is answered, and what else there is to draw on.
    calls : Calls
        Where the calls are remembered.
    """
    writing = _Writing(protocol, {"source": source, "context": context}, criterion, calls)
    n = protocol.levels
    problems = yield from together([writing.end(1, other=n), writing.end(n, other=1)])
    problem = next(filter(None, problems), "") or (yield from writing.between(1, n))
    return problem or tuple(writing.found[level] for level in range(1, n + 1))


@dataclass(frozen=True, slots=True)
class _Writing:
    protocol: ExemplarProtocol
    texts: Mapping[str, str | None]
    criterion: str
    calls: Calls
    found: dict[int, Exemplar] = field(default_factory=dict)

    def end(self, level: int, *, other: int) -> AnySteps[str]:
        """Write the worst or the best; return why there is none, or nothing."""
        name = "worst" if level == 1 else "best"
        said = f"{level} of {self.protocol.levels}: the {name} possible response"
        return self._one("end", level, said, beside=(other,))

    def between(self, low: int, high: int) -> AnySteps[str]:
        """Write all between two that are there; return why one is missing, or nothing."""
        if high - low < 2:
            return ""
        level = (low + high) // 2
        said = f"{level} of {self.protocol.levels}, where {self.protocol.levels} is the best"
        problem = yield from self._one("between", level, said, beside=(low, high))
        if problem:
            return problem
        halves = [self.between(low, level), self.between(level, high)]
        problems = yield from together(halves)
        return next(filter(None, problems), "")

    def _one(self, question: str, level: int, said: str, beside: tuple[int, ...]) -> AnySteps[str]:
        inputs = {**self.texts, "criterion": self.criterion, "level": said}
        if question == "between":
            inputs |= {
                name: self.found[one].text
                for name, one in zip(("worse", "better"), beside, strict=True)
            }
        own = self.protocol.writer_temperature
        first = Ask(predictor=question, inputs=inputs, temperature=own)
        problem = ""
        for ask in (first, replace(first, sample=1, temperature=max(own, WARM))):
            reply = self.calls((yield ask))
            if reply.fields is None:
                problem = reply.problem
                if reply.final:
                    break
                continue
            text = str(reply.fields["exemplar"]).strip()
            flags = self._flags(text, beside)
            if text or level not in self.found:  # a copy still says more than nothing
                self.found[level] = Exemplar(level=level, text=text, flags=flags)
            if not flags:
                break
        return "" if level in self.found else f"no exemplar of level {level}: {problem}"

    def _flags(self, text: str, beside: tuple[int, ...]) -> tuple[str, ...]:
        if not text:
            return ("empty",)
        copied = (one for one in beside if one in self.found and _alike(self.found[one].text, text))
        return tuple(f"copy of level {one}" for one in copied)


def _alike(first: str, second: str) -> bool:
    return first.casefold().split() == second.casefold().split()
