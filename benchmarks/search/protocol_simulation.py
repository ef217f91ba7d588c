"""What a search of protocols costs and how good its choice is, where the truth is known.

A space of 567 simulated protocols (``simulated_protocols``) is searched on real ratings of three
sets in several ways, all by ``RacingSearch`` itself. Means over seeds and sets with 95 % intervals:
rows judged, as multiples of all rows to choose by; how many times fewer
than full evaluation; Q of the choice, as it truly is; how much of Q is lost to full evaluation, and
won over random search that judges as many rows. Intervals are over seeds: a seed draws the rows,
the interactions and the noise, and the sets of one seed are averaged first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Annotated, Any

import numpy as np
import optuna
from scipy.stats import t

from benchmarks.harness import Row, benchmark, data_file, seeds_of, spread
from benchmarks.search.simulated_protocols import (
    INTERACTION,
    SETS,
    SHARED_NOISE,
    RatedSet,
    SimulatedJudge,
    World,
    protocol_space,
)
from judgesmith.metrics import PairedEstimate
from judgesmith.metrics.arrays import Seed
from judgesmith.metrics.correlation import RatedPart, mean_agreement_difference
from judgesmith.optimizers import (
    Agreement,
    NoElimination,
    PredictionTable,
    RacingRule,
    ScreeningStage,
    SuccessiveHalving,
)
from judgesmith.optimizers.search.racing import RUNGS, Elimination, RacingSearch, stratified_order
from judgesmith.optimizers.search.screening import ScreenedSearch
from judgesmith.optimizers.space.proposing import MakeSampler, Proposer, configuration_id, tpe

N_TRIALS = 30
N_SCREENED = 108
BATCH = 6
N_RESAMPLES = 200


class QuickQ(Agreement):
    """Q, with differences that are resampled 200 times where it is otherwise 1000."""

    def gain(
        self, first: PredictionTable, second: PredictionTable, *, seed: Seed
    ) -> PairedEstimate:
        """Return the paired difference of two predictions of the same rows."""
        one, other = (
            RatedPart(judge=of.predicted, human=of.human, sources=of.sources)
            for of in (first, second)
        )
        return mean_agreement_difference(
            [one], [other], statistic="q", level="dataset", seed=seed, n_resamples=N_RESAMPLES
        )


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to search: who goes on, when contenders are compared, and who proposes."""

    elimination: Elimination = field(default_factory=NoElimination)
    looks: Sequence[float] = (1.0,)
    sampler: MakeSampler = tpe
    batch: int = BATCH
    n_trials: int = N_TRIALS
    screen: ScreeningStage | None = None


def by_chance(seed: int) -> optuna.samplers.BaseSampler:
    """Return a sampler that learns nothing."""
    return optuna.samplers.RandomSampler(seed=seed)


FULL = "full evaluation, TPE"
RANDOM = "full evaluation, random"
WAYS: Mapping[str, Way] = {
    FULL: Way(),
    RANDOM: Way(sampler=by_chance),
    "race, risk 0.2": Way(elimination=RacingRule(risk=0.2), looks=RUNGS),
    "race, risk 0.5": Way(elimination=RacingRule(risk=0.5), looks=RUNGS),
    "race, risk 0.9": Way(elimination=RacingRule(risk=0.9), looks=RUNGS),
    "halving": Way(elimination=SuccessiveHalving(), looks=RUNGS),
    "halving, early": Way(elimination=SuccessiveHalving(), looks=(0.1, 0.2, 0.4, 1.0), batch=8),
    "screen": Way(screen=ScreeningStage(), n_trials=N_SCREENED, batch=12),
}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What came of one search.

    Attributes
    ----------
    calls : float
        Rows judged, as a multiple of the rows to choose by.
    chosen, best_tried : float
        True Q of the choice, and of the best among all that were tried.
    values, truths : tuple of float
        Of every trial in order: Q on the rows it was judged on, and its true Q.
    """

    calls: float
    chosen: float
    best_tried: float
    values: tuple[float, ...]
    truths: tuple[float, ...]

    def after(self, calls: float) -> float:
        """Return the true Q of what full evaluation would have chosen with fewer calls."""
        n_trials = min(max(round(calls), 1), len(self.values))
        return self.truths[int(np.argmax(self.values[:n_trials]))]


@cache
def rated_set(name: str) -> RatedSet:
    """Return a set, read once in each process."""
    return RatedSet.read(data_file("protocol_effects.json").parent, name)


def searched(world: World, way: Way, *, seed: int) -> Found:
    """Search a world in one way."""
    space = protocol_space()
    start = world.judge(space.complete({}))
    rated = world.rated
    shared: dict[str, Any] = {
        "proposer": Proposer(
            study=optuna.create_study(direction="maximize"),
            space=space,
            sampler=way.sampler,
            seed=seed,
        ),
        "make": world.judge,
        "objective": QuickQ("q"),
        "order": stratified_order(
            rated.human[world.rows],
            rated.sources[world.rows],
            np.random.default_rng([seed, 3]),
        ),
        "n_trials": way.n_trials,
        "batch": way.batch,
        "seed": seed,
    }
    search: RacingSearch[SimulatedJudge]
    if way.screen is None:
        search = RacingSearch(**shared, elimination=way.elimination, looks=way.looks)
    else:
        search = ScreenedSearch(**shared, screen=way.screen, rule=None)
    best = search.run(start, known=[configuration_id(start.picked)])
    trials = [search.trials[number] for number in sorted(search.trials)]
    truths = tuple(world.agreement(one.picked or start.picked) for one in trials)
    return Found(
        calls=search.n_judged / len(world.rows),
        chosen=world.agreement(best.picked),
        best_tried=max(truths),
        values=tuple(one.value for one in trials),
        truths=truths,
    )


def measured(
    name: str,
    seed: int,
    n_rows: int,
    ways: Sequence[str],
    drawn: Mapping[str, float],
    most: int | None,
) -> dict[str, Found]:
    """Search one world in several ways."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    world = World.draw(rated_set(name), n_rows=n_rows, seed=seed, **drawn)
    chosen = {label: WAYS[label] for label in ways}
    if most is not None:
        chosen = {label: replace(way, n_trials=most, batch=2) for label, way in chosen.items()}
    return {label: searched(world, way, seed=seed) for label, way in chosen.items()}


def rows_of(found: Mapping[tuple[int, str], Mapping[str, Found]]) -> Iterator[Row]:
    """Yield the row of every way, from what was found by seed and set, and by way."""
    n_full = np.mean([of_way[FULL].calls for of_way in found.values()])
    for label in next(iter(found.values())):
        own = {key: of_way[label] for key, of_way in found.items()}
        calls = np.mean([one.calls for one in own.values()])
        lost = {key: found[key][FULL].chosen - one.chosen for key, one in own.items()}
        won = {key: one.chosen - found[key][RANDOM].after(one.calls) for key, one in own.items()}
        yield {
            "search": label,
            "calls": calls,
            "fewer": n_full / calls,
            "true Q": np.mean([one.chosen for one in own.values()]),
            "lost to full": None if label == FULL else _with_interval(lost),
            "won over random": None if label == RANDOM else _with_interval(won),
            "missed": np.mean([one.best_tried - one.chosen for one in own.values()]),
        }


def _with_interval(values: Mapping[tuple[int, str], float]) -> tuple[float, float, float]:
    by_seed: dict[int, list[float]] = {}
    for (seed, _), value in values.items():
        by_seed.setdefault(seed, []).append(value)
    means = np.asarray([np.mean(of_sets) for of_sets in by_seed.values()])
    if len(means) < 2:
        return means.mean(), np.nan, np.nan
    half = t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
    return means.mean(), means.mean() - half, means.mean() + half


@benchmark(
    quick={"seeds": "0", "rows": (30,), "sets": ("topical_chat",), "only": ("halving",)}
    | {"trials": 4},
    formats=dict.fromkeys(("calls", "fewer"), ".1f")
    | dict.fromkeys(("lost to full", "won over random"), "+.3f"),
)
def protocol_simulation(
    *,
    seeds: str = "0-19",
    rows: Annotated[tuple[int, ...], "rows to choose by, at least"] = (200, 600),
    sets: tuple[str, ...] = SETS,
    only: Annotated[tuple[str, ...], "and full ones"] = (),
    interaction: float = INTERACTION,
    shared_noise: float = SHARED_NOISE,
    trials: Annotated[int | None, "of every search, at most"] = None,
    processes: int = 1,
) -> Iterator[Row]:
    """What a search of protocols costs and how good its choice is, where the truth is known."""
    keys = list(product(seeds_of(seeds), sets))
    wanted = {FULL, RANDOM, *(only or WAYS)}
    ways = [label for label in WAYS if label in wanted]
    drawn = {"interaction": interaction, "shared_noise": shared_noise}
    jobs = [(name, seed, n, ways, drawn, trials) for n in rows for seed, name in keys]
    found = spread(measured, jobs, processes)
    for n in rows:
        for row in rows_of({key: next(found) for key in keys}):
            yield {"rows": n, **row}
