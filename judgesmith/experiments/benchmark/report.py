"""A benchmark on disk, as a folder of plain files, and as tables and sentences for people."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, put_text, write_synced
from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.run_folders import check_folder, json_object_in, json_text, write_rows
from judgesmith.experiments.tables import Table

ROWS, REPORT, TEXT, SHEET = "benchmark.jsonl", "report.json", "report.md", "spot_check.csv"
SUB_ASPECTS, COSTS = "sub_aspects.yaml", "costs.json"
REFERENCES, ANCHORS, CANDIDATES = "references.jsonl", "anchors.jsonl", "candidates.jsonl"
FILES = (ROWS, REPORT, TEXT, SHEET, SUB_ASPECTS, COSTS, REFERENCES, ANCHORS, CANDIDATES)
CHECKED = "spot_check"
"""What people said of the benchmark, in its report."""


def check_benchmark(folder: Path, run: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but a benchmark, or another run's without ``force``."""
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
    """Write a benchmark to ``folder``, in place of an earlier one: all of it, or nothing."""
    earlier = _report_in(folder)
    if earlier is not None and earlier.get("run") == report.get("run"):
        kept = folder / SHEET
        sheet = kept.read_bytes() if kept.is_file() else sheet
    with draft_beside(folder, folder=True) as draft:
        write_rows(draft / ROWS, rows)
        for name, lines in more.items():
            write_rows(draft / name, lines)
        write_synced(draft / REPORT, json_text(report))
        write_synced(draft / TEXT, text)
        write_synced(draft / SUB_ASPECTS, sub_aspects)
        write_synced(draft / COSTS, json_text(costs))
        (draft / SHEET).write_bytes(sheet)
        put(draft, folder)


@file_faults()
def read_benchmark(place: str | Path) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    """Return the folder of a benchmark, its report and its rows."""
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
            hint="name the folder that judgesmith discern benchmark has written.",
        )
    return folder, report, rows


def put_report(folder: Path, report: Mapping[str, Any], text: str) -> None:
    for name, content in ((REPORT, json_text(report)), (TEXT, text)):
        put_text(folder / name, content)


def earlier_checks(folder: Path, run: str) -> Any:
    """Return what people said of a benchmark that this very run has made before, or None."""
    report = _report_in(folder)
    return report.get(CHECKED) if report is not None and report.get("run") == run else None


def _report_in(folder: Path) -> dict[str, Any] | None:
    report = json_object_in(folder / REPORT)
    known = report is not None and "run" in report and "perspective" in report
    return report if known else None


Report = Mapping[str, Any]


def estimate_cell(estimate: Mapping[str, Any] | None) -> str:
    """Return an estimate of a report with its interval."""
    if estimate is None or estimate.get("value") is None:
        return "undefined"
    low, high = estimate.get("low"), estimate.get("high")
    within = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{estimate['value']:.3f}{within}"


def share_cell(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def report_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of a report, the most important first."""
    yield from main_tables(report)
    yield _seen(report["criteria"])
    yield _errors(report["criteria"])
    yield Table(
        title="What was asked, of whom",
        header=("step", "role", "model", "answers"),
        rows=tuple(
            (one["step"], one["role"], one["model"], str(one["questions"]))
            for one in report["questions"]
        ),
    )


def main_tables(report: Report) -> Iterator[Table]:
    """Yield the tables of what there is in a benchmark."""
    build = _global_tables if report["perspective"] == "global" else _local_tables
    yield from build(report["criteria"])


def blind_kinds_of(report: Report) -> dict[str, list[str]]:
    """Return the kinds of errors that the comparator misses in most pairs, by criterion."""
    found = {
        name: [one["kind"] for one in own["comparator"]["kinds"] if one["sight"] == "blind"]
        for name, own in report["criteria"].items()
    }
    return {name: kinds for name, kinds in found.items() if kinds}


def report_text(report: Report) -> str:
    lines = [
        f"# Benchmark of {_plain(report['data']['name'])}, {report['perspective']} perspective",
        "",
        f"{report['texts']} texts about {report['sources']} of {report['data']['sources']} sources "
        f"(run {report['run']}). Files: `benchmark.jsonl` is rated data; `sub_aspects.yaml` can be "
        f"edited and given back; `{COSTS}` says what the last process paid.",
        "",
        _references(report["references"]),
        "",
    ]
    for table in report_tables(report):
        lines += [f"## {table.title}", "", *table.markdown(_plain), ""]
    blind = blind_kinds_of(report)
    lines += ["## What the comparator cannot see", ""]
    lines += [f"- {_plain(name)}: {_plain(', '.join(kinds))}" for name, kinds in blind.items()]
    lines += list(_not_blind(report["criteria"], blind))
    lines += ["", "## Spot check by raters", "", *_checked(report.get(CHECKED))]
    if report["notes"]:
        lines += ["", "## Notes", "", *(f"- {_plain(note)}" for note in report["notes"])]
    return "\n".join(lines) + "\n"


def _not_blind(criteria: Mapping[str, Report], blind: Mapping[str, Any]) -> Iterator[str]:
    """Yield of criteria without blind kinds whether none was found, or nothing could be."""
    unknown = [name for name, own in criteria.items() if not own["comparator"]["accuracy"]["n"]]
    if unknown:
        yield f"- {_plain(', '.join(unknown))}: unknown, as no pair has an answer."
    if not blind and len(unknown) < len(criteria):
        yield "No kind of error is surely missed in most pairs."


def _references(told: Report) -> str:
    dropped = ", ".join(f"{n} {reason}" for reason, n in told["dropped"].items())
    without = told["sources_without"]
    return (
        f"{told['chosen']} good texts were chosen from {told['candidates']}"
        + (f"; left out: {_plain(dropped)}" if dropped else "")
        + (f"; {without} sources have none and are left out" if without else "")
        + "."
    )


def _local_tables(criteria: Mapping[str, Report]) -> Iterator[Table]:
    yield Table(
        title="Sequences",
        header=("criterion", "sequences", "texts", "ended early", "lost", "longest", "shortest"),
        rows=tuple(
            (
                name,
                str(own["sequences"]),
                str(own["texts"]),
                str(own["short"]),
                str(own["lost"]),
                max(own["lengths"], key=int, default="0"),
                min(own["lengths"], key=int, default="0"),
            )
            for name, own in criteria.items()
        ),
    )


def _global_tables(criteria: Mapping[str, Report]) -> Iterator[Table]:
    yield Table(
        title="Texts by rating",
        header=("criterion", "rating", "errors", "rated", "kept", "missing", "sources lacking"),
        rows=tuple(
            (
                name,
                f"{one['rating']:g}",
                str(own["pilot"]["ratings"][f"{one['rating']:g}"]["n_errors"]),
                *(str(one[key]) for key in ("rated", "kept", "missing", "sources_lacking")),
            )
            for name, own in criteria.items()
            for one in own["balance"]["ratings"]
        ),
    )
    sides = ("beats_below", "beats_own", "loses_to_own", "loses_to_above")
    yield Table(
        title="How often a text beats anchors and loses to them",
        header=("criterion", "beats below", "beats own", "loses to own", "loses to above"),
        rows=tuple(
            (name, *(estimate_cell(own["neighbours"][side]) for side in sides))
            for name, own in criteria.items()
        ),
    )
    yield Table(
        title="Anchors",
        header=("criterion", "per rating", "value over 1", "accuracy on pairs", "orders disagree"),
        rows=tuple(
            (
                name,
                ", ".join(map(str, own["anchors"]["per_rating"])),
                str(own["anchors"]["n_far"]),
                estimate_cell(own["anchors"]["accuracy"]),
                share_cell(own["anchors"]["accuracy"]["disagree"]),
            )
            for name, own in criteria.items()
        ),
    )


def _seen(criteria: Mapping[str, Report]) -> Table:
    rows = []
    for name, own in criteria.items():
        seen = own["comparator"]
        rows.append((name, "all", estimate_cell(seen["accuracy"]), str(seen["accuracy"]["n"]), ""))
        rows += [
            (name, one["kind"], estimate_cell(one["seen"]), str(one["seen"]["n"]), one["sight"])
            for one in seen["kinds"]
        ]
    return Table(
        title="How often the comparator prefers the text with one error less",
        header=("criterion", "error", "share", "pairs", ""),
        rows=tuple(rows),
    )


def _errors(criteria: Mapping[str, Report]) -> Table:
    return Table(
        title="Errors put in",
        header=("criterion", "wanted", "made", "asked", "again", "not made, and why"),
        rows=tuple(
            (
                name,
                *(str(own["errors"][key]) for key in ("wanted", "made", "asked", "retried")),
                "; ".join(f"{n} {reason}" for reason, n in own["errors"]["dropped"].items()),
            )
            for name, own in criteria.items()
        ),
    )


def checks_table(checked: Report) -> Table:
    rows = [("all", estimate_cell(checked["right"]))]
    if checked["near"] is not None:
        rows.append(("all, within one point", estimate_cell(checked["near"])))
    rows += [(name, estimate_cell(one)) for name, one in checked["by_criterion"].items()]
    rows += [(f"rater {name}", share_cell(one)) for name, one in checked["by_rater"].items()]
    if checked["agreement"] is not None:
        rows.append(("raters with each other", share_cell(checked["agreement"])))
    return Table(
        title="How often raters agree with the benchmark", header=("", "share"), rows=tuple(rows)
    )


def _checked(checked: Report | None) -> list[str]:
    if checked is None:
        return [
            "It has not been checked yet: fill in copies of `spot_check.csv`, and give them back "
            "with `--spot-check`."
        ]
    counts = f"{checked['answers']} answers to {checked['checks']} questions, "
    return [counts + f"{checked['blank']} left blank.", "", *checks_table(checked).markdown(_plain)]


# An interval is no link, and an underscore within a word no emphasis.
_MARKS = re.compile(r"\[-?[\d.]+, -?[\d.]+\]|[\\`*\[\]|#]|(?<!\w)_|_(?!\w)")


def _plain(text: str) -> str:
    r"""Return a text from anywhere as Markdown shows it, on one line."""
    escaped = html.escape(" ".join(text.split()), quote=False)
    return _MARKS.sub(lambda one: one[0] if len(one[0]) > 1 else f"\\{one[0]}", escaped)
