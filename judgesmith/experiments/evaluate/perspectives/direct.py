"""The order of near neighbours from a judge that compares two texts: whether fewer errors win."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.data.items import DataSet, check_dataset
from judgesmith.data.targets import nobody_rated
from judgesmith.errors import InputError
from judgesmith.experiments.evaluate.agreement import Unscored
from judgesmith.experiments.evaluate.perspectives.perspectives import (
    TEMPERATURE,
    criteria_of_target,
    no_text_scored,
    sampled_once,
)
from judgesmith.experiments.evaluate.perspectives.ratings import builders, errors_made
from judgesmith.experiments.evaluate.perspectives.report import built_by_itself
from judgesmith.experiments.evaluate.preferring import plain_order
from judgesmith.experiments.scoring.estimates import RunEstimate, estimate_comparing
from judgesmith.metrics import Estimate
from judgesmith.metrics.arrays import FloatArray
from judgesmith.metrics.pairs import (
    AccuracyByErrors,
    OrderConsistency,
    comparisons_by_errors,
    majority_preference,
    order_consistency,
)
from judgesmith.metrics.pairs.errors import ErrorPairs, accuracy_apart, error_pairs
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.pairwise import Preference, ResponsePair
from judgesmith.programs.families.samples_apart import preferred_samples
from judgesmith.programs.judging.executors import JudgeLike
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures.judgement import Cause
from judgesmith.signatures.rubric import folded

if TYPE_CHECKING:
    import dspy

DIFFERENCES = (1, 2, 3, 4, 5)


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectComparison(Result):
    """How often a judge that compares prefers the text with fewer errors, on one criterion.

    Attributes
    ----------
    criterion : str
        On which errors were made.
    by_errors : AccuracyByErrors
        By how many errors either text has.
    apart : dict of int to Estimate
        I(k): the share of the pairs that differ by k errors whose better text wins, with an
        interval over sources. Preferring neither is wrong.
    order : OrderConsistency
        What the votes of one order come to beside those of the other.
    n_neither : int
        Pairs of which votes prefer neither text.
    unscored : Unscored
        Pairs without a single answer, among all.
    n_samples : int
        Answers asked for in each order.
    """

    criterion: str
    by_errors: AccuracyByErrors
    apart: Mapping[int, Estimate]
    order: OrderConsistency
    n_neither: int
    unscored: Unscored
    n_samples: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "by_errors": self.by_errors.to_dict(),
            "errors_apart": {str(k): one.to_dict() for k, one in self.apart.items()},
            "order": plain_order(self.order),
            "neither": self.n_neither,
            "pairs": self.unscored.n_rows,
            "unscored": self.unscored.n,
            **self.unscored.to_dict(),
            "samples": self.n_samples,
        }


@shows_progress
def compare_directly(
    judge: JudgeLike,
    dataset: DataSet,
    criterion: str,
    *,
    samples: int = 10,
    differences: Sequence[int] | None = DIFFERENCES,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> DirectComparison:
    """Compare texts of one source that differ by some errors, in both orders.

    Parameters
    ----------
    judge : Pairs or SavedJudge
        That compares two texts. At temperature 0 all samples are alike.
    dataset : DataSet
        A built benchmark: rows say in ``provenance`` how many errors they have.
    criterion : str
        Whose texts are compared.
    samples : int
        Answers in each order.
    differences : sequence of int, or None
        Which differences in errors; None takes all pairs.
    lm, concurrency, on_progress, progress
        As for ``prefer_each``.

    Raises
    ------
    ValueError
        If the criterion is unrated, no two texts of a source differ by so many errors, or no
        pair has an answer.
    """
    check_dataset(dataset)
    n_errors, pairs = _pairs(dataset, criterion, differences)
    asked = preferred_samples(
        judge,
        _responses(dataset, pairs),
        samples,
        lm=lm,
        concurrency=concurrency,
        on_progress=on_progress,
    )
    votes = np.asarray([_votes(several) for several in asked], dtype=float)
    return direct_comparison(votes, pairs, n_errors, criterion=criterion, causes=_causes(asked))


def _pairs(
    dataset: DataSet, criterion: str, differences: Sequence[int] | None
) -> tuple[FloatArray, ErrorPairs]:
    """Return how many errors each text has, and the pairs that are compared."""
    if criterion not in dataset.criteria:
        raise nobody_rated([criterion], dataset, dataset.criteria)
    ours = np.asarray([bool(item.human.get(criterion)) for item in dataset], dtype=bool)
    n_errors = np.where(ours, errors_made(dataset), np.nan)
    pairs = error_pairs(n_errors, dataset.groups, differences=differences)
    if not len(pairs):
        raise InputError(
            f"no two texts of a source on {criterion} differ by a known number of errors.",
            hint="give a benchmark whose rows say so in their provenance.",
        )
    return n_errors, pairs


def direct_comparison(
    votes: FloatArray,
    pairs: ErrorPairs,
    n_errors: FloatArray,
    *,
    criterion: str,
    causes: Mapping[Cause, int] | None = None,
) -> DirectComparison:
    winners = majority_preference(votes)
    if np.isnan(winners).all():
        why = "".join(f": {cause.text.rstrip('.')}" for cause in list(causes or ())[:1])
        raise InputError(f"none of {len(pairs)} comparisons has an answer{why}.")
    given, swapped = (majority_preference(votes[:, order]) for order in (0, 1))
    fewer, more = n_errors[pairs.better], n_errors[pairs.worse]
    # Both orders stand behind each winner, so that the table is the same either way round.
    table = comparisons_by_errors(
        np.concatenate([winners, 1 - winners]),
        np.concatenate([fewer, more]),
        np.concatenate([more, fewer]),
    )
    return DirectComparison(
        criterion=criterion,
        by_errors=replace(table, n_unscored=table.n_unscored // 2),
        apart=accuracy_apart(winners, pairs),
        order=order_consistency(given, swapped, sources=pairs.sources.tolist()),
        n_neither=int(np.count_nonzero(winners == 0.5)),
        unscored=Unscored(
            n=int(np.isnan(winners).sum()), n_rows=len(pairs), causes=dict(causes or {})
        ),
        n_samples=votes.shape[2],
    )


def _responses(dataset: DataSet, pairs: ErrorPairs) -> list[ResponsePair]:
    places = zip(pairs.better.tolist(), pairs.worse.tolist(), strict=True)
    return [ResponsePair.of(dataset[better], dataset[worse]) for better, worse in places]


def _votes(several: Sequence[Preference]) -> list[list[float]]:
    orders = [one.given for one in several], [one.swapped for one in several]
    return [[np.nan if one.stated is None else one.stated for one in order] for order in orders]


def _causes(asked: Sequence[Sequence[Preference]]) -> dict[Cause, int]:
    """Return why pairs have no answer in any sample of either order."""
    silent = [
        several
        for several in asked
        if all(one.given.stated is None and one.swapped.stated is None for one in several)
    ]
    causes = (several[0].cause for several in silent)
    return dict(Counter(one for one in causes if one is not None).most_common())


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectReport:
    """How often a judge that compares prefers the text with fewer errors, by criterion."""

    label: str
    reports: Mapping[str, DirectComparison]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "judge": self.label,
            "perspective": "local",
            "compared": {name: one.to_dict() for name, one in self.reports.items()},
            "notes": list(self.notes),
        }


def compared_by_judge(
    judge: SavedJudge,
    dataset: DataSet,
    *,
    target: str | None = None,
    samples: int | None = None,
    lm: dspy.LM | None = None,
    models: Sequence[str] = (),
    label: str = "judge",
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
) -> DirectReport:
    """Ask a judge that compares about texts of a source that differ by one to five errors."""
    names = _compared_criteria(judge, dataset, target)
    n = judge.protocol.samples if samples is None else samples
    temperature = judge.protocol.temperature if samples is None else TEMPERATURE
    once = sampled_once(judge, temperature)
    reports = {
        name: compare_directly(
            once, dataset, name, samples=n, lm=lm, concurrency=concurrency, on_progress=on_progress
        )
        for name in names
    }
    notes = [
        f"it was compiled for {judge.target}, and compares texts by {name}."
        for name in names
        if folded(name) != folded(judge.target)
    ]
    notes += built_by_itself(builders(dataset), {*judge.models, *models})
    return DirectReport(label=label, reports=reports, notes=tuple(notes))


def comparing_estimate(
    judge: SavedJudge,
    dataset: DataSet,
    lm: dspy.LM,
    *,
    target: str | None = None,
    samples: int | None = None,
) -> RunEstimate:
    pairs = [
        pair
        for name in _compared_criteria(judge, dataset, target)
        for pair in _responses(dataset, _pairs(dataset, name, DIFFERENCES)[1])
    ]
    n = judge.protocol.samples if samples is None else samples
    return estimate_comparing(sampled_once(judge, TEMPERATURE), pairs, lm, often=n)


def _compared_criteria(judge: SavedJudge, dataset: DataSet, target: str | None) -> list[str]:
    names, alone = criteria_of_target(dataset, target)
    if not alone:
        names = [one for one in names if folded(one) == folded(judge.target)]
        if not names:
            raise no_text_scored(dataset)
    return names
