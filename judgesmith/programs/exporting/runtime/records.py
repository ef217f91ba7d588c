"""Values with named fields, which nobody changes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self


class Record:
    """What the package's records are without pydantic: fields by name, and nothing checked.

    Examples
    --------
    >>> class Point(Record):
    ...     x: float
    ...     y: float = 0.0
    >>> Point(x=1.0) == Point(x=1.0, y=0.0), Point(x=1.0).model_copy(update={"y": 2.0})
    (True, Point(x=1.0, y=2.0))
    """

    model_fields: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        """Note the fields of a kind of record, those of what it extends first."""
        own = inspect.get_annotations(cls)
        fields = {name: kind for name, kind in own.items() if "ClassVar" not in str(kind)}
        cls.model_fields = {**cls.model_fields, **fields}

    def __init__(self, **given: Any) -> None:
        unknown = [name for name in given if name not in self.model_fields]
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {unknown[0]}.")
        for name in self.model_fields:
            self.__dict__[name] = given[name] if name in given else getattr(type(self), name)

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return the same record with other values of some fields."""
        return type(self)(**{**self.__dict__, **(update or {})})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.items()))

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({said})"
