"""Reading the two grades in an annotator's answer: how bad an error is, how good the whole."""

from __future__ import annotations

import re

from judgesmith.errors import InputError
from judgesmith.signatures.annotating import LEVELS, SEVERITIES
from judgesmith.signatures.answer_scale import Level, is_percent
from judgesmith.signatures.points import read_points, whole
from judgesmith.signatures.scale import PERCENT, Scale

_LONGEST = 400  # characters of a line that are looked at for a grade
_AROUND = " \t\r\n*_`\"'()[]{}<>.:;,“”|"
_SEVERITY_WORDS = {
    **{word.casefold(): grade for grade, word in enumerate(SEVERITIES, start=1)},
    **dict.fromkeys(("trivial", "negligible", "cosmetic", "very low", "可忽略"), 1),
    **dict.fromkeys(("low", "slight", "small", "leicht", "gering", "leve", "mineur", "轻微"), 2),
    **dict.fromkeys(("medium", "mittel", "moderado", "moderada", "modéré", "média", "中等"), 3),
    **dict.fromkeys(("high", "serious", "severe", "schwer", "grave", "majeur", "严重"), 4),
    **dict.fromkeys(("very high", "fatal", "catastrophic", "kritisch", "crítico", "critique"), 5),
    **dict.fromkeys(("crítica", "致命", "very severe", "blocker", "extreme"), 5),
}
_LETTER = r"[^\W\d_]"
_WORD = re.compile(
    rf"(?<!{_LETTER})(?<!not )(?<!non-)"
    rf"(?:{'|'.join(sorted(_SEVERITY_WORDS, key=len, reverse=True))})(?!{_LETTER})",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|never|neither|nor|hardly|barely|below|less than|short of|far from|anything but)"
    rf"|n['’]t)[\s\"'“*]+(?:\w+[\s\"'“*]+){{0,2}}?(?:{'|'.join(LEVELS.labels)})\b",
    re.IGNORECASE,
)
_OUT_OF = r"(?:\s*(?:/|out of|of|von|sur|de)\s*(\d+))?"
_NUMBER = re.compile(rf"(?<![\w.,/])(\d+(?:[.,]\d+)?)(?:\s*[-–]\s*(\d))?{_OUT_OF}(?![\w%])")


def severity_in(text: str) -> float | None:
    """Return how bad an error is said to be, 1 to 5; None where that cannot be read.

    A number goes before a word. Between two grades is what lies in the middle.

    Examples
    --------
    >>> severity_in("4/5 (Major)"), severity_in("**Minor**"), severity_in("2-3")
    (4.0, 2.0, 2.5)
    >>> severity_in("8 of 10"), severity_in("n/a")
    (None, None)
    """
    text = text[:_LONGEST]
    numbers = [one for one in _NUMBER.finditer(text) if one[3] in (None, "5")]
    if numbers:
        low = float(numbers[0][1].replace(",", "."))
        points = (low + float(numbers[0][2])) / 2 if numbers[0][2] else low
        return points if 1 <= points <= 5 else None
    if _NUMBER.search(text):
        return None
    words = [_SEVERITY_WORDS[one[0].casefold()] for one in _WORD.finditer(text)]
    return float(words[0]) if words else None


def level_in(text: str, answers: Scale) -> Level:
    """Return the overall score that a line gives, as ``answers`` writes it.

    A number from 1 to 5 stands for its word, and a word for its number; on 0 to 100 neither does.

    Parameters
    ----------
    text : str
        What stands behind the label of the score.
    answers : Scale
        Five words, 1 to 5, or 0 to 100.

    Raises
    ------
    ValueError
        If it gives none, or two, or says which one it is not.

    Examples
    --------
    >>> from judgesmith.signatures.annotating import LEVELS, POINTS
    >>> level_in("**Good** (4/5): one slip", LEVELS), level_in("Good.", POINTS)
    ('Good', 4)
    >>> level_in("Fair to Good", LEVELS)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: the overall score is not one of Unacceptable, Poor, Fair, Good, \
Excellent alone: 'Fair to Good'.
    """
    line = text[:_LONGEST].strip(_AROUND)
    if is_percent(answers):
        return _percent(line)
    words = _words(line, LEVELS.labels)
    numbers = [_one_to_five(one) for one in _NUMBER.finditer(_head(line))]
    if words:
        numbers = [points for points in numbers if points]  # what is on another scale aside
    given = {float(LEVELS.labels.index(word) + 1) for word in words} | set(numbers)
    allowed = ", ".join(answers.labels) or str(answers)
    if len(given) != 1:
        raise InputError(f"the overall score is not one of {allowed} alone: {line[:80]!r}.")
    (points,) = given
    if not answers.low <= points - (0 if not answers.labels else 1) <= answers.high:
        raise InputError(f"the model answered {points:g}, outside 1..5.")
    if not answers.labels:
        return whole(points)
    if not points.is_integer():
        raise InputError(f"the overall score is not one of {allowed} alone: {line[:80]!r}.")
    return answers.labels[int(points) - 1]


def _words(line: str, labels: tuple[str, ...]) -> list[str]:
    """Return the words of the scale in a line; only those at its beginning if one opens it."""
    name = "|".join(labels)
    alone = re.match(rf"({name})\b(?!\s*(?:[-–/,]|to|or|and)\s*\W*(?:{name})\b)", line, re.I)
    if alone:
        return [_spelled(alone[1], labels)]
    if _NEGATED.search(line):
        return []
    return list(
        dict.fromkeys(
            _spelled(one[0], labels) for one in re.finditer(rf"\b(?:{name})\b", line, re.I)
        )
    )


def _spelled(word: str, labels: tuple[str, ...]) -> str:
    return next(one for one in labels if one.casefold() == word.casefold())


def _percent(line: str) -> Level:
    """Return the number from 0 to 100 that opens a line."""
    points = read_points(_head(line))
    if points not in PERCENT:
        raise InputError(f"the model answered {points:g}, outside {PERCENT}.")
    return whole(points)


def _head(line: str) -> str:
    """Return a line up to where it begins to give reasons."""
    return re.split(r"[:;.,–—]\s|\s-\s|\bbecause\b|\bsince\b", line, maxsplit=1)[0]


def _one_to_five(found: re.Match[str]) -> float:
    if found[2] or found[3] not in (None, "5"):
        return 0.0  # on another scale, or between two levels: none that was asked for
    return float(found[1].replace(",", "."))
