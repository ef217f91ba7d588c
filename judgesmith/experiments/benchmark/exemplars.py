"""Exemplars on file, and whether the judge that compares with them puts them in order itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.data.problems import nothing_in, shown_value
from judgesmith.drafts import draft_beside, put
from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.experiments.scoring.resume_check import WAY_OUT
from judgesmith.metrics import Estimate
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs import Judge, SavedJudge, iter_scores
from judgesmith.programs.families.exemplar import Ladder, LadderExecutor, LadderJudgement
from judgesmith.programs.judging.executors import own_models, with_own_models
from judgesmith.results.progress import OnProgress
from judgesmith.signatures import RatedItem

if TYPE_CHECKING:
    import dspy


def check_own_exemplars(path: Path, *, judge: str, writer: str) -> None:
    """Refuse a file that holds anything else than exemplars of this judge by this writer."""
    for _ in _own_rows(path, judge=judge, writer=writer):
        pass


def refuse_lost_exemplars(path: Path, draft: Path, *, judge: str, writer: str) -> None:
    """Refuse that exemplars be replaced by others or by none, or verdicts by missing ones."""
    told = {"judge": judge, "writer": writer}
    known: dict[str, list[Any]] = {}
    for row in _own_rows(draft, **told):
        known.setdefault(_text_of(row), []).append(row.get("above"))
    earlier = list(_own_rows(path, **told))
    n_lost = 0
    for row in earlier:
        verdicts, verdict = known.get(_text_of(row), []), row.get("above")
        kept = verdict if verdict in verdicts else next(iter(verdicts), None)
        if not verdicts or verdict not in (None, kept):
            n_lost += 1
        else:
            verdicts.remove(kept)
    if n_lost:
        raise ExistingFileError(
            f"{path} holds {len(earlier)} exemplars, {n_lost} of which this run does not have, or "
            f"with another verdict.",
            hint=WAY_OUT,
        )


def _own_rows(path: Path, *, judge: str, writer: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file; anything but exemplars of this judge by this writer is refused."""
    with file_faults(path), path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            found = row if isinstance(row, dict) else {}
            if (found.get("judge"), found.get("writer")) != (judge, writer):
                raise ExistingFileError(
                    f"expected an exemplar of this judge ({judge}) by {writer}; "
                    f"got {shown_value(line.rstrip())}.",
                    at=f"{path}:{number}",
                    hint=WAY_OUT,
                )
            yield found


def _text_of(row: Mapping[str, Any]) -> str:
    """Return what tells one exemplar from another: its place and its words."""
    return json.dumps([row.get(name) for name in ("source_id", "criterion", "level", "text")])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExemplarReport:
    """How the exemplars of some sources came out."""

    n_sources: int
    n_ladders: int
    n_exemplars: int
    n_flagged: int
    in_order: Estimate
    monotone: Estimate
    problems: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {
            "sources": self.n_sources,
            "ladders": self.n_ladders,
            "exemplars": self.n_exemplars,
            "flagged": self.n_flagged,
            "in_order": self.in_order.to_dict(),
            "monotone": self.monotone.to_dict(),
            "problems": dict(self.problems),
        }


def exemplar_ladders(
    judge: Judge | SavedJudge,
    items: Iterable[RatedItem],
    *,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
) -> Iterator[tuple[RatedItem, LadderJudgement]]:
    """Yield the first item of every source with the exemplars of that source."""
    firsts = {(one.source, one.context): one for one in reversed(list(items))}
    judge, lm = with_own_models(judge, lm)
    executor = LadderExecutor(judge, lm)
    sources = reversed(firsts.values())
    for item, found in iter_scores(
        executor, sources, concurrency=concurrency, on_progress=on_progress
    ):
        ladders = found if isinstance(found, LadderJudgement) else None
        yield item, ladders or LadderJudgement(score=None, problem=found.problem)


def exemplar_report(found: Iterable[tuple[RatedItem, LadderJudgement]]) -> ExemplarReport:
    """Return how the exemplars came out; see ``ExemplarReport``."""
    ordered: list[bool] = []
    whole: list[bool] = []
    sources: tuple[list[int], list[int]] = ([], [])
    n_sources = n_ladders = n_exemplars = n_flagged = 0
    problems: dict[str, int] = {}
    for place, (_, judgement) in enumerate(found):
        n_sources += 1
        if not judgement.ladders:
            reason = judgement.problem or "no exemplars"
            problems[reason] = problems.get(reason, 0) + 1
        for ladder in judgement.ladders:
            n_ladders += bool(ladder.rungs)
            n_exemplars += len(ladder.rungs)
            n_flagged += sum(bool(one.flags) for one in ladder.rungs)
            verdicts = [one.above > 0 for one in ladder.rungs[1:] if one.above is not None]
            ordered += verdicts
            sources[0].extend([place] * len(verdicts))
            if ladder.problem:
                problems[ladder.problem] = problems.get(ladder.problem, 0) + 1
            else:
                whole.append(all(verdicts))
                sources[1].append(place)
    return ExemplarReport(
        n_sources=n_sources,
        n_ladders=n_ladders,
        n_exemplars=n_exemplars,
        n_flagged=n_flagged,
        in_order=_share(ordered, sources[0]),
        monotone=_share(whole, sources[1]),
        problems=problems,
    )


def exemplar_rows(
    item: RatedItem, ladders: Iterable[Ladder], *, writer: str, judge: str
) -> Iterator[dict[str, Any]]:
    for ladder in ladders:
        for rung in ladder.rungs:
            yield {
                "source_id": item.source_id,
                "criterion": ladder.criterion,
                "level": rung.level,
                "levels": len(ladder.rungs),
                "text": rung.text,
                "flags": list(rung.flags),
                "above": rung.above,
                "writer": writer,
                "judge": judge,
            }


@file_faults()
def write_exemplars(
    judge: SavedJudge,
    items: Iterable[RatedItem],
    output: str | Path,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> ExemplarReport:
    """Write the exemplars of all sources to a file of JSON lines, whole or not at all."""
    judge, lm = with_own_models(judge, lm)
    output, items = Path(output), list(items)
    if not items:
        raise nothing_in("input")
    writer = own_models(judge).get("end", lm)
    names = {"writer": str(writer.model), "judge": judge.fingerprint}
    if output.exists() and not overwrite:
        check_own_exemplars(output, **names)
    found = []
    with draft_beside(output) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for item, ladders in exemplar_ladders(
                judge, items, lm=lm, concurrency=concurrency, on_progress=on_progress
            ):
                found.append((item, ladders))
                for row in exemplar_rows(item, ladders.ladders, **names):
                    file.write(json.dumps(row) + "\n")
        if output.exists() and not overwrite:
            refuse_lost_exemplars(output, draft, **names)
        put(draft, output)
    return exemplar_report(found)


def _share(yes: list[bool], sources: list[int]) -> Estimate:
    if yes:
        return share_interval([int(one) for one in yes], sources=sources)
    return Estimate(value=math.nan, low=math.nan, high=math.nan, confidence=0.95, n=0, n_groups=0)
