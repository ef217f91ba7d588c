"""Ways to make one score of a judge's numbers, from the simplest to the one with most terms."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgesmith.optimizers.ridge import LIMIT, LinearFit, fit_ridge
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import IntArray
from judgesmith.optimizers.table import FloatArray
from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.programs.judging.scoring import terms_of
from judgesmith.signatures.config import Aggregation
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import PERCENT, Scale

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
    changed : array, shape (n, n_kinds, n_terms), or None
        The numbers of the rows' changed versions, where these were judged; nan where one lacks
        any of them.
    """

    name: WayName
    rows: Rows
    terms: FloatArray
    names: tuple[str, ...]
    own: Aggregation | None = None
    changed: FloatArray | None = None

    @property
    def scale(self) -> Scale:
        """What predictions are points of."""
        if self.own is not None:
            return self.own.scale
        return PERCENT if self.name in ("overall", "mean") else self.rows.scale

    def predictions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of rows ``outside`` by a fit on rows ``inside``, nan if undefined."""
        return self._scores(inside, self.terms[outside])

    def predictions_of_versions(self, inside: IntArray, outside: IntArray) -> FloatArray:
        """Return the scores of the changed versions of rows, shape (n_outside, n_kinds).

        nan where there is none, or undefined.
        """
        assert self.changed is not None
        terms = self.changed[outside]
        found = np.full(terms.shape[:2], np.nan)
        there = ~np.isnan(terms).any(axis=2)
        found[there] = self._scores(inside, terms[there])
        return found

    def _scores(self, inside: IntArray, terms: FloatArray) -> FloatArray:
        """Return the scores of texts with these numbers by a fit on rows ``inside``."""
        if self.own is not None:
            return np.asarray([self.own.apply(row) for row in terms.tolist()], dtype=np.float64)
        if self.name in ("overall", "mean"):
            return np.asarray(terms.mean(axis=1))
        if np.ptp(self.rows.human[inside]) == 0:
            return np.full(len(terms), np.nan)
        found = self._fitted(inside).predict(terms)
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
    and people rate on the scale they were learned on. Judgements may be of all ``rows.texts``.
    """
    judgements, of_versions = judgements[: len(rows)], judgements[len(rows) :]
    asked = judgements[0].criteria
    scored = [name for name in asked if all(_has(one, name) for one in judgements)]
    criteria = [f"criterion:{name}" for name in scored]
    names = ("overall", *criteria, *(f"lexical:{name}" for name in FEATURE_NAMES))
    found = []
    for item, judgement in zip(rows.items, judgements, strict=True):
        term = terms_of(judgement, item.source, item.context, item.response)
        found.append([term(name) for name in names])
    terms = np.asarray(found)
    changed = _terms_of_versions(rows, of_versions, names) if of_versions else None
    n_asked = 1 + len(criteria)

    def weighing(name: WayName, places: Sequence[int], own: Aggregation | None = None) -> Way:
        return Way(
            name=name,
            rows=rows,
            terms=terms[:, places],
            names=tuple(names[place] for place in places),
            own=own,
            changed=None if changed is None else changed[:, :, places],
        )

    def way(name: WayName, first: int, last: int) -> Way:
        return weighing(name, range(first, last))

    ways = []
    if (
        own is not None
        and own.kind == "linear"
        and (own.scale.low, own.scale.high) == (rows.scale.low, rows.scale.high)
        and set(own.terms) <= set(names)
    ):
        ways.append(weighing("own", [names.index(name) for name in own.terms], own))
    ways.append(way("overall", 0, 1))
    if criteria and len(criteria) == len(asked):
        ways.append(way("mean", 1, n_asked))
    if criteria:
        ways.append(way("criteria", 0, n_asked))
    return [*ways, way("lexical", 0, len(names))]


def _terms_of_versions(
    rows: Rows, judgements: Sequence[Judgement], names: Sequence[str]
) -> FloatArray:
    """Return the numbers of changed versions, shape (n, n_kinds, n_terms), nan where one lacks."""
    versioned = rows.versioned
    terms = np.full((*versioned.shape, len(names)), np.nan)
    changed = rows.texts[len(rows) :]
    places = np.argwhere(versioned).tolist()
    for (row, kind), item, judgement in zip(places, changed, judgements, strict=True):
        term = terms_of(judgement, item.source, item.context, item.response)
        with suppress(ValueError):  # it lacks one
            terms[row, kind] = [term(name) for name in names]
    return terms


def _has(judgement: Judgement, criterion: str) -> bool:
    one = judgement.criteria.get(criterion)
    return one is not None and one.score is not None
