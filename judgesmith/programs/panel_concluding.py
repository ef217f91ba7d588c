"""From what the members of a panel say of a response to one judgement, errors merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgesmith.programs.asking import Asker
from judgesmith.programs.judging import AnySteps
from judgesmith.programs.members import Gathered, MembersAsker, at_once
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.panel_aspects import Aspect, aspects_of
from judgesmith.programs.panel_merging import merged_by_rule
from judgesmith.programs.panel_verdict import MergedBy, PanelVerdict, panel_verdict
from judgesmith.programs.supervisor_steps import Merging, merging_steps
from judgesmith.programs.together import together
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.panel_rules import PanelRules
from judgesmith.signatures.panel_weights import PanelWeights
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluding:
    """How a panel comes from its members' judgements to its own; plain data.

    Attributes
    ----------
    weights : PanelWeights
        How scores become one.
    rules : PanelRules
        How lists of errors become one.
    scales : dict of str to Scale
        What each member's score is measured in.
    """

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
    """Asks all members, then the supervisor if there is one and there are errors.

    Parameters
    ----------
    askers : dict of str to Asker
        The members, by name.
    concluding : Concluding
        Makes one judgement of theirs.
    supervisor : Asker or None
        Who merges the errors; None has them merged by rule.
    gathered : callable
        ``at_once`` or ``in_turn``.
    """

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
        """Return the judgement of one item; none where no member can be asked.

        Where the supervisor refuses one request or cannot be reached, its errors are merged by
        rule and a note says why; what speaks of the set-up, and a spent budget, end the item as
        they would for a member.
        """
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
