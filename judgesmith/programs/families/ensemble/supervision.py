"""How a supervisor is asked to merge errors, and how its list is read and checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.families.ensemble.merging import (
    Annotation,
    Merged,
    merged_by_rule,
    merged_error,
    shown,
)
from judgesmith.programs.families.steps.annotator_answers import quoted_in
from judgesmith.programs.judging.json_answers import values_in
from judgesmith.programs.judging.parsing import without_thoughts
from judgesmith.programs.judging.program import AnySteps, Ask, Calls, asked
from judgesmith.programs.judging.spans import Locator, Place

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
    """What a supervisor says of one error, not yet checked."""

    numbers: tuple[int, ...] = ()
    location: str = ""
    severity: str = ""
    explanation: str = ""


def entries_in(answer: str) -> tuple[Entry, ...]:
    r"""Return the entries of a list."""
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


_LONGEST = 4_000  # characters of a location in which several quotations are looked for
_MOST_PLACES = 8  # of the annotations that an entry names, around which its words are looked for


def checked(
    entries: Sequence[Entry], annotations: Sequence[Annotation], response: str
) -> tuple[list[Merged], int]:
    """Return the errors that stand, and how many entries do not."""
    by_number = {one.number: one for one in annotations}
    anywhere = Locator(response)
    most = 2 * len(annotations) + 8
    single = [one for entry in entries[:most] for one in _by_stretch(entry, anywhere)]
    found: list[Merged] = []
    for entry in single:
        named = [by_number[number] for number in entry.numbers if number in by_number]
        place = _around(entry.location, named, response) if named else anywhere(entry.location)
        one = _merged(entry, place, named or annotations, response)
        if one is not None and not any(one.error == other.error for other in found):
            found.append(one)
    n_unread = max(len(entries) - most, 0)
    return sorted(found, key=_in_order), len(single) + n_unread - len(found)


def _by_stretch(entry: Entry, find: Locator) -> list[Entry]:
    """Return an entry for each stretch that it quotes, as of two no single one covers both."""
    several = list(islice(quoted_in(entry.location[:_LONGEST]), _MOST_PLACES))
    if len(several) < 2 or find.look(entry.location).located in ("exact", "normalised"):
        return [entry]
    return [replace(entry, location=f'"{one}"') for one in several]


def _merged(
    entry: Entry, place: Place, basis: Sequence[Annotation], response: str
) -> Merged | None:
    """Return the error that an entry is, None where it does not stand."""
    if place.located == "missing":
        missing = [one for one in basis if one.span is None]
        return merged_error(missing, response, None, entry.explanation) if missing else None
    if place.start is None or place.end is None:
        return None
    touching = [one for one in basis if _touches(one, place.start, place.end)]
    if not touching:
        return None
    return merged_error(touching, response, (place.start, place.end), entry.explanation)


def _around(quoted: str, named: Sequence[Annotation], response: str) -> Place:
    """Return where a quotation stands that touches one of some annotations."""
    spans = list(dict.fromkeys(one.span for one in named if one.span is not None))
    for start, end in spans[:_MOST_PLACES]:
        first = max(start - len(quoted), 0)
        found = Locator(response[first : end + len(quoted)])(quoted)
        if found.start is None or found.end is None:
            continue
        begun, ended = found.start + first, found.end + first
        if any(_touches(one, begun, ended) for one in named):
            return Place(begun, ended, found.located, found.ambiguous)
    return Locator("")(quoted)  # in none of the places; perhaps it says that something is missing


def _touches(one: Annotation, start: int, end: int) -> bool:
    span = one.span
    return span is not None and span[0] < end and start < span[1]


def _in_order(one: Merged) -> tuple[bool, int, int]:
    """Return what errors are ordered by: their place, those without one last."""
    start, end = one.error.start, one.error.end
    return (start is None, start or 0, end or 0)


QUESTION = "merge"
"""What the supervisor's one question is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """What merging annotations came to."""

    merged: tuple[Merged, ...]
    n_dropped: int = 0
    problem: str = ""
    calls: tuple[str, ...] = ()


def merging_steps(annotations: Sequence[Annotation], response: str) -> AnySteps[Merging]:
    """Ask for one list of several, once more where it cannot be read, and check it."""
    if not annotations:
        return Merging(merged=())
    calls = Calls()
    ask = Ask(
        predictor=QUESTION,
        inputs={"response": response, "annotations": shown(annotations, response)},
    )
    found = yield from asked(
        ask, lambda fields: entries_in(str(fields["merged"] or "")), again=1, calls=calls
    )
    made = tuple(calls.made)
    if isinstance(found, str):
        merged = tuple(merged_by_rule(annotations, response))
        return Merging(merged=merged, problem=found, calls=made)
    kept, n_dropped = checked(found, annotations, response)
    return Merging(merged=tuple(kept), n_dropped=n_dropped, calls=made)
