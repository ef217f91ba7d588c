"""The rubric page: task, criteria and guidelines edited in place, with their history."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.signatures import Rubric
from judgesmith.signatures.rubric import Criterion, Guideline
from judgesmith.studio.access import posted, what_is_wrong
from judgesmith.studio.home import JudgeLine, judge_lines
from judgesmith.studio.pages import Studio, as_json_response, person_of
from judgesmith.studio.project import Project

_PARTS = ("name", "definition", "worst", "best")


class Edited(BaseModel):
    """The fields of the form; those of criterion 2 are ``name-2``, ``definition-2``, …."""

    model_config = ConfigDict(extra="allow")

    task: str = Field(default="", max_length=20_000)
    task_type: str = Field(default="", max_length=200)
    guidelines: str = Field(default="", max_length=100_000)
    why: str = Field(default="", max_length=2_000)

    def rubric(self, before: Rubric | None) -> Rubric:
        """Return the rubric; an unchanged guideline keeps the rows it came from."""
        said = self.model_extra or {}
        numbers = sorted(
            int(name.removeprefix("name-"))
            for name in said
            if re.fullmatch("name-[0-9]{1,3}", name)
        )
        rows = {one.text: one.rows for one in before.guidelines} if before else {}
        lines = [one.strip() for one in self.guidelines.splitlines() if one.strip()]
        try:
            criteria = [
                Criterion(**parts)
                for number in numbers
                if any((parts := {p: str(said.get(f"{p}-{number}", "")) for p in _PARTS}).values())
            ]
            if not criteria:
                raise InputError(
                    "a rubric has a criterion or more.",
                    hint="write one, or compile first: they are inferred from the labels.",
                )
            guidelines = tuple(Guideline(text=one, rows=rows.get(one, ())) for one in lines)
            return Rubric(
                task=self.task,
                task_type=self.task_type,
                criteria=tuple(criteria),
                guidelines=guidelines,
                provenance=before.provenance if before else {},
            )
        except ValidationError as fault:
            raise InputError(what_is_wrong(fault)) from None


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of the rubric, and the judges that were compiled with it."""

    number: int
    at: float
    actor: str
    why: str
    changes: tuple[str, ...]
    judges: tuple[JudgeLine, ...]


def present_rubric(project: Project) -> tuple[Rubric | None, str]:
    """Return the rubric as it was edited last, else that of the newest judge, and whence it is."""
    if (found := project.rubric) is not None:
        return found, "was edited here"
    for number in reversed(project.judges):
        protocol = getattr(load_saved(project.judge_folder(number)), "protocol", None)
        if protocol is not None:
            return protocol.rubric, f"is that of v{number}"
    return None, ""


def versions(project: Project) -> list[Version]:
    """Return all versions, the newest first, each with what it changed."""
    lines = list(judge_lines(project))
    kept = project.store.rubrics()
    texts = [Rubric.from_yaml(text) for _, _, _, text, _ in kept]
    return [
        Version(
            number=number,
            at=at,
            actor=actor,
            why=why,
            changes=tuple(
                _changes(texts[place + 1] if place + 1 < len(kept) else None, texts[place])
            ),
            judges=tuple(one for one in lines if one.rubric == number),
        )
        for place, (number, at, actor, _, why) in enumerate(kept)
    ]


def _changes(before: Rubric | None, now: Rubric) -> list[str]:
    if before is None:
        return [f"criteria: {len(now.criteria)}; guidelines: {len(now.guidelines)}"]
    old = {one.name: one for one in before.criteria}
    new = {one.name: one for one in now.criteria}
    said = ["task"] if before.task != now.task else []
    said += [f"new criterion {name}" for name in new if name not in old]
    said += [f"without criterion {name}" for name in old if name not in new]
    said += [f"criterion {name}" for name in new if name in old and new[name] != old[name]]
    texts = [{one.text for one in rubric.guidelines} for rubric in (before, now)]
    said += [f"new guideline “{one}”" for one in sorted(texts[1] - texts[0])]
    said += [f"without guideline “{one}”" for one in sorted(texts[0] - texts[1])]
    return said or ["nothing"]


def rubric_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    project = studio.project

    def shown() -> dict[str, Any]:
        rubric, whence = present_rubric(project)
        notes = [(key, note) for key, (_, note) in project.store.marks().items() if note]
        return {
            "rubric": rubric,
            "whence": whence,
            "versions": versions(project),
            "notes": notes,
            "parts": _PARTS,
        }

    def save(sent: Edited) -> int:
        rubric = sent.rubric(present_rubric(project)[0])
        return project.store.save_rubric(rubric.to_yaml(), why=sent.why)

    @router.get("/rubric")
    async def page(request: Request) -> Response:
        return studio.page("rubric", person_of(request), **await studio.call(shown))

    @router.post("/api/rubric")
    async def edit(request: Request) -> Response:
        sent = await posted(request, Edited)
        return as_json_response({"version": await studio.call(save, sent)})

    return router
