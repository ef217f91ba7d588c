"""How a judge's labels agree with people's: TPR, TNR, what it passes and stops wrongly, and why."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.items import DataSet
from judgesmith.data.targets import Targets
from judgesmith.experiments.evaluate.judged_rows import JudgedRows
from judgesmith.experiments.evaluate.label_summary import label_indices
from judgesmith.metrics import Estimate
from judgesmith.metrics.calibration import probability_errors
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling.shares import share_interval
from judgesmith.metrics.verdicts import VerdictAgreement, verdict_agreement, verdict_curves
from judgesmith.programs.artifacts.card import rates_text
from judgesmith.programs.artifacts.record import SavedEstimate
from judgesmith.programs.judging.prompts import WordIndex
from judgesmith.signatures import Judgement
from judgesmith.signatures.aggregation import Decision
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.signatures.items import RatedItem

LEAST_LIKENESS = 0.3
"""How alike, from 0 to 1, an error's words and a guideline are that it is counted under."""

SHARES = Scale(low=0, high=1)
"""What scores on file are points of, where all lie on it and no scale is stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLabels:
    """A judge's labels of the rows that people labelled, and how they came about."""

    labels: NDArray[np.intp]  # places on the scale, -1: missing
    probability: NDArray[np.float64]  # of the positive label, nan: unknown
    note: str | None = None  # the threshold, where it is not the judge's own


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterWords(Record):
    """What a rater says of a response, and why."""

    label: str
    rationale: str | None
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelError(Record):
    """A response that the judge labels otherwise than people, with the words of both."""

    row: int  # its place in the set, from 0
    source_id: str
    system_id: str
    source: str
    response: str
    human: str
    raters: tuple[RaterWords, ...]
    judge: str
    probability: float
    explanation: str
    criterion: str
    guideline: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakeGroup(Record):
    """How many labels are wrong that are about one criterion, or one guideline of the judge."""

    criterion: str
    guideline: str
    false_passes: int
    false_fails: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement(Record):
    """How a judge's labels agree with people's on the same rows."""

    labels: tuple[str, ...]
    positive: str
    n_rows: int
    n_positive: int
    n_negative: int
    unlabelled: int  # rows that people labelled and the judge did not
    tpr: Estimate
    tnr: Estimate
    statistics: Mapping[str, Estimate]
    confusion: tuple[tuple[int, ...], ...]  # people down, the judge across
    shares: Mapping[str, Mapping[str, Estimate]]
    useless: str | None  # why no label of this judge says anything
    false_passes: tuple[LabelError, ...]
    false_fails: tuple[LabelError, ...]
    mistakes: tuple[MistakeGroup, ...]
    note: str | None = None

    @property
    def negative(self) -> str:
        """How rows without the positive label are called."""
        return self.labels[0] if len(self.labels) == 2 else f"not {self.positive}"


def judged_labels(judged: JudgedRows, targets: Targets) -> JudgedLabels | None:
    """Return a judge's labels, or its scores cut in the middle of the scale; None without."""
    scale = targets.scale
    own = [one.label for one in judged.judgements] if judged.scored_by == "score" else []
    if any(own):
        places = [-1 if one not in scale.labels else scale.labels.index(one) for one in own]
        chances = [_probability(one, scale, judged.scale) for one in judged.judgements]
        if all(one in (0, 1) or one != one for one in chances):
            chances = [float("nan")] * len(chances)  # the points of labels that stand alone
        return JudgedLabels(
            labels=np.asarray(places, dtype=np.intp), probability=np.asarray(chances, dtype=float)
        )
    predicted = judged.table.predicted
    scored = ~np.isnan(predicted)
    answers = judged.scale or _assumed(predicted[scored])
    if not scored.any() or judged.ranks or not scale.ordered or answers is None:
        return None
    decision = Decision(scale=scale)
    shares = [answers.fraction(one) for one in predicted.tolist()]
    places = [scale.labels.index(decision.label(one)) if one == one else -1 for one in shares]
    return JudgedLabels(
        labels=np.asarray(places, dtype=np.intp),
        probability=np.asarray(shares, dtype=float),
        note=f"the judge gives scores and no labels: {answers.points(0.5):g} and more on "
        f"{answers} count as {scale.labels[-1]!r}.",
    )


def _assumed(scores: NDArray[np.float64]) -> Scale | None:
    """Return the scale of scores without a stated one: 0 to 1 where all scores are on it."""
    return SHARES if np.all((scores >= 0) & (scores <= 1)) else None


def _probability(judgement: Judgement, scale: Scale, answers: Scale | None) -> float:
    chance = judgement.probability.get(scale.positive or "")
    if chance is not None or judgement.score is None or len(scale.labels) > 2:
        return float("nan") if chance is None else chance
    answers = answers or SHARES
    share = answers.fraction(judgement.score)
    return share if 0 <= share <= 1 else float("nan")


def label_agreement(
    judged: JudgedRows,
    rows: Sequence[int],
    dataset: DataSet,
    targets: Targets,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> LabelAgreement | None:
    """Return how labels agree on ``rows`` of the rated ones; None where the judge gives none."""
    found = judged_labels(judged, targets)
    if found is None:
        return None
    chosen = np.asarray(rows, dtype=np.intp)
    scale = targets.scale
    human, said = label_indices(targets)[targets.rated[chosen]], found.labels[chosen]
    probability, sources = found.probability[chosen], judged.table.sources[chosen]
    good = scale.labels.index(scale.positive or "")
    agreement = verdict_agreement(
        [scale.labels[place] for place in human],
        [scale.labels[place] if place >= 0 else None for place in said],
        sources=sources.tolist(),
        positive=scale.positive,
        classes=scale.labels,
        ordered=scale.ordered and len(scale.labels) > 2,
        confidence=confidence,
        seed=rng,
    )
    wrong = np.flatnonzero((said >= 0) & ((human == good) != (said == good)))
    words = WordIndex.of(judged.guidelines)
    errors = [
        _error(
            judged, dataset, targets, int(row), words, scale.labels[a], scale.labels[b], float(p)
        )
        for row, a, b, p in zip(
            chosen[wrong], human[wrong], said[wrong], probability[wrong], strict=True
        )
    ]
    passes, fails, mistakes = _in_groups(errors, scale)

    def cell(one: int, other: int) -> Estimate:
        among = (human == one) & (said >= 0)
        yes = said[among] == other
        return share_interval(yes, sources=sources[among].tolist(), confidence=confidence)

    return LabelAgreement(
        labels=scale.labels,
        positive=scale.positive or "",
        n_rows=len(chosen),
        n_positive=int(np.sum(human == good)),
        n_negative=int(np.sum(human != good)),
        unlabelled=int(np.sum(said < 0)),
        tpr=agreement.tpr.reported(),
        tnr=agreement.tnr.reported(),
        statistics={
            **dict(_statistics(agreement)),
            **_of_probabilities(human == good, probability, sources.tolist(), rng, confidence),
        },
        confusion=agreement.counts,
        shares={
            name: {other: cell(a, b).reported() for b, other in enumerate(scale.labels)}
            for a, name in enumerate(scale.labels)
        },
        useless=_why_useless(said[said >= 0] == good, scale),
        false_passes=passes,
        false_fails=fails,
        mistakes=mistakes,
        note=found.note,
    )


_STATISTICS = (
    "balanced_accuracy",
    "mcc",
    "kappa",
    "quadratic_kappa",
    "f1",
    "macro_f1",
    "ac1",
    "accuracy",
    "precision",
    "npv",
)


def _statistics(found: VerdictAgreement) -> Iterator[tuple[str, Estimate]]:
    """Yield what is reported of labels; macro means where there are three or more."""
    for name in _STATISTICS:
        one = getattr(found, name)
        if one is not None and (name != "macro_f1" or len(found.classes) > 2):
            yield name, one.reported()


def _of_probabilities(
    is_good: NDArray[np.bool_],
    probability: NDArray[np.float64],
    sources: list[object],
    rng: np.random.Generator,
    confidence: float,
) -> dict[str, Estimate]:
    """Return both areas under curves and the Brier score; nothing without probabilities."""
    if np.isnan(probability).all():
        return {}
    errors = probability_errors(
        np.column_stack([1 - probability, probability]),
        is_good.astype(float),
        sources=sources,
        levels=[0, 1],
        confidence=confidence,
    )
    curves = verdict_curves(
        is_good.tolist(),
        probability,
        sources,
        positive=True,
        classes=(False, True),
        confidence=confidence,
        seed=rng,
    )
    # Of two levels the ranked error is the squared distance of the probability from 0 or 1.
    return {
        "auc": curves.area.reported(),
        "average_precision": curves.average_precision.reported(),
        "brier": errors.ranked.reported(),
    }


def _why_useless(passes: NDArray[np.bool_], scale: Scale) -> str | None:
    """Return that a judge says one thing of all rows; None where it does not."""
    if not len(passes) or 0 < int(np.sum(passes)) < len(passes):
        return None
    what = f"labels every response {scale.positive!r}"
    if not passes[0]:
        what = f"labels no response {scale.positive!r}"
    return f"it {what}: such a judge is useless"


def _error(
    judged: JudgedRows,
    dataset: DataSet,
    targets: Targets,
    row: int,
    guidelines: WordIndex,
    human: str,
    judge: str,
    probability: float,
) -> LabelError:
    """Return a rated row that judge and people label otherwise, with the words of both."""
    place, judgement, name = int(targets.rated[row]), judged.judgements[row], targets.name
    item, scale = dataset[place], targets.scale
    raters = tuple(
        RaterWords(label=scale.labels[int(points - scale.low)], rationale=words, name=who)
        for points, words, who in zip(
            item.human.get(name, ()),
            itertools.chain(item.rationale.get(name, ()), itertools.repeat(None)),
            itertools.chain(item.raters.get(name, ()), itertools.repeat(None)),
            strict=False,
        )
    )
    said = " ".join(one.rationale for one in raters if one.rationale) or judgement.explanation
    likeness = guidelines.likeness(said)
    closest = int(np.argmax(likeness)) if likeness.max(initial=0.0) >= LEAST_LIKENESS else None
    return LabelError(
        row=place,
        source_id=item.source_id,
        system_id=item.system_id,
        source=item.source,
        response=item.response,
        human=human,
        raters=raters,
        judge=judge,
        probability=probability,
        explanation=judgement.explanation,
        criterion=_decisive(item, judgement, name),
        guideline="" if closest is None else judged.guidelines[closest],
    )


def _decisive(item: RatedItem, judgement: Judgement, target: str) -> str:
    """Return the criterion that an error is about, empty where it is not said."""
    for name, scale in item.scale.items():
        given = item.human.get(name, ()) if name != target and scale.is_verdict else ()
        if given and all(one != scale.read(scale.positive) for one in given):
            return name
    scored = {k: one.score for k, one in judgement.criteria.items() if one.score is not None}
    return min(scored, key=lambda name: scored[name]) if len(scored) > 1 else ""


def _in_groups(
    errors: Sequence[LabelError], scale: Scale
) -> tuple[tuple[LabelError, ...], tuple[LabelError, ...], tuple[MistakeGroup, ...]]:
    """Return false passes and false fails by criterion and guideline, the commonest first."""
    counts = Counter((one.criterion, one.guideline) for one in errors)
    order = {about: place for place, (about, _) in enumerate(counts.most_common())}
    ordered = sorted(errors, key=lambda one: order[one.criterion, one.guideline])
    passes = tuple(one for one in ordered if one.judge == scale.positive)
    n_passes = Counter((one.criterion, one.guideline) for one in passes)
    groups = tuple(
        MistakeGroup(
            criterion=about[0],
            guideline=about[1],
            false_passes=n_passes[about],
            false_fails=counts[about] - n_passes[about],
        )
        for about in order
        if any(about)
    )
    return passes, tuple(one for one in ordered if one.judge != scale.positive), groups


def mistake_rows(found: Iterable[MistakeGroup | Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each criterion or guideline: its name, false passes and false fails."""
    plain = [one if isinstance(one, Mapping) else one.to_dict() for one in found]
    return [
        [
            ": ".join(filter(None, (one["criterion"], one["guideline"]))),
            str(one["false_passes"]),
            str(one["false_fails"]),
        ]
        for one in plain
    ]


def rates_line(found: LabelAgreement, rows: str = "test rows") -> str:
    """Return the share of bad answers that a judge stops, and of good ones that it passes."""
    tnr, tpr = (SavedEstimate.model_validate(one.to_dict()) for one in (found.tnr, found.tpr))
    scale = Scale.of_labels(*found.labels, positive=found.positive)
    return rates_text(tnr, tpr, scale, n_negative=found.n_negative, n_rows=found.n_rows, rows=rows)
