"""Ways to weigh the members of a panel, each fitted on some rows and tried on others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.greedy_panel import Members, PanelFit, greedy_weights
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray, JudgedTable
from judgesmith.signatures.aggregation import PanelWeights
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
    table : JudgedTable
        What people said, before anything is predicted.
    scores : array, shape (n, n_members)
        What the members said, each on its own scale; nan where one has no score.
    changed : array, shape (n, n_kinds, n_members), or None
        The same of the rows' changed versions, where the objective looks at them.
    names : tuple of str
        Of the members.
    able : tuple of int
        Places of the members that may be weighed.
    objective : Objective
        What members are selected by.
    n_rounds : int
        Most members that greedy selection adds.
    scale : Scale
        What predictions are points of.
    own : PanelWeights or None
        Of the way of that name.
    scales : tuple of Scale
        Of the members, where nobody rated the rows: then scores count as shares of these.
    seen : list of (float, float)
        Filled by ``predictions``: the objective on the rows fitted on, and on those predicted.
    fits : dict of bytes to PanelFit
        Filled likewise, by the rows fitted on.
    """

    name: PanelName
    table: JudgedTable
    scores: FloatArray
    names: tuple[str, ...]
    able: tuple[int, ...]
    objective: Objective
    n_rounds: int
    scale: Scale
    changed: FloatArray | None = None
    own: PanelWeights | None = None
    scales: tuple[Scale, ...] = ()
    seen: list[tuple[float, float]] = field(default_factory=list)
    fits: dict[bytes, PanelFit] = field(default_factory=dict)

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of rows ``outside`` by a fit on rows ``inside``."""
        if self.own is not None:
            return self._by_own(self.scores[outside])
        if _are_alike(self.table.human[inside]):
            return np.full(len(outside), np.nan)
        fit = self._fitted(inside)
        self.seen.append((self._value(fit, inside), self._value(fit, outside)))
        return fit.predict(self.scores[outside])

    def predictions_of_versions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of the changed versions of rows, shape (n_outside, n_kinds)."""
        assert self.changed is not None
        if self.own is not None:
            return self._of_versions(self._by_own, outside)
        if _are_alike(self.table.human[inside]):
            return np.full(self.changed[outside].shape[:2], np.nan)
        return self._of_versions(self._fitted(inside).predict, outside)

    def weights(self) -> PanelWeights:
        """Return the weights fitted on all rows."""
        if self.own is not None:
            return self.own
        return self._fitted(np.arange(self.table.n)).plain(self.names)

    @property
    def optimism(self) -> float:
        """How much larger the objective was on rows fitted on than on others, on average."""
        gaps = [inside - outside for inside, outside in self.seen]
        defined = [gap for gap in gaps if not math.isnan(gap)]
        return float(np.mean(defined)) if defined else 0.0

    def _fitted(self, inside: IntArray) -> PanelFit:
        known = inside.tobytes()
        if known not in self.fits:
            self.fits[known] = self._fit(inside)
        return self.fits[known]

    def _fit(self, inside: IntArray) -> PanelFit:
        if self.scales:
            members = Members.as_shares(self.scores[inside], self.scales, self.scale)
        else:
            members = Members.learned(self.scores[inside], self.table.human[inside], self.scale)
        n_rounds = {"single": 1, "equal": 0}.get(self.name, self.n_rounds)
        weights = greedy_weights(
            members, lambda fit: self._value(fit, inside), n_rounds=n_rounds, allowed=self.able
        )
        return members.fitted(weights)

    def _by_own(self, scores: FloatArray) -> FloatArray:
        assert self.own is not None
        found = []
        for row in scores.tolist():
            given = zip(self.names, row, strict=True)
            score = self.own.apply({name: None if math.isnan(x) else x for name, x in given})
            found.append(math.nan if score is None else score)
        return np.asarray(found, float)

    def _of_versions(
        self, predicted: Callable[[FloatArray], FloatArray], places: IntArray
    ) -> FloatArray:
        assert self.changed is not None
        scores = self.changed[places]
        return predicted(scores.reshape(-1, scores.shape[-1])).reshape(scores.shape[:2])

    def _value(self, fit: PanelFit, places: IntArray) -> float:
        table = self.table.part(places)
        if _are_alike(table.human):
            return math.nan
        changed = None if self.changed is None else self._of_versions(fit.predict, places)
        predicted = fit.predict(self.scores[places])
        return self.objective.value(table.predicting(predicted, changed, judge_scale=self.scale))


def _are_alike(human: FloatArray) -> bool:
    """Say whether people gave one score to all rows; not where nobody rated any."""
    return bool(np.ptp(human) == 0)


def unpredicted(rows: Rows) -> JudgedTable:
    """Return the table of rows before anything is predicted of them, or of changed versions."""
    kinds = rows.kinds
    return JudgedTable(
        predicted=np.full(len(rows), np.nan),
        human=rows.human,
        sources=rows.groups,
        systems=rows.systems,
        scale=rows.scale,
        kinds=kinds,
        damaged=np.full((len(rows), len(kinds)), np.nan) if kinds else None,
        versioned=rows.versioned if kinds else None,
        examples=rows.examples,
    )


def columns_of_versions(scores: FloatArray, rows: Rows) -> FloatArray | None:
    """Return scores of versions by row and kind, shape (n, n_kinds, n_members); None without any.

    Parameters
    ----------
    scores : array, shape (n_versions, n_members)
        Row by row, as ``rows.texts`` has them.
    rows : Rows
        With versions.
    """
    if not rows.kinds:
        return None
    found = np.full((len(rows), len(rows.kinds), scores.shape[1]), np.nan)
    found[rows.versioned] = scores
    return found


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
