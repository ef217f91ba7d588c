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
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale


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
    """Return what a file says of each text on a criterion; None where it says nothing.

    Parameters
    ----------
    scores : Scores
        As they were read.
    criterion : str
        What people rated.
    answers : Scale or None
        What the scores are points of, where that is known.
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
