"""What is wrong with plain data that a record does not take, in words of no library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from judgesmith.errors import InputError

_LONGEST = 80
_MISSING = "is missing"
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "fields by name",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "fields by name",
    "model_type": "fields by name",
    "string_type": "a text",
    "tuple_type": "a list",
}


class SettingsModel(BaseModel):
    """A record that users make themselves: what it does not take is an ``InputError``."""

    if not TYPE_CHECKING:  # where the signature is that of the fields

        def __init__(self, **given: Any) -> None:
            with record_faults():
                super().__init__(**given)

        # So that what is read, and is no call of a user, keeps its places: see pydantic.
        __init__.__pydantic_base_init__ = True


@contextmanager
def record_faults() -> Iterator[None]:
    """Raise what a record does not take in the block as an ``InputError``."""
    try:
        yield
    except ValidationError as fault:
        raise InputError(plain_faults(fault)) from fault


def plain_faults(fault: ValidationError) -> str:
    """Return everything that is wrong, each with its place, on one line."""
    return "; ".join(_placed(one) for one in fault.errors(include_url=False))


def _placed(one: Mapping[str, Any]) -> str:
    place, said = ".".join(map(str, one["loc"])), plain_fault(one)
    if not place:
        return said
    return f"{place} {said}" if said == _MISSING else f"{place}: {said}"


def plain_fault(one: Mapping[str, Any]) -> str:
    """Return one fault without its place: what was expected, and what came."""
    kind, limits = one["type"], one.get("ctx", {})
    if kind == "missing":
        return _MISSING
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "value_error":
        return str(limits["error"])
    if kind in ("literal_error", "enum"):
        expected = f"one of {limits['expected']}"
    elif kind in ("string_too_short", "too_short"):
        return f"expected {'some text' if kind == 'string_too_short' else 'at least one'}; got none"
    elif kind == "string_too_long":
        expected = f"a text of at most {limits['max_length']} characters"
    elif kind in _EXPECTED:
        expected = _EXPECTED[kind]
    else:
        expected = one["msg"].removeprefix("Input should be ")
    came = _shown(one["input"]) if "input" in one else "something else"
    return f"expected {expected}; got {came}"


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
