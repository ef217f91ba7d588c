"""``--role``: models that do other work than judging, and all models of a run together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.model_options import (
    ModelAt,
    ModelChoice,
    allow_model_option,
    model_options,
)
from judgesmith.cli.shared.options import Command, together

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments import CompileSettings

ROLE = "--role"


def role_option(command: Command) -> Command:
    return click.option(
        ROLE,
        "roles",
        multiple=True,
        metavar="ROLE=MODEL",
        help="Separate model for one role, such as writer=provider/model; for a panel member or "
        "supervisor also NAME=MODEL@URL. Shares the budget. Repeatable.",
    )(command)


def asking_options(command: Command) -> Command:
    """Add the options of a command that asks a saved judge; it is given them as ``choice``."""
    return together(command, role_option, allow_model_option, model_options)


def roles_of(given: Sequence[str]) -> dict[str, str]:
    """Return what ``--role`` says: names of models by role."""
    roles = _named(given)
    with blaming(ROLE):
        for name in roles.values():
            _check_model(name)
    return roles


def models_by_part(given: Sequence[str]) -> dict[str, ModelAt]:
    """Return what ``--role`` says of the parts of a panel: models, perhaps with their addresses."""
    from judgesmith.programs.lm.factory import check_address

    with blaming(ROLE):
        found = {role: ModelAt.parse(name) for role, name in _named(given).items()}
        for one in found.values():
            _check_model(one.name)
            check_address(one.address, one.name)
    return found


def _check_model(name: str) -> None:
    from judgesmith.programs.lm import engine_for
    from judgesmith.programs.lm.factory import check_provider

    check_provider(name)
    engine_for(name)


def _named(given: Sequence[str]) -> dict[str, str]:
    """Return what stands behind ``=`` for each role."""
    from judgesmith.programs.lm.errors import redacted

    roles: dict[str, str] = {}
    for one in given:
        role, equals, name = (part.strip() for part in one.partition("="))
        if not (role and equals and name):
            raise OptionError(f"expected ROLE=MODEL; got {redacted(one)!r}.", option=ROLE)
        if role in roles:
            raise OptionError(f"the model of {role} is named twice.", option=ROLE, hint="drop one.")
        roles[role] = name
    return roles


@dataclass(frozen=True, kw_only=True)
class RoleModels:
    """All models of a run, under one budget and one ledger."""

    lm: dspy.LM
    competing: dict[str, dspy.LM]
    roles: dict[str, dspy.LM]

    @property
    def others(self) -> list[dspy.LM]:
        """All but the one that judges, each once."""
        every = {id(one): one for one in (*self.competing.values(), *self.roles.values())}
        return [one for one in every.values() if one is not self.lm]

    def check_keys(self, choice: ModelChoice) -> None:
        choice.check_key(self.lm)
        for one in self.others:
            rival = any(one is other for other in self.competing.values())
            choice.check_key(one, option="--models" if rival else ROLE)


def run_models(
    choice: ModelChoice, settings: CompileSettings, *, run_id: str | None = None
) -> RoleModels:
    """Return the models of a run, each made once however many parts it has."""
    from judgesmith.programs.judging.program import check_scores_texts
    from judgesmith.programs.judging.registry import family_of
    from judgesmith.programs.lm import ModelError

    first = choice.model_name or "offline"
    names = list(dict.fromkeys((first, *settings.models, *settings.roles.values())))
    made = dict(zip(names, choice.lms(*names[1:], run_id=run_id), strict=True))
    if family_of(settings.protocol.judge).scores_texts:
        for name in (first, *settings.models):
            try:
                check_scores_texts(made[name])
            except ModelError as fault:
                option = "--model" if name == first else "--models"
                raise OptionError(fault, option=option) from None
    return RoleModels(
        lm=made[first],
        competing={name: made[name] for name in settings.models},
        roles={role: made[name] for role, name in settings.roles.items()},
    )
