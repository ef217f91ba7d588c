"""The exemplars of sources, taken out of a judge and put in order by it: no response is judged."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, FiniteFloat

from judgesmith.errors import InputError
from judgesmith.programs.asking import Askable, Asker
from judgesmith.programs.exemplar_comparing import comparisons
from judgesmith.programs.exemplar_steps import criteria_lines
from judgesmith.programs.exemplar_writing import written_exemplars
from judgesmith.programs.judging import AnySteps, Calls
from judgesmith.programs.together import together
from judgesmith.signatures.exemplars import ExemplarProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem


class Rung(BaseModel):
    """One exemplar, and how the judge places it against the one below.

    Parameters
    ----------
    level : int
        1 (worst) to N (best).
    text : str
        As it was written.
    flags : tuple of str
        ``empty``, ``copy of level 1``; see ``Exemplar``.
    above : float or None
        Probability that it is better than the level below, less that it is worse, -1 to 1; None
        for the lowest, and where the verdict is missing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: int
    text: str
    flags: tuple[str, ...] = ()
    above: FiniteFloat | None = None


class Ladder(BaseModel):
    """The exemplars of one source and criterion.

    Parameters
    ----------
    criterion : str
        Its name.
    rungs : tuple of Rung
        From worst to best; none where they could not be written.
    problem : str
        Why rungs or verdicts are missing; empty where none are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    criterion: str
    rungs: tuple[Rung, ...] = ()
    problem: str = ""


class LadderJudgement(Judgement):
    """What becomes of one source: its ladders, and as the score how many neighbours are in order.

    Parameters
    ----------
    ladders : tuple of Ladder
        By criterion, in the rubric's order.
    score, problem, calls
        Share of neighbouring pairs in order on 0 to 100; see ``Judgement``.
    """

    ladders: tuple[Ladder, ...] = ()


class LadderAsker(Asker):
    """Writes the exemplars of items' sources and compares neighbours; responses are not read.

    Parameters
    ----------
    judge : ExemplarJudge or SavedJudge
        Of the family ``exemplar``.
    lm : dspy.LM or None
        As for ``Asker.of``.

    Raises
    ------
    ValueError
        If the judge writes no exemplars.
    """

    def __init__(self, judge: Askable, lm: Any = None) -> None:
        if not isinstance(judge.protocol, ExemplarProtocol):
            raise InputError(
                f"only exemplar judges write exemplars; this is one of the family "
                f"{judge.protocol.judge}."
            )
        self._protocol = judge.protocol
        self._asker = Asker.of(judge, lm)

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the ladders of an item's source."""
        steps = ladder_steps(self._protocol, source=item.source, context=item.context)
        return await self._asker.taken(steps)

    async def aclose(self) -> None:
        """Let go of what belongs to the running event loop."""
        await self._asker.aclose()


def ladder_steps(
    protocol: ExemplarProtocol, *, source: str, context: str | None = None
) -> AnySteps[LadderJudgement]:
    """Write the exemplars of one source for every criterion, and compare neighbours.

    The requests for exemplars are those that judging makes, so that both share their answers.
    """
    calls = Calls()
    courses = [
        _ladder(protocol, name, line, source, context, calls)
        for name, line in criteria_lines(protocol).items()
    ]
    ladders = tuple((yield from together(courses)))
    placed = [rung.above for one in ladders for rung in one.rungs if rung.above is not None]
    if not placed:
        reason = next((one.problem for one in ladders if one.problem), "there are no neighbours")
        return LadderJudgement(score=None, problem=reason, calls=tuple(calls.made), ladders=ladders)
    score = 100 * sum(one > 0 for one in placed) / len(placed)
    return LadderJudgement(score=score, calls=tuple(calls.made), ladders=ladders)


def _ladder(
    protocol: ExemplarProtocol,
    name: str,
    line: str,
    source: str,
    context: str | None,
    calls: Calls,
) -> AnySteps[Ladder]:
    written = yield from written_exemplars(
        protocol, line, source=source, context=context, calls=calls
    )
    if isinstance(written, str):
        return Ladder(criterion=name, problem=written)
    pairs = zip(written[1:], written[:-1], strict=True)
    verdicts = yield from together(
        [
            comparisons(
                protocol,
                line,
                upper.text,
                [lower.text],
                source=source,
                context=context,
                calls=calls,
            )
            for upper, lower in pairs
        ]
    )
    found = [None if isinstance(one, str) else one.compared[0] for one in verdicts]
    above = [None, *(None if one is None else one.better - one.worse for one in found)]
    return Ladder(
        criterion=name,
        rungs=tuple(
            Rung(level=one.level, text=one.text, flags=one.flags, above=by)
            for one, by in zip(written, above, strict=True)
        ),
        problem=next((one for one in verdicts if isinstance(one, str)), ""),
    )
