"""What one compilation holds the judge's scores against: one target, or several criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.columns import OVERALL
from judgesmith.data.items import DataSet
from judgesmith.data.targets import MEAN, PLUS, Targets, criteria_behind, nobody_said, targets_of
from judgesmith.errors import InputError
from judgesmith.experiments.compile.settings import UNRATED, CompileSettings, is_unlabelled
from judgesmith.optimizers.predictions import SCORE
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenTargets:
    """What a judge should agree with people on."""

    whole: Targets
    compared: tuple[str, ...]
    criteria: Mapping[str, NDArray[np.float64]]  # as models are shown them, nan: unrated

    @property
    def is_rated(self) -> bool:
        """Whether the data has ratings; without them agreement is undefined."""
        return bool(len(self.whole.rated))

    @property
    def names(self) -> tuple[str, ...] | None:
        """The criteria that must be in the rubric, or None where any will do."""
        criteria = tuple(name for name in self.compared if name != SCORE)
        return criteria or None


def chosen_targets(dataset: DataSet, settings: CompileSettings) -> ChosenTargets:
    """Return what a judge of ``dataset`` should agree with."""
    if is_unlabelled(dataset, settings):
        return _unrated(dataset, settings)
    wanted = settings.target
    if not wanted and settings.criteria == "human":
        wanted = tuple(name for name in dataset.criteria if name != OVERALL)
        main = MEAN if wanted else "auto"
    elif len(wanted) > 1:
        main = ""
    else:
        main, wanted = (*wanted, "auto")[0], ()
    compared, whole = _compared(dataset, wanted)
    if criteria := [name for name in compared if name != SCORE]:
        _refuse_other_criteria(settings, criteria)
    return ChosenTargets(
        whole=targets_of(dataset, main or whole, settings.aggregate),
        compared=compared or (SCORE,),
        criteria=_percent(dataset, settings),
    )


def _unrated(dataset: DataSet, settings: CompileSettings) -> ChosenTargets:
    """Return the targets of a judge that is made without ratings."""
    protocol = settings.protocol
    known = {folded(name): name for name in protocol.scored_criteria}
    unknown = [name for name in settings.target if folded(name) not in known]
    if unknown:
        raise InputError(
            f"the judge gives no score on {', '.join(unknown)}, and {dataset.name} has no ratings.",
            hint=f"name criteria that it scores ({', '.join(known.values()) or 'none'}), "
            "or no target.",
        )
    return ChosenTargets(
        whole=nobody_said(len(dataset), name=UNRATED, scale=PERCENT),
        compared=tuple(known[folded(name)] for name in settings.target) or (SCORE,),
        criteria={},
    )


def _refuse_other_criteria(settings: CompileSettings, criteria: list[str]) -> None:
    """Refuse several targets for a judge that would give no scores on them."""
    protocol = settings.protocol
    if not protocol.scores_criteria:
        kind, other = f"{protocol.judge} judge", "one that scores criteria"
        if isinstance(protocol, ActiveCriticConfig):
            kind, other = f"{protocol.variant} variant", "the fine variant"
        raise InputError(
            f"several targets need a score on each criterion, and the {kind} gives one on the "
            "whole.",
            hint=f"use {other}, or name one target.",
        )
    if settings.criteria_from == "human":
        return
    known = {folded(name) for name in settings.protocol.rubric.names}
    missing = [name for name in criteria if folded(name) not in known]
    if settings.criteria_from == "inferred" or missing:
        raise InputError(
            f"the judge would score other criteria than {', '.join(missing or criteria)}; several "
            "targets need the rated criteria (--criteria human), which a rubric may "
            "define."
        )


def _compared(dataset: DataSet, wanted: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return what the objective is averaged over, and what the whole is held against."""
    compared: list[str] = []
    wholes: list[str] = []
    for one in wanted:
        name, behind = criteria_behind(dataset, one)
        if name in (OVERALL, MEAN):
            wholes.append(name)
            compared.append(SCORE)
        elif len(behind) > 1:
            raise InputError(
                f"of several targets each is overall, mean, or a single criterion; got {one!r}."
            )
        else:
            compared.append(name)
    if len(set(compared)) < len(compared):
        raise InputError(
            f"of several targets each is named once, and one of overall and mean; got "
            f"{', '.join(wanted)}."
        )
    criteria = [name for name in compared if name != SCORE]
    return tuple(compared), wholes[0] if wholes else PLUS.join(criteria)


def _percent(dataset: DataSet, settings: CompileSettings) -> dict[str, NDArray[np.float64]]:
    found = {}
    for name in dataset.criteria:
        try:
            rated = targets_of(dataset, name, settings.aggregate)
            found[name] = shown_points(rated, percent_of_max=settings.percent_of_max)
        except ValueError:
            continue  # a constant is nothing to agree with, nor what no model can be shown
    return found


def shown_points(targets: Targets, *, percent_of_max: bool) -> NDArray[np.float64]:
    """Return what people said on 0 to 100, as a model is shown it; nan for unrated items."""
    if percent_of_max:
        points = [targets.scale.percent_of_max(value) for value in targets.values]
        return np.asarray(points, dtype=float)
    return 100 * targets.fractions
