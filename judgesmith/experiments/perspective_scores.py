"""What a judge said of each text of a set on one criterion, answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.experiments.by_criterion import judged_criteria
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.recorded_pairs import PairedAnswers
from judgesmith.experiments.score_files import Scores, recorded_among
from judgesmith.experiments.score_matching import placed_rows
from judgesmith.experiments.score_rows import names_in
from judgesmith.experiments.targets import meant_by
from judgesmith.metrics.checks import FloatArray
from judgesmith.optimizers.table import on_criterion
from judgesmith.programs.running import judge_items
from judgesmith.programs.sampled_judge import with_sampling
from judgesmith.programs.samples_apart import judged_samples
from judgesmith.programs.saved import SavedJudge
from judgesmith.programs.saved_kinds import AnySaved
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import dspy

NEARLY_ALL = 0.9
"""From this share of its answers on, a judge is taken to have answered so."""

OUTSIDE = "no answer lies on the scale"
NOT_ASKED = "the text was not judged"


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledScores:
    """A judge's answers on one criterion.

    Attributes
    ----------
    values : array, shape (n_items, n_samples), in points of ``scale``
        nan where an answer could not be read or lies outside of the scale, in rows without any,
        and after the last answer of a row.
    n_samples : array of int, shape (n_items,)
        How many answers were asked for; 0 where the text was not judged.
    scale : Scale or None
        What the answers are points of, where that is known. More is better.
    problems : tuple of (str or None), length n_items
        Why a text has no answer.
    n_outside : int
        Answers left out because they lie outside of the scale.
    about : str or None
        What the judge says that they are about, where it is known.
    """

    values: FloatArray
    n_samples: np.ndarray
    scale: Scale | None
    problems: tuple[str | None, ...]
    n_outside: int = 0
    about: str | None = None

    @classmethod
    def of(
        cls,
        answers: Sequence[Sequence[float]],
        problems: Sequence[str | None],
        scale: Scale | None,
    ) -> SampledScores:
        """Return answers as a table, those outside of the scale left out.

        Examples
        --------
        >>> found = SampledScores.of([[4, 9], [5]], [None, None], Scale(low=1, high=5))
        >>> found.values.tolist(), found.n_samples.tolist(), found.n_outside
        ([[4.0, nan], [5.0, nan]], [2, 1], 1)
        """
        n_samples = np.asarray([len(one) for one in answers], dtype=int)
        values = np.full((len(answers), max(1, n_samples.max(initial=0))), np.nan)
        for row, given in zip(values, answers, strict=True):
            row[: len(given)] = given
        outside = np.zeros(values.shape, dtype=bool)
        if scale is not None:
            outside = (values < scale.low) | (values > scale.high)
            values = np.where(outside, np.nan, values)
        empty = [bool(row.all()) for row in np.isnan(values)]
        reasons = [
            (problem or (OUTSIDE if n else NOT_ASKED)) if none else None
            for problem, n, none in zip(problems, n_samples.tolist(), empty, strict=True)
        ]
        return cls(
            values=values,
            n_samples=n_samples,
            scale=scale,
            problems=tuple(reasons),
            n_outside=int(outside.sum()),
        )


def scale_of_answers(answers: Sequence[Sequence[float]], people: Scale) -> Scale | None:
    """Return the scale that answers on file seem to be on: people's, or 0 to 100, or nobody knows.

    People's, if all answers lie there; of whole points nearly all are enough, since a model that
    was asked for 1 to 3 says 8 now and then. 0 to 100, if all of them lie there.

    Examples
    --------
    >>> likert = Scale(low=1, high=5)
    >>> several = [1, 5], [1, 70], [-3.2], [*[4] * 9, 7], [*[4.5] * 9, 7]
    >>> [str(scale_of_answers([given], likert)) for given in several]
    ['1..5', '0..100', 'None', '1..5', '0..100']
    """
    flat = np.asarray([one for several in answers for one in several], dtype=float)
    flat = flat[~np.isnan(flat)]
    on_it = (people.low <= flat) & (flat <= people.high)
    points = flat.size and np.mean(flat == np.round(flat)) >= NEARLY_ALL
    if on_it.all() or (points and on_it.mean() >= NEARLY_ALL):
        return Scale(low=people.low, high=people.high)
    if np.all((flat >= PERCENT.low) & (flat <= PERCENT.high)):
        return PERCENT
    return None


def recorded_by_criterion(
    path: str | Path, dataset: DataSet, *, judge: str | None = None, criterion: str | None = None
) -> dict[str, Scores]:
    """Return the scores in a file by the data's criterion that they are on.

    One that names no criterion is under the empty name. With ``criterion`` there is that one alone.

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
        raise ValueError(
            f"{name} has scores on {', '.join(known)}, and people rated "
            f"{', '.join(dataset.criteria)}; say which go together: --criterion NAME --target NAME."
        )
    found = {}
    for own, recorded in wanted.items():
        scores = recorded_among(
            rows, dataset, judge=judge, criterion=recorded, name=name, hint=f"{path}:NAME"
        )
        if isinstance(scores, PairedAnswers):
            raise ValueError(
                f"{name} holds comparisons of two texts, such as {scores.example}, and a "
                "perspective is one of scores; leave --perspective out to see how well they agree."
            )
        found[own] = scores
    return found


def scores_on_file(
    scores: Scores, criterion: str, people: Scale, *, answers: Scale | None, alone: bool
) -> SampledScores | None:
    """Return what a file says of each text on a criterion; None where it says nothing.

    Parameters
    ----------
    scores : Scores
        As they were read.
    criterion : str
        What people rated.
    people : Scale
        What they rated it on.
    answers : Scale or None
        What the scores are points of; None goes by ``scale_of_answers``.
    alone : bool
        Whether scores that do not say what they are about are taken to be about this.
    """
    if scores.criteria:
        whole = scores.target is not None and folded(scores.target) == folded(criterion)
        own = None if whole else _named(scores.criteria, criterion)
        if own is not None:
            found = [one.get(own) for one in scores.criteria]
            points = [[np.nan if one is None or one.score is None else one.score] for one in found]
            reasons = [
                problem or (None if one is None else one.explanation or None)
                for problem, one in zip(scores.problems, found, strict=True)
            ]
            return SampledScores.of(points, reasons, PERCENT)
        if not (whole or alone):
            return None
    elif scores.criterion is None and not alone:
        return None
    scale = answers or scale_of_answers(scores.samples, people)
    return SampledScores.of(scores.samples, scores.problems, scale)


def asked_on(saved: AnySaved, answers: Scale, temperature: float) -> tuple[Any, str | None]:
    """Return a saved judge that takes one sample, and answers on another scale where it can.

    Parameters
    ----------
    saved : SavedJudge
        Not one that holds others, which answer each in its own way.
    answers : Scale
        What it is to answer on.
    temperature : float
        Of every call.

    Returns
    -------
    Judge or SavedJudge
        Whose questions are worded anew where another scale stands in them.
    str or None
        Why it answers on its own scale all the same.

    Raises
    ------
    ValueError
        If it is a judge that cannot be sampled.
    """
    if not isinstance(saved, SavedJudge):
        raise ValueError(
            "a judge that holds others combines what each of them answers; leave --samples out to "
            "take it as it was saved."
        )
    own = saved.protocol
    stated: dict[str, Any] = {"samples": 1, "temperature": temperature, "weighting": "none"}
    if own.answers == answers:
        return sampled_once(saved, temperature), None
    try:
        protocol = own.decided({**stated, "answers": answers})
    except ValueError as fault:
        own_scale = f"{own.judge} answers on {own.answers} whatever is asked for"
        reason = own_scale if "answer" in str(fault) else str(fault)
        return sampled_once(saved, temperature), reason
    return saved.program().with_protocol(protocol), None


def sampled_once(saved: SavedJudge, temperature: float) -> SavedJudge:
    """Return a saved judge that takes one sample and counts what it states, as far as it can.

    Its questions stay.
    """
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
    progress: Callable[[int], None] | None,
) -> dict[int, tuple[Judgement, ...]]:
    """Return the judgements of the texts at ``places``: one each, or several samples."""
    items = [dataset[place] for place in places]
    more: Mapping[str, Any] = {"lm": lm, "concurrency": concurrency, "progress": progress}
    if n_samples is None:
        once = judge_items(judge, items, **more)
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
    """Return what a judge said of each text on a criterion; None where it scores it nowhere.

    Parameters
    ----------
    found : dict of int to tuple of Judgement
        By the text's place.
    n_items : int
        How many texts the set has.
    criterion : str
        What people rated.
    own : str or None
        What the judge's score is about.
    scale : Scale
        What its score is points of.
    alone : bool
        Whether its score is taken where it has none of its own on the criterion.
    """
    whole = own is not None and folded(own) == folded(criterion)
    every = [one for several in found.values() for one in several]
    by_name = not whole and folded(criterion) in judged_criteria(every)
    if not (whole or by_name or alone):
        return None
    answers: list[Sequence[float]] = []
    problems: list[str | None] = []
    for place in range(n_items):
        several: Sequence[Judgement] = found.get(place, ())
        if by_name:
            several = on_criterion(several, criterion)
        answers.append([np.nan if one.score is None else one.score for one in several])
        problems.append(next((one.problem for one in several if one.problem), None))
    if by_name:
        return SampledScores.of(answers, problems, PERCENT)
    # A learned score may lie beyond its scale, and says something all the same.
    return replace(SampledScores.of(answers, problems, None), scale=scale, about=own)


def _named(criteria: Sequence[Mapping[str, Any]], criterion: str) -> str | None:
    names = {folded(name): name for one in criteria for name in one}
    return names.get(folded(criterion))
