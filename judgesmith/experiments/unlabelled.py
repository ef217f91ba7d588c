"""Compiling from texts that nobody rated: what that leaves of the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.settings import CompileSettings

UNRATED = "auto"
"""The target of a judge that was made without ratings: whatever people come to rate."""


def is_unlabelled(dataset: DataSet, settings: CompileSettings) -> bool:
    """Say whether a judge is made of these texts without any rating.

    That is so where nobody rated them, and the objective looks at changed versions of texts and
    at nothing that people said.
    """
    if dataset.criteria or not settings.minds_versions:
        return False
    return not settings.aims.rated_terms


def without_equal_ratings(dataset: DataSet, settings: CompileSettings) -> DataSet:
    """Return rows as unrated ones, where all ratings are equal and the objective takes none.

    Rows come back as they are where ratings differ, or a target, people's criteria or those
    inferred from ratings are asked for: then equal ratings are a fault that is told.

    Examples
    --------
    >>> from judgesmith.signatures import RatedItem, Scale
    >>> one = RatedItem(response="a", human={"wit": (3,)}, scale={"wit": Scale(low=1, high=5)})
    >>> rated = DataSet(name="toy", items=(one, one))
    >>> without_equal_ratings(rated, CompileSettings(objective="d_min")).criteria
    ()
    >>> without_equal_ratings(rated, CompileSettings()).criteria
    ('wit',)
    """
    asked = bool(settings.target) or settings.criteria in ("inferred", "human")
    if asked or not settings.minds_versions or not dataset.criteria:
        return dataset
    if settings.aims.rated_terms:
        return dataset
    ratings: dict[str, set[float]] = {}
    for item in dataset:
        for name, given in item.human.items():
            ratings.setdefault(name, set()).update(given)
    if any(len(values) > 1 for values in ratings.values()):
        return dataset
    note = (
        f"all ratings in {dataset.name} are equal, and {settings.aims} takes none: they were "
        "left out, and a judge is made as of texts that nobody rated."
    )
    items = tuple(one.model_copy(update={"human": {}, "scale": {}}) for one in dataset)
    return replace(dataset, items=items, notes=(*dataset.notes, note))


def settings_without_labels(dataset: DataSet, settings: CompileSettings) -> CompileSettings:
    """Return the settings for texts that nobody rated; for others they stay as they are.

    Nothing that is learned from ratings is left: no demonstrations, no inferred criteria, no
    weights. What can be searched is the protocol.

    Raises
    ------
    ValueError
        If nobody rated the texts and the objective, or the criteria, need ratings all the same.

    Examples
    --------
    >>> from judgesmith.signatures import RatedItem
    >>> texts = DataSet(name="toy", items=(RatedItem(response="one text"),))
    >>> found = settings_without_labels(texts, CompileSettings(objective="d_min"))
    >>> found.optimizer, found.n_demonstrations, found.learn_weights, found.criteria
    ('protocol', 0, False, 'given')
    """
    if dataset.criteria or not settings.minds_versions:
        return settings
    if terms := settings.aims.rated_terms:
        raise InputError(
            f"the objective compares scores with people's ({', '.join(dict.fromkeys(terms))}), and "
            f"{dataset.name} has no ratings.",
            hint="leave that out, as d_min and d_avg need none, or say "
            "--map score=COLUMN if a column holds ratings.",
        )
    if settings.criteria in ("inferred", "human"):
        raise InputError(
            f"nobody rated {dataset.name}, so that no criteria can be inferred from ratings or "
            "taken from people.",
            hint="give a rubric, or leave it to the general one.",
        )
    update: dict[str, Any] = {
        "criteria": "given",
        "learn_weights": False,
        "n_demonstrations": 0,
        "partial_demos": False,
    }
    if settings.optimizer == "random":  # which searches demonstrations
        update["optimizer"] = "protocol"
    if settings.earlier:
        update["target"] = ()
    return settings.model_copy(update=update)
