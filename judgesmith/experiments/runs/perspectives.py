"""Both perspectives of the scores of a cell: the right rating, and the order of near neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.perspectives import perspective_of_scores
from judgesmith.experiments.ratings import Aggregate
from judgesmith.experiments.runs.heldout import Places
from judgesmith.experiments.score_files import Scores
from judgesmith.experiments.specs.settings import said_plainly
from judgesmith.experiments.targets import Targets
from judgesmith.signatures import Judgement, Scale


def perspectives_held_out(
    names: Sequence[str],
    dataset: DataSet,
    targets: Targets,
    places: Places,
    judged: Sequence[Judgement],
    *,
    scale: Scale | None,
    aggregate: Aggregate | None,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Return what either perspective tells of the rows held out, by its name, ready for JSON.

    Parameters
    ----------
    names : sequence of {"global", "local"}
        Which are wanted.
    dataset, targets
        Rated items, and which ratings count.
    places : array of int
        Where the rows held out stand.
    judged : sequence of Judgement
        What the judge said of them.
    scale : Scale or None
        What its scores are points of; None goes by what they look like.
    aggregate : {"mean", "median", "mode", "unanimous"} or None
        How several ratings become the right one; None takes texts whose raters agree.
    seed : int
        Of the intervals.

    Returns
    -------
    dict of str to dict
        As ``evaluate --perspective --json`` has it, or why there is nothing to tell, under
        ``problem``.

    Examples
    --------
    >>> from judgesmith.experiments import read_items
    >>> from judgesmith.experiments.targets import targets_of
    >>> data, places = read_items("sample"), np.arange(40)
    >>> judged = [Judgement(score=float(place % 5 + 1)) for place in places]
    >>> found = perspectives_held_out(
    ...     ["local"], data, targets_of(data, "mean"), places, judged,
    ...     scale=None, aggregate=None, seed=0,
    ... )
    >>> found["local"]["problem"].partition(";")[0]
    "nobody rated 'mean' in answers"
    """
    subset = dataset.subset(places.tolist())
    values = np.asarray([np.nan if one.score is None else one.score for one in judged], float)
    scores = Scores(
        values=values,
        problems=tuple(one.cause for one in judged),
        label="judge",
        criterion=None,
        n_unused=0,
        samples=tuple((float(value),) for value in values),
    )
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        try:
            report = perspective_of_scores(
                {"": scores},
                subset,
                perspective="global" if name == "global" else "local",
                target=targets.name,
                aggregate=aggregate,
                answers=scale,
                rng=np.random.default_rng([seed, 12]),
            )
        except ValueError as fault:
            found[name] = {"perspective": name, "problem": said_plainly(fault)}
        else:
            found[name] = report.to_dict()
    return found
