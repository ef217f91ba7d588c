"""An annotator's answer that came as JSON, though plain text was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.annotator_levels import level_in, severity_in
from judgesmith.programs.annotator_lines import pieces_of
from judgesmith.programs.annotator_stated import Stated, StatedError, says_none
from judgesmith.programs.answer_json import read_json
from judgesmith.signatures.scale import Scale

_OPENS = re.compile(r"""^[ \t]*+(?:\{|\[\s*+[{\]])|:[ \t]*+\{\s*+["'“‘]""", re.MULTILINE)
_BEFORE = 400  # characters of chatter that may stand before
_KEYS = {
    "errors": ("errors", "annotations", "issues", "problems", "error_list", "error_annotations"),
    "score": ("overall_score", "overall", "score", "rating", "overall_rating", "final_score"),
    "words": (
        *("score_explanation", "overall_explanation", "explanation", "reason", "summary"),
        *("reasoning", "justification", "score_reason"),
    ),
    "location": ("location", "span", "text", "quote", "excerpt", "words", "error", "phrase"),
    "explanation": ("explanation", "description", "reason", "comment", "why", "issue", "problem"),
    "severity": ("severity", "severity_level", "severity_score", "level", "score", "grade"),
}
_MOST = 200


def stated_in_json(text: str, answers: Scale) -> Stated | None:
    """Return what an answer says that is JSON; None where it is none.

    Raises
    ------
    ValueError
        If it is, and has no overall score.

    Examples
    --------
    >>> from judgesmith.signatures.annotating import LEVELS
    >>> stated_in_json('{"errors": [{"Location": "x", "severity": 2}], "overall": "Good"}', LEVELS)
    Stated(errors=(StatedError(location='x', explanation='', severity=2.0),), score='Good', \
explanation='')
    """
    text = text.lstrip()
    opened = _OPENS.search(text, 0, _BEFORE)
    if opened is None or any(map(_begins_an_error, text[: opened.start() + 1].split("\n"))):
        return None
    try:
        value = read_json(text, Any)
    except ValueError:
        return None
    record: Mapping[str, Any] = {}
    errors: Any = value
    if isinstance(value, Mapping):
        record = _plain_keys(value)
        errors = _of(record, "errors")
    if not isinstance(errors, list | str | Mapping | None) or (not record and not errors):
        return None
    score = _of(record, "score")
    if score is None:
        score = _after(text)
    if isinstance(score, Mapping):  # {"overall": {"score": …, "explanation": …}}
        inner = _plain_keys(score)
        record = {**record, **{k: v for k, v in inner.items() if k in _KEYS["words"]}}
        score = _of(inner, "score")
    if score is None or isinstance(score, bool):
        raise InputError("there is no overall score in it, though it is JSON.")
    found = _errors(errors)
    words = str(_of(record, "words") or "")
    return Stated(errors=found, score=level_in(str(score), answers), explanation=words)


def _begins_an_error(line: str) -> bool:
    """Say whether a line tells of an error, so that JSON in it or below it is what it quotes."""
    return any(one.label in ("location", "explanation", "severity") for one in pieces_of(line))


def _errors(given: Any) -> tuple[StatedError, ...]:
    if isinstance(given, Mapping):
        given = [given] if _of(_plain_keys(given), "location") else list(given.values())
    if isinstance(given, str) or given is None:
        given = [] if given is None or says_none(given) else [given]
    found = []
    for one in given[:_MOST]:
        if isinstance(one, Mapping):
            plain = _plain_keys(one)
            location, words = _of(plain, "location"), str(_of(plain, "explanation") or "")
            if isinstance(location, list):
                location = " and ".join(f'"{part}"' for part in location)
            severity = _of(plain, "severity")
            error = StatedError(
                location=str(location or "").strip(),
                explanation=words.strip(),
                severity=None if severity is None else severity_in(str(severity)),
            )
        else:
            error = StatedError(location="", explanation=str(one).strip(), severity=None)
        if not says_none(error.explanation or error.location):
            found.append(error)
    return tuple(one for one in found if one.location or one.explanation)


def _plain_keys(record: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"[\W_]+", "_", str(key)).strip("_").casefold(): v for key, v in record.items()}


def _of(record: Mapping[str, Any], part: str) -> Any:
    """Return the first of the keys that a part may be called by."""
    return next((record[key] for key in _KEYS[part] if key in record), None)


def _after(text: str) -> str | None:
    """Return the score that stands behind a list of errors, in words."""
    rest = text[max(text.rfind("]"), text.rfind("}")) + 1 :].strip()
    said = re.match(r"[\W_]*(?:overall|final)?[ _]*(?:score|rating)?[\W_]*[:=]\s*(.+)", rest, re.I)
    return said[1] if said else (rest if 0 < len(rest) <= 40 else None)
