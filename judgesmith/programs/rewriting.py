"""Asking a model to rewrite one text of a judge."""

from __future__ import annotations

from dataclasses import dataclass

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.models import ModelError, TransientModelError, sampling
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.models.stopping import STOPPING
from judgesmith.programs.replies import too_long, unreadable
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rewriting import RewriteText

TEMPERATURE = 1.0
"""Of a rewrite: the same faults may be answered in more than one way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of asking for another text.

    Attributes
    ----------
    text : str
        The text; empty where there is none.
    problem : str
        Why there is none; empty where there is one.
    """

    text: str = ""
    problem: str = ""


class Rewriter(dspy.Module):
    """Rewrites texts of judges.

    Parameters
    ----------
    lm : dspy.LM
        The model that is asked.
    """

    def __init__(self, lm: dspy.LM) -> None:
        super().__init__()
        self._lm = lm
        self.rewrite = dspy.Predict(RewriteText)

    def forward(
        self, *, part: str, judge: str, text: str, pairs: str, rows: str, sample: int
    ) -> Written:
        """Return another text for one part of a judge.

        Parameters
        ----------
        part, judge, text, pairs, rows : str
            See ``RewriteText``.
        sample : int
            The number of the question among those of a search, so that one which is asked twice
            may be answered in two ways, and each of them stays on record.

        Raises
        ------
        ModelError, BudgetSpent, LedgerError
            If the model cannot be asked, or not further.
        Stopped
            If the process was asked to stop.
        """
        STOPPING.check()
        config = call_config(Protocol(temperature=TEMPERATURE), self._lm)
        try:
            with dspy.context(adapter=FencedAdapter(), lm=self._lm), sampling(sample=sample):
                answer = self.rewrite(
                    part=part, judge=judge, text=text, pairs=pairs, rows=rows, config=config
                )
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
        return Written(text=answer.rewritten.strip())
