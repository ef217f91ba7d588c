"""What members of a panel found in one response, criterion by criterion, merged by rule."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, pstdev
from string import ascii_uppercase

from judgesmith.signatures.aggregation import OutlierRule, PanelRules
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.judgement import ErrorSpan, Judgement, Note
from judgesmith.signatures.scale import PERCENT, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An error, and whose it is."""

    number: int
    member: str
    error: ErrorSpan

    @property
    def span(self) -> tuple[int, int] | None:
        """Where in the response it is; None for what is missing there or was not found."""
        return span_of(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One error that annotations come to."""

    error: ErrorSpan
    members: tuple[str, ...]
    numbers: tuple[int, ...]


def span_of(error: ErrorSpan) -> tuple[int, int] | None:
    """Return where an error is, None where it has no place that holds a character."""
    if error.start is None or error.end is None or error.start >= error.end:
        return None
    return error.start, error.end


def numbered(errors: Mapping[str, Sequence[ErrorSpan]], response: str) -> list[Annotation]:
    """Return errors as annotations, without those whose place is not in the response."""
    kept = [
        (member, error)
        for member, several in errors.items()
        for error in several
        if not is_invented(error, response)
    ]
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
    """Return a letter for each member, two from the twenty-seventh on."""
    return {
        name: ascii_uppercase[place % 26] * (1 + place // 26) for place, name in enumerate(members)
    }


@dataclass(slots=True)
class _Cluster:
    """Annotations that are one error, and the stretch that covers them."""

    start: int
    end: int
    annotations: list[Annotation] = field(default_factory=list)

    def takes(self, other: Annotation, span: tuple[int, int]) -> bool:
        """Say whether an annotation means the same: its member has said nothing else here."""
        if any(one.member == other.member for one in self.annotations):
            return False
        shared = min(self.end, span[1]) - max(self.start, span[0])
        return 2 * shared >= min(self.end - self.start, span[1] - span[0])


def merged_by_rule(annotations: Sequence[Annotation], response: str) -> list[Merged]:
    """Return the errors that annotations come to, in the text's order, what is missing last."""
    return [merged_error(group, response, span) for group, span in grouped(annotations)]


def grouped(
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
    """Return the error that annotations are, as severe as the severest of them."""
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


SMALL = 6
"""Fewer scores than this are told by the median of the others, unless a rule is named."""

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
    """Errors of one kind, of which one list is to be made."""

    criterion: str
    outliers: tuple[str, ...]
    annotations: tuple[Annotation, ...]
    notes: tuple[Note, ...]

    @property
    def about(self) -> str:
        """What notes call it."""
        return f"criterion:{self.criterion}" if self.criterion else "overall"


def aspects_of(
    judgements: Mapping[str, Judgement],
    names: Sequence[str],
    scales: Mapping[str, Scale],
    rules: PanelRules,
    response: str,
) -> list[Aspect]:
    """Return what is to be merged: one aspect per criterion that an error is of, as they come."""
    criteria = dict.fromkeys(e.criterion for name in names for e in judgements[name].errors)
    return [_aspect(one, judgements, names, scales, rules, response) for one in criteria]


def _aspect(
    criterion: str,
    judgements: Mapping[str, Judgement],
    names: Sequence[str],
    scales: Mapping[str, Scale],
    rules: PanelRules,
    response: str,
) -> Aspect:
    shares = {
        name: share
        for name in names
        if (share := share_of(judgements[name], criterion, scales[name])) is not None
    }
    outliers = outliers_of(shares, rules.outliers, level=rules.level)
    errors = {
        name: [one for one in judgements[name].errors if one.criterion == criterion]
        for name in names
    }
    about = f"criterion:{criterion}" if criterion else "overall"
    notes = []
    for name in names:
        if name in outliers and errors[name]:
            text = f"{_many(len(errors[name]))} not merged: the score stands apart"
            notes.append(Note(kind="left out", about=f"{name}/{about}", text=f"{text}."))
        elif n := sum(is_invented(one, response) for one in errors[name]):
            text = f"{_many(n)} not merged: the response has no such words"
            notes.append(Note(kind="left out", about=f"{name}/{about}", text=f"{text}."))
    kept = {name: several for name, several in errors.items() if name not in outliers}
    return Aspect(
        criterion=criterion,
        outliers=outliers,
        annotations=tuple(numbered(kept, response)),
        notes=tuple(notes),
    )


def share_of(judgement: Judgement, criterion: str, scale: Scale) -> float | None:
    """Return a member's score as a share from 0 to 1, None where it has none."""
    own = judgement.criteria.get(criterion)
    if own is not None:
        return None if own.score is None else PERCENT.fraction(own.score)
    if judgement.raw is not None:
        return PERCENT.fraction(judgement.raw)
    return None if judgement.score is None else scale.fraction(judgement.score)


def _many(n: int) -> str:
    return f"{n} error{' was' if n == 1 else 's were'}"


def n_aspects(protocols: Iterable[JudgeConfig]) -> int:
    """Return of how many criteria a supervisor may be asked for one text."""
    named = {
        criterion.name
        for one in protocols
        if one.scores_criteria
        for criterion in one.rubric.criteria
    }
    return max(len(named), 1)
