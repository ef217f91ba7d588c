"""Values as Python source that makes them again, one part a line where they are long."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

_WIDTH = 96
_STEP = "    "


@dataclass(frozen=True, slots=True)
class Named:
    """A call by name.

    Attributes
    ----------
    module, name : str
        What is called, and where it is defined.
    given : dict or None
        Its arguments, by name; None is the thing itself, without a call.
    """

    module: str
    name: str
    given: Mapping[str, Any] | None


class Everything(Container[str]):
    """What holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


EVERYTHING = Everything()


def names_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield module and name of everything that the source of a value calls, some more than once.

    Examples
    --------
    >>> list(names_in({"b": Named("m", "f", {"x": (Named("m", "g", None),)})}))
    [('m', 'f'), ('m', 'g')]
    """
    value = _as_call(value)
    if isinstance(value, Named):
        yield value.module, value.name
        value = value.given or {}
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from names_in(one)


def _as_named(place: tuple[str, str]) -> str:
    return place[1]


def literal(
    value: Any,
    kept: Container[str] = EVERYTHING,
    called: Callable[[tuple[str, str]], str] = _as_named,
    indent: str = "",
) -> str:
    """Return source that makes a value: plain data, calls by name, and records of pydantic.

    Parameters
    ----------
    value : object
        What is to be made.
    kept : container of str
        Names of arguments that are not left out.
    called : callable
        Takes module and name of what is called and returns what it is called in the source.
    indent : str
        Of the line that it stands on.

    Examples
    --------
    >>> literal({"a": (1, None), "b": Named("m", "f", {"x": "y"})})
    "{'a': (1, None), 'b': f(x='y')}"
    """
    value = _as_call(value)
    if isinstance(value, Named):
        name = called((value.module, value.name))
        if value.given is None:
            return name
        parts = [
            f"{key}={literal(one, kept, called, indent + _STEP)}"
            for key, one in value.given.items()
            if key in kept
        ]
        return _enclosed(f"{name}(", parts, ")", indent)
    if isinstance(value, Mapping):
        parts = [f"{k!r}: {literal(v, kept, called, indent + _STEP)}" for k, v in value.items()]
        return _enclosed("{", parts, "}", indent)
    if isinstance(value, list | tuple):
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        parts = [literal(one, kept, called, indent + _STEP) for one in value]
        if len(parts) == 1 and opening == "(":
            parts = [*parts, ""]
        return _enclosed(opening, parts, closing, indent)
    if isinstance(value, str):
        return _text(value, indent)
    return repr(value)


def _as_call(value: Any) -> Any:
    """Return a record of pydantic as the call that makes it; anything else as it is."""
    if isinstance(value, BaseModel):
        return Named(type(value).__module__, type(value).__name__, dict(value))
    return value


def _enclosed(opening: str, parts: list[str], closing: str, indent: str) -> str:
    """Return parts on one line if they fit, else on a line each."""
    line = ", ".join(parts).removesuffix(" ")
    if "\n" not in line and len(indent) + len(line) < _WIDTH - 40:
        return f"{opening}{line}{closing}"
    inner = indent + _STEP
    rows = "".join(f"{inner}{part},\n" for part in parts if part)
    return f"{opening}\n{rows}{indent}{closing}"


def _text(text: str, indent: str) -> str:
    """Return a text in quotes, a long one with each of its lines on a line."""
    if "\n" not in text:
        return repr(text)
    inner = indent + _STEP
    rows = "".join(f"{inner}{line}\n" for line in _lines(text))
    return f"(\n{rows}{indent})"


def _lines(text: str) -> Iterator[str]:
    *lines, last = text.split("\n")
    for line in lines:
        yield repr(f"{line}\n")
    if last:
        yield repr(last)
