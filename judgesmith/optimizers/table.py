"""What an objective looks at: every prediction of a judge beside what people said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgesmith.signatures.judgement import Judgement

FloatArray = NDArray[np.float64]
Labels = NDArray[np.generic]


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedTable:
    """Aligned columns, one row per judged item.

    Attributes
    ----------
    predicted : array, shape (n,), in points of the judge's scale
        nan where an item is unscored.
    human : array, shape (n,), in points of the human scale
        What people said; never nan.
    sources, systems : array, shape (n,)
        Labels of what was answered and of who answered.
    problems : tuple of (str or None)
        Why a row is unscored; None where it is scored.

    Examples
    --------
    >>> table = JudgedTable(
    ...     predicted=np.array([80.0, np.nan]), human=np.array([4.0, 2.0]),
    ...     sources=np.array([0, 1]), systems=np.array(["a", "a"]), problems=(None, "cut off"),
    ... )
    >>> table.n, table.n_unscored
    (2, 1)
    """

    predicted: FloatArray
    human: FloatArray
    sources: Labels
    systems: Labels
    problems: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        """Refuse columns that are not aligned."""
        lengths = {len(self.predicted), len(self.human), len(self.sources), len(self.systems)}
        if len(lengths) != 1:
            raise ValueError(f"columns must be of one length; got {sorted(lengths)}.")

    @property
    def n(self) -> int:
        """Rows, scored or not."""
        return len(self.predicted)

    @property
    def n_unscored(self) -> int:
        """Rows without a score."""
        return int(np.isnan(self.predicted).sum())

    @property
    def share_scored(self) -> float:
        """Fraction of rows with a score; 1 for a table without rows."""
        return 1.0 - self.n_unscored / self.n if self.n else 1.0

    def predicting(self, predicted: FloatArray) -> JudgedTable:
        """Return the same rows with other predictions."""
        return replace(self, predicted=predicted, problems=())

    def take(self, indices: NDArray[np.intp]) -> JudgedTable:
        """Return the rows at ``indices``, in that order."""
        return JudgedTable(
            predicted=self.predicted[indices],
            human=self.human[indices],
            sources=self.sources[indices],
            systems=self.systems[indices],
            problems=tuple(self.problems[i] for i in indices.tolist()) if self.problems else (),
        )


def judged_table(
    judgements: Sequence[Judgement],
    human: FloatArray,
    *,
    sources: Labels,
    systems: Labels,
) -> JudgedTable:
    """Return the table of ``judgements``, one per row of ``human``."""
    scores = [np.nan if one.score is None else one.score for one in judgements]
    return JudgedTable(
        predicted=np.asarray(scores, dtype=float),
        human=human,
        sources=sources,
        systems=systems,
        problems=tuple(one.problem for one in judgements),
    )
