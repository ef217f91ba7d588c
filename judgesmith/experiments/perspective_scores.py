"""What a judge said of each text of a set on one criterion, answer by answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.arrays import FloatArray
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import Scale

OUTSIDE = Cause(Reason.UNREADABLE, "no answer lies on the scale")
NOT_JUDGED = Cause(Reason.NO_ROW, "the text was not judged")


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledScores:
    """A judge's answers on one criterion.

    Attributes
    ----------
    values : array, shape (n_items, n_samples), in points of ``scale``
        nan where an answer could not be read or lies outside of the scale, in rows without any,
        and after the last answer of a row.
    n_samples : array of int, shape (n_items,)
        How many answers were asked for; 0 where the text was not judged.
    scale : Scale or None
        What the answers are points of, where that is known. More is better.
    problems : tuple of (Cause or None), length n_items
        Why a text has no answer.
    n_outside : int
        Answers left out because they lie outside of the scale.
    about : str or None
        What the judge says that they are about, where it is known.
    """

    values: FloatArray
    n_samples: np.ndarray
    scale: Scale | None
    problems: tuple[Cause | None, ...]
    n_outside: int = 0
    about: str | None = None

    @classmethod
    def of(
        cls,
        answers: Sequence[Sequence[float]],
        problems: Sequence[Cause | None],
        scale: Scale | None,
    ) -> SampledScores:
        """Return answers as a table, those outside of the scale left out.

        Examples
        --------
        >>> found = SampledScores.of([[4, 9], [5]], [None, None], Scale(low=1, high=5))
        >>> found.values.tolist(), found.n_samples.tolist(), found.n_outside
        ([[4.0, nan], [5.0, nan]], [2, 1], 1)
        """
        n_samples = np.asarray([len(one) for one in answers], dtype=int)
        values = np.full((len(answers), max(1, n_samples.max(initial=0))), np.nan)
        for row, given in zip(values, answers, strict=True):
            row[: len(given)] = given
        outside = np.zeros(values.shape, dtype=bool)
        if scale is not None:
            outside = (values < scale.low) | (values > scale.high)
            values = np.where(outside, np.nan, values)
        empty = [bool(row.all()) for row in np.isnan(values)]
        reasons = [
            (problem or (OUTSIDE if n else NOT_JUDGED)) if none else None
            for problem, n, none in zip(problems, n_samples.tolist(), empty, strict=True)
        ]
        return cls(
            values=values,
            n_samples=n_samples,
            scale=scale,
            problems=tuple(reasons),
            n_outside=int(outside.sum()),
        )
