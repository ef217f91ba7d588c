"""The label page: one text at a time, by keyboard, blind to the judge and to other raters."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from judgesmith.signatures import RatedItem
from judgesmith.studio.access import Person, posted
from judgesmith.studio.home import ENOUGH
from judgesmith.studio.pages import Studio, as_json_response, person_of
from judgesmith.studio.project import Project, possible_answers
from judgesmith.studio.store import StoredRating

_AGAIN = 15  # after so many labels an earlier row comes back to the same rater
_SHORT = Field(max_length=200)


class Rated(BaseModel):
    """What a rater says of a row; ``seen`` is the change that the page showed, 0 for none."""

    key: str = Field(max_length=64)
    criterion: str = _SHORT
    value: str | None = Field(default=None, max_length=200)
    state: str = Field(default="value", max_length=20)
    rationale: str | None = Field(default=None, max_length=20_000)
    seen: int = 0
    again: bool = False


class Moved(BaseModel):
    """Where a rater is."""

    key: str = Field(default="", max_length=64)


def next_key(studio: Studio, rater: str, *, after: str = "") -> tuple[str | None, bool]:
    """Return the row that a rater is to see next, and whether the rater has labelled it before."""
    project = studio.project
    labelled = project.store.query(
        "SELECT COUNT(DISTINCT key) FROM ratings WHERE rater = ? AND state = 'value'", rater
    )[0][0]
    seen_again = project.store.query(
        "SELECT COUNT(DISTINCT key) FROM history WHERE rater = ? AND action = 'again'", rater
    )[0][0]
    if labelled // _AGAIN > seen_again and (key := project.again(rater)) and key != after:
        return key, True
    for key, _, _ in project.next_rows(rater):
        if key != after and studio.hold(key, rater):
            return key, False
    return None, False


def row_shown(project: Project, key: str, rater: str, *, again: bool = False) -> dict[str, Any]:
    """Return what the page shows of a row: its texts, and this rater's own words alone."""
    item = project.item(key)
    own = {one.criterion: one for one in project.store.ratings(key=key, rater=rater)}
    mine = {} if again else own
    return {
        "key": key,
        "again": again,
        "source": item.source,
        "context": item.context,
        "response": item.response,
        "criteria": [_asked(project, item, name) for name in project.criteria],
        "mine": {
            name: {part: getattr(one, part) for part in ("value", "state", "rationale", "change")}
            for name, one in mine.items()
        },
        "labelled": _n_rows(project, rater),
        "rows": len(project),
    }


def _asked(project: Project, item: RatedItem, name: str) -> dict[str, Any]:
    scale = project.criteria[name]
    rubric = project.rubric
    found = [one for one in rubric.criteria if one.name == name] if rubric else []
    return {
        "name": name,
        "answers": possible_answers(scale),
        "labels": bool(scale.labels),
        "verdict": scale.is_verdict,
        "low": "" if scale.labels else "worst" if scale.higher_is_better else "best",
        "high": "" if scale.labels else "best" if scale.higher_is_better else "worst",
        "definition": found[0].definition if found else "",
    }


def _n_rows(project: Project, rater: str) -> int:
    found = project.store.query(
        "SELECT COUNT(DISTINCT key) FROM ratings WHERE rater = ? AND state != 'open'", rater
    )
    return int(found[0][0])


def _present(project: Project, sent: Rated, rater: str) -> list[StoredRating]:
    own = project.store.ratings(key=sent.key, rater=rater)
    return [one for one in own if one.criterion == sent.criterion]


def save(studio: Studio, person: Person, sent: Rated) -> dict[str, Any]:
    """Put a rating on disk, and return its change, and what it stands in place of if unseen."""
    project = studio.project
    project.item(sent.key)
    version = project.check_value(sent.criterion, sent.value)
    rater = person.name
    before = _present(project, sent, rater)
    overtaken = bool(before) and before[0].change != sent.seen and not sent.again
    by, chance = project.chosen_by(sent.key)
    action = "again" if sent.again else "skip" if sent.state == "skipped" else "rate"
    kept = project.store.rate(
        rater,
        sent.key,
        sent.criterion,
        sent.value,
        state=sent.state,
        rationale=sent.rationale,
        action="words" if sent.state == "open" else action,
        chosen_by=by,
        chance=chance,
        labels=version,
    )
    other = before[0] if overtaken else None
    return {
        "change": kept.change,
        "overtaken": None if other is None else {"value": other.value, "state": other.state},
    }


def save_words(studio: Studio, person: Person, sent: Rated) -> dict[str, Any]:
    """Put a rater's words on disk, whatever the value is, or before there is one."""
    now = _present(studio.project, sent, person.name)
    state, value = (now[0].state, now[0].value) if now else ("open", None)
    changed = sent.model_copy(update={"state": state, "value": value})
    if now and state != "open":
        studio.project.item(sent.key)
        kept = studio.project.store.rate(
            person.name,
            sent.key,
            sent.criterion,
            value,
            state=state,
            rationale=sent.rationale,
            action="words",
            labels=now[0].labels,
        )
        return {"change": kept.change, "overtaken": None}
    return save(studio, person, changed)


def label_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    project = studio.project

    @router.get("/label")
    async def page(request: Request) -> Response:
        person = person_of(request)
        first = person.role == "owner" and not project.judges
        return studio.page("label", person, enough=ENOUGH if first else 0)

    def shown(rater: str, after: str) -> dict[str, Any]:
        key, again = next_key(studio, rater, after=after)
        if key is None:
            return {"key": None, "labelled": _n_rows(project, rater), "rows": len(project)}
        return row_shown(project, key, rater, again=again)

    @router.get("/api/label/next")
    async def following(request: Request, after: str = "") -> Response:
        return as_json_response(await studio.call(shown, person_of(request).name, after))

    @router.get("/api/label/row")
    async def row(request: Request, key: str) -> Response:
        return as_json_response(await studio.call(row_shown, project, key, person_of(request).name))

    @router.post("/api/label/rate")
    async def rate(request: Request) -> Response:
        sent = await posted(request, Rated)
        return as_json_response(await studio.call(save, studio, person_of(request), sent))

    @router.post("/api/label/words")
    async def words(request: Request) -> Response:
        sent = await posted(request, Rated)
        return as_json_response(await studio.call(save_words, studio, person_of(request), sent))

    @router.post("/api/label/undo")
    async def undo(request: Request) -> Response:
        await posted(request, Moved)
        rater = person_of(request).name
        key = await studio.call(project.store.undo, rater)
        if key is None:
            return as_json_response({"key": None})
        return as_json_response(await studio.call(row_shown, project, key, rater))

    return router
