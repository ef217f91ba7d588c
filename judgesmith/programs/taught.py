"""Which rated rows a rubric was inferred from, and whether it still is what was inferred."""

from __future__ import annotations

import hashlib
import json

from judgesmith.signatures.rubric import Rubric


def rows_that_taught(rubric: Rubric) -> frozenset[str]:
    """Return ``RatedItem.key`` of every row that an inferred rubric was made from.

    Examples
    --------
    >>> learned = {"batches": [{"batch": 1, "rows": {"5f": "row 1", "a0": "row 2"}}]}
    >>> sorted(rows_that_taught(Rubric(provenance=learned)))
    ['5f', 'a0']
    """
    batches = rubric.provenance.get("batches")
    found: set[str] = set()
    for batch in batches if isinstance(batches, list) else []:
        # A rubric is a file that people edit; what has another shape names no rows.
        rows = batch.get("rows") if isinstance(batch, dict) else None
        found.update(rows if isinstance(rows, dict) else {})
    return frozenset(found)


def rubric_mark(rubric: Rubric) -> str:
    """Return twelve hex digits that change with anything in a rubric that a model is shown.

    Examples
    --------
    >>> rubric = Rubric(task="Judge a summary.", criteria={"brevity": "Is it short?"})
    >>> rubric_mark(rubric) == rubric_mark(rubric.model_copy(update={"provenance": {"run": "x"}}))
    True
    """
    shown = rubric.model_dump(mode="json", include={"task", "criteria"})
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:12]


def is_edited(rubric: Rubric) -> bool:
    """Say whether a rubric differs from the one that was inferred, as far as it has its mark."""
    mark = rubric.provenance.get("mark")
    return isinstance(mark, str) and mark != rubric_mark(rubric)
