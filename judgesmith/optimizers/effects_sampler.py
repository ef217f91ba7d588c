"""An Optuna sampler that learns what each option of a choice adds, from trials on few rows too."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.optimizers.effects import Evidence, coded
from judgesmith.optimizers.proposing import SHARE, configuration_id
from judgesmith.optimizers.table import FloatArray
from judgesmith.signatures.space import Picked, Space

if TYPE_CHECKING:
    import optuna

MOST_CANDIDATES = 1000
"""Configurations to choose a proposal from; a larger space is drawn from."""

FEWEST_TRIALS = 3
"""With fewer values chance decides."""


def effects(seed: int) -> optuna.samplers.BaseSampler:
    """Return a sampler for spaces of which the parts add up, more or less.

    It proposes the configuration that promises most under ``effects.Evidence``, which is fitted
    to all trials with a value, those on few rows weighing little. A ``Proposer`` tells it the
    whole space; on its own it draws by chance. In simulations it was not better than ``tpe``
    (``docs/protocol-simulation.md``).
    """
    sampler: optuna.samplers.BaseSampler = _sampler_class()(seed)
    return sampler


@cache
def _sampler_class() -> Any:
    import optuna
    from optuna.distributions import CategoricalDistribution
    from optuna.trial import TrialState

    class EffectsSampler(optuna.samplers.RandomSampler):
        """See ``effects``."""

        def __init__(self, seed: int) -> None:
            super().__init__(seed=seed)
            self.seed = seed
            self.space: Space | None = None
            self.known: frozenset[str] = frozenset()

        def over(self, space: Space, known: Collection[str]) -> None:
            """Propose from a whole space what is not known."""
            self.space, self.known = space, frozenset(known)

        def infer_relative_search_space(
            self, study: optuna.Study, trial: optuna.trial.FrozenTrial
        ) -> dict[str, optuna.distributions.BaseDistribution]:
            choices = () if self.space is None else self.space.choices
            return {one.name: CategoricalDistribution(one.ids) for one in choices}

        def sample_relative(
            self,
            study: optuna.Study,
            trial: optuna.trial.FrozenTrial,
            search_space: Mapping[str, optuna.distributions.BaseDistribution],
        ) -> dict[str, Any]:
            done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            if self.space is None or len(done) < FEWEST_TRIALS:
                return {}
            rng = np.random.default_rng([self.seed, 6])
            signs = [1 if one.name == "MAXIMIZE" else -1 for one in study.directions]
            values = np.asarray([one.values for one in done], float) * signs
            picked = [self.space.complete(_known_to(self.space, one.params)) for one in done]
            shares = [float(one.user_attrs.get(SHARE, 1.0)) for one in done]
            return proposed(self.space, picked, values, shares, self.known, rng)

    return EffectsSampler


def proposed(
    space: Space,
    picked: Sequence[Picked],
    values: FloatArray,
    shares: Sequence[float],
    known: Collection[str],
    rng: np.random.Generator,
) -> dict[str, str]:
    """Return the configuration that promises most; none (empty) where all drawn are known.

    Parameters
    ----------
    space : Space
        What may be chosen.
    picked : sequence of dict of str to str
        Configurations of the trials.
    values : array, shape (n_trials, n_objectives)
        To be maximised; of several a sum with random weights is taken, another one each time.
    shares : sequence of float
        Of the rows that each trial was judged on.
    known : collection of str
        ``configuration_id`` of what is not to be proposed.
    rng : Generator
        Draws candidates, weights, and what they promise.
    """
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    total = scaled @ rng.dirichlet(np.ones(values.shape[1]))
    best = picked[int(np.argmax(total))]
    candidates = [
        one for one in _candidates(space, best, rng) if configuration_id(one) not in known
    ]
    if not candidates:
        return {}
    options = {one.name: one.ids for one in space.choices}
    evidence = Evidence(codes=coded(picked, options), values=total, shares=np.asarray(shares))
    promised = evidence.promised(coded(candidates, options), rng)
    return candidates[int(np.argmax(promised))]


def _candidates(space: Space, best: Picked, rng: np.random.Generator) -> list[dict[str, str]]:
    """Return all configurations, or random ones and those one change from the best, shuffled."""
    if space.size <= MOST_CANDIDATES:
        found = list(space.configurations())
    else:
        near = [
            space.complete({**best, choice.name: option})
            for choice in space.choices
            for option in choice.ids
        ]
        far = [
            space.proposed(lambda choice: str(rng.choice(choice.ids)))
            for _ in range(MOST_CANDIDATES)
        ]
        unique = {configuration_id(one): one for one in itertools.chain(near, far)}
        found = list(unique.values())
    return [found[place] for place in rng.permutation(len(found))]  # of equals, any


def _known_to(space: Space, params: Mapping[str, Any]) -> dict[str, str]:
    """Return what trials of the same study say of this space."""
    known = {one.name: one.ids for one in space.choices}
    return {name: str(one) for name, one in params.items() if one in known.get(name, ())}
