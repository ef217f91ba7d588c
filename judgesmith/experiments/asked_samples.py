"""A saved judge asked for its answers one by one, on a scale of our choice where it can."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.by_criterion import judged_criteria
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.optimizers.predictions import on_criterion
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, with_sampling
from judgesmith.programs.families.samples_apart import judged_samples
from judgesmith.programs.judging.runner import judge_items
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.judgement import Cause, Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import dspy


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
        raise InputError(
            "a judge that holds others combines what each of them answers.",
            hint="leave --samples out to take it as it was saved.",
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
