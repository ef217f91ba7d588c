"""The columns of a sheet of suggested rows: what is asked, in words that say the scale.

The heading of a column of ratings is all that is needed to read it again, so that a filled sheet
needs no column map. What stands after the scale tells several raters apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgesmith.experiments.spreadsheet_cells import as_written, cell_of
from judgesmith.experiments.suggesting.marks import SUGGESTED_BY
from judgesmith.signatures import Scale
from judgesmith.signatures.scale import shortest

KEY = "key"
"""The column that says which texts a row is about."""

IDS = ("source_id", "system_id")
TEXTS = ("source", "context", "response")
COMMENT = "comment"
MARKS = (SUGGESTED_BY, *IDS, KEY)

_POINTS = re.compile(
    r"(?P<name>.+): a (?P<whole>whole )?number from (?P<low>\S+) \((?P<first>worst|best)\) "
    r"to (?P<high>\S+) \((?:worst|best)\)(?P<rater>.*)",
    re.DOTALL,
)
_LABELS = re.compile(r"(?P<name>.+): one of (?P<labels>.+), from worst to best(?P<rater>.*)", re.S)


def heading(name: str, scale: Scale) -> str:
    """Return the heading of the column in which a criterion is rated.

    Examples
    --------
    >>> heading("clear", Scale.parse("1..5"))
    'clear: a number from 1 (worst) to 5 (best)'
    >>> heading("tone", Scale.categorical("poor", "fair"))
    'tone: one of poor, fair, from worst to best'
    """
    labels = scale.labels
    if labels and scale.higher_is_better and scale.low == 0 and _can_be_listed(labels):
        return cell_of(f"{name}: one of {', '.join(labels)}, from worst to best")
    ends = ("worst", "best") if scale.higher_is_better else ("best", "worst")
    whole = "" if scale.kind == "numeric" else "whole "
    low, high = shortest(scale.low), shortest(scale.high)
    return cell_of(f"{name}: a {whole}number from {low} ({ends[0]}) to {high} ({ends[1]})")


@dataclass(frozen=True, slots=True)
class RatingForm:
    """What the columns of a sheet of suggested rows hold.

    Attributes
    ----------
    columns : dict of str to tuple of str
        Columns of each criterion, one per rater.
    scales : dict of str to Scale
        By criterion.
    """

    columns: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, Scale]

    @classmethod
    def of(cls, names: Sequence[str]) -> RatingForm | None:
        """Return the form that a table's columns make; None where it is no such sheet.

        Examples
        --------
        >>> names = ["response", heading("clear", Scale.parse("1..5")), "suggested_by", "key"]
        >>> form = RatingForm.of([*names, names[1] + " bo"])
        >>> list(form.columns), len(form.columns["clear"]), str(form.scales["clear"])
        (['clear'], 2, '1..5')
        >>> RatingForm.of(["response", "clear"]) is None
        True
        """
        if SUGGESTED_BY not in names or KEY not in names:
            return None
        columns: dict[str, tuple[str, ...]] = {}
        scales: dict[str, Scale] = {}
        for column in names:
            found = _read(column)
            if found is not None:
                name, scale = found
                columns[name] = (*columns.get(name, ()), column)
                scales.setdefault(name, scale)
        return cls(columns, scales) if columns else None


def lost_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that a sheet of suggested rows lacks; none of another table.

    Examples
    --------
    >>> lost_columns(["response", heading("clear", Scale.parse("1..5")), "suggested_by"])
    ['key']
    >>> lost_columns(["response", "clear"])
    []
    """
    if RatingForm.of([*names, SUGGESTED_BY, KEY]) is None:
        return []
    return [name for name in (SUGGESTED_BY, KEY) if name not in names]


def _read(column: str) -> tuple[str, Scale] | None:
    """Return the criterion and the scale that a heading states; None for another column."""
    column = as_written(column)
    if found := _POINTS.fullmatch(column):
        try:
            scale = Scale(
                low=float(found["low"]),
                high=float(found["high"]),
                kind="integer" if found["whole"] else "numeric",
                higher_is_better=found["first"] == "worst",
            )
        except ValueError:
            return None
        return found["name"], scale
    if found := _LABELS.fullmatch(column):
        labels = found["labels"].split(", ")
        return (found["name"], Scale.categorical(*labels)) if _can_be_listed(labels) else None
    return None


def _can_be_listed(labels: Iterable[str]) -> bool:
    """Say whether labels can be told apart in a list, and read from cells."""
    given = list(labels)
    plain = all(one == one.strip() == cell_of(one) and one and "," not in one for one in given)
    return plain and len(given) > 1 and len(set(given)) == len(given)
