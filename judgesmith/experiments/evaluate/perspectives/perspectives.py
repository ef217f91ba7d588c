"""Two questions to a judge, asked now or cached: the right rating, and near neighbours in order.

Both are asked on any rated set, of texts whose rating is beyond doubt, and on built benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.data.items import DataSet, check_dataset
from judgesmith.data.score_files import PairedAnswers, Scores, recorded_among
from judgesmith.data.scores import names_in, placed_rows
from judgesmith.data.targets import meant_by, nobody_rated
from judgesmith.errors import InputError
from judgesmith.experiments.evaluate.agreement import judged_criteria
from judgesmith.experiments.evaluate.perspectives.ratings import (
    RightLevels,
    SampledScores,
    builders,
    on_levels_of,
    provenance_of,
    right_levels,
)
from judgesmith.experiments.evaluate.perspectives.report import (
    NOT_SCORED,
    Perspective,
    PerspectiveReport,
    built_by_itself,
    none_kept,
    perspective_report,
)
from judgesmith.experiments.scoring.estimates import RunEstimate, estimate_judging
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.optimizers.predictions import on_criterion
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, with_sampling
from judgesmith.programs.families.samples_apart import judged_samples
from judgesmith.programs.judging.runner import judges_sources, score_batch
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.judgement import Cause, Judgement, Reason
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import dspy


def asked_on(saved: AnySaved, answers: Scale, temperature: float) -> tuple[Any, str | None]:
    """Return a saved judge that takes one sample, and answers on another scale where it can."""
    if not isinstance(saved, SavedJudge):
        raise InputError(
            "a judge that holds others combines what each of them answers.",
            hint="leave --samples out to use the saved setting.",
        )
    own = saved.protocol
    stated: dict[str, Any] = {"samples": 1, "temperature": temperature, "weighting": "none"}
    if own.answers == answers:
        return sampled_once(saved, temperature), None
    try:
        protocol = own.decided({**stated, "answers": answers})
    except ValueError:
        return sampled_once(saved, temperature), _why_not_on(own, stated)
    return saved.program().with_protocol(protocol), None


def _why_not_on(own: JudgeConfig, stated: Mapping[str, Any]) -> str:
    """Return why a judge cannot be asked on another scale: all else is as ``stated``."""
    try:
        own.decided(stated)
    except ValueError as fault:
        return str(fault)
    return f"{own.judge} answers on {own.answers} whatever is asked for"


def sampled_once(saved: SavedJudge, temperature: float) -> SavedJudge:
    """Return a saved judge that takes one sample and counts what it states, as far as it can."""
    once = with_sampling(saved, samples=1, temperature=temperature)
    assert isinstance(once, SavedJudge)
    try:
        protocol = once.protocol.decided({"weighting": "none"})
    except ValueError:  # it is what it is by its probabilities
        return once
    return once.model_copy(update={"protocol": protocol})


def judged(
    judge: Any,
    dataset: DataSet,
    places: Sequence[int],
    n_samples: int | None,
    *,
    lm: dspy.LM | None,
    concurrency: int,
    on_progress: OnProgress | None,
) -> dict[int, tuple[Judgement, ...]]:
    """Return the judgements of the texts at ``places``: one each, or several samples."""
    items = [dataset[place] for place in places]
    more: Mapping[str, Any] = {"lm": lm, "concurrency": concurrency, "on_progress": on_progress}
    if n_samples is None:
        once = score_batch(judge, items, **more)
        found: list[tuple[Judgement, ...]] = [(one,) for one in once]
    else:
        found = judged_samples(judge, items, n_samples, **more)
    return dict(zip(places, found, strict=True))


def scores_of_judge(
    found: Mapping[int, tuple[Judgement, ...]],
    n_items: int,
    criterion: str,
    *,
    own: str | None,
    scale: Scale,
    alone: bool,
) -> SampledScores | None:
    """Return what a judge said of each text on a criterion; None where it scores it nowhere."""
    whole = own is not None and folded(own) == folded(criterion)
    every = [one for several in found.values() for one in several]
    by_name = not whole and folded(criterion) in judged_criteria(every)
    if not (whole or by_name or alone):
        return None
    answers: list[Sequence[float]] = []
    problems: list[Cause | None] = []
    for place in range(n_items):
        several: Sequence[Judgement] = found.get(place, ())
        if by_name:
            several = on_criterion(several, criterion)
        answers.append([np.nan if one.score is None else one.score for one in several])
        problems.append(next((one.cause for one in several if one.cause), None))
    if by_name:
        return SampledScores.of(answers, problems, PERCENT)
    # A learned score may lie beyond its scale, and says something all the same.
    return replace(SampledScores.of(answers, problems, None), scale=scale, about=own)


def recorded_by_criterion(
    path: str | Path, dataset: DataSet, *, judge: str | None = None, criterion: str | None = None
) -> dict[str, Scores]:
    """Return the scores in a file by the data's criterion that they are on.

    One that names no criterion is under the empty name. With ``criterion`` there is that one alone.

    Parameters
    ----------
    path, dataset, judge
        As for ``read_scores``.
    criterion : str or None
        The recorded criterion that is read alone, whatever it is called in the data.

    Returns
    -------
    dict of str to Scores
        By the name that the data have for the criterion.

    Raises
    ------
    DataError, FileNotFoundError
        As for ``read_scores``.
    ValueError
        If they are on no criterion that people rated, or are comparisons.
    """
    name, rows = placed_rows(path)
    ours = [one for one in rows if judge is None or one[1].get("judge") == judge]
    known = names_in(ours, "criterion")
    wanted: dict[str, str | None] = {}
    if criterion is not None or not known:
        wanted = {"": criterion}
    else:
        for own in dataset.criteria:
            recorded = meant_by(own, known)
            if recorded is not None:
                wanted[own] = recorded
    if not wanted:
        raise InputError(
            f"{name} has scores on {', '.join(known)}, and the data has ratings of "
            f"{', '.join(dataset.criteria)}.",
            hint="say which go together: --criterion NAME --target NAME.",
        )
    found = {}
    for own, recorded in wanted.items():
        scores = recorded_among(
            rows, dataset, judge=judge, criterion=recorded, name=name, hint=f"{path}:NAME"
        )
        if isinstance(scores, PairedAnswers):
            raise InputError(
                f"{name} holds comparisons of two texts, such as {scores.example}, and a "
                "perspective is one of scores.",
                hint="leave --perspective out to see how well they agree.",
            )
        found[own] = scores
    return found


def scores_on_file(
    scores: Scores, criterion: str, *, answers: Scale | None, alone: bool
) -> SampledScores | None:
    """Return what a file says of each text on a criterion; None where it says nothing."""
    if scores.criteria:
        whole = scores.target is not None and folded(scores.target) == folded(criterion)
        own = None if whole else _named(scores.criteria, criterion)
        if own is not None:
            found = [one.get(own) for one in scores.criteria]
            points = [[np.nan if one is None or one.score is None else one.score] for one in found]
            reasons = [
                problem
                or (
                    Cause(Reason.UNREADABLE, one.explanation)
                    if one is not None and one.explanation
                    else None
                )
                for problem, one in zip(scores.problems, found, strict=True)
            ]
            return SampledScores.of(points, reasons, PERCENT)
        if not (whole or alone):
            return None
    elif scores.criterion is None and not alone:
        return None
    return SampledScores.of(scores.samples, scores.problems, answers)


def _named(criteria: Sequence[Mapping[str, Any]], criterion: str) -> str | None:
    names = {folded(name): name for one in criteria for name in one}
    return names.get(folded(criterion))


ONE_TO_TEN = Scale(low=1, high=10, kind="integer")
"""What a judge answers on in the local perspective: finer steps than that add little."""

TEMPERATURE = 1.0
"""Of the samples: their spread is the judge's own doubt."""


@shows_progress
def perspective_of_judge(
    judge: AnySaved,
    dataset: DataSet,
    *,
    perspective: Perspective,
    target: str | None = None,
    aggregate: Aggregate | None = None,
    samples: int | None = None,
    answers: Scale | None = None,
    lm: dspy.LM | None = None,
    models: Sequence[str] = (),
    seed: Seed = 0,
    label: str = "judge",
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> PerspectiveReport:
    """Judge every text whose rating is beyond doubt, and report one perspective.

    Parameters
    ----------
    judge : saved judge
        Its score counts on the criterion that it was compiled for, its scores on criteria on
        those of their names.
    dataset : DataSet
        Rated items, or a built benchmark. Texts that the judge was made from are left out, as
        long as there are others.
    perspective : {"global", "local"}
        The right rating, or the order of near neighbours.
    target : str or None
        A criterion; None takes all that people rated and the judge scores.
    aggregate : {"mean", "median", "mode", "unanimous"} or None
        As for ``right_levels``.
    samples : int or None
        Answers to each question, at temperature 1; None takes the judge as saved.
    answers : Scale or None
        What they are given on; None is the scale of the ratings (global), or 1 to 10 (local).
    lm, concurrency, on_progress, progress
        As for ``score_batch``.
    models : sequence of str
        Names of the models that are asked, beside those the judge was compiled with.
    seed : int or numpy.random.Generator
        Draws the intervals.
    label : str
        What the judge is called in the report.

    Raises
    ------
    ValueError
        If the judge scores nothing that people rated, or no criterion has a report.
    """
    rng = generator(seed)
    plan = _planned(judge, dataset, perspective, target, aggregate, samples, answers)
    notes, left_out = dict(plan.notes), dict(plan.left_out)
    found: dict[str, SampledScores] = {}
    for asked, places, several in plan.asked:
        judgements = judged(
            asked,
            plan.dataset,
            places,
            samples,
            lm=lm,
            concurrency=concurrency,
            on_progress=on_progress,
        )
        for name in several:
            scores = scores_of_judge(
                judgements,
                len(plan.dataset),
                name,
                own=judge.target,
                scale=judge.scale,
                alone=plan.alone,
            )
            if scores is None:
                left_out[name] = NOT_SCORED
                continue
            found[name] = scores
            if scores.about is not None and folded(scores.about) != folded(name):
                notes[f"its score is for {scores.about}, and compared with {name}."] = None
    if not found and not plan.refused:
        raise no_text_scored(plan.dataset)
    built = builders(plan.dataset)
    notes |= dict.fromkeys(built_by_itself(built, {*judge.models, *models}))
    out = {**left_out, **plan.refused}
    return perspective_report(
        label, perspective, plan.dataset, plan.right, found, out, list(notes), rng
    )


def perspective_estimate(
    judge: AnySaved,
    dataset: DataSet,
    lms: Mapping[str, dspy.LM],
    lm: dspy.LM,
    *,
    perspective: Perspective,
    target: str | None = None,
    aggregate: Aggregate | None = None,
    samples: int | None = None,
    answers: Scale | None = None,
) -> RunEstimate:
    plan = _planned(judge, dataset, perspective, target, aggregate, samples, answers)
    items = [plan.dataset[place] for _, places, _ in plan.asked for place in places]
    once = judge
    if samples is not None:
        assert isinstance(judge, SavedJudge)
        once = sampled_once(judge, TEMPERATURE)
    return estimate_judging([once], items, lms, lm, often=samples or 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Planned:
    """What a perspective asks: of ``dataset``, each judge about its places, for some criteria."""

    dataset: DataSet
    right: dict[str, RightLevels]
    asked: list[tuple[Any, list[int], list[str]]]
    left_out: dict[str, str]
    refused: dict[str, str]
    notes: dict[str, None]
    alone: bool


def _planned(
    judge: AnySaved,
    dataset: DataSet,
    perspective: Perspective,
    target: str | None,
    aggregate: Aggregate | None,
    samples: int | None,
    answers: Scale | None,
) -> _Planned:
    check_dataset(dataset)
    ranks = judges_sources(judge)
    if ranks and perspective == "global":
        raise InputError(
            "scores of a judge that compares are ranks within a source, and no ratings.",
            hint="take the local perspective.",
        )
    names, alone = criteria_of_target(dataset, target)
    dataset, notes = _unseen(dataset, judge)
    left_out = {one: _ALL_SEEN for one in names if one not in dataset.criteria}
    if isinstance(judge, SavedJudge) and not alone:
        known = {folded(one) for one in (judge.target, *judge.protocol.scored_criteria)}
        left_out |= {one: NOT_SCORED for one in names if folded(one) not in known}
    names = [one for one in names if one not in left_out]
    if not names and set(left_out.values()) == {NOT_SCORED}:
        raise no_text_scored(dataset)
    if not names:
        raise InputError(
            f"{_ALL_SEEN}.", at=", ".join(left_out), hint="give ratings of other texts."
        )
    right, refused = _right(dataset, names, aggregate, perspective)
    for name in [one for one in right if not right[one].kept.size]:
        refused[name] = none_kept(right.pop(name))
    if not right and refused:
        raise InputError(next(iter(refused.values())))
    several_asked: list[tuple[Any, list[int], list[str]]] = []
    for scale, several in _by_answers(right, perspective, answers, samples).items():
        asked: Any = judge
        if scale is not None:
            asked, why = asked_on(judge, scale, TEMPERATURE)
            if why is not None:
                notes[f"samples are not on {scale}: {why}."] = None
        places = sorted({place for name in several for place in right[name].kept.tolist()})
        several_asked.append((asked, places, list(several)))
    return _Planned(
        dataset=dataset,
        right=right,
        asked=several_asked,
        left_out=left_out,
        refused=refused,
        notes=notes,
        alone=alone,
    )


def perspective_of_scores(
    scores: Mapping[str, Scores],
    dataset: DataSet,
    *,
    perspective: Perspective,
    target: str | None = None,
    aggregate: Aggregate | None = None,
    answers: Scale | Mapping[str, Scale] | None = None,
    seed: Seed = 0,
) -> PerspectiveReport:
    """Report one perspective of scores that are already there.

    Parameters
    ----------
    scores : dict of str to Scores
        By the criterion they are on, as ``recorded_by_criterion`` reads them; under the empty name
        those that may be on any.
    answers : Scale, dict of str to Scale, or None
        What they are points of, on all criteria or by criterion. Without it they are no ratings
        (global), and every score counts (local).
    dataset, perspective, target, aggregate, seed
        As for ``perspective_of_judge``.

    Raises
    ------
    ValueError
        As for ``perspective_of_judge``.
    """
    rng = generator(seed)
    check_dataset(dataset)
    whole = scores.get("")
    recorded = whole.criterion if whole is not None else None
    if target is None and recorded is not None and meant_by(recorded, dataset.criteria):
        target = recorded
    names, alone = criteria_of_target(dataset, target)
    if whole is None and target is None:
        names = [one for one in names if one in scores]
    right, left_out = _right(dataset, names, aggregate, perspective)
    found: dict[str, SampledScores] = {}
    by_name = answers if isinstance(answers, Mapping) else dict.fromkeys(right, answers)
    for name in right:
        of_name = scores.get(name, whole)
        scored = None
        if of_name is not None:
            scored = scores_on_file(
                of_name, name, answers=by_name.get(name), alone=alone or name in scores
            )
        if scored is None:
            left_out[name] = NOT_SCORED
        else:
            found[name] = scored
    if not found and not right:
        raise InputError("; ".join(left_out.values()))
    if not found:
        raise no_text_scored(dataset)
    label = next(iter(scores.values())).label
    notes = []
    if builders(dataset):
        notes.append("scores on file do not say whether their judge built this benchmark, too.")
    return perspective_report(label, perspective, dataset, right, found, left_out, notes, rng)


_ALL_SEEN = "the judge was made from all texts that are rated on it"


def no_text_scored(dataset: DataSet) -> InputError:
    """Return the error that a judge has no score on any criterion of a set."""
    return InputError(
        f"the judge scores none of {', '.join(dataset.criteria)} by itself.",
        hint="say which its score is to be compared with: --target NAME.",
    )


def criteria_of_target(dataset: DataSet, target: str | None) -> tuple[list[str], bool]:
    """Return the criteria that are asked for, and whether the judge's score is taken as theirs."""
    if not dataset.criteria:
        raise InputError(
            f"{dataset.name} has no ratings to agree with; its {len(dataset)} items are unrated.",
            hint="say --map score=COLUMN if a column holds ratings.",
        )
    if target is None:
        return list(dataset.criteria), len(dataset.criteria) == 1
    found = meant_by(target, dataset.criteria)
    if found is None:
        raise nobody_rated([target], dataset, dataset.criteria)
    return [found], True


def _unseen(dataset: DataSet, judge: AnySaved) -> tuple[DataSet, dict[str, None]]:
    """Return the texts whose rating the judge was not made from, and a note if there are others."""
    seen = np.asarray([item.key in judge.seen_keys for item in dataset], dtype=bool)
    if not seen.any():
        return dataset, {}
    if seen.all():
        return dataset, {"the judge was made from all of these texts, which flatters it.": None}
    built = np.asarray([bool(provenance_of(item)) for item in dataset], dtype=bool)
    left_out = seen & ~built
    notes: dict[str, None] = {}
    if left_out.any():
        who = "those that the judge was made from"
        notes[f"{left_out.sum()} of {len(dataset)} texts, {who}, are left out."] = None
    if (seen & built).any():
        known = f"{(seen & built).sum()} of {len(dataset)} texts"
        notes[f"the judge was made from {known}, which were rated otherwise there."] = None
    return dataset.subset(np.flatnonzero(~left_out).tolist()), notes


def _right(
    dataset: DataSet, names: Sequence[str], aggregate: Aggregate | None, perspective: Perspective
) -> tuple[dict[str, RightLevels], dict[str, str]]:
    """Return the right levels by criterion, and why criteria have none."""
    right, refused = {}, {}
    for name in names:
        try:
            found = right_levels(dataset, name, aggregate)
            if perspective == "global":
                on_levels_of(found)
            right[name] = found
        except ValueError as fault:
            refused[name] = str(fault)
    return right, refused


def _by_answers(
    right: Mapping[str, RightLevels],
    perspective: Perspective,
    answers: Scale | None,
    samples: int | None,
) -> dict[Scale | None, list[str]]:
    """Return the criteria by what the judge is asked to answer on; None is its own way."""
    if samples is None:
        return {None: list(right)} if right else {}
    found: dict[Scale | None, list[str]] = {}
    for name, one in right.items():
        scale = answers or (ONE_TO_TEN if perspective == "local" else _plain(one.scale))
        found.setdefault(scale, []).append(name)
    return found


def _plain(scale: Scale) -> Scale:
    """Return the scale of ratings as one to answer on: named levels keep their names."""
    if scale.labels and scale.higher_is_better:
        return scale
    return Scale(low=scale.low, high=scale.high)
