"""The studio as one application for any ASGI server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response

from judgesmith.experiments.evaluate.errors.page import SCRIPT, STYLE
from judgesmith.programs.serving.requests import Refusal
from judgesmith.programs.serving.routes import page_file
from judgesmith.studio.access import Gate, set_cookie
from judgesmith.studio.compiling import compiling_routes
from judgesmith.studio.home import home_routes
from judgesmith.studio.judges import judges_routes
from judgesmith.studio.label import label_routes
from judgesmith.studio.pages import Studio
from judgesmith.studio.project import Project
from judgesmith.studio.review import review_routes
from judgesmith.studio.rubric import rubric_routes

_OWN = Path(__file__).with_name("page")
_SHARED = {"card.css": (STYLE, "text/css"), "card.js": (SCRIPT, "text/javascript")}
_TELEMETRY: Any = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)


def studio_app(project: Project, *, hosts: Sequence[str] = ()) -> FastAPI:
    studio = Studio(project)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.to_thread(studio.compilation.close)

    app = FastAPI(
        title="Judgesmith studio",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        telemetry=_TELEMETRY,
        lifespan=lifespan,
    )
    app.state.service = studio

    @app.get("/enter")
    async def enter(token: str) -> Response:
        # A page and no redirect: a strict cookie is not sent where another site began the way.
        cookie = studio.people.enter(token)
        page = studio.page("enter", None)
        page.headers["set-cookie"] = set_cookie(cookie)
        return page

    @app.get("/page/{name}")
    async def part_of_page(name: str) -> Response:
        if name in _SHARED:
            text, kind = _SHARED[name]
            return Response(text, media_type=kind, headers={"cache-control": "no-cache"})
        return page_file(name, _OWN)

    for chapter in (home_routes, label_routes, review_routes):
        app.include_router(chapter(studio))
    for chapter in (rubric_routes, compiling_routes, judges_routes):
        app.include_router(chapter(studio))

    async def unknown(request: Request, fault: Exception) -> Response:
        raise Refusal(404, "address", "there is no such page.", where="address")

    app.add_exception_handler(404, unknown)
    app.add_middleware(Gate, people=studio.people, hosts=tuple(hosts), page=studio.page)
    return app
