"""The review page: where a judge and raters disagree most, and raters among themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from judgesmith.data.columns import OVERALL
from judgesmith.experiments.evaluate.errors.found import numbered_errors, text_pieces
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.studio.access import posted
from judgesmith.studio.pages import Studio, as_json_response, person_of
from judgesmith.studio.project import Project, possible_answers, rating_text
from judgesmith.studio.store import ADJUDICATED, StoredRating

_FAR = 0.25  # of the scale's width: a disagreement
_PAGE = 10


@dataclass(frozen=True, kw_only=True)
class ScoredRow:
    """A labelled row with a judge's word on it."""

    key: str
    text: str
    criterion: str
    scale: Scale
    values: tuple[float, ...]
    score: float | None
    fraction: float | None
    label: str | None
    explanation: str
    errors: tuple[ErrorSpan, ...]
    problem: str | None

    @property
    def mean(self) -> float | None:
        return sum(self.values) / len(self.values) if self.values else None

    @property
    def majority(self) -> str:
        """The value that most raters gave, as it is written."""
        if not self.values:
            return ""
        return rating_text(Counter(self.values).most_common(1)[0][0], self.scale)

    @property
    def people(self) -> str:
        """The raters' values, as they are written."""
        return ", ".join(rating_text(one, self.scale) for one in self.values)

    @property
    def said(self) -> str:
        """The judge's word."""
        if self.label is not None:
            return self.label
        return "no score" if self.score is None else f"{self.score:.3g}"

    @property
    def apart(self) -> float | None:
        """How far judge and raters are apart, from 0 to 1; None where one is silent."""
        if self.fraction is None or self.mean is None:
            return None
        return abs(self.fraction - self.scale.fraction(self.mean))

    @property
    def is_wrong(self) -> bool:
        """Whether the judge's label is another one, or its score is far from the raters' mean."""
        if self.label is not None and self.values:
            return self.label != self.majority
        return self.apart is not None and self.apart >= _FAR


def rows_with_scores(
    project: Project, number: int, name: str = "scores.jsonl"
) -> Iterator[ScoredRow]:
    """Yield the labelled rows of a run with a judge's scores; none of a judge made elsewhere."""
    folder = project.run_folder(number)
    try:
        rated = (folder / "ratings.jsonl").read_text("utf-8").splitlines()
        scores = (folder / name).read_text("utf-8").splitlines()
        saved = load_saved(project.judge_folder(number))
    except (OSError, ValueError):
        return
    for row, found in zip(map(json.loads, rated), map(json.loads, scores), strict=False):
        item = RatedItem.model_validate(
            {name: row[name] for name in ("source", "context", "response")}
        )
        if found.get("key") != item.key:
            continue
        criterion = saved.target if saved.target in row["human"] else next(iter(row["human"]))
        scale = Scale.model_validate(row["scale"][criterion])
        values = tuple(
            scale.read(one) for one in row["human"][criterion] if one not in ("unsure", "n/a")
        )
        score = found.get("score")
        yield ScoredRow(
            key=item.key,
            text=item.response[:80],
            criterion=criterion,
            scale=scale,
            values=values,
            score=score,
            fraction=None if score is None else _fraction(score, found, scale, saved.scale),
            label=found.get("label") if scale.labels else None,
            explanation=str(found.get("explanation") or ""),
            errors=tuple(ErrorSpan.model_validate(one) for one in found.get("errors") or ()),
            problem=found.get("problem"),
        )


def _fraction(score: float, found: dict[str, Any], scale: Scale, own: Scale) -> float:
    """Return a score as a share of its scale; of a label its place on the raters' scale."""
    label = found.get("label")
    if label is not None and label in scale.labels:
        return scale.fraction(scale.read(label))
    return min(max(own.fraction(score), 0.0), 1.0)


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A row to look at: what was said of it, and how far apart."""

    key: str
    criterion: str
    apart: float
    ratings: tuple[StoredRating, ...]
    scored: ScoredRow | None
    decided: StoredRating | None
    mark: str
    note: str


def largest_gaps(project: Project, kind: str = "judge") -> list[Disagreement]:
    """Return the rows with the largest gaps between judge and raters, or among ``raters``."""
    ratings: dict[tuple[str, str], list[StoredRating]] = {}
    for one in project.store.ratings():
        if one.state != "open":
            ratings.setdefault((one.key, one.criterion), []).append(one)
    judges = project.judges
    scored = {}
    if judges:
        scored = {(one.key, one.criterion): one for one in rows_with_scores(project, judges[-1])}
    marks = project.store.marks()
    found = []
    for place in dict.fromkeys((*ratings, *scored)):
        given = ratings.get(place, [])
        own = [one for one in given if one.rater != ADJUDICATED]
        judge = scored.get(place)
        if kind == "judge":
            if judge is None or judge.apart is None or not judge.is_wrong:
                continue
            apart = judge.apart
        else:
            apart = _among(project, place[1], own)
            if not apart:
                continue
        decided = [one for one in given if one.rater == ADJUDICATED]
        mark, note = marks.get(place[0], ("", ""))
        found.append(
            Disagreement(
                key=place[0],
                criterion=place[1],
                apart=apart,
                ratings=tuple(own),
                scored=judge,
                decided=decided[0] if decided else None,
                mark=mark,
                note=note,
            )
        )
    return sorted(found, key=lambda one: (one.decided is not None, -one.apart, one.key))


def _among(project: Project, criterion: str, given: list[StoredRating]) -> float:
    """Return how far raters of a row are apart, from 0 to 1."""
    scale = project.criteria.get(criterion)
    values = [one.value for one in given if one.state == "value"]
    if scale is None or len(set(values)) < 2:
        return 0.0
    try:
        points = [scale.read(one) for one in values]
    except ValueError:
        return 0.0
    return min((max(points) - min(points)) / (scale.high - scale.low), 1.0)


class Adjudication(BaseModel):
    """What the owner decides of a row."""

    key: str = Field(max_length=64)
    criterion: str = Field(default=OVERALL, max_length=200)
    rater: str = Field(default=ADJUDICATED, max_length=60)
    value: str | None = Field(default=None, max_length=200)
    why: str | None = Field(default=None, max_length=20_000)
    mark: str | None = Field(default=None, max_length=20)
    note: str | None = Field(default=None, max_length=2_000)


def decide(project: Project, sent: Adjudication) -> None:
    """Keep a decision: the value of a row, the right label of a rater, a mark or a note."""
    project.item(sent.key)
    if sent.value is not None:
        version = project.check_value(sent.criterion, sent.value)
        project.store.rate(
            sent.rater,
            sent.key,
            sent.criterion,
            sent.value,
            rationale=sent.why,
            actor="owner",
            action="adjudicate" if sent.rater == ADJUDICATED else "correct",
            labels=version,
        )
    if sent.mark is not None or sent.note is not None:
        project.store.mark(sent.key, mark=sent.mark, note=sent.note)


def review_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    project = studio.project

    def shown(kind: str, start: int) -> dict[str, Any]:
        found = largest_gaps(project, kind)
        rows = []
        for one in found[start : start + _PAGE]:
            item = project.item(one.key)
            errors = numbered_errors(one.scored.errors if one.scored else ())
            rows.append((one, item, list(text_pieces(item.response, errors, around=200_000))))
        answers = {name: possible_answers(scale) for name, scale in project.criteria.items()}
        return {
            "kind": kind,
            "rows": rows,
            "n": len(found),
            "n_left": sum(one.decided is None for one in found),
            "start": start,
            "size": _PAGE,
            "answers": answers,
            "judge": project.judges[-1] if project.judges else None,
        }

    @router.get("/review")
    async def page(request: Request, kind: str = "judge", start: int = 0) -> Response:
        kind = kind if kind in ("judge", "raters") else "judge"
        found = await studio.call(shown, kind, max(start, 0))
        return studio.page("review", person_of(request), **found)

    @router.get("/rows/{key}")
    async def row(request: Request, key: str) -> Response:
        item = await studio.call(project.item, key)
        history = await studio.call(project.store.history, key=key)
        return studio.page("row", person_of(request), key=key, item=item, history=history)

    @router.post("/api/review")
    async def review(request: Request) -> Response:
        sent = await posted(request, Adjudication)
        await studio.call(decide, project, sent)
        return as_json_response({"said": "Saved."})

    return router
