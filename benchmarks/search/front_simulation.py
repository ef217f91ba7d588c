"""What a race for a front of two objectives saves and loses, against judging everybody on all rows.

Simulated judges say what people said with noise: from .4 to 3 standard deviations of what people
said, a third of it shared within a source, at 1, 2, 3 or 6 calls per item. The same 40 of 120
configurations are proposed (at random) to a race and to a search without elimination, on 200 rows
of 50 sources; a seed draws people, judges and proposals. The columns are rows judged as a share of
all, members of the full front that the race lost, judges on its front that are not on the full one,
and by how much Q of the best judge at each number of calls or fewer fell; means over seeds with
95 % intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np
import optuna
from scipy.stats import t

from benchmarks.harness import Row, benchmark
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.search.racing import DominanceRule, FrontSearch, stratified_order
from judgesmith.optimizers.space.proposing import Proposer
from judgesmith.optimizers.storage import open_storage, quiet
from judgesmith.signatures.space import Choice, Option, Space

N_ROWS, N_SOURCES, N_TRIALS = 200, 50, 40
NOISE = (0.4, 0.6, 0.9, 1.4, 2.0, 3.0)
CALLS = (1, 2, 3, 6)
COLUMNS = ("rows judged", "full front lost", "front that is not on it", "fall of best Q")
SPACE = Space(
    choices=tuple(
        Choice(name=name, options=tuple(Option(id=str(one)) for one in options))
        for name, options in (("noise", NOISE), ("calls", CALLS), ("draw", range(5)))
    )
)


class World:
    """People, and how judges are made."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed, 1])
        self.seed = seed
        self.sources = np.repeat(np.arange(N_SOURCES), N_ROWS // N_SOURCES)
        self.human = rng.normal(size=N_SOURCES)[self.sources] + rng.normal(size=N_ROWS)

    def judge(self, picked: Mapping[str, str]) -> Judge:
        """Return the judge of a configuration; a middling one for the start."""
        noise, calls = float(picked.get("noise", "2.0")), int(picked.get("calls", "3"))
        key = [self.seed, 2, int(10 * noise), calls, int(picked.get("draw", "9"))]
        rng = np.random.default_rng(key)
        shared = rng.normal(size=N_SOURCES)[self.sources]
        own = rng.normal(size=N_ROWS)
        error = noise * (np.sqrt(1 / 3) * shared + np.sqrt(2 / 3) * own)
        return Judge(self, self.human + error, calls)


class Judge:
    """Says what it says."""

    def __init__(self, world: World, said: np.ndarray, calls: int) -> None:
        self.world, self.said, self.calls = world, said, calls

    def table(self, rows: Sequence[int]) -> PredictionTable:
        """Return what it says of some rows."""
        at = np.asarray(rows)
        return PredictionTable(
            predicted=self.said[at],
            human=self.world.human[at],
            sources=self.world.sources[at],
            systems=np.full(len(at), "a"),
            n_calls=(self.calls,) * len(at),
        )


def searched(seed: int, risk: float | None, n_trials: int) -> FrontSearch[Judge]:
    """Return a search that has ended; without a risk nobody leaves it."""
    world = World(seed)
    objectives = parse_objectives("q, -calls")
    assert isinstance(objectives, SeveralObjectives)
    search: FrontSearch[Judge] = FrontSearch(
        proposer=Proposer(
            study=open_storage(None).study("front", n_objectives=2),
            space=SPACE,
            sampler=lambda one: optuna.samplers.RandomSampler(seed=one),
            seed=seed,
        ),
        make=world.judge,
        objective=objectives.leading,
        objectives=objectives,
        order=stratified_order(world.human, world.sources, np.random.default_rng([seed, 3])),
        elimination=None,  # type: ignore[arg-type]
        dominance=DominanceRule(risk or 0.0),
        looks=(1.0,) if risk is None else (0.15, 0.3, 0.6, 1.0),
        n_trials=n_trials,
        batch=6,
        seed=seed,
    )
    with quiet():
        search.run(world.judge({}))
    return search


def best_q(search: FrontSearch[Judge], calls: int) -> float:
    """Return Q of the best judge on a front that takes so many calls or fewer."""
    values = [search.trials[one.number].values for one in search.members]  # type: ignore[attr-defined]
    return max((one["q"] for one in values if -one["-calls"] <= calls), default=-3.0)


def _with_interval(values: Sequence[float]) -> tuple[float, float, float]:
    mean, n = float(np.mean(values)), len(values)
    reach = t.ppf(0.975, n - 1) * float(np.std(values, ddof=1)) / np.sqrt(n)
    return mean, mean - reach, mean + reach


@benchmark(quick={"seeds": 2, "risks": (0.2,), "trials": 5}, formats={"risk": "g"})
def front_simulation(
    *,
    seeds: int = 20,
    risks: tuple[float, ...] = (0.05, 0.2, 0.5),
    trials: Annotated[int, "of every search"] = N_TRIALS,
) -> Iterator[Row]:
    """What a race for a front of two objectives saves and loses, against full evaluation."""
    whole = [searched(seed, None, trials) for seed in range(seeds)]
    for risk in risks:
        found: dict[str, list[float]] = {name: [] for name in COLUMNS}
        for seed, full in enumerate(whole):
            race = searched(seed, risk, trials)
            own = {one.number for one in race.members}
            true = {one.number for one in full.members}
            fall = [best_q(full, calls) - best_q(race, calls) for calls in CALLS]
            shares = (race.n_judged / full.n_judged, len(true - own) / len(true))
            shares += (len(own - true) / len(own), float(np.mean(fall)))
            for values, share in zip(found.values(), shares, strict=True):
                values.append(share)
        yield {"risk": risk} | {name: _with_interval(values) for name, values in found.items()}
    yield {"judges on the full front, mean": np.mean([len(one.members) for one in whole])}
