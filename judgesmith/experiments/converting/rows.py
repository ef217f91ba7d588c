"""The rows that published files become: one form for all data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgesmith.signatures.scale import Scale

INDIVIDUAL, MEAN, MEDIAN = "individual", "mean", "median"
"""What ``human_detail`` says of the ratings of a row; perspectives tell a mean by it."""


def rated_row(
    dataset: str,
    task: str,
    *,
    source_id: str,
    source: str,
    response: str,
    human: Mapping[str, Sequence[float]],
    scales: Mapping[str, Scale],
    system_id: str = "",
    context: str | None = None,
    references: Sequence[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """Return a row in the canonical form of rated data, its fields in their usual order.

    Parameters
    ----------
    dataset, task : str
        Names.
    source_id, system_id : str
        What was answered and who answered; no system where the files do not say.
    source, context, response, references
        Texts.
    human : dict of str to ratings
        One per rater, in the order of the file.
    scales : dict of str to Scale
        The rating form.
    **more
        Other fields; None leaves one out.

    Examples
    --------
    >>> likert = {"overall": Scale(low=1, high=5)}
    >>> row = rated_row(
    ...     "toy", "qa", source_id="1", source="2 + 2?", response="4",
    ...     human={"overall": [5.0, 4.0]}, scales=likert, raters=None,
    ... )
    >>> row["human"], row["scale"], "raters" in row, "system_id" in row
    ({'overall': [5, 4]}, {'overall': [1, 5]}, False, False)
    """
    return {
        "dataset": dataset,
        "task": task,
        "source_id": source_id,
        **({"system_id": system_id} if system_id else {}),
        "source": source,
        "context": context,
        "response": response,
        "references": list(references),
        "human": {name: [_plain(one) for one in points] for name, points in human.items()},
        "scale": {name: [_plain(one.low), _plain(one.high)] for name, one in scales.items()},
        **{name: value for name, value in more.items() if value is not None},
    }


def _plain(points: float) -> float:
    """Return whole points as whole numbers."""
    return int(points) if points == int(points) else points


def lacks_ratings(row: Mapping[str, Any]) -> bool:
    """Say whether not all raters of a row rated it on each criterion, as far as it says.

    Rows that say that their ratings are means or medians never do.

    Examples
    --------
    >>> lacks_ratings({"human": {"fluency": [1, 2, 3], "overall": [1, 2]}})
    True
    >>> lacks_ratings({"human": {"overall": [1, 2]}, "raters": ["Ann", "Ben", "Cy"]})
    True
    >>> lacks_ratings({"human": {"overall": [50]}, "raters": ["a", "b"], "human_detail": "mean"})
    False
    """
    if row.get("human_detail", INDIVIDUAL) != INDIVIDUAL:
        return False
    counts = {len(points) for points in row["human"].values()}
    if "raters" in row:
        counts.add(len(row["raters"]))
    return len(counts) > 1


class Numbering:
    """Numbers for names, from 1, in the order in which they come.

    Examples
    --------
    >>> raters = Numbering("rater")
    >>> raters["Ann"], raters["Ben"], raters["Ann"]
    ('rater1', 'rater2', 'rater1')
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._found: dict[str, int] = {}

    def __getitem__(self, name: str) -> str:
        """Return what stands for a name."""
        return f"{self._prefix}{self._found.setdefault(name, len(self._found) + 1)}"
