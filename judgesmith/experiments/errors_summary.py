"""How many errors a judge found, how bad they are, and how their places were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from judgesmith.experiments.errors_found import FoundErrors, TextErrors, distinct_errors
from judgesmith.experiments.errors_severity import Grade, grade_of
from judgesmith.signatures.judgement import ErrorSpan

GRADES: tuple[Grade, ...] = ("major", "moderate", "minor", "ungraded")
PLACES = ("exact", "normalised", "fuzzy", "placed", "missing", "unresolved", "unplaced")
"""How places were found; ``placed`` and ``unplaced`` where the judge does not say how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTotals:
    """Counts over all texts.

    Attributes
    ----------
    texts, unscored : int
        All texts, and those without an answer that could be read.
    with_errors : int
        Texts with at least one error.
    errors : int
        All errors; one that offends several criteria is one.
    ambiguous : int
        Of these, errors whose place is one of several.
    noted : int
        Texts whose judgement comes with a note, such as that score and errors contradict.
    grades : dict of str to int
        Errors by how bad they are: major (4 and 5), moderate (3), minor (1 and 2), ungraded.
    places : dict of str to int
        Errors by how their place was found; see ``PLACES``.
    criteria : dict of str to int
        Errors by the criterion they offend; one may offend several, or none that is named.
    """

    texts: int
    unscored: int
    with_errors: int
    errors: int
    ambiguous: int
    noted: int
    grades: Mapping[str, int]
    places: Mapping[str, int]
    criteria: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return asdict(self)


def error_totals(found: FoundErrors) -> ErrorTotals:
    """Return the counts of what a judge found.

    Examples
    --------
    >>> from judgesmith.signatures.items import RatedItem
    >>> errors = (ErrorSpan(text="a", start=0, end=1, severity=5), ErrorSpan(text="b"))
    >>> text = TextErrors(item=RatedItem(response="a"), errors=errors)
    >>> totals = error_totals(FoundErrors(label="it", texts=(text,), n_unused=0))
    >>> totals.errors, totals.grades["major"], totals.places["unplaced"]
    (2, 1, 1)
    """
    of_texts = [distinct_errors(text.errors or ()) for text in found.texts]
    errors = [error for one in of_texts for error in one]
    grades = Counter(grade_of(error.severity) for error in errors)
    places = Counter(map(_found_how, errors))
    return ErrorTotals(
        texts=len(found.texts),
        unscored=found.n_unscored,
        with_errors=sum(bool(text.errors) for text in found.texts),
        errors=len(errors),
        ambiguous=sum(error.ambiguous for error in errors),
        noted=sum(bool(text.notes) for text in found.texts),
        grades={name: grades[name] for name in GRADES},
        places={name: places[name] for name in PLACES},
        criteria=dict(
            Counter(name for one in of_texts for criteria in one.values() for name in criteria)
        ),
    )


def _found_how(error: ErrorSpan) -> str:
    return error.located or ("unplaced" if error.start is None else "placed")


def worst_first(texts: Iterable[TextErrors]) -> list[TextErrors]:
    """Return texts by the sum of their errors' points, the largest first, in order where equal.

    An error of no stated severity counts one point.
    """

    def points(text: TextErrors) -> float:
        errors = distinct_errors(text.errors or ())
        return sum(1.0 if one.severity is None else one.severity for one in errors)

    return sorted(texts, key=points, reverse=True)
