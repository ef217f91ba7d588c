"""Ways to weigh the members of a panel, each fitted on some rows and tried on others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.greedy_panel import Members, PanelFit, greedy_weights
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray, JudgedTable
from judgesmith.signatures.panel_weights import PanelWeights
from judgesmith.signatures.scale import Scale

PanelName = Literal["own", "single", "equal", "greedy"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelWay:
    """One way to weigh members.

    Attributes
    ----------
    name : {"own", "single", "equal", "greedy"}
        Weights that are there already; the best member alone; equal weights of standardised
        scores; greedy selection with replacement.
    rows : Rows
        What people said.
    scores : array, shape (n, n_members)
        What the members said, each on its own scale; nan where one has no score.
    names : tuple of str
        Of the members.
    able : tuple of int
        Places of the members that may be weighed.
    objective : Objective
        What members are selected by.
    n_rounds : int
        Most members that greedy selection adds.
    own : PanelWeights or None
        Of the way of that name.
    seen : list of (float, float)
        Filled by ``predictions``: the objective on the rows fitted on, and on those predicted.
    """

    name: PanelName
    rows: Rows
    scores: FloatArray
    names: tuple[str, ...]
    able: tuple[int, ...]
    objective: Objective
    n_rounds: int
    own: PanelWeights | None = None
    seen: list[tuple[float, float]] = field(default_factory=list)

    @property
    def scale(self) -> Scale:
        """What predictions are points of."""
        return self.rows.scale if self.own is None else self.own.scale

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of rows ``outside`` by a fit on rows ``inside``."""
        if self.own is not None:
            return self._by_own(outside)
        if np.ptp(self.rows.human[inside]) == 0:
            return np.full(len(outside), np.nan)
        fit = self._fitted(inside)
        found = fit.predict(self.scores[outside])
        chosen_by = self._value(fit.predict(self.scores[inside]), inside)
        self.seen.append((chosen_by, self._value(found, outside)))
        return found

    def weights(self) -> PanelWeights:
        """Return the weights fitted on all rows."""
        if self.own is not None:
            return self.own
        return self._fitted(np.arange(len(self.rows))).plain(self.names)

    @property
    def optimism(self) -> float:
        """How much larger the objective was on rows fitted on than on others, on average."""
        gaps = [inside - outside for inside, outside in self.seen]
        defined = [gap for gap in gaps if not math.isnan(gap)]
        return float(np.mean(defined)) if defined else 0.0

    def _fitted(self, inside: IntArray) -> PanelFit:
        members = Members.learned(self.scores[inside], self.rows.human[inside], self.rows.scale)
        n_rounds = {"single": 1, "equal": 0}.get(self.name, self.n_rounds)
        weights = greedy_weights(
            members,
            lambda predicted: self._value(predicted, inside),
            n_rounds=n_rounds,
            allowed=self.able,
        )
        return members.fitted(weights)

    def _by_own(self, places: IntArray) -> FloatArray:
        assert self.own is not None
        found = []
        for row in self.scores[places].tolist():
            given = zip(self.names, row, strict=True)
            score = self.own.apply({name: None if math.isnan(x) else x for name, x in given})
            found.append(math.nan if score is None else score)
        return np.asarray(found)

    def _value(self, predicted: FloatArray, places: IntArray) -> float:
        if np.ptp(self.rows.human[places]) == 0:
            return math.nan
        table = unpredicted(self.rows.take(places))
        return self.objective.value(table.predicting(predicted, judge_scale=self.rows.scale))


def unpredicted(rows: Rows) -> JudgedTable:
    """Return the table of rated rows before anything is predicted of them."""
    return JudgedTable(
        predicted=np.full(len(rows), np.nan),
        human=rows.human,
        sources=rows.groups,
        systems=rows.systems,
        scale=rows.scale,
        examples=rows.examples,
    )


def columns_of(scores: Sequence[Sequence[float | None]], n_rows: int) -> FloatArray:
    """Return one column per member from the scores of each, nan where one has none.

    Raises
    ------
    ValueError
        If there are no members, or one has not as many scores as there are rows.
    """
    if not scores:
        raise InputError("no members to weigh; give the scores of one at least, by name.")
    for one in scores:
        if len(one) != n_rows:
            raise InputError(f"expected one score per row, {n_rows}; got {len(one)}.")
    return np.asarray([[np.nan if x is None else x for x in one] for one in scores], float).T
