"""What all pages of the studio share: the project, its people, templates and open texts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from judgesmith.experiments.evaluate.errors.page import page_text
from judgesmith.programs.artifacts.test_rows import cut
from judgesmith.signatures.plain_data import json_line
from judgesmith.studio.access import People, Person
from judgesmith.studio.compilation import Compilation
from judgesmith.studio.project import Project

_HELD = 900.0  # seconds for which a text that a rater has open is not shown to others

T = TypeVar("T")


class Studio:
    """What all pages of one folder share."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.people = People(project.store)
        self.compilation = Compilation(project)
        self.stopping = False
        self.n_accepted = 0  # what the server waits for when it ends
        self._open: dict[str, tuple[str, float]] = {}
        self._templates = Environment(
            loader=PackageLoader("judgesmith.studio", "page"),
            autoescape=True,
            finalize=page_text,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {
            "cut": cut,
            "sentence": lambda said: said[:1].upper() + said[1:],
        }

    def page(
        self, name: str, person: Person | None, *, status: int = 200, **shown: Any
    ) -> Response:
        """Return a page made of its template."""
        template = self._templates.get_template(f"{name}.html")
        about = {"person": person, "at": name, "folder": self.project.folder.resolve().name}
        return HTMLResponse(template.render(**about, **shown), status_code=status)

    def hold(self, key: str, rater: str) -> bool:
        """Note that a rater has a text open; False where another one has."""
        now = time.monotonic()
        holder, since = self._open.get(key, ("", 0.0))
        if holder and holder != rater and now - since < _HELD:
            return False
        self._open = {one: held for one, held in self._open.items() if held[0] != rater}
        self._open[key] = (rater, now)
        return True

    async def call(self, function: Callable[..., T], *given: Any, **named: Any) -> T:
        """Return what a function returns, without keeping others waiting."""
        return await asyncio.to_thread(function, *given, **named)

    def close(self) -> None:
        self.compilation.close()
        self.project.close()


def person_of(request: Request) -> Person:
    person: Person = request.scope["state"]["person"]
    return person


def as_json_response(found: Mapping[str, Any]) -> Response:
    return Response(json_line(found), media_type="application/json")
