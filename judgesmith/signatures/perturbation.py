"""A way to change a text, and what it made of one: replaced spans, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judgesmith.errors import InputError

Level = Literal["character", "word", "sentence"]
Degree = Literal["minor", "major"]
Method = Literal["rule", "model"]


class Perturbation(BaseModel):
    """One way to change texts.

    Parameters
    ----------
    kind : str
        What is done, such as ``character_typos``.
    level : {"character", "word", "sentence"}
        What is changed.
    degree : {"minor", "major"} or None
        How much of it; None where there is one degree alone.
    method : {"rule", "model"}
        Who changes it.
    lowers : bool
        Whether the text gets worse. False for a control, which must not lower a score.

    Examples
    --------
    >>> Perturbation(kind="character_typos", level="character", degree="minor").name
    'character_typos/minor'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    level: Level
    degree: Degree | None = None
    method: Method = "rule"
    lowers: bool = True

    @property
    def name(self) -> str:
        """What tells it from all others: kind and degree."""
        return self.kind if self.degree is None else f"{self.kind}/{self.degree}"

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class Edit(BaseModel):
    """A span of the original and what stands in its place.

    Parameters
    ----------
    start, end : int
        The span, in characters of the original; empty (equal) where something is put in.
    text : str
        What replaces it; empty where something is left out.

    Raises
    ------
    ValueError
        If the span ends before it starts, or neither removes nor adds anything.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str = ""

    @model_validator(mode="after")
    def _changes_something(self) -> Edit:
        if self.end < self.start or (self.end == self.start and not self.text):
            raise InputError(
                f"an edit replaces a span by a text; got {self.start} to {self.end} by "
                f"{self.text!r:.40}."
            )
        return self


class Perturbed(BaseModel):
    """A changed text and where it differs from the original.

    Parameters
    ----------
    text : str
        The changed text, whole.
    edits : tuple of Edit
        In order of the original, none overlapping: ``edited(original, edits) == text``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    edits: tuple[Edit, ...]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where each edit stands in the changed text: start and end, in characters."""
        places, moved = [], 0
        for edit in self.edits:
            start = edit.start + moved
            places.append((start, start + len(edit.text)))
            moved += len(edit.text) - (edit.end - edit.start)
        return tuple(places)


class Skipped(BaseModel):
    """A text that could not be changed in this way, such as one that is too short.

    Parameters
    ----------
    reason : str
        Why, in a few words without a full stop, to be counted by.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str


def edited(original: str, edits: Sequence[Edit]) -> str:
    """Return a text with spans replaced.

    Parameters
    ----------
    original : str
        The text.
    edits : sequence of Edit
        In order of the original, none overlapping.

    Raises
    ------
    ValueError
        If edits overlap, are out of order or reach beyond the text.

    Examples
    --------
    >>> edited("a good day", [Edit(start=2, end=6, text="bad")])
    'a bad day'
    >>> Perturbed(text="a bad day", edits=(Edit(start=2, end=6, text="bad"),)).spans
    ((2, 5),)
    """
    parts, place = [], 0
    for edit in edits:
        if edit.start < place or edit.end > len(original):
            raise InputError(
                f"edits are in order, apart and inside the text of {len(original)} characters; "
                f"got {edit.start} to {edit.end} after {place}."
            )
        parts += [original[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, original[place:]])
