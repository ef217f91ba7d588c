"""Reading answers that end on a marked result: words, then a mark, then the verdict.

Only what the model wrote is read, never the prompt, and only what stands at its very end: a
marker that is quoted in the words before it decides nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgesmith.errors import InputError
from judgesmith.programs.judging.parsing import read_record
from judgesmith.signatures.scale import Scale, read_points

_OPENING = re.compile(r"\A[\s#*_]*+feedback\s*+:[*_]*+\s*", re.IGNORECASE)
_ENDING = re.compile(r"(?:\s|</s>|<\|\w+\|>)+\Z")
_HEADING = re.compile(r"^\s*(?:#{2,}|\[(?:BEGIN DATA|Query|INST)\])", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = ("feedback", "analysis", "critique", "explanation")
_AROUND = " \t\r\n*_`\"'()[]<>.:"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultMark:
    """What stands between the words of an answer and its result."""

    name: str
    pattern: re.Pattern[str]
    closing: str = ""


RESULT = ResultMark(name="[RESULT]", pattern=re.compile(r"\[\s*+RESULT\s*+\]", re.IGNORECASE))
"""The mark of Prometheus."""


def read_scored(answer: str, scale: Scale, mark: ResultMark = RESULT) -> tuple[str, int]:
    """Return the words of an answer and its score, in whole points of ``scale``."""
    if not mark.pattern.search(answer) and (found := _in_json(answer, scale)):
        return found
    words, said = _parted(answer, mark)
    try:
        points = read_points(said, scale)
    except ValueError:
        points = None
    if points is None or not points.is_integer():
        raise InputError(
            f"expected a whole number from {scale.low:g} to {scale.high:g} after {mark.name}; got "
            f"{said[:80]!r}."
        )
    if not scale.low <= points <= scale.high:
        raise InputError(f"the model answered {points:g}, outside {scale}.")
    return words, int(points)


def _in_json(answer: str, scale: Scale) -> tuple[str, int] | None:
    """Return what the one JSON object of an answer gives.

    None where it gives no words and score.
    """
    for words in _WORDS:
        for score in ("score", "rating"):
            found = read_record(answer, {words: str, score: int}, scale)
            if found is not None:
                points = found[score]
                if points != int(points) or not scale.low <= points <= scale.high:
                    raise InputError(f"the model answered {points:g}, outside {scale}.")
                return found[words], int(points)
    return None


def read_chosen(answer: str, names: tuple[str, ...]) -> tuple[str, str]:
    """Return the words of an answer and which of a few names it ends on."""
    words, said = _parted(answer, RESULT)
    plain = said.strip(_AROUND).casefold()
    for name in names:
        if plain in (name.casefold(), f"response {name.casefold()}"):
            return words, name
    raise InputError(f"expected {' or '.join(names)} after [RESULT]; got {said[:80]!r}.")


def _parted(answer: str, mark: ResultMark) -> tuple[str, str]:
    """Return what stands before the last mark, and what stands after it."""
    text = _OPENING.sub("", _SURROGATE.sub("\ufffd", answer))
    text = _ENDING.sub("", text)
    marks = list(mark.pattern.finditer(text))
    if not marks:
        raise InputError(f"there is no {mark.name} in it: {text[:80]!r}.")
    if len(marks) > 1 and _HEADING.search(text, marks[0].end()):
        raise InputError("it goes on with another question after its result.")
    said = text[marks[-1].end() :].strip()
    if mark.closing:
        said, closing, rest = said.partition(mark.closing)
        if not closing or rest.strip(_AROUND):
            raise InputError(
                f"expected {mark.closing} after the number, and nothing more; got "
                f"{(said + closing + rest)[:80]!r}."
            )
    return text[: marks[-1].start()].strip(), said.strip()
