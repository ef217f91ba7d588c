"""Compiling from texts that nobody rated: what that leaves of the settings."""

from __future__ import annotations

from typing import Any

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers.grammar import parse_objectives
from judgesmith.optimizers.several_objectives import rated_terms

UNRATED = "auto"
"""The target of a judge that was made without ratings: whatever people come to rate."""


def is_unlabelled(dataset: DataSet, settings: CompileSettings) -> bool:
    """Say whether a judge is made of these texts without any rating.

    That is so where nobody rated them, and the objective looks at changed versions of texts and
    at nothing that people said.
    """
    if dataset.criteria or not settings.minds_versions:
        return False
    return not rated_terms(parse_objectives(settings.objective))


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
    if terms := rated_terms(parse_objectives(settings.objective)):
        raise ValueError(
            f"the objective compares scores with people's ({', '.join(dict.fromkeys(terms))}), and "
            f"{dataset.name} has no ratings; leave that out, as d_min and d_avg need none, or say "
            "--map score=COLUMN if a column holds ratings."
        )
    if settings.criteria in ("inferred", "human"):
        raise ValueError(
            f"nobody rated {dataset.name}, so that no criteria can be inferred from ratings or "
            "taken from people; give a rubric, or leave it to the general one."
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
