"""What a search says to others that run the same search at the same time, and share its work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

Shared = TypeVar("Shared", contravariant=True)


class Together(Protocol[Shared]):
    """Told what a search is about to ask, so that several workers may share it out.

    Nothing that comes out depends on it: what was not shared out is asked where it is needed.
    """

    def alone(self, what: str) -> AbstractContextManager[None]:
        """Return a block that one worker goes through first while the others wait for its end."""

    def made(self, configurations: Sequence[Mapping[str, str]]) -> None:
        """Share out what is asked to make the candidates of these configurations."""

    def judged(self, candidates: Sequence[Shared], rows: Sequence[int]) -> None:
        """Share out what these candidates are asked about the rows at these places."""


class ByItself:
    """The only worker there is.

    Examples
    --------
    >>> with ByItself().alone("proposals"):
    ...     print("nobody to wait for")
    nobody to wait for
    """

    def alone(self, what: str) -> AbstractContextManager[None]:
        """Return a block like any other."""
        return nullcontext()

    def made(self, configurations: Sequence[Mapping[str, str]]) -> None:
        """Do nothing."""

    def judged(self, candidates: Sequence[object], rows: Sequence[int]) -> None:
        """Do nothing."""
