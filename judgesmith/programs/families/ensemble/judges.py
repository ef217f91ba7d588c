"""Ensembles as DSPy modules: panels, panels that merge errors, and calibrated judges."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.families.ensemble.members import (
    AnnotatorsExecutor,
    Calibrating,
    Concluding,
    Gathered,
    MembersExecutor,
    PanelVerdict,
    Weighing,
    at_once,
    one_by_one,
    refuse_ranks,
)
from judgesmith.programs.families.ensemble.merging import Annotation, merging_steps, n_aspects
from judgesmith.programs.judging.dspy_executor import AskingModule, our_errors
from judgesmith.programs.judging.executors import Executor, calls_per_item, current_lm
from judgesmith.programs.judging.judge import Judge, JudgeModule
from judgesmith.programs.judging.program import RequestProgram
from judgesmith.programs.lm import AnyModel
from judgesmith.programs.lm.waiting import driven
from judgesmith.signatures.aggregation import Calibration, Middle, PanelRules, PanelWeights
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.items import RatedItem, item_to_judge
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.questions.supervisor import MergeAnnotations


class Supervisor(AskingModule):
    """Merges the errors that several annotators list for one response, for a ``PanelJudge``.

    It asks the model that its predictor holds (``supervisor.set_lm``), else the one that all
    members of the panel are asked. Instruction and demonstrations of ``merge`` are open to
    DSPy's optimizers like those of any predictor.

    Examples
    --------
    >>> from judgesmith.signatures.judgement import ErrorSpan
    >>> def said(number, member, start, end):
    ...     error = ErrorSpan(text="", start=start, end=end, severity=2, explanation="Wrong.")
    ...     return Annotation(number=number, member=member, error=error)
    >>> both = [said(1, "a", 18, 21), said(2, "b", 15, 21)]
    >>> found = Supervisor()(response="The ferry left at ten.", annotations=both)
    >>> [one.error.text for one in found.merged], found.n_dropped, found.problem
    (['at ten'], 0, '')
    """

    def __init__(self) -> None:
        super().__init__(ActiveCriticConfig())
        self.merge = dspy.Predict(MergeAnnotations)

    def forward(self, *, response: str, annotations: Sequence[Annotation]) -> dspy.Prediction:
        """Merge the numbered annotations of one response.

        Returned are ``merged`` (the errors), ``n_dropped`` (entries that did not stand up to the
        checks), ``problem`` (why they were merged by rule instead, else empty) and ``calls``.
        """
        found = self.run(merging_steps(annotations, response))
        return dspy.Prediction(
            merged=found.merged, n_dropped=found.n_dropped, problem=found.problem, calls=found.calls
        )


Found = TypeVar("Found")


class CompositeJudge(JudgeModule):
    """A judge that combines other judges; it is called, copied and saved like any other module."""

    seen_keys: frozenset[str]

    if TYPE_CHECKING:
        protocol: Any  # a single judge's alone, and judgesmith.load returns either

    def __init__(self, members: Mapping[str, AnyJudge]) -> None:
        super().__init__()
        if not isinstance(members, Mapping):
            raise TypeError(
                'members must be a dict of judges by name, such as {"fine": judge}; got '
                f"{type(members).__name__}. Give every judge a name."
            )
        if not members:
            raise InputError("a composite judge needs at least one member; got none.")
        for name, member in members.items():
            if not isinstance(member, Judge | CompositeJudge):
                raise TypeError(f"{name} must be a judge; got {type(member).__name__}.")
            refuse_ranks(name, member)
        self.members = dict(members)
        self.seen_keys = frozenset[str]().union(*(one.seen_keys for one in members.values()))

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()

    @property
    @abstractmethod
    def asked(self) -> tuple[str, ...]:
        """Names of the members that are asked."""

    @abstractmethod
    def combined(self, judgements: Mapping[str, Judgement]) -> Judgement:
        """Return the judgement that the asked members' judgements make."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""

    @abstractmethod
    def adopt(self, settings: Mapping[str, Any]) -> None:
        """Take over what ``settings`` returned."""

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when a member or anything learned does."""
        members = {name: one.fingerprint for name, one in self.members.items()}
        return fingerprint_of([type(self).__name__, members, self.settings()])

    @property
    def calls_per_item(self) -> int:
        return sum(calls_per_item(self.members[name]) for name in self.asked)

    def use_context(self) -> None:
        """Let DSPy's current model, if there is one, take precedence over bound models."""
        for module in self._asking_modules():
            module.use_context()

    def with_own_models(self) -> tuple[Self, dspy.LM]:
        """Return the judge with the models that members are bound to, and the first of them."""
        if all(one.binding is None for one in self._asking_modules()):
            return self, current_lm()
        other = self.deepcopy()
        asked = [one.with_own_models() for one in other._asking_modules()]
        for module, lm in asked:
            for predictor in module.predictors():
                predictor.lm = predictor.lm or lm
        return other, asked[0][1]

    def _asking_modules(self) -> list[AskingModule]:
        """Return every module that asks questions itself."""
        return list(leaves_of(self))

    def bound_to(self, lm: AnyModel) -> Executor:
        """Return an executor of all members, each bound to its own model or else to ``lm``."""
        lm = lm or current_lm()
        return self.executor(lambda one: Executor.of(one, lm))

    def executor(self, of: Callable[[Any], Executor], gathered: Gathered = at_once) -> Executor:
        """Return what asks all members: every way to ask this judge comes through here."""
        executors = {name: of(self.members[name]) for name in self.asked}
        return MembersExecutor(executors, self.combined, gathered)

    def forward(
        self,
        *,
        source: str,
        response: str,
        context: str | None = None,
        references: Sequence[str] = (),
    ) -> dspy.Prediction:
        """Judge one response; see ``Judge.forward``. Members are asked one after the other."""
        item = item_to_judge(source, response, context, references)
        executor = self.executor(lambda one: _Called(one, blocking=True), one_by_one)
        return self._prediction(driven(executor.judge(item)))

    async def aforward(self, **texts: Any) -> dspy.Prediction:
        """Judge one response without blocking, asking all members at once; see ``forward``."""
        item = item_to_judge(**texts)
        executor = self.executor(lambda one: _Called(one, blocking=False))
        return self._prediction(await executor.judge(item))

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return the members' states, and what was learned beside them."""
        states = {name: one.dump_state(json_mode=json_mode) for name, one in self.members.items()}
        return {"members": states, "settings": self.settings()}

    def load_state(self, state: dict[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Take over a state that ``dump_state`` returned."""
        given = state.get("members", {})
        if set(given) != set(self.members):
            raise InputError(
                f"the state has the members {', '.join(sorted(given)) or 'none'}; this judge has "
                f"{', '.join(sorted(self.members))}."
            )
        for name, member in self.members.items():
            member.load_state(given[name], allow_unsafe_lm_state=allow_unsafe_lm_state)
        self.adopt(state["settings"])

    def _prediction(self, judgement: Judgement) -> dspy.Prediction:
        fields = {name: getattr(judgement, name) for name in type(judgement).model_fields}
        fields["criteria"] = dict(judgement.criteria)
        return dspy.Prediction(**fields, protocol=self.fingerprint)


AnyJudge = Judge | CompositeJudge  # a judge, or one that holds judges


class _Called(Executor):
    """Calls a judge or a supervisor as a DSPy module, in the caller's context."""

    def __init__(self, module: Any, *, blocking: bool) -> None:
        self._module = module
        self._blocking = blocking

    async def judge(self, item: RatedItem) -> Judgement:
        texts: dict[str, Any] = {**item.texts, "references": item.references}
        with our_errors():
            said = self._module(**texts) if self._blocking else await self._module.acall(**texts)
        return judgement_of(said)

    async def run(self, steps: RequestProgram[Found]) -> Found:
        module = self._module
        with our_errors():
            found: Found = module.run(steps) if self._blocking else await module.arun(steps)
        return found


def leaves_of(judge: AnyJudge) -> Iterable[Judge]:
    """Yield the judges that ask a model themselves, however deep they are held."""
    if isinstance(judge, Judge):
        yield judge
    else:
        for member in judge.members.values():
            yield from leaves_of(member)


def judgement_of(prediction: dspy.Prediction) -> Judgement:
    given = dict(prediction.items())
    return _kind_of(given)(**{name: one for name, one in given.items() if name != "protocol"})


def _kind_of(given: Mapping[str, Any]) -> type[Judgement]:
    kinds = [Judgement]
    for kind in kinds:
        if set(kind.model_fields) == set(given) - {"protocol"}:
            return kind
        kinds.extend(kind.__subclasses__())
    raise TypeError(f"a judge returns a judgement's fields; got {', '.join(given)}.")


class Panel(Weighing, CompositeJudge):
    """Score a response by the weighted mean of several judges' scores.

    A member without a score leaves the mean, and the others count as much more; where none has
    one, neither has the panel, and says why each has not. Members of weight 0 are not asked.

    Parameters
    ----------
    members : dict of str to judge
        By name. Judges of one kind may differ in model (``member.set_lm``), rubric, scale, …
    weights : PanelWeights or None
        Of just these members; None weighs them alike, on 0 to 100. ``PanelSelection`` learns
        them.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> panel = Panel({"fine": ActiveCritic(), "vanilla": ActiveCritic(variant="vanilla")})
    >>> said = {"fine": Judgement(score=80), "vanilla": Judgement(score=60)}
    >>> panel.combined(said).score, round(panel.combined(said).disagreement, 6)
    (70.0, 10.0)
    >>> panel.combined({**said, "fine": Judgement.unscored("it broke off")}).score
    60.0
    """

    def __init__(
        self, members: Mapping[str, AnyJudge], weights: PanelWeights | None = None
    ) -> None:
        super().__init__(members)
        scales = {name: one.scale for name, one in self.members.items()}
        self.weights = self._of_these(weights or PanelWeights.equal(scales))

    def with_weights(self, weights: PanelWeights) -> Self:
        """Return a panel of copies of the same members with other weights."""
        copies = {name: one.deepcopy() for name, one in self.members.items()}
        other = type(self)(copies, weights)
        other.callbacks = list(self.callbacks)
        return other

    def settings(self) -> dict[str, Any]:
        return self.weights.model_dump(mode="json")

    def adopt(self, settings: Mapping[str, Any]) -> None:
        self.weights = self._of_these(PanelWeights.model_validate(settings))

    def _of_these(self, weights: PanelWeights) -> PanelWeights:
        if set(weights.members) != set(self.members):
            raise InputError(
                f"the weights are of {', '.join(weights.members)}; the panel has "
                f"{', '.join(self.members)}."
            )
        return weights


class PanelJudge(Panel):
    """Score a response by several annotators, and merge their errors into one list.

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

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs". Checks, small panels, median and weights are ours.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic, DirectJudge
    >>> members = {"fine": ActiveCritic(), "plain": DirectJudge()}
    >>> panel = PanelJudge(members, supervisor=Supervisor())
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
            scales = {name: one.scale for name, one in self.members.items()}
            self.weights = PanelWeights.equal(scales, score)
        elif score not in ("mean", weights.middle):
            raise InputError(
                f"the weights are of the {weights.middle}.", hint=f"drop score={score!r}."
            )
        self.supervisor = supervisor
        self.rules = rules or PanelRules()

    @property
    def calls_per_item(self) -> int:
        if self.supervisor is None:
            return super().calls_per_item
        asked = (one for name in self.asked for one in leaves_of(self.members[name]))
        return super().calls_per_item + n_aspects(one.protocol for one in asked)

    @property
    def fingerprint(self) -> str:
        own = super().fingerprint
        if self.supervisor is None:
            return own
        asked = {name: one.model_dump() for name, one in self.supervisor.templates().items()}
        return fingerprint_of([own, asked])

    def with_weights(self, weights: PanelWeights) -> Self:
        other = super().with_weights(weights)
        other.rules = self.rules
        if self.supervisor is not None:
            other.supervisor = self.supervisor.deepcopy()
        return other

    def _asking_modules(self) -> list[AskingModule]:
        own = [] if self.supervisor is None else [self.supervisor]
        return [*super()._asking_modules(), *own]

    def executor(self, of: Callable[[Any], Executor], gathered: Gathered = at_once) -> Executor:
        executors = {name: of(self.members[name]) for name in self.asked}
        own = None if self.supervisor is None else of(self.supervisor)
        return AnnotatorsExecutor(executors, self._concluding(), own, gathered)

    def combined(self, judgements: Mapping[str, Judgement]) -> PanelVerdict:
        return self._concluding().verdict(judgements, [])

    def settings(self) -> dict[str, Any]:
        return {"weights": super().settings(), "rules": self.rules.model_dump(mode="json")}

    def adopt(self, settings: Mapping[str, Any]) -> None:
        super().adopt(settings["weights"])
        self.rules = PanelRules.model_validate(settings["rules"])

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        state = super().dump_state(json_mode=json_mode)
        own = self.supervisor
        return {**state, "supervisor": None if own is None else own.dump_state(json_mode=json_mode)}

    def load_state(self, state: dict[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        own = state.get("supervisor")
        if (own is None) != (self.supervisor is None):
            has, given = ("a", "none") if own is None else ("no", "one")
            raise InputError(f"this panel has {has} supervisor, the state is of {given}.")
        super().load_state(state, allow_unsafe_lm_state=allow_unsafe_lm_state)
        if self.supervisor is not None and own is not None:
            self.supervisor.load_state(own, allow_unsafe_lm_state=allow_unsafe_lm_state)

    def _concluding(self) -> Concluding:
        scales = {name: one.scale for name, one in self.members.items()}
        return Concluding(weights=self.weights, rules=self.rules, scales=scales)


class Calibrated(Calibrating, CompositeJudge):
    """A judge with a calibration; what ``Calibrator`` returns.

    Parameters
    ----------
    judge : judge
        Any judge, also a ``Panel``.
    calibration : Calibration
        Learned on rows that nothing in the judge was learned from.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> learned = Calibration(
    ...     thresholds=(0, 100), values=(1, 5), scale="1..5", margin=0.8, confidence=0.9, n_map=40,
    ...     n_sources_map=20, n_margin=40, n_sources_margin=20,
    ... )
    >>> judge = Calibrated(ActiveCritic(), learned)
    >>> found = judge(source="The bridge opened on Monday.", response="It opened Monday.")
    >>> found.low <= found.score <= found.high, round(found.high - found.low, 6) <= 1.6
    (True, True)
    """

    def __init__(self, judge: AnyJudge, calibration: Calibration) -> None:
        super().__init__({"judge": judge})
        self.calibration = calibration

    @property
    def judge(self) -> AnyJudge:
        """The judge that is asked."""
        return self.members["judge"]

    def settings(self) -> dict[str, Any]:
        return self.calibration.model_dump(mode="json")

    def adopt(self, settings: Mapping[str, Any]) -> None:
        self.calibration = Calibration.model_validate(settings)
