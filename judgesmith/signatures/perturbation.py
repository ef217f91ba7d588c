"""Perturbations of texts, and injected errors."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Literal

from pydantic import Field, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.judgement import Reason
from judgesmith.signatures.plain_data import FrozenModel

Level = Literal["character", "word", "sentence"]
Degree = Literal["minor", "major"]
Method = Literal["rule", "model"]


class Perturbation(FrozenModel):
    """One kind of perturbation.

    Parameters
    ----------
    kind : str
        What is changed, such as ``typos``: small letters, digits and ``_``.
    level : {"character", "word", "sentence"}
        What it changes.
    degree : {"minor", "major"} or None
        How much, where there are two degrees.
    method : {"rule", "model"}
        Who changes the text.
    lowers : bool
        Whether a changed text is worse; False where a judge should say the same of both.

    Examples
    --------
    >>> str(Perturbation(kind="typos", level="character", degree="major"))
    'typos/major'
    """

    kind: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    level: Level
    degree: Degree | None = None
    method: Method = "rule"
    lowers: bool = True

    @property
    def name(self) -> str:
        """Kind and degree, unique among perturbations."""
        return self.kind if self.degree is None else f"{self.kind}/{self.degree}"

    def __str__(self) -> str:
        return self.name


class Edit(FrozenModel):
    """A span of the original and what stands in its place."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str = ""

    @model_validator(mode="after")
    def _changes_something(self) -> Edit:
        if self.end < self.start or (self.end == self.start and not self.text):
            raise InputError(
                f"an edit must change something; got {self.start} to {self.end} by "
                f"{self.text!r:.40}."
            )
        return self


class Perturbed(FrozenModel):
    """A changed text and where it differs from the original."""

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


class Skipped(FrozenModel):
    """A text that could not be changed in this way, such as one that is too short."""

    reason: str
    code: Reason = Field(default=Reason.OTHER, exclude=True, repr=False)


def edited(original: str, edits: Sequence[Edit]) -> str:
    parts, place = [], 0
    for edit in edits:
        if edit.start < place or edit.end > len(original):
            raise InputError(
                f"edits must be sorted, disjoint and in the text of {len(original)} characters; "
                f"got {edit.start} to {edit.end} after {place}."
            )
        parts += [original[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, original[place:]])


Span = tuple[int, int]
"""Start and end in characters of a text, end excluded; equal where something was left out."""


class SubAspect(FrozenModel):
    """One side of a criterion, to which a single error can be put down."""

    criterion: str = Field(min_length=1)
    name: str = Field(min_length=1)
    definition: str = ""


class InjectedError(FrozenModel):
    """One error that was put into a text."""

    sub_aspect: str
    kind: str
    spans: tuple[Span, ...] = Field(min_length=1)
    removed: tuple[str, ...]
    explanation: str = ""


class Target(FrozenModel):
    """A text with the errors that were put into it, in the order in which they were."""

    text: str
    errors: tuple[InjectedError, ...] = ()

    @property
    def n_errors(self) -> int:
        return len(self.errors)


EARLIER_TOUCHED = "an earlier error was touched"
"""The fault of a change that reaches into the place of an error made before it, or mends it."""


def with_error(
    target: Target, edits: Sequence[Edit], *, sub_aspect: str, kind: str, explanation: str = ""
) -> Target | str:
    """Return a target with one more error, or why the change may not be made."""
    changed = edited(target.text, edits)
    if not edits or changed == target.text:
        return "unchanged"
    ends = [edit.end for edit in edits]
    if any(_is_touched(span, edits, ends) for one in target.errors for span in one.spans):
        return EARLIER_TOUCHED
    if mends(target, edits):
        return EARLIER_TOUCHED
    new = InjectedError(
        sub_aspect=sub_aspect,
        kind=kind,
        spans=Perturbed(text=changed, edits=tuple(edits)).spans,
        removed=tuple(target.text[edit.start : edit.end] for edit in edits),
        explanation=explanation,
    )
    shifts = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in edits)]

    def moved(span: Span) -> Span:
        by = shifts[bisect_right(ends, span[0])]
        return span[0] + by, span[1] + by

    kept = tuple(x.model_copy(update={"spans": tuple(map(moved, x.spans))}) for x in target.errors)
    return Target(text=changed, errors=(*kept, new))


def touches(edit: Edit, span: Span) -> bool:
    """Say whether an edit reaches into a span, or where one of them is empty, meets it."""
    start, end = span
    if edit.start == edit.end and start < end:
        after = edit.start == end and edit.text[0].isspace()
        before = edit.start == start and edit.text[-1].isspace()
        return start <= edit.start <= end and not (after or before)
    if edit.start == edit.end or start == end:
        return edit.start <= end and start <= edit.end
    return edit.start < end and start < edit.end


_SAYING = 3  # words that say something twice wherever they stand


def mends(target: Target, edits: Sequence[Edit]) -> bool:
    """Return whether edits delete, elsewhere, the very words that an earlier error inserted."""
    put_in = [
        (span, words)
        for one in target.errors
        for span, removed in zip(one.spans, one.removed, strict=False)
        if not _words(removed) and (words := _whole_words(target.text, span))
    ]
    kept = {_words(edit.text) for edit in edits}
    for edit in edits:
        left_out = _whole_words(target.text, (edit.start, edit.end))
        if _words(edit.text) or left_out in kept:
            continue
        for (start, end), words in put_in:
            between = target.text[min(edit.end, end) : max(edit.start, start)]
            if words == left_out and (len(words) >= _SAYING or not _words(between)):
                return True
    return False


def _whole_words(text: str, span: Span) -> tuple[str, ...]:
    """Return the words at a span; none where it begins or ends within one."""
    start, end = span
    cuts = any(text[at - 1 : at + 1].isalnum() for at in span if 0 < at < len(text))
    return () if cuts else _words(text[start:end])


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def _is_touched(span: Span, edits: Sequence[Edit], ends: Sequence[int]) -> bool:
    for edit in edits[bisect_left(ends, span[0]) :]:
        if edit.start > span[1]:
            return False
        if touches(edit, span):
            return True
    return False
