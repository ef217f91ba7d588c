"""The supervisor of a saved panel as plain data: its question, and the model it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, field_validator

from judgesmith.errors import InputError
from judgesmith.programs.judging import Steps
from judgesmith.programs.plain_data import ModelName
from judgesmith.programs.saved_record import SavedJudgeError
from judgesmith.programs.supervisor_steps import QUESTION
from judgesmith.programs.templates import Slot, Template
from judgesmith.signatures.protocol import Protocol

if TYPE_CHECKING:
    from judgesmith.programs.supervisor import Supervisor

_TEXTS = ["annotations", "response"]


class SavedSupervisor(BaseModel):
    """Who merges the errors that the members of a saved panel find.

    Parameters
    ----------
    question : Template
        What it is asked, as it was when the panel was made.
    model : str
        The model that it was made with, as ``provider/model``.

    Raises
    ------
    ValueError
        If the question does not show response and annotations between fences, or asks for
        something else than one list.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        """Return a supervisor as plain data.

        Examples
        --------
        >>> from judgesmith.programs.supervisor import Supervisor
        >>> SavedSupervisor.of(Supervisor(), "offline").program().merge.demos
        []
        """
        return cls(question=supervisor.templates()[QUESTION], model=model)

    @property
    def protocol(self) -> Protocol:
        """What the calls are sampled with."""
        return Protocol()

    def templates(self) -> Mapping[str, Template]:
        """Return the one question, rendered up to the texts."""
        return {QUESTION: self.question}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: a supervisor judges nothing by itself.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a supervisor merges what others found; ask the panel that holds it.")

    def program(self) -> Supervisor:
        """Return the supervisor as a DSPy module.

        Raises
        ------
        SavedJudgeError
            If this version would ask another question than the panel was made with.
        """
        from judgesmith.programs.supervisor import Supervisor

        found = Supervisor()
        if found.templates() != {QUESTION: self.question}:
            raise SavedJudgeError(
                "this version of judgesmith words the supervisor's question differently from the "
                "one that made the panel. Score with the saved panel, or make it again."
            )
        return found
