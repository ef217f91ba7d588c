"""A compiled judge as plain data: its protocol, its questions, and how it came to be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.aggregating import check_terms
from judgesmith.programs.asking import Binding, as_dspy, unnamed_model
from judgesmith.programs.families import AnyProtocol, family_of
from judgesmith.programs.front import FrontMember
from judgesmith.programs.judging import Steps
from judgesmith.programs.plain_data import ModelName, PredictorName
from judgesmith.programs.roles import by_question, check_roles, with_roles
from judgesmith.programs.saved_checks import check_agreement, check_questions
from judgesmith.programs.saved_record import (
    JUDGE_FILE,
    SCHEMA,
    GoldenItem,
    SavedJudgeError,
    SavedRecord,
    content_hash,
)
from judgesmith.programs.templates import Template
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.holding import AnyJudge
    from judgesmith.programs.judge import Judge
    from judgesmith.programs.models import AnyModel
    from judgesmith.programs.saved_kinds import AnySaved

__all__ = [
    "JUDGE_FILE",
    "SCHEMA",
    "GoldenItem",
    "SavedJudge",
    "SavedJudgeError",
    "content_hash",
    "load_judge",
]


class SavedJudge(SavedRecord):
    """Everything a compiled judge is.

    Parameters
    ----------
    protocol : JudgeProtocol
        Everything that was tuned, and every learned number, of the family that it names.
    questions : dict of str to Template
        Every model call as it is rendered, up to the item, by predictor.
    model : str
        The model it was compiled with, as ``provider/model``.
    roles : dict of str to str
        Models that do other work than judging, by role; empty where the one model does it all.
    target, human_scale, agreement, rows, seen, golden, history, settings
        See ``SavedRecord``.
    front : tuple of FrontMember
        All judges that none beats on several objectives, this one included; empty where it was
        made for one objective.
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
    def _of_a_known_family(cls, protocol: JudgeProtocol) -> JudgeProtocol:
        family_of(protocol.judge)
        check_terms(protocol.aggregation)
        return protocol

    @model_validator(mode="after")
    def _asks_what_it_reads(self) -> Self:
        check_questions(self.protocol, self.questions)
        check_roles(family_of(self.protocol.judge), self.roles)
        check_agreement(self.agreement)
        return self

    @property
    def models(self) -> tuple[str, ...]:
        """The model that it was compiled with, and those of other roles."""
        return tuple(dict.fromkeys((self.model, *self.roles.values())))

    def with_models(self, lms: Mapping[str, Any]) -> Self:
        """Return the same judge, bound to the models that it was compiled with.

        Parameters
        ----------
        lms : dict of str to dspy.LM
            By the name in ``models``; others are passed over.
        """
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
        """Return the same judge, whose roles ask other models than those it was compiled with.

        It is still known by the names that it was compiled with.

        Parameters
        ----------
        roles : dict of str to str
            Names of models, by role.
        lms : dict of str to dspy.LM
            The models, by name.
        """
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
        return self.protocol.aggregation.scale

    def asked_questions(self) -> Iterator[tuple[str, Template]]:
        """Yield every question with its name."""
        yield from self.questions.items()

    def templates(self) -> Mapping[str, Template]:
        """Return every question, rendered up to the item, as it was when the judge was made."""
        return self.questions

    def steps(
        self,
        *,
        source: str,
        response: str,
        context: str | None = None,
        references: Sequence[str] = (),
    ) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return family_of(self.protocol.judge).steps_of(
            self.protocol,
            source=source,
            response=response,
            context=context,
            references=references,
        )

    def program(self) -> Judge:
        """Return the judge as a DSPy module.

        It asks the models that the saved judge is bound to. Where that is none, it is bound to the
        models that it was compiled with, and the first request to one that the user did not name
        is refused: see ``judgesmith.load``.

        Raises
        ------
        SavedJudgeError
            If this version would ask other questions than the judge was compiled with, or its
            protocol is none that a judge can follow.
        """
        try:
            judge = family_of(self.protocol.judge).judge_of(self.protocol)
        except ValueError as fault:
            raise SavedJudgeError(f"the protocol makes no judge: {fault}") from None
        if judge.templates() != dict(self.questions):
            raise SavedJudgeError(
                "this version of judgesmith words the judge's questions differently from the one "
                "that compiled it. Score with the saved judge, or compile it again."
            )
        roles = self._asked_roles or self.roles
        if roles:
            judge = with_roles(judge, {role: as_dspy(self._bound(n)) for role, n in roles.items()})
        judge.bind(as_dspy(self._bound(self.model)), self.binding)
        return judge


def load_judge(
    folder: str | Path,
    *,
    lm: AnyModel | str | None = None,
    allow_models: Collection[str] = (),
    use_context: bool = False,
) -> AnyJudge:
    """Return the judge in ``folder`` as a DSPy module, verified: also a panel or a calibrated one.

    It is bound to the models that it was compiled with, and nothing is asked yet. Whoever saved it
    may be a stranger: it asks a model with a network only if you name that model here, too, and
    never another model instead.

    Parameters
    ----------
    folder : str or Path
        What ``compile``, ``panel`` or ``take`` wrote, or ``SavedJudge.save``.
    lm : model, str or None
        Another model, as from ``judgesmith.model``, or its name. It stands for the model that the
        judge was compiled with, and for those of all members of a panel; every verdict notes it.
        Roles of a judge, such as a writer, keep their own models.
    allow_models : collection of str
        Names of models that the judge may ask, of those that it was compiled with. They are asked
        as by ``judgesmith.model(name)``.
    use_context : bool
        Whether DSPy's current model, where there is one, stands for the judge's own.

    Returns
    -------
    Judge or JudgeOfJudges
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
    ('Direct', None)
    """
    from judgesmith.programs.saved_kinds import load_saved

    saved = load_saved(folder)
    judge = named_by_user(saved, lm=lm, allow_models=allow_models).program()
    if use_context:
        judge.use_context()
    return judge


def named_by_user(
    saved: AnySaved, *, lm: AnyModel | str | None = None, allow_models: Collection[str] = ()
) -> AnySaved:
    """Return a saved judge bound to the models that the user names; see ``load_judge``.

    Raises
    ------
    InputError
        If ``allow_models`` names a model that the judge does not ask.
    """
    from judgesmith.programs.models import model

    if isinstance(allow_models, str):
        allow_models = (allow_models,)
    if unknown := [name for name in allow_models if name not in saved.models]:
        raise InputError(
            f"the judge does not ask {unknown[0][:200]!r}; it asks {', '.join(saved.models)}. "
            "Leave that name out of allow_models."
        )
    lms: dict[str, Any] = {name: model(name) for name in allow_models if name != "offline"}
    if lm is not None:
        given = model(lm) if isinstance(lm, str) else lm
        whole = (saved.model,) if isinstance(saved, SavedJudge) else saved.models
        lms |= dict.fromkeys(whole, given)
    return saved.with_models(lms)
