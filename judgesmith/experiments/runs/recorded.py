"""What scores on record took: answers that are kept beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from judgesmith.experiments.score_files import Scores
from judgesmith.experiments.score_rows import Placed


def answers_behind(rows: Sequence[Placed], scores: Scores) -> float | None:
    """Return how many answers a judgement on record rests on, on average.

    Parameters
    ----------
    rows : sequence of Placed
        All rows of the file; those of the same judge and criterion count.
    scores : Scores
        What was read of them.

    Returns
    -------
    float or None
        None where a row does not say what was answered (``outputs``).

    Examples
    --------
    >>> import numpy as np
    >>> scores = Scores(
    ...     values=np.ones(1), problems=(None,), label="a", criterion=None, n_unused=0
    ... )
    >>> answers_behind([("f:1", {"judge": "a", "outputs": ["4", "5"]})], scores)
    2.0
    >>> answers_behind([("f:1", {"judge": "a", "outputs": []})], scores) is None
    True
    """
    own = [row.get("outputs") for _, row in rows if _names(row) == (scores.label, scores.criterion)]
    counts = [len(one) for one in own if isinstance(one, list)]
    return fmean(counts) if counts and len(counts) == len(own) and all(counts) else None


def _names(row: Mapping[str, object]) -> tuple[object, object]:
    return row.get("judge"), row.get("criterion")
