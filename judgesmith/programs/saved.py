"""A compiled judge as plain data: its protocol, its questions, and how it came to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.aggregating import check_terms
from judgesmith.programs.families import AnyProtocol, family_of
from judgesmith.programs.front import FrontMember
from judgesmith.programs.judging import Steps
from judgesmith.programs.plain_data import PredictorName
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
    model: str
    roles: Mapping[str, str] = Field(default_factory=dict)
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

    def with_models(self, lms: Mapping[str, dspy.LM]) -> Self:
        """Return the same judge, whose roles ask the models that they were compiled with.

        Parameters
        ----------
        lms : dict of str to dspy.LM
            By the name in ``roles``; others are passed over.
        """
        if not self.roles:
            return self
        other = self.model_copy()
        other._lms = dict(lms)
        return other

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

    def own_models(self) -> dict[str, dspy.LM]:
        """Return the models of single questions, as far as roles have models of their own.

        Raises
        ------
        ValueError
            If a role has one that was not given: another model would do other work.
        """
        roles = self._asked_roles or self.roles
        for role, name in roles.items():
            if name not in self._lms:
                raise InputError(
                    f"the judge was compiled with {name} as its {role}; give that model, too: "
                    f"with_models({{{name!r}: …}})."
                )
        lms = {role: self._lms[name] for role, name in roles.items()}
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

        Its roles ask models of their own as far as ``with_models`` gave them; give those of others
        with ``programs.roles.with_roles``.

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
        return with_roles(judge, self._known_roles()) if self._lms else judge

    def _known_roles(self) -> dict[str, dspy.LM]:
        roles = self._asked_roles or self.roles
        known = {role: self._lms.get(name) for role, name in roles.items()}
        return {role: lm for role, lm in known.items() if lm is not None}


def load_judge(folder: str | Path) -> AnyJudge:
    """Return the judge in ``folder`` as a DSPy module, verified: also a panel or a calibrated one.

    Parameters
    ----------
    folder : str or Path
        What ``compile``, ``panel`` or ``take`` wrote, or ``SavedJudge.save``.

    Returns
    -------
    Judge or JudgeOfJudges
        It asks DSPy's current model, or the offline model where there is none.

    Raises
    ------
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
    return SavedRecord.load(folder).program()
