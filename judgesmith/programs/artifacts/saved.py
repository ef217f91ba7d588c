"""A compiled judge as plain data: its configuration, its questions, and how it came to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    FiniteFloat,
    PrivateAttr,
    field_validator,
    model_validator,
)

from judgesmith.errors import InputError, hint_of, sentence_of
from judgesmith.programs.artifacts.record import (
    JUDGE_FILE,
    SCHEMA,
    GoldenItem,
    ModelName,
    PredictorName,
    SavedAgreement,
    SavedEstimate,
    SavedJudgeError,
    SavedRecord,
    as_loaded,
    content_hash,
)
from judgesmith.programs.judging.executors import Binding, as_dspy, unnamed_model
from judgesmith.programs.judging.program import JudgeProgram
from judgesmith.programs.judging.prompts import Slot, Template, pairs_missing
from judgesmith.programs.judging.registry import (
    AnyProtocol,
    by_question,
    check_roles,
    family_of,
    with_roles,
)
from judgesmith.programs.judging.scoring import check_terms
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.plain_data import FrozenModel
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.judging.judge import Judge
    from judgesmith.programs.lm import AnyModel


def check_questions(protocol: JudgeConfig, questions: Mapping[str, Template]) -> None:
    """Refuse questions that the protocol does not ask, or whose answers it cannot read."""
    wanted = family_of(protocol.judge).forms(protocol)
    if set(questions) != set(wanted):
        raise InputError(
            f"the protocol asks {', '.join(wanted) or 'nothing'}; got questions called "
            f"{', '.join(questions) or '(none)'}."
        )
    for name, question in questions.items():
        form = wanted[name]
        slots = [piece for piece in question.question if isinstance(piece, Slot)]
        shown_in_it = (*form.texts, *form.told)
        if sorted(slot.name for slot in slots) != sorted(shown_in_it):
            raise InputError(f"the question {name} must show {', '.join(shown_in_it)}, each once.")
        if not all(slot.fenced for slot in slots if slot.name in form.texts):
            raise InputError(f"the question {name} must show every text between fences.")
        if question.predictor != name:
            raise InputError(f"the question {name} is called {question.predictor!r} in itself.")
        if dict(question.outputs) not in form.outputs or question.form != form.form:
            raise InputError(f"the judge cannot read the answers to the question {name}.")
        answers = form.answers or protocol.answers
        if question.answers != answers:
            raise InputError(
                f"the question {name} asks for scores on {question.answers}; the judge reads them "
                f"on {answers}."
            )
        roles = [turn.role for turn in question.turns]
        if roles != ["system", *["user", "assistant"] * (len(roles) // 2)]:
            raise InputError(
                f"the question {name} must begin with one system message and continue with pairs "
                f"of user and assistant; got {', '.join(roles) or 'nothing'}."
            )
        shown = protocol.demonstrations.get(name, ())
        if protocol.nearest is not None and pairs_missing(question, shown):
            raise InputError(
                f"the question {name} must hold each of its {len(shown)} demonstrations as a pair "
                "of turns: the nearest are chosen among them."
            )


class FrontMember(FrozenModel):
    """A judge that no other one beats on all objectives."""

    number: int
    picked: Mapping[str, str]
    model: ModelName
    calls: FiniteFloat
    values: Annotated[Mapping[str, SavedEstimate | None], BeforeValidator(as_loaded)]
    knee: bool
    agreement: Annotated[SavedAgreement, BeforeValidator(as_loaded)]
    protocol: AnyProtocol
    questions: Mapping[PredictorName, Template]

    @model_validator(mode="after")
    def _asks_what_it_reads(self) -> Self:
        check_questions(self.protocol, self.questions)
        return self


def taken(judge: SavedJudge, number: int) -> SavedJudge:
    """Return another judge on the Pareto front, as it would have been saved."""
    if not judge.front:
        raise InputError(
            "the judge has no front to take from: it was not compiled for several objectives, as "
            "in --objective 'q, -calls'."
        )
    found = [one for one in judge.front if one.number == number]
    if not found:
        numbers = ", ".join(str(one.number) for one in judge.front)
        raise InputError(f"the front holds number {numbers}; got {number}.")
    (member,) = found
    if number == taken_number(judge):
        return judge
    run = f"{str(judge.settings.get('run')).partition(',')[0]}, number {number}"
    unknown = dict.fromkeys(("uncompiled", "heldout", "gain", "optimism", "objective"))
    return judge.model_copy(
        update={
            "protocol": member.protocol,
            "questions": member.questions,
            "model": member.model,
            "agreement": SavedAgreement(**{**unknown, "criteria": {}, **member.agreement.plain}),
            "golden": (),
            "settings": {**judge.settings, "run": run, "taken": number},
        }
    )


def taken_number(judge: SavedJudge) -> int | None:
    """Return which member of its front a judge is: the one taken from it, else the knee."""
    knee = next((one.number for one in judge.front if one.knee), None)
    number: int | None = judge.settings.get("taken", knee)
    return number


__all__ = ["JUDGE_FILE", "SCHEMA", "GoldenItem", "SavedJudge", "SavedJudgeError", "content_hash"]


class SavedJudge(SavedRecord):
    """Everything a compiled judge is.

    Parameters
    ----------
    protocol : JudgeConfig
        Everything that was tuned, and every learned number, of the family that it names.
    questions : dict of str to Template
        Every model call as it is rendered, up to the item, by predictor.
    model : str
        The model it was compiled with, as ``provider/model``.
    roles : dict of str to str
        Models that do other work than judging, by role.
    front : tuple of FrontMember
        All judges that none beats on several objectives, this one included.
    """

    protocol: AnyProtocol
    questions: Mapping[PredictorName, Template]
    model: ModelName
    roles: Mapping[str, ModelName] = Field(default_factory=dict)
    front: tuple[FrontMember, ...] = ()
    _lms: dict[str, Any] = PrivateAttr(default_factory=dict)
    _asked_roles: dict[str, str] = PrivateAttr(default_factory=dict)

    @field_validator("protocol")
    @classmethod
    def _of_a_known_family(cls, protocol: JudgeConfig) -> JudgeConfig:
        family_of(protocol.judge)
        check_terms(protocol.aggregation)
        return protocol

    @model_validator(mode="after")
    def _asks_what_it_reads(self) -> Self:
        check_questions(self.protocol, self.questions)
        check_roles(family_of(self.protocol.judge), self.roles)
        return self

    @property
    def models(self) -> tuple[str, ...]:
        """The model that it was compiled with, and those of other roles."""
        return tuple(dict.fromkeys((self.model, *self.roles.values())))

    def with_models(self, lms: Mapping[str, Any]) -> Self:
        """Return the same judge, bound to those of ``models`` that are given, by name."""
        other = self.model_copy()
        other._lms = {name: lms[name] for name in self.models if name in lms}
        return other

    def with_own_models(self) -> tuple[Self, AnyModel]:
        """Return the judge, and the model that it is bound to: the one it was compiled with."""
        return self, self._bound(self.model)

    def _bound(self, name: str) -> AnyModel:
        lm: AnyModel | None = self._lms.get(name)
        return unnamed_model(name) if lm is None else lm

    @property
    def binding(self) -> Binding:
        """What every question was asked when the judge was compiled."""
        own = by_question(family_of(self.protocol.judge), self.roles)
        return Binding(model=self.model, others=own)

    def asking(self, roles: Mapping[str, str], lms: Mapping[str, dspy.LM]) -> Self:
        """Return the same judge, known by its own models' names, whose roles ask others."""
        other = self.model_copy()
        other._asked_roles = dict(roles)
        other._lms = dict(lms)
        return other

    def own_models(self) -> dict[str, AnyModel]:
        """Return the models of single questions, as far as roles have models of their own."""
        roles = self._asked_roles or self.roles
        lms = {role: self._bound(name) for role, name in roles.items()}
        return by_question(family_of(self.protocol.judge), lms)

    @property
    def scale(self) -> Scale:
        """What scores are measured in."""
        return self.protocol.scores_on

    def asked_questions(self) -> Iterator[tuple[str, Template]]:
        """Yield every question with its name."""
        yield from self.questions.items()

    def templates(self) -> Mapping[str, Template]:
        """Return every question, rendered up to the item, as rendered when the judge was made."""
        return self.questions

    def steps(self, item: RatedItem) -> JudgeProgram:
        """Return the judgement of one response, as a generator of questions."""
        return family_of(self.protocol.judge).program(self.protocol, item)

    def program(self) -> Judge:
        """Return the judge as a DSPy module.

        It asks the models that the saved judge is bound to. Without any, it is bound to the
        models that it was compiled with, and the first request to one that the user did not name
        is refused: see ``judgesmith.load``.

        Raises
        ------
        SavedJudgeError
            If this version would ask other questions than the judge was compiled with, or its
            protocol is none that a judge can follow.
        """
        try:
            judge: Judge = family_of(self.protocol.judge).judge_of(self.protocol)
        except ValueError as fault:
            raise SavedJudgeError(
                f"the protocol makes no judge: {sentence_of(fault)}", hint=hint_of(fault)
            ) from None
        if judge.templates() != dict(self.questions):
            raise SavedJudgeError(
                "this version of judgesmith words the judge's questions differently from the one "
                "that compiled it. Score with the saved judge, or compile it again."
            )
        roles = self._asked_roles or self.roles
        if roles:
            judge = with_roles(judge, {role: as_dspy(self._bound(n)) for role, n in roles.items()})
        judge.bind(as_dspy(self._bound(self.model)), self.binding)
        judge.seen_keys = self.seen_keys
        return judge
