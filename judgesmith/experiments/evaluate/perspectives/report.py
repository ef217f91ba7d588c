"""A judge from one side, by criterion and on average: right ratings, or near neighbours.

For the right rating a judge's word on a text is the mode of its samples, each brought to the
nearest level first; for the order it is their mean, and a tie is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.evaluate.agreement import Unscored
from judgesmith.experiments.evaluate.perspectives.ratings import (
    OUTSIDE,
    RightLevels,
    SampledScores,
    errors_made,
    on_levels_of,
)
from judgesmith.metrics import Estimate, confusion_matrix, weighted_kappa_interval
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.pairs import (
    AccuracyByErrors,
    AdjacentAccuracy,
    accuracy_by_errors,
    adjacent_accuracy,
)
from judgesmith.metrics.pairs.errors import accuracy_apart, error_pairs, preferred_by_score
from judgesmith.metrics.pairs.ordering import rounded_scores
from judgesmith.metrics.ratings import ConfusionMatrix, modes, nearest_levels
from judgesmith.metrics.ratings.kappa import counted_kappa
from judgesmith.metrics.resampling.draws import Counted, draws_of_units, estimate_of
from judgesmith.optimizers.objectives.agreement import NeighbourAccuracy
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.results.base import Result
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import Scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """What a number rests on."""

    right: RightLevels
    unscored: Unscored
    n_outside: int
    n_samples: tuple[int, int]
    answers: Scale | None

    @classmethod
    def of(cls, right: RightLevels, scores: SampledScores, causes: Sequence[Cause | None]) -> Basis:
        """Return what the texts with a right level have."""
        if not right.kept.size:
            raise InputError(none_kept(right))
        kept = right.kept.tolist()
        judged = scores.n_samples[kept][scores.n_samples[kept] > 0]
        return cls(
            right=right,
            unscored=Unscored.of((causes[place] for place in kept), len(kept)),
            n_outside=scores.n_outside,
            n_samples=(int(judged.min()), int(judged.max())) if judged.size else (0, 0),
            answers=scores.scale,
        )

    def to_dict(self) -> dict[str, Any]:
        counts = self.right.counts
        return {
            "kept": None if counts is None else counts.to_dict(),
            "built": self.right.n_built,
            "unrated": self.right.n_unrated,
            "unscored": self.unscored.n,
            **self.unscored.to_dict(),
            "samples": list(self.n_samples),
            "samples_outside": self.n_outside,
            "scale": str(self.right.scale),
            "answers": None if self.answers is None else str(self.answers),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class OnCriterion:
    """What either perspective found on one criterion."""

    criterion: str
    basis: Basis
    counted: Counted


def n_sources_of(sources: np.ndarray) -> int:
    """Return how many sources there are, numbered from 0."""
    return int(sources.max(initial=-1)) + 1


def why_unscored(cause: Cause, advice: str) -> str:
    """Return why nothing has a score and what to do: ``advice``, unless the budget was spent."""
    if cause.reason is Reason.OVER_BUDGET:
        advice = "Give a larger one; cached answers cost nothing"
    return f"{cause.text.rstrip('.')}. {advice}."


def none_kept(right: RightLevels) -> str:
    """Return why a criterion of which no rating is kept has no number, and what to do."""
    counts = right.counts
    why = ""
    if counts is not None:
        why = (
            f": {sum(counts.n_dropped)} are disputed, {counts.n_too_few} have a single rating, of "
            f"{counts.n_unknown} a mean alone is known"
        )
    return (
        f"no text has an undisputed rating on {right.criterion}{why}. Say --aggregate mode to take "
        "what most raters gave, or a single rating as it is."
    )


UNREADABLE = Cause(Reason.UNREADABLE, "fewer than half of its samples could be read")
UNKNOWN_SCALE = Cause(Reason.OTHER, "the scale of its scores is unknown")


@dataclass(frozen=True, kw_only=True, eq=False)
class GlobalReport(OnCriterion):
    """How well a judge's ratings agree with the right ones on one criterion."""

    kappa: Estimate  # linear weights over all levels, interval over sources
    confusion: ConfusionMatrix
    ratings: FloatArray  # the judge's, nan: missing

    @property
    def value(self) -> Estimate:
        """Return the one number of the report."""
        return self.kappa

    def to_dict(self) -> dict[str, Any]:
        return {
            "kappa": self.kappa.to_dict(),
            "confusion": self.confusion.to_dict(),
            **self.basis.to_dict(),
        }


def global_report(
    right: RightLevels,
    scores: SampledScores,
    sources: IntArray,
    *,
    rng: np.random.Generator,
) -> GlobalReport:
    """Return how well a judge's ratings agree with the right levels."""
    human = on_levels_of(right)
    assert right.levels is not None
    ratings, problems = ratings_of(scores, right.levels)
    basis = Basis.of(right, scores, problems)
    kept = right.kept
    if basis.unscored.n == len(kept):
        why = next(iter(basis.unscored.causes))
        advice = "Say what its answers are points of with --answers"
        advice = advice if why in (UNKNOWN_SCALE, OUTSIDE) else "Choose another target"
        raise InputError(
            f"none of the {len(kept)} texts with a right rating on {right.criterion} has one of "
            f"the judge: {why_unscored(why, advice)}"
        )
    own, rated, labels = ratings[kept], human[kept], sources[kept]
    n_sources = n_sources_of(sources)
    return GlobalReport(
        criterion=right.criterion,
        basis=basis,
        counted=counted_kappa(rated, own, labels, n_sources, levels=right.levels),
        kappa=weighted_kappa_interval(
            rated, own, sources=labels.tolist(), levels=right.levels, seed=rng
        ),
        confusion=confusion_matrix(rated, own, levels=right.levels),
        ratings=ratings,
    )


def ratings_of(
    scores: SampledScores, levels: FloatArray
) -> tuple[FloatArray, tuple[Cause | None, ...]]:
    """Return the rating that each text's samples come to, or why it is missing.

    Each sample is laid on the levels, scale on scale, and goes to the nearest one, half-ways
    towards the middle. The rating is the most frequent of them; of several that are, the one
    nearest to the samples' mean, then the lower. With fewer than half of the samples it is missing.
    """
    n_items = len(scores.problems)
    if scores.scale is None:
        reasons = [one or UNKNOWN_SCALE for one in scores.problems]
        return np.full(n_items, np.nan), tuple(reasons)
    ends = scores.scale.low, scores.scale.high
    points = nearest_levels(np.clip(scores.values, *ends), levels=levels, scale=ends)
    found = np.full(n_items, np.nan)
    # Rows are as long as the text has samples: beyond them nothing was unreadable.
    for n in np.unique(scores.n_samples[scores.n_samples > 0]).tolist():
        rows = scores.n_samples == n
        found[rows] = modes(points[rows, :n])
    problems = [
        (problem or UNREADABLE) if missing else None
        for problem, missing in zip(scores.problems, np.isnan(found).tolist(), strict=True)
    ]
    return found, tuple(problems)


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalReport(OnCriterion):
    """How well a judge orders near neighbours on one criterion."""

    accuracy: AdjacentAccuracy
    by_errors: AccuracyByErrors | None
    apart: Mapping[int, Estimate]

    @property
    def value(self) -> AdjacentAccuracy:
        """Return the one number of the report."""
        return self.accuracy

    def to_dict(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy.to_dict(),
            "by_errors": None if self.by_errors is None else self.by_errors.to_dict(),
            "errors_apart": {str(k): one.to_dict() for k, one in self.apart.items()},
            **self.basis.to_dict(),
        }


def local_report(
    right: RightLevels,
    scores: SampledScores,
    sources: IntArray,
    *,
    n_errors: FloatArray | None = None,
) -> LocalReport:
    """Return how well a judge orders texts of one source whose ratings are neighbours."""
    basis = Basis.of(right, scores, scores.problems)
    kept = right.kept
    own, labels = scores.values[kept], sources[kept]
    table = PredictionTable(
        predicted=rounded_scores(own), human=right.values[kept], sources=labels, systems=labels
    )
    accuracy = adjacent_accuracy(table.human, table.predicted, sources=labels.tolist())
    _refuse_no_pair(right, accuracy, basis)
    stated = np.full(len(kept), np.nan) if n_errors is None else n_errors[kept]
    pairs = error_pairs(stated, labels)
    return LocalReport(
        criterion=right.criterion,
        basis=basis,
        counted=NeighbourAccuracy().counted_target(table, labels, n_sources_of(sources)),
        accuracy=accuracy,
        by_errors=_by_errors(own, stated, labels),
        apart=accuracy_apart(preferred_by_score(own, pairs), pairs),
    )


def _refuse_no_pair(right: RightLevels, accuracy: AdjacentAccuracy, basis: Basis) -> None:
    if accuracy.n:
        return
    if accuracy.n_unscored:
        advice = "Choose another target, or score these texts"
        why = next((f": {why_unscored(one, advice)}" for one in basis.unscored.causes), "")
        raise InputError(
            f"no pair of neighbours on {right.criterion} has two scores{why or f'. {advice}.'}"
        )
    raise InputError(
        f"no source has two texts with different undisputed ratings on {right.criterion}, and "
        "only texts of one source are compared.",
        hint="say --aggregate mean to take all ratings.",
    )


def _by_errors(own: FloatArray, n_errors: FloatArray, sources: IntArray) -> AccuracyByErrors | None:
    stated = ~np.isnan(n_errors)
    if len(np.unique(n_errors[stated])) < 2:
        return None
    return accuracy_by_errors(own[stated], n_errors[stated], sources=sources[stated].tolist())


Perspective = Literal["global", "local"]

NOT_SCORED = "the judge does not score it"
N_RESAMPLES, CONFIDENCE = 1000, 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class PerspectiveReport(
    Result, report="judgesmith.cli.trust.perspectives:print_perspective", shows=("mean",)
):
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
    data: str = ""

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
    """Return the reports on all criteria that have one, and their mean."""
    reports: dict[str, GlobalReport | LocalReport] = {}
    refused = dict(left_out)
    n_errors = errors_made(dataset)
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
        data=dataset.name,
        perspective=perspective,
        reports={name: reports[name] for name in dataset.criteria if name in reports},
        mean=mean_of_criteria(
            [one.counted for one in reports.values()],
            int(dataset.groups.max(initial=-1)) + 1,
            n=sum(one.value.n for one in reports.values()),
            rng=np.random.default_rng(seed),
        ),
        left_out=refused,
        notes=tuple(notes),
    )


def mean_of_criteria(
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
    """Return a warning for every part of a benchmark that a judge's own model built."""
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
