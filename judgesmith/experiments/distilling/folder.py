"""Distillation data on disk: a folder of plain files, written as a whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import InputError
from judgesmith.experiments.distilling.card import card_of
from judgesmith.experiments.distilling.distilling import questions_of
from judgesmith.experiments.distilling.examples import Example
from judgesmith.experiments.run_folders import check_folder, stated_in, write_rows
from judgesmith.signatures.rubric import Rubric

TRAIN, VALIDATION, EXAMPLES = "train.jsonl", "validation.jsonl", "examples.jsonl"
RUBRIC, SUMMARY, CARD = "rubric.yaml", "distilled.json", "README.md"
FILES = (TRAIN, VALIDATION, EXAMPLES, RUBRIC, SUMMARY, CARD)


def check_distilled(folder: Path, run: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but such data, or another run's without ``force``.

    Raises
    ------
    FileExistsError
        If it does.
    """
    what = "distillation data"
    check_folder(folder, run, stated=_summary_in(folder), files=FILES, what=what, force=force)


def save_distilled(
    folder: Path, examples: Sequence[Example], rubric: Rubric, summary: Mapping[str, Any]
) -> None:
    """Write data to ``folder``, in place of an earlier run's: all of it, or nothing.

    Parameters
    ----------
    folder : Path
        As ``check_distilled`` found it.
    examples : sequence of Example
        Those left out among them.
    rubric : Rubric
        What they were annotated on.
    summary : dict
        From ``summary_of``.
    """
    questions = questions_of(rubric)
    kept = [one for one in examples if not one.left_out]
    with draft_beside(folder, folder=True) as draft:
        for name, split in ((TRAIN, "train"), (VALIDATION, "validation")):
            own = (one for one in kept if one.sampled.split == split)
            write_rows(draft / name, (one.messages(questions[one.criterion]) for one in own))
        write_rows(draft / EXAMPLES, (one.row() for one in examples))
        write_synced(draft / RUBRIC, rubric.to_yaml())
        write_synced(draft / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
        write_synced(draft / CARD, card_of(summary))
        put(draft, folder)


def read_summary(folder: Path) -> dict[str, Any]:
    """Return what ``save_distilled`` wrote of settings and counts.

    Raises
    ------
    ValueError
        If the folder holds no such data.
    """
    summary = _summary_in(folder)
    if summary is None:
        raise InputError(
            f"{folder} holds no distillation data.",
            hint="name the folder that judgesmith distil has written.",
        )
    return summary


def _summary_in(folder: Path) -> dict[str, Any] | None:
    found = stated_in(folder / SUMMARY)
    return found if found is not None and found.get("kind") == "distillation" else None
