"""Reading a supervisor's list of merged errors, as models write it and not only as asked to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.answer_json import values_in
from judgesmith.programs.answers import without_thoughts

_LABEL = re.compile(
    r"\s*+(?:[-*>#•–—]++\s*+)*+(?:\(?\d{1,3}[.):]\s*+)?[*_`]*+"
    r"(?P<label>annotations?|numbers?|merge[sd]|location|span|stretch|quote|severity"
    r"|explanation|reason|why|error|entry|issue)(?:\s++\(?(?P<n>\d{1,3})\)?)?"
    r"[*_`]*+\s*+(?:[:：=]\s*+[*_`]*+\s*+(?P<rest>.*)|\Z)",
    re.IGNORECASE,
)
_MEANS = {
    **dict.fromkeys(("annotation", "annotations", "number", "numbers", "n"), "annotations"),
    **dict.fromkeys(("merge", "merges", "merged"), "annotations"),
    **dict.fromkeys(("location", "span", "stretch", "quote"), "location"),
    **dict.fromkeys(("explanation", "reason", "why"), "explanation"),
    **dict.fromkeys(("error", "entry", "issue"), "entry"),
    "severity": "severity",
}
_NO_ERRORS = re.compile(
    r"[\W_]*(?:(?:there are )?no (?:errors?|issues?|entries)(?: (?:found|remain|left))?|none)"
    r"[\W_]*",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s*_=#`~-]*")  # a line of nothing but marks
_MOST = 1000  # entries that are read; a longer list is none of merged errors
_LONG = 2000  # characters of a line in which a label is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a supervisor says of one error, not yet checked.

    Attributes
    ----------
    numbers : tuple of int
        Of the annotations that it merges, as far as any are named.
    location : str
        As it is written.
    severity : str
        As it is written; the annotators' own counts.
    explanation : str
        Why it is wrong.
    """

    numbers: tuple[int, ...] = ()
    location: str = ""
    severity: str = ""
    explanation: str = ""


def entries_in(answer: str) -> tuple[Entry, ...]:
    r"""Return the entries of a list.

    An entry begins with its first line, or where a line comes that the one before had already;
    lines without a label belong to the explanation or location before them. A list may come as
    JSON as well.

    Raises
    ------
    ValueError
        If there is no entry in it, and it does not say that there are no errors.

    Examples
    --------
    >>> entries_in("Annotations: 1, 3\nLocation: at ten\nSeverity: 4\nExplanation: It was nine.")
    (Entry(numbers=(1, 3), location='at ten', severity='4', explanation='It was nine.'),)
    >>> entries_in("No errors.")
    ()
    >>> entries_in("I would say it is fine.")
    Traceback (most recent call last):
    ...
    judgesmith.InputError: the supervisor's list has no entry with a location and annotations.
    """
    answer = without_thoughts(answer)
    found = []
    listed = _listed(answer)
    for lines in _records(answer) if listed is None else listed:
        entry = Entry(
            numbers=_numbers(lines.get("annotations", "")),
            location=lines.get("location", "").strip(),
            severity=lines.get("severity", "").strip(),
            explanation=lines.get("explanation", "").strip(),
        )
        if entry.numbers or entry.location:
            found.append(entry)
        if len(found) == _MOST:
            break
    if not found and listed != [] and not _NO_ERRORS.fullmatch(answer[:_LONG]):
        raise InputError("the supervisor's list has no entry with a location and annotations.")
    return tuple(found)


def _listed(answer: str) -> list[dict[str, str]] | None:
    """Return the records of the one JSON list in an answer; None if there is no such list."""
    try:
        values = [value for _, _, value in values_in(answer)]
    except ValueError:
        return None
    if len(values) != 1:
        return [] if answer.strip(" \t\n`").removeprefix("json").strip() == "[]" else None
    (value,) = values
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        names = {str(name).casefold() for name in value}
        if names & {"location", "span", "quote"}:
            value = [value]
        elif len(lists) == 1:
            (value,) = lists
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return None
    return [_labelled(one) for one in value]


def _labelled(record: dict[str, Any]) -> dict[str, str]:
    """Return a JSON record as the lines that were asked for."""
    lines: dict[str, str] = {}
    for name, value in record.items():
        means = _MEANS.get(str(name).strip(" *_`").casefold())
        if means is not None and means != "entry" and value is not None:
            lines.setdefault(
                means, " ".join(map(str, value)) if isinstance(value, list) else str(value)
            )
    return lines


def _records(answer: str) -> Iterator[dict[str, str]]:
    """Yield the labelled lines of each entry, by what the labels mean."""
    lines: dict[str, str] = {}
    latest = ""
    for line in answer.splitlines():
        label = _LABEL.fullmatch(line) if len(line) <= _LONG else None
        means = "" if label is None else _MEANS[label["label"].lower()]
        if label is None:
            if latest in ("location", "explanation") and not _RULE.fullmatch(line):
                lines[latest] = f"{lines[latest]}\n{line.strip()}".strip()
            elif not line.strip():
                latest = ""
            continue
        if means == "entry" or means in lines:
            if lines:
                yield lines
            lines = {}
        latest = means
        if means != "entry":
            lines[means] = label["rest"] or ""
    if lines:
        yield lines


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers that are named, ranges such as 2-4 written out."""
    found: dict[int, None] = {}
    for first, last in re.findall(r"(?<!\d)(\d{1,4})(?:\s?[-–]\s?(\d{1,4}))?(?!\d)", text[:_LONG]):
        ends = int(first), int(last or first)
        if ends[1] - ends[0] <= 100:
            found |= dict.fromkeys(range(ends[0], ends[1] + 1))
    return tuple(found)
