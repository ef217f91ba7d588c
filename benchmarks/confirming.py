"""By which rule the best of many should replace what a search started from, where truth is known.

Simulated protocols (``simulated_protocols``) are searched on real ratings of two sets, from few and
many rows, with the effects that were measured, with three tenths of them, and with none at all:
then whoever leads is lucky. Compared are taking the best, and the family-wise test at several
levels. Prints a Markdown table, means over sets and seeds: how often the start was replaced, what
was truly gained in Q, how often the choice is truly worse than the start, and by how much at worst.

Run it as ``python benchmarks/confirming.py [--seeds 0-7] [--rows 60 200 600]``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import optuna
from protocol_simulation import BATCH, N_TRIALS, QuickQ, rated_set
from simulated_protocols import BASELINE, World, protocol_space

from judgesmith.optimizers import RacingRule
from judgesmith.optimizers.search.confirmation import ImprovementTest
from judgesmith.optimizers.search.racing import stratified_order
from judgesmith.optimizers.search.screening import ConfirmedSearch
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe

SETS = ("topical_chat", "sfres")
EFFECTS = (0.0, 0.3, 1.0)
RULES = {
    "the best": None,
    "level .2": ImprovementTest(level=0.2),
    "level .1": ImprovementTest(level=0.1),
    "level .05": ImprovementTest(level=0.05),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What one rule made of one search.

    Attributes
    ----------
    replaced : bool
        Whether the start was replaced.
    gained : float
        True Q of the choice less that of the start.
    """

    replaced: bool
    gained: float


def world_of(folder: Path, name: str, n_rows: int, effects: float, seed: int) -> World:
    """Return a world in which protocols differ by a part of what they were measured to."""
    rated = rated_set(folder, name)
    base = rated.effects[BASELINE]
    scaled = {one: base + effects * (z - base) for one, z in rated.effects.items()}
    return World.draw(replace(rated, effects=scaled), n_rows=n_rows, seed=seed)


def choices(folder: Path, name: str, n_rows: int, effects: float, seed: int) -> dict[str, Choice]:
    """Return what every rule makes of one search."""
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    world = world_of(folder, name, n_rows, effects, seed)
    human, sources = world.rated.human[world.rows], world.rated.sources[world.rows]
    space = protocol_space()
    start = world.judge(space.complete({}))
    search = ConfirmedSearch(
        proposer=Proposer(
            study=optuna.create_study(direction="maximize"), space=space, sampler=tpe, seed=seed
        ),
        make=world.judge,
        objective=QuickQ("q"),
        order=stratified_order(human, sources, np.random.default_rng([seed, 3])),
        elimination=RacingRule(),
        n_trials=N_TRIALS,
        batch=BATCH,
        seed=seed,
        rule=None,
    )
    search.run(start, known=[configuration_id(start.picked)])
    before = world.agreement(start.picked)
    found = {}
    for words, rule in RULES.items():
        search.rule = rule
        search.decide(start)
        gained = world.agreement(search.candidates[search.taken].picked) - before
        found[words] = Choice(replaced=search.taken != 0, gained=gained)
    return found


def rows_of(found: Mapping[tuple[int, float], list[dict[str, Choice]]]) -> Iterator[str]:
    """Yield one line of the table per number of rows, size of effects, and rule."""
    for (n_rows, effects), worlds in found.items():
        for rule in RULES:
            own = [world[rule] for world in worlds]
            gained = [one.gained for one in own]
            cells = (
                n_rows,
                f"{effects:g}",
                rule,
                f"{np.mean([one.replaced for one in own]):.0%}",
                f"{np.mean(gained):+.3f}",
                f"{np.mean([one < -1e-9 for one in gained]):.0%}",
                f"{min(gained):+.3f}",
            )
            yield f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0-7", help="first-last")
    parser.add_argument("--rows", type=int, nargs="+", default=[60, 200, 600])
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    with ProcessPoolExecutor(given.processes) as pool:
        jobs = {
            (n_rows, effects): [
                pool.submit(choices, folder, name, n_rows, effects, seed)
                for name, seed in product(SETS, seeds)
            ]
            for n_rows, effects in product(given.rows, EFFECTS)
        }
        heads = ("rows", "effects", "rule", "replaced", "gained", "worse", "worst")
        print(f"| {' | '.join(heads)} |")
        print("| --- " * len(heads) + "|", flush=True)
        for key, several in jobs.items():
            for line in rows_of({key: [job.result() for job in several]}):
                print(line, flush=True)


if __name__ == "__main__":
    main()
