"""Merging the errors of several annotators: by rule, or by a supervisor whose list is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import fmean, median, pstdev
from string import ascii_uppercase
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.families.forms.annotators import quoted_in
from judgesmith.programs.judging.answers import values_in, without_thoughts
from judgesmith.programs.judging.program import Calls, PromptRequest, RequestProgram, asked
from judgesmith.programs.judging.spans import Locator, SpanPlace
from judgesmith.signatures.aggregation import OutlierRule, PanelRules
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.judgement import Cause, ErrorSpan, Judgement, Note
from judgesmith.signatures.scale import PERCENT, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An error and the annotator that listed it."""

    number: int
    member: str
    error: ErrorSpan

    @property
    def span(self) -> tuple[int, int] | None:
        """Where in the response it is; None for what is missing there or was not found."""
        return span_of(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One error, merged from annotations."""

    error: ErrorSpan
    members: tuple[str, ...]
    numbers: tuple[int, ...]


def span_of(error: ErrorSpan) -> tuple[int, int] | None:
    """Return the character span of an error; None if it has none or an empty one."""
    if error.start is None or error.end is None or error.start >= error.end:
        return None
    return error.start, error.end


def numbered(errors: Mapping[str, Sequence[ErrorSpan]], response: str) -> list[Annotation]:
    """Return errors as annotations, without those whose place is not in the response."""
    listed = [(member, error) for member, several in errors.items() for error in several]
    kept = [one for one in listed if not is_invented(one[1], response)]
    return [
        Annotation(number=number, member=member, error=error)
        for number, (member, error) in enumerate(kept, start=1)
    ]


def is_invented(error: ErrorSpan, response: str) -> bool:
    """Say whether an error quotes what the response does not have, rather than miss something."""
    span = span_of(error)
    if span is not None:
        return not 0 <= span[0] < span[1] <= len(response)
    if error.located is not None:
        return error.located == "unresolved"
    return bool(error.text.strip())


def shown(annotations: Sequence[Annotation], response: str) -> str:
    r"""Return annotations as lines of JSON, which no text in them can break."""
    letters = _letters({one.member: None for one in annotations})
    lines = []
    for one in annotations:
        span = one.span
        severity = one.error.severity
        whole = severity is not None and float(severity).is_integer()
        plain = {
            "n": one.number,
            "annotator": letters[one.member],
            "severity": int(severity) if whole and severity is not None else severity,
            "at": None if span is None else [len(unix_lines(response[:end])) for end in span],
            "location": None if span is None else unix_lines(response[slice(*span)]),
            "why": unix_lines(one.error.explanation),
        }
        lines.append(json.dumps(plain, ensure_ascii=False))
    return "\n".join(lines)


def read_shown(text: str) -> Iterator[Annotation]:
    """Yield annotations from the lines that ``shown`` wrote; lines of any other kind are none."""
    for line in text.split("\n"):
        try:
            plain = json.loads(line)
            start, end = plain["at"] or (None, None)
            yield Annotation(
                number=plain["n"],
                member=plain["annotator"],
                error=ErrorSpan(
                    text=plain["location"] or "",
                    start=start,
                    end=end,
                    severity=plain["severity"],
                    explanation=plain["why"],
                ),
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            continue


def _letters(members: Mapping[str, None]) -> dict[str, str]:
    return {name: ascii_uppercase[n % 26] * (1 + n // 26) for n, name in enumerate(members)}


@dataclass(slots=True)
class _Cluster:
    """Annotations of the same error, and the span that covers them."""

    start: int
    end: int
    annotations: list[Annotation] = field(default_factory=list)

    def takes(self, other: Annotation, span: tuple[int, int]) -> bool:
        """Return whether an annotation overlaps, and its member has no other one here."""
        if any(one.member == other.member for one in self.annotations):
            return False
        shared = min(self.end, span[1]) - max(self.start, span[0])
        return 2 * shared >= min(self.end - self.start, span[1] - span[0])


def merged_by_rule(annotations: Sequence[Annotation], response: str) -> list[Merged]:
    """Return the merged errors in the order of the text; missing content comes last."""
    return [merged_error(group, response, span) for group, span in merged_groups(annotations)]


def merged_groups(
    annotations: Sequence[Annotation],
) -> list[tuple[list[Annotation], tuple[int, int] | None]]:
    """Return annotations that are one error together, and where it is; see ``merged_by_rule``."""
    clusters: list[_Cluster] = []
    open_from = 0
    placed = sorted((one.span, one.number, one) for one in annotations if one.span is not None)
    for span, _, one in placed:
        while open_from < len(clusters) and clusters[open_from].end <= span[0]:
            open_from += 1  # nothing further on reaches back to it
        home = next((own for own in clusters[open_from:] if own.takes(one, span)), None)
        if home is None:
            clusters.append(_Cluster(*span, [one]))
        else:
            home.end = max(home.end, span[1])
            home.annotations.append(one)
    missing: dict[str, list[Annotation]] = {}
    for one in annotations:
        if one.span is None:
            missing.setdefault(" ".join(one.error.explanation.split()).casefold(), []).append(one)
    located = [(own.annotations, (own.start, own.end)) for own in clusters]
    return [*located, *((same, None) for same in missing.values())]


def merged_error(
    annotations: Sequence[Annotation],
    response: str,
    span: tuple[int, int] | None,
    explanation: str = "",
) -> Merged:
    ordered = sorted(annotations, key=lambda one: one.number)
    grades = [one.error.severity for one in ordered if one.error.severity is not None]
    aspects = {one.error.criterion for one in ordered}
    error = ErrorSpan(
        text=response[slice(*span)] if span else "",
        start=span[0] if span else None,
        end=span[1] if span else None,
        severity=max(grades, default=None),
        explanation=explanation or _together(one.error.explanation for one in ordered),
        located="exact" if span else "missing",
        ambiguous=bool(span) and all(one.error.ambiguous for one in ordered),
        criterion=aspects.pop() if len(aspects) == 1 else "",
    )
    members = tuple(dict.fromkeys(one.member for one in ordered))
    numbers = tuple(one.number for one in ordered)
    return Merged(error=error, members=members, numbers=numbers)


def most_severe(merged: Sequence[Merged], most: int) -> list[Merged]:
    """Return at most so many errors, the most severe, of equals those that more members found."""

    def weight(place: int) -> tuple[float, int, int]:
        one = merged[place]
        return (-(one.error.severity or 0.0), -len(one.members), place)

    kept = sorted(sorted(range(len(merged)), key=weight)[:most])
    return [merged[place] for place in kept]


def _together(explanations: Iterable[str]) -> str:
    said = dict.fromkeys(one.strip() for one in explanations)
    return " ".join(one for one in said if one)


SMALL = 6  # fewer scores than this are told by the median of the others, unless a rule is named
_ROUNDING = 1e-9


def outliers_of(shares: Mapping[str, float], rule: OutlierRule, *, level: float) -> tuple[str, ...]:
    """Return the members whose score stands apart, in their order."""
    if rule == "auto":
        rule = "deviation" if len(shares) >= SMALL else "median"
    if rule == "none" or len(shares) < 3:
        return ()
    if rule == "deviation":
        return _by_deviation(shares, level)
    return _by_median(shares, level)


def _by_deviation(shares: Mapping[str, float], level: float) -> tuple[str, ...]:
    middle, spread = fmean(shares.values()), pstdev(shares.values())
    least = max(2 * spread, level) - _ROUNDING
    return tuple(name for name, share in shares.items() if abs(share - middle) >= least)


def _by_median(shares: Mapping[str, float], level: float) -> tuple[str, ...]:
    left, least = dict(shares), 2 * level - _ROUNDING
    while len(left) > 2:
        away = {name: abs(share - _of_others(name, left)) for name, share in left.items()}
        farthest = max(away.values())
        apart = {name: left[name] for name in left if away[name] >= farthest - _ROUNDING}
        one_side = max(apart.values()) - min(apart.values()) <= _ROUNDING
        few = 2 * (len(shares) - len(left) + len(apart)) < len(shares)
        if farthest < least or not (one_side and few):
            break
        left = {name: share for name, share in left.items() if name not in apart}
    return tuple(
        name
        for name in shares
        if name not in left and abs(shares[name] - _of_others(name, shares)) >= least
    )


def _of_others(name: str, shares: Mapping[str, float]) -> float:
    return median(share for its, share in shares.items() if its != name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """The errors on one criterion, to be merged into one list."""

    criterion: str
    outliers: tuple[str, ...]
    annotations: tuple[Annotation, ...]
    notes: tuple[Note, ...]

    @property
    def about(self) -> str:
        return f"criterion:{self.criterion}" if self.criterion else "overall"


def aspects_of(
    judgements: Mapping[str, Judgement],
    names: Sequence[str],
    scales: Mapping[str, Scale],
    rules: PanelRules,
    response: str,
) -> list[Aspect]:
    """Return what is to be merged: one aspect per criterion that an error is of, as they come."""
    own = {name: judgements[name] for name in names}

    def aspect(criterion: str) -> Aspect:
        found = {name: share_of(one, criterion, scales[name]) for name, one in own.items()}
        shares = {name: share for name, share in found.items() if share is not None}
        outliers = outliers_of(shares, rules.outliers, level=rules.level)
        errors = {
            name: [error for error in one.errors if error.criterion == criterion]
            for name, one in own.items()
        }
        kept = {name: several for name, several in errors.items() if name not in outliers}
        return Aspect(
            criterion=criterion,
            outliers=outliers,
            annotations=tuple(numbered(kept, response)),
            notes=tuple(_left_out(criterion, errors, outliers, response)),
        )

    return [
        aspect(one) for one in dict.fromkeys(e.criterion for j in own.values() for e in j.errors)
    ]


def _left_out(
    criterion: str, errors: Mapping[str, list[ErrorSpan]], outliers: Sequence[str], response: str
) -> Iterator[Note]:
    """Yield what is said of errors that are not merged, by member."""
    about = f"criterion:{criterion}" if criterion else "overall"
    for name, several in errors.items():
        if name in outliers and several:
            n, why = len(several), "the score stands apart"
        else:
            n = sum(is_invented(one, response) for one in several)
            why = "the response has no such words"
        if n:
            text = f"{n} error{' was' if n == 1 else 's were'} not merged: {why}."
            yield Note(kind="left out", about=f"{name}/{about}", text=text)


def share_of(judgement: Judgement, criterion: str, scale: Scale) -> float | None:
    """Return a member's score as a share from 0 to 1, None where it has none."""
    own = judgement.criteria.get(criterion)
    if own is not None:
        return None if own.score is None else PERCENT.fraction(own.score)
    if judgement.raw is not None:
        return PERCENT.fraction(judgement.raw)
    return None if judgement.score is None else scale.fraction(judgement.score)


def n_aspects(protocols: Iterable[JudgeConfig]) -> int:
    """Return of how many criteria a supervisor may be asked for one text."""
    return max(len({name for one in protocols for name in one.scored_criteria}), 1)


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
    """One entry of a supervisor's list, before it is checked."""

    numbers: tuple[int, ...] = ()
    location: str = ""
    severity: str = ""
    explanation: str = ""


def entries_in(answer: str) -> tuple[Entry, ...]:
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
    """Return the records of the one JSON list in an answer; None without one."""
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
    several = list(islice(quoted_in(entry.location[:_LONGEST]), _MOST_PLACES))
    if len(several) < 2 or find.look(entry.location).located in ("exact", "normalised"):
        return [entry]
    return [replace(entry, location=f'"{one}"') for one in several]


def _merged(
    entry: Entry, place: SpanPlace, basis: Sequence[Annotation], response: str
) -> Merged | None:
    if place.located == "missing":
        missing = [one for one in basis if one.span is None]
        return merged_error(missing, response, None, entry.explanation) if missing else None
    if place.start is None or place.end is None:
        return None
    touching = [one for one in basis if _touches(one, place.start, place.end)]
    if not touching:
        return None
    return merged_error(touching, response, (place.start, place.end), entry.explanation)


def _around(quoted: str, named: Sequence[Annotation], response: str) -> SpanPlace:
    spans = list(dict.fromkeys(one.span for one in named if one.span is not None))
    for start, end in spans[:_MOST_PLACES]:
        first = max(start - len(quoted), 0)
        found = Locator(response[first : end + len(quoted)])(quoted)
        if found.start is None or found.end is None:
            continue
        begun, ended = found.start + first, found.end + first
        if any(_touches(one, begun, ended) for one in named):
            return SpanPlace(begun, ended, found.located, found.ambiguous)
    return Locator("")(quoted)  # in none of the places; perhaps it says that something is missing


def _touches(one: Annotation, start: int, end: int) -> bool:
    span = one.span
    return span is not None and span[0] < end and start < span[1]


def _in_order(one: Merged) -> tuple[bool, int, int]:
    """Return what errors are ordered by: their place, those without one last."""
    start, end = one.error.start, one.error.end
    return (start is None, start or 0, end or 0)


QUESTION = "merge"  # what the supervisor's one question is called


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """The result of merging annotations."""

    merged: tuple[Merged, ...]
    n_dropped: int = 0
    problem: str = ""
    calls: tuple[str, ...] = ()


def merging_steps(annotations: Sequence[Annotation], response: str) -> RequestProgram[Merging]:
    """Ask for one list of several, once more where it cannot be read, and check it."""
    if not annotations:
        return Merging(merged=())
    calls = Calls()
    ask = PromptRequest(
        predictor=QUESTION,
        inputs={"response": response, "annotations": shown(annotations, response)},
    )
    found = yield from asked(
        ask, lambda fields: entries_in(str(fields["merged"] or "")), again=1, calls=calls
    )
    made = tuple(calls.made)
    if isinstance(found, Cause):
        merged = tuple(merged_by_rule(annotations, response))
        return Merging(merged=merged, problem=str(found), calls=made)
    kept, n_dropped = checked(found, annotations, response)
    return Merging(merged=tuple(kept), n_dropped=n_dropped, calls=made)
