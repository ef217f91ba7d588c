"""How far a search of the protocol is, in a few words: tried, best so far, spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dspy

from judgesmith.optimizers.trials import TrialRecord


@dataclass(kw_only=True)
class SearchProgress:
    """Says after every trial how far a search is.

    Attributes
    ----------
    lm : dspy.LM
        Whose budget is looked at.
    n_trials : int
        Configurations that are tried at most, besides what the search starts from.
    objective : str
        What is made as large as possible, as it is read.
    told : callable
        Takes the words.
    trials : dict of int to TrialRecord
        What was tried until now, by number.

    Examples
    --------
    >>> from judgesmith.programs.lm import model
    >>> lm = model("offline", ledger=None, max_calls=900)
    >>> said = SearchProgress(lm=lm, n_trials=30, objective="q", told=print)
    >>> known = dict(picked={}, n_rows=88, share_scored=1.0)
    >>> said(TrialRecord(number=0, value=0.5, **known))
    0 of 30 tried, q 0.500 as it was, 0 of 900 calls
    >>> said(TrialRecord(number=3, value=0.75, **known))
    1 of 30 tried, best q 0.750 (0.500 as it was), 0 of 900 calls
    """

    lm: dspy.LM
    n_trials: int
    objective: str
    told: Callable[[str], Any]
    trials: dict[int, TrialRecord] = field(default_factory=dict)

    def __call__(self, trial: TrialRecord) -> None:
        """Count a trial and say how far the search is."""
        self.trials[trial.number] = trial
        first = self.trials.get(0, trial)
        whole = [one for one in self.trials.values() if one.n_rows == first.n_rows]
        best = max(whole, key=lambda one: one.rank)
        value = f"{self.objective} {_text(first.value)} as it was"
        if best.number:
            value = f"best {self.objective} {_text(best.value)} ({_text(first.value)} as it was)"
        n_tried = len(self.trials) - (0 in self.trials)
        self.told(", ".join([f"{n_tried} of {self.n_trials} tried", value, *self._spent()]))

    def _spent(self) -> list[str]:
        """Return what the run has spent, all its processes together, and of how much."""
        from judgesmith.programs.lm import lm_client_of

        client = lm_client_of(self.lm)
        if client is None:
            return []
        spent, budget = client.spent, client.budget
        said = [f"{spent.calls}{_of(budget.max_calls)} calls"]
        if budget.max_tokens is not None:
            said.append(f"{spent.tokens}{_of(budget.max_tokens)} tokens")
        if spent.usd or budget.max_usd is not None:
            said.append(f"${spent.usd:.2f}{_of(budget.max_usd, '.2f')}")
        if budget.max_minutes is not None:
            said.append(f"{spent.minutes:.0f}{_of(budget.max_minutes, 'g')} minutes")
        return said


def _text(value: float) -> str:
    return "undefined" if value != value else f"{value:.3f}"


def _of(ceiling: float | None, form: str = "d") -> str:
    return "" if ceiling is None else f" of {ceiling:{form}}"
