"""Whether the winner of a search is still better once its numbers have been weighed.

A search compares judges by their own scores; the weights of their criteria are learned afterwards.
Where that makes the judge as it was better than the winner, the winner has gained nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgesmith.experiments.parts import examples_of
from judgesmith.optimizers import FitAggregation
from judgesmith.optimizers.rows import Rows, rows_of
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.programs import Judge
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.signatures.config import Aggregation


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """Two judges with learned weights, cross-validated on the same rows.

    Attributes
    ----------
    value, before : float
        The objective of the winner and of the judge as it was; nan where undefined.
    n_rows : int
        Rows that neither shows as a demonstration.
    """

    value: float
    before: float
    n_rows: int

    @property
    def worse(self) -> bool:
        """Whether the winner is the worse of the two: undefined is worse than anything defined.

        Examples
        --------
        >>> Weighed(value=0.5, before=0.7, n_rows=90).worse
        True
        >>> Weighed(value=0.5, before=math.nan, n_rows=9).worse
        False
        >>> Weighed(value=math.nan, before=0.5, n_rows=9).worse
        True
        """
        if math.isnan(self.value):
            return not math.isnan(self.before)
        return self.value < self.before

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        known = {"value": self.value, "before": self.before}
        plain = {name: None if math.isnan(one) else one for name, one in known.items()}
        return {**plain, "n_rows": self.n_rows}

    def note(self, objective: str) -> str:
        """Return in a sentence why the judge stays as it was."""
        value = "undefined" if math.isnan(self.value) else f"{self.value:.3f}"
        return (
            f"with learned weights the judge as it was is the better one, cross-validated on "
            f"{self.n_rows} rows: {objective} {self.before:.3f}, and {value} for the "
            "winner. So the judge stays as it was but for its aggregation."
        )


def weighed(
    winner: Judge,
    start: Judge,
    tuning: Sequence[Rows],
    *,
    fit_winner: FitAggregation,
    fit_start: FitAggregation,
) -> Weighed | None:
    """Return how a winner and the judge as it was do with weights of their own.

    Parameters
    ----------
    winner, start : Judge
        What a search found, and what it started from.
    tuning : sequence of Rows
        The rows to learn from; those that either shows are left out for both.
    fit_winner, fit_start : FitAggregation
        Of equal settings, so that sources are halved alike; each asks the model of its judge.

    Returns
    -------
    Weighed or None
        None where the budget left rows unasked: then it is not known.
    """
    shown = {key for judge in (winner, start) for key in shown_keys(judge.protocol.demonstrations)}
    rated = [example for rows in tuning for example in examples_of(rows.without(shown))]
    rows = rows_of(rated, fit_winner.scale)
    values = []
    for fit, judge in ((fit_winner, winner), (fit_start, start)):
        raw = judge.with_protocol(judge.protocol.model_copy(update={"aggregation": Aggregation()}))
        said = fit.judged(raw, rows)
        if any(map(was_not_asked, said)):
            return None
        fit.choose(rows, said, own=judge.protocol.aggregation)
        chosen = [trial.value for trial in fit.trials_ if trial.name == fit.chosen_]
        values.append(chosen[0] if chosen else math.nan)
    return Weighed(value=values[0], before=values[1], n_rows=len(rows))
