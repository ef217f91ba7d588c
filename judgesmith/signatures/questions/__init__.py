"""Everything that a model is asked, one file a family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """What a family asks, by the question's name, or as ``whole`` and ``each``."""

    signatures: Mapping[str, type[dspy.Signature]]
    ends: tuple[str, str] | None = None  # what lowest and highest mean, where questions do not say
