"""What may be chosen about an Active-Critic judge, as far as its own protocol decides it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import PERCENT, Scale
from judgesmith.signatures.space import Choice, Option, Space

SAMPLES = (1, 3, 5)
"""How many answers per question compete; more than one are drawn at ``WARM``."""

WARM = 0.7
"""Temperature of several answers to the same question: at 0 they would all be the same one."""

WORDS = Scale.categorical("useless", "poor", "fair", "good", "excellent")
SCALES = {"0-100": PERCENT, "1-10": Scale(low=1, high=10), "1-5": Scale(low=1, high=5)}
SCALES["words"] = WORDS
"""What models may be asked to answer on, by the ids of the options."""

WITHOUT_TASK = "without-task"
_WITH_RUBRIC = ("fine", "coarse")


def critic_space(protocol: Protocol, rubrics: Mapping[str, Rubric] | None = None) -> Space:
    """Return the choices about a judge; what its protocol says is always the first option.

    Parameters
    ----------
    protocol : Protocol
        Where the search starts from.
    rubrics : dict of str to Rubric, or None
        Rubrics that compete with the protocol's own, by name. Each that describes the task also
        competes without its description.

    Examples
    --------
    >>> space = critic_space(Protocol())
    >>> space.names
    ('variant', 'rubric', 'criteria_calls', 'overall', 'explain', 'answers', 'samples')
    >>> space.sets({"variant": "vanilla"})["variant"]
    'vanilla'
    """
    variants = ("fine", "coarse", "vanilla") if protocol.rubric.criteria else ("vanilla",)
    choices = [_of_field(protocol, "variant", variants)]
    if len(variants) > 1:
        named = {"own": protocol.rubric, **(rubrics or {})}
        choices += [
            Choice(
                name="rubric",
                options=tuple(_rubric_options(named)),
                only_if={"variant": _WITH_RUBRIC},
            ),
            _of_field(protocol, "criteria_calls", ("joint", "separate"), variant=("fine",)),
            _of_field(protocol, "overall", ("asked", "mean"), variant=("fine",)),
            _of_field(protocol, "explain", ("before", "after", "none"), variant=_WITH_RUBRIC),
        ]
    return Space(choices=(*choices, _answers(protocol), _samples(protocol)))


def _of_field(
    protocol: Protocol, field: str, values: tuple[str, ...], **only_if: tuple[str, ...]
) -> Choice:
    """Return the choice between values of one field, the protocol's own first."""
    own = getattr(protocol, field)
    ordered = (own, *(value for value in values if value != own))
    options = tuple(Option(id=value, sets={field: value}) for value in ordered)
    return Choice(name=field, options=options, only_if=only_if)


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


def _answers(protocol: Protocol) -> Choice:
    own = next((name for name, one in SCALES.items() if one == protocol.answers), "own")
    scales = {own: protocol.answers, **SCALES}
    options = tuple(Option(id=name, sets={"answers": one}) for name, one in scales.items())
    return Choice(name="answers", options=options)


def _samples(protocol: Protocol) -> Choice:
    own: dict[str, Any] = {"samples": protocol.samples, "temperature": protocol.temperature}
    options = [Option(id=str(protocol.samples), sets=own)]
    for n in SAMPLES:
        if n != protocol.samples:
            warm = {"samples": n, "temperature": 0.0 if n == 1 else protocol.temperature or WARM}
            options.append(Option(id=str(n), sets=warm))
    return Choice(name="samples", options=tuple(options))
