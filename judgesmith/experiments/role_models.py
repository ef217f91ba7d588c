"""Whether the models of a compilation's roles are those that its settings and family speak of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.experiments.settings import CompileSettings
from judgesmith.programs.judging.registry import check_roles, family_of

if TYPE_CHECKING:
    import dspy


def check_role_models(settings: CompileSettings, roles: Mapping[str, dspy.LM]) -> None:
    """Refuse roles that the judge's family lacks, and models that the settings do not name.

    Raises
    ------
    ValueError
        If there are such, or the objective minds dollars, which are reckoned at one model's price.
    """
    check_roles(family_of(settings.protocol.judge), settings.roles)
    if set(roles) != set(settings.roles):
        raise InputError(
            f"the roles with a model are those of the settings "
            f"({', '.join(settings.roles) or 'none'}); got {', '.join(roles) or 'none'}."
        )
    objective = settings.aims
    if roles and "usd" in objective.needs:
        raise InputError(
            f"what judgements cost ({objective}) is reckoned at the price of one model, and "
            f"{', '.join(roles)} has another.",
            hint="leave usd out of the objective, or the role.",
        )
