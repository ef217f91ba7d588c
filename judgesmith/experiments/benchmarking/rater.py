"""What a model rates existing texts, in several samples on the scale of the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgesmith.experiments.anchor_comparisons import Told
from judgesmith.experiments.benchmarking.models import refuse_unfinished
from judgesmith.programs.families.modules import ActiveCritic
from judgesmith.programs.families.samples_apart import judged_samples
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import dspy


def model_ratings(
    items: Sequence[RatedItem],
    criterion: Criterion,
    scale: Scale,
    n: int,
    *,
    task: str = "",
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    progress: Told | None = None,
) -> list[tuple[float, ...]]:
    """Return ``n`` ratings of each text on one criterion, at temperature 1, analysis first.

    Parameters
    ----------
    items : sequence of RatedItem
        Ratings in them are never read.
    criterion : Criterion
        The one thing that counts.
    scale : Scale
        Of the ratings.
    n : int
        Samples, 1 or more.
    task : str
        What the texts were written for; may be empty.
    lm, concurrency, progress
        As for ``judge_items``.

    Returns
    -------
    list of tuple of float
        In points of ``scale``; nan where an answer could not be read.

    Raises
    ------
    UnfinishedError
        If the budget did not reach all texts.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> clear = Criterion(name="clarity", definition="Is it clear?")
    >>> item = RatedItem(source="The bridge opened on Monday.", response="It opened Monday.")
    >>> (found,) = model_ratings([item], clear, Scale(low=1, high=3), 4)
    >>> all(one in (1.0, 2.0, 3.0) for one in found)
    True
    """
    answers = Scale(low=scale.low, high=scale.high, kind="integer")
    rubric = Rubric(task=task, criteria=(criterion,))
    judge = ActiveCritic(variant="coarse", rubric=rubric, answers=answers, temperature=1.0)
    found = judged_samples(judge, items, n, lm=lm, concurrency=concurrency, progress=progress)
    refuse_unfinished(one.cause for several in found for one in several)
    return [tuple(_points(one.score, answers) for one in several) for several in found]


def _points(score: float | None, scale: Scale) -> float:
    return math.nan if score is None else round(scale.points(PERCENT.fraction(score)), 9)
