"""A judge seen from one side on several criteria, and on average."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.global_perspective import GlobalReport, global_report
from judgesmith.experiments.local_perspective import LocalReport, local_report
from judgesmith.experiments.perspective_ratings import RightLevels, errors_of
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.metrics import Estimate
from judgesmith.metrics.resampling.draws import Counted, draws_of_units, estimate_of

Perspective = Literal["global", "local"]

NOT_SCORED = "the judge does not score it"
N_RESAMPLES, CONFIDENCE = 1000, 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class PerspectiveReport:
    """A judge seen from one side, by criterion and on average.

    Attributes
    ----------
    label : str
        What was evaluated.
    perspective : {"global", "local"}
        What was asked.
    reports : dict of str to GlobalReport or LocalReport
        By criterion, in the data's order.
    mean : Estimate
        Over the criteria whose number is defined; ``n_undefined`` counts the others. Its interval
        draws the same sources for all criteria, and is undefined where the mean is.
    left_out : dict of str to str
        Criteria that people rated and that have no report, and why in one sentence.
    notes : tuple of str
        What a reader should know.
    """

    label: str
    perspective: Perspective
    reports: Mapping[str, GlobalReport | LocalReport]
    mean: Estimate
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "judge": self.label,
            "perspective": self.perspective,
            "criteria": {name: one.to_dict() for name, one in self.reports.items()},
            "mean": self.mean.to_dict(),
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
        }


def perspective_report(
    label: str,
    perspective: Perspective,
    dataset: DataSet,
    right: Mapping[str, RightLevels],
    found: Mapping[str, SampledScores],
    left_out: Mapping[str, str],
    notes: Sequence[str],
    rng: np.random.Generator,
) -> PerspectiveReport:
    """Return the reports on all criteria that have one, and their mean.

    Parameters
    ----------
    label, perspective : str
        See ``PerspectiveReport``.
    dataset : DataSet
        The texts.
    right, found : dict of str to RightLevels, and to SampledScores
        By criterion; ``right`` has all of ``found``.
    left_out, notes
        See ``PerspectiveReport``; what turns out to be of no use is left out, too.
    rng : Generator
        Draws the intervals.

    Raises
    ------
    ValueError
        If no criterion has a report. The message says why the first has none.
    """
    reports: dict[str, GlobalReport | LocalReport] = {}
    refused = dict(left_out)
    n_errors = errors_of(dataset)
    # The same resamples for every criterion: none depends on which others there are.
    seed = int(rng.integers(2**63))
    for name, scores in found.items():
        try:
            if perspective == "global":
                own = np.random.default_rng(seed)
                reports[name] = global_report(right[name], scores, dataset.groups, rng=own)
            else:
                reports[name] = local_report(right[name], scores, dataset.groups, n_errors=n_errors)
        except ValueError as fault:
            refused[name] = str(fault)
    if not reports:
        raise InputError(next((why for why in refused.values() if why != NOT_SCORED), NOT_SCORED))
    return PerspectiveReport(
        label=label,
        perspective=perspective,
        reports={name: reports[name] for name in dataset.criteria if name in reports},
        mean=mean_estimate(
            [one.counted for one in reports.values()],
            int(dataset.groups.max(initial=-1)) + 1,
            n=sum(one.value.n for one in reports.values()),
            rng=np.random.default_rng(seed),
        ),
        left_out=refused,
        notes=tuple(notes),
    )


def mean_estimate(
    parts: Sequence[Counted], n_sources: int, *, n: int, rng: np.random.Generator
) -> Estimate:
    """Return the mean over the parts that are defined, with an interval over shared sources."""
    known = [one for one in parts if not math.isnan(one.value)]
    value = math.fsum(one.value for one in known) / len(known) if known else math.nan
    n_units = min((one.n_units for one in known), default=0)
    mean = Counted(
        value=value,
        of_counts=lambda counts: np.mean([one.of_counts(counts) for one in known], axis=0),
        n_units=n_units,
        n_undefined=len(parts) - len(known),
    )
    draws = draws_of_units((n_sources,), N_RESAMPLES, rng)
    return estimate_of(mean, draws, n=n, n_groups=n_units, confidence=CONFIDENCE)


def built_by_itself(built: Mapping[str, Sequence[str]], models: set[str]) -> list[str]:
    """Return a warning for every part of a benchmark that a judge's own model built.

    Examples
    --------
    >>> built_by_itself({"injector": ["openai/a"]}, {"openai/a"})
    ['openai/a judges texts that it built itself (injector): it may prefer, or know, its own work.']
    """
    roles: dict[str, list[str]] = {}
    for role, several in built.items():
        for model in several:
            if model in models:
                roles.setdefault(model, []).append(role)
    return [
        f"{model} judges texts that it built itself ({', '.join(own)}): it may prefer, or know, "
        "its own work."
        for model, own in roles.items()
    ]
