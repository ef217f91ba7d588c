"""Records as plain values, so that results can be kept in a file and read by anyone."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np

__all__ = ["Record", "plain"]


class Record:
    """What all records of results share.

    Examples
    --------
    >>> from judgesmith.metrics import conformal_margin
    >>> conformal_margin([1, 2], [1, 3]).to_dict()["margin_is"]
    'infinite: too few sources for the confidence'
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, in order, ready for JSON.

        What is undefined (nan) becomes None. So does what is infinite, and the entry after it,
        ``<name>_is``, says in words what that means. Arrays become lists.
        """
        found: dict[str, Any] = {}
        for field in fields(cast(Any, self)):
            value = getattr(self, field.name)
            found[field.name] = plain(value)
            if isinstance(value, float) and math.isinf(value):
                found[f"{field.name}_is"] = self._in_words(value)
        return found

    def _in_words(self, infinite: float) -> str:
        """Say what an infinite number means."""
        return "infinite" if infinite > 0 else "minus infinite"


def plain(value: object) -> Any:
    """Return a value as JSON holds it: None for nan and infinite numbers, text for other objects.

    Examples
    --------
    >>> plain((np.float64(0.5), float("nan"), {"a": np.array([1, 2])}))
    [0.5, None, {'a': [1, 2]}]
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return str(value)
