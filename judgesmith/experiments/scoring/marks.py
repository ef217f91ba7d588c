"""What every row says of the run that wrote it, and which files belong to another one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgesmith.data.problems import DataError
from judgesmith.data.scores import open_scores
from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.lm import AnyModel
from judgesmith.signatures import RatedItem
from judgesmith.signatures.plain_data import fingerprint_of

Marks = Mapping[str, str]
"""The judge, its target and the run, as every row has them."""


def marks_of(judge: AnySaved, lm: AnyModel, first: RatedItem) -> dict[str, str]:
    """Return what every row says of its run."""
    return {
        "judge": judge.fingerprint,
        "target": judge.target,
        "run": _run(judge, lm, first),
    }


def _run(judge: AnySaved, lm: AnyModel, first: RatedItem) -> str:
    """Return twelve hex digits that tell runs apart which must not replace each other's rows.

    Of the input only the first text counts: a file that has grown since is still the same run.
    """
    asked = [*asked_by(judge, lm), first.source_id, first.system_id, first.key]
    return fingerprint_of(asked)


def asked_by(judge: AnySaved, lm: AnyModel) -> list[str]:
    """Return what decides, beside the texts, what a judge says: itself and all its models."""
    asked = [judge.fingerprint, str(lm.model), endpoint_of(lm)]
    others = judge.own_models() if isinstance(judge, SavedJudge) else judge.parts
    return asked + [f"{name} {one.model} {endpoint_of(one)}" for name, one in others.items()]


def refuse_others(output: Path, marks: Marks) -> None:
    """Refuse a file whose first row is not of this run."""
    found = _first_row(output, marks)
    if found.get("run") == marks["run"]:
        return
    if found.get("judge") == marks["judge"]:
        holds = "this judge's rows for another input or model"
    elif found.get("judge"):
        holds = f"rows of the judge {found['judge']}, and this is {marks['judge']}"
    else:
        holds = "something else than scores"
    raise ExistingFileError(
        f"{output} holds {holds}.", hint="name another file, or replace it with --force."
    )


@file_faults()
def _first_row(output: Path, marks: Marks) -> Mapping[str, Any]:
    """Return the first row of a file; that of an empty file is anybody's."""
    if output.suffix != ".jsonl":
        try:
            return next((row for _, row in open_scores(output).rows), marks)
        except DataError:
            return {}
    with output.open(encoding="utf-8", errors="replace") as file:
        line = file.readline()
    try:
        row = json.loads(line) if line else marks
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, Mapping) else {}
