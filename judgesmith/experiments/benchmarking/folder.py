"""A benchmark on disk: a folder of plain files, written as a whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.run_folders import check_folder, stated_in, write_rows

ROWS, REPORT, TEXT, SHEET = "benchmark.jsonl", "report.json", "report.md", "spot_check.csv"
SUB_ASPECTS, COSTS = "sub_aspects.yaml", "costs.json"
REFERENCES, ANCHORS, CANDIDATES = "references.jsonl", "anchors.jsonl", "candidates.jsonl"
FILES = (ROWS, REPORT, TEXT, SHEET, SUB_ASPECTS, COSTS, REFERENCES, ANCHORS, CANDIDATES)
CHECKED = "spot_check"
"""What people said of the benchmark, in its report."""


def check_benchmark(folder: Path, run: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but a benchmark, or another run's without ``force``.

    Raises
    ------
    FileExistsError
        If it does.
    """
    what = "a benchmark"
    check_folder(folder, run, stated=_report_in(folder), files=FILES, what=what, force=force)


@file_faults()
def save_benchmark(
    folder: Path,
    *,
    rows: Iterable[Mapping[str, Any]],
    report: Mapping[str, Any],
    text: str,
    sheet: bytes,
    sub_aspects: str,
    costs: Mapping[str, Any],
    more: Mapping[str, Iterable[Mapping[str, Any]]],
) -> None:
    """Write a benchmark to ``folder``, in place of an earlier one: all of it, or nothing.

    A sheet that the same run left there stays, as people may have written on it.

    Parameters
    ----------
    folder : Path
        As :func:`check_benchmark` found it.
    rows : iterable of rows
        The benchmark.
    report, text : dict and str
        The report, and the same for people; ``run`` in the report tells it from others.
    sheet : bytes
        The spot check, blank.
    sub_aspects : str
        YAML.
    costs : dict
        What this process asked; everything else is the same however often a run was stopped.
    more : dict of str to rows
        Other files of rows by name.
    """
    earlier = _report_in(folder)
    if earlier is not None and earlier.get("run") == report.get("run"):
        kept = folder / SHEET
        sheet = kept.read_bytes() if kept.is_file() else sheet
    with draft_beside(folder, folder=True) as draft:
        write_rows(draft / ROWS, rows)
        for name, lines in more.items():
            write_rows(draft / name, lines)
        write_synced(draft / REPORT, _json(report))
        write_synced(draft / TEXT, text)
        write_synced(draft / SUB_ASPECTS, sub_aspects)
        write_synced(draft / COSTS, _json(costs))
        (draft / SHEET).write_bytes(sheet)
        put(draft, folder)


@file_faults()
def read_benchmark(place: str | Path) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    """Return the folder of a benchmark, its report and its rows.

    Parameters
    ----------
    place : str or Path
        The folder, or a file in it.

    Raises
    ------
    ValueError
        If it is no benchmark.
    """
    folder = Path(place)
    folder = folder if folder.is_dir() else folder.parent
    report = _report_in(folder)
    try:
        with (folder / ROWS).open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    except (OSError, ValueError, RecursionError):
        rows = []
    if report is None or not rows:
        raise InputError(
            f"{place} is no benchmark.",
            hint="name the folder that judgesmith benchmark has written.",
        )
    return folder, report, rows


def put_report(folder: Path, report: Mapping[str, Any], text: str) -> None:
    """Replace the report of a benchmark."""
    for name, content in ((REPORT, _json(report)), (TEXT, text)):
        with draft_beside(folder / name) as draft:
            write_synced(draft, content)
            put(draft, folder / name)


def earlier_checks(folder: Path, run: str) -> Any:
    """Return what people said of a benchmark that this very run has made before, or None."""
    report = _report_in(folder)
    return report.get(CHECKED) if report is not None and report.get("run") == run else None


def _report_in(folder: Path) -> dict[str, Any] | None:
    report = stated_in(folder / REPORT)
    known = report is not None and "run" in report and "perspective" in report
    return report if known else None


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"
