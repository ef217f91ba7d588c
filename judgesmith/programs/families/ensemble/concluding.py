"""From what the members of a panel say of a response to one judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from judgesmith.programs.families.ensemble.members import (
    Gathered,
    MembersAsker,
    PanelJudgement,
    at_once,
    panel_judgement,
)
from judgesmith.programs.families.ensemble.merging import (
    Aspect,
    aspects_of,
    merged_by_rule,
    most_severe,
)
from judgesmith.programs.families.ensemble.supervision import Merging, merging_steps
from judgesmith.programs.judging.executors import Asker
from judgesmith.programs.judging.program import AnySteps, together
from judgesmith.programs.lm.errors import speaks_of_one_item
from judgesmith.signatures.aggregation import PanelRules, PanelWeights
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Judgement, Note
from judgesmith.signatures.scale import Scale

MergedBy = Literal["supervisor", "rule", "nobody"]
"""Who made one list of the members' errors; nobody where there were none to merge."""


class PanelVerdict(PanelJudgement):
    """What a ``PanelJudge`` says of one response."""

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
    """Return the judgement that members' judgements and their merged errors make."""
    whole = panel_judgement(judgements, weights)
    asked = [name for name in weights.members if name in weights.asked]
    parts = {name: getattr(whole, name) for name in PanelJudgement.model_fields}
    parts["annotations"] = {name: judgements[name].errors for name in asked}
    parts["calls"] = (*whole.calls, *(call for _, one in merged for call in one.calls))
    few = _too_few(judgements, asked, rules)
    if whole.score is None or few:
        problem = whole.problem or few
        nothing: dict[str, Any] = {"score": None, "criteria": {}, "errors": (), "explanation": ""}
        return PanelVerdict(**{**parts, **nothing, "problem": problem, "voice": None})
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
) -> str | None:
    """Return why there is no score although a member has one."""
    without = {name: judgements[name].problem for name in asked if judgements[name].score is None}
    n = len(asked) - len(without)
    if n >= rules.readable * len(asked):
        return None
    reasons = "; ".join(f"{name}: {problem}" for name, problem in without.items())
    return (
        f"{n} of {len(asked)} members gave a score, and {rules.readable:.0%} of them are needed: "
        f"{reasons}"
    )


def _criteria(
    judgements: Mapping[str, Judgement],
    asked: Sequence[str],
    weights: PanelWeights,
    rules: PanelRules,
) -> dict[str, CriterionScore]:
    """Return each criterion's score as the panel's is made, and the words of who is nearest."""
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
    """How a panel comes from its members' judgements to its own; plain data."""

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
        """Return the judgement with errors merged by rule, and why by rule if there is a reason."""
        aspects = self.aspects(judgements, response)
        merged = [
            Merging(merged=tuple(merged_by_rule(one.annotations, response)), problem=problem)
            if one.annotations
            else Merging(merged=())
            for one in aspects
        ]
        return self.verdict(judgements, list(zip(aspects, merged, strict=True)), by="rule")

    def steps(self, judgements: Mapping[str, Judgement], response: str) -> AnySteps[PanelVerdict]:
        """Ask a supervisor for one list per criterion, all at once, and return the judgement."""
        aspects = self.aspects(judgements, response)
        merged = yield from together([merging_steps(one.annotations, response) for one in aspects])
        return self.verdict(judgements, list(zip(aspects, merged, strict=True)), by="supervisor")

    def verdict(
        self,
        judgements: Mapping[str, Judgement],
        merged: Sequence[tuple[Aspect, Merging]],
        *,
        by: MergedBy = "nobody",
    ) -> PanelVerdict:
        """Return the judgement; see ``panel_verdict``."""
        return panel_verdict(judgements, self.weights, self.rules, merged, by=by)


class AnnotatorsAsker(MembersAsker):
    """Asks all members, then the supervisor if there is one and there are errors."""

    def __init__(
        self,
        askers: Mapping[str, Asker],
        concluding: Concluding,
        supervisor: Asker | None,
        gathered: Gathered = at_once,
    ) -> None:
        super().__init__(askers, lambda judgements: concluding.verdict(judgements, []), gathered)
        self._concluding = concluding
        self._supervisor = supervisor

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item; none where no member can be asked."""
        judgements = await self.judgements(item)
        if self._supervisor is None:
            return self._concluding.by_rule(judgements, item.response)
        try:
            return await self._supervisor.taken(self._concluding.steps(judgements, item.response))
        except Exception as fault:
            if not speaks_of_one_item(fault):
                raise
            problem = f"the supervisor could not be asked: {fault}"
            return self._concluding.by_rule(judgements, item.response, problem)

    async def aclose(self) -> None:
        """Let go of what the members and the supervisor hold."""
        await super().aclose()
        if self._supervisor is not None:
            await self._supervisor.aclose()
