"""Every answer of a recorded judge, by the criterion that it is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.experiments.recorded_pairs import PairedAnswers
from judgesmith.experiments.score_files import Scores, recorded_among
from judgesmith.experiments.score_matching import placed_rows
from judgesmith.experiments.score_rows import names_in
from judgesmith.experiments.targets import meant_by
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

NEARLY_ALL = 0.9
"""From this share of its answers on, a judge is taken to have answered so."""


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
            f"{name} has scores on {', '.join(known)}, and people rated "
            f"{', '.join(dataset.criteria)}; say which go together: --criterion NAME --target NAME."
        )
    found = {}
    for own, recorded in wanted.items():
        scores = recorded_among(
            rows, dataset, judge=judge, criterion=recorded, name=name, hint=f"{path}:NAME"
        )
        if isinstance(scores, PairedAnswers):
            raise InputError(
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


def _named(criteria: Sequence[Mapping[str, Any]], criterion: str) -> str | None:
    names = {folded(name): name for one in criteria for name in one}
    return names.get(folded(criterion))
