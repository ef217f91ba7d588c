"""What clients send, what they are told where nothing is judged, and how much a server takes on."""

from __future__ import annotations

import asyncio
import difflib
import logging
import re
import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, core_schema

from judgesmith.errors import InputError
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.lm import CacheError, ModelError
from judgesmith.programs.lm.errors import redacted
from judgesmith.signatures.items import RatedItem, source_hash
from judgesmith.signatures.plain_data import plain_fault

_LOG = logging.getLogger("judgesmith.serving")


class Refusal(Exception):  # noqa: N818 - an answer of the server, not a fault in it
    """A request that is not, or not further, worked on."""

    def __init__(
        self,
        status: int,
        reason: str,
        error: str,
        *,
        where: str = "",
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.reason = reason
        self.error = redacted(error)
        self.where = where
        self.hint = hint
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        return {"error": self.error, "where": self.where or None, "hint": self.hint or None}


class ClientGone(Exception):  # noqa: N818 - likewise
    """The client has disconnected."""


def unknown_judge(name: str, known: Collection[str]) -> Refusal:
    """Return the answer to who names a judge that is not served."""
    shown = name if len(name) <= 80 else f"{name[:79]}…"
    close = difflib.get_close_matches(name[:80], known, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return Refusal(
        404,
        "unknown",
        f"there is no judge {shown!r}.",
        where="judge",
        hint=f"{meant}GET /v1/judges lists those there are.",
    )


def set_up(fault: Exception) -> Refusal:
    """Return the answer when the model, or the cache, cannot be used at all."""
    hint = "the request is valid: the operator of the server has to look at this."
    if isinstance(fault, CacheError):
        # The message names a file of this machine, which is private.
        _LOG.error("%s", fault)
        return Refusal(
            503, "ledger", "the server cannot use its ledger.", where="ledger", hint=hint
        )
    if isinstance(fault, ModelError):
        return Refusal(502, "model", str(fault), where="model", hint=hint)
    # Neither the message nor values are told: they may be what somebody wrote.
    places = "".join(traceback.format_tb(fault.__traceback__))
    _LOG.error("%s while answering a request:\n%s", type(fault).__name__, places)
    return Refusal(
        500,
        "fault",
        f"the server met a fault of its own ({type(fault).__name__}).",
        where="server",
        hint="the server's standard error has more; please report it.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingLimits:
    """What bounds a server's work and memory, whatever its clients do.

    Attributes
    ----------
    queue : int
        Items that may wait for their turn, over all requests; with 0 an item is taken only if it
        can be begun at once.
    concurrency : int
        Items judged at the same time; of a judge that compares, sources.
    max_body : int
        Bytes of one request, and of one line of a stream, which as a whole may have any length.
    max_items, max_chars : int
        Items of one batch, which must fit into the queue; characters of each text.

    Examples
    --------
    >>> ServingLimits(queue=4, concurrency=2, max_items=10)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: a batch of 10 items would never fit: 4 may wait and 2 are judged at \
a time; raise the queue, or lower the items of a batch to 6.
    """

    queue: int = 256
    concurrency: int = CONCURRENCY
    max_body: int = 4 * 2**20
    max_items: int = 100
    max_chars: int = 200_000

    def __post_init__(self) -> None:
        """Reject limits that nothing could keep."""
        least = {"queue": 0, "concurrency": 1, "max_body": 1, "max_items": 1, "max_chars": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise InputError(f"{name} must be {low} or more; got {getattr(self, name)}.")
        if self.max_items > self.places:
            raise InputError(
                f"a batch of {self.max_items} items would never fit: {self.queue} may wait and "
                f"{self.concurrency} are judged at a time; raise the queue, or lower the items of "
                f"a batch to {self.places}."
            )

    @property
    def places(self) -> int:
        """Items that are accepted and not finished, at most."""
        return self.queue + self.concurrency

    @property
    def stream_places(self) -> int:
        """How many places may be taken when a stream takes one more: others come first."""
        return self.queue // 2 + self.concurrency


Receive = Callable[[], Awaitable[Any]]

JSON = ("application/json",)
LINES = (
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/json-lines",
)

_PATIENCE = 60.0  # seconds that a client may take to send a whole body, or a line it has begun
_BETWEEN = 600.0  # seconds that a stream waits for the next line to begin
_LOOK = 0.25  # seconds after which a stream that waits for its client looks up


_CLOSING = {"Connection": "close"}
_ANSWERS: Mapping[str, tuple[int, str, str, str, str, Mapping[str, str]]] = {
    "full": (
        *(429, "full", "the queue is full.", "queue"),
        "send the same again in {wait} s, or fewer items at a time.",
        {"Retry-After": "{wait}"},
    ),
    "share": (
        *(429, "share"),
        "your address has as much under way as one client may: half of what the server takes.",
        "client",
        "wait for answers, and send the same again in {wait} s.",
        {"Retry-After": "{wait}"},
    ),
    "stopping": (
        *(503, "stopping", "the server is stopping.", "server"),
        "send the same again to the server that takes its place.",
        {"Retry-After": "5", **_CLOSING},
    ),
    "cut": (
        *(503, "stopping", "the server stopped before this was judged.", "server"),
        "send the same again to the server that takes its place.",
        _CLOSING,
    ),
    "large body": (
        *(413, "size", "expected at most {most} bytes; got more.", "{where}"),
        "send less at a time, or lines to …/stream, of which each may have that size.",
        {},
    ),
    "large line": (
        *(413, "size", "expected at most {most} bytes; got more.", "{where}"),
        "send a shorter line; none is cut.",
        {},
    ),
    "slow body": (
        408,
        "slow",
        "expected the whole body within {seconds:g} s; it did not end in that time.",
        "{where}",
        "send less at a time, or lines to …/stream, of which each may take that long.",
        _CLOSING,
    ),
    "slow line": (
        408,
        "slow",
        "expected the whole line within {seconds:g} s; it did not end in that time.",
        "{where}",
        "send the rest again, each line at once.",
        _CLOSING,
    ),
    "quiet": (
        *(408, "slow", "expected the next line within {seconds:g} s; none came.", "{where}"),
        "end the stream, and open another when there is more to judge.",
        _CLOSING,
    ),
}
"""Answers by what happened: status, reason, error, place, remedy and headers."""


def refused(what: str, **told: object) -> Refusal:
    """Return the answer to what happened, with what is ``told`` of this case."""
    status, reason, error, where, hint, headers = _ANSWERS[what]
    return Refusal(
        status,
        reason,
        error.format(**told),
        where=where.format(**told),
        hint=hint.format(**told),
        headers={name: value.format(**told) for name, value in headers.items()},
    )


def check_type(headers: Mapping[str, str], expected: tuple[str, ...]) -> None:
    """Refuse a body of another kind, or packed: forms of other servers' pages can send no JSON."""
    packed = headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity"):
        raise Refusal(
            415,
            "type",
            f"expected a body as it is; got one in {packed[:80]}.",
            where="Content-Encoding",
            hint="send it without Content-Encoding.",
        )
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in expected:
        raise Refusal(
            415,
            "type",
            f"expected {expected[0]}; got {kind[:80] or 'no type'}.",
            where="Content-Type",
            hint=f"send the header 'Content-Type: {expected[0]}'.",
        )


async def whole_body(
    receive: Receive,
    length: str | None,
    limits: ServingLimits,
    *,
    hold: Callable[[int], None],
    look_up: Callable[[], None],
) -> bytes:
    if length is not None and length.isdecimal() and int(length) > limits.max_body:
        raise refused("large body", where="body", most=limits.max_body)
    body = bytearray()
    more = True
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    while more:
        message = await _next_message(receive, look_up, deadline)
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        hold(len(chunk))
        body += chunk
        if len(body) > limits.max_body:
            raise refused("large body", where="body", most=limits.max_body)
        more = message.get("more_body", False)
    return bytes(body)


async def _next_message(receive: Receive, look_up: Callable[[], None], deadline: float) -> Any:
    """Return what the client sends next, if it comes before the deadline of the whole body."""
    loop = asyncio.get_running_loop()
    while (left := deadline - loop.time()) > 0:
        look_up()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(_LOOK, left)):
                return await receive()
    raise refused("slow body", where="body", seconds=_PATIENCE)


class Inflow:
    """A body as it comes: no more of it is read than is asked for, but for two parts."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=2)
        self._next: asyncio.Future[bytes | None] | None = None
        self.gone = asyncio.Event()
        self._task = asyncio.ensure_future(self._read())

    async def part(self) -> bytes | None:
        """Return the next part, None at the end; empty where none came for a moment."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._parts.get())
        await asyncio.wait((self._next,), timeout=_LOOK)
        if not self._next.done():
            return b""
        part, self._next = self._next.result(), None
        return part

    def close(self) -> None:
        self._task.cancel()
        if self._next is not None:
            self._next.cancel()

    async def _read(self) -> None:
        more = True
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                return
            if more:
                more = message.get("more_body", False)
                if body := message.get("body", b""):
                    await self._parts.put(body)
                if not more:
                    await self._parts.put(None)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its place among all of them, from 1, and what it says; None if it is too long."""

    number: int
    text: bytes | None


class Lines:
    """The lines of a body, one after the other; blank ones are passed over."""

    def __init__(self, inflow: Inflow, longest: int, look_up: Callable[[int], None]) -> None:
        self._inflow = inflow
        self._longest = longest
        self._look_up = look_up
        self._held = bytearray()
        self._looked = 0
        self._skipping = self._ended = False
        self.number = 0

    async def next(self) -> Line | None:
        loop = asyncio.get_running_loop()
        asked, begun = loop.time(), None
        while True:
            end = self._held.find(b"\n", self._looked)
            if end < 0 and not self._ended:
                if begun is None and (self._held or self._skipping):
                    begun = loop.time()
                await self._more()
                where, now = f"line {self.number + 1}", loop.time()
                if begun is not None and now - begun > _PATIENCE:
                    raise refused("slow line", where=where, seconds=_PATIENCE)
                if begun is None and now - asked > _BETWEEN:
                    raise refused("quiet", where=where, seconds=_BETWEEN)
                continue
            if end < 0 and not (self._held or self._skipping):
                return None
            line, begun = self._taken(end), None
            if line.text is None or line.text.strip():
                return line

    def _taken(self, end: int) -> Line:
        """Return the line that ends there, or the last one, and let go of it."""
        stop = len(self._held) if end < 0 else end
        text = None if self._skipping or stop > self._longest else bytes(self._held[:stop])
        del self._held[: stop + 1]
        self._looked, self._skipping = 0, False
        self.number += 1
        return Line(self.number, text)

    async def _more(self) -> None:
        self._looked = len(self._held)
        if self._looked > self._longest or self._skipping:
            self._skipping = True
            self._held.clear()
            self._looked = 0
        part = await self._inflow.part()
        if part is None:
            self._ended = True
        elif part:
            self._held += part
        else:
            self._look_up(self.number + 1)


T = TypeVar("T")

_MOST_NAMED = 5  # faults that one reply lists
_LONGEST_NAME = 60  # characters of a field that a reply names
_LONGEST_SHOWN = 65_536  # bytes of what comes, of which a reply shows what is wrong
_MOST_FIELDS = 20  # unknown fields that are looked at
_MOST_REFERENCES = 100  # of one item
_MOST_PARTS = 200_000  # names and values of what comes at once: no other thread runs meanwhile
_RATED = ("human", "scale")  # what rows of rated texts have beside, and no judge reads
_QUOTES = re.compile(rb'\\.|"', re.DOTALL)  # escaped ones are passed over
_MARKS = (b"[", b"{", b",", b":")


@dataclass(frozen=True, slots=True)
class _Told:
    """Has one fault say what was expected where a field takes several types."""

    expected: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.custom_error_schema(
            handler(source), "other_type", custom_error_message=f"Input should be {self.expected}"
        )


class _OrNone:
    """Reads anything else as None, without making an object of it."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


Id = Annotated[
    StrictStr | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | None,
    _Told("a text"),
]
References = Annotated[
    StrictStr
    | Annotated[list[StrictStr | None], Field(fail_fast=True, max_length=_MOST_REFERENCES)]
    | None,
    _Told(f"a text, or a list of at most {_MOST_REFERENCES} texts"),
]


_EXAMPLE: dict[str, JsonValue] = {
    "source_id": "bridge",
    "system_id": "a",
    "source": "The bridge opened on Monday. Two thousand people crossed it.",
    "response": "Two thousand people crossed the bridge on Monday.",
}


class Item(BaseModel):
    """One response to judge, with what it answers."""

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"example": _EXAMPLE})

    response: str = Field(description="the text under judgement, verbatim")
    source: str | None = Field(default=None, description="what was answered, verbatim")
    context: str | None = Field(default=None, description="further material, if there is any")
    references: References = Field(
        default=None, description="answers known to be good, for judges that read them"
    )
    source_id: Id = Field(default=None, description="comes back with the row")
    system_id: Id = Field(default=None, description="comes back with the row")

    def rated(self) -> RatedItem:
        """Return the item as judges take it, and as files of rows are read."""
        source = self.source or ""
        references = self.references or ()
        given = (references,) if isinstance(references, str) else references
        return RatedItem(
            source_id=_id(self.source_id) or source_hash(source, self.response),
            system_id=_id(self.system_id),
            source=source,
            context=self.context or None,
            response=self.response,
            references=tuple(one for one in given if one),
        )


def _id(value: str | float | None) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


class Batch(BaseModel):
    """Items that are judged in one request."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"example": {"items": [_EXAMPLE]}}
    )

    items: list[Item] = Field(description="in the order in which their rows come back")


# What is read of a body first: its names alone, however much else there is.
_Names = Annotated[dict[str, Annotated[None, _OrNone()]] | None, _OrNone()]


class _Head(BaseModel):
    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, Annotated[None, _OrNone()]]
    items: Annotated[list[_Names] | None, _OrNone()] = None


_NAMES: TypeAdapter[dict[str, None] | None] = TypeAdapter(_Names)
_HEAD: TypeAdapter[_Head | None] = TypeAdapter(Annotated[_Head | None, _OrNone()])
_ITEM = TypeAdapter(Item)
_BATCH = TypeAdapter(Batch)


def posted_item(body: bytes, limits: ServingLimits, *, where: str = "body") -> RatedItem:
    _check_parts(body, where)
    _check_names([_read(_NAMES, body, where)], [where])
    item = _read(_ITEM, body, where).rated()
    _check_length(item, limits, where)
    return item


def items_of(body: bytes, limits: ServingLimits) -> list[RatedItem]:
    _check_parts(body, "body")
    head = _read(_HEAD, body, "body") or _Head(items=None)
    given = head.items or []
    if len(given) > limits.max_items:
        raise Refusal(
            413,
            "items",
            f"expected at most {limits.max_items} items in a batch; got {len(given)}.",
            where="items",
            hint="send them in parts, or as a stream of lines to …/stream.",
        )
    if others := head.model_extra:
        missing = [] if "items" in head.model_fields_set else [("items", "is missing")]
        some = [(name, "there is no such field") for name in islice(others, _MOST_NAMED)]
        raise _refused([*missing, *some], len(missing) + len(others))
    places = [f"items[{place}]" for place in range(len(given))]
    _check_names(given, places)
    batch = _read(_BATCH, body, "body")
    if not batch.items:
        raise Refusal(422, "invalid", "items: expected at least one; got none.", where="items")
    items = [item.rated() for item in batch.items]
    for item, place in zip(items, places, strict=True):
        _check_length(item, limits, place)
    return items


def _check_parts(body: bytes, where: str) -> None:
    """Refuse what holds so many names and values that reading it delays every other request."""
    if sum(map(body.count, _MARKS)) <= _MOST_PARTS:
        return
    n = end = 0
    in_text = False
    for quote in _QUOTES.finditer(body):
        if quote[0] == b'"':
            if not in_text:
                n += sum(body.count(mark, end, quote.start()) for mark in _MARKS)
            end, in_text = quote.end(), not in_text
            if n > _MOST_PARTS:
                break
    if not in_text:
        n += sum(body.count(mark, end) for mark in _MARKS)
    if n > _MOST_PARTS:
        raise Refusal(
            413,
            "size",
            f"expected at most {_MOST_PARTS} names and values at once; got more.",
            where=where,
            hint="leave out fields that no judge reads, or send fewer items at a time.",
        )


def _read(adapter: TypeAdapter[T], body: bytes, where: str) -> T:
    """Return what JSON spells; fields that are not known are passed over as it is read."""
    try:
        return adapter.validate_json(body)
    except ValidationError as fault:
        raise _invalid(fault, where, shows=len(body) <= _LONGEST_SHOWN) from None


def _check_names(items: Sequence[dict[str, None] | None], places: Sequence[str]) -> None:
    """Refuse a field that is probably one of ours, misspelled: it would be passed over."""
    meant: dict[str, list[str]] = {}
    for names, place in zip(items, places, strict=True):
        for name in names or ():
            if name in Item.model_fields or name in _RATED:
                continue
            if name not in meant:
                if len(meant) == _MOST_FIELDS:
                    continue
                close = difflib.get_close_matches(name[:40], Item.model_fields, n=1, cutoff=0.8)
                meant[name] = close
            for one in meant[name]:
                if one not in (names or ()):
                    said = f"there is no field {name!r}; did you mean {one!r}?"
                    raise _refused([(place, said)], 1)


def _check_length(item: RatedItem, limits: ServingLimits, where: str) -> None:
    texts = {"response": item.response, "source": item.source, "context": item.context or ""}
    texts |= {f"references[{n}]": one for n, one in enumerate(item.references)}
    texts |= {"source_id": item.source_id, "system_id": item.system_id}
    for name, text in texts.items():
        if len(text) > limits.max_chars:
            raise Refusal(
                413,
                "chars",
                f"expected at most {limits.max_chars} characters; got {len(text)}.",
                where=name if where == "body" else f"{where}.{name}",
                hint="send a shorter text; none is cut.",
            )


def _invalid(fault: ValidationError, where: str, *, shows: bool) -> Refusal:
    """Return the refusal of what was read; with values, where those are short."""
    faults = fault.errors(include_url=False, include_input=shows)
    if faults[0]["type"] == "json_invalid":
        return Refusal(
            422,
            "invalid",
            f"expected JSON in UTF-8; got something else: {faults[0]['ctx']['error']}.",
            where=where,
            hint="send one JSON object.",
        )
    said = [(_placed(where, one["loc"]), plain_fault(one)) for one in faults[:_MOST_NAMED]]
    return _refused(said, len(faults))


def _refused(faults: Sequence[tuple[str, str]], n: int) -> Refusal:
    """Return the refusal that says what is wrong, each with its place, and how much more."""
    said = []
    for place, text in faults[:_MOST_NAMED]:
        named = "" if place == "body" else _shortened(place)
        said.append(f"{named} {text}" if text == "is missing" else f"{named}: {text}".lstrip(": "))
    return Refusal(
        422,
        "invalid",
        "; ".join(said) + (f"; and {n - len(said)} more" if n > len(said) else ""),
        where=_shortened(faults[0][0]),
        hint="GET /openapi.json describes what is expected.",
    )


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _placed(where: str, parts: tuple[int | str, ...]) -> str:
    """Return a place inside what came: ``items[3].response``."""
    path = "" if where == "body" else where
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path or "body"
