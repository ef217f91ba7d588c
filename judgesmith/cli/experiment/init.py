"""``judgesmith init``: a project file for a data file, or the spec of an experiment."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import json_option, reading, text_options
from judgesmith.cli.shared.places import file_place
from judgesmith.cli.shared.printing import print_json, print_table, say, say_notes
from judgesmith.drafts import put_text
from judgesmith.errors import ExistingFileError, InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgesmith.data.proposal import DataProposal

_SPECS = (".yaml", ".yml")
_START = "start"


@tool("init")
@click.argument("file", metavar="DATA-or-SPEC.yaml")
@click.option(
    "--template",
    metavar="NAME",
    help="Which spec to write: start (default; a small experiment on the sample), replay "
    "(recorded judges next to your own), or the grid of a paper: active-critic, dhp, "
    "dual-perspective, exemplars, openlgauge.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@text_options
@json_option
def command(file: str, template: str | None, force: bool, as_json: bool) -> None:
    """Write judgesmith.yaml for a data file, or the spec of an experiment.

    A data file (CSV, JSON Lines, …): proposes which column is which, shows three rows and writes
    judgesmith.yaml, which every command in this folder and below reads. A name in .yaml: writes
    a commented spec for 'judgesmith experiment'. No model is called.
    """
    if Path(file).suffix.lower() in _SPECS:
        _write_spec(file, template or _START, force=force, as_json=as_json)
        return
    if template is not None:
        raise OptionError(
            f"a template is a spec, and {file} is not named .yaml.",
            option="--template",
            hint="name the spec to write, such as spec.yaml.",
        )
    _write_project(file, force=force, as_json=as_json)


def _write_spec(spec: str, template: str, *, force: bool, as_json: bool) -> None:
    from judgesmith.experiments.specs import cells_of, spec_of
    from judgesmith.experiments.specs.templates import template_text

    with blaming("--template"):
        text = template_text(template)
    with blaming(spec):
        place = file_place(spec, like="spec.yaml", option=spec)
        _write(place, text, force=force, otherwise="name another file, or ")
    written = spec_of(text, file=spec)
    cells = cells_of(written)
    if as_json:
        print_json({"spec": spec, "template": template, "name": written.name, "cells": len(cells)})
        return
    sets = ", ".join(one.path for one in written.data.values())
    say(f"{spec}: {written.name}, {len(cells)} cells on {sets}")
    say(f"Edit it, then: judgesmith experiment {shlex.quote(spec)} -o RUN")


def _write(place: Path, text: str, *, force: bool, otherwise: str = "") -> None:
    if place.exists() and not force:
        raise ExistingFileError(
            f"{place} is there already.", hint=f"{otherwise}replace it with --force."
        )
    put_text(place, text)


def _write_project(file: str, *, force: bool, as_json: bool) -> None:
    from judgesmith.data.proposal import propose
    from judgesmith.studio.project_file import PROJECT

    if file == "-":
        raise InputError("standard input has no name that a project file could keep.")
    if not Path(file).name:
        raise OptionError(
            f"{file!r} names no file or folder of its own.",
            option="DATA-or-SPEC.yaml",
            hint="name one.",
        )
    with blaming(file):
        found = propose(file, **reading())
        _write(Path(PROJECT), project_text(file, found), force=force)
    if as_json:
        print_json(
            {
                "project": PROJECT,
                "data": file,
                "map": _map(found),
                "scale": dict(found.scales),
                "labels": {name: list(labels) for name, labels in found.labels.items()},
            }
        )
        return
    rows = [
        [_shown_name(name), "+".join(columns) or "-", *(_cell(row, columns) for row in found.rows)]
        for name, columns in found.columns.items()
    ]
    header = ["", "column", *(f"row {n}" for n in range(1, len(found.rows) + 1))]
    print_table(f"{file}: proposed columns", rows, header=header, left=5, lead=2)
    say()
    say_notes(_doubts(found), as_json=False)
    say(f"Wrote {PROJECT}. Check the columns and scales in it, then run:")
    say("  judgesmith check")


def project_text(file: str, found: DataProposal) -> str:
    from judgesmith.data.samples import SAMPLES

    place = file if file in SAMPLES or "://" in file else os.path.relpath(file)
    parts = [
        "# Settings that every judgesmith command in this folder and below reads. Options win.\n",
        f"data: {_flow(place)}\n",
        *(f"{name}: {_flow(said)}\n" for name, said in reading().items()),
    ]
    if told := _map(found):
        parts.append(
            f"\n# FIELD: COLUMN. Several columns are several raters.\n{_block('map', told)}"
        )
    if found.scales:
        parts.append("\n# The lowest and the highest possible rating, not the observed ones.\n")
        parts.append(_block("scale", _by_name(found.scales)))
    if found.labels:
        labels = {name: list(one) for name, one in found.labels.items()}
        parts.append(f"\n# The labels, worst first.\n{_block('labels', _by_name(labels))}")
    if found.missing:
        parts.append(
            "\n# Cells that mean 'not rated'.\n" + f"missing: {_flow(list(found.missing))}\n"
        )
    parts.append(_MORE)
    return "".join(parts)


_MORE = """
# target: overall               # the criterion to predict
# model: openai/gpt-4o-mini     # without it, commands use the offline model
# prices: {openai/gpt-4o-mini: "0.15,0.60"}   # dollars per million tokens in, out
# budget: {usd: 5, calls: 2000} # hard limits of every run
"""


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...")


def _block(key: str, values: Mapping[str, Any]) -> str:
    return f"{key}:\n" + "".join(f"  {_flow(k)}: {_flow(one)}\n" for k, one in values.items())


def _by_name(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_shown_name(name): value for name, value in values.items()}


def _map(found: DataProposal) -> dict[str, Any]:
    """Return the map as the file writes it, without columns that are named as their field."""
    return {
        _shown_name(name): columns[0] if len(columns) == 1 else list(columns)
        for name, columns in found.columns.items()
        if columns and not (name in found.columns.fields and columns == (name,))
    }


def _shown_name(name: str) -> str:
    return "score" if name == "overall" else name


def _cell(row: Any, columns: tuple[str, ...]) -> str:
    values = [row.get(one) for one in columns]
    return shortened(" | ".join("" if one is None else str(one) for one in values), 18)


def _doubts(found: DataProposal) -> list[str]:
    notes = []
    if "response" not in found.columns.fields:
        notes.append("no column looks like the response; add 'response: COLUMN' to the map.")
    if not found.columns.criteria and not any("human" in row for row in found.rows):
        notes.append(
            "no column looks like a rating; add 'score: COLUMN' to the map, or label rows with "
            "'judgesmith studio'."
        )
    notes += [
        f"the order of the labels of {_shown_name(name)} is unknown; put the worst first."
        for name in found.unordered
    ]
    alike = [one for one in found.columns.criteria if one in found.scales]
    if len(alike) > 1 and "overall" not in alike and len({found.scales[n] for n in alike}) == 1:
        columns = [column for one in alike for column in found.columns.criteria[one]]
        notes.append(
            f"if {' and '.join(columns)} are raters of one criterion, write "
            f"'score: [{', '.join(columns)}]' in the map, and one scale for both: "
            f"'scale: {found.scales[alike[0]]}'."
        )
    if found.unread:
        notes.append(f"not used: {', '.join(found.unread)}.")
    return notes
