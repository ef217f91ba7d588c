"""Fields of saved records: whatever is plain data, as it comes back from a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from judgesmith.programs.models.naming import check_name


def as_loaded(value: object) -> Any:
    """Return plain data as it comes back from a file: lists for tuples, None for nan.

    Examples
    --------
    >>> as_loaded({"q": (1.0, float("nan"))})
    {'q': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): as_loaded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_loaded(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


Plain = Annotated[Mapping[str, Any], BeforeValidator(as_loaded)]
ModelName = Annotated[str, AfterValidator(check_name)]
"""``provider/model`` or ``offline``: a name alone, which contains no address."""

PredictorName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]  # names a file, too
