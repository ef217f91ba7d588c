"""Models asked in batches: requests put down, files sent, answers fetched."""

from __future__ import annotations

import json
import os
import random
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar
from urllib.parse import quote, urlsplit

import lm15
from lm15.providers.base import batch_entry_http, batch_entry_request
from lm15.transports import StdlibTransport, TransportError, TransportRequest

from judgesmith.drafts import for_its_owner
from judgesmith.errors import InputError, file_faults
from judgesmith.programs.lm.batches.state import Asked, SettleOnce, WithdrawOnce
from judgesmith.programs.lm.budget import BATCH_SHARE, Price, check
from judgesmith.programs.lm.cache.records import Claim, Settle, Withdraw
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.client import LMClient
from judgesmith.programs.lm.engines import NativeEngine
from judgesmith.programs.lm.errors import (
    BudgetSpent,
    ModelError,
    TransientModelError,
    redacted,
    retry_seconds,
)
from judgesmith.programs.lm.factory import ClientModel
from judgesmith.programs.lm.limits import STOPPING, Retry
from judgesmith.programs.lm.lm15_bridge import GARBLED, answer_from_lm15, error_from_lm15
from judgesmith.programs.lm.records import ModelAnswer, ModelRequest, SamplingSettings
from judgesmith.programs.lm.waiting import BLOCKING, Waiting, driven

LONGEST = 2**26
"""Bytes of a line at most: more than the longest answer with 20 alternatives for each token."""

_AT_A_TIME = 200
_BYTES = 2**24  # of lines at a time, from which on they are handed out


@file_faults()
def private(place: Path) -> IO[bytes]:
    """Return a new file for private texts."""
    place.unlink(missing_ok=True)  # one that was left behind keeps its mode
    return open(place, "xb", opener=for_its_owner)


@file_faults()
def is_whole(place: Path) -> bool:
    """Return whether a file of answers ends with a line, rather than amid one."""
    with place.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - LONGEST - 1))
        tail = file.read()
    line = tail[tail.rfind(b"\n") + 1 :]
    if not line.strip():
        return True
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def lines_of(place: Path) -> Iterator[list[bytes]]:
    """Yield the lines of a file, many at a time, in flat memory."""
    with file_faults(place), place.open("rb") as file:
        some: list[bytes] = []
        n_bytes = number = 0
        while line := file.readline(LONGEST + 1):
            number += 1
            if len(line) > LONGEST:
                raise InputError(
                    f"{place.name}, line {number}: expected one answer of at most "
                    f"{LONGEST // 2**20} MiB; got a longer line. Is it a file of answers?"
                )
            some.append(line)
            n_bytes += len(line)
            if len(some) == _AT_A_TIME or n_bytes >= _BYTES:
                yield some
                some, n_bytes = [], 0
        yield some


_OF_ONE_REQUEST = frozenset({"content-type", "content-length", "accept"})


class BatchEngine(NativeEngine):
    """The native client, spelling its very requests into files and reading replies out of files."""

    def __init__(self, model: str, *, api_base: str | None = None, timeout: float = 600.0) -> None:
        if not model.startswith("openai/"):
            raise InputError(
                "batches are OpenAI's protocol, for models called openai/NAME; got "
                f"{model[:80]!r}.",
                hint="leave out --batch and --batch-files.",
            )
        super().__init__(model, api_base=api_base, timeout=timeout)
        self._changes: dict[SamplingSettings, tuple[str, ...]] = {}

    def line(self, identity: bytes, request: ModelRequest) -> tuple[bytes, str, tuple[str, ...]]:
        """Return a request as a line of a batch file, its path, and what was changed for it."""
        if request.continuation is not None:
            raise ModelError(
                f"{self.model}: a judge that asks how likely a text is cannot be asked in batches.",
                hint="leave out --batch and --batch-files.",
            )
        client = self._opened()[1]
        try:
            sent, changed = self._request(request)
            adapted = self._changes.get(request.settings)
            if adapted is None:
                planned = client.plan(sent)
                adapted = tuple(f"{one.field} {one.action}: {one.reason}" for one in planned)
                self._changes[request.settings] = adapted
            built = client.build_request(sent, stream=False)
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None
        path = "/v1" + built.url.removeprefix(client.base_url.rstrip("/"))
        head = {"custom_id": identity.hex(), "method": "POST", "url": path}
        line = json.dumps(head).encode()[:-1] + b', "body": ' + built.body + b"}\n"
        return line, path, (*changed, *adapted)

    def answer(self, body: Mapping[str, Any], changed: tuple[str, ...]) -> ModelAnswer:
        """Return the answer in the body of a reply."""
        client = self._opened()[1]
        asked = batch_entry_request(body.get("model"))
        try:
            return answer_from_lm15(
                client.parse_response(asked, batch_entry_http(dict(body))), changed
            )
        except (lm15.LM15Error, *GARBLED) as fault:
            raise self._explained(fault, client, asked) from None

    def refusal(self, status: int, body: object) -> ModelError:
        """Return our error for a reply with an HTTP status that says no."""
        return self._refused(status, json.dumps(body), None)

    def send(
        self, method: str, path: str, *, body: bytes = b"", kind: str = "application/json"
    ) -> bytes:
        """Send once and return what came."""
        parts: list[bytes] = []
        self._exchange(method, path, body, kind, parts.append)
        return b"".join(parts)

    def fetch(self, path: str, place: Path) -> None:
        """Write what is at a path of the server to a file, in flat memory."""
        with private(place) as file:
            self._exchange("GET", path, b"", "", file.write)
        if not is_whole(place):
            raise TransientModelError(
                f"{self.model} at {self.endpoint}: the reply to GET {path} ends amid a line"
            )

    def _exchange(self, method: str, path: str, body: bytes, kind: str, take: Any) -> None:
        try:
            transport, client = self._opened()
            probe = client.build_request(batch_entry_request(self._name), stream=False)
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None
        headers = [pair for pair in probe.headers if pair[0].lower() not in _OF_ONE_REQUEST]
        if kind:
            headers.append(("Content-Type", kind))
        url = f"{client.base_url.rstrip('/')}{path}"
        request = TransportRequest(method=method, url=url, headers=headers, body=body)
        try:
            with transport.stream(request) as reply:
                if reply.status >= 400:
                    said = reply.read().decode("utf-8", "replace")
                    raise self._refused(reply.status, said, reply.header("Retry-After"))
                for chunk in reply:
                    take(chunk)
        except (TransportError, EOFError, ConnectionError, TimeoutError) as fault:
            raise TransientModelError(
                redacted(f"{self.model} at {self.endpoint}: {fault}")
            ) from None

    def _refused(self, status: int, said: str, wait: str | None) -> ModelError:
        fault = self._opened()[1].normalize_error(status, said)
        if (seconds := retry_seconds(wait)) is not None:
            fault.retry_after = seconds
        return error_from_lm15(fault, self.model, self.endpoint)

    def _opened(self) -> tuple[Any, Any]:
        with self._lock:
            if self._threads is None:
                self._threads = self._open(lm15.LMRouter, StdlibTransport)
        return self._threads


_T = TypeVar("_T")
_WINDOW = "24h"
_PER_PAGE = 100
_PAGES = 200  # of all batches of an account, newest first


class BatchService:
    """The batches of one account."""

    def __init__(self, engine: BatchEngine, retry: Retry) -> None:
        self.engine = engine
        self._retry = retry
        self._rng = random.Random(0)

    def upload(self, place: Path) -> str:
        """Send a file of requests and return its name at the server."""
        boundary = secrets.token_hex(16)
        body = b"".join(
            (
                f"--{boundary}\r\nContent-Disposition: form-data; "
                'name="purpose"\r\n\r\nbatch\r\n'.encode(),
                f"--{boundary}\r\nContent-Disposition: form-data; "
                f'name="file"; filename="{place.name}"\r\n'
                "Content-Type: application/jsonl\r\n\r\n".encode(),
                place.read_bytes(),
                f"\r\n--{boundary}--\r\n".encode(),
            )
        )
        kind = f"multipart/form-data; boundary={boundary}"
        return str(self._told("POST", "/files", "id", body=body, kind=kind)["id"])

    def submit(self, file: str, path: str, mark: Mapping[str, str]) -> str:
        """Have the requests of a file answered and return the name of their batch."""
        asked = {
            "input_file_id": file,
            "endpoint": path,
            "completion_window": _WINDOW,
            "metadata": dict(mark),
        }
        body = json.dumps(asked).encode()

        def once() -> str:
            try:
                return str(self._once("POST", "/batches", "id", body=body)["id"])
            except TransientModelError:
                found = self.find(mark)
                if found is None:
                    raise
                return found

        return self._again(once)

    def find(self, mark: Mapping[str, str]) -> str | None:
        after = ""
        for _ in range(_PAGES):
            page = self._told("GET", f"/batches?limit={_PER_PAGE}{after}", "data")
            listed = page["data"] if isinstance(page["data"], list) else []
            batches = [one for one in listed if isinstance(one, Mapping) and one.get("id")]
            for one in batches:
                told = one.get("metadata")
                if isinstance(told, Mapping) and all(told.get(k) == v for k, v in mark.items()):
                    return str(one["id"])
            if not (page.get("has_more") and batches):
                return None
            after = f"&after={quote(str(batches[-1]['id']), safe='')}"
        return None

    def look(self, batch: str) -> dict[str, Any]:
        return self._told("GET", f"/batches/{quote(batch, safe='')}", "status")

    def fetch(self, file: str, place: Path) -> None:
        """Write a file of the server's to ``place``."""
        path = f"/files/{quote(file, safe='')}/content"
        self._again(lambda: self.engine.fetch(path, place))

    def _told(self, method: str, path: str, key: str, **sent: Any) -> dict[str, Any]:
        return self._again(lambda: self._once(method, path, key, **sent))

    def _once(self, method: str, path: str, key: str, **sent: Any) -> dict[str, Any]:
        said = self.engine.send(method, path, **sent)
        try:
            found = json.loads(said)
        except (ValueError, RecursionError):
            found = None
        if not (isinstance(found, dict) and found.get(key) is not None):
            where = f"{self.engine.model} at {self.engine.endpoint}"
            raise TransientModelError(
                f"{where}: the reply to {method} {path.partition('?')[0]} has no {key}", status=200
            )
        return found

    def _again(self, attempt: Callable[[], _T]) -> _T:
        failures = 0
        while True:
            try:
                return attempt()
            except TransientModelError as fault:
                failures += 1
                wait = self._retry.wait(failures, fault.retry_after, rng=self._rng)
                if wait is None:
                    raise fault.tried(failures) from None
            driven(BLOCKING.sleep(wait))


class Coordinator(Protocol):
    """Where requests are put down: ``BatchCoordinator``."""

    clients: dict[str, BatchClient]

    def ask(self, client: BatchClient, identity: bytes, request: ModelRequest) -> Exception:
        """Return why there is no answer to a request yet."""


class BatchClient(LMClient):
    """The client of one model whose requests are put down with a coordinator."""

    engine: BatchEngine

    def __init__(
        self, engine: BatchEngine, *, like: LMClient, price: Price | None, coordinator: Coordinator
    ) -> None:
        if like.ledger is None:
            raise InputError("batches need a cache, which keeps their answers.")
        self.kept: ResponseCache = like.ledger
        super().__init__(
            engine,
            ledger=like.ledger,
            budget=like.budget,
            retry=like.retry,
            price=price,
            run_id=like.run_id,
            sender=self,
        )
        self._coordinator = coordinator
        self.reservations = self._accounts.reservations
        self.meter = self._meter

    async def answer(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        """Raise why there is no answer: it was refused, is not paid for, or is still to come."""
        STOPPING.check()
        raise self._coordinator.ask(self, identity, request)

    def finish(self) -> None:
        """Note that the run is finished, if it was begun: here what waits is refused, too."""
        self._accounts.finish()

    def refuse(self, request: ModelRequest) -> BudgetSpent:
        """Return why a request was not sent: the ceiling in its way."""
        tokens, usd = self.reservations.most(request)
        spent = self.spent
        minutes = max(spent.minutes, self._accounts.seconds / 60.0)
        try:
            check(self.budget, replace(spent, minutes=minutes), tokens=tokens, usd=usd)
        except BudgetSpent as refusal:
            return refusal
        return BudgetSpent("the budget leaves no room for it.")

    # -- writes ----------------------------------------------------------------------------

    def claim(self, asked: Asked) -> Claim:
        """Return the claim to send a request."""
        return self._accounts.claim(asked.identity, tokens=asked.tokens, usd=asked.usd)

    def withdrawal(self, asked: Asked, intent: int) -> WithdrawOnce:
        """Return what takes a claim back that led to nothing."""
        return WithdrawOnce(Withdraw(claim=self.claim(asked), intent=intent))

    def settlement(
        self, asked: Asked, answer: ModelAnswer | None, *, free: bool = False
    ) -> SettleOnce:
        """Return what settles a request: free for a refusal, the reservation without an answer."""
        assert asked.intent is not None
        tokens, usd = (0, 0.0) if free else (asked.tokens, asked.usd)
        if answer is not None:
            tokens, usd = self.reservations.cost_of(asked.characters, answer)
        return SettleOnce(
            Settle(
                claim=self.claim(asked),
                intent=asked.intent,
                model=self.kept.model(self.engine.model, self.engine.endpoint),
                answer=answer,
                tokens=tokens,
                usd=usd,
                seconds=self._accounts.seconds,
            )
        )

    def answered(self, asked: Asked, answer: ModelAnswer) -> None:
        """Count an answer that was cached."""
        self._meter.answered(
            asked.characters, answer, usd=self.reservations.cost_of(asked.characters, answer)[1]
        )


def batch_model(lm: ClientModel, coordinator: Coordinator, **options: Any) -> ClientModel:
    """Return the same model, asked in batches; the offline model stays as it is.

    Parameters
    ----------
    lm : ClientModel
        What would be asked at once.
    coordinator : BatchCoordinator
        Where requests are put down.
    **options
        ``api_base`` and ``price``, as given to ``client_model``. Where no price is given, batches
        at OpenAI itself cost half of the listed one.
    """
    if lm.model == "offline":
        return lm
    engine = BatchEngine(lm.model, api_base=options.get("api_base"))
    price = lm.client.price
    at_home = urlsplit(engine.endpoint).hostname == "api.openai.com"
    if price is not None and options.get("price") is None and at_home:
        price = Price(price.input * BATCH_SHARE, price.output * BATCH_SHARE)
    client = BatchClient(engine, like=lm.client, price=price, coordinator=coordinator)
    coordinator.clients[lm.model] = client
    return replace(lm, client=client)
