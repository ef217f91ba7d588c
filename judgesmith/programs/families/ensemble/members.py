"""How ensembles ask their members and combine their judgements."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from statistics import pstdev
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, FiniteFloat

from judgesmith.errors import InputError
from judgesmith.programs.families.ensemble.merging import (
    Aspect,
    Merging,
    aspects_of,
    merged_by_rule,
    merging_steps,
    most_severe,
)
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.program import RequestProgram, gather, with_note
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm.errors import speaks_of_one_item
from judgesmith.signatures.aggregation import (
    Calibration,
    Decision,
    Doubt,
    PanelRules,
    PanelWeights,
)
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import (
    Cause,
    CriterionScore,
    ErrorSpan,
    Judgement,
    Note,
    Reason,
)
from judgesmith.signatures.scale import Scale

Asked = Iterable[Coroutine[Any, Any, Judgement]]
"""What every member is asked, under way when it is awaited."""


async def at_once(asked: Asked) -> list[Judgement | BaseException]:
    return await asyncio.gather(*asked, return_exceptions=True)


async def one_by_one(asked: Asked) -> list[Judgement | BaseException]:
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


class MembersExecutor(Executor):
    """Asks all members and combines their judgements."""

    def __init__(
        self,
        executors: Mapping[str, Executor],
        combined: Callable[[Mapping[str, Judgement]], Judgement],
        gathered: Gathered = at_once,
    ) -> None:
        self._executors = dict(executors)
        self._combined = combined
        self._gathered = gathered

    async def judge(self, item: RatedItem) -> Judgement:
        return self._combined(await self.judgements(item))

    async def judgements(self, item: RatedItem) -> dict[str, Judgement]:
        said = await self._gathered(executor.judge(item) for executor in self._executors.values())
        found: dict[str, Judgement] = {}
        faults = []
        for name, one in zip(self._executors, said, strict=True):
            if isinstance(one, Judgement):
                found[name] = one
                continue
            if not speaks_of_one_item(one):
                raise one
            faults.append(one)
            why = f"the model could not be asked: {one}"
            found[name] = Judgement.unscored(why, reason=one.reason)
        if len(faults) == len(said):
            raise faults[0]
        return found

    async def aclose(self) -> None:
        for executor in self._executors.values():
            await executor.aclose()


def refuse_ranks(name: str, member: object) -> None:
    """Refuse a member that ranks the responses to a source: its scores cannot be combined."""
    protocol = getattr(member, "protocol", None)
    if isinstance(protocol, JudgeConfig) and family_of(protocol.judge).ranks:
        raise InputError(
            f"{name} is a {protocol.judge} judge: it ranks the responses to a source, and ranks "
            "cannot be combined or calibrated.",
            hint="leave it out.",
        )


class PanelJudgement(Judgement):
    """A panel's judgement of one response."""

    members: Mapping[str, FiniteFloat | None] = Field(default_factory=dict)
    voice: str | None = None
    disagreement: FiniteFloat | None = None


def panel_judgement(judgements: Mapping[str, Judgement], weights: PanelWeights) -> PanelJudgement:
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
        why = {"problem": problem, "reason": judgements[weights.asked[0]].reason}
        return PanelJudgement(score=None, **why, calls=calls, members=scores, notes=notes)
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
        **_voted(judgements, weights, score),
    )


def _voted(
    judgements: Mapping[str, Judgement], weights: PanelWeights, score: float
) -> dict[str, Any]:
    """Return the label that most of the weight votes for; of a tie, that of the score."""
    scale = weights.scale
    if not scale.is_verdict or not scale.ordered:
        return {}
    share = scale.fraction(score)
    votes = dict.fromkeys(scale.labels, 0.0)
    for name, weight in zip(weights.members, weights.weights, strict=True):
        label = judgements[name].label if name in weights.asked else None
        if label in votes:
            votes[label] += weight
    most = [one for one in votes if isclose(votes[one], max(votes.values()), rel_tol=1e-9)]
    label = most[0] if len(most) == 1 else Decision(scale=scale).label(share)
    bad, *_, good = scale.labels
    two = {bad: 1 - share, good: share} if len(votes) == 2 else {}
    return {"label": label, "probability": two}


class Weighing:
    """What a panel is, saved or not: one score by the weights of its members."""

    if TYPE_CHECKING:
        weights: PanelWeights

    @property
    def scale(self) -> Scale:
        """What scores are measured in."""
        return self.weights.scale

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the members whose weight is above 0, the heaviest first."""
        return self.weights.asked

    def combined(self, judgements: Mapping[str, Judgement]) -> PanelJudgement:
        """Return the judgement that the members' judgements make, before errors are merged."""
        return panel_judgement(judgements, self.weights)


class CalibratedJudgement(Judgement):
    """A judgement on the human scale, with an interval."""

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
    if why_not is not None:
        kept |= {"problem": why_not, "reason": Reason.LEFT_TO_PEOPLE}
    return CalibratedJudgement(
        **{**kept, "score": points if why_not is None else None},
        low=low,
        high=high,
        abstained=why_not is not None,
        doubt=doubt,
        uncalibrated=judgement.score,
    )


def doubt_of(judgement: Judgement, kind: Doubt) -> float | None:
    """Return how uncertain a score is; None if that is unknown."""
    if kind == "members":
        return judgement.disagreement if isinstance(judgement, PanelJudgement) else None
    scores = [one.score for one in judgement.criteria.values() if one.score is not None]
    return pstdev(scores) if len(scores) > 1 else None


class Calibrating:
    """What a calibrated judge is, saved or not: the scores of one member on the human scale."""

    if TYPE_CHECKING:
        calibration: Calibration

    @property
    def scale(self) -> Scale:
        """What people rate on."""
        return self.calibration.scale

    @property
    def asked(self) -> tuple[str, ...]:
        """The one member."""
        return ("judge",)

    def combined(self, judgements: Mapping[str, Judgement]) -> CalibratedJudgement:
        return calibrated(judgements["judge"], self.calibration)


MergedBy = Literal["supervisor", "rule", "nobody"]
"""Who made one list of the members' errors; ``nobody`` if there were none to merge."""


class PanelVerdict(PanelJudgement):
    """A ``PanelJudge``'s judgement of one response."""

    annotations: Mapping[str, tuple[ErrorSpan, ...]] = Field(default_factory=dict)
    outliers: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    support: tuple[tuple[str, ...], ...] = ()
    merged_by: MergedBy = "nobody"
    n_dropped: int = 0


def panel_verdict(
    judgements: Mapping[str, Judgement],
    weights: PanelWeights,
    rules: PanelRules,
    merged: Sequence[tuple[Aspect, Merging]] = (),
    *,
    by: MergedBy = "nobody",
) -> PanelVerdict:
    whole = panel_judgement(judgements, weights)
    asked = [name for name in weights.members if name in weights.asked]
    parts = {name: getattr(whole, name) for name in PanelJudgement.model_fields}
    parts["annotations"] = {name: judgements[name].errors for name in asked}
    parts["calls"] = (*whole.calls, *(call for _, one in merged for call in one.calls))
    few = _too_few(judgements, asked, rules)
    if whole.score is None or few:
        cause = whole.cause or few
        assert cause is not None  # as one of both says why
        nothing: dict[str, Any] = {"score": None, "criteria": {}, "errors": (), "explanation": ""}
        why = {"problem": cause.text, "reason": cause.reason}
        return PanelVerdict(**{**parts, **nothing, **why, "voice": None})
    voice = weights.nearest(whole.members)
    assert voice is not None  # as there is a score
    kept = [one for _, aspect in merged for one in most_severe(aspect.merged, rules.most)]
    outliers = {one.about: one.outliers for one, _ in merged if one.outliers}
    parts |= {
        "voice": voice,
        "explanation": judgements[voice].explanation,
        "criteria": _criteria(judgements, asked, weights, rules),
        "errors": tuple(one.error for one in kept),
        "notes": (*whole.notes, *_notes(merged)),
    }
    return PanelVerdict(
        **parts,
        outliers=outliers,
        support=tuple(one.members for one in kept),
        merged_by=_merged_by(merged, by),
        n_dropped=sum(one.n_dropped for _, one in merged),
    )


def _too_few(
    judgements: Mapping[str, Judgement], asked: Sequence[str], rules: PanelRules
) -> Cause | None:
    """Return why too few members have a score; None if enough have."""
    without = {name: one for name in asked if (one := judgements[name].cause) is not None}
    n = len(asked) - len(without)
    if n >= rules.readable * len(asked):
        return None
    reasons = "; ".join(f"{name}: {cause}" for name, cause in without.items())
    return Cause(
        next(iter(without.values())).reason,
        f"{n} of {len(asked)} members gave a score, and {rules.readable:.0%} of them are needed: "
        f"{reasons}",
    )


def _criteria(
    judgements: Mapping[str, Judgement],
    asked: Sequence[str],
    weights: PanelWeights,
    rules: PanelRules,
) -> dict[str, CriterionScore]:
    alike = weights.on_percent()
    found = {}
    for criterion in dict.fromkeys(one for name in asked for one in judgements[name].criteria):
        said = {
            name: judgements[name].criteria[criterion]
            for name in asked
            if criterion in judgements[name].criteria
        }
        scores = {name: one.score for name, one in said.items()}
        nearest = alike.nearest(scores)
        n = sum(score is not None for score in scores.values())
        if nearest is None or n < rules.readable * len(said):
            reasons = "; ".join(
                f"{name}: {one.explanation}" for name, one in said.items() if one.score is None
            )
            found[criterion] = CriterionScore(score=None, explanation=reasons)
            continue
        words = said[nearest].explanation
        found[criterion] = CriterionScore(score=alike.apply(scores), explanation=words)
    return found


def _notes(merged: Sequence[tuple[Aspect, Merging]]) -> list[Note]:
    found: list[Note] = []
    for aspect, one in merged:
        found.extend(aspect.notes)
        if one.problem:
            text = f"the errors are merged by rule: {one.problem.rstrip('.')}."
            found.append(Note(kind="unread", about=f"supervisor/{aspect.about}", text=text))
        if one.n_dropped:
            entries = "entry was" if one.n_dropped == 1 else "entries were"
            text = f"{one.n_dropped} {entries} dropped: in no place that an annotator points at."
            found.append(Note(kind="left out", about=f"supervisor/{aspect.about}", text=text))
        kept = {number for error in one.merged for number in error.numbers}
        if n := len({a.number for a in aspect.annotations} - kept):
            text = f"{n} annotation{' is' if n == 1 else 's are'} in no entry of the list."
            found.append(Note(kind="left out", about=f"supervisor/{aspect.about}", text=text))
    return found


def _merged_by(merged: Sequence[tuple[Aspect, Merging]], by: MergedBy) -> MergedBy:
    asked = [one for aspect, one in merged if aspect.annotations]
    if not asked:
        return "nobody"
    return "rule" if by == "supervisor" and all(one.problem for one in asked) else by


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluding:
    """Combines members' judgements into the panel's; plain data."""

    weights: PanelWeights
    rules: PanelRules
    scales: Mapping[str, Scale]

    def aspects(self, judgements: Mapping[str, Judgement], response: str) -> list[Aspect]:
        """Return what is to be merged; nothing where the panel has no score."""
        if self.verdict(judgements, []).score is None:
            return []
        asked = [name for name in self.weights.members if name in self.weights.asked]
        return aspects_of(judgements, asked, self.scales, self.rules, response)

    def by_rule(
        self, judgements: Mapping[str, Judgement], response: str, problem: str = ""
    ) -> PanelVerdict:
        """Return the judgement with errors merged by rule; ``problem`` says why."""
        aspects = self.aspects(judgements, response)
        merged = [
            Merging(merged=tuple(merged_by_rule(one.annotations, response)), problem=problem)
            if one.annotations
            else Merging(merged=())
            for one in aspects
        ]
        return self.verdict(judgements, list(zip(aspects, merged, strict=True)), by="rule")

    def steps(
        self, judgements: Mapping[str, Judgement], response: str
    ) -> RequestProgram[PanelVerdict]:
        aspects = self.aspects(judgements, response)
        merged = yield from gather([merging_steps(one.annotations, response) for one in aspects])
        return self.verdict(judgements, list(zip(aspects, merged, strict=True)), by="supervisor")

    def verdict(
        self,
        judgements: Mapping[str, Judgement],
        merged: Sequence[tuple[Aspect, Merging]],
        *,
        by: MergedBy = "nobody",
    ) -> PanelVerdict:
        return panel_verdict(judgements, self.weights, self.rules, merged, by=by)


class AnnotatorsExecutor(MembersExecutor):
    """Asks all members, then the supervisor, if there is one, about their errors."""

    def __init__(
        self,
        executors: Mapping[str, Executor],
        concluding: Concluding,
        supervisor: Executor | None,
        gathered: Gathered = at_once,
        *,
        note: Note | None = None,
    ) -> None:
        super().__init__(executors, lambda judgements: concluding.verdict(judgements, []), gathered)
        self._note = note
        self._concluding = concluding
        self._supervisor = supervisor

    async def judge(self, item: RatedItem) -> Judgement:
        return with_note(await self._concluded(item), self._note)

    async def _concluded(self, item: RatedItem) -> Judgement:
        judgements = await self.judgements(item)
        if self._supervisor is None:
            return self._concluding.by_rule(judgements, item.response)
        try:
            return await self._supervisor.run(self._concluding.steps(judgements, item.response))
        except Exception as fault:
            if not speaks_of_one_item(fault):
                raise
            problem = f"the supervisor could not be asked: {fault}"
            return self._concluding.by_rule(judgements, item.response, problem)

    async def aclose(self) -> None:
        await super().aclose()
        if self._supervisor is not None:
            await self._supervisor.aclose()
