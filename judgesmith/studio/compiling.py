"""The compile page: what it would cost, how far it is, stop and resume."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from judgesmith.errors import InputError
from judgesmith.studio.access import posted
from judgesmith.studio.compilation import Choices
from judgesmith.studio.pages import Studio, as_json_response, person_of

_LOOK = 0.25  # seconds between two looks at the state


class AskedCompilation(BaseModel):
    """What the form of the page says."""

    objective: str = Field(default="", max_length=200)
    effort: str = Field(default="medium", pattern="^(light|medium|heavy)$")
    max_usd: str = Field(default="", pattern=r"^[0-9]{0,6}(\.[0-9]{1,4})?$")
    rubric: bool = True
    suggest: bool = True
    confirm: bool = False
    resume: bool = False

    @property
    def choices(self) -> Choices:
        return Choices(**self.model_dump(exclude={"confirm", "resume"}))


class Nothing(BaseModel):
    """A request that says nothing more."""


def what_it_takes(told: dict[str, Any]) -> str:
    """Return an estimate in a sentence."""
    calls = told.get("calls")
    tokens = (told.get("input_tokens") or 0) + (told.get("output_tokens") or 0)
    if calls is None:
        return "The number of calls depends on the answers."
    cost = told.get("cost_usd")
    dollars = "at an unknown price" if cost is None else f"about ${cost:.2f}"
    most = told.get("max_calls")
    hard = f", at most {most:,} with every retry" if most else ""
    return f"{calls:,} calls{hard}, {tokens:,} tokens, {dollars}."


def compiling_routes(studio: Studio) -> APIRouter:
    router = APIRouter()
    job = studio.compilation

    def shown() -> dict[str, Any]:
        project = studio.project
        return {
            "model": job.model,
            "endpoint": job.endpoint,
            "confirmed": job.confirmed(),
            "state": job.state,
            "unfinished": job.unfinished if job.state["status"] != "running" else None,
            "has_rubric": project.rubric is not None,
            "budget": project.file.budget,
            "number": max(project.judges, default=0) + 1,
        }

    @router.get("/compile")
    async def page(request: Request) -> Response:
        return studio.page("compile", person_of(request), **await studio.call(shown))

    @router.post("/api/compile/estimate")
    async def estimate(request: Request) -> Response:
        asked = await posted(request, AskedCompilation)
        told = await studio.call(job.estimate, asked.choices)
        return as_json_response({"said": what_it_takes(told)})

    @router.post("/api/compile/start")
    async def start(request: Request) -> Response:
        asked = await posted(request, AskedCompilation)
        if not job.confirmed():
            if not asked.confirm:
                raise InputError(
                    f"texts of this folder would go to {job.endpoint}.",
                    hint="tick the box that says so.",
                )
            await studio.call(job.confirm)
        number = await studio.call(job.start, asked.choices, resume=asked.resume)
        return as_json_response({"number": number})

    @router.post("/api/compile/stop")
    async def stop(request: Request) -> Response:
        await posted(request, Nothing)
        await studio.call(job.stop)
        return as_json_response({"said": "Stopping."})

    async def events() -> AsyncIterator[str]:
        told: dict[str, Any] | None = None
        while not studio.stopping:
            if job.state is not told:
                told = job.state
                yield f"data: {json.dumps(told)}\n\n"
            await asyncio.sleep(_LOOK)

    @router.get("/api/compile/events")
    async def stream() -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    return router
