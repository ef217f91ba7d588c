"""Saved panels and calibrated judges, any judge loaded, and what is made of a saved one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    SerializeAsAny,
    field_validator,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.record import ModelName, SavedJudgeError, SavedRecord, kind_of
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.ensemble.members import (
    AnnotatorsExecutor,
    Calibrating,
    Concluding,
    MembersExecutor,
    Weighing,
    refuse_ranks,
)
from judgesmith.programs.families.ensemble.merging import QUESTION, n_aspects
from judgesmith.programs.families.wrapped import ModuleConfig, live_module
from judgesmith.programs.judging.executors import Binding, Executor, as_dspy, unnamed_model
from judgesmith.programs.judging.program import JudgeProgram
from judgesmith.programs.judging.prompts import Slot, Template
from judgesmith.programs.judging.scoring import place_of
from judgesmith.signatures.aggregation import Aggregation, Calibration, PanelRules, PanelWeights
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import FrozenModel, record_faults
from judgesmith.signatures.rubric import Criterion, Rubric

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.families.ensemble.judges import AnyJudge, Calibrated, Panel, Supervisor
    from judgesmith.programs.lm import AnyModel

    Composite = TypeVar("Composite", Panel, Calibrated)


_TEXTS = ["annotations", "response"]


class SavedSupervisor(FrozenModel):
    """Who merges the errors that the members of a saved panel find."""

    question: Template
    model: ModelName

    @field_validator("question")
    @classmethod
    def _asks_for_one_list(cls, question: Template) -> Template:
        slots = [piece for piece in question.question if isinstance(piece, Slot)]
        if sorted(slot.name for slot in slots) != _TEXTS or not all(one.fenced for one in slots):
            raise InputError(
                "a supervisor's question shows annotations and response between fences, each once."
            )
        if dict(question.outputs) != {"merged": "text"} or question.form:
            raise InputError("a supervisor is asked for one list, merged, and for nothing else.")
        if question.predictor != QUESTION or not question.turns:
            raise InputError(f"a supervisor's question is called {QUESTION}, and tells what to do.")
        return question

    @classmethod
    def of(cls, supervisor: Supervisor, model: str) -> Self:
        return cls(question=supervisor.templates()[QUESTION], model=model)

    @property
    def protocol(self) -> ActiveCriticConfig:
        return ActiveCriticConfig()

    def templates(self) -> Mapping[str, Template]:
        return {QUESTION: self.question}

    def steps(self, item: RatedItem) -> JudgeProgram:
        raise TypeError("a supervisor merges what others found; ask the panel that holds it.")

    def program(self) -> Supervisor:
        from judgesmith.programs.families.ensemble.judges import Supervisor

        found = Supervisor()
        if found.templates() != {QUESTION: self.question}:
            raise SavedJudgeError(
                "this version of judgesmith words the supervisor's question differently from the "
                "one that made the panel. Score with the saved panel, or make it again."
            )
        return found


def _as_its_kind(value: Any) -> Any:
    return kind_of(value).model_validate(value) if isinstance(value, Mapping) else value


Member = Annotated[SerializeAsAny[SavedRecord], BeforeValidator(_as_its_kind)]
SUPERVISOR = "supervisor"
"""The part of a panel that merges what its members say."""

MemberName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")]  # names a folder


class SavedComposite(SavedRecord):
    """What saved judges have that hold others."""

    members: Mapping[MemberName, Member]
    _lms: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _reports_estimates(self) -> Self:
        for name, member in self.members.items():
            refuse_ranks(name, member)
        return self

    @property
    @abstractmethod
    def asked(self) -> tuple[str, ...]:
        """Names of the members that are asked."""

    @abstractmethod
    def combined(self, judgements: Mapping[str, Judgement]) -> Judgement:
        """Return the judgement that the asked members' judgements make."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the members that are asked, each once."""
        names = (name for one in self.asked for name in self.members[one].models)
        return tuple(dict.fromkeys(names))

    @property
    def model(self) -> str:
        """The model, or all of them with commas between."""
        return ", ".join(self.models)

    @property
    def seen_keys(self) -> frozenset[str]:
        """Keys of all rows that the judge or a member was made from."""
        return super().seen_keys.union(*(one.seen_keys for one in self.members.values()))

    @property
    def calls_per_item(self) -> int:
        """Model calls that one text takes, if every answer can be read."""
        from judgesmith.programs.judging.executors import calls_per_item

        asked: list[Any] = [self.members[name] for name in self.asked]
        return sum(calls_per_item(one) for one in asked)

    def with_models(self, lms: Mapping[str, Any]) -> Self:
        """Return the same judge, whose members ask the models that they were made with."""
        other = self.model_copy()
        other._lms = dict(lms)
        return other

    @property
    def _composites(self) -> dict[str, SavedComposite]:
        return {k: one for k, one in self.members.items() if isinstance(one, SavedComposite)}

    @property
    def part_names(self) -> tuple[str, ...]:
        """Parts that may be given a model of their own: those of members that hold others."""
        return tuple(name for one in self._composites.values() for name in one.part_names)

    @property
    def parts(self) -> Mapping[str, AnyModel]:
        return {name: lm for one in self._composites.values() for name, lm in one.parts.items()}

    def models_beside(self, parts: Collection[str]) -> tuple[str, ...]:
        """Return those of ``models`` that are asked where ``parts`` have a model of their own."""
        found: list[str] = []
        for one in self.members.values():
            found += one.models_beside(parts) if isinstance(one, SavedComposite) else one.models
        return tuple(dict.fromkeys(found))

    def with_parts(self, lms: Mapping[str, AnyModel]) -> Self:
        """Return the same judge, parts of which ask a model of their own, whatever others ask."""
        self._check_parts(lms)
        held = {name: one.with_parts(lms) for name, one in self._composites.items()}
        return self.model_copy(update={"members": {**self.members, **held}}) if held else self

    def _check_parts(self, lms: Mapping[str, AnyModel]) -> None:
        if unknown := [name for name in lms if name not in self.part_names]:
            raise InputError(
                f"a panel has no part {unknown[0][:200]!r}; it has {', '.join(self.part_names)}."
                if self.part_names
                else "only parts of a panel are given models of their own; this is none."
            )

    def with_own_models(self) -> tuple[Self, AnyModel]:
        """Return the judge, each member bound to its own model, and the first of the models."""
        lms = {name: self._bound(name) for name in self.models}
        return self.with_models(lms), next(iter(lms.values()))

    def _bound(self, name: str) -> AnyModel:
        held = (leaf._lms.get(name) for leaf in saved_leaves(self))
        lm: AnyModel | None = self._lms.get(name) or next(filter(None, held), None)
        return unnamed_model(name) if lm is None else lm

    def _bound_members(self) -> dict[str, AnyJudge]:
        bound = self.with_own_models()[0]._lms
        members: Mapping[str, Any] = self.members
        return {
            name: one.with_models(self._lms_of(name, bound)).program()
            for name, one in members.items()
        }

    def _knowing(self, judge: Composite) -> Composite:
        judge.seen_keys = self.seen_keys
        return judge

    def bound_to(self, lm: AnyModel) -> Executor:
        """Return an executor of all members, each bound to its own model or else to ``lm``."""
        return MembersExecutor(self._executors(lm), self.combined)

    def _executors(self, lm: AnyModel) -> dict[str, Executor]:
        executors = {}
        for name in self.asked:
            member: Any = self.members[name]
            lms = self._lms_of(name, self._lms)
            if isinstance(member, SavedComposite):
                executors[name] = member.with_models(lms).bound_to(lm)
            else:
                executors[name] = Executor.of(member.with_models(lms), lms.get(member.model, lm))
        return executors

    def _lms_of(self, name: str, lms: Mapping[str, AnyModel]) -> Mapping[str, AnyModel]:
        """Return the models that a member asks, by the names that it was made with."""
        own = self._part_of(name)
        return lms if own is None else {**lms, **dict.fromkeys(_own_names(self.members[name]), own)}

    def _part_of(self, name: str) -> AnyModel | None:
        """Return the model that a member was given, if it was given one."""
        return None

    def asked_questions(self) -> Iterator[tuple[str, Template]]:
        """Yield every question of every member, under the member's name."""
        for name, member in self.members.items():
            for question, template in member.asked_questions():
                yield f"{name}/{question}", template


class SavedPanel(Weighing, SavedComposite):
    """A panel as plain data.

    Parameters
    ----------
    weights : PanelWeights
        How the members' scores become one; ``ValueError`` if they are of other members.
    rules : PanelRules or None
        How the members' errors become one list; None leaves them apart, as in a ``Panel``.
    supervisor : SavedSupervisor or None
        The model that merges them by the rules; None merges them without a model.
    """

    kind: Literal["panel"] = "panel"
    weights: PanelWeights
    rules: PanelRules | None = None
    supervisor: SavedSupervisor | None = None
    _parts: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _weighs_its_members(self) -> Self:
        if set(self.weights.members) != set(self.members):
            raise InputError(
                f"the weights are of {', '.join(self.weights.members)}; the panel holds "
                f"{', '.join(self.members)}."
            )
        if self.supervisor is not None and self.rules is None:
            raise InputError("a panel with a supervisor has rules; got none.")
        return self

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the members that are asked and of the supervisor, each once."""
        own = () if self.supervisor is None else (self.supervisor.model,)
        return tuple(dict.fromkeys((*super().models, *own)))

    @property
    def calls_per_item(self) -> int:
        """Model calls that one text takes, if every answer can be read and there are errors."""
        if self.supervisor is None:
            return super().calls_per_item
        asked = (one for name in self.asked for one in saved_leaves(self.members[name]))
        return super().calls_per_item + n_aspects(one.protocol for one in asked)

    def bound_to(self, lm: AnyModel) -> Executor:
        """Return what asks all members and the supervisor, each bound to its model or ``lm``."""
        if self.rules is None:
            return super().bound_to(lm)
        scales = {name: one.scale for name, one in self.members.items()}
        own = self.supervisor
        supervising = None
        if own is not None:
            supervisor_lm = self._parts.get(SUPERVISOR) or self._lms.get(own.model, lm)
            supervising = Executor.of(own, supervisor_lm)
        concluding = Concluding(weights=self.weights, rules=self.rules, scales=scales)
        note = None
        if own is not None:
            note = Binding(model=own.model, others={}).another({"": str(supervisor_lm.model)})
        if note is not None:
            note = note.model_copy(update={"about": "supervisor/overall"})
        return AnnotatorsExecutor(self._executors(lm), concluding, supervising, note=note)

    @property
    def part_names(self) -> tuple[str, ...]:
        """The members, and the supervisor if there is one."""
        own = () if self.supervisor is None else (SUPERVISOR,)
        return tuple(dict.fromkeys((*self.members, *own)))

    @property
    def parts(self) -> Mapping[str, AnyModel]:
        """The models that members and the supervisor were given."""
        return self._parts

    def models_beside(self, parts: Collection[str]) -> tuple[str, ...]:
        """Return those of ``models`` that are asked where ``parts`` have a model of their own."""
        found: list[str] = []
        for name in self.asked:
            member = self.members[name]
            own = _own_names(member) if self._is_member(name) and name in parts else ()
            found += [one for one in member.models if one not in own]
        if self.supervisor is not None and SUPERVISOR not in parts:
            found.append(self.supervisor.model)
        return tuple(dict.fromkeys(found))

    def with_parts(self, lms: Mapping[str, AnyModel]) -> Self:
        """Return the same panel, members or the supervisor of which ask a model of their own."""
        self._check_parts(lms)
        other = self.model_copy()
        other._parts = {**self._parts, **lms}
        return other

    def _part_of(self, name: str) -> AnyModel | None:
        return self._parts.get(name) if self._is_member(name) else None

    def _is_member(self, part: str) -> bool:
        # Where there is a supervisor, a member of that name is not meant.
        return part != SUPERVISOR or self.supervisor is None

    def asked_questions(self) -> Iterator[tuple[str, Template]]:
        """Yield every question of every member under its name, and the supervisor's."""
        yield from super().asked_questions()
        if self.supervisor is not None:
            yield "supervisor", self.supervisor.question

    def program(self) -> Panel:
        """Return the panel as a DSPy module; see ``SavedJudge.program``."""
        from judgesmith.programs.families.ensemble.judges import Panel, PanelJudge

        members = self._bound_members()
        if self.rules is None:
            return self._knowing(Panel(members, self.weights))
        own = None
        if self.supervisor is not None:
            own = self.supervisor.program()
            lm = self._parts.get(SUPERVISOR) or self._bound(self.supervisor.model)
            own.bind(as_dspy(lm), Binding(model=self.supervisor.model, others={}))
        found = PanelJudge(members, self.weights, supervisor=own, rules=self.rules)
        return self._knowing(found)


class SavedCalibrated(Calibrating, SavedComposite):
    """A judge with a calibration, as plain data.

    Parameters
    ----------
    calibration : Calibration
        What its scores are worth, and when it leaves a text to people.
    members : dict of str to saved judge
        The judge, as ``judge``; ``ValueError`` if there are others.
    """

    kind: Literal["calibrated"] = "calibrated"
    calibration: Calibration

    @model_validator(mode="after")
    def _has_one_judge(self) -> Self:
        if set(self.members) != {"judge"}:
            raise InputError(f"one judge is calibrated; got {', '.join(self.members) or 'none'}.")
        return self

    def program(self) -> Calibrated:
        """Return the judge as a DSPy module; see ``SavedJudge.program``."""
        from judgesmith.programs.families.ensemble.judges import Calibrated

        return self._knowing(Calibrated(self._bound_members()["judge"], self.calibration))


def _own_names(member: SavedRecord) -> tuple[str, ...]:
    """Return the names that a model of its own stands for: other roles of a judge keep theirs."""
    return (member.model,) if isinstance(member, SavedJudge) else member.models


AnySaved = SavedJudge | SavedComposite
"""A saved judge of any kind, which can be asked."""


def saved_leaves(judge: SavedRecord) -> Iterator[SavedJudge]:
    for leaf, _ in leaves_and_parts(judge):
        yield leaf


def leaves_and_parts(
    judge: SavedRecord, own: AnyModel | None = None
) -> Iterator[tuple[SavedJudge, AnyModel | None]]:
    """Yield the same with the model that the part was given, None where it was given none."""
    if isinstance(judge, SavedJudge):
        yield judge, own
    elif isinstance(judge, SavedComposite):
        for name in judge.asked:
            yield from leaves_and_parts(judge.members[name], own or judge._part_of(name))


def models_of_parts(judge: SavedComposite) -> list[AnyModel]:
    """Return the models that parts were given, of those that are asked, each once."""
    found = [own for _, own in leaves_and_parts(judge) if own is not None]
    found += [
        panel.parts[SUPERVISOR]
        for panel in saved_panels(judge)
        if panel.supervisor is not None and SUPERVISOR in panel.parts
    ]
    return list({id(one): one for one in found}.values())


def saved_panels(judge: SavedRecord) -> Iterator[SavedPanel]:
    """Yield the saved panels that are asked, the judge itself among them if it is one."""
    if isinstance(judge, SavedPanel):
        yield judge
    if isinstance(judge, SavedComposite):
        for name in judge.asked:
            yield from saved_panels(judge.members[name])


def load_saved(folder: str | Path) -> AnySaved:
    """Return the saved judge in ``folder``, of whatever kind, verified.

    ``program()`` of what it returns makes a module.

    Parameters
    ----------
    folder : str or Path
        What ``compile``, ``panel`` or ``take`` wrote, or ``save`` of a saved judge.

    Raises
    ------
    SavedJudgeError
        If no judge that can be trusted is found.

    Examples
    --------
    >>> import tempfile
    >>> import judgesmith
    >>> settings = judgesmith.CompileSettings(judge="direct", optimizer="none")
    >>> saved = judgesmith.compile(judgesmith.read("sample"), settings).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_saved(saved.save(Path(folder) / "judge")) == saved
    True
    """
    found = SavedRecord.load(folder)
    assert isinstance(found, SavedJudge | SavedComposite)  # there are no others
    return found


def load_judge(
    folder: str | Path,
    *,
    lm: AnyModel | str | None = None,
    allow_models: Collection[str] = (),
    use_context: bool = False,
    module: dspy.Module | None = None,
) -> AnyJudge:
    """Return the judge in ``folder`` as a DSPy module, verified: also a panel or a calibrated one.

    It is bound to the models that it was compiled with, and nothing is asked yet. Its author
    may be a stranger: it asks a model with a network only if you name that model here, too, and
    never another model instead.

    Parameters
    ----------
    folder : str or Path
        What ``compile``, ``panel`` or ``take`` wrote, or ``SavedJudge.save``.
    lm : model, str or None
        Another model, as from ``judgesmith.model``, or its name, in the place of the judge's own
        and of those of all members of a panel; every verdict notes it. Roles of a judge, such as a
        writer, keep their own models.
    allow_models : collection of str
        Names of models that the judge may ask, of those that it was compiled with.
    use_context : bool
        Whether DSPy's current model, where there is one, stands for the judge's own.
    module : dspy.Module or None
        What the judge runs, where ``judgesmith.wrap`` made it of a module with code of its own;
        its predictors take the demonstrations and instructions that were saved.

    Returns
    -------
    Judge or CompositeJudge
        The first request to a model that was not named raises ``judgesmith.errors.InputError``,
        which lists the model with its address. The offline model needs no naming.

    Raises
    ------
    InputError
        If ``allow_models`` names a model that the judge does not ask.
    SavedJudgeError
        If the folder holds no judge that can be trusted, or this version words its questions
        differently; ``SavedRecord.load`` still scores with the words it was compiled with.

    Examples
    --------
    >>> import tempfile
    >>> import judgesmith
    >>> settings = judgesmith.CompileSettings(judge="direct", optimizer="none")
    >>> saved = judgesmith.compile(judgesmith.read("sample"), settings).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     judge = judgesmith.load(saved.save(Path(folder) / "judge"))
    >>> verdict = judge(source="The ferry leaves at nine.", response="It leaves at nine.")
    >>> type(judge).__name__, verdict.problem
    ('DirectJudge', None)
    """
    saved = running(load_saved(folder), module)
    judge = named_by_user(saved, lm=lm, allow_models=allow_models).program()
    if use_context:
        judge.use_context()
    return judge


def running(saved: AnySaved, module: dspy.Module | None) -> AnySaved:
    """Return a saved judge with the module that it runs."""
    if module is None:
        return saved
    own = saved.protocol if isinstance(saved, SavedJudge) else None
    if not isinstance(own, ModuleConfig):
        raise InputError("the judge runs no module of yours.", hint="leave module= out.")
    protocol = own.model_copy(update={"live": live_module(module)})
    return saved.model_copy(update={"protocol": protocol})


def named_by_user(
    saved: AnySaved, *, lm: AnyModel | str | None = None, allow_models: Collection[str] = ()
) -> AnySaved:
    """Return a saved judge bound to the models that the user names; see ``load_judge``."""
    from judgesmith.programs.lm import model

    if isinstance(allow_models, str):
        allow_models = (allow_models,)
    if unknown := [name for name in allow_models if name not in saved.models]:
        raise InputError(
            f"the judge does not ask {unknown[0][:200]!r}; it asks {', '.join(saved.models)}.",
            hint="leave that name out of allow_models.",
        )
    lms: dict[str, Any] = {name: model(name) for name in allow_models if name != "offline"}
    if lm is not None:
        given = model(lm) if isinstance(lm, str) else lm
        whole = (saved.model,) if isinstance(saved, SavedJudge) else saved.models
        lms |= dict.fromkeys(whole, given)
    return saved.with_models(lms)


def lists_errors(judge: SavedJudge) -> bool:
    return any("errors" in question.outputs for question in judge.questions.values())


def pointed_rubric(judge: AnySaved) -> Rubric:
    """Return task and criteria that a judge finds errors about; no criteria for the whole."""
    leaves = list(filter(lists_errors, saved_leaves(judge)))
    if not leaves:
        raise InputError(
            "the judge lists no errors.",
            hint="take one of the family annotator, or a panel of such.",
        )
    rubrics = [one.protocol.rubric for one in leaves]
    task = next((one.task for one in rubrics if one.task), "")
    found: dict[str, Criterion] = {}
    for leaf in leaves:
        if leaf.protocol.scores_criteria:
            for criterion in leaf.protocol.rubric.criteria:
                found.setdefault(criterion.name, criterion)
    return Rubric(task=task, criteria=tuple(found.values()))


def narrowed(judge: SavedRecord, criteria: Collection[str]) -> AnySaved:
    """Return a judge that is asked about these criteria only, by the questions that it has."""
    if isinstance(judge, SavedComposite):
        members = {name: narrowed(one, criteria) for name, one in judge.members.items()}
        return judge.model_copy(update={"members": members})
    assert isinstance(judge, SavedJudge)  # there are no others
    rubric = judge.protocol.rubric
    places = {place_of(name): name for name in judge.questions}
    kept = [at for at, name in enumerate(rubric.names) if name in criteria]
    asks_each = judge.protocol.scores_criteria and len(places) == len(judge.questions)
    if not kept or not asks_each or set(places) != set(range(len(rubric.criteria))):
        return judge
    questions = {}
    for number, at in enumerate(kept, start=1):
        name = f"{places[at].rpartition('_')[0]}_{number}"
        questions[name] = judge.questions[places[at]].model_copy(update={"predictor": name})
    own = Aggregation(kind="mean")
    some = rubric.model_copy(update={"criteria": tuple(rubric.criteria[at] for at in kept)})
    protocol = judge.protocol.model_copy(update={"rubric": some, "aggregation": own})
    return judge.model_copy(update={"protocol": protocol, "questions": questions})


_MOST_SAMPLES = 1000  # as for any protocol


@record_faults()
def with_sampling(
    judge: AnySaved, *, samples: int | None = None, temperature: float | None = None
) -> AnySaved:
    """Return a saved judge with other settings of its calls; its questions stay."""
    wanted: dict[str, Any] = {"samples": samples, "temperature": temperature}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if not wanted:
        return judge
    if samples is not None and not 1 <= samples <= _MOST_SAMPLES:
        raise InputError(f"samples are from 1 to {_MOST_SAMPLES}; got {samples}.")
    if isinstance(judge, SavedJudge):
        protocol = judge.protocol
        other = type(protocol).model_validate({**dict(protocol), **wanted})
        return judge.model_copy(update={"protocol": other})
    assert isinstance(judge, SavedComposite)
    members = {
        name: with_sampling(one, samples=samples, temperature=temperature)  # type: ignore[arg-type]
        for name, one in judge.members.items()
    }
    return judge.model_copy(update={"members": members})
