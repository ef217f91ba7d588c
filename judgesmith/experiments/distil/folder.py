"""Distillation data on disk, with the card that says what it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import InputError
from judgesmith.experiments.distil.examples import (
    DistilExample,
    Distillation,
    questions_of,
    reasons_of,
)
from judgesmith.experiments.run_folders import check_folder, json_object_in, json_text, write_rows
from judgesmith.experiments.tables import Table
from judgesmith.programs.families.forms import DISTILLED
from judgesmith.signatures.rubric import Rubric

WHOLE = "overall quality"
"""What the criterion of an example about the whole is called."""

_FILES = """| file | holds |
| --- | --- |
| `train.jsonl`, `validation.jsonl` | one chat per line: system, user and assistant message |
| `examples.jsonl` | every annotation in the order of the data, also those left out, with the reason; without texts |
| `rubric.yaml` | task and criteria, for the judge that asks the student |
| `distilled.json` | settings and counts |
"""  # noqa: E501
_USE = """## Use

Train a student with `judgesmith distil finetune`, or with anything that reads chats in JSON Lines.
A judge that asks it in just these words is made by `judgesmith compile --judge distilled --rubric
rubric.yaml`. No input of the validation file is in the training file.

## Limits

- A student learns the teacher's mistakes. Scores and errors were written by models and are
  unchecked.
- Inputs and outputs are those of the data they were drawn from, whose licence holds. The terms of
  the teacher's models may say what its answers may be used for.
- Inputs were held against the sets that were to be excluded by their words. A translation or a
  paraphrase of an input is not found.
"""


def distillation_summary(
    made: Distillation, examples: Sequence[DistilExample], *, run: str, data: str, excluded: int
) -> dict[str, Any]:
    """Return settings and counts as plain data."""
    kept = [one for one in examples if not one.left_out]
    names = made.rubric.names or ("",)
    return {
        "run": run,
        "kind": "distillation",
        "form": DISTILLED.name,
        "data": data,
        "judge": made.judge.fingerprint,
        "models": list(made.judge.models),
        "settings": made.settings.model_dump(mode="json"),
        "sources": made.sample.n_sources,
        "sources_excluded": made.sample.n_shared,
        "inputs_to_exclude": excluded,
        "outputs": len(made.sample.outputs),
        "annotations": len(examples),
        "examples": {
            split: sum(one.sampled.split == split for one in kept)
            for split in ("train", "validation")
        },
        "left_out": dict(reasons_of(examples)),
        "errors": sum(one.n_errors for one in kept),
        "errors_dropped": sum(one.n_dropped for one in kept),
        "criteria": {name or WHOLE: _of_criterion(examples, name) for name in names},
    }


def _of_criterion(examples: Sequence[DistilExample], name: str) -> dict[str, Any]:
    own = [one for one in examples if one.criterion == name]
    kept = [one for one in own if not one.left_out]
    scores = [one.score for one in kept if one.score is not None]
    return {
        "annotations": len(own),
        "examples": len(kept),
        "errors": sum(one.n_errors for one in kept),
        "without_errors": sum(one.n_errors == 0 for one in kept),
        "mean_score": fmean(scores) if scores else None,
        "scores": {str(score): n for score, n in sorted(Counter(scores).items())},
    }


def card_of(summary: Mapping[str, Any]) -> str:
    own = summary["settings"]
    kept = summary["examples"]
    lines = [
        "# Errors and scores to learn from",
        "",
        f"{kept['train']} examples for training and {kept['validation']} for validation. Each asks "
        "for the errors of an output in one respect and for a score from 0 to 100, and has the "
        "answer that a judge gave.",
        "",
        _FILES,
        "## How it was made",
        "",
        f"- Data: {_plain(summary['data'])}; {summary['sources']} inputs, and of each "
        f"{own['outputs']} outputs at most, of different systems where there are: "
        f"{summary['outputs']} outputs.",
        f"- Aspects: {own['aspects']} of {len(summary['criteria'])} per output at most, "
        f"{summary['annotations']} annotations.",
        f"- Teacher: the judge {summary['judge']}, which asks "
        f"{', '.join(map(_plain, summary['models']))}.",
        f"- Excluded: {summary['sources_excluded']} inputs, held against "
        f"{summary['inputs_to_exclude']} of other sets.",
        f"- Validation: {own['validation']:.0%} of the inputs; seed {own['seed']}; run "
        f"{summary['run']}.",
        f"- Errors: {summary['errors']} in the answers, eight at most in each, the most severe; "
        f"{summary['errors_dropped']} more were dropped, milder or nowhere in the output.",
        "- Scores are rounded to the nearest multiple of 5, halves up.",
        "",
        "## What was left out",
        "",
        *Table(
            header=("reason", "annotations"),
            rows=list(summary["left_out"].items()) or [("nothing", "0")],
        ).markdown(n_words=1),
        "",
        "## By aspect",
        "",
        *Table(
            header=("aspect", "annotations", "examples", "errors", "without errors", "mean score"),
            rows=[_row(name, one) for name, one in summary["criteria"].items()],
        ).markdown(n_words=1),
        "",
        _USE,
    ]
    return "\n".join(lines)


def _row(name: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    mean = "–" if one["mean_score"] is None else f"{one['mean_score']:.1f}"
    counts = (one["annotations"], one["examples"], one["errors"], one["without_errors"])
    return (_plain(name), *map(str, counts), mean)


def _plain(text: str) -> str:
    """Return a name as Markdown shows it, whatever it has in it."""
    shown = "".join(one if one.isprintable() else " " for one in text)
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>()#|!~" else one for one in shown)


TRAIN, VALIDATION, EXAMPLES = "train.jsonl", "validation.jsonl", "examples.jsonl"
RUBRIC, SUMMARY, CARD = "rubric.yaml", "distilled.json", "README.md"
FILES = (TRAIN, VALIDATION, EXAMPLES, RUBRIC, SUMMARY, CARD)


def check_distilled(folder: Path, run: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but such data, or another run's without ``force``."""
    what = "distillation data"
    check_folder(folder, run, stated=_summary_in(folder), files=FILES, what=what, force=force)


def save_distilled(
    folder: Path, examples: Sequence[DistilExample], rubric: Rubric, summary: Mapping[str, Any]
) -> None:
    """Write data to ``folder``, in place of an earlier run's: all of it, or nothing."""
    questions = questions_of(rubric)
    kept = [one for one in examples if not one.left_out]
    with draft_beside(folder, folder=True) as draft:
        for name, split in ((TRAIN, "train"), (VALIDATION, "validation")):
            own = (one for one in kept if one.sampled.split == split)
            write_rows(draft / name, (one.messages(questions[one.criterion]) for one in own))
        write_rows(draft / EXAMPLES, (one.row() for one in examples))
        write_synced(draft / RUBRIC, rubric.to_yaml())
        write_synced(draft / SUMMARY, json_text(summary))
        write_synced(draft / CARD, card_of(summary))
        put(draft, folder)


def read_summary(folder: Path) -> dict[str, Any]:
    """Return what ``save_distilled`` wrote of settings and counts."""
    summary = _summary_in(folder)
    if summary is None:
        raise InputError(
            f"{folder} holds no distillation data.",
            hint="name the folder that judgesmith distil has written.",
        )
    return summary


def _summary_in(folder: Path) -> dict[str, Any] | None:
    found = json_object_in(folder / SUMMARY)
    return found if found is not None and found.get("kind") == "distillation" else None
