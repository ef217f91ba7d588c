"""What "better" means: a function from a whole table of judgements to one number.

DSPy's own optimizers average a score per item. Agreement with people is a property of the
whole list, so here an objective sees all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, get_args

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import (
    Estimate,
    Level,
    PairedEstimate,
    RatedPart,
    Statistic,
    agreement,
    averaged_interval,
    averaged_paired_interval,
)
from judgesmith.metrics.resampling.averaged_units import scored_by_both
from judgesmith.optimizers.table import JudgedTable

DEFAULT = "q"
"""The text of the objective that is taken where none is given."""


class Objective(Protocol):
    """A number that a search makes as large as it can."""

    def value(self, table: JudgedTable) -> float:
        """Return the objective, nan where it is undefined."""

    def estimate(self, table: JudgedTable, *, rng: np.random.Generator) -> Estimate:
        """Return the objective with its interval."""

    def gain(
        self, first: JudgedTable, second: JudgedTable, *, rng: np.random.Generator
    ) -> PairedEstimate:
        """Return by how much the objective is larger on ``first``, the same rows."""


AnyObjective = Objective | Callable[..., Any] | str
"""What optimizers take: see ``as_objective``."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Correlation with people at one level; the mean of it over targets where there are several.

    Parameters
    ----------
    statistic : {"q", "pearson", "spearman", "kendall", "kendall_c", "concordance"}
        ``q`` is the sum of the three after it, from -3 to 3 (Active-Critic, stage 3).
        ``kendall_c`` is tau-c. ``concordance`` makes sense only of a judge that answers in points
        of the human scale.
    level : {"dataset", "sample", "system"}
        Over all rows, within each source, or between the systems' means.

    Raises
    ------
    ValueError
        If the statistic or the level is unknown.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([10.0, 50.0, 90.0]), human=np.array([1.0, 3.0, 5.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> round(Agreement("q").value(table), 6)
    3.0
    """

    statistic: Statistic = "q"
    level: Level = "dataset"

    def __post_init__(self) -> None:
        """Refuse what is no correlation."""
        for name, given, known in (
            ("statistic", self.statistic, get_args(Statistic)),
            ("level", self.level, get_args(Level)),
        ):
            if given not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}; got {given!r}.")

    def __str__(self) -> str:
        """Return the objective as ``parse_objective`` reads it."""
        return self.statistic if self.level == "dataset" else f"{self.statistic}@{self.level}"

    def value(self, table: JudgedTable) -> float:
        """Return the correlation of the scored rows, nan where it is undefined on any target."""
        if table.targets:
            return float(np.mean([self.value(part) for part in table.parts]))
        if table.n == table.n_unscored:
            return math.nan
        return agreement(
            table.predicted,
            table.human,
            sources=table.sources,
            systems=table.systems,
            statistic=self.statistic,
            level=self.level,
        ).value

    def estimate(self, table: JudgedTable, *, rng: np.random.Generator) -> Estimate:
        """Return the correlation with an interval that resamples sources, of all targets alike."""
        return averaged_interval(
            rated_parts(table), statistic=self.statistic, level=self.level, rng=rng
        )

    def gain(
        self, first: JudgedTable, second: JudgedTable, *, rng: np.random.Generator
    ) -> PairedEstimate:
        """Return the paired difference of two predictions of the same rows and targets."""
        return averaged_paired_interval(
            rated_parts(first),
            rated_parts(second),
            statistic=self.statistic,
            level=self.level,
            rng=rng,
        )

    def estimate_pair(
        self, first: JudgedTable, second: JudgedTable, *, rngs: Sequence[np.random.Generator]
    ) -> tuple[Estimate, Estimate]:
        """Return the estimate of either table on the rows that ``gain`` compares them on.

        Each draws its resamples from its own of two ``rngs``.
        """
        pairs = [
            scored_by_both(*pair, statistic=self.statistic, level=self.level)
            for pair in zip(rated_parts(first), rated_parts(second), strict=True)
        ]
        one, other = (
            averaged_interval(list(parts), statistic=self.statistic, level=self.level, rng=rng)
            for parts, rng in zip(zip(*pairs, strict=True), rngs, strict=True)
        )
        return one, other


def rated_parts(table: JudgedTable) -> list[RatedPart]:
    """Return the scores on each target beside what people said."""
    return [
        RatedPart(
            predicted=part.predicted, human=part.human, sources=part.sources, systems=part.systems
        )
        for part in table.parts
    ]


def parse_agreement(text: str) -> Agreement:
    """Return the correlation that ``text`` names: ``q``, ``pearson@sample`` and so on.

    Raises
    ------
    ValueError
        If it names none, or more than one.

    Examples
    --------
    >>> parse_agreement("spearman@sample")
    Agreement(statistic='spearman', level='sample')
    """
    statistic, _, level = text.strip().partition("@")
    try:
        return Agreement(statistic, level or "dataset")  # type: ignore[arg-type]
    except ValueError as fault:
        raise InputError(
            f"an objective is STATISTIC or STATISTIC@LEVEL, as in q or spearman@sample: {fault}"
        ) from None


def as_objective(given: AnyObjective, metric: Callable[..., Any] | None = None) -> Objective:
    """Return an objective, or the one that a text, a function or a metric of DSPy's kind is.

    Parameters
    ----------
    given : Objective, callable or str
        A text that ``parse_objective`` reads, ``f(table) -> float``, or
        ``metric(example, prediction, trace=None) -> float``, of which the mean over the scored
        rows counts.
    metric : callable or None
        Instead of ``given``, which then is the default ``q``.

    Raises
    ------
    InputError
        If it is none of these, is better when lower, or both are given.
    """
    # They are made of what stands in this module.
    from judgesmith.optimizers.given_objectives import KINDS, objective_of
    from judgesmith.optimizers.grammar import parse_objective

    if metric is not None:
        if str(given) != DEFAULT:
            raise InputError(f"metric= stands in for objective=; drop {given} or the metric.")
        given = metric
    if isinstance(given, str):
        return parse_objective(given)
    if getattr(given, "lower_is_better", False) and not isinstance(given, type):
        raise InputError(f"{given} is better when lower; subtract it, as in '-{given}'.")
    parts = (getattr(given, name, None) for name in ("value", "estimate", "gain"))
    if all(map(callable, parts)) and not isinstance(given, type):
        return cast(Objective, given)
    if callable(given) and not isinstance(given, type):
        return objective_of(given)
    raise InputError(f"an objective is a text such as 'q', {KINDS}; got {given!r:.80}.")
