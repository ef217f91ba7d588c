"""What one member of a panel found, from the rows of the panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.score_rows import Placed


def rows_of_member(rows: Sequence[Placed], member: str, name: str) -> list[Placed]:
    """Return rows with the errors and the score of one member in place of the panel's.

    Parameters
    ----------
    rows : sequence of Placed
        What ``score`` wrote with a panel of judges that look for errors.
    member : str
        The member's name.
    name : str
        The file's, for messages.

    Raises
    ------
    DataError
        If no row has errors of this member.

    Examples
    --------
    >>> row = {"score": 50, "annotations": {"a": [{"text": "x"}]}, "members": {"a": 40}}
    >>> ((where, found),) = rows_of_member([("p:1", row)], "a", "p")
    >>> where, found["score"], found["errors"]
    ('p:1', 40, [{'text': 'x'}])
    """
    known = dict.fromkeys(str(one) for _, row in rows for one in _by_member(row, "annotations"))
    if member not in known:
        names = f"one of {', '.join(known)}" if known else "rows of a panel of judges with errors"
        problem = Problem(where=name, field="annotations", expected=names, came=shown(member))
        raise DataError([problem])
    return [(where, _own(row, member)) for where, row in rows]


def _own(row: Mapping[str, Any], member: str) -> dict[str, Any]:
    errors = _by_member(row, "annotations").get(member)
    found = {
        "errors": errors,
        "score": _by_member(row, "members").get(member),
        "problem": f"{member} gave no score",
    }
    if errors is None:
        found |= {"errors": [], "score": None, "problem": f"{member} was not asked"}
    # What else the row says is about the panel.
    of_panel = ("explanation", "criteria", "support", "notes")
    return {key: one for key, one in row.items() if key not in of_panel} | found


def _by_member(row: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    given = row.get(field)
    return given if isinstance(given, Mapping) else {}
