"""The texts of a run, which its folder does not hold, from the files its specification names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.reporting.reading import ReportCell
from judgesmith.experiments.reporting.values import ReportRow
from judgesmith.experiments.specs import read_sets, read_spec
from judgesmith.signatures.items import RatedItem


def texts_of(spec: str | Path) -> tuple[Mapping[str, DataSet], str]:
    """Return the rated sets of a specification by name, or none and why they cannot be had.

    Examples
    --------
    >>> texts_of("nowhere.yaml")[0]
    {}
    """
    try:
        return read_sets(read_spec(spec)), ""
    except (ValueError, OSError) as fault:
        return {}, " ".join(str(fault).split())


def item_of(row: ReportRow, cell: ReportCell, sets: Mapping[str, DataSet]) -> RatedItem | None:
    """Return the text of a row, where its set still has that very text in its place."""
    dataset = sets.get(cell.names.data)
    if dataset is None or not 0 <= row.item < len(dataset):
        return None
    item = dataset[row.item]
    return item if item.key == row.key else None
