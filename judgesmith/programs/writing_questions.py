"""Asking a model for a checklist: once per criterion, whatever is checked by it later."""

from __future__ import annotations

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.asking import current_lm
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.models import sampling
from judgesmith.programs.writing_steps import read_steps
from judgesmith.signatures.checklist import ChecklistProtocol, WriteQuestions, check_questions_of


def written_questions(lm: dspy.LM | None, *, task: str, criterion: str) -> tuple[str, ...] | str:
    """Return questions to check a criterion by, or the sentence that says why there are none.

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
    >>> len(written_questions(None, task="", criterion="fluency: Is it well written?"))
    2
    """
    lm = lm or current_lm()
    signature = WriteQuestions if task else WriteQuestions.delete("task")
    told = {"task": task, "criterion": criterion} if task else {"criterion": criterion}
    problem = ""
    with dspy.context(adapter=FencedAdapter(), lm=lm):
        for sample in (0, 1):
            try:
                with sampling(sample=sample):
                    config = call_config(ChecklistProtocol(), lm)
                    answer = dspy.Predict(signature)(**told, config=config)
                questions = read_steps(str(answer.questions or ""))
                check_questions_of(questions, of="the criterion")
            except ContextWindowExceededError as fault:
                return f"the criterion is longer than the model reads: {fault}"
            except (AdapterParseError, ValueError) as fault:
                problem = str(fault).split("\n")[0]
            else:
                return questions
    return f"the model's questions could not be read: {problem}"
