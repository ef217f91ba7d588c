"""An ASGI application, called as a server would call it, without a socket."""

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import unquote


@dataclass
class Reply:
    """What the application answered."""

    status: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


class Caller:
    """Calls an application, each time in an event loop of its own."""

    def __init__(self, app):
        self.app = app

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        asyncio.run(self._ended())

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, value=None, content_type="application/json", **headers):
        """Send plain data as JSON, or bytes as they are."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask("POST", path, body, content_type=content_type, **headers)

    def ask(self, method, path, body=b"", **headers):
        """Send a request; names of headers have ``_`` for ``-``."""
        given = {"host": "localhost", **headers}
        raw = [(name.replace("_", "-").encode(), one.encode()) for name, one in given.items()]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": raw,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        return asyncio.run(self._asked(scope, body))

    async def _asked(self, scope, body):
        parts = [body[n : n + 65_536] for n in range(0, len(body), 65_536)]
        messages = [{"type": "http.request", "body": one, "more_body": True} for one in parts]
        messages.append({"type": "http.request", "body": b"", "more_body": False})
        sent = []

        async def receive():
            if messages:
                return messages.pop(0)
            await asyncio.sleep(3600)
            raise AssertionError

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        start, *rest = sent
        headers = {name.decode(): one.decode() for name, one in start["headers"]}
        return Reply(start["status"], headers, b"".join(one.get("body", b"") for one in rest))

    async def _ended(self):
        messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

        async def receive():
            return messages.pop(0)

        async def send(message):
            assert message["type"] in ("lifespan.startup.complete", "lifespan.shutdown.complete")

        await self.app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
