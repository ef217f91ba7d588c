"""Choices that judges of most families have: values of a field, rubric, scale, samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from judgesmith.errors import InputError
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import PERCENT, Scale
from judgesmith.signatures.space import Choice, Option, Picked, Space, UnknownChoiceError

if TYPE_CHECKING:
    from judgesmith.programs.judging.judge import Judge


Kind = TypeVar("Kind", bound="Judge")

SAMPLES = (1, 3, 5)
"""How many answers per question compete; more than one are drawn at ``WARM``."""

WARM = 0.7
"""Temperature of several answers to the same question: at 0 they would all be the same one."""

WORDS = Scale.categorical("useless", "poor", "fair", "good", "excellent")
SCALES = {"0-100": PERCENT, "1-10": Scale(low=1, high=10), "1-5": Scale(low=1, high=5)}
SCALES["words"] = WORDS
"""What models may be asked to answer on, by the ids of the options."""

WITHOUT_TASK = "without-task"


def field_choice(
    protocol: JudgeConfig, field: str, values: tuple[str, ...], **only_if: tuple[str, ...]
) -> Choice:
    """Return the choice between values of one field, the protocol's own first."""
    own = getattr(protocol, field)
    ordered = (own, *(value for value in values if value != own))
    options = tuple(Option(id=value, sets={field: value}) for value in ordered)
    return Choice(name=field, options=options, only_if=only_if)


def own_settings(protocol: JudgeConfig) -> tuple[str, ...]:
    """Return which fields of a family's own hold one plain value: a number, a word, or none yet."""
    own = (name for name in type(protocol).model_fields if name not in JudgeConfig.model_fields)
    return tuple(
        name for name in own if isinstance(getattr(protocol, name), str | int | float | None)
    )


def decided_by_names(judge: Kind, picked: Picked) -> Kind:
    """Return a judge of the same kind that is decided as ``picked`` says, by choice or setting."""
    judge, picked = _told_of_criteria(judge, picked)
    own, space = judge.protocol, judge.space()
    options = {one.name: one.ids for one in space.choices}
    settings = [name for name in own_settings(own) if _can_be_set(own, name, options, picked)]
    values = {name: picked[name] for name in settings if name in picked}
    chosen = {name: option for name, option in picked.items() if name not in values}
    unknown = sorted(set(chosen) - set(options))
    free = [*settings, *(f"{name}.CRITERION" for name in own.by_criterion)]
    if unknown and free:
        raise UnknownChoiceError(
            f"there is no choice {', '.join(unknown)}; there are {', '.join(options)}, and "
            f"{', '.join(free)} can be set.",
            unknown=unknown,
            known=(*options, *free),
        )
    refuse_idle(space, chosen)
    if values:
        judge = judge.with_protocol(own.decided(values))
    return judge.with_choices(chosen)


def _told_of_criteria(judge: Kind, picked: Picked) -> tuple[Kind, Picked]:
    own = judge.protocol
    sets: dict[str, dict[str, Any]] = {}
    besides = dict(picked)
    for name, said in picked.items():
        field, _, criterion = name.partition(".")
        if criterion and field in own.by_criterion:
            sets.setdefault(field, dict(getattr(own, field)))[criterion] = said
            del besides[name]
    return (judge.with_protocol(own.decided(sets)) if sets else judge), besides


def refuse_idle(space: Space, chosen: Picked) -> None:
    """Refuse an option of a choice that another option, chosen beside it, leaves no room for."""
    if set(chosen) - set(space.names):
        return  # refused by name elsewhere
    whole = space.complete(chosen)
    for choice in space.choices:
        if choice.name not in chosen or choice.name in whole:
            continue
        for name, allowed in choice.only_if.items():
            if name in chosen and whole.get(name) not in allowed:
                others = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
                raise InputError(
                    f"{choice.name}={chosen[choice.name]} has no effect with {name}="
                    f"{whole.get(name, 'none')}; it takes {name} {others}."
                )


def _can_be_set(
    protocol: JudgeConfig, name: str, options: Mapping[str, tuple[str, ...]], picked: Picked
) -> bool:
    if name not in options:
        return True
    value = getattr(protocol, name)
    if isinstance(value, bool) or picked.get(name, options[name][0]) in options[name]:
        return False
    if not isinstance(value, str):
        return True
    try:
        protocol.decided({name: picked[name]})
    except ValueError:
        return False  # told better by the options that there are
    return True


def rubric_choice(
    protocol: JudgeConfig,
    rubrics: Mapping[str, Rubric] | None = None,
    **only_if: tuple[str, ...],
) -> Choice:
    """Return the choice between the protocol's own rubric and others, by name."""
    named = {"own": protocol.rubric, **(rubrics or {})}
    return Choice(name="rubric", options=tuple(_rubric_options(named)), only_if=only_if)


def _rubric_options(rubrics: Mapping[str, Rubric]) -> list[Option]:
    options: list[Option] = []
    seen: list[Rubric] = []
    for name, rubric in rubrics.items():
        competing = {name: rubric}
        if rubric.task:
            competing[f"{name}-{WITHOUT_TASK}"] = rubric.model_copy(update={"task": ""})
        for option, one in competing.items():
            if one.criteria and one not in seen:
                seen.append(one)
                options.append(Option(id=option, sets={"rubric": one}))
    return options


def asks_choices(
    protocol: JudgeConfig, rubrics: Mapping[str, Rubric] | None = None
) -> tuple[Choice, ...]:
    """Return the choices of a judge that asks about the whole or each criterion.

    None without any.
    """
    if not protocol.rubric.criteria:
        return ()
    asks = field_choice(protocol, "asks", ("overall", "criteria"))
    return asks, rubric_choice(protocol, rubrics)


def answers_choice(protocol: JudgeConfig) -> Choice:
    own = next((name for name, one in SCALES.items() if one == protocol.answers), "own")
    scales = {own: protocol.answers, **SCALES}
    options = tuple(Option(id=name, sets={"answers": one}) for name, one in scales.items())
    return Choice(name="answers", options=options)


def samples_choice(
    protocol: JudgeConfig, competing: tuple[int, ...] = SAMPLES, *, warm: float = WARM
) -> Choice:
    """Return the choice of how many answers there are to a question, and how warm several are."""
    own: dict[str, Any] = {"samples": protocol.samples, "temperature": protocol.temperature}
    options = [Option(id=str(protocol.samples), sets=own)]
    for n in competing:
        if n != protocol.samples:
            temperature = 0.0 if n == 1 else protocol.temperature or warm
            options.append(Option(id=str(n), sets={"samples": n, "temperature": temperature}))
    return Choice(name="samples", options=tuple(options))


def reduction_choice(protocol: JudgeConfig, samples: Choice) -> Choice:
    several = tuple(one for one in samples.ids if one != "1")
    return field_choice(protocol, "reduction", ("mean", "median", "mode"), samples=several)


def reduction_choices(protocol: JudgeConfig) -> tuple[Choice, ...]:
    """Return the choices of how answers become a score.

    Of several, and of one with probabilities.
    """
    return (
        reduction_choice(protocol, samples_choice(protocol)),
        field_choice(protocol, "weighting", ("none", "probabilities"), samples=("1",)),
    )
