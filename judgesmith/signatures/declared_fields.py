"""What the fields of a settings model declare: option, type, bounds, default and help."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredField:
    """One field of a settings model, as options, specification files and tables show it."""

    name: str
    option: str
    group: str | None
    kind: Any
    """``bool``, ``int``, ``float``, ``str``, ``tuple``, ``dict``, or a tuple of choices."""
    optional: bool
    default: Any
    bounds: Mapping[str, Any]
    help: str
    metavar: str | None
    default_text: str | None
    expert: bool

    @classmethod
    def of(cls, name: str, field: FieldInfo) -> DeclaredField:
        extra = field.json_schema_extra
        told: dict[str, Any] = dict(extra) if isinstance(extra, dict) else {}
        members = _members(field.annotation)
        plain = next(one for one in members if one is not type(None))
        choices = get_args(plain) if get_origin(plain) is Literal else None
        origin = get_origin(plain) or plain
        kind = choices or {Mapping: dict, Any: str}.get(origin, origin)
        bounds = {
            mark: getattr(one, mark)
            for one in field.metadata
            for mark in ("ge", "lt")
            if hasattr(one, mark)
        }
        default = field.get_default(call_default_factory=True)
        return cls(
            name=name,
            option=told.get("option") or name,
            group=told.get("group"),
            kind=kind,
            optional=type(None) in members,
            default=None if default is PydanticUndefined else default,
            bounds=bounds,
            help=field.description or "",
            metavar=told.get("metavar"),
            default_text=told.get("default_text"),
            expert=bool(told.get("expert")),
        )


def _members(annotation: Any) -> tuple[Any, ...]:
    unions = (Union, types.UnionType)
    return get_args(annotation) if get_origin(annotation) in unions else (annotation,)


def declared_fields(model: type[BaseModel], *names: str) -> Iterator[DeclaredField]:
    """Return the named fields of a model, or all that have a group."""
    for name in names or model.model_fields:
        found = DeclaredField.of(name, model.model_fields[name])
        if names or found.group is not None:
            yield found
