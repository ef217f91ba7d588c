"""The page of a judge: what it is worth, against the version before, and which rows changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from judgesmith.experiments.evaluate.card import card_sections
from judgesmith.programs.artifacts.record import SavedEstimate
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.artifacts.test_rows import read_rows
from judgesmith.programs.serving.requests import Refusal
from judgesmith.signatures import RatedItem
from judgesmith.studio.access import posted
from judgesmith.studio.home import job_facts
from judgesmith.studio.pages import Studio, as_json_response, person_of
from judgesmith.studio.project import Project
from judgesmith.studio.review import rows_with_scores

_MOST = 50


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A row that one judge scores right and another one wrong."""

    key: str
    text: str
    people: str
    before: str
    now: str


def changed_rows(project: Project, number: int) -> tuple[list[Changed], list[Changed]]:
    """Return the labelled rows that a judge fixed, and those that it broke."""
    now = {one.key: one for one in rows_with_scores(project, number)}
    before = {one.key: one for one in rows_with_scores(project, number, "scores-before.jsonl")}
    fixed, broken = [], []
    for key, one in now.items():
        old = before.get(key)
        if old is None or one.apart is None or old.apart is None:
            continue
        row = Changed(key=key, text=one.text, people=one.people, before=old.said, now=one.said)
        if one.is_wrong and not old.is_wrong:
            broken.append(row)
        if old.is_wrong and not one.is_wrong:
            fixed.append(row)
    return fixed, broken


def gain_text(compared: dict[str, Any]) -> str:
    """Return the paired difference of a comparison in a sentence; empty without one."""
    aim = compared.get("objective") or {}
    if not aim.get("gain"):
        return ""
    gain = SavedEstimate.model_validate(aim["gain"])
    if gain.value is None:
        return ""
    name = str(aim.get("name", "")).replace("_", " ")
    rows = f"{gain.n} rows" if gain.n is not None else "rows"
    chance = aim["gain"].get("p_value")
    luck = "" if chance is None else f", p = {chance:.2g}"
    return f"{name} changes by {gain.text('+.3f')}{luck}, on {rows} that neither was made from."


class Tried(BaseModel):
    """A text to try a judge on."""

    source: str = ""
    context: str = ""
    response: str = Field(min_length=1)


def judgement_text(found: dict[str, Any]) -> str:
    """Return what a judge says of a text, a line a part."""
    said = [found.get("label") or found["problem"] or f"score {found['score']:.3g}"]
    if chances := found.get("probability"):
        said.append(", ".join(f"{label} {chance:.0%}" for label, chance in chances.items()))
    said.append(found["explanation"])
    for name, one in found["criteria"].items():
        points = "no score" if one.get("score") is None else f"{one['score']:.3g}"
        said.append(f"{name}: {points}. {one.get('explanation') or ''}".rstrip())
    said += [f"“{one['text']}”: {one.get('explanation') or ''}" for one in found["errors"]]
    return "\n".join(filter(None, said))


def _told(project: Project, number: int, name: str) -> dict[str, Any]:
    try:
        text = (project.run_folder(number) / f"{name}.json").read_text("utf-8")
        found = json.loads(text)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def judges_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    project = studio.project

    def shown(number: int) -> dict[str, Any]:
        saved = load_saved(project.judge_folder(number))
        fixed, broken = changed_rows(project, number)
        before = [one for one in project.judges if one < number]
        return {
            "number": number,
            "facts": job_facts(project, number),
            "notes": _told(project, number, "compile").get("notes", []),
            "gain": gain_text(_told(project, number, "compare")),
            "before": before[-1] if before else None,
            "fixed": fixed[:_MOST],
            "broken": broken[:_MOST],
            "example": project.first_item,
            "card": card_sections(saved, read_rows(project.judge_folder(number))),
        }

    def check(number: int) -> None:
        if number not in project.judges:
            raise Refusal(404, "address", f"there is no judge v{number}.", where="address")

    @router.get("/judges/v{number}")
    async def page(request: Request, number: int) -> Response:
        check(number)
        return studio.page("judge", person_of(request), **await studio.call(shown, number))

    @router.post("/api/judges/v{number}/try")
    async def attempt(request: Request, number: int) -> Response:
        sent = await posted(request, Tried)
        check(number)
        item = RatedItem(**sent.model_dump())
        found = await studio.call(studio.compilation.judged, number, item)
        return as_json_response({"said": judgement_text(found)})

    return router
