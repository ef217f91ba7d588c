"""A space of simulated protocols on real ratings: how well each agrees with people is known.

``effects`` are what 14 single changes of a judging prompt did to one 14B model, as measured on
three rated sets (``protocol_effects.json``); a protocol that makes several changes has the sum of
their effects, and random interactions. What is simulated is only the judge's answers.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgesmith.data import read_items
from judgesmith.data.targets import targets_of
from judgesmith.metrics import q
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.space.proposing import configuration_id
from judgesmith.signatures.space import Space

FloatArray = NDArray[np.float64]
Picked = Mapping[str, str]

SETS = ("summeval", "topical_chat", "sfres")

# By choice, its options: the first is the baseline's, an empty name is no change. In the order of
# the prompt the letters are task, evaluation rules and input.
CHOICES = {
    "scale": ("", "scale_10", "scale_100"),
    "examples": ("", "example_3", "example_10"),
    "criteria": ("", "wo_criteria", "self_generated_criteria"),
    "explain": ("", "cot_suffix", "cot_free"),
    "aid": ("", "autocot", "metrics", "self_generated_reference", "dialectic"),
    "order": ("", "tie", "eit"),
}
BASELINE = "baseline"
EXPLAINED_FIRST = {"explain": (BASELINE,)}  # only then is there anything that an aid could help

STEPS = {"": 5, "scale_10": 10, "scale_100": 20}
"""Different answers on each scale; of 100 points models give the multiples of five."""

SHARED_NOISE = 0.4
"""Share of the noise that is the item's own, the same for every protocol.

In ``recorded/topical_chat_chatgpt_20samples`` and ``recorded/summeval_likert_llms`` the errors of
one model under two prompts correlate by .32 to .50 on average over pairs of prompts, by criterion.
"""

INTERACTION = 0.5
"""Standard deviation of the interaction of two changes, as a share of the typical single effect.

It is not known how changes of a protocol act together: this is an assumption.
"""

_WEIGHTS = np.linspace(0, 1, 26)
_SPREAD = 0.2  # of the answers, as a share of the scale, before they are rounded
_N_DRAWS = 40


def protocol_space() -> Space:
    """Return the 567 protocols.

    Examples
    --------
    >>> protocol_space().size
    567
    """
    return Space.model_validate(
        {
            "choices": [
                {
                    "name": name,
                    "options": [{"id": option or BASELINE} for option in options],
                    "only_if": EXPLAINED_FIRST if name == "aid" else {},
                }
                for name, options in CHOICES.items()
            ]
        }
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RatedSet:
    """Ratings of one set, and what changes of a protocol did to agreement with them.

    Attributes
    ----------
    human : array, shape (n_rows,)
        The mean over criteria of what people said, as a fraction of the scale.
    sources : array, shape (n_rows,)
        Rows of one source have equal labels.
    effects : dict of str to float
        By change, ``baseline`` included: Fisher's z of the correlation with people, averaged over
        criteria and over Pearson, Spearman and Kendall.
    """

    human: FloatArray
    sources: NDArray[np.intp]
    effects: Mapping[str, float]

    @classmethod
    def read(cls, folder: Path, name: str) -> RatedSet:
        """Read a set and its effects from the folder of rated data sets."""
        whole = json.loads((folder / "protocol_effects.json").read_text(encoding="utf-8"))
        measured = whole["effects"][name]
        data = read_items(folder / f"{name}.jsonl.gz")
        targets = targets_of(data, "+".join(measured[BASELINE]))
        rated = targets.rated
        return cls(
            human=targets.fractions[rated],
            sources=np.asarray(data.groups)[rated],
            effects={
                change: float(
                    np.mean(
                        [
                            math.atanh(of_criterion[statistic])
                            for of_criterion in by_criterion.values()
                            for statistic in ("pearson", "spearman", "kendall")
                        ]
                    )
                )
                for change, by_criterion in measured.items()
            },
        )

    @cached_property
    def standardised(self) -> FloatArray:
        """The ratings with mean 0 and standard deviation 1."""
        return np.asarray((self.human - self.human.mean()) / self.human.std())

    @cache  # noqa: B019 - a set lives as long as the benchmark
    def agreement_by_weight(self, n_steps: int) -> FloatArray:
        """Return Q for each weight of the truth in the answers, the mean of many draws of noise.

        Parameters
        ----------
        n_steps : int
            Different answers on the scale.
        """
        rng = np.random.default_rng([n_steps, len(self.human)])
        noise = rng.normal(size=(_N_DRAWS, len(self.human)))
        found = [
            np.mean(
                [q(self.human, answers(self.standardised, weight, one, n_steps)) for one in noise]
            )
            for weight in _WEIGHTS
        ]
        # More truth agrees better; the draws are too few to say so between all neighbours.
        return np.maximum.accumulate(np.asarray(found))


def answers(truth: FloatArray, weight: float, noise: FloatArray, n_steps: int) -> FloatArray:
    """Return answers from 0 to ``n_steps - 1`` that know as much of the truth as ``weight`` says.

    Parameters
    ----------
    truth, noise : array, shape (n_rows,)
        Of mean 0 and standard deviation 1.
    weight : float
        From 0, nothing, to 1, all of it.
    n_steps : int
        Different answers on the scale.
    """
    latent = weight * truth + math.sqrt(1 - weight**2) * noise
    return np.clip(np.round((0.5 + _SPREAD * latent) * (n_steps - 1)), 0, n_steps - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """One random draw of interactions, hard items and rows to choose by.

    Attributes
    ----------
    rated : RatedSet
        What people said.
    rows : array of int
        Places of the rows to choose by: whole sources.
    interactions : dict of (str, str) to float
        What two changes together add to their effects, in Fisher's z.
    hardness : array, shape (n_rows,)
        The noise that all protocols share.
    seed : int
        Of the rest of the noise.
    shared_noise : float
        Share of the noise that all protocols share.
    """

    rated: RatedSet
    rows: NDArray[np.intp]
    interactions: Mapping[tuple[str, str], float]
    hardness: FloatArray
    seed: int
    shared_noise: float = SHARED_NOISE

    @classmethod
    def draw(
        cls,
        rated: RatedSet,
        *,
        n_rows: int,
        seed: int,
        interaction: float = INTERACTION,
        shared_noise: float = SHARED_NOISE,
    ) -> World:
        """Draw a world with at least ``n_rows`` rows to choose by, or all there are."""
        rng = np.random.default_rng([seed, 1])
        order = rng.permutation(np.unique(rated.sources))
        sizes = np.bincount(rated.sources)[order]
        n_sources = int(np.searchsorted(np.cumsum(sizes), n_rows)) + 1
        z = rated.effects
        changes = {name: [one for one in of if one] for name, of in CHOICES.items()}
        single = [z[one] - z[BASELINE] for of in changes.values() for one in of]
        typical = interaction * math.sqrt(np.mean(np.square(single)))
        pairs = [
            pair
            for first, second in itertools.combinations(changes.values(), 2)
            for pair in itertools.product(first, second)
        ]
        return cls(
            rated=rated,
            rows=np.flatnonzero(np.isin(rated.sources, order[:n_sources])),
            interactions=dict(zip(pairs, rng.normal(0, typical, len(pairs)), strict=True)),
            hardness=rng.normal(size=len(rated.human)),
            seed=seed,
            shared_noise=shared_noise,
        )

    def agreement(self, picked: Picked) -> float:
        """Return Q of a protocol on all rows of the set, expected over its noise."""
        z = self.rated.effects
        made = [one for one in picked.values() if one != BASELINE]
        pairs = itertools.combinations(made, 2)
        total = z[BASELINE] + sum(z[one] - z[BASELINE] for one in made)
        total += sum(self.interactions.get(pair, 0.0) for pair in pairs)
        wanted = 3 * math.tanh(total)
        by_weight = self.rated.agreement_by_weight(self._n_steps(picked))
        return float(np.clip(wanted, by_weight[0], by_weight[-1]))

    def judge(self, picked: Picked) -> SimulatedJudge:
        """Return a judge with the agreement that the protocol has."""
        n_steps = self._n_steps(picked)
        by_weight = self.rated.agreement_by_weight(n_steps)
        weight = float(np.interp(self.agreement(picked), by_weight, _WEIGHTS))
        own = int(hashlib.sha256(configuration_id(picked).encode()).hexdigest()[:12], 16)
        own_noise = np.random.default_rng([self.seed, 2, own]).normal(size=len(self.hardness))
        shared = math.sqrt(self.shared_noise) * self.hardness
        noise = shared + math.sqrt(1 - self.shared_noise) * own_noise
        said = answers(self.rated.standardised, weight, noise, n_steps)
        return SimulatedJudge(world=self, picked=dict(picked), said=said[self.rows])

    def _n_steps(self, picked: Picked) -> int:
        return STEPS[picked["scale"] if picked["scale"] != BASELINE else ""]


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedJudge:
    """A protocol as a candidate of a search.

    Attributes
    ----------
    world : World
        Where it judges.
    picked : dict of str to str
        The protocol.
    said : array, shape (n_rows,)
        Its answers to the rows to choose by.
    """

    world: World
    picked: Picked
    said: FloatArray

    def table(self, rows: Sequence[int]) -> PredictionTable:
        """Return what it says of these rows to choose by, beside what people said."""
        places = np.asarray(rows, dtype=np.intp)
        of_set = self.world.rows[places]
        return PredictionTable(
            predicted=self.said[places],
            human=self.world.rated.human[of_set],
            sources=self.world.rated.sources[of_set],
            systems=np.zeros(len(places), dtype=np.intp),
        )
