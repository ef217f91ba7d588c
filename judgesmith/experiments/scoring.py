"""Scoring new texts into a file: one row out for every row in, all of them or no file."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from judgesmith.drafts import draft_beside, put
from judgesmith.experiments.earlier_rows import beside, refuse_loss
from judgesmith.experiments.problems import nothing_in
from judgesmith.experiments.stated_scores import sampled_reason, stated_reason
from judgesmith.programs import judge_each
from judgesmith.programs.asking import current_lm, endpoint_of
from judgesmith.programs.models import AnyModel
from judgesmith.programs.saved import SavedJudge
from judgesmith.programs.saved_kinds import AnySaved
from judgesmith.programs.scored_row import json_line, score_row
from judgesmith.signatures import RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What a scoring run wrote.

    Attributes
    ----------
    n_rows, n_unscored : int
        Rows written, and those among them without a score.
    reasons : dict of str to int
        Why rows have no score, with how many, most frequent first.
    stated : dict of str to int
        Why scores are the ones that the model stated although probabilities were to weigh them,
        with the number of such rows, most frequent first.
    sampled : dict of str to int
        How many samples verdicts rest on that were to be probabilities, and why, likewise.
    """

    n_rows: int
    n_unscored: int
    reasons: Mapping[str, int]
    stated: Mapping[str, int] = field(default_factory=dict)
    sampled: Mapping[str, int] = field(default_factory=dict)


def score_file(
    judge: AnySaved,
    items: Iterator[RatedItem],
    output: str | Path,
    *,
    lm: AnyModel | None = None,
    concurrency: int = 32,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Scored:
    """Judge every item and write one JSON line each, in order and in flat memory.

    Rows go to a draft beside ``output``, which is renamed when all are written: there is a
    whole file or none. A run that was stopped starts over, finds its answers on record, and
    asks only for the rest.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        What judges.
    items : iterator of RatedItem
        From ``stream_items``; ratings are not read.
    output : str or Path
        A file that ends in ``.jsonl``, in a folder that is there.
    lm : dspy.LM, StackModel or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Items judged at the same time.
    overwrite : bool
        Whether rows of another run may be replaced. Another run is one with another judge,
        another model or endpoint, or an input with another text at the same place. Nor are
        rows of the same run replaced by fewer, or by fewer scores.
    progress : callable or None
        Told how many items were finished since it was last told.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run. Nothing is asked for a text
        that stands where the file has another one, nor for any text after it.
    DataError
        If there are no items, or a row of the input cannot be read: all such rows are named,
        and nothing is written.
    ModelError, LedgerError
        If the model cannot be asked at all, or the ledger not used.
    ValueError
        If ``output`` is named as something else than JSON Lines.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.experiments import CompileSettings, compile_judge, read_items
    >>> data = read_items("sample")
    >>> judge = compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = score_file(judge, iter(data.items[:3]), Path(folder) / "scores.jsonl")
    >>> done.n_rows, done.n_unscored
    (3, 0)
    """
    output = Path(output)
    if output.suffix != ".jsonl":
        raise ValueError(f"rows are written as JSON Lines; name a file in .jsonl, not {output}.")
    lm = lm or current_lm()
    first = next(items, None)
    if first is None:
        raise nothing_in(getattr(items, "name", "input"))
    marks = _marks(judge, lm, first)
    rows: Iterator[RatedItem] = chain([first], items)
    if not overwrite:
        rows = rows_beside(output, rows, marks)
    n_rows, reasons = 0, Counter[str]()
    stated, sampled = Counter[str](), Counter[str]()
    with draft_beside(output) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for item, judgement in judge_each(
                judge, rows, lm=lm, concurrency=concurrency, progress=progress
            ):
                row = score_row(item, judgement) | marks
                file.write(json_line(row))
                n_rows += 1
                if judgement.problem is not None:
                    reasons[judgement.problem] += 1
                if (reason := stated_reason(judgement)) is not None:
                    stated[reason] += 1
                if (reason := sampled_reason(judgement)) is not None:
                    sampled[reason] += 1
            file.flush()
            os.fsync(file.fileno())
        if output.exists() and not overwrite:
            refuse_loss(output, draft, marks["run"])
        put(draft, output)
    return Scored(
        n_rows=n_rows,
        n_unscored=reasons.total(),
        reasons=dict(reasons.most_common()),
        stated=dict(stated.most_common()),
        sampled=dict(sampled.most_common()),
    )


def items_beside(
    judge: AnySaved, items: Iterator[RatedItem], output: Path, *, lm: AnyModel
) -> Iterator[RatedItem]:
    """Yield items as long as ``score_file`` would go on with them, for who asks before it does.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run, or a row for another text.
    """
    first = next(items, None)
    if first is None:
        return
    yield from rows_beside(output, chain([first], items), _marks(judge, lm, first))


def rows_beside(
    output: Path, rows: Iterator[RatedItem], marks: Mapping[str, str]
) -> Iterator[RatedItem]:
    """Return the rows, held against those of an earlier run if there is a file of it."""
    if not output.exists():
        return rows
    _refuse_others(output, marks)
    return beside(rows, output, marks["run"])


def _marks(judge: AnySaved, lm: AnyModel, first: RatedItem) -> dict[str, str]:
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
    asked = [judge.fingerprint, str(lm.model), endpoint_of(lm)]
    others = judge.own_models() if isinstance(judge, SavedJudge) else {}
    asked += [f"{name} {one.model} {endpoint_of(one)}" for name, one in others.items()]
    whole = json.dumps([*asked, first.source_id, first.system_id, first.key])
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def _refuse_others(output: Path, marks: Mapping[str, str]) -> None:
    with output.open(encoding="utf-8", errors="replace") as file:
        line = file.readline()
    try:
        row = json.loads(line) if line else dict(marks)
    except (ValueError, RecursionError):
        row = None
    found = row if isinstance(row, dict) else {}
    if found.get("run") == marks["run"]:
        return
    if found.get("judge") == marks["judge"]:
        holds = "this judge's rows for another input or model"
    elif found.get("judge"):
        holds = f"rows of the judge {found['judge']}, and this is {marks['judge']}"
    else:
        holds = "something else than scores"
    raise FileExistsError(f"{output} holds {holds}; name another file, or replace it with --force.")
