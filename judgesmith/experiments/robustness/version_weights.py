"""Which metric should notice which change: the weights that fit a judge's metrics, from wherever.

Experts' shares are by kind of change, or by kind and degree, and by metric; see
``judgesmith.metrics.perturbations.EXPERT_WEIGHTS`` for ours.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.errors import InputError, file_faults
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS
from judgesmith.programs.perturbing import PERTURBATIONS
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.plain_data import read_yaml
from judgesmith.signatures.rubric import folded

_NEAR_1 = 1e-6


@dataclass(frozen=True, kw_only=True)
class VersionWeights:
    """Expert weights for the kinds of change of a set."""

    by_name: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    said: str = "none"


def weights_of_task(
    task: str | None, kinds: Sequence[Perturbation], metrics: Sequence[str]
) -> VersionWeights:
    """Return the weights that ship for a task, where the judge has all of the task's metrics."""
    if task is None or task not in EXPERT_WEIGHTS:
        return VersionWeights(said="none: no task says which metric should notice what")
    shipped = EXPERT_WEIGHTS[task]
    wanted = list(next(iter(shipped.values())))
    missing = missing_metrics(task, metrics)
    if missing:
        return VersionWeights(
            said=f"none: the weights for {task} are of {_listed(wanted)}, and {_listed(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not judged"
        )
    by_name = {}
    for one in kinds:
        own = shipped.get(one.kind)
        if own is not None:
            shares = {folded(name): share for name, share in own.items()}
            by_name[one.name] = {name: shares.get(folded(name), 0.0) for name in metrics}
    if not by_name:
        return VersionWeights(said=f"none: {task} has no weights for these kinds of change")
    return VersionWeights(by_name=by_name, said=f"ours for {task}")


def missing_metrics(task: str, metrics: Sequence[str]) -> list[str]:
    judged = set(map(folded, metrics))
    return [one for one in next(iter(EXPERT_WEIGHTS[task].values())) if folded(one) not in judged]


Shares = Mapping[str, Mapping[str, float]]
"""Weights as somebody gave them: by name of a change and by metric."""


@file_faults()
def read_weights(path: str | Path, kinds: Sequence[Perturbation]) -> Shares:
    """Return the weights in a YAML or JSON file: kind, or kind/degree, to metric to share."""
    place = Path(path)
    text = place.read_text(encoding="utf-8", errors="replace")
    try:
        given = read_yaml(text)
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                "expected weights as kind: {metric: share, …}; got "
                f"{type(given).__name__ if given else 'nothing'}."
            )
        return checked_weights(given, kinds)
    except ValueError as fault:
        raise InputError(fault, at=place) from None


def checked_weights(given: Mapping[str, Any], kinds: Sequence[Perturbation]) -> Shares:
    """Return weights by the name of each change that has some."""
    checked = {name: _shares(name, own) for name, own in given.items()}
    known = {name for one in kinds for name in (one.kind, one.name)}
    if not known & set(checked):
        raise InputError(
            f"none of the weights is for a change in this set; got {_cut(given)}, and changes are "
            f"{_cut(known)}."
        )
    _check_names(checked, kinds)
    found = {}
    for one in kinds:
        own = checked.get(one.name) or checked.get(one.kind)
        if own is not None:
            found[one.name] = own
    return found


def weights_named(
    named: str, kinds: Sequence[Perturbation], metrics: Sequence[str]
) -> VersionWeights:
    """Return the weights of a task, or those in a file, under a judge's names of metrics."""
    if named in EXPERT_WEIGHTS:
        return weights_of_task(named, kinds, metrics)
    return fitted_weights(read_weights(named, kinds), metrics, said=f"from {Path(named).name}")


def fitted_weights(given: Shares, metrics: Sequence[str], *, said: str) -> VersionWeights:
    """Return weights under a judge's names of metrics."""
    found = {}
    for name, own in given.items():
        shares = {folded(metric): share for metric, share in own.items()}
        if set(shares) != set(map(folded, metrics)) or len(shares) != len(own):
            raise InputError(
                f"the weights of {name} cover the metrics {_listed(metrics)}, each once; got "
                f"{_listed(list(own)) or 'none'}."
            )
        found[name] = {metric: shares[folded(metric)] for metric in metrics}
    return VersionWeights(by_name=found, said=said)


def _check_names(given: Iterable[str], kinds: Sequence[Perturbation]) -> None:
    """Refuse names that are of no change, in the set or elsewhere, and much like one that is."""
    own = {name for one in kinds for name in (one.kind, one.name)}
    degrees = {one.degree for one in kinds if one.degree} | {"minor", "major"}
    known = {
        *own,
        *PERTURBATIONS,
        *(kind for weights in EXPERT_WEIGHTS.values() for kind in weights),
    }
    known |= {f"{kind}/{degree}" for kind in known if "/" not in kind for degree in degrees}
    for name in given:
        close = difflib.get_close_matches(str(name)[:80], [*sorted(own), *sorted(known)], n=1)
        if name not in known and close:
            raise InputError(
                f"weights are given for {str(name)[:80]!r}, which is no change.",
                hint=f"did you mean {close[0]}?",
            )


def _shares(name: str, given: Any) -> dict[str, float]:
    """Return the shares of one kind by metric, checked."""
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"the weights of {name} are written metric: share; got {given!r:.40}.")
    for metric, share in given.items():
        is_number = isinstance(share, int | float) and not isinstance(share, bool)
        if not is_number or not 0 <= share <= 1:
            raise InputError(
                f"the weight of {metric} for {name} is a number from 0 to 1; got {share!r:.40}."
            )
    total = math.fsum(given.values())
    if abs(total - 1) > _NEAR_1:
        raise InputError(f"the weights of {name} sum to {total:g}; they are shares of 1.")
    return {str(metric): float(share) for metric, share in given.items()}


def _listed(names: Sequence[Any]) -> str:
    """Return names with an "and" before the last."""
    *others, last = [str(one) for one in names] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _cut(names: Any) -> str:
    """Return a few names, in order, and how many more there are."""
    every = sorted(map(str, names))
    more = f" and {len(every) - 8} more" if len(every) > 8 else ""
    return f"{', '.join(every[:8])}{more}"
