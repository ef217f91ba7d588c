"""The models that a saved judge asks: each member of a panel its own, or all the one named."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.model_options import ModelChoice
from judgesmith.cli.role_options import ROLE, roles_of

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.saved import SavedJudge
    from judgesmith.programs.saved_kinds import AnySaved, SavedPanel


def models_of_all(
    judges: Iterable[AnySaved], choice: ModelChoice, *, run_id: str | None
) -> dict[str, dspy.LM]:
    """Return the models of several saved judges by name, or the one that is named for all.

    One ledger and one budget hold for all.

    Raises
    ------
    OptionError
        If a model cannot be asked, or the user did not name it.
    """
    names = list(dict.fromkeys(name for one in judges for name in one.models))
    if choice.model_name is not None:
        return {choice.model_name: choice.lm(run_id=run_id)}
    refuse_unnamed(names, choice)
    lms = choice.lms(*names[1:], default=names[0], run_id=run_id)
    return dict(zip(names, lms, strict=True))


def refuse_unnamed(
    names: Iterable[str], choice: ModelChoice, *, given: Collection[str] = ()
) -> None:
    """Refuse models of saved judges that the command line does not name, before any is asked.

    Parameters
    ----------
    names : iterable of str
        Models that would be asked.
    choice : ModelChoice
        What ``--model`` and ``--allow-model`` name. ``--model offline`` allows no others.
    given : collection of str
        What other options name, such as ``--role``.

    Raises
    ------
    OptionError
        If there is one; it lists every such model with its address, and says what to do.
    """
    from judgesmith.programs.models import engine_for
    from judgesmith.programs.models.naming import OFFLINE, refusal, unnamed

    without_network = choice.model_name == OFFLINE
    named = {*given} if without_network else {*given, choice.model_name or "", *choice.allow_models}
    others = unnamed(names, named)
    if not others:
        return
    address = None if without_network else choice.api_base
    endpoints = {name: engine_for(name, api_base=address).endpoint for name in others}
    if without_network:
        fault = refusal(endpoints, "Leave --model offline out, or give --role ROLE=offline.")
    else:
        allow = " ".join(f"--allow-model {shlex.quote(name[:200])}" for name in others)
        fault = refusal(endpoints, f"Name it with {allow}, or give another with --model.")
    raise OptionError(str(fault), option="--model" if without_network else "--allow-model")


def asked_models(
    saved: AnySaved, choice: ModelChoice, *, run_id: str, roles: Sequence[str] = ()
) -> tuple[AnySaved, list[dspy.LM]]:
    """Return the judge bound to its models, and these; one ledger and one budget hold for all.

    Parameters
    ----------
    saved : saved judge
        Of any kind. Members of a panel ask the model that each was compiled with, unless
        ``--model`` names one for all. Roles of a judge ask the model that it was compiled with
        unless ``--role`` names another; in a panel under ``--model`` that one, too. A panel's
        one role is its supervisor.
    choice : ModelChoice
        What the command line says of models.
    run_id : str
        What the budget is kept under.
    roles : sequence of str
        ``ROLE=MODEL``, as the command line says.

    Raises
    ------
    OptionError
        If a model cannot be asked, or the judge has no such role.
    """
    from judgesmith.programs.saved import SavedJudge
    from judgesmith.programs.saved_kinds import SavedHolder, SavedPanel

    if isinstance(saved, SavedJudge) and (roles or saved.roles):
        return _with_roles(saved, choice, run_id=run_id, roles=roles)
    if isinstance(saved, SavedPanel) and saved.supervisor is not None and roles:
        return _with_supervisor(saved, choice, run_id=run_id, roles=roles)
    if roles and isinstance(saved, SavedPanel):
        raise OptionError(
            "a panel's one role is its supervisor, and this one has none; name models for all "
            "with --model.",
            option=ROLE,
        )
    if roles:
        raise OptionError(
            "roles are of one judge, and this one holds others; name models for all with --model.",
            option=ROLE,
        )
    models = models_of_all([saved], choice, run_id=run_id)
    for lm in models.values():
        choice.check_key(lm)
    if isinstance(saved, SavedHolder):
        if choice.model_name is None:
            saved = saved.with_models(models)
        else:
            (lm,) = models.values()
            saved = saved.with_models(dict.fromkeys(saved.models, lm))
    return saved, list(models.values())


def _with_roles(
    saved: SavedJudge, choice: ModelChoice, *, run_id: str, roles: Sequence[str]
) -> tuple[SavedJudge, list[dspy.LM]]:
    """Return a judge whose roles ask the models that are named, or those it was compiled with."""
    from judgesmith.programs.families import family_of
    from judgesmith.programs.roles import check_roles

    given = roles_of(roles)
    with blaming(ROLE):
        check_roles(family_of(saved.protocol.judge), given)
    asked = {**saved.roles, **given}
    main = choice.model_name or saved.model
    names = list(dict.fromkeys((main, *asked.values())))
    refuse_unnamed(names, choice, given=given.values())
    lms = dict(zip(names, choice.lms(*names[1:], default=main, run_id=run_id), strict=True))
    for name, lm in lms.items():
        choice.check_key(lm, option="--model" if name == main else ROLE)
    return saved.asking(asked, lms), list(lms.values())


def _with_supervisor(
    saved: SavedPanel, choice: ModelChoice, *, run_id: str, roles: Sequence[str]
) -> tuple[SavedPanel, list[dspy.LM]]:
    """Return a panel whose supervisor asks the model that is named."""
    given = roles_of(roles)
    if unknown := set(given) - {"supervisor"}:
        raise OptionError(
            f"a panel has no role {min(unknown)[:80]!r}; name its supervisor, or models for all "
            "with --model.",
            option=ROLE,
        )
    name = given["supervisor"]
    known = list(dict.fromkeys(m for one in saved.asked for m in saved.members[one].models))
    asked = known if choice.model_name is None else [choice.model_name]
    names = list(dict.fromkeys((*asked, name)))
    refuse_unnamed(names, choice, given=[name])
    lms = dict(zip(names, choice.lms(*names[1:], default=names[0], run_id=run_id), strict=True))
    for one, lm in lms.items():
        choice.check_key(lm, option=ROLE if one == name else "--model")
    alone = choice.model_name is not None
    members = {one: lms[asked[0]] if alone else lms[one] for one in known}
    return saved.with_models(members).supervised_by(lms[name]), list(lms.values())
