"""Proposals from an Optuna study, and what tells one sampler from another."""

from __future__ import annotations

import functools
import json
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.space import Choice, Picked, Space

if TYPE_CHECKING:
    import optuna


MakeSampler = Callable[[int], "optuna.samplers.BaseSampler"]
"""From a seed to a sampler, made anew for every proposal."""
SamplerGiven = Union[MakeSampler, "optuna.samplers.BaseSampler"]
"""Also a sampler itself, which makes all proposals and whose own seed counts."""

EXPECTED = "expected"  # attribute of a pruned trial: what its objectives would come to on all rows

ITEM = "item"  # attribute of an entry of a ``WorkQueue`` in the same study, which is no proposal

_ATTEMPTS = 20  # of a sampler that repeats itself, before chance decides


def tpe(seed: int) -> optuna.samplers.BaseSampler:
    import optuna

    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=8)


def configuration_id(picked: Picked) -> str:
    return json.dumps(dict(picked), sort_keys=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Proposer:
    study: optuna.Study
    space: Space
    sampler: SamplerGiven
    seed: int
    first: Sequence[Picked] = ()

    def propose(self, k: int, tried: Iterable[str]) -> tuple[int, dict[str, str]] | None:
        """Return an untried configuration and its trial's number; None where all were tried."""
        from optuna.exceptions import UpdateFinishedTrialError

        kept = self._kept(k)
        if kept is not None:
            return kept
        known = set(tried)
        if len(known) >= self.space.size:
            return None
        with suppress(UpdateFinishedTrialError):  # another worker took the trial for abandoned
            self._ask(k, known)
        return self.propose(k, known)

    def _ask(self, k: int, known: set[str]) -> None:
        """Record an untried configuration as proposal ``k``."""
        seed = int(np.random.SeedSequence([self.seed, k]).generate_state(1)[0])
        self.study.sampler = self.sampler(seed) if callable(self.sampler) else self.sampler
        wanted = [self.space.complete(one) for one in self.first[k : k + 1]]
        if wanted and configuration_id(wanted[0]) not in known:
            self.study.enqueue_trial(wanted[0])
        for _ in range(_ATTEMPTS):
            trial = self.study.ask()
            picked = self._picked(trial)
            if configuration_id(picked) not in known:
                break
            self.tell(trial.number, math.nan)
        else:
            self.study.enqueue_trial(self._by_chance(np.random.default_rng([self.seed, k]), known))
            trial = self.study.ask()
            picked = self._picked(trial)
        trial.set_user_attr("picked", picked)
        trial.set_user_attr("k", k)  # last: a proposal without it never was one

    def _kept(self, k: int) -> tuple[int, dict[str, str]] | None:
        from optuna.trial import TrialState

        trials = self.study.get_trials(deepcopy=False)
        abandoned = [
            one.number
            for one in trials
            if one.state == TrialState.RUNNING and not {"k", ITEM} & set(one.user_attrs)
        ]
        found = next((one for one in trials if one.user_attrs.get("k") == k), None)
        if found is None and abandoned:
            # Asked for by a search that ended before it could take the answer: to the sampler
            # it would look like a neighbour that is still being judged.
            for number in abandoned:
                self.tell(number, math.nan)
            return self._kept(k)  # it may have been recorded in the meantime
        return None if found is None else (found.number, dict(found.user_attrs["picked"]))

    def tell(self, number: int, *values: float) -> None:
        """Record what came of a proposal, once: a value per objective, nan where undefined."""
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        with suppress(UpdateFinishedTrialError):  # by another worker, who was told the same
            if any(map(math.isnan, values)):
                self.study.tell(number, state=TrialState.FAIL, skip_if_finished=True)
            else:
                self.study.tell(number, list(values), skip_if_finished=True)

    def report(self, number: int, values: Sequence[float], at: int) -> None:
        """Record what a proposal comes to on ``at`` rows, for pruners and dashboards."""
        from optuna.exceptions import UpdateFinishedTrialError

        if len(values) > 1 or math.isnan(values[0]):  # Optuna has one intermediate value a step
            return
        storage = self.study._storage
        id_ = storage.get_trial_id_from_study_id_trial_number(self.study._study_id, number)
        with suppress(UpdateFinishedTrialError):  # by another worker, who was told the same
            storage.set_trial_intermediate_value(id_, at, values[0])

    def is_pruned(self, number: int, pruner: optuna.pruners.BasePruner) -> bool:
        return pruner.prune(self.study, self.study.get_trials(deepcopy=False)[number])

    def prune(self, number: int, last: Sequence[float], expected: Sequence[float], at: int) -> None:
        """Record that a proposal was judged on a part of the rows only, once."""
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState

        if any(map(math.isnan, [*last, *expected])):
            self.tell(number, math.nan)
            return
        storage = self.study._storage
        id_ = storage.get_trial_id_from_study_id_trial_number(self.study._study_id, number)
        with suppress(UpdateFinishedTrialError):  # by another worker, who was told the same
            storage.set_trial_user_attr(id_, EXPECTED, list(expected))
            self.report(number, last, at)
            self.study.tell(number, state=TrialState.PRUNED, skip_if_finished=True)

    def _picked(self, trial: optuna.Trial) -> dict[str, str]:
        def suggested(choice: Choice) -> str:
            return str(trial.suggest_categorical(choice.name, choice.ids))

        return self.space.proposed(suggested)

    def _by_chance(self, rng: np.random.Generator, known: set[str]) -> dict[str, str]:
        for _ in range(_ATTEMPTS):
            picked = self.space.proposed(lambda choice: str(rng.choice(choice.ids)))
            if configuration_id(picked) not in known:
                return picked
        left = [one for one in self.space.configurations() if configuration_id(one) not in known]
        return left[int(rng.integers(len(left)))]


_PLAIN = (str, bytes, int, float, complex, bool, type(None), Enum)


def sampler_identity(sampler: SamplerGiven) -> str:
    """Return what tells a way to make a sampler from others; the usual one has its name alone."""
    return tpe.__qualname__ if sampler is tpe else identity_of(sampler)


def identity_of(function: object) -> str:
    """Return a text that is equal for equal functions, and different where anything differs."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{name} {fingerprint_of(repr(_plain(function, ())))}"


def _plain(one: Any, above: tuple[int, ...]) -> Any:
    """Return an object as nested tuples whose text says nothing of addresses."""
    if isinstance(one, _PLAIN):
        return (type(one).__name__, repr(one))
    if id(one) in above:
        return ("again", above.index(id(one)))
    inside = (*above, id(one))

    def plain(part: Any) -> Any:
        return _plain(part, inside)

    if isinstance(one, type | types.BuiltinFunctionType | types.ModuleType):
        return (getattr(one, "__module__", ""), getattr(one, "__qualname__", one.__name__))
    if isinstance(one, functools.partial):
        return ("partial", plain(one.func), plain(one.args), plain(one.keywords))
    if isinstance(one, types.MethodType):
        return ("method", plain(one.__func__), plain(one.__self__))
    if isinstance(one, types.FunctionType):
        cells = tuple(_cell(cell) for cell in one.__closure__ or ())
        given = (one.__defaults__, one.__kwdefaults__, cells)
        return (one.__module__, one.__qualname__, plain(one.__code__), plain(given))
    if isinstance(one, types.CodeType):
        return (one.co_code, one.co_names, one.co_varnames, plain(one.co_consts))
    if isinstance(one, Mapping):
        return ("mapping", *sorted(repr((plain(k), plain(v))) for k, v in one.items()))
    if isinstance(one, set | frozenset):
        return ("set", *sorted(repr(plain(part)) for part in one))
    if isinstance(one, tuple | list):
        return (type(one).__name__, *map(plain, one))
    of_class = (type(one).__module__, type(one).__qualname__)
    if isinstance(one, np.random.RandomState):  # of Optuna's samplers
        return (*of_class, repr(one.get_state(legacy=False)))
    if hasattr(one, "__dict__"):
        return (*of_class, plain(vars(one)))
    slots = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
    if slots:
        return (*of_class, *(plain(getattr(one, name, None)) for name in slots))
    # What has no attributes says what it is itself, unless all it says is where it lies.
    said = repr(one)
    return (*of_class, "" if hex(id(one)) in said else said)


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is bound later
        return None
