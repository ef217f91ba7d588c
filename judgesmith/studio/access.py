"""Who may come in: links that are used once, cookies, and what raters may not do."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from judgesmith.errors import JudgesmithError
from judgesmith.programs.serving.requests import (
    JSON,
    ClientGone,
    Refusal,
    ServingLimits,
    check_type,
    set_up,
    whole_body,
)
from judgesmith.programs.serving.routes import Door, SentReply, reply
from judgesmith.studio.store import Store, rater_name, user_mark

COOKIE = "judgesmith_studio"
_DAYS = 30
_LIMITS = ServingLimits(max_body=2**20)
_OPEN = ("/enter",)
_RATERS = ("/label", "/api/label/", "/page/")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@dataclass(frozen=True, kw_only=True)
class Person:
    """Who asks: the owner of the folder may do all, a rater may label."""

    role: Literal["owner", "rater"]
    name: str


OWNER = Person(role="owner", name="owner")


class People:
    """Links that are each used once, and the cookies that they were exchanged for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._links: dict[str, Person] = {}

    def link(self, person: Person) -> str:
        """Return a path that lets this person in, once."""
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = person
        return f"/enter?token={token}"

    def enter(self, token: str) -> str:
        """Return a new cookie for the token of a link, which is of no use after that."""
        person = self._links.pop(_digest(token), None)
        if person is None:
            raise Refusal(
                403,
                "token",
                "this link has been used, or is of an earlier start.",
                where="token",
                hint="run judgesmith studio again for a new one.",
            )
        cookie = secrets.token_urlsafe(32)
        with self._store.writing() as db:
            db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?)",
                (user_mark(cookie), person.role, person.name, time.time()),
            )
        return cookie

    def of(self, cookie: str) -> Person | None:
        """Return whose cookie this is; None where it is unknown, or too old."""
        since = time.time() - _DAYS * 86_400
        found = self._store.query(
            "SELECT role, name FROM sessions WHERE mark = ? AND at > ?", user_mark(cookie), since
        )
        return Person(role=found[0][0], name=found[0][1]) if found else None


def rater_of(name: str) -> Person:
    return Person(role="rater", name=rater_name(name))


def set_cookie(value: str) -> str:
    """Return the header that hands a cookie out to this site's own pages."""
    age = _DAYS * 86_400
    return f"{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict"


class Gate:
    """The application inside: requests of other sites, or without a cookie, do not get in."""

    def __init__(
        self, app: Any, *, people: People, hosts: Sequence[str], page: Callable[..., Any]
    ) -> None:
        self._app = app
        self._page = page
        self._people = people
        self._door = Door(hosts=tuple(hosts))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, whatever comes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = SentReply(send, _POLICY.encode())
        try:
            scope.setdefault("state", {})["person"] = self._let_in(scope)
            await self._app(scope, receive, sent)
        except ClientGone:
            return
        except Refusal as refusal:
            await self._refuse(refusal, scope, receive, sent)
        except JudgesmithError as fault:
            said = Refusal(422, "input", fault.sentence or str(fault), hint=fault.hint or "")
            await self._refuse(said, scope, receive, sent)
        except Exception as fault:
            if sent.started:
                raise
            await self._refuse(set_up(fault), scope, receive, sent)

    async def _refuse(self, refusal: Refusal, scope: Any, receive: Any, send: Any) -> None:
        """Answer with a page where a page was asked for, else with JSON."""
        accepts = next((one for name, one in scope["headers"] if name == b"accept"), b"")
        if scope["method"] != "GET" or b"text/html" not in accepts:
            await reply(refusal, send)
            return
        person = scope.get("state", {}).get("person")
        page = self._page("message", person, status=refusal.status, said=refusal.body)
        await page(scope, receive, send)

    def _let_in(self, scope: Any) -> Person | None:
        path = scope["path"]
        headers = {name.decode("latin-1"): one.decode("latin-1") for name, one in scope["headers"]}
        self._door.check(path, headers)
        if path in _OPEN:
            return None
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            found = None
        person = None if found is None else self._people.of(found.value)
        if person is None:
            raise Refusal(
                401,
                "cookie",
                "this browser has not been let in.",
                where="Cookie",
                hint="open the address that judgesmith studio printed.",
            )
        if person.role == "rater" and path != "/" and not path.startswith(_RATERS):
            raise Refusal(403, "rater", "a rater may label, and nothing else.", where="address")
        return person


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


Sent = TypeVar("Sent", bound=BaseModel)


async def posted(request: Any, model: type[Sent]) -> Sent:
    """Return the JSON body of a request; a form of another site cannot send one."""
    check_type(request.headers, JSON)
    body = await whole_body(
        request.receive,
        request.headers.get("content-length"),
        _LIMITS,
        hold=lambda n: None,
        look_up=lambda: None,
    )
    try:
        return model.model_validate_json(body)
    except ValidationError as fault:
        raise Refusal(422, "body", what_is_wrong(fault)) from None


def what_is_wrong(fault: ValidationError) -> str:
    """Return in a sentence what is wrong with the first field that is."""
    first = fault.errors(include_url=False, include_input=False)[0]
    why = {
        "string_too_long": "expected at most {max_length} characters; got more",
        "string_too_short": "expected words; got none",
        "json_invalid": "the request is not JSON",
    }.get(first["type"], first["msg"].removeprefix("Value error, ").rstrip("."))
    if first["type"] == "string_too_long":
        why = why.format(**first["ctx"])
    place = " ".join(map(str, first["loc"]))
    return f"{place}: {why}." if place else f"{why}."
