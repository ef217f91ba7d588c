"""What differs between two saved judges, and what a judgement is expected to say."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from judgesmith.errors import InputError, shortened
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.artifacts.record import SavedRecord, agreement_text
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, lists_errors, saved_leaves
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import PERCENT, Scale

_SHOWN = ("protocol", "model", "target", "human_scale", "rows", "agreement", "settings")
_HELD = ("kind", "weights", "calibration", "members")
"""What judges that hold others have instead of a protocol and a model."""

_PROVENANCE = "protocol.rubric.provenance"
_HASHES = ("run", "mark")  # they say that something differs, never what


def difference(first: SavedRecord, second: SavedRecord) -> list[str]:
    """Return one line per value that differs, and texts line by line; empty where none does."""
    before, after = (_shown(one.model_dump(mode="json")) for one in (first, second))
    seen: dict[tuple[str, str], str] = {}
    lines = []
    for name in (*_HELD, *_SHOWN):
        if name not in before and name not in after:
            continue
        old, new = (
            dict(_flat(part[name], name)) if name in part else {} for part in (before, after)
        )
        found = []
        for path in dict.fromkeys([*old, *new]):
            values = old.get(path, _ABSENT), new.get(path, _ABSENT)
            if values[0] != values[1] and not all(map(_is_nothing, values)):
                found += _changed(path, *values, seen)
        if not found and _told(before.get(name)) != _told(after.get(name)):
            found.append(f"{name}: differs in nothing that is shown, such as further decimals")
        lines += found
    return lines


def _shown(record: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: record[name] for name in (*_HELD, *_SHOWN) if name in record}
    if isinstance(members := found.get("members"), Mapping):
        found["members"] = {name: _shown(one) for name, one in members.items()}
    return found


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


_ABSENT = _Absent()


def _is_nothing(value: Any) -> bool:
    """Return whether a value is as good as none: what is not known may be left out or be null."""
    return value is _ABSENT or value is None or value == ""


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _told(part) for name, part in value.items() if part is not None}
    return value


class _Printed(str):
    """A number as it is printed."""

    __slots__ = ()


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    agreement = ".agreement." in f".{path}"
    if path.endswith(_PROVENANCE):
        yield from _origin(value, path)
    elif agreement and _is_estimate(value):
        yield path, _Printed(agreement_text(value))
    elif agreement and isinstance(value, float):
        yield path, _Printed(f"{value:.3f}")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}")
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        if all(isinstance(part, Mapping) and "name" in part for part in value):
            yield path, [part["name"] for part in value]  # their order is shown to the model
        for place, part in enumerate(value):
            name = part.get("name", place) if isinstance(part, Mapping) else place
            rest = {k: v for k, v in part.items() if k != "name"} if name != place else part
            yield from _flat(rest, f"{path}[{name}]")
    else:
        yield path, value


def _is_estimate(value: Any) -> bool:
    """Return whether plain data is an estimate; a file may hold anything in its place."""
    if not isinstance(value, Mapping) or "value" not in value:
        return False
    numbers = (value.get(name) for name in ("value", "low", "high"))
    return all(one is None or isinstance(one, int | float) for one in numbers)


def _origin(provenance: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Yield the single values of a provenance; its lists are as long as the data they name."""
    for name, value in provenance.items():
        if name not in _HASHES and not isinstance(value, Mapping | list):
            yield f"{path}.{name}", value


def _changed(path: str, old: Any, new: Any, seen: dict[tuple[str, str], str]) -> list[str]:
    name = printable(path)
    if isinstance(old, str) and isinstance(new, str) and len(old) + len(new) > 100:
        # Every demonstration repeats the task and the criteria.
        if (old, new) in seen:
            return [f"{name}: as {seen[old, new]}"]
        seen[old, new] = name
        changes = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
        lines = list(changes)[2:]
        if len(old.splitlines()) == len(new.splitlines()) == 1:
            lines = lines[1:]  # the place of the only line
        return [f"{name}:", *(f"    {line[:1]}{printable(line[1:])}" for line in lines)]
    texts = _short(_rounded(old)), _short(_rounded(new))
    if texts[0] == texts[1]:
        texts = _short(old), _short(new)
    return [f"{name}: {texts[0]} → {texts[1]}"]


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _short(value: Any) -> str:
    if value is _ABSENT:
        return repr(value)
    if isinstance(value, _Printed):
        return str(value)
    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 200 else f"{text[:199]}…"


_LONGEST = 300  # characters of a text or of an explanation in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a judgement has to fulfil."""

    at_least: float | None = None
    at_most: float | None = None
    criteria: Mapping[str, float] = field(default_factory=dict)
    no_errors: bool = False
    unscored: bool = False
    label: str | None = None

    def check_against(self, judge: AnySaved) -> None:
        """Refuse what this judge could never fulfil or always does."""
        for name in ("at_least", "at_most"):
            _within(getattr(self, name), judge.scale, name)
        low, high = self.at_least, self.at_most
        if low is not None and high is not None and low > high:
            raise InputError(
                f"no score is {low:g} or more and {high:g} or less; exchange at_least and at_most."
            )
        for name, points in self.criteria.items():
            _within(points, PERCENT, f"criteria[{name!r}]")
        if self.no_errors and not any(map(lists_errors, saved_leaves(judge))):
            raise InputError(
                "no_errors needs a judge that looks for errors, and this one does not.",
                hint="compile one with --judge annotator, or leave no_errors out.",
            )

    def shortcomings(self, judgement: Judgement) -> list[str]:
        """Return what is not as expected, in sentences; none where all is."""
        if judgement.score is None:
            return [] if self.unscored else [f"there is no score: {judgement.problem}"]
        found = []
        if self.label is not None and judgement.label != self.label:
            chance = judgement.probability.get(self.label)
            known = "" if chance is None else f" (probability of {self.label!r} {chance:.2f})"
            found.append(f"the label is {judgement.label!r}{known}, expected {self.label!r}")
        if self.at_least is not None and judgement.score < self.at_least:
            found.append(f"the score is {judgement.score:.4g}, expected {self.at_least:g} or more")
        if self.at_most is not None and judgement.score > self.at_most:
            found.append(f"the score is {judgement.score:.4g}, expected {self.at_most:g} or less")
        for name, points in self.criteria.items():
            given = judgement.criteria.get(name)
            if given is None:
                known = ", ".join(judgement.criteria) or "none"
                found.append(f"there is no criterion {name!r}; the judge scores: {known}")
            elif given.score is None:
                found.append(f"{name} has no score, expected {points:g} or more")
            elif given.score < points:
                why = f" ({shortened(given.explanation, _LONGEST)})" if given.explanation else ""
                found.append(f"{name} is {given.score:.4g}, expected {points:g} or more{why}")
        if self.no_errors and judgement.errors:
            named = "; ".join(
                f"{shortened(one.text, _LONGEST)!r} ({shortened(one.explanation, _LONGEST)})"
                for one in judgement.errors[:5]
            )
            n = len(judgement.errors)
            found.append(f"the judge points at {n} error{'' if n == 1 else 's'}: {named}")
        return found


def told(response: str, judgement: Judgement, shortcomings: list[str]) -> str:
    lines = ["; ".join(shortcomings)]
    if judgement.explanation:
        lines.append(f"  explanation: {shortened(judgement.explanation, _LONGEST)}")
    return "\n".join([*lines, f"  response: {shortened(response, _LONGEST)}"])


def _within(points: object, scale: Scale, name: str) -> None:
    if points is None:
        return
    if isinstance(points, bool) or not isinstance(points, Real):
        raise InputError(f"{name} is a number; got {points!r}.")
    bound = float(points)
    if not scale.low <= bound <= scale.high:
        raise InputError(
            f"{name} is in points from {scale.low:g} to {scale.high:g} here; got {bound:g}."
        )
