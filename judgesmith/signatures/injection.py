"""A text made worse on purpose, error by error: what each error is and where it stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from pydantic import BaseModel, ConfigDict, Field

from judgesmith.signatures.perturbation import Edit, Perturbed, edited

Span = tuple[int, int]
"""Start and end in characters of a text, end excluded; equal where something was left out."""


class SubAspect(BaseModel):
    """One side of a criterion, to which a single error can be put down.

    Parameters
    ----------
    criterion : str
        Whose side it is.
    name : str
        What it is called, in a few words.
    definition : str
        What a good text does in this respect, in one sentence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    criterion: str = Field(min_length=1)
    name: str = Field(min_length=1)
    definition: str = ""


class InjectedError(BaseModel):
    """One error that was put into a text.

    Parameters
    ----------
    sub_aspect : str
        Name of the sub-aspect that it is bound to.
    kind : str
        The rule that made it, or ``model``.
    spans : tuple of (int, int)
        Where it stands in the text it is in now; several where a sentence was moved.
    removed : tuple of str
        What stood at each span before.
    explanation : str
        What is wrong there, in the words of whoever made it; may be empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sub_aspect: str
    kind: str
    spans: tuple[Span, ...] = Field(min_length=1)
    removed: tuple[str, ...]
    explanation: str = ""


class Target(BaseModel):
    """A text with the errors that were put into it, in the order in which they were.

    Parameters
    ----------
    text : str
        The text as it is now.
    errors : tuple of InjectedError
        None where it is the reference itself.

    Examples
    --------
    >>> Target(text="It rained.").n_errors
    0
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    errors: tuple[InjectedError, ...] = ()

    @property
    def n_errors(self) -> int:
        """How many errors it has."""
        return len(self.errors)


EARLIER_TOUCHED = "an earlier error was touched"
"""The fault of a change that reaches into the place of an error made before it, or mends it."""


def with_error(
    target: Target,
    edits: Sequence[Edit],
    *,
    sub_aspect: str,
    kind: str,
    explanation: str = "",
) -> Target | str:
    """Return a target with one more error, or why the change may not be made.

    Parameters
    ----------
    target : Target
        What is changed.
    edits : sequence of Edit
        The one error, in characters of ``target.text``, in order and apart.
    sub_aspect, kind, explanation : str
        See ``InjectedError``.

    Returns
    -------
    Target or str
        The text with this error last, all earlier ones kept and their places moved along; or
        ``EARLIER_TOUCHED``, or ``unchanged`` where the edits change nothing.

    Raises
    ------
    ValueError
        If edits overlap, are out of order or reach beyond the text.

    Examples
    --------
    >>> first = with_error(
    ...     Target(text="Ann met Bob."), [Edit(start=8, end=11, text="Carla")],
    ...     sub_aspect="names", kind="fictional_entities",
    ... )
    >>> both = with_error(
    ...     first, [Edit(start=0, end=3, text="Daphne")], sub_aspect="names", kind="model"
    ... )
    >>> both.text, [one.spans for one in both.errors]
    ('Daphne met Carla.', [((11, 16),), ((0, 6),)])
    >>> with_error(both, [Edit(start=7, end=12, text="saw")], sub_aspect="verbs", kind="model")
    'an earlier error was touched'

    What an error says twice may not be left out where it was said first, either; see ``mends``.
    """
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

    kept = tuple(
        one.model_copy(update={"spans": tuple(map(moved, one.spans))}) for one in target.errors
    )
    return Target(text=changed, errors=(*kept, new))


def touches(edit: Edit, span: Span) -> bool:
    """Say whether an edit reaches into a span, or where one of them is empty, meets it.

    What is put in right beside a span, and apart from it by a blank, does not touch it.

    Examples
    --------
    >>> [touches(Edit(start=9, end=9, text=put), (3, 9)) for put in ("s", " So.")]
    [True, False]
    """
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
    """Say whether edits leave out, somewhere else, the very words that an earlier error put in.

    Of two equal sentences, or of two equal words in a row, either may be the one too many: without
    the other the error is gone. A word or two that stand apart are no saying: each is by itself.

    Examples
    --------
    >>> twice = with_error(
    ...     Target(text="It was wet. Ann ran."), [Edit(start=20, end=20, text=" It was wet.")],
    ...     sub_aspect="brevity", kind="repetition",
    ... )
    >>> mends(twice, [Edit(start=0, end=12, text="")])
    True
    >>> mends(twice, [Edit(start=0, end=12, text=""), Edit(start=20, end=20, text=" It was wet.")])
    False
    """
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
    """Say whether any of several edits, in order and apart, touches a span."""
    for edit in edits[bisect_left(ends, span[0]) :]:
        if edit.start > span[1]:
            return False
        if touches(edit, span):
            return True
    return False
