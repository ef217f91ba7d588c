"""The scale of every criterion: stated by the rows, given by the user, never guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from judgesmith.errors import InputError
from judgesmith.experiments.columns import OVERALL
from judgesmith.experiments.problems import Problem, shown
from judgesmith.signatures.scale import Scale

ScaleGiven = Scale | str | Mapping[str, Any] | None
"""A scale for all criteria, or one per criterion; texts as in ``1..5`` and ``fluency=1..5``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScales:
    """What the user said about scales.

    Parameters
    ----------
    default : Scale or None
        For criteria whose scale neither the rows nor ``by_criterion`` state.
    by_criterion : dict of str to Scale
        These win over what the rows state.
    """

    default: Scale | None = None
    by_criterion: Mapping[str, Scale] = field(default_factory=dict)

    def of(self, criterion: str, stated: Scale | None) -> Scale | None:
        """Return the scale that holds for a criterion, or None where nobody said."""
        return self.by_criterion.get(criterion) or stated or self.default

    def beside(self, known: Mapping[str, Scale]) -> GivenScales:
        """Return the same with the scales of more criteria, where the user gave none by name."""
        return GivenScales(default=self.default, by_criterion={**known, **self.by_criterion})


def given_scales(given: ScaleGiven) -> GivenScales:
    """Return what the user said about scales, in whatever form, as one record.

    Raises
    ------
    ValueError
        If it cannot be read as scales.

    Examples
    --------
    >>> said = given_scales("1..5,fluency=0..1")
    >>> str(said.default), str(said.by_criterion["fluency"])
    ('1..5', '0..1')
    """
    if given is None:
        return GivenScales()
    if isinstance(given, Scale):
        return GivenScales(default=given)
    if isinstance(given, Mapping):
        pairs = [(str(name), value) for name, value in given.items()]
    elif isinstance(given, str):
        # `1,5` is a range too, so that commas separate scales only where a criterion is named.
        parts = given.split(",") if "=" in given else [given]
        pairs = [_pair(part) for part in parts]
    else:
        raise TypeError(f"a scale is a Scale, a text or a mapping; got {type(given).__name__}.")
    default: Scale | None = None
    by_criterion: dict[str, Scale] = {}
    for name, value in pairs:
        try:
            scale = as_scale(value)
        except ValueError as fault:
            raise InputError(f"{fault}.") from None
        criterion = OVERALL if name == "score" else name
        if criterion in by_criterion or (not criterion and default is not None):
            raise InputError(f"the scale of {criterion or 'all criteria'} is given twice.")
        if criterion:
            by_criterion[criterion] = scale
        else:
            default = scale
    return GivenScales(default=default, by_criterion=by_criterion)


def _pair(part: str) -> tuple[str, str]:
    name, equals, text = part.rpartition("=")
    if equals and not name.strip():
        raise InputError(f"a scale is written CRITERION=LOW..HIGH or LOW..HIGH; got {part!r}.")
    return name.strip(), text


def as_scale(value: Any) -> Scale:
    """Return the scale that ``[1, 5]``, ``"1..5"`` or a scale's fields state.

    Raises
    ------
    ValueError
        In one sentence, if they state none.

    Examples
    --------
    >>> str(as_scale([1, 5]))
    '1..5'
    """
    try:
        return Scale.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        reason = str(first.get("ctx", {}).get("error", first["msg"]))
        raise InputError(reason.rstrip(".")) from None


class StatedScales:
    """Scales as the rows state them: one per criterion, the same on every row.

    Attributes
    ----------
    by_criterion : dict of str to Scale
        The first statement about each criterion.
    """

    def __init__(self) -> None:
        self.by_criterion: dict[str, Scale] = {}
        self._first: dict[str, str] = {}
        self._read: dict[str, Scale] = {}

    def state(self, criterion: str, value: Any, *, where: str) -> Problem | None:
        """Take one row's statement; return a problem if it is none or contradicts the first."""
        try:
            # Rows repeat themselves: each spelling is read once.
            spelling = json.dumps(value, default=repr)
            scale = self._read.get(spelling) or as_scale(value)
            self._read[spelling] = scale
        except ValueError as error:
            return Problem(
                where=where,
                field=f"scale.{criterion}",
                expected="[lowest, highest]",
                came=f"{shown(value)} ({str(error).partition('; got ')[0]})",
            )
        known = self.by_criterion.setdefault(criterion, scale)
        first = self._first.setdefault(criterion, where)
        if known == scale:
            return None
        return Problem(
            where=where,
            field=f"scale.{criterion}",
            expected=f"{known}, as stated first ({first})",
            came=str(scale),
        )
