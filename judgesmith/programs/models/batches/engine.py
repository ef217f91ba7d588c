"""One model's requests as lines of a batch file, its replies read back, and plain HTTP to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lm15
from lm15.providers.base import batch_entry_http, batch_entry_request
from lm15.transports import StdlibTransport, TransportError, TransportRequest

from judgesmith.errors import InputError
from judgesmith.programs.models.batches.files import is_whole, private
from judgesmith.programs.models.conversion import GARBLED, answer_from_lm15, error_from_lm15
from judgesmith.programs.models.errors import ModelError, TransientModelError
from judgesmith.programs.models.native import NativeEngine
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.models.request import ModelAnswer, ModelRequest, Settings

_OF_ONE_REQUEST = frozenset({"content-type", "content-length", "accept"})


class BatchEngine(NativeEngine):
    """The native client, spelling requests into files and reading replies out of files.

    What is written for a request is byte for byte the body that the client would send for it,
    and a reply is read by the code that reads an answer at once.

    Parameters
    ----------
    model : str
        ``openai/NAME``.
    api_base : str or None
        Address of a server with batches; None for OpenAI's, or that in the environment.
    timeout : float
        Seconds without a byte after which an attempt counts as failed.

    Raises
    ------
    ValueError
        If the model is not called ``openai/…``.

    Examples
    --------
    >>> BatchEngine("openai/m", api_base="http://localhost:8000/v1").endpoint
    'http://localhost:8000/v1'
    >>> BatchEngine("gemini/gemini-2.5-flash")
    Traceback (most recent call last):
    judgesmith.InputError: batches are OpenAI's protocol, for models called openai/NAME; got \
'gemini/gemini...
    """

    def __init__(self, model: str, *, api_base: str | None = None, timeout: float = 600.0) -> None:
        if not model.startswith("openai/"):
            raise InputError(
                "batches are OpenAI's protocol, for models called openai/NAME; got "
                f"{model[:80]!r}; leave out --batch and --batch-files."
            )
        super().__init__(model, api_base=api_base, timeout=timeout)
        self._changes: dict[Settings, tuple[str, ...]] = {}

    def line(self, identity: bytes, request: ModelRequest) -> tuple[bytes, str, tuple[str, ...]]:
        """Return a request as a line of a batch file, its path, and what was changed for it.

        Raises
        ------
        ModelError
            If the request cannot be put in this protocol.
        """
        if request.continuation is not None:
            raise ModelError(
                f"{self.model}: a judge that asks how likely a text is cannot be asked in batches; "
                "leave out --batch and --batch-files."
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
        """Return the answer in the body of a reply.

        Raises
        ------
        ModelError
            If it holds none.
        """
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
        """Send once and return what came.

        Raises
        ------
        ModelError
            If the server refuses, or is not reached.
        """
        parts: list[bytes] = []
        self._exchange(method, path, body, kind, parts.append)
        return b"".join(parts)

    def fetch(self, path: str, place: Path) -> None:
        """Write what is at a path of the server to a file, in flat memory.

        Raises
        ------
        ModelError
            As ``send``.
        """
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
        if wait is not None and wait.replace(".", "", 1).isdecimal():
            fault.retry_after = float(wait)
        return error_from_lm15(fault, self.model, self.endpoint)

    def _opened(self) -> tuple[Any, Any]:
        with self._lock:
            if self._threads is None:
                self._threads = self._open(lm15.LMRouter, StdlibTransport)
        return self._threads
