"""What scores are measured in: a scale, how models write points on it, and the way to others."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from judgesmith.errors import InputError, did_you_mean
from judgesmith.signatures.plain_data import FrozenModel, record_faults

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
POSITIVE = ("pass", "yes", "true")
"""Labels that good responses get, where none is named as positive."""
NEGATIVE = ("fail", "no", "false")
"""Their counterparts, in the same order."""

_RANGE = re.compile(rf"\s*{_NUMBER}\s*(?:\.\.|:|to|,|-|–)\s*{_NUMBER}\s*", re.IGNORECASE)


class Scale(FrozenModel):
    """The points a score may take, from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        The ends of the scale, in points; ``low`` is below ``high``. In place of both, ``"1..5"``,
        ``(1, 5)``, ``"bad|fair|good"`` or ``["bad", "fair", "good"]``.
    kind : {"numeric", "integer", "categorical"}
        Any number, whole points only, or one of ``labels``.
    labels : tuple of str
        Names of the whole points in order, worst meaning at ``low``; categorical scales only.
    higher_is_better : bool
        False for scales that count faults.
    positive : str or None
        The label of good responses, where the labels are verdicts such as pass and fail; None on
        scales of ratings. See :meth:`of_labels`.
    ordered : bool
        False for three or more verdicts without an order; scores are then from 0 to 1, the
        probability of the positive one.

    Raises
    ------
    ValueError
        If the bounds are not finite and in order, not whole where points are, or labels and
        kind disagree.

    Examples
    --------
    >>> likert = Scale(1, 5, kind="integer")
    >>> likert.fraction(4), likert.points(0.5)
    (0.75, 3.0)
    >>> 6 in likert, 4 in likert, 4.5 in likert
    (False, True, False)
    >>> Scale.categorical("poor", "fair", "good").read("fair")
    1.0
    >>> str(Scale.parse("1..5"))
    '1..5'
    """

    low: float
    high: float
    kind: Literal["numeric", "integer", "categorical"] = "numeric"
    labels: tuple[str, ...] = Field(default=(), description="names of the points, low end first")
    higher_is_better: bool = True
    # Left out of files where they are as for ratings.
    positive: str | None = Field(
        default=None, description="the label of good responses", exclude_if=lambda one: one is None
    )
    ordered: bool = Field(default=True, exclude_if=lambda one: one)

    if TYPE_CHECKING:

        def __init__(
            self,
            low: float | str | Sequence[float] = ...,
            high: float = ...,
            *,
            kind: Literal["numeric", "integer", "categorical"] = "numeric",
            labels: Sequence[str] = (),
            higher_is_better: bool = True,
            positive: str | None = None,
            ordered: bool = True,
        ) -> None: ...
    else:

        def __init__(self, *ends: Any, **fields: Any) -> None:
            if len(ends) > 2:
                raise TypeError(f"Scale takes a low and a high end: Scale(1, 5); got {ends}.")
            with record_faults(type(self).model_fields):
                if len(ends) == 1:
                    fields = {**dict(type(self).model_validate(ends[0])), **fields}
                elif ends:
                    fields = {"low": ends[0], "high": ends[1], **fields}
                super().__init__(**fields)

        __init__.__pydantic_base_init__ = True  # no part of reading one: see SettingsModel

    @model_validator(mode="before")
    @classmethod
    def _from_short_forms(cls, value: Any) -> Any:
        if isinstance(value, str):
            return _written(value)
        if isinstance(value, list | tuple) and any(_is_word(one) for one in value):
            return _written("|".join(map(str, value)))
        if isinstance(value, list | tuple) and len(value) == 2:
            return {"low": value[0], "high": value[1]}
        if isinstance(value, Mapping) and value.get("ordered") is False:
            return {**value, "low": 0, "high": 1}  # earlier files count the labels
        if isinstance(value, int | float):
            value = (value,)
        if not isinstance(value, list | tuple | range):
            return value
        first = value[0] if len(value) > 1 and isinstance(value[0], int) else None
        if first is None or list(value) != list(range(first, first + len(value))):
            raise InputError(f"a scale has two ends, as in (1, 5) or 1..5; got {value!r}.")
        return {"low": first, "high": value[-1], "kind": "integer"}

    @model_validator(mode="after")
    def _something_to_choose_between(self) -> Self:
        if (self.kind == "categorical") != bool(self.labels):
            raise InputError("a categorical scale needs labels, and other scales cannot have any.")
        if not math.isfinite(self.high - self.low) or self.low >= self.high:
            raise InputError(f"low must be below high; got {self.low:g} and {self.high:g}.")
        if self.kind != "numeric" and not (self.low.is_integer() and self.high.is_integer()):
            raise InputError(
                f"the ends of an integer scale must be whole; got {self.low:g} and {self.high:g}."
            )
        if self.labels:
            if len(set(self.labels)) != len(self.labels):
                raise InputError(f"labels must differ from each other; got {list(self.labels)}.")
            if self.ordered and self.high - self.low != len(self.labels) - 1:
                raise InputError(
                    f"{len(self.labels)} labels need {len(self.labels)} whole points; "
                    f"got {self.low:g} to {self.high:g}."
                )
        if self.positive is not None and self.positive not in self.labels:
            raise InputError(
                f"the positive label must be one of {', '.join(self.labels) or '(no labels)'}; "
                f"got {self.positive!r}.",
                hint=did_you_mean(self.positive, self.labels),
            )
        if not self.ordered and (self.positive is None or self.positive != self.labels[-1]):
            raise InputError("of labels without an order, the positive one must be the last.")
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the scale of ``"1..5"`` (also ``1:5``, ``1 to 5``) or ``"bad|fair|good"``."""
        return cls(**_written(text))

    @classmethod
    def categorical(cls, *labels: str) -> Self:
        """Return a scale of named points 0, 1, …, the worst name first."""
        if len(labels) < 2:
            raise InputError(f"a categorical scale needs two labels or more; got {list(labels)}.")
        return cls(low=0, high=len(labels) - 1, kind="categorical", labels=labels)

    @classmethod
    def of_labels(cls, *labels: str, positive: str | None = None, ordered: bool = False) -> Self:
        """Return the scale of labels that are no ratings, such as fail and pass.

        ``positive`` is the label of good responses; without it this is ``pass``, ``yes`` or
        ``true``, else the best of ordered labels. Labels keep their order, worst first, where
        they are ``ordered``; otherwise the positive one becomes the last.

        Examples
        --------
        >>> verdicts = Scale.of_labels("pass", "fail")
        >>> verdicts.labels, verdicts.positive, verdicts.is_verdict
        (('fail', 'pass'), 'pass', True)
        >>> Scale.of_labels("rude", "wrong", "right", positive="right").ordered
        False
        """
        known = next((one for one in labels if one.casefold() in POSITIVE), None)
        positive = positive or known or (labels[-1] if ordered and labels else None)
        if positive is None:
            raise InputError(
                f"the labels {', '.join(labels)} do not say which of them good responses get.",
                hint="name it: --positive LABEL, in Python positive=.",
            )
        keeps = ordered and (len(labels) > 2 or labels[-1] == positive)
        if not keeps and positive in labels:
            labels = (*(one for one in labels if one != positive), positive)
        plain = cls.categorical(*labels)
        ordered = ordered or len(labels) == 2
        return cls(**{**dict(plain), "positive": positive, "ordered": ordered})

    @property
    def is_verdict(self) -> bool:
        """Whether this is a set of labels with a positive one, and no scale of ratings."""
        return self.positive is not None

    @property
    def good_from(self) -> float:
        """The least points of a target that say of a response that it is good."""
        return self.read(self.positive) if self.ordered else self.high

    def __str__(self) -> str:
        """Return ``low..high`` or, of verdicts, their labels: the form that :meth:`parse` reads."""
        if self.is_verdict:
            return "|".join(self.labels)
        return f"{shortest(self.low)}..{shortest(self.high)}"

    def __contains__(self, points: object) -> bool:
        """Say whether ``points`` is an answer that this scale allows."""
        number = _number(points)
        if not self.low <= number <= self.high:
            return False
        return self.kind == "numeric" or number.is_integer()

    def read(self, answer: object) -> float:
        """Return the points of a label or a number."""
        if (label := self.label(answer)) is not None:
            return self.low + self.labels.index(label)
        try:
            points = float(answer) if isinstance(answer, str) else _number(answer)
        except ValueError:
            points = math.nan
        if points not in self:
            allowed = ", ".join(self.labels) if self.labels else str(self)
            raise InputError(f"expected an answer on the scale {allowed}; got {answer!r}.")
        return points

    def label(self, answer: object) -> str | None:
        """Return the label that an answer is, in any case of letters; None where it is none."""
        if isinstance(answer, str) and answer in self.labels:
            return answer
        if not self.is_verdict:
            return None
        if isinstance(answer, bool):
            answer = "true" if answer else "false"
        elif isinstance(answer, Real) and float(answer).is_integer():
            answer = shortest(float(answer))
        said = str(answer).strip().casefold()
        by_name = {one.casefold(): one for one in self.labels}
        if said in by_name:
            return by_name[said]
        same = {*POSITIVE}, {*NEGATIVE}
        if isinstance(answer, str) and said in ("true", "false") and len(self.labels) == 2:
            meant = same[said == "false"]
            return next((one for one in self.labels if one.casefold() in meant), None)
        return None

    def fraction(self, points: float) -> float:
        """Map points to a fraction of the range: 0 is worst, 1 is best."""
        share = (points - self.low) / (self.high - self.low)
        return share if self.higher_is_better else 1 - share

    def points(self, fraction: float) -> float:
        """Map a fraction of the range, 0 worst and 1 best, to points. Not rounded."""
        share = fraction if self.higher_is_better else 1 - fraction
        return self.low + share * (self.high - self.low)

    def percent_of_max(self, points: float) -> float:
        """Map points to percent of the highest point: 20, not 0, at the low end of 1..5.

        It is what Active-Critic's printed examples show to the model. A scale below 0 or of faults
        is refused, where the share would not say how good it is.

        Examples
        --------
        A summary that its raters gave 5, 5, 13/3 and 10/3 on SummEval's four criteria:

        >>> likert, mean = Scale(low=1, high=5), (5 + 5 + 13 / 3 + 10 / 3) / 4
        >>> round(likert.percent_of_max(mean), 2), round(100 * likert.fraction(mean), 2)
        (88.33, 85.42)
        """
        if self.low < 0 or not self.higher_is_better:
            faults = "" if self.higher_is_better else ", which counts faults"
            raise InputError(
                "percent of the maximum needs a scale from 0 or above on which more is better; "
                f"got {self}{faults}."
            )
        return 100 * points / self.high


PERCENT = Scale(low=0, high=100)
"""What a raw judge answers on: 0 is worst, 100 is best."""

NO_YES = Scale.categorical("no", "yes")  # what the question of a checklist is answered with

PREFERENCES = Scale.categorical("B", "tie", "A")
"""What a comparison is answered with; the better the text that is shown first, the higher."""

THREE = Scale.categorical("Worse", "Similar", "Better")
"""How a second text compares with a first one."""

YES_NO = Scale.categorical("No", "Yes")  # whether a first text is better than a second one


def _is_word(value: object) -> bool:
    return isinstance(value, str) and not re.fullmatch(rf"\s*{_NUMBER}\s*", value)


def _number(value: object) -> float:
    """Return a real number of any type as float; nan for everything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def shortest(number: float) -> str:
    """Return the shortest text that reads as ``number`` again: 5 rather than 5.0."""
    return repr(float(number)).removesuffix(".0")


def _written(text: str) -> dict[str, Any]:
    """Return the fields of a scale that is written as a range or as labels, worst first."""
    if "|" not in text:
        return _range_of(text)
    labels = tuple(one.strip() for one in text.split("|"))
    if len(labels) == 2:  # the better of two labels is what good responses get
        return dict(Scale.of_labels(*labels, positive=labels[1], ordered=True))
    return dict(Scale.categorical(*labels))


def _range_of(text: str) -> dict[str, Any]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(f"a scale must be written LOW..HIGH, as in 1..5; got {text!r}.")
    return {"low": float(found[1]), "high": float(found[2])}


# Runs of blanks and marks are possessive (``*+``): what they took they do not give back.
@functools.lru_cache(maxsize=64)
def _pattern(low: str, high: str) -> re.Pattern[str]:
    """Return what a number from ``low`` to ``high`` looks like in an answer."""
    wide = high.translate(_WIDE)
    return re.compile(
        rf"""[\s*_`"'(\[<]*+                                      # quotes and markdown before
        (?:(?:the\s+)?
           (?:(?:(?:overall|final)\s+)?(?:score|rating|grade)|overall)
           (?:\s*\({low}\s*[-–]\s*{high}\))?                    # "Score (0-100)"
           [\s*_`"']*+(?:[:=：]|is\b)?                        # "Score:", "**Score**:", "score is"
        |[:=：])?
        [\s*_`"'(\[<]*+
        (?:\+(?=\d))?(-?\d+(?:\.\d+)?)                                     # the number
        [\s*_`"'\])>]*+
        (?:\(?\s*(?:[/／]|out\s+of)[\s*_`]*+(?:{high}|{wide})(?:\.0+)?)?    # "/100"
        [\s*_`"')]*+
        (?:[%％分点點점]|points?|pts?)?
        [\s*_`"')\]>.。]*+""",
        re.VERBOSE | re.IGNORECASE,
    )


_WIDE = {ord("0") + digit: ord("０") + digit for digit in range(10)}

# A pattern is tried in several ways; nothing this long is one number.
_LONGEST = 100

AROUND = " \t\r\n*_`\"'()[]<>.。:!“”‘’"
_CALLED = re.compile(
    r"(?:(?:the\s+)?(?:overall|final)\s+)?(?:score|rating|grade|answer|verdict)[\s*_`\"']*+"
    r"(?:[:=：]|\bis\b)",
    re.IGNORECASE,
)

_YES = frozenset({"yes", "y", "true", "complete"})
_NO = frozenset({"no", "n", "false", "incomplete", "not"})
_FIRST_WORD = re.compile(
    r"[\W_]*+(?:(?:is_)?(?:complete|answer|verdict)[\s*_`\"']*+[:=：][\W_]*+)?([^\W\d_]+)",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"[\s*_`\"'“‘(\[]*+(yes|no|true|false)[\s*_`\"'”’)\]]*+(?:$|[.,;:!–—])", re.IGNORECASE
)


def read_points(answer: object, scale: Scale = PERCENT) -> float:
    """Return the number that an answer gives, read leniently but without guessing."""
    found = None
    if isinstance(answer, str):
        text = answer.strip()
        pattern = _pattern(f"{scale.low:g}", f"{scale.high:g}")
        found = pattern.fullmatch(text) if len(text) <= _LONGEST else None
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        try:
            return float(answer)
        except OverflowError:
            answer = "a whole number of more than 300 digits"
    if found is None:
        raise InputError(
            f"expected one number from {scale.low:g} to {scale.high:g}; got {str(answer)[:80]!r}."
        )
    return float(found[1])


def read_level(answer: object, scale: Scale) -> float | str:
    """Return the number or, on a scale of words, the word that an answer gives."""
    if not scale.labels:
        return read_points(answer, scale)
    exactly = str(answer).strip().casefold()
    if found := next((one for one in scale.labels if one.casefold() == exactly), None):
        return found
    text = str(answer)[:_LONGEST].strip(AROUND)
    if called := _CALLED.match(text):
        text = text[called.end() :].strip(AROUND)
    said = text.casefold()
    for label in scale.labels:
        if said == label.casefold().strip(AROUND):
            return label
    by_name = {label.casefold(): label for label in scale.labels}
    if by_name.keys() == {"no", "yes"} and (first := _YES_OR_NO.match(text)):
        again = _YES_OR_NO.match(text, first.end())
        if again is None or read_yes(again[1]) == read_yes(first[1]):
            return by_name["yes" if read_yes(first[1]) else "no"]
    raise InputError(f"expected one of {', '.join(scale.labels)}; got {str(answer)[:80]!r}.")


def read_yes(answer: object) -> bool:
    found = _FIRST_WORD.match(str(answer))
    word = found[1].casefold() if found else ""
    if word not in _YES | _NO:
        raise InputError(f"expected yes or no; got {str(answer).strip()[:80]!r}.")
    return word in _YES


def whole(points: float) -> int | float:
    """Return a whole number as ``int``, so that it is written ``85``, and any other as it is."""
    return int(points) if points == points // 1 else points


Level = int | float | str
"""An answer as it is written: a number, or a word."""


def percent_of(answer: Level, scale: Scale) -> float:
    if isinstance(answer, str):
        points = scale.read(answer)
        if not scale.ordered:
            return 100.0 * (scale.label(answer) == scale.positive)
    else:
        points = float(answer)
        # A model that answers between two points of a scale says something, too.
        if not scale.low <= points <= scale.high:
            raise InputError(f"the model answered {points:g}, outside {scale}.")
    return points if is_percent(scale) else 100 * scale.fraction(points)


def level_of(percent: float, scale: Scale) -> Level:
    """Return the level nearest to what is meant, of 0 to 100; halves go to the middle."""
    if is_percent(scale):
        return whole(percent)
    points = scale.points(percent / 100)
    if not scale.ordered:
        return scale.labels[-1 if points >= 0.5 else 0]
    nearest = round(points)
    if abs(points - int(points)) == 0.5:
        up, middle = int(points) + 1, (scale.low + scale.high) / 2
        nearest = up if points < middle else up - 1
    return scale.labels[nearest - int(scale.low)] if scale.labels else nearest


@functools.lru_cache(maxsize=64)
def levels_of(scale: Scale) -> dict[str, float]:
    """Return what each level of a scale comes to on 0 to 100, by how it is written; worst first."""
    if not scale.ordered:
        return {name: 100.0 * (name == scale.positive) for name in scale.labels}
    points = range(int(scale.low), int(scale.high) + 1)
    written = scale.labels or tuple(map(str, points))
    return {name: 100 * scale.fraction(one) for name, one in zip(written, points, strict=True)}


def is_percent(scale: Scale) -> bool:
    return (scale.low, scale.high, scale.labels) == (PERCENT.low, PERCENT.high, ())
