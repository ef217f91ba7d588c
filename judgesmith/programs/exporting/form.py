"""What a form of export is: what it writes, which judges it can carry, and how it judges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

Row = Mapping[str, Any]
"""What an exported judge says of one text: ``score``, ``explanation``, ``criteria``, ``problem``
and whatever else the rows of ``judgesmith score`` hold."""


class Form(ABC):
    """One way to take a saved judge elsewhere."""

    says: ClassVar[str]
    """What it is, in a few words."""

    folder: ClassVar[bool]
    """Whether a folder is written, rather than a file."""

    suffix: ClassVar[str] = ""
    """What the name of a file must end in; empty where that makes no difference."""

    @abstractmethod
    def check(self, saved: AnySaved) -> str | None:
        """Return why this form cannot carry a judge, without a full stop; None where it can."""

    @abstractmethod
    def write(self, saved: AnySaved, place: Path) -> None:
        """Write the judge to ``place``: an empty folder, or a file that is not yet there."""

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row] | None:
        """Return what the exported judge says of each golden item; None where nothing runs."""
        return None
