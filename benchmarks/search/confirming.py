"""By which rule the best of many should replace what a search started from, where truth is known.

Simulated protocols (``simulated_protocols``) are searched on real ratings of two sets, from few and
many rows, with the effects that were measured, with three tenths of them, and with none at all:
then whoever leads is lucky. Compared are taking the best, and the family-wise test at several
levels. The columns are means over sets and seeds: how often the start was replaced, what was truly
gained in Q, how often the choice is truly worse than the start, and by how much at worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

import numpy as np
import optuna

from benchmarks.harness import Row, benchmark, seeds_of, spread
from benchmarks.search.protocol_simulation import BATCH, N_TRIALS, QuickQ, rated_set
from benchmarks.search.simulated_protocols import BASELINE, World, protocol_space
from judgesmith.optimizers import RacingRule
from judgesmith.optimizers.search.racing import stratified_order
from judgesmith.optimizers.search.screening import ConfirmedSearch
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe
from judgesmith.optimizers.trials import ImprovementTest

SETS = ("topical_chat", "sfres")
EFFECTS = (0.0, 0.3, 1.0)
RULES = {
    "the best": None,
    "level 0.2": ImprovementTest(level=0.2),
    "level 0.1": ImprovementTest(level=0.1),
    "level 0.05": ImprovementTest(level=0.05),
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


def world_of(name: str, n_rows: int, effects: float, seed: int) -> World:
    """Return a world in which protocols differ by a part of what they were measured to."""
    rated = rated_set(name)
    base = rated.effects[BASELINE]
    scaled = {one: base + effects * (z - base) for one, z in rated.effects.items()}
    return World.draw(replace(rated, effects=scaled), n_rows=n_rows, seed=seed)


def choices(name: str, n_rows: int, effects: float, seed: int, trials: int) -> dict[str, Choice]:
    """Return what every rule makes of one search."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    world = world_of(name, n_rows, effects, seed)
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
        n_trials=trials,
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


def rows_of(n_rows: int, effects: float, worlds: Sequence[dict[str, Choice]]) -> Iterator[Row]:
    """Yield the row of every rule."""
    for rule in RULES:
        own = [world[rule] for world in worlds]
        gained = [one.gained for one in own]
        yield {
            "rows": n_rows,
            "effects": effects,
            "rule": rule,
            "replaced": np.mean([one.replaced for one in own]),
            "gained": np.mean(gained),
            "worse": np.mean([one < -1e-9 for one in gained]),
            "worst": min(gained),
        }


@benchmark(
    quick={"seeds": "0", "rows": (30,), "effects": (1.0,), "trials": 4, "sets": ("topical_chat",)},
    formats={"effects": "g", "replaced": ".0%", "gained": "+.3f", "worse": ".0%", "worst": "+.3f"},
)
def confirming(
    *,
    seeds: str = "0-5",
    rows: tuple[int, ...] = (60, 200),
    effects: Annotated[tuple[float, ...], "parts of those that were measured"] = EFFECTS,
    sets: tuple[str, ...] = SETS,
    trials: Annotated[int, "of every search"] = N_TRIALS,
    processes: int = 1,
) -> Iterator[Row]:
    """By which rule the best of many should replace the start, where the truth is known."""
    worlds = list(product(sets, seeds_of(seeds)))
    cases = list(product(rows, effects))
    jobs = [(name, *case, seed, trials) for case in cases for name, seed in worlds]
    found = spread(choices, jobs, processes)
    for case in cases:
        yield from rows_of(*case, [next(found) for _ in worlds])
