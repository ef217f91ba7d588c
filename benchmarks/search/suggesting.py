"""What rows chosen by ``suggest`` are worth against random ones: simulated labelling, offline.

For each set and seed, 30 % of the sources are held out; the others are a pool that nobody has
rated. The judge begins as it is, with the general rubric. Twenty rows of the pool are chosen by
what it says and rated as people rated them, and its aggregation is learned from them; the judge
that comes out chooses the next 20, and then 40 more. Answers are asked for once, as a ledger would
keep them, so what is compared is the choice of rows alone. Q (Pearson + Spearman + Kendall's tau-b)
is over all rows held out, after 20, 40 and 80 labels.

The columns are Q with random rows, and how much more each strategy reaches on the same splits, mean
over seeds with its 95 % interval (t, paired). The interval is over splits and draws of one set: it
says nothing of other sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

import numpy as np
from scipy.stats import t

from benchmarks.harness import Row, benchmark, rated, seeds_of, spread
from benchmarks.search.stages import TARGETS
from judgesmith.data import DataSet, Targets, targets_of
from judgesmith.data.sheets.ratings import RANDOM
from judgesmith.experiments.compile.split import rows_to_fit
from judgesmith.experiments.labels.suggesting import (
    STRATEGIES,
    CandidateItems,
    diverse_rows,
    doubts_of,
)
from judgesmith.metrics import q
from judgesmith.optimizers.fitting.aggregation import FitAggregation
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.scoring import aggregate
from judgesmith.signatures import Judgement
from judgesmith.signatures.config import Aggregation

BATCHES = (20, 20, 40)
HELD_OUT = 0.3
OTHERS = tuple(strategy for strategy in STRATEGIES if strategy != RANDOM)
DEFAULT_SETS = ("summeval", "openmeva_roc")
SETS = TARGETS | {
    "bagel": "overall",
    "newsroom": "mean",
    "opinsummeval": "mean",
    "simpeval_2022": "overall",
}


@lru_cache(maxsize=1)
def judged(name: str, n_sources: int | None) -> tuple[DataSet, Targets, list[Judgement]]:
    """Return a set, what people said of it, and what the judge says before it learned anything."""
    data = rated(name, n_sources)
    return data, targets_of(data, SETS[name]), score_batch(ActiveCritic(), data.items)


def labelled(name: str, seed: int, strategy: str, n_sources: int | None) -> list[float]:
    """Return Q on the rows held out, before any label and after each batch."""
    data, targets, judgements = judged(name, n_sources)
    sources = np.unique(data.groups[targets.rated])
    np.random.default_rng([seed, 1]).shuffle(sources)
    held = np.isin(data.groups, sources[: round(HELD_OUT * len(sources))])
    heldout = [int(place) for place in targets.rated if held[place]]
    pool = [int(place) for place in targets.rated if not held[place]]

    def scores(learned: Aggregation, places: list[int]) -> np.ndarray:
        found = [aggregate(learned, judgements[one], data[one]) for one in places]
        return np.array([one.score for one in found], dtype=float)

    learned, known = Aggregation(), list[int]()
    reached = [q(targets.values[heldout], scores(learned, heldout))]
    for n in BATCHES:
        rest = [place for place in pool if place not in set(known)]
        candidates = CandidateItems(
            items=tuple(data[place] for place in rest),
            scores=scores(learned, rest),
            doubt=doubts_of([judgements[place] for place in rest]),
            sources=data.groups[rest],
        )
        order = STRATEGIES[strategy](candidates, n, np.random.default_rng([seed, 2, len(known)]))
        if strategy != RANDOM:
            order = diverse_rows(candidates, order, n, known=set(data.groups[known].tolist()))
        known += [rest[place] for place in order[:n]]
        fit = FitAggregation("q", lexical=True, seed=seed, amount=1)
        learned = fit.choose(
            rows_to_fit(data, targets, known), [judgements[place] for place in known]
        )
        reached.append(q(targets.values[heldout], scores(learned, heldout)))
    return reached


def difference(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean of paired differences with its interval."""
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean(), values.mean() - half, values.mean() + half


def rows_of(name: str, found: dict[str, np.ndarray]) -> Iterator[Row]:
    """Yield the rows of a set, one after each batch."""
    random = found.pop(RANDOM)
    for place, n in enumerate(np.cumsum(BATCHES).tolist(), start=1):
        row: Row = {"set": name, "without labels": random[:, 0].mean(), "labels": n}
        row["random"] = random[:, place].mean()
        yield row | {
            strategy: difference(reached[:, place] - random[:, place])
            for strategy, reached in found.items()
        }


@benchmark(
    quick={"sets": ("topical_chat",), "seeds": "0", "strategies": (), "sources": 24},
    formats=dict.fromkeys(STRATEGIES, "+.3f") | {RANDOM: ".3f"},
)
def suggesting(
    *,
    sets: tuple[str, ...] = DEFAULT_SETS,
    seeds: str = "0-19",
    strategies: tuple[str, ...] = OTHERS,
    processes: int = 1,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """What rows chosen by ``suggest`` are worth against random ones: simulated labelling."""
    numbers, ways = seeds_of(seeds), (RANDOM, *strategies)
    jobs = [(name, seed, way, sources) for name in sets for way in ways for seed in numbers]
    reached = spread(labelled, jobs, processes)
    for name in sets:
        found = {way: np.array([next(reached) for _ in numbers]) for way in ways}
        yield from rows_of(name, found)
