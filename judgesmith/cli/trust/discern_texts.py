"""The texts that ``judgesmith discern`` tests a judge on, read or made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgesmith.cli.shared.faults import OptionError, blaming

if TYPE_CHECKING:
    from judgesmith.data import DataSet
    from judgesmith.experiments.robustness.perturbed_set import PerturbedSet


def versions_in(
    dataset: DataSet,
    data: str,
    *,
    kinds: str | None,
    task: str | None,
    sample: int | None,
    seed: int,
    scored: bool,
) -> PerturbedSet:
    """Return originals and versions, as many of both as are wanted, and where they are from."""
    import numpy as np

    from judgesmith.experiments.robustness.perturbed_rows import get_perturbed, is_perturbed
    from judgesmith.experiments.robustness.perturbed_set import some_kinds, some_originals

    names = None if kinds is None else [name for one in kinds.split(",") if (name := one.strip())]
    rng = np.random.default_rng(seed)
    if not (is_perturbed(dataset) or scored):
        return _made(dataset, data, names, task, sample, seed)
    with blaming(data):
        perturbed = get_perturbed(dataset)
    if names is not None:
        with blaming("--kinds"):
            perturbed = some_kinds(perturbed, names, task=task)
    if sample is not None:
        perturbed = some_originals(perturbed, sample, seed=rng)
    if not perturbed.n_versions:
        raise OptionError(
            f"no text in {dataset.name} has a version to compare it with.",
            option=data,
            hint="give rows with both.",
        )
    return perturbed


def _made(
    dataset: DataSet,
    data: str,
    names: list[str] | None,
    task: str | None,
    sample: int | None,
    seed: int,
) -> PerturbedSet:
    """Return versions of plain texts, made by rule as 'perturb' makes them."""
    import numpy as np

    from judgesmith.experiments.robustness.perturbing import (
        MIN_CHARACTERS,
        USUAL,
        PerturbationConfig,
        get_originals,
        perturb_texts,
    )
    from judgesmith.programs.perturbing import Donors

    pool = get_originals(dataset, min_characters=MIN_CHARACTERS.get(task or "", 0))
    part = pool if sample is None else pool.sample(sample, rng=np.random.default_rng(seed))
    changes = PerturbationConfig(
        kinds=USUAL if names is None else tuple(names), task=task, seed=seed
    )
    with blaming("--kinds"):
        assert changes.perturbations
    found = perturb_texts(part.items, changes, name=dataset.name, donors=Donors(pool.items))
    if not found.n_versions:
        reasons = ", ".join(f"{n} × {reason}" for reason, n in pool.left_out.items())
        raise OptionError(
            f"no text of {dataset.name} can be changed{': ' if reasons else ''}{reasons}.",
            option=data,
            hint="give longer texts, or make versions with judgesmith perturb.",
        )
    left_out = tuple(f"left out: {n} × {reason}." for reason, n in pool.left_out.items())
    made = f"versions are made by rule from the {part.which}; perturb has more choices."
    return replace(found, notes=(made, *left_out, *found.notes))


def known_task(named_task: str | None, dataset: DataSet) -> str | None:
    """Return the task that is named, or the one that all rows state, as far as it is known."""
    from judgesmith.metrics.perturbations import EXPERT_WEIGHTS

    if named_task is not None and named_task not in EXPERT_WEIGHTS:
        raise OptionError(
            f"no changes are known for the task {named_task!r}.",
            option="--task",
            hint=f"name one of {', '.join(EXPERT_WEIGHTS)}, or leave --task out.",
        )
    stated = {item.extra.get("task") for item in dataset}
    of_rows = next(iter(stated)) if len(stated) == 1 else None
    known = isinstance(of_rows, str) and of_rows in EXPERT_WEIGHTS
    return named_task or (of_rows if known else None)
