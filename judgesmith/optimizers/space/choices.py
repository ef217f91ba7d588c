"""The model as a choice of a search, and choices that a search does not make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.errors import InputError, did_you_mean
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.pareto import SeveralObjectives
from judgesmith.optimizers.space.demonstrations import NAMES, N
from judgesmith.programs.judging.choices import own_settings
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.rows import knows_costs
from judgesmith.signatures.config import ActiveCriticConfig, JudgeConfig
from judgesmith.signatures.space import Choice, Option, Space

if TYPE_CHECKING:
    import dspy


MODEL = "model"
"""The name of the choice; its options' ids are names of models."""


def with_models(space: Space, own: str, others: Iterable[str]) -> Space:
    """Return a space in which the model is chosen, first of all.

    Without others it stays as it is.
    """
    ids = (own, *others)
    if len(ids) == 1:
        return space
    choice = Choice(name=MODEL, options=tuple(Option(id=one) for one in ids))
    return Space(choices=(choice, *space.choices))


def check_models(
    lm: dspy.LM, models: Mapping[str, dspy.LM], objective: Objective | SeveralObjectives
) -> None:
    """Refuse models that cannot compete."""
    own = str(lm.model)
    if own in models:
        raise InputError(f"{own} competes with itself.", hint="name every model once.")
    if "usd" not in objective.needs:
        return
    for name, one in {own: lm, **models}.items():
        if not knows_costs(one):
            raise InputError(
                f"the objective {objective} needs to know what answers of {name} cost: that takes "
                "its price (--price IN,OUT) and a ledger.",
                hint="leave usd out, or give both.",
            )


def check_fixed(fixed: Sequence[str], protocol: JudgeConfig, more: Iterable[str] = ()) -> None:
    """Refuse names of choices that no search has for such a judge."""
    kind = type(protocol)
    known = list(dict.fromkeys((*more, *_names(protocol))))
    known += [name for name in _names(kind.model_validate({})) if name not in known]
    own = list(known)
    if family_of(protocol.judge).has_demonstrations:
        own += NAMES
    # What is set and never searched stays as it is, too.
    known += [name for name in own_settings(protocol) if name not in known]
    known += [name for name in (*_names(ActiveCriticConfig()), *NAMES, MODEL) if name not in known]
    for name in fixed:
        if name not in known and str(name).partition(".")[0] not in protocol.by_criterion:
            raise InputError(
                f"fixed names choices of the search, and there is no {str(name)[:80]!r}.",
                hint=did_you_mean(name, known) or f"give some of {', '.join(own)}.",
            )


def _names(protocol: JudgeConfig) -> tuple[str, ...]:
    names: tuple[str, ...] = family_of(protocol.judge).judge_of(protocol).space().names
    return names


def without_fixed(space: Space, fixed: Sequence[str]) -> Space:
    """Return a space in which some choices are not made: there a judge stays as it is."""
    return space.without(*fixed, *(NAMES if N in fixed else ()))
