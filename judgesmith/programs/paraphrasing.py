"""Asking a model to say an instruction in other words; by rule where nobody can be asked."""

from __future__ import annotations

import re

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.models import ModelError, TransientModelError, sampling
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.replies import too_long, unreadable
from judgesmith.programs.rewriting import TEMPERATURE, Written
from judgesmith.signatures.paraphrasing import ParaphraseInstruction
from judgesmith.signatures.protocol import Protocol

_OTHER_WORDS = (
    ("Score", "Rate"),
    ("score alone", "score and nothing else"),
    ("Judge", "Assess"),
    ("as a whole", "in its entirety"),
    ("without giving reasons", "with no reasons"),
    ("Grade", "Mark"),
    ("by the one criterion", "by the single criterion"),
    ("by the criterion", "with regard to the criterion"),
    ("is there to be", "is here to be"),
)
_OPENINGS = ("", "Read everything first. ", "Be even-handed. ", "Take every case by itself. ")


def paraphrased(lm: dspy.LM, text: str, *, sample: int) -> Written:
    """Return an instruction in other words, as a model puts it.

    Parameters
    ----------
    lm : dspy.LM
        The model that is asked.
    text : str
        The instruction.
    sample : int
        The number of the paraphrase: each is another question to the ledger.

    Raises
    ------
    ModelError, BudgetSpent, LedgerError
        If the model cannot be asked, or not further.
    """
    config = call_config(Protocol(temperature=TEMPERATURE), lm)
    try:
        with dspy.context(adapter=FencedAdapter(), lm=lm), sampling(sample=sample):
            answer = dspy.Predict(ParaphraseInstruction)(instruction=text, config=config)
    except ContextWindowExceededError as fault:
        return Written(problem=too_long(fault).problem)
    except AdapterParseError as fault:
        return Written(problem=unreadable(str(fault).split("\n")[0]).problem)
    except TransientModelError:
        raise
    except ModelError as fault:
        if not speaks_of_one_item(fault):
            raise
        return Written(problem=f"the model refused the request: {fault}")
    return Written(text=str(answer.paraphrase or "").strip())


def paraphrased_by_rule(text: str, *, sample: int) -> Written:
    """Return an instruction with some words exchanged, as the number says.

    Examples
    --------
    >>> paraphrased_by_rule("Score the response as a whole.", sample=1).text
    'Read everything first. Rate the response as a whole.'
    >>> paraphrased_by_rule("Score the response as a whole.", sample=4).text
    'Rate the response in its entirety.'
    """
    known = [pair for pair in _OTHER_WORDS if pair[0] in text]
    for old, new in known[: 1 + sample // len(_OPENINGS)]:
        text = re.sub(re.escape(old), new, text)
    return Written(text=_OPENINGS[sample % len(_OPENINGS)] + text)
