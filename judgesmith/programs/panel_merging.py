"""Annotations of several members merged by rule: where two overlap clearly, they are one error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from judgesmith.programs.panel_annotations import Annotation, Merged
from judgesmith.signatures.judgement import ErrorSpan


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
    """Return the errors that annotations come to, in the order of the text, what is missing last.

    Two annotations are one error where they share half of the shorter stretch or more and are of
    two members: who lists two issues at one place means two. The error covers both, is as severe
    as the severer one, and has what both say. What is missing is merged where two say the same.

    Examples
    --------
    >>> def said(number, member, start, end, severity):
    ...     error = ErrorSpan(text="", start=start, end=end, severity=severity, explanation=member)
    ...     return Annotation(number=number, member=member, error=error)
    >>> found = merged_by_rule(
    ...     [said(1, "a", 0, 9, 2), said(2, "b", 4, 14, 5), said(3, "b", 10, 14, 1)],
    ...     "The ferry left at nine.",
    ... )
    >>> [(one.error.text, one.error.severity, one.members) for one in found]
    [('The ferry left', 5.0, ('a', 'b')), ('left', 1.0, ('b',))]
    """
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
    """Return the error that annotations are, as severe as the severest of them.

    Parameters
    ----------
    annotations : sequence of Annotation
        At least one.
    response : str
        What they are about.
    span : (int, int) or None
        Where it is; None for what is missing.
    explanation : str
        What is said of it; empty puts together what the annotations say.
    """
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
    """Return at most so many errors, the most severe, of equals those that more members found.

    They stay in their order.
    """

    def weight(place: int) -> tuple[float, int, int]:
        one = merged[place]
        return (-(one.error.severity or 0.0), -len(one.members), place)

    kept = sorted(sorted(range(len(merged)), key=weight)[:most])
    return [merged[place] for place in kept]


def _together(explanations: Iterable[str]) -> str:
    said = dict.fromkeys(one.strip() for one in explanations)
    return " ".join(one for one in said if one)
