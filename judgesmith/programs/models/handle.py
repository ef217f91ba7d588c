"""A model as a stack and its settings, without DSPy: all that asking through templates needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from judgesmith.programs.models.stack import Stack

if TYPE_CHECKING:
    import dspy

# The names by which DSPy knows OpenAI's reasoning models, and the ceiling they do not go below.
_REASONS = re.compile(
    r"(?:o[1345](?:-(?:mini|nano|pro))?(?:-\d{4}-\d{2}-\d{2})?|gpt-5(?:\.\d+)*(?!-chat)(?:-.*)?)"
)
_LEAST_CEILING = 16000


@dataclass(frozen=True, kw_only=True, eq=False)
class StackModel:
    """A model called by a name, over a stack. ``dspy_lm`` makes a ``dspy.LM`` of it.

    Attributes
    ----------
    model : str
        ``provider/model``, or ``offline``.
    stack : Stack
        What every call goes through.
    temperature : float or None
        None leaves it to the server.
    max_tokens : int or None
        Ceiling on each answer.
    recipe : dict of str to object
        How to make it again, without keys and budget.

    Examples
    --------
    >>> from judgesmith.programs.models import stack_model
    >>> stack_model("openai/gpt-4o", ledger=None).kwargs
    {'temperature': 0.0, 'max_tokens': None}
    >>> stack_model("openai/gpt-5", ledger=None).kwargs
    {'temperature': 0.0, 'max_completion_tokens': None}
    """

    model: str
    stack: Stack
    temperature: float | None
    max_tokens: int | None
    recipe: Mapping[str, Any]

    @cached_property
    def kwargs(self) -> Mapping[str, Any]:
        """Settings of every call, as a ``dspy.LM`` names and keeps them."""
        if _REASONS.fullmatch(self.model.rpartition("/")[2].lower()) is None:
            return {"temperature": self.temperature, "max_tokens": self.max_tokens}
        # They take no temperature; one that is not DSPy's, or a ceiling below its least, ends it.
        tempered = bool(self.temperature) and self.temperature != 1.0
        small = bool(self.max_tokens) and (self.max_tokens or 0) < _LEAST_CEILING
        temperature = None if tempered or small else self.temperature
        return {"temperature": temperature, "max_completion_tokens": self.max_tokens}

    def dspy_lm(self, **options: Any) -> dspy.LM:
        """Return the same model for any DSPy program.

        Parameters
        ----------
        **options
            Passed to ``dspy.LM``: further sampling settings, ``callbacks``.
        """
        from judgesmith.programs.models.dspy_lm import StackLM

        return StackLM.over(
            self.stack,
            self.model,
            recipe=self.recipe,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            **options,
        )


AnyModel: TypeAlias = "dspy.LM | StackModel"
"""What judges are asked of: with a stack of ours under it, or any ``dspy.LM``."""
