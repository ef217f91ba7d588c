"""The search space of a judge: named choices, their options, and their conditions.

Plain data with stable text ids, so that a search can propose, a log can name and a person can
read any configuration; what an option means is the parts of a protocol that it sets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.plain_data import FrozenModel
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import PERCENT, Scale

Id = Annotated[str, Field(pattern=r"^\w[\w.:+/@-]*$", max_length=80)]
Rubrics = Mapping[str, Rubric] | None  # rubrics that may be chosen, by name
Picked = Mapping[str, str]  # the option taken of each choice, by its name


class UnknownChoiceError(InputError):
    """No choices have these names; ``known`` lists the valid ones."""

    def __init__(self, message: str, *, unknown: Sequence[str], known: Sequence[str]) -> None:
        super().__init__(message)
        self.unknown, self.known = tuple(unknown), tuple(known)


class UnknownOptionError(InputError):
    """A choice lacks the option ``given``; ``known`` lists the valid ones."""

    def __init__(self, message: str, *, choice: str, given: str, known: Sequence[str]) -> None:
        super().__init__(message)
        self.choice, self.given, self.known = choice, given, tuple(known)


class Option(FrozenModel):
    """One option of a choice."""

    id: Id
    sets: Mapping[str, Any] = Field(default_factory=dict)


class Choice(FrozenModel):
    """One decision about a judge."""

    name: Id
    options: tuple[Option, ...]
    only_if: Mapping[Id, tuple[Id, ...]] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _some_each_once(cls, options: tuple[Option, ...]) -> tuple[Option, ...]:
        ids = [one.id for one in options]
        if not ids or len(set(ids)) < len(ids):
            raise InputError(
                f"a choice needs options without duplicates; got {', '.join(ids) or 'none'}."
            )
        return options

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.options)

    def arises(self, picked: Picked) -> bool:
        return all(picked.get(name) in allowed for name, allowed in self.only_if.items())

    def option(self, option_id: str) -> Option:
        for one in self.options:
            if one.id == option_id:
                return one
        raise UnknownOptionError(
            f"{self.name} is one of {', '.join(self.ids)}; got {option_id!r}.",
            choice=self.name,
            given=option_id,
            known=self.ids,
        )


class Space(FrozenModel):
    """All choices about a judge; a choice comes after those that it depends on."""

    choices: tuple[Choice, ...]

    @model_validator(mode="after")
    def _depends_on_what_is_there(self) -> Self:
        known: dict[str, tuple[str, ...]] = {}
        for choice in self.choices:
            if choice.name in known:
                raise InputError(f"the choice {choice.name} stands twice.")
            for name, options in choice.only_if.items():
                missing = set(options) - set(known.get(name, ()))
                if name not in known or missing or not options:
                    raise InputError(
                        f"{choice.name} arises only if {name} is {' or '.join(options)}; there is "
                        f"no such choice, with these options, before it."
                    )
            known[choice.name] = choice.ids
        return self

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.choices)

    @property
    def size(self) -> int:
        # Only choices that others depend on need to be told apart.
        deciding = {name for one in self.choices for name in one.only_if}
        counts: dict[tuple[tuple[str, str], ...], int] = {(): 1}
        for choice in self.choices:
            after: dict[tuple[tuple[str, str], ...], int] = {}
            for state, n in counts.items():
                if not choice.arises(dict(state)):
                    after[state] = after.get(state, 0) + n
                elif choice.name in deciding:
                    for option in choice.ids:
                        after[(*state, (choice.name, option))] = n
                else:
                    after[state] = after.get(state, 0) + n * len(choice.options)
            counts = after
        return sum(counts.values())

    def complete(self, picked: Picked) -> dict[str, str]:
        """Return a whole configuration: what is not picked by default, what does not arise gone."""
        unknown = sorted(set(picked) - set(self.names))
        if unknown:
            raise UnknownChoiceError(
                f"there is no choice {', '.join(unknown)}; there are {', '.join(self.names)}.",
                unknown=unknown,
                known=self.names,
            )
        return self.proposed(
            lambda choice: choice.option(picked.get(choice.name, choice.ids[0])).id
        )

    def proposed(self, suggest: Callable[[Choice], str]) -> dict[str, str]:
        """Return the configuration that comes of asking for one choice after the other."""
        found: dict[str, str] = {}
        for choice in self.choices:
            if choice.arises(found):
                found[choice.name] = choice.option(suggest(choice)).id
        return found

    def configurations(self) -> Iterator[dict[str, str]]:
        yield from self._after({}, 0)

    def sets(self, picked: Picked) -> dict[str, Any]:
        """Return the parts of a protocol that a configuration sets, later choices last."""
        found: dict[str, Any] = {}
        whole = self.complete(picked)
        for choice in self.choices:
            if choice.name in whole:
                found |= choice.option(whole[choice.name]).sets
        return found

    def extended(self, *choices: Choice) -> Space:
        """Return a space with further choices; an existing one is replaced in place."""
        given = {one.name: one for one in choices}
        kept = [given.pop(one.name, one) for one in self.choices]
        return Space(choices=(*kept, *given.values()))

    def without(self, *names: str) -> Space:
        kept: list[Choice] = []
        for choice in self.choices:
            if choice.name in names:
                continue
            defaults = {one.name: one.ids[0] for one in self.choices if one.name in names}
            depends = {k: v for k, v in choice.only_if.items() if k in defaults}
            if all(defaults[name] in allowed for name, allowed in depends.items()):
                only_if = {k: v for k, v in choice.only_if.items() if k not in defaults}
                kept.append(choice.model_copy(update={"only_if": only_if}))
        names_kept = {one.name for one in kept}
        return Space(choices=tuple(one for one in kept if set(one.only_if) <= names_kept))

    def _after(self, found: dict[str, str], place: int) -> Iterator[dict[str, str]]:
        rest = itertools.dropwhile(
            lambda n: not self.choices[n].arises(found), range(place, len(self.choices))
        )
        at = next(rest, None)
        if at is None:
            yield dict(found)
            return
        for option in self.choices[at].ids:
            yield from self._after({**found, self.choices[at].name: option}, at + 1)


SAMPLES = (1, 3, 5)  # how many answers per question compete; more than one are drawn at ``WARM``

WARM = 0.7
"""Temperature of several answers to the same question: at 0 they would all be the same one."""

WORDS = Scale.categorical("useless", "poor", "fair", "good", "excellent")
SCALES = {"0-100": PERCENT, "1-10": Scale(low=1, high=10), "1-5": Scale(low=1, high=5)}
SCALES["words"] = WORDS
"""What models may be asked to answer on, by the ids of the options."""

WITHOUT_TASK = "without-task"
WITHOUT_GUIDELINES = "without-guidelines"


def field_choice(
    protocol: JudgeConfig,
    field: str,
    values: tuple[str, ...] | Mapping[str, Any],
    **only_if: tuple[str, ...],
) -> Choice:
    """Return the choice between values of one field, by id; the protocol's own first."""
    by_id = dict(values) if isinstance(values, Mapping) else {one: one for one in values}
    own = getattr(protocol, field)
    ids = {value: name for name, value in by_id.items()}
    options = tuple(
        Option(id=ids.get(one, str(one)), sets={field: one})
        for one in dict.fromkeys((own, *by_id.values()))
    )
    return Choice(name=field, options=options, only_if=only_if)


def rubric_choice(
    protocol: JudgeConfig, rubrics: Rubrics = None, **only_if: tuple[str, ...]
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
        if rubric.guidelines:
            bare = rubric.model_copy(update={"guidelines": ()})
            competing[f"{name}-{WITHOUT_GUIDELINES}"] = bare
        for option, one in competing.items():
            if one.criteria and one not in seen:
                seen.append(one)
                options.append(Option(id=option, sets={"rubric": one}))
    return options


def asks_choices(protocol: JudgeConfig, rubrics: Rubrics = None) -> tuple[Choice, ...]:
    """Return the choice between whole and criteria, and of the rubric; empty without criteria."""
    if not protocol.rubric.criteria:
        return ()
    asks = field_choice(protocol, "asks", ("overall", "criteria"))
    return asks, rubric_choice(protocol, rubrics)


def answers_choice(protocol: JudgeConfig) -> Choice:
    own = next((name for name, one in SCALES.items() if one == protocol.answers), "own")
    scales = {own: protocol.answers, **SCALES}
    options = tuple(Option(id=name, sets={"answers": one}) for name, one in scales.items())
    return Choice(name="answers", options=options)


def with_labels(space: Space, labels: Scale) -> Space:
    """Return a space whose answers may be the labels that people gave, if scores can order them."""
    found = next((one for one in space.choices if one.name == "answers"), None)
    if found is None or not (labels.is_verdict and labels.ordered):
        return space
    if any(one.sets.get("answers") == labels for one in found.options):
        return space
    options = (*found.options, Option(id="labels", sets={"answers": labels}))
    return space.extended(found.model_copy(update={"options": options}))


def sampling_choices(
    protocol: JudgeConfig, competing: tuple[int, ...] = SAMPLES, *, warm: float = WARM
) -> tuple[Choice, Choice]:
    """Return the choices of the number and temperature of samples, and of their reduction."""
    own: dict[str, Any] = {"samples": protocol.samples, "temperature": protocol.temperature}
    options = [Option(id=str(protocol.samples), sets=own)]
    for n in competing:
        if n != protocol.samples:
            temperature = 0.0 if n == 1 else protocol.temperature or warm
            options.append(Option(id=str(n), sets={"samples": n, "temperature": temperature}))
    several = tuple(one.id for one in options if one.id != "1")
    return (
        Choice(name="samples", options=tuple(options)),
        field_choice(protocol, "reduction", ("mean", "median", "mode"), samples=several),
    )


def usual_choices(protocol: JudgeConfig) -> tuple[Choice, ...]:
    """Return the choices about an answer with one score: its scale, and how it is sampled."""
    weighting = field_choice(protocol, "weighting", ("none", "probabilities"), samples=("1",))
    return (answers_choice(protocol), *sampling_choices(protocol), weighting)
