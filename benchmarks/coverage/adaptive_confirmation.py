"""Whether the confirmation of a search holds its level though the search learns from its rows.

The family-wise test flips signs of the candidates that were tried, as if they had been chosen
beforehand. A sampler that learns from the rows of the test chooses lucky ones. Here nothing is
better than the start: of each of 20 blocks of sources a configuration's share in the gain is the
sum of the luck of its options and of its own, beside the bad luck of the start. Of 30 tries 12 are
by chance; the others come from chance (``chance``), from Optuna's TPE as in a search of protocols
(``tpe``), or change one option of the best so far (``climb``), which learns more greedily.

The columns are how often the best that passes replaces the start at levels of 0.05 and 0.025.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import optuna
from numpy.typing import NDArray

from benchmarks.harness import Row, benchmark
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe
from judgesmith.optimizers.trials import family_p_values
from judgesmith.signatures.space import Space

FloatArray = NDArray[np.float64]

N_BLOCKS, N_TRIALS, BATCH, N_BY_CHANCE = 20, 30, 6, 12
SIZES = (3, 3, 4, 2, 6, 4, 3, 3, 3)  # about as many options as a search of protocols has
OWN = (1.0, 0.5, 0.1)
"""Shares of the luck that are a configuration's own: the less, the more there is to learn."""
OF_START = 0.5
"""Share of the luck that is the start's, which all gains have."""
LEVELS = (0.05, 0.025)
HEADS = ("level 0.05", "level 0.025")


@dataclass(kw_only=True)
class World:
    """The luck of everything in one run.

    Attributes
    ----------
    own : float
        The share of the luck that is a configuration's own.
    rng : Generator
        Draws it, and what is proposed by chance.
    shares : dict of str to array, shape (n_blocks,)
        Of the gain of those that were tried.
    """

    own: float
    rng: np.random.Generator
    shares: dict[str, FloatArray] = field(default_factory=dict)
    best: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Draw the luck of options; the first of each choice is the start's."""
        self.start = self.rng.normal(size=N_BLOCKS)
        self.options = self.rng.normal(size=(len(SIZES), max(SIZES), N_BLOCKS))
        self.options[:, 0] = 0.0

    def gain(self, picked: Mapping[str, str]) -> float:
        """Try a configuration and return its gain."""
        places = [int(option) for option in picked.values()]
        changed = sum(map(bool, places))
        learnable = self.options[range(len(SIZES)), places].sum(axis=0) / math.sqrt(changed or 1)
        luck = math.sqrt(self.own) * self.rng.normal(size=N_BLOCKS)
        luck += math.sqrt(1 - self.own) * learnable
        shares = math.sqrt(1 - OF_START) * luck + math.sqrt(OF_START) * self.start
        if not self.shares or shares.sum() > max(one.sum() for one in self.shares.values()):
            self.best = picked
        self.shares[configuration_id(picked)] = shares
        return float(shares.mean())

    def by_chance(self) -> dict[str, str]:
        """Return any configuration."""
        return {f"c{n}": str(self.rng.integers(size)) for n, size in enumerate(SIZES)}

    def neighbour(self) -> dict[str, str]:
        """Return the best so far with one option changed."""
        n = int(self.rng.integers(len(SIZES)))
        return {**self.best, f"c{n}": str(self.rng.integers(SIZES[n]))}

    @property
    def p_value(self) -> float:
        """The smallest of all that were tried: whoever has it ranks above the start."""
        return min(family_p_values(list(self.shares.values()), rng=self.rng))


def proposed(world: World, draw: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return a configuration that was not tried: the start was, too."""
    known = {configuration_id({f"c{n}": "0" for n in range(len(SIZES))}), *world.shares}
    while configuration_id(picked := draw()) in known:
        pass
    return picked


def by_drawing(world: World, trials: int, *, climb: bool) -> None:
    """Try by chance, and then around the best where that is meant."""
    for first in range(0, trials, BATCH):
        draw = world.neighbour if climb and first >= N_BY_CHANCE else world.by_chance
        for one in [proposed(world, draw) for _ in range(BATCH)]:
            world.gain(one)


def by_tpe(world: World, seed: int, trials: int) -> None:
    """Try what the sampler of protocols proposes."""
    choices = [
        {"name": f"c{n}", "options": [{"id": str(one)} for one in range(size)]}
        for n, size in enumerate(SIZES)
    ]
    space = Space.model_validate({"choices": choices})
    study = optuna.create_study(direction="maximize")
    proposer = Proposer(study=study, space=space, sampler=tpe, seed=seed)
    known = {configuration_id(space.complete({}))}
    for first in range(0, trials, BATCH):
        batch = []
        for k in range(first, first + BATCH):
            if (found := proposer.propose(k, known)) is not None:
                known.add(configuration_id(found[1]))
                batch.append(found)
        for number, picked in batch:
            proposer.tell(number, world.gain(picked))


def p_values(way: str, own: float, seeds: range, trials: int) -> Iterator[float]:
    """Yield the smallest p-value of each run."""
    for seed in seeds:
        world = World(own=own, rng=np.random.default_rng([seed, int(1000 * own)]))
        if way == "tpe":
            by_tpe(world, seed, trials)
        else:
            by_drawing(world, trials, climb=way == "climb")
        yield world.p_value


@benchmark(
    quick={"runs": 1, "tpe_runs": 1, "own": (0.5,), "trials": 18},
    formats={"own luck": ".1f"} | dict.fromkeys(HEADS, ".1%"),
)
def adaptive_confirmation(
    *,
    runs: int = 2000,
    tpe_runs: int = 1000,
    first: int = 0,
    own: tuple[float, ...] = OWN,
    trials: int = N_TRIALS,
) -> Iterator[Row]:
    """Whether the confirmation of a search holds its level though the search learns."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for way in ("chance", "tpe", "climb"):
        n_runs = tpe_runs if way == "tpe" else runs
        for share in own:
            found = np.asarray(list(p_values(way, share, range(first, first + n_runs), trials)))
            row = {"candidates come from": way, "own luck": share, "runs": n_runs}
            shares = (np.mean(found <= level) for level in LEVELS)
            yield row | dict(zip(HEADS, shares, strict=True))
