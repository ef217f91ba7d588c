"""What scores and inputs are like, as plain numbers: no text can be had back from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from judgesmith.experiments.drifting.measured import CRITERION, SCORE, labels_of, numbers_of
from judgesmith.experiments.suggesting.marks import was_chosen
from judgesmith.metrics.resampling import effective_size
from judgesmith.signatures import Judgement, RatedItem

N_POINTS = 101
"""Numbers that are kept of more: quantiles at even steps, the ends nearly the least and most."""

_FEWEST = 1e-3


class Numbers(BaseModel):
    """How some numbers are spread.

    Parameters
    ----------
    n : int
        How many there were.
    effective : float
        How many independent ones they are worth, as rows of one source may be alike.
    points : tuple of float
        All of them in order, or quantiles at even steps.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int = Field(ge=1)
    effective: FiniteFloat = Field(ge=_FEWEST)
    points: tuple[FiniteFloat, ...] = Field(min_length=1, max_length=N_POINTS)

    @classmethod
    def of(cls, values: Sequence[float], sources: Sequence[object]) -> Numbers:
        """Return the numbers of some rows, at least one.

        Examples
        --------
        >>> Numbers.of([3, 1, 1], ["a", "b", "b"]).points
        (1.0, 1.0, 3.0)
        """
        given = np.sort(np.asarray(values, dtype=float))
        points = given
        if len(given) > N_POINTS:
            points = np.quantile(given, (np.arange(N_POINTS) + 0.5) / N_POINTS)
        # By rank, since one odd value says little of how alike the others are.
        ranks = np.searchsorted(given, np.asarray(values, dtype=float), side="left")
        worth = effective_size(ranks, sources=list(sources))
        return cls(
            n=len(given),
            effective=float(f"{worth:.6g}"),
            points=tuple(float(f"{one:.6g}") for one in points.tolist()),
        )


class Shares(BaseModel):
    """How often each of some labels occurs.

    Parameters
    ----------
    n : int
        Rows that have one.
    effective : float
        As in ``Numbers``, of the most frequent label.
    shares : dict of str to float
        Fractions from 0 to 1, the most frequent first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int = Field(ge=1)
    effective: FiniteFloat = Field(ge=_FEWEST)
    shares: Mapping[str, FiniteFloat]

    @classmethod
    def of(cls, labels: Sequence[str], sources: Sequence[object]) -> Shares:
        """Return the shares in some rows, at least one.

        Examples
        --------
        >>> Shares.of(["Latin", "Han", "Latin", "Latin"], "abcd").shares
        {'Latin': 0.75, 'Han': 0.25}
        """
        counts = sorted(Counter(labels).items(), key=lambda one: (-one[1], one[0]))
        most = np.array([label == counts[0][0] for label in labels], dtype=float)
        # Where all are alike nothing tells how alike rows of a source would be.
        worth = effective_size(most, sources=list(sources))
        return cls(
            n=len(labels),
            effective=float(f"{worth:.6g}"),
            shares={label: float(f"{n / len(labels):.6g}") for label, n in counts},
        )


class Snapshot(BaseModel):
    """What scores and inputs are like.

    Parameters
    ----------
    rows, unscored : int
        Rows, and those among them without a score.
    numbers : dict of str to Numbers
        Scores and what is counted of texts, by name.
    labels : dict of str to Shares
        Scripts and languages of texts, by name; and of rows whether they are scored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(ge=1)
    unscored: int = Field(ge=0)
    numbers: Mapping[str, Numbers] = Field(default_factory=dict)
    labels: Mapping[str, Shares] = Field(default_factory=dict)

    def without_scores(self) -> Snapshot:
        """Return the same of the inputs alone."""
        numbers = {name: one for name, one in self.numbers.items() if not is_score(name)}
        labels = {name: one for name, one in self.labels.items() if name != SCORED}
        return self.model_copy(update={"numbers": numbers, "labels": labels})


SCORED = "scored"
"""The label that says of each row whether it has a score."""

YES, NO = "yes", "no"


class Row(BaseModel):
    """What is measured of one row."""

    model_config = ConfigDict(frozen=True)

    source: str
    numbers: Mapping[str, float]
    labels: Mapping[str, str]


def is_score(name: str) -> bool:
    """Say whether numbers are scores, and not about texts."""
    return name == SCORE or name.startswith(CRITERION)


def row_of_score(
    score: float | None, criteria: Mapping[str, float | None]
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the numbers and labels of a row's scores."""
    numbers = {} if score is None else {SCORE: float(score)}
    numbers |= {CRITERION + name: float(one) for name, one in criteria.items() if one is not None}
    return numbers, {SCORED: NO if score is None else YES}


def snapshot_of(
    rows: Sequence[Row], *, n_rows: int | None = None, n_unscored: int | None = None
) -> Snapshot:
    """Return what some rows are like; at least one.

    Parameters
    ----------
    rows : sequence of Row
        All rows, or as many of them as are looked at.
    n_rows, n_unscored : int or None
        Of all rows; None where ``rows`` are all.
    """
    if n_rows is None:
        n_rows = len(rows)
    if n_unscored is None:
        n_unscored = sum(row.labels.get(SCORED) == NO for row in rows)
    numbers: dict[str, tuple[list[float], list[str]]] = {}
    labels: dict[str, tuple[list[str], list[str]]] = {}
    for row in rows:
        for name, value in row.numbers.items():
            values, sources = numbers.setdefault(name, ([], []))
            values.append(value)
            sources.append(row.source)
        for name, label in row.labels.items():
            found, whose = labels.setdefault(name, ([], []))
            found.append(label)
            whose.append(row.source)
    return Snapshot(
        rows=n_rows,
        unscored=n_unscored,
        numbers={name: Numbers.of(*one) for name, one in numbers.items()},
        labels={name: Shares.of(one[0], _whose(name, *one)) for name, one in labels.items()},
    )


def _whose(name: str, labels: Sequence[str], sources: Sequence[str]) -> Sequence[object]:
    """Return which rows may be alike: all by their source, but for scores that all came back."""
    alone = name == SCORED and len(set(labels)) == 1
    return range(len(labels)) if alone else sources


def reference_of(items: Sequence[RatedItem], judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return what judged items are like, as a saved judge keeps it; empty without items.

    Parameters
    ----------
    items : sequence of RatedItem
        Of these, rows that ``suggest`` chose are left out: they are no sample of anything.
    judgements : sequence of Judgement
        What the judge says of each.
    """
    rows = [
        measured(item, judgement)
        for item, judgement in zip(items, judgements, strict=True)
        if not was_chosen(item)
    ]
    return snapshot_of(rows).model_dump(mode="json") if rows else {}


def measured(item: RatedItem, judgement: Judgement) -> Row:
    """Return what is measured of a judged item."""
    criteria = {name: one.score for name, one in judgement.criteria.items()}
    numbers, labels = row_of_score(judgement.score, criteria)
    return Row(
        source=item.source_id or item.source or item.key,
        numbers=numbers | numbers_of(item),
        labels=labels | labels_of(item),
    )
