"""Benchmarks of Judgesmith: lists them, runs them, and writes their tables into the guides.

python -m benchmarks list
python -m benchmarks run NAME … [--quick] [-o FOLDER] [-- settings of the benchmark]
python -m benchmarks docs

``run`` takes names of benchmarks, or of a folder without a benchmark of its name. It writes the
rows to ``benchmarks/results/NAME.json``; with ``--quick`` the numbers mean nothing, and only ``-o``
keeps them. ``run NAME -- --help`` says what settings there are. ``docs`` writes tables between
marks: ``<!-- benchmark: NAME, table 1, rows a = x; y, by b, columns c; d -->`` and
``<!-- /benchmark -->``, where all but the name may be left out.
"""

import argparse
import importlib
import json
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import benchmarks
from benchmarks.harness import (
    BENCHMARKS,
    RESULTS,
    ROOT,
    Benchmark,
    NotRun,
    Row,
    lines,
    write_result,
)

MARK = re.compile(
    r"(<!-- benchmark: (\w+)(?:, table (\d+))?(?:, rows ((?:(?!, by |, columns )[^>])*))?"
    r"(?:, by ((?:(?!, columns)[^>])*))?(?:, columns ([^>]*))? -->\n)"
    r".*?(?=<!-- /benchmark -->)",
    re.DOTALL,
)


def known() -> dict[str, Benchmark]:
    """Return all benchmarks, by name."""
    for folder in (one for one in pkgutil.iter_modules(benchmarks.__path__) if one.ispkg):
        room = importlib.import_module(f"benchmarks.{folder.name}")
        for found in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            importlib.import_module(found.name)
    ordered = sorted(BENCHMARKS.values(), key=lambda one: (one.folder, one.name))
    return {one.name: one for one in ordered}


def run(one: Benchmark, settings: Mapping[str, Any], to: Path | None) -> bool:
    """Run a benchmark, print its rows as they come, keep them; say whether no promise broke."""
    rows: list[Row] = []

    def noted() -> Iterator[Row]:
        for row in one.run(settings):
            rows.append(row)
            yield row

    print(f"\n## {one.name}\n", flush=True)
    try:
        for line in lines(noted(), one.formats):
            print(line, flush=True)
    except NotRun as reason:
        print(f"not run: {reason}", flush=True)
        return True
    except Exception:
        traceback.print_exc()
        return False
    if to is not None:
        print(f"\nwritten to {write_result(one, settings, rows, to)}", flush=True)
    return all(row.get("held", True) for row in rows)


def run_named(names: list[str], own: list[str], *, quick: bool, to: Path | None) -> int:
    """Run what is named, one after the other."""
    every = known()
    folders = {one.folder for one in every.values()}
    if unknown := [name for name in names if name not in every and name not in folders]:
        print(f"no benchmark {', '.join(unknown)}; `list` shows all.", file=sys.stderr)
        return 2
    chosen = []
    for name in names:
        of_folder = [one for one in every.values() if one.folder == name]
        chosen += [every[name]] if name in every else of_folder
    if own and len(chosen) > 1:
        print("settings after -- are those of one benchmark.", file=sys.stderr)
        return 2
    is_well = True
    for one in chosen:
        parser = one.parser()
        if quick and isinstance(one.quick, str):
            print(f"\n## {one.name}\n\nnot run: {one.quick}")
            continue
        if quick:
            parser.set_defaults(**one.quick)
        is_well &= run(one, vars(parser.parse_args(own)), to)
    return 0 if is_well else 1


def tables(
    name: str,
    number: str | None,
    of: str | None,
    by: str | None,
    columns: str | None,
    every: Mapping[str, Benchmark],
) -> str:
    """Return the tables of a file of results, or some rows and columns of one of them."""
    document = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    rows = document["rows"]
    if number is not None:
        rows = [list(several) for _, several in groupby(rows, key=tuple)][int(number) - 1]
    if of is not None:
        column, _, values = of.partition(" = ")
        rows = [row for row in rows if str(row[column]) in values.split("; ")]
    if by is not None:
        rows = ranges(rows, by.split("; "))
    if columns is not None:
        own = by.split("; ") if by is not None else []
        kept = [*own, *columns.split("; ")]
        rows = [{column: row[column] for column in kept} for row in rows]
    found = list(lines(rows, every[name].formats))
    if settings := every[name].changed(document["arguments"]):
        found += ["", f"Settings: `{settings}`."]
    return "\n".join(found)


def ranges(rows: list[Row], by: list[str]) -> list[Row]:
    """Return one row per group: what the group is by, and the range of each column of numbers."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    found: list[Row] = []
    for key, several in groups.items():
        one: Row = dict(zip(by, key, strict=True))
        for name in (name for name in several[0] if name not in by):
            values = [value for row in several if (value := row[name]) is not None]
            if all(isinstance(value, int | float) for value in values):
                ends = (min(values), max(values)) if values else None  # type: ignore[type-var]
                one[name] = ends  # type: ignore[assignment]
        found.append(one)
    return found


def with_tables(text: str, every: Mapping[str, Benchmark]) -> str:
    """Return a page with the tables that its marks name."""
    return MARK.sub(lambda mark: f"{mark[1]}\n{tables(*mark.groups()[1:], every)}\n\n", text)


def write_docs() -> int:
    """Write the tables of all pages."""
    every = known()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        if (new := with_tables(text, every)) != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


def main(arguments: list[str]) -> int:
    """Do what the command line says."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    words, own = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list all benchmarks")
    commands.add_parser("docs", help="write the tables of results into the guides")
    running = commands.add_parser("run", help="run benchmarks")
    running.add_argument("names", nargs="+", metavar="NAME")
    running.add_argument("--quick", action="store_true", help="whether it runs, in a moment")
    running.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="for the results")
    given = parser.parse_args(words)
    if given.command == "list":
        for folder, several in groupby(known().values(), key=lambda one: one.folder):
            print(f"\n{folder}")
            for one in several:
                print(f"  {one.name:24} {one.about}")
        return 0
    if given.command == "docs":
        return write_docs()
    to = given.output or (None if given.quick else RESULTS)
    return run_named(given.names, own, quick=given.quick, to=to)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
