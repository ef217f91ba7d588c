"""What may be chosen about a judge: named choices, their options, and when they arise.

Plain data with stable text ids, so that a search can propose, a log can name and a person can
read any configuration; what an option means is the parts of a protocol that it sets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from judgesmith.errors import InputError

Id = Annotated[str, Field(pattern=r"^\w[\w.:+/@-]*$", max_length=80)]
Picked = Mapping[str, str]
"""The option taken of each choice, by its name."""


class UnknownChoiceError(InputError):
    """There are no choices of these names; ``known`` are those that there are."""

    def __init__(self, message: str, *, unknown: Sequence[str], known: Sequence[str]) -> None:
        super().__init__(message)
        self.unknown, self.known = tuple(unknown), tuple(known)


class UnknownOptionError(InputError):
    """A choice does not have the option ``given``; ``known`` are those that it has."""

    def __init__(self, message: str, *, choice: str, given: str, known: Sequence[str]) -> None:
        super().__init__(message)
        self.choice, self.given, self.known = choice, given, tuple(known)


class Option(BaseModel):
    """One way to decide a choice."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Id
    sets: Mapping[str, Any] = Field(default_factory=dict)


class Choice(BaseModel):
    """Something to be decided about a judge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Id
    options: tuple[Option, ...]
    only_if: Mapping[Id, tuple[Id, ...]] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _some_each_once(cls, options: tuple[Option, ...]) -> tuple[Option, ...]:
        ids = [one.id for one in options]
        if not ids or len(set(ids)) < len(ids):
            raise InputError(f"a choice has options, each once; got {', '.join(ids) or 'none'}.")
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


class Space(BaseModel):
    """All choices about a judge, those that depend on others after them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        """Return a space with further choices; one that is there already is replaced in place."""
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
