"""The addresses of a server, who is let in, and what each answers."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from judgesmith.programs.lm.measures import CONTENT_TYPE
from judgesmith.programs.serving.requests import (
    JSON,
    LINES,
    Batch,
    ClientGone,
    Item,
    Refusal,
    ServingLimits,
    check_type,
    items_of,
    posted_item,
    refused,
    set_up,
    whole_body,
)
from judgesmith.programs.serving.service import RowStream, Service, client_of
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan
from judgesmith.signatures.plain_data import json_line
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale

_OPEN = ("/", "/healthz")  # to everybody, as the files under /page/ are: nothing in them is secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a request must bring."""

    token: str = ""
    hosts: tuple[str, ...] = ()

    def check(self, path: str, headers: Mapping[str, str]) -> None:
        """Refuse who may not come in."""
        if self.token:
            if not (path in _OPEN or path.startswith("/page/")):
                self._check_token(headers.get("authorization", ""))
        elif path != "/healthz":
            self._check_host(headers.get("host", ""))
            self._check_origin(headers.get("origin"), headers.get("host", ""))

    def _check_token(self, authorization: str) -> None:
        scheme, _, given = authorization.partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if not (same and scheme.lower() == "bearer"):
            raise Refusal(
                401,
                "token",
                "expected the token of this server; got another one, or none.",
                where="Authorization",
                hint="send the header 'Authorization: Bearer TOKEN'.",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def _check_host(self, host: str) -> None:
        name = host_name(host)
        if not (name in self.hosts or _is_plain(name)):
            raise Refusal(
                403,
                "host",
                f"the server is not called {name[:80]!r}.",
                where="Host",
                hint="its operator can allow the name: --allow-host NAME.",
            )

    def _check_origin(self, origin: str | None, host: str) -> None:
        if origin is None:
            return
        try:
            netloc = urlsplit(origin).netloc.lower()
        except ValueError:
            netloc = ""
        name = host_name(netloc)
        # Another port of this machine is another server: only names may differ, behind a proxy.
        behind_proxy = name in self.hosts and not _is_plain(name)
        if not netloc or not (netloc == host.lower() or behind_proxy):
            raise Refusal(
                403,
                "origin",
                "the request comes from a page of another server.",
                where="Origin",
                hint="send it from a program, or from the page that this server has at /.",
            )


def host_name(host: str) -> str:
    """Return a host without its port, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_plain(name: str) -> bool:
    """Say whether a host is an address or ``localhost``, which no other host can resolve to it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return True


class Row(BaseModel):
    """What a judge says of one item, as ``judgesmith score`` writes it.

    Panels and calibrated judges add fields of their own.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "source_id": "bridge",
                "system_id": "a",
                "key": "8f1f7a1c4c1f4b0e9d0a5a54e3c1c0de",
                "score": 4.2,
                "explanation": "It says what happened, and when.",
                "criteria": {"accuracy": {"score": 90, "explanation": "Both facts are there."}},
                "errors": [],
                "problem": None,
                "judge": "3f9a0c51d2e7",
                "target": "overall",
            }
        },
    )

    source_id: str = Field(description="as it came, or a hash of the source")
    system_id: str = Field(description="as it came; may be empty")
    key: str = Field(description="the same for equal texts alone")
    score: float | None = Field(description="points of the judge's scale; null if it is missing")
    label: str | None = Field(None, description="such as pass; left out by judges that give none")
    probability: dict[str, float] | None = Field(
        None, description="of each label, if there are any"
    )
    explanation: str
    criteria: dict[str, CriterionScore] = Field(description="by the criterion's name, 0 to 100")
    errors: list[ErrorSpan] = Field(description="stretches of the response, with character places")
    problem: str | None = Field(description="why there is no score; null if and only if there is")
    judge: str = Field(description="the judge's fingerprint")
    target: str | None = Field(description="the rated criterion that the judge was compiled for")


class Rows(BaseModel):
    """What a judge says of the items of a batch."""

    results: list[Row] = Field(description="one per item, in order")
    unscored: int = Field(description="how many of them have no score")


class Fault(BaseModel):
    """What is wrong, where, and what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": "response: expected a text; got 7",
                "where": "response",
                "hint": "GET /openapi.json describes what is expected.",
            }
        }
    )

    error: str
    where: str | None
    hint: str | None


class Headline(BaseModel):
    """Agreement with people on rows that the judge was not made from."""

    model_config = ConfigDict(extra="allow")

    level: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None


class ExampleTexts(BaseModel):
    """Texts of the judge's own task: a source and one response or more."""

    source: str
    context: str
    references: list[str]
    responses: list[str]


class CardText(BaseModel):
    """How far to trust a judge, in HTML."""

    html: str


class JudgeCard(BaseModel):
    """A judge that is served."""

    name: str = Field(description="its name in addresses")
    fingerprint: str = Field(description="changes when anything in the judge does")
    target: str | None
    kind: str = Field(description="judge, panel or calibrated")
    families: list[str]
    models: list[str]
    scale: Scale
    task: str
    criteria: list[Criterion]
    compares: bool = Field(description="whether all responses to a source are needed at once")
    reads_references: bool
    calls_per_item: int | None = Field(description="model calls; null where it depends")
    agreement: Headline | None = Field(description="null where it was not measured")
    human_scale: Scale | None = Field(description="of its raters; null if unknown, or of labels")
    example: ExampleTexts | None = Field(description="texts that the judge was made from")
    card: bool = Field(description="whether its card can be had")


class Bounds(BaseModel):
    """How much is taken at a time."""

    max_body: int = Field(description="bytes of a request, or of a line")
    max_items: int = Field(description="items of a batch")
    max_chars: int = Field(description="characters of a text")
    queue: int = Field(description="items that may wait")
    concurrency: int = Field(description="items judged at the same time")


class JudgeList(BaseModel):
    """All judges that are served."""

    judges: list[JudgeCard]
    limits: Bounds
    version: str = Field(description="of judgesmith")


class Health(BaseModel):
    """Whether the server takes requests."""

    status: str = Field(description="ready or stopping")
    waiting: int = Field(description="accepted items that are not begun")
    in_flight: int = Field(description="items that are being judged")
    places: int = Field(description="items that may be accepted at a time")


def described(app: FastAPI, *, with_token: bool) -> None:
    """Add what clients send to the description of an application, and the token if one is asked."""
    plain = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = plain()
            parts = found.setdefault("components", {})
            _, sent = models_json_schema(
                [(Item, "validation"), (Batch, "validation")],
                ref_template="#/components/schemas/{model}",
            )
            schemas = {**parts.get("schemas", {}), **sent["$defs"]}
            # FastAPI's own form of faults, which no route answers with.
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            parts["schemas"] = dict(sorted(schemas.items()))
            if with_token:
                parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
                found["security"] = [{"token": []}]
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = whole  # type: ignore[method-assign]


def refuse_unknown_addresses(app: FastAPI) -> None:
    """Have addresses and methods that there are not refused in the form of all refusals."""

    async def unknown(request: Request, fault: Exception) -> Response:
        hint = "GET /openapi.json lists those there are."
        raise Refusal(404, "address", "there is no such address.", where="address", hint=hint)

    async def other_method(request: Request, fault: Exception) -> Response:
        error = f"there is no {request.method[:20]} of this address."
        allowed = dict(getattr(fault, "headers", None) or {})
        hint = f"it takes {allowed.get('Allow', 'others')}; GET /openapi.json has an example."
        raise Refusal(405, "address", error, where="address", hint=hint, headers=allowed)

    app.add_exception_handler(404, unknown)
    app.add_exception_handler(405, other_method)


PAGE = Path(__file__).with_name("page")

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\.[a-z]+")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_file(name: str = "index.html", folder: Path = PAGE) -> Response:
    """Return a file of a page; refuse any other name."""
    place = folder / name
    kind = _KINDS.get(place.suffix)
    if kind is None or not _NAME.fullmatch(name) or not place.is_file():
        raise Refusal(404, "unknown", "there is no such file.", where="page")
    headers = {"content-security-policy": _POLICY, "cache-control": "no-cache"}
    return Response(place.read_bytes(), media_type=kind, headers=headers)


_WHILE_STOPPING = ("/healthz", "/metrics")
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_API_POLICY = b"content-security-policy"


class SentReply:
    """The sending of one reply with the headers that every reply has; ``started`` once it began.

    ``policy`` takes the place of the content security policy that the reply comes with.
    """

    def __init__(self, send: Callable[[Any], Awaitable[None]], policy: bytes = b"") -> None:
        self._send = send
        self._policy = policy
        self.started = False

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = list(message.get("headers", []))
            if self._policy:
                headers = [one for one in headers if one[0] != _API_POLICY]
                headers.append((_API_POLICY, self._policy))
            message = {**message, "headers": _with_headers(headers)}
        await self._send(message)


class Guard:
    """The application inside, behind a door."""

    def __init__(self, app: Any, *, service: Service, door: Door) -> None:
        self._app = app
        self._service = service
        self._door = door

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, whatever comes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = SentReply(send)
        try:
            self._let_in(scope)
            with self._service.attended(scope):
                await self._app(scope, receive, sent)
        except ClientGone:
            return
        except asyncio.CancelledError:
            if not self._service.stopping:
                raise
            if not sent.started:
                await reply(refused("cut"), sent)
        except Refusal as refusal:
            if refusal.reason == "address":  # there was no route that could count it
                self._service.measures.rejected("", refusal.reason)
            await reply(refusal, sent)
        except Exception as fault:
            told = set_up(fault)
            if not sent.started:
                await reply(told, sent)

    def _let_in(self, scope: Any) -> None:
        path = scope["path"]
        headers = {name.decode("latin-1"): one.decode("latin-1") for name, one in scope["headers"]}
        try:
            self._door.check(path, headers)
            if path not in _WHILE_STOPPING and self._service.stopping:
                raise refused("stopping")
        except Refusal as refusal:
            self._service.measures.rejected("", refusal.reason)
            raise


async def reply(refusal: Refusal, send: Callable[[Any], Awaitable[None]]) -> None:
    body = json_line(refusal.body).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    headers |= {name.lower(): value for name, value in refusal.headers.items()}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _with_headers(headers: Any) -> list[tuple[bytes, bytes]]:
    """Return headers of a reply with those that every reply has."""
    found = list(headers)
    names = {name.lower() for name, _ in found}
    if _API_POLICY not in names:
        found.append((_API_POLICY, b"default-src 'none'; frame-ancestors 'none'"))
    if b"cache-control" not in names:
        found.append((b"cache-control", b"no-store"))
    return [*found, *_ALWAYS]


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
        return Json(
            {
                "judges": [one.described() for one in service.judges.values()],
                "limits": {name: getattr(limits, name) for name in Bounds.model_fields},
                "version": version("judgesmith"),
            }
        )

    @router.get(
        "/v1/judges/{name}/card",
        response_model=CardText,
        responses={code: _FAULTS[code] for code in (401, 404, 422)},
    )
    async def card(name: str) -> Response:
        """Return how far to trust a judge, with charts, as the page shows it."""
        make = service.named(name).card
        if make is None:
            raise Refusal(404, "unknown", "this judge has no card.", where="judge")
        return Json({"html": await asyncio.to_thread(make)})

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
            item = await _sent(request, hold, posted_item)
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
