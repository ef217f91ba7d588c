"""Judged tables for tests of objectives."""

from dataclasses import replace

import numpy as np

from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.objectives.base import numbered_sources
from judgesmith.optimizers.search.racing import OutOfBudget
from judgesmith.signatures import Scale
from judgesmith.signatures.scale import PERCENT

LIKERT = Scale(low=1, high=5)


def judged(predicted, human, sources=None, systems=None, **more):
    """Return a table of scores on 0 to 100; every row is a source of its own.

    Unless told otherwise.
    """
    n = len(human)
    more = {"judge_scale": PERCENT, **more}
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.asarray(human, dtype=float),
        sources=np.arange(n) if sources is None else np.asarray(sources),
        systems=np.asarray(["a"] * n if systems is None else systems),
        **more,
    )


def random_table(seed, n=60, n_sources=15, noise=25.0, unscored=0.1, **more):
    """Return a raw judge's scores of ratings from 1 to 5, some of them missing."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, n).astype(float)
    predicted = np.clip(25 * (human - 1) + rng.normal(0, noise, n), 0, 100).round(-1)
    predicted[rng.random(n) < unscored] = np.nan
    return judged(
        predicted,
        human,
        sources=rng.integers(0, n_sources, n),
        systems=rng.integers(0, 4, n),
        scale=LIKERT,
        n_calls=tuple(rng.integers(1, 4, n).tolist()),
        **more,
    )


def repeated(table, counts):
    """Return the rows of each source as often as it was drawn, each copy a source of its own."""
    labels = np.unique(table.sources)
    rows, names = [], []
    for label, n in zip(labels, counts, strict=True):
        own = np.flatnonzero(table.sources == label)
        for copy in range(int(n)):
            rows.append(own)
            names += [f"{label} {copy}"] * len(own)
    return replace(table.take(np.concatenate(rows)), sources=np.asarray(names))


def resampled(objective, table, n_resamples=8):
    """Return an objective counted by source, draws of the sources, and what each draw is worth.

    The draws are of shape (resamples, sources); their worth is that of their repeated rows.
    """
    codes, n = numbered_sources(table.sources)
    rng = np.random.default_rng(2)
    drawn = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(n_resamples)]
    worth = [objective.value(repeated(table, row)) for row in drawn]
    return objective.counted(table, codes, n), np.asarray(drawn, dtype=float), worth


class Told:
    """A simulated judge that says what it was told, while new rows are left for all judges."""

    def __init__(self, said, human, rows_left):
        self.said = said
        self.human = human
        self.rows_left = rows_left
        self.asked = set()

    def table(self, rows):
        new = set(rows) - self.asked
        if len(new) > self.rows_left[0]:
            raise OutOfBudget
        self.rows_left[0] -= len(new)
        self.asked |= new
        return judged(self.said[rows], self.human[rows], sources=rows)
