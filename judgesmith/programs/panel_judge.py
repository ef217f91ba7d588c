"""A panel whose members point at errors: one score, and one list of errors that is checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Self

from judgesmith.errors import InputError
from judgesmith.programs.asking import Asker
from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.holding import AnyJudge, leaves_of, scale_of
from judgesmith.programs.members import Gathered, at_once
from judgesmith.programs.panel import Panel
from judgesmith.programs.panel_aspects import n_aspects
from judgesmith.programs.panel_concluding import AnnotatorsAsker, Concluding
from judgesmith.programs.panel_verdict import PanelVerdict
from judgesmith.programs.supervisor import Supervisor
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.panel_rules import PanelRules
from judgesmith.signatures.panel_weights import Middle, PanelWeights


class PanelJudge(Panel):
    """Score a response as several annotators do, and put their errors into one list.

    The annotators are asked at the same time, each its own model if it has one
    (``member.set_lm``). The score is the mean of theirs, their median, or weighed as
    ``PanelSelection`` learned. Errors of annotators whose score stands apart are left out of the
    list; their scores stay in the mean. A supervisor, if there is one, is asked only where there
    are errors, once per criterion, and what it lists is held against the response and the
    annotations; without one they are merged by rule, which takes no call.

    Parameters
    ----------
    members : dict of str to judge
        By name, judges that list errors, such as ``AnnotatorJudge``. Others add their score.
    weights : PanelWeights or None
        Of just these members; None weighs them alike, on 0 to 100.
    score : {"mean", "median"}
        What of the scores is taken where no weights are given.
    supervisor : Supervisor or None
        Who merges the errors.
    rules : PanelRules or None
        Who stands apart, how many must have a score, how many errors are kept; None takes the
        defaults.

    Raises
    ------
    ValueError
        If the weights are of other members, or both weights and another ``score`` are given.
    TypeError
        If a member is no judge.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs". Checks, small panels, median and weights are ours.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic, Direct
    >>> panel = PanelJudge({"fine": ActiveCritic(), "plain": Direct()}, supervisor=Supervisor())
    >>> found = panel(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.errors, found.merged_by, list(found.members)
    ((), 'nobody', ['fine', 'plain'])
    """

    def __init__(
        self,
        members: Mapping[str, AnyJudge],
        weights: PanelWeights | None = None,
        *,
        score: Middle = "mean",
        supervisor: Supervisor | None = None,
        rules: PanelRules | None = None,
    ) -> None:
        super().__init__(members, weights)
        if weights is None:
            scales = {name: scale_of(one) for name, one in self.members.items()}
            self._weights = PanelWeights.equal(scales, score)
        elif score not in ("mean", weights.middle):
            raise InputError(f"the weights are of the {weights.middle}; drop score={score!r}.")
        self.supervisor = supervisor
        self.rules = rules or PanelRules()

    @property
    def calls_per_item(self) -> int:
        """Model calls that one text takes, if every answer can be read and there are errors."""
        if self.supervisor is None:
            return super().calls_per_item
        asked = (one for name in self.asked for one in leaves_of(self.members[name]))
        return super().calls_per_item + n_aspects(one.protocol for one in asked)

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when a member, a rule or what a supervisor is told does."""
        own = super().fingerprint
        if self.supervisor is None:
            return own
        asked = {name: one.model_dump() for name, one in self.supervisor.templates().items()}
        plain = json.dumps([own, asked], sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:12]

    def with_weights(self, weights: PanelWeights) -> Self:
        """Return a panel of copies of the same members and supervisor with other weights."""
        other = super().with_weights(weights)
        other.rules = self.rules
        if self.supervisor is not None:
            other.supervisor = self.supervisor.deepcopy()
        return other

    def _asking_modules(self) -> list[AskingModule]:
        """Return every module that asks questions itself: members, and the supervisor."""
        own = [] if self.supervisor is None else [self.supervisor]
        return [*super()._asking_modules(), *own]

    def asker(self, of: Callable[[Any], Asker], gathered: Gathered = at_once) -> Asker:
        """Return what asks all members and the supervisor; see ``Panel.asker``."""
        askers = {name: of(self.members[name]) for name in self.asked}
        own = None if self.supervisor is None else of(self.supervisor)
        return AnnotatorsAsker(askers, self._concluding(), own, gathered)

    def combined(self, judgements: Mapping[str, Judgement]) -> PanelVerdict:
        """Return what the members' scores make, before errors are merged."""
        return self._concluding().verdict(judgements, [])

    def settings(self) -> dict[str, Any]:
        """Return weights and rules as plain data."""
        return {"weights": super().settings(), "rules": self.rules.model_dump(mode="json")}

    def adopt(self, settings: Mapping[str, Any]) -> None:
        """Take over weights and rules that ``settings`` returned."""
        super().adopt(settings["weights"])
        self.rules = PanelRules.model_validate(settings["rules"])

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return the states of members and supervisor, and what was learned beside them."""
        state = super().dump_state(json_mode=json_mode)
        own = self.supervisor
        return {**state, "supervisor": None if own is None else own.dump_state(json_mode=json_mode)}

    def load_state(self, state: dict[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Take over a state that ``dump_state`` returned.

        Raises
        ------
        ValueError
            If the state is of other members, or of a panel with a supervisor where this has none.
        """
        own = state.get("supervisor")
        if (own is None) != (self.supervisor is None):
            has, given = ("a", "none") if own is None else ("no", "one")
            raise InputError(f"this panel has {has} supervisor, the state is of {given}.")
        super().load_state(state, allow_unsafe_lm_state=allow_unsafe_lm_state)
        if self.supervisor is not None and own is not None:
            self.supervisor.load_state(own, allow_unsafe_lm_state=allow_unsafe_lm_state)

    def _concluding(self) -> Concluding:
        scales = {name: scale_of(one) for name, one in self.members.items()}
        return Concluding(weights=self._weights, rules=self.rules, scales=scales)
