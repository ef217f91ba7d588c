"""A discernment test on disk: the report, the texts that were judged, and what was said of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.experiments.discerned import Discerned
from judgesmith.experiments.perturbed_rows import rows_of
from judgesmith.experiments.perturbed_set import PerturbedSet
from judgesmith.experiments.run_folders import check_folder, stated_in
from judgesmith.experiments.version_scores import VersionScores
from judgesmith.programs.artifacts.record import as_loaded
from judgesmith.programs.judging.rows import json_line, score_row

REPORT, SCORES, VERSIONS = "report.json", "scores.jsonl", "versions.jsonl"
FILES = (REPORT, SCORES, VERSIONS)


def save_discerned(
    folder: Path,
    found: Discerned,
    scores: VersionScores,
    perturbed: PerturbedSet,
    *,
    marks: Mapping[str, Any],
) -> None:
    """Write a test to ``folder``, in place of an earlier one: all of it, or nothing.

    Parameters
    ----------
    folder : Path
        As :func:`check_discerned` found it.
    found : Discerned
        The report.
    scores : VersionScores
        What the judge said; every text with its kind of change is a row of ``scores.jsonl``.
    perturbed : PerturbedSet
        The texts; ``versions.jsonl``, for which the scores can be read again.
    marks : dict
        What report and rows say of the run; ``run`` tells it from others.
    """
    with draft_beside(folder, folder=True) as draft:
        report = {**marks, **found.to_dict()}
        text = json.dumps(report, indent=1, allow_nan=False)
        write_synced(draft / REPORT, text + "\n")
        lines = (json_line({**row, **marks}) for row in _rows(scores, perturbed))
        write_synced(draft / SCORES, "".join(lines))
        texts = (json_line(as_loaded(row)) for row in rows_of(perturbed))
        write_synced(draft / VERSIONS, "".join(texts))
        put(draft, folder)


def check_discerned(folder: Path, run: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but a test, or another run's test without ``force``.

    Raises
    ------
    FileExistsError
        If it does.
    """
    report = stated_in(folder / REPORT)
    stated = report if report is not None and "run" in report else None
    check_folder(folder, run, stated=stated, files=FILES, what="a test", force=force)


def run_of(*parts: object) -> str:
    """Return twelve hex digits that tell a run from others by what it is made of."""
    return hashlib.sha256(json.dumps([str(one) for one in parts]).encode()).hexdigest()[:12]


def _rows(scores: VersionScores, perturbed: PerturbedSet) -> Iterator[dict[str, Any]]:
    """Yield a row per original and then its versions, none twice."""
    known = set()
    for place, original in enumerate(perturbed.originals):
        said = (row[place] for row in scores.of_versions)
        names = (kind.name for kind in perturbed.kinds)
        versions = (row[place] for row in perturbed.versions)
        own = [(original, scores.of_originals[place], None)]
        for item, judgement, name in (*own, *zip(versions, said, names, strict=True)):
            if item is None or judgement is None:
                continue
            row = {**score_row(item, judgement), "perturbation": name}
            named = (row["source_id"], row["system_id"], row["key"])
            if named not in known:
                known.add(named)
                yield row
