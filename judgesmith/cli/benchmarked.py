"""What ``judgesmith benchmark`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judgesmith.cli.printing import print_json, say, say_notes, say_wrapped, usage_text
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.benchmark.building import PlannedStep
    from judgesmith.experiments.benchmark.report import ReportTable
    from judgesmith.experiments.benchmark.settings import Dropped
    from judgesmith.programs.lm import Usage


def print_benchmark(report: Mapping[str, Any], output: str, usage: Usage) -> None:
    """Print the most important of a report, and where the rest stands."""
    from judgesmith.experiments.benchmark.report import blind_kinds_of, estimate_cell, main_tables

    say(
        f"{report['texts']} texts about {report['sources']} sources in {output} "
        f"({report['perspective']}, run {report['run']})"
    )
    for table in main_tables(report):
        _print(table)
    rows = [
        [name, estimate_cell(own["comparator"]["accuracy"])]
        for name, own in report["criteria"].items()
    ]
    print_table("How often the comparator prefers the text with one error less", rows)
    blind = blind_kinds_of(report)
    if blind:
        say("\nErrors that the comparator cannot see")
    for name, kinds in blind.items():
        say_wrapped(f"  {name}: {', '.join(kinds)}", hang=4)
    say("\nreport.md there has the rest; spot_check.csv is for people to fill in")
    say(usage_text(usage))


def print_planned(
    steps: Sequence[PlannedStep], dropped: Sequence[Dropped], *, as_json: bool
) -> None:
    """Print what would be asked."""
    calls, most = sum(one.calls for one in steps), sum(one.max_calls for one in steps)
    if as_json:
        rows = [asdict(one) for one in steps]
        left_out = {one.criterion: one.to_dict() for one in dropped}
        print_json({"calls": calls, "max_calls": most, "dropped": left_out, "steps": rows})
        return
    say(f"{calls} calls, {most} at most, less those on record")
    print_table(
        "By step",
        [[one.step, one.role, one.model, str(one.calls), str(one.max_calls)] for one in steps],
        header=["step", "role", "model", "calls", "at most"],
        left=3,
    )


def print_checks(checked: Mapping[str, Any], folder: str) -> None:
    """Print what people say of a benchmark."""
    from judgesmith.experiments.benchmark.report import checks_table

    say(
        f"{checked['answers']} answers to {checked['checks']} questions about {folder}, "
        f"{checked['blank']} left blank"
    )
    _print(checks_table(checked))
    say("\nreport.json and report.md there say so, too")


def tell_spent(spent: Exception, usage: Usage | None, *, as_json: bool) -> None:
    """Say that the budget ended before the benchmark was whole."""
    assert usage is not None
    if as_json:
        print_json({"output": None, "calls": usage.calls, "cost_usd": usage.cost_usd})
    notes = (f"{spent}", "nothing was written; a larger budget continues from here.")
    say_notes(notes, as_json=as_json)
    if not as_json:
        say(usage_text(usage))


def tell_recorded(usage: Usage | None) -> None:
    """Say before a refusal how much of what was found wrong was on record, and not asked again."""
    if usage is not None and usage.hits:
        note = f"{usage_text(usage)}; another --ledger asks anew."
        say_notes([note], as_json=True)


def _print(table: ReportTable) -> None:
    print_table(table.title, table.rows, header=table.header)
