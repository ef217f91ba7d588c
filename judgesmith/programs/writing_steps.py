"""Asking a model for evaluation steps: once per criterion, whatever is judged by them later."""

from __future__ import annotations

import re
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.asking import current_lm
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.models import sampling
from judgesmith.signatures.g_eval import GEvalProtocol, WriteSteps, check_steps

_NUMBER = re.compile(r"^(?:step\s*)?[(\[]?\d{1,2}[.):\]]+\s*|^[-*•]\s+", re.IGNORECASE)
_HEADING = re.compile(r"(?i)^(?:evaluation )?steps:?$")


def written_steps(lm: dspy.LM | None, *, task: str, criterion: str) -> tuple[str, ...] | str:
    """Return steps to check a criterion by, or the sentence that says why there are none.

    The request depends on the model, the task and the criterion alone: a model with a ledger is
    asked once, however often this is called.

    Parameters
    ----------
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    task : str
        What responses are written for; may be empty.
    criterion : str
        As ``NAME: DEFINITION``.

    Raises
    ------
    ModelError, BudgetSpent, LedgerError
        If the model cannot be asked, or not further.

    Examples
    --------
    >>> len(written_steps(None, task="", criterion="fluency: Is it well written?"))
    4
    """
    lm = lm or current_lm()
    signature = WriteSteps if task else WriteSteps.delete("task")
    told = {"task": task, "criterion": criterion} if task else {"criterion": criterion}
    config: dict[str, Any] = call_config(GEvalProtocol(), lm)
    problem = ""
    with dspy.context(adapter=FencedAdapter(), lm=lm):
        for sample in (0, 1):
            try:
                with sampling(sample=sample):
                    answer = dspy.Predict(signature)(**told, config=config)
                return read_steps(str(answer.steps or ""))
            except ContextWindowExceededError as fault:
                return f"the criterion is longer than the model reads: {fault}"
            except (AdapterParseError, ValueError) as fault:
                problem = str(fault).split("\n")[0]
    return f"the model's steps could not be read: {problem}"


def read_steps(text: str) -> tuple[str, ...]:
    r"""Return steps from lines, without their numbers.

    Raises
    ------
    ValueError
        If there is none, there are too many, or one could not stand in a question.

    Examples
    --------
    >>> read_steps("Steps:\n1. Read the source.\n\n2) Read the response.\n- Compare **both**.")
    ('Read the source.', 'Read the response.', 'Compare **both**.')
    """
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line and not _HEADING.match(line)]
    steps = tuple(plain for line in lines if (plain := _NUMBER.sub("", line).strip()))
    check_steps(steps, of="the criterion")
    return steps
