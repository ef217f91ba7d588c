"""What a form of export is: what it writes, which judges it can carry, and how it judges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.saved_kinds import AnySaved

Row = Mapping[str, Any]
"""What an exported judge says of one text: ``score``, ``explanation``, ``criteria``, ``problem``
and whatever else the rows of ``judgesmith score`` hold."""


class Form(ABC):
    """One way to take a saved judge elsewhere.

    Subclasses say what they are in ``says`` and write a file, or a folder where ``folder`` is
    true. Whoever calls ``write`` has asked ``check`` before.
    """

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
        """Write the judge to ``place``: an empty folder, or a file that is not yet there.

        The same judge is written in the same bytes each time. ``place`` is a draft that is renamed
        when it is whole, so what is written must not name it.
        """

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row] | None:
        """Return what the exported judge says of each golden item; None where nothing runs.

        Parameters
        ----------
        place : Path
            What ``write`` wrote.
        saved : saved judge
            The judge that it was made from, with its golden items.
        lms : dict of str to dspy.LM
            What answers instead of each of its models: models with a stack of ours, whose ledger
            and budget hold. Requests of the exported judge are to be the judge's own, so that
            what is on record is not asked again.
        """
        return None
