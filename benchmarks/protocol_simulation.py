"""What a search of protocols costs and how good its choice is, where the truth is known.

A space of 567 simulated protocols (``simulated_protocols``) is searched on real ratings of three
sets in several ways, all by ``RacingSearch`` itself. Prints a Markdown table, means over seeds and
sets with 95 % intervals: rows judged, as multiples of all rows to choose by; how many times fewer
than full evaluation; Q of the choice, as it truly is; how much of Q is lost to full evaluation, and
won over random search that judges as many rows. Intervals are over seeds: a seed draws the rows,
the interactions and the noise, and the sets of one seed are averaged first.

Run it as ``python benchmarks/protocol_simulation.py [--seeds 0-19] [--rows 200] [--sets SET …]
[--only WAY …] [--interaction .5] [--shared-noise .4]``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from scipy.stats import t
from simulated_protocols import (
    INTERACTION,
    SETS,
    SHARED_NOISE,
    RatedSet,
    SimulatedJudge,
    World,
    protocol_space,
)

from judgesmith.metrics import PairedEstimate
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
        self, first: PredictionTable, second: PredictionTable, *, rng: np.random.Generator
    ) -> PairedEstimate:
        """Return the paired difference of two predictions of the same rows."""
        one, other = (
            RatedPart(judge=of.predicted, human=of.human, sources=of.sources)
            for of in (first, second)
        )
        return mean_agreement_difference(
            [one], [other], statistic="q", level="dataset", rng=rng, n_resamples=N_RESAMPLES
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
    "race, risk .2": Way(elimination=RacingRule(risk=0.2), looks=RUNGS),
    "race, risk .5": Way(elimination=RacingRule(risk=0.5), looks=RUNGS),
    "race, risk .9": Way(elimination=RacingRule(risk=0.9), looks=RUNGS),
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
def rated_set(folder: Path, name: str) -> RatedSet:
    """Return a set, read once in each process."""
    return RatedSet.read(folder, name)


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
    folder: Path, name: str, seed: int, n_rows: int, ways: Sequence[str], **drawn: float
) -> dict[str, Found]:
    """Search one world in several ways."""
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    world = World.draw(rated_set(folder, name), n_rows=n_rows, seed=seed, **drawn)
    return {label: searched(world, WAYS[label], seed=seed) for label in ways}


def rows_of(found: Mapping[tuple[int, str], Mapping[str, Found]]) -> Iterator[str]:
    """Yield one line of the table per way.

    Parameters
    ----------
    found : dict of (int, str) to (dict of str to Found)
        By seed and set, and by way.
    """
    n_full = np.mean([of_way[FULL].calls for of_way in found.values()])
    for label in next(iter(found.values())):
        own = {key: of_way[label] for key, of_way in found.items()}
        calls = np.mean([one.calls for one in own.values()])
        lost = {key: found[key][FULL].chosen - one.chosen for key, one in own.items()}
        won = {key: one.chosen - found[key][RANDOM].after(one.calls) for key, one in own.items()}
        cells = (
            label,
            f"{calls:.1f}",
            f"{n_full / calls:.1f}",
            f"{np.mean([one.chosen for one in own.values()]):.3f}",
            "" if label == FULL else _with_interval(lost),
            "" if label == RANDOM else _with_interval(won),
            f"{np.mean([one.best_tried - one.chosen for one in own.values()]):.3f}",
        )
        yield "| " + " | ".join(cells) + " |"


def _with_interval(values: Mapping[tuple[int, str], float]) -> str:
    by_seed: dict[int, list[float]] = {}
    for (seed, _), value in values.items():
        by_seed.setdefault(seed, []).append(value)
    means = np.asarray([np.mean(of_sets) for of_sets in by_seed.values()])
    if len(means) < 2:
        return f"{means.mean():+.3f}"
    half = t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))
    return f"{means.mean():+.3f} ({means.mean() - half:+.3f} to {means.mean() + half:+.3f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-19", help="first-last")
    parser.add_argument("--rows", type=int, default=200, help="rows to choose by, at least")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--only", nargs="*", default=[], choices=list(WAYS), help="and full ones")
    parser.add_argument("--interaction", type=float, default=INTERACTION)
    parser.add_argument("--shared-noise", type=float, default=SHARED_NOISE)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    first, _, last = options.seeds.partition("-")
    keys = list(product(range(int(first), int(last or first) + 1), options.sets))
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    wanted = {FULL, RANDOM, *(options.only or WAYS)}
    ways = [label for label in WAYS if label in wanted]
    drawn = {"interaction": options.interaction, "shared_noise": options.shared_noise}
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = {
            (seed, name): pool.submit(measured, folder, name, seed, options.rows, ways, **drawn)
            for seed, name in keys
        }
        found = {key: job.result() for key, job in jobs.items()}
    heads = ("search", "calls", "fewer", "true Q", "lost to full", "won over random", "missed")
    print("| " + " | ".join(heads) + " |")
    print("| --- " * len(heads) + "|")
    for line in rows_of(found):
        print(line)


if __name__ == "__main__":
    main()
