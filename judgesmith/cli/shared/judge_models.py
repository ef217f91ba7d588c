"""The models that a saved judge asks: each member of a panel its own, or all the one named."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.model_options import ModelAt, ModelChoice
from judgesmith.cli.shared.role_options import ROLE, models_by_part, roles_of

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments.scoring.estimates import RunEstimate
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedComposite
    from judgesmith.programs.lm import AnyModel, Usage
    from judgesmith.signatures.config import JudgeConfig
    from judgesmith.signatures.items import RatedItem


def saved_of_kind(place: str, config: type[JudgeConfig], *, lack: str, hint: str) -> SavedJudge:
    """Return the saved judge of a family; ``lack`` says what another one does not do."""
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    saved = load_saved(place)
    if isinstance(saved, SavedJudge) and isinstance(saved.protocol, config):
        return saved
    raise OptionError(f"{place} {lack}.", option=place, hint=hint)


def models_of_all(
    judges: Iterable[AnySaved], choice: ModelChoice, *, run_id: str | None
) -> dict[str, dspy.LM]:
    """Return the models of several saved judges by name, or the one that is named for all."""
    names = list(dict.fromkeys(name for one in judges for name in one.models))
    if choice.model_name is not None:
        return {choice.model_name: choice.lm(run_id=run_id)}
    refuse_unnamed_models(names, choice)
    lms = choice.lms(*names[1:], default=names[0], run_id=run_id)
    return dict(zip(names, lms, strict=True))


def refuse_unnamed_models(
    names: Iterable[str], choice: ModelChoice, *, given: Collection[str] = ()
) -> None:
    """Refuse models of saved judges that the command line does not name, before any is asked."""
    from judgesmith.programs.lm import engine_for
    from judgesmith.programs.lm.factory import OFFLINE, refusal, unnamed

    without_network = choice.model_name == OFFLINE
    named = {*given} if without_network else {*given, choice.model_name or "", *choice.allow_models}
    others = unnamed(names, named)
    if not others:
        return
    address = None if without_network else choice.api_base
    endpoints = {name: engine_for(name, api_base=address).endpoint for name in others}
    if without_network:
        fault = refusal(endpoints, "leave --model offline out, or give --role ROLE=offline.")
    else:
        allow = " ".join(f"--allow-model {shlex.quote(name[:200])}" for name in others)
        fault = refusal(endpoints, f"name it with {allow}, or give another with --model.")
    raise OptionError(fault, option="--model" if without_network else "--allow-model") from fault


def asked_models(
    saved: AnySaved, choice: ModelChoice, *, run_id: str
) -> tuple[AnySaved, list[dspy.LM]]:
    """Return the judge bound to its models, and these; one ledger and one budget hold for all."""
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.artifacts.saved_ensembles import SavedComposite

    if isinstance(saved, SavedJudge) and (choice.roles or saved.roles):
        return _with_roles(saved, choice, run_id=run_id)
    if isinstance(saved, SavedComposite):
        if choice.roles and not saved.part_names:
            raise OptionError(
                "roles are of one judge or of a panel, and this judge holds another one.",
                option=ROLE,
                hint="name a model with --model.",
            )
        found = panel_models(saved, models_by_part(choice.roles), choice, run_id=run_id)
        found.check_keys(choice)
        return saved.with_models(found.by_name).with_parts(found.by_part), found.every
    models = models_of_all([saved], choice, run_id=run_id)
    for lm in models.values():
        choice.check_key(lm)
    return saved, list(models.values())


def role_names(saved: AnySaved) -> tuple[str, ...]:
    """Return what ``--role`` may name of a judge: roles of its family, or parts of a panel."""
    from judgesmith.programs.artifacts.saved import SavedJudge
    from judgesmith.programs.judging.registry import family_of

    if isinstance(saved, SavedJudge):
        return tuple(name for name, _ in family_of(saved.protocol.judge).roles)
    return saved.part_names


def _with_roles(
    saved: SavedJudge, choice: ModelChoice, *, run_id: str
) -> tuple[SavedJudge, list[dspy.LM]]:
    """Return a judge whose roles ask the models that are named, or those it was compiled with."""
    from judgesmith.programs.judging.registry import check_roles, family_of

    given = roles_of(choice.roles)
    with blaming(ROLE):
        check_roles(family_of(saved.protocol.judge), given)
    asked = {**saved.roles, **given}
    main = choice.model_name or saved.model
    names = list(dict.fromkeys((main, *asked.values())))
    refuse_unnamed_models(names, choice, given=given.values())
    lms = dict(zip(names, choice.lms(*names[1:], default=main, run_id=run_id), strict=True))
    for name, lm in lms.items():
        choice.check_key(lm, option="--model" if name == main else ROLE)
    return saved.asking(asked, lms), list(lms.values())


@dataclass(frozen=True, kw_only=True)
class PanelModels:
    """The models of a panel, under one budget and one ledger."""

    by_name: dict[str, dspy.LM]
    by_part: dict[str, dspy.LM]
    every: list[dspy.LM]

    @property
    def names(self) -> list[str]:
        """The requests of judges without a model of their own, each once."""
        return list(dict.fromkeys(str(lm.model) for lm in self.by_name.values()))

    @property
    def told(self) -> str:
        """Which models are asked and where, without secrets: what is saved tells neither."""
        from judgesmith.programs.judging.executors import endpoint_of

        named = {**self.by_name, **self.by_part}
        return " ".join(f"{name} {lm.model} {endpoint_of(lm)}" for name, lm in named.items())

    def check_keys(self, choice: ModelChoice) -> None:
        """Refuse models without the key that they need, and print the models in use."""
        for lm in self.every:
            own = any(lm is one for one in self.by_part.values())
            choice.check_key(lm, option=ROLE if own else "--model")


def panel_models(
    panel: SavedComposite, given: Mapping[str, ModelAt], choice: ModelChoice, *, run_id: str | None
) -> PanelModels:
    """Return the models of a panel: each part asks its own, or all others the one that is named."""
    from judgesmith.programs.artifacts.saved_ensembles import models_of_parts

    if unknown := [name for name in given if name not in panel.part_names]:
        raise OptionError(
            f"a panel has no role {unknown[0][:80]!r}; this one has {', '.join(panel.part_names)}.",
            option=ROLE,
        )
    names = panel.models_beside(given)
    if choice.model_name is None:
        refuse_unnamed_models(
            names, choice, given=[one.name for one in given.values() if one.address is None]
        )
    asked = dict.fromkeys(names, choice.model_name) if choice.model_name else {n: n for n in names}
    wanted = list(dict.fromkeys((*map(ModelAt, asked.values()), *given.values())))
    lms = choice.lms_at(wanted, run_id=run_id)
    made = dict(zip(wanted, lms, strict=True))
    by_name = {name: made[ModelAt(one)] for name, one in asked.items()}
    by_part = {part: made[one] for part, one in given.items()}
    own = models_of_parts(panel.with_parts(by_part))
    every = {id(lm): lm for lm in (*by_name.values(), *own)}
    return PanelModels(by_name=by_name, by_part=by_part, every=list(every.values()))


def used(*lms: AnyModel) -> Usage:
    """Return what went through the models of a command together."""
    from judgesmith.programs.judging.rows import usage_of

    usage = usage_of(*lms)
    assert usage is not None
    return usage


def judging_estimate(
    saved: AnySaved, items: Sequence[RatedItem], lms: Sequence[dspy.LM], *, often: int = 1
) -> RunEstimate:
    """Return what it takes that a judge, bound to its models, judges every item."""
    from judgesmith.experiments.scoring.estimates import estimate_judging

    return estimate_judging([saved], items, models_by_name(lms), lms[0], often=often)


def models_by_name(lms: Sequence[dspy.LM]) -> dict[str, dspy.LM]:
    return {str(lm.model): lm for lm in lms}


def nothing_asked() -> RunEstimate:
    """Return the estimate of a command that reads scores on file."""
    from judgesmith.experiments.scoring.estimates import NO_CALLS

    return NO_CALLS
