"""Which rated rows a rubric was inferred from."""

from __future__ import annotations

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
