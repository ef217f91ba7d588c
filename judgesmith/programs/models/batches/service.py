"""OpenAI's files and batches over HTTP, asked again where a fault may pass."""

from __future__ import annotations

import json
import random
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from judgesmith.programs.models.batches.engine import BatchEngine
from judgesmith.programs.models.errors import TransientModelError
from judgesmith.programs.models.retry import Retry
from judgesmith.programs.models.waiting import BLOCKING, driven

_T = TypeVar("_T")
_WINDOW = "24h"
_PER_PAGE = 100
_PAGES = 200  # of all batches of an account, newest first


class BatchService:
    """The batches of one account.

    Parameters
    ----------
    engine : BatchEngine
        Where requests are sent.
    retry : Retry
        When to send again.
    """

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
        """Have the requests of a file answered and return the name of their batch.

        Where a reply is lost, the batches of the account are looked through for the mark before
        anything is sent again, since the server may have taken the first.

        Parameters
        ----------
        file : str
            What ``upload`` returned.
        path : str
            That of all requests in it, such as ``/v1/chat/completions``.
        mark : dict of str to str
            What tells the batch from all others.
        """
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
        """Return the name of the batch with this mark, None where there is none."""
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
        """Return what the server says of a batch."""
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
