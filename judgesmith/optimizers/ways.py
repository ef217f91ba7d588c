"""Ways to make one score of a judge's numbers, from the simplest to the one with most terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgesmith.optimizers.ridge import LIMIT, LinearFit, fit_ridge
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray
from judgesmith.programs.aggregating import terms_of
from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.protocol import Aggregation

WayName = Literal["own", "overall", "mean", "criteria", "lexical"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Way:
    """One way to aggregate, and the rows it may be fitted on.

    Attributes
    ----------
    name : {"own", "overall", "mean", "criteria", "lexical"}
        What the judge has learned before; the model's own score; the mean of its criteria;
        learned weights on both; learned weights with lexical features.
    rows : Rows
        Scored rows.
    terms : array, shape (n, n_terms)
        The numbers of each row.
    names : tuple of str
        Of the terms, as ``Aggregation`` spells them.
    own : Aggregation or None
        What was learned before, of the way of that name.
    """

    name: WayName
    rows: Rows
    terms: FloatArray
    names: tuple[str, ...]
    own: Aggregation | None = None

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of rows ``outside`` by a fit on rows ``inside``, nan if undefined."""
        if self.own is not None:
            return np.asarray([self.own.apply(row) for row in self.terms[outside].tolist()])
        if self.name in ("overall", "mean"):
            return np.asarray(self.terms[outside].mean(axis=1))
        if np.ptp(self.rows.human[inside]) == 0:
            return np.full(len(outside), np.nan)
        found = self._fitted(inside).predict(self.terms[outside])
        return np.clip(found, self.rows.scale.low, self.rows.scale.high)

    def aggregation(self) -> Aggregation:
        """Return the aggregation fitted on all rows."""
        if self.own is not None:
            return self.own
        if self.name == "overall" or self.name == "mean":
            return Aggregation(kind=self.name)
        fit = self._fitted(np.arange(len(self.rows)))
        used = np.flatnonzero(fit.weights).tolist()
        return Aggregation(
            kind="linear",
            terms=tuple(self.names[i] for i in used),
            centers=tuple(float(fit.centers[i]) for i in used),
            spreads=tuple(float(fit.spreads[i]) for i in used),
            weights=tuple(float(fit.weights[i]) for i in used),
            limit=LIMIT,
            intercept=fit.intercept,
            scale=self.rows.scale,
        )

    def _fitted(self, inside: IntArray) -> LinearFit:
        return fit_ridge(
            self.terms[inside],
            self.rows.human[inside],
            kinds=[name.partition(":")[0] for name in self.names],
            groups=self.rows.groups[inside],
        )


def ways_of(
    rows: Rows, judgements: Sequence[Judgement], *, own: Aggregation | None = None
) -> list[Way]:
    """Return the ways that judgements of ``rows``, all with a raw score, allow; simplest first.

    Criteria that a judgement has no score for are not weighed, and their mean is no way then.
    Weights that were learned before (``own``) come first of all, where all they weigh is there
    and people rate on the scale they were learned on.
    """
    asked = judgements[0].criteria
    scored = [name for name in asked if all(_has(one, name) for one in judgements)]
    criteria = [f"criterion:{name}" for name in scored]
    names = ("overall", *criteria, *(f"lexical:{name}" for name in FEATURE_NAMES))
    found = []
    for item, judgement in zip(rows.items, judgements, strict=True):
        term = terms_of(judgement, item.source, item.context, item.response)
        found.append([term(name) for name in names])
    terms = np.asarray(found)
    n_asked = 1 + len(criteria)

    def way(name: WayName, first: int, last: int) -> Way:
        return Way(name=name, rows=rows, terms=terms[:, first:last], names=names[first:last])

    ways = []
    if (
        own is not None
        and own.kind == "linear"
        and (own.scale.low, own.scale.high) == (rows.scale.low, rows.scale.high)
        and set(own.terms) <= set(names)
    ):
        places = [names.index(name) for name in own.terms]
        ways.append(Way(name="own", rows=rows, terms=terms[:, places], names=own.terms, own=own))
    ways.append(way("overall", 0, 1))
    if criteria and len(criteria) == len(asked):
        ways.append(way("mean", 1, n_asked))
    if criteria:
        ways.append(way("criteria", 0, n_asked))
    return [*ways, way("lexical", 0, len(names))]


def _has(judgement: Judgement, criterion: str) -> bool:
    one = judgement.criteria.get(criterion)
    return one is not None and one.score is not None
