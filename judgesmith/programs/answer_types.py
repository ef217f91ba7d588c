"""Plain values as the types that questions ask for, checked by pydantic."""

from __future__ import annotations

import functools
from typing import Any, get_args, get_origin

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError

from judgesmith.errors import InputError


class UnreadRecord(BaseModel):
    """One record of several that could not be read, which takes nothing from the others.

    Attributes
    ----------
    criterion : str
        What it is about.
    problem : str
        Why it could not be read.
    """

    criterion: str
    problem: str


def typed(plain: Any, annotation: Any) -> Any:
    """Return a plain value as ``annotation``; of several records, unread ones say why."""
    try:
        return _validated(plain, annotation)
    except ValueError:
        kind = record_type(annotation)
        if kind is None or not isinstance(plain, list) or get_origin(annotation) is None:
            raise
    title = next(iter(kind.model_fields))
    found: list[Any] = []
    first: ValueError | None = None
    for place, one in enumerate(plain):
        try:
            found.append(_validated(one, kind))
        except ValueError as fault:
            if not isinstance(one, dict) or not isinstance(one.get(title), str):
                raise InputError(f"{place}.{fault}") from None
            first = first or ValueError(f"{place}.{fault}")
            found.append(UnreadRecord(criterion=one[title], problem=str(fault)))
    if first is not None and all(isinstance(one, UnreadRecord) for one in found):
        raise first
    return found


def record_type(annotation: Any) -> type[BaseModel] | None:
    """Return the type of the records in a list of them, or None where there are none.

    Examples
    --------
    >>> record_type(list[str]) is None
    True
    """
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        annotation = annotation.model_fields["root"].annotation
    if get_origin(annotation) is not list:
        return None
    (kind,) = get_args(annotation)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _validated(plain: Any, annotation: Any) -> Any:
    try:
        return _type_adapter(annotation).validate_python(plain)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the value"
        raise InputError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None


@functools.lru_cache(maxsize=64)
def _type_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)
