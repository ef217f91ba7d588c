"""What judges that hold judges ask, whom they may hold, and what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from statistics import pstdev
from typing import Any

from pydantic import Field, FiniteFloat

from judgesmith.errors import InputError
from judgesmith.programs.judging.executors import Asker
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm.errors import speaks_of_one_item
from judgesmith.signatures.aggregation import Calibration, Doubt, PanelWeights
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

Asked = Iterable[Coroutine[Any, Any, Judgement]]
"""What every member is asked, under way when it is awaited."""


async def at_once(asked: Asked) -> list[Judgement | BaseException]:
    """Return what all members say, or their faults, asked at the same time."""
    return await asyncio.gather(*asked, return_exceptions=True)


async def in_turn(asked: Asked) -> list[Judgement | BaseException]:
    """Return what all members say, or their faults, asked one after the other."""
    said: list[Judgement | BaseException] = []
    for one in asked:
        try:
            said.append(await one)
        except Exception as fault:
            if not speaks_of_one_item(fault):
                raise
            said.append(fault)
    return said


Gathered = Callable[[Asked], Coroutine[Any, Any, list[Judgement | BaseException]]]
"""How members are asked."""


class MembersAsker(Asker):
    """Asks all members and makes one judgement of what comes back."""

    def __init__(
        self,
        askers: Mapping[str, Asker],
        combined: Callable[[Mapping[str, Judgement]], Judgement],
        gathered: Gathered = at_once,
    ) -> None:
        self._askers = dict(askers)
        self._combined = combined
        self._gathered = gathered

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item; none where no member can be asked."""
        return self._combined(await self.judgements(item))

    async def judgements(self, item: RatedItem) -> dict[str, Judgement]:
        """Return what every member says of one item."""
        said = await self._gathered(asker.judge(item) for asker in self._askers.values())
        found: dict[str, Judgement] = {}
        faults = []
        for name, one in zip(self._askers, said, strict=True):
            if isinstance(one, Judgement):
                found[name] = one
                continue
            if not speaks_of_one_item(one):
                raise one
            faults.append(one)
            found[name] = Judgement.unscored(f"the model could not be asked: {one}")
        if len(faults) == len(said):
            raise faults[0]
        return found

    async def aclose(self) -> None:
        """Let go of what the members hold."""
        for asker in self._askers.values():
            await asker.aclose()


def refuse_ranks(name: str, member: object) -> None:
    """Refuse to hold a judge that ranks the responses to a source: members are asked one by one."""
    protocol = getattr(member, "protocol", None)
    if isinstance(protocol, JudgeConfig) and family_of(protocol.judge).ranks:
        raise InputError(
            f"{name} is a {protocol.judge} judge: it ranks the responses to a source, and no panel "
            "or calibration makes points of ranks; leave it out."
        )


class PanelJudgement(Judgement):
    """What a panel says of one response."""

    members: Mapping[str, FiniteFloat | None] = Field(default_factory=dict)
    voice: str | None = None
    disagreement: FiniteFloat | None = None


def panel_judgement(judgements: Mapping[str, Judgement], weights: PanelWeights) -> PanelJudgement:
    """Return the judgement that those of a panel's members make."""
    scores = {name: judgements[name].score for name in weights.asked}
    calls = tuple(call for name in weights.asked for call in judgements[name].calls)
    how = {
        f"{name}/{term}": one
        for name in weights.asked
        for term, one in judgements[name].weighting.items()
    }
    notes = tuple(
        note.model_copy(update={"about": f"{name}/{note.about}"})
        for name in weights.asked
        for note in judgements[name].notes
    )
    score = weights.apply(scores)
    if score is None:
        reasons = "; ".join(f"{name}: {judgements[name].problem}" for name in weights.asked)
        problem = f"no member of the panel gave a score: {reasons}"
        return PanelJudgement(score=None, problem=problem, calls=calls, members=scores, notes=notes)
    voice = next(name for name in weights.asked if scores[name] is not None)
    return PanelJudgement(
        score=score,
        explanation=judgements[voice].explanation,
        criteria=judgements[voice].criteria,
        errors=judgements[voice].errors,
        calls=calls,
        members=scores,
        voice=voice,
        disagreement=weights.disagreement(scores),
        weighting=how,
        notes=notes,
    )


class CalibratedJudgement(Judgement):
    """A verdict on the scale of people, and how far to trust it."""

    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    abstained: bool = False
    doubt: FiniteFloat | None = None
    uncalibrated: FiniteFloat | None = None


def calibrated(judgement: Judgement, calibration: Calibration) -> CalibratedJudgement:
    """Return a judgement of a judge on the scale of people, or why it is left to them."""
    names = Judgement.model_fields
    kept = {name: getattr(judgement, name) for name in names}
    if judgement.score is None:
        return CalibratedJudgement(**kept)
    points = calibration.apply(judgement.score)
    low, high = calibration.interval(points)
    rule = calibration.abstention
    doubt = None if rule is None else doubt_of(judgement, rule.doubt)
    why_not = None if rule is None else rule.why_not(doubt)
    return CalibratedJudgement(
        **{**kept, "score": points if why_not is None else None, "problem": why_not},
        low=low,
        high=high,
        abstained=why_not is not None,
        doubt=doubt,
        uncalibrated=judgement.score,
    )


def doubt_of(judgement: Judgement, kind: Doubt) -> float | None:
    """Return how unsure a judge is of a score, None where nothing tells."""
    if kind == "members":
        return judgement.disagreement if isinstance(judgement, PanelJudgement) else None
    scores = [one.score for one in judgement.criteria.values() if one.score is not None]
    return pstdev(scores) if len(scores) > 1 else None
