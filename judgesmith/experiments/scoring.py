"""Scoring new texts into a file: one row out for every row in, all of them or no file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.reading import ItemStream
from judgesmith.programs import judge_each
from judgesmith.programs.saved import SavedJudge
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What a scoring run wrote.

    Attributes
    ----------
    n_rows, n_unscored : int
        Rows written, and those among them without a score.
    reasons : dict of str to int
        Why rows have no score, with how many, most frequent first.
    """

    n_rows: int
    n_unscored: int
    reasons: Mapping[str, int]


def score_file(
    judge: SavedJudge,
    items: ItemStream,
    output: str | Path,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Scored:
    """Judge every item and write one JSON line each, in order and in flat memory.

    Rows go to a temporary file beside ``output``, which is renamed when all are written. A run
    that was stopped starts over from the answers on record and asks only for the rest.

    Parameters
    ----------
    judge : SavedJudge
        What judges.
    items : ItemStream
        From ``stream_items``; ratings are not read.
    output : str or Path
        A ``.jsonl`` file.
    lm, concurrency, progress
        As in ``judge_items``.
    overwrite : bool
        Whether rows that another judge wrote may be replaced.

    Raises
    ------
    FileExistsError
        If ``output`` holds something other than this judge's rows.
    DataError
        If a row of the input cannot be read: all such rows are named, and nothing is written.
    """
    output = Path(output)
    fingerprint = judge.fingerprint
    if output.exists() and not overwrite:
        _refuse_others(output, fingerprint)
    output.parent.mkdir(parents=True, exist_ok=True)
    draft = output.with_name(f".{output.name}.{os.getpid()}.part")
    n_rows, reasons = 0, dict[str, int]()
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            judged = judge_each(judge, items, lm=lm, concurrency=concurrency, progress=progress)
            for item, judgement in judged:
                file.write(json.dumps(score_row(item, judgement, fingerprint)) + "\n")
                n_rows += 1
                if judgement.problem is not None:
                    reasons[judgement.problem] = reasons.get(judgement.problem, 0) + 1
            file.flush()
            os.fsync(file.fileno())
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)
    ordered = dict(sorted(reasons.items(), key=lambda pair: -pair[1]))
    return Scored(n_rows=n_rows, n_unscored=sum(reasons.values()), reasons=ordered)


def score_row(item: RatedItem, judgement: Judgement, judge: str) -> dict[str, Any]:
    """Return the row that is written for one judged item.

    Examples
    --------
    >>> item = RatedItem(source_id="a", response="r")
    >>> row = score_row(item, Judgement(score=3.5), "0123456789ab")
    >>> row["source_id"], row["score"], row["problem"], row["judge"]
    ('a', 3.5, None, '0123456789ab')
    """
    plain = judgement.model_dump(
        mode="json", include={"score", "explanation", "criteria", "errors"}
    )
    return {
        "source_id": item.source_id,
        "system_id": item.system_id,
        **plain,
        "problem": judgement.problem,
        "judge": judge,
    }


def _refuse_others(output: Path, fingerprint: str) -> None:
    found = next(_first_rows(output), {}).get("judge")
    if found != fingerprint:
        raise FileExistsError(
            f"{output} exists and holds rows of "
            + (f"the judge {found}, not of {fingerprint}" if found else "something else")
            + "; name another file, or replace it with --force."
        )


def _first_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in islice(file, 1):
            try:
                row = json.loads(line)
            except ValueError:
                return
            if isinstance(row, dict):
                yield row
