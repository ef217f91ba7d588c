"""One search on one simulated model: rows to learn from, and the expected objective it reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import dspy
import numpy as np

from benchmarks.harness import data_file, rated
from benchmarks.simulated_endpoint.effects import Arrangement, arranged, measured_effects
from benchmarks.simulated_endpoint.reading import digest
from benchmarks.simulated_endpoint.serving import simulated_lm
from benchmarks.simulated_endpoint.world import World
from judgesmith.data.targets import targets_of
from judgesmith.metrics import q
from judgesmith.optimizers import rated_example
from judgesmith.programs import score_batch

SETS = ("summeval", "topical_chat", "sfres")
FEWEST_ROWS, MOST_ROWS = 75, 350


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """Rated rows of one set beside one world.

    Attributes
    ----------
    world : World
        The model.
    examples : list of dspy.Example
        Rows to learn from: whole sources.
    fresh : list of RatedItem
        New texts, on which judges are compared.
    human : array, shape (n_fresh,)
        What people rated of them.
    """

    world: World
    examples: list[dspy.Example]
    fresh: Sequence[Any]
    human: np.ndarray

    @classmethod
    def drawn(
        cls,
        name: str,
        seed: int,
        *,
        is_null: bool = False,
        n_fresh: int = 5000,
        effects: Arrangement = "published",
    ) -> Task:
        """Return the task of a set and a model seed: 75 to 350 rows to learn from."""
        data, targets = _rated(name)
        rows = targets.rated.tolist()
        items = [data[row] for row in rows]
        measured = measured_effects(data_file("protocol_effects.json"), name)
        world = World(
            seed=seed,
            effects=arranged(measured, effects, seed=seed),
            is_null=is_null,
        )
        world.learn(items, targets.values[targets.rated].tolist())
        rng = np.random.default_rng([seed, 30])
        n_wanted = int(rng.integers(FEWEST_ROWS, MOST_ROWS + 1))
        groups = np.asarray(data.groups)[rows]
        order = rng.permutation(np.unique(groups))
        examples: list[dspy.Example] = []
        for group in order.tolist():
            if len(examples) >= n_wanted:
                break
            examples += [
                rated_example(data[row], targets.values[row], targets.scale, group=group)
                for row in rows
                if data.groups[row] == group
            ]
        examples = examples[:MOST_ROWS]
        fresh = world.fresh(items, n_fresh, seed=seed)
        human = [
            world.truths[digest(one.source.strip(), one.response.strip())].overall for one in fresh
        ]
        return cls(world=world, examples=examples, fresh=fresh, human=np.asarray(human))

    def expected(self, judge: Any) -> float:
        """Return Q of a judge on the new texts, without HTTP."""
        said = score_batch(judge, self.fresh, lm=simulated_lm(self.world))
        scores = np.asarray([np.nan if one.score is None else one.score for one in said])
        scored = ~np.isnan(scores)
        return float(q(self.human[scored], scores[scored]))


@cache
def _rated(name: str) -> Any:
    data = rated(name)
    return data, targets_of(data, "mean", "mean")
