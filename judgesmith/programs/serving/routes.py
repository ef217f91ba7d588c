"""The addresses of a server, and what each of them answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.metadata import version
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response

from judgesmith.programs.model_measures import CONTENT_TYPE
from judgesmith.programs.scored_row import json_line
from judgesmith.programs.serving.bodies import JSON, LINES, check_type, whole_body
from judgesmith.programs.serving.items import item_of, items_of
from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.page_files import page_file
from judgesmith.programs.serving.refusals import Refusal
from judgesmith.programs.serving.schemas import Fault, Health, JudgeList, Row, Rows
from judgesmith.programs.serving.service import Service, client_of
from judgesmith.programs.serving.streaming import RowStream

T = TypeVar("T")

_FAULTS: dict[int | str, dict[str, Any]] = {
    401: {"model": Fault, "description": "the token is missing, or another one"},
    404: {"model": Fault, "description": "there is no such judge"},
    408: {"model": Fault, "description": "the body took too long to come"},
    413: {"model": Fault, "description": "too many items, or too long a text or body"},
    415: {"model": Fault, "description": "another kind of body"},
    422: {"model": Fault, "description": "the body holds no item, and where it goes wrong"},
    429: {
        "model": Fault,
        "description": "the queue, or one client's share of it, is full; see Retry-After",
    },
    502: {"model": Fault, "description": "the model cannot be asked at all"},
    503: {"model": Fault, "description": "the server is stopping, or has no ledger"},
}


def _body(kind: str, schema: str, told: str) -> dict[str, Any]:
    """Return what OpenAPI says of the body of a request, which the routes read by themselves."""
    content = {kind: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"requestBody": {"required": True, "description": told, "content": content}}


class Json(Response):
    """Plain data as JSON, with words as people write them."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the bytes of one object."""
        return json_line(content).encode()


def routes(service: Service) -> APIRouter:
    """Return the routes to what ``service`` does."""
    router = APIRouter()

    @router.head("/", include_in_schema=False)
    @router.get("/", include_in_schema=False)
    async def page() -> Response:
        return page_file()

    @router.get("/page/{name}", include_in_schema=False)
    async def part_of_page(name: str) -> Response:
        return page_file(name)

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", response_model=Health, responses={503: {"model": Health}})
    async def healthz() -> Response:
        """Say whether requests are taken: 200 if so, 503 where the server is stopping."""
        desk = service.desk
        told = {
            "status": "stopping" if service.stopping else "ready",
            "waiting": desk.n_waiting,
            "in_flight": desk.n_begun,
            "places": desk.limits.places,
        }
        return Json(told, status_code=503 if service.stopping else 200)

    @router.head("/metrics", include_in_schema=False)
    @router.get(
        "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}
    )
    async def metrics() -> Response:
        """Return all counters as Prometheus reads them."""
        return Response(service.measures.text(), headers={"content-type": CONTENT_TYPE})

    @router.head("/v1/judges", include_in_schema=False)
    @router.get("/v1/judges", response_model=JudgeList, responses={401: _FAULTS[401]})
    async def judges() -> Response:
        """List the judges that are served, and how much is taken at a time."""
        limits = service.limits
        bounds = ("max_body", "max_items", "max_chars", "queue", "concurrency")
        return Json(
            {
                "judges": [one.described() for one in service.judges.values()],
                "limits": {name: getattr(limits, name) for name in bounds},
                "version": version("judgesmith"),
            }
        )

    @router.post(
        "/v1/judges/{name}/judge",
        response_model=Row,
        responses=_FAULTS,
        openapi_extra=_body("application/json", "Item", "the item"),
    )
    async def judge(name: str, request: Request) -> Response:
        """Judge one item, and return its row."""
        with service.measured(name, "judge"), _reading(request) as hold:
            served = service.named(name)
            served.check_single()
            item = await _sent(request, hold, item_of)
            service.accept(request.scope)
            return Json((await service.rows(served, [item], request.receive))[0])

    @router.post(
        "/v1/judges/{name}/batch",
        response_model=Rows,
        responses=_FAULTS,
        openapi_extra=_body("application/json", "Batch", "the items"),
    )
    async def batch(name: str, request: Request) -> Response:
        """Judge some items, and return their rows when all are there."""
        with service.measured(name, "batch"), _reading(request) as hold:
            served = service.named(name)
            items = await _sent(request, hold, items_of)
            service.accept(request.scope)
            rows = await service.rows(served, items, request.receive)
            unscored = sum(row["score"] is None for row in rows)
            return Json({"results": rows, "unscored": unscored})

    @router.post(
        "/v1/judges/{name}/stream",
        response_class=Response,
        responses=_FAULTS
        | {
            200: {
                "description": "a Row, or a Fault, for every line, in order",
                "content": {"application/x-ndjson": {"schema": {"oneOf": _LINE}}},
            }
        },
        openapi_extra=_body("application/x-ndjson", "Item", "one item on each line"),
    )
    async def stream(name: str, request: Request) -> Response:
        """Judge as many items as come, one JSON object a line, and return a row for each.

        Rows come while lines are still sent, in the same order: read them meanwhile.
        """
        try:
            served = service.named(name)
            check_type(request.headers, LINES)
            served.check_single()
        except Refusal:
            with service.measured(name, "stream"):
                raise
        return RowStream(service, served)

    def _reading(request: Request) -> AbstractContextManager[Callable[[int], None]]:
        return service.reading(client_of(request.scope))

    async def _sent(
        request: Request, hold: Callable[[int], None], read: Callable[[bytes, ServingLimits], T]
    ) -> T:
        check_type(request.headers, JSON)
        length = request.headers.get("content-length")
        body = await whole_body(
            request.receive, length, service.limits, hold=hold, look_up=service.check_open
        )
        return await service.understood(body, lambda body: read(body, service.limits))

    return router


_LINE = [{"$ref": f"#/components/schemas/{name}"} for name in ("Row", "Fault")]
