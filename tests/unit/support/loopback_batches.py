"""The loopback server with OpenAI's files and batches: requests in files, answered later.

Start it with ``serving()``, like ``loopback.py``, which it extends: a request of a batch is
answered as the same request at once would be, and each look at a batch takes it one state further.
A behaviour may also have

``batch``
    what becomes of the next batch whose file holds ``contains``, if that is given, ``times`` times:
    ``expired`` and ``cancelled`` (half of the requests are answered), ``failed`` (none is),
    ``full`` (none is, since too much waits already), ``scrambled`` (answers come with garbage,
    with some twice, with one that nobody asked, and without the first), ``slow`` (it is never
    over, unless it is cancelled)
``http``
    ``{"path": "/batches", "method": "POST", "fault": 500}``: what happens to the next request
    there: a status, ``"cut"`` (the connection ends before anything is done) or ``"lost"`` (it is
    done, and the connection ends instead of a reply)

``GET /batch-counts`` says how often each question was in an accepted batch.
"""

import json
from collections import Counter
from contextlib import contextmanager
from typing import Any

import loopback

_STATES = ("validating", "in_progress", "finalizing")


class Batches(loopback.Server):
    """A server with files and batches; each look takes a batch one state further."""

    def reset(self) -> None:
        super().reset()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.accepted: Counter[str] = Counter()
        self.n_uploads = 0

    async def handle(self, request: Any) -> Any:
        from aiohttp import web

        path = request.path.removeprefix("/v1")
        if request.path == "/batch-counts":
            told = {
                "accepted": dict(self.accepted),
                "batches": list(self.batches.values()),
                "uploads": self.n_uploads,
            }
            return web.json_response(told)
        if not path.startswith(("/files", "/batches")):
            return await super().handle(request)
        fault = self.taken("http", path=path, method=request.method)
        if fault == "cut":
            request.transport.close()
            return web.Response(status=500)
        if isinstance(fault, int):
            said = {"error": {"message": "scripted fault"}}
            return web.json_response(said, status=fault, headers={"Retry-After": "0"})
        reply = await self.served(request, path)
        if fault == "lost":
            request.transport.close()
        return reply

    def taken(self, kind: str, **of: str) -> Any:
        """Return what a behaviour of this kind says, and use it up."""
        for place, one in enumerate(self.behaviours):
            said = one.get(kind)
            if said is None or ("contains" in one and one["contains"] not in of.get("text", "")):
                continue
            if kind == "http":
                fits = of["path"].startswith(said["path"]) and of["method"] == said["method"]
                if not fits:
                    continue
                said = said["fault"]
            one["times"] = one.get("times", 1) - 1
            if one["times"] <= 0:
                del self.behaviours[place]
            return said
        return None

    async def served(self, request: Any, path: str) -> Any:
        from aiohttp import web

        parts = path.strip("/").split("/")
        if path == "/files" and request.method == "POST":
            # Not ``request.post``, which refuses bodies of more than a megabyte.
            whole = await request.content.read()
            form = parts_of(whole, request.headers["Content-Type"])
            name = f"file-{len(self.files)}"
            self.files[name] = form["file"]
            self.n_uploads += 1
            assert form["purpose"] == b"batch"
            return web.json_response({"id": name, "object": "file", "purpose": "batch"})
        if parts[0] == "files" and parts[-1] == "content" and parts[1] in self.files:
            return web.Response(body=self.files[parts[1]])
        if path == "/batches" and request.method == "POST":
            return web.json_response(self.begun(await request.json()))
        if path == "/batches":
            newest = list(self.batches.values())[::-1]
            after = request.query.get("after")
            if after is not None:
                newest = newest[[one["id"] for one in newest].index(after) + 1 :]
            page = newest[: min(int(request.query["limit"]), 2)]
            more = len(page) < len(newest)
            return web.json_response({"object": "list", "data": page, "has_more": more})
        batch = self.batches.get(parts[1] if len(parts) > 1 else "")
        if batch is None:
            return web.json_response({"error": {"message": "no such thing"}}, status=404)
        if parts[-1] == "cancel":
            batch["fate"] = "cancelled"
        elif batch["status"] in _STATES and batch["fate"] != "slow":
            await self.advance(batch)
        return web.json_response(batch)

    def begun(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Accept a batch."""
        whole = self.files[asked["input_file_id"]]
        for line in whole.splitlines():
            self.accepted[json.loads(line)["custom_id"]] += 1
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "status": "validating",
            "fate": self.taken("batch", text=whole.decode()) or "completed",
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            **asked,
        }
        self.batches[batch["id"]] = batch
        return batch

    async def advance(self, batch: dict[str, Any]) -> None:
        """Take a batch one state further, answering its requests at the end."""
        fate = batch["fate"]
        if fate in ("failed", "full"):
            code = "token_limit_exceeded" if fate == "full" else "invalid_model"
            batch["errors"] = {"data": [{"code": code, "message": "scripted failure"}]}
            batch["status"] = "failed"
            return
        place = _STATES.index(batch["status"]) + 1
        if place < len(_STATES):
            batch["status"] = _STATES[place]
            return
        lines = [json.loads(one) for one in self.files[batch["input_file_id"]].splitlines()]
        cut = len(lines) // 2 if fate in ("expired", "cancelled") else len(lines)
        answered = [await self.line(one, batch) for one in lines[:cut]]
        errors = [one for one in answered if one["response"]["status_code"] != 200]
        errors += [
            {
                "custom_id": one["custom_id"],
                "response": None,
                "error": {"code": f"batch_{fate}", "message": f"This request was {fate}."},
            }
            for one in lines[cut:]
        ]
        good = [one for one in answered if one["response"]["status_code"] == 200]
        output = [json.dumps(one) for one in reversed(good)]
        if fate == "scrambled":
            stranger = json.dumps({**good[0], "custom_id": "00" * 16})
            output = ["{", "[]", "null", stranger, *output[:-1], *output[:2], '{"custom_id": 7}']
        for key, found in (("output", output), ("error", list(map(json.dumps, errors)))):
            if found:
                name = batch[f"{key}_file_id"] = f"file-{len(self.files)}"
                self.files[name] = ("\n".join(found) + "\n").encode()
        batch["status"] = fate if fate in ("expired", "cancelled") else "completed"

    async def line(self, asked: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        """Answer one request as the same request at once would be."""
        assert asked["url"] == batch["endpoint"] == "/v1/chat/completions"
        body = json.dumps(asked["body"]).encode()
        content = bytes.fromhex(asked["custom_id"])[:8]
        self.by_content[content] += 1
        reply = await self.reply(None, body, content, self.by_content[content])
        return {
            "id": "line",
            "custom_id": asked["custom_id"],
            "response": {
                "status_code": reply.status,
                "request_id": "r",
                "body": json.loads(reply.body),
            },
            "error": None,
        }

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        if any("batch" not in one and "http" not in one for one in self.behaviours):
            return await super().reply(request, body, content, turn)
        from aiohttp import web
        from loopback_offline import completion

        self.answered[content] += 1
        return web.json_response(completion(json.loads(body)))

    def behaviour(self, body: bytes) -> dict[str, Any]:
        aside = [one for one in self.behaviours if "batch" in one or "http" in one]
        self.behaviours = [one for one in self.behaviours if one not in aside]
        found = super().behaviour(body)
        self.behaviours += aside
        return found


def parts_of(whole: bytes, kind: str) -> dict[str, bytes]:
    """Return the parts of a form by name."""
    boundary = b"--" + kind.partition("boundary=")[2].encode()
    found = {}
    for part in whole.split(boundary)[1:-1]:
        head, _, body = part.partition(b"\r\n\r\n")
        name = head.partition(b'name="')[2].partition(b'"')[0]
        found[name.decode()] = body.removesuffix(b"\r\n")
    return found


class Loopback(loopback.Loopback):
    """A running server, seen from a test."""

    def batch_counts(self) -> dict[str, Any]:
        """Return what was put into batches."""
        return self._ask("/batch-counts")


@contextmanager
def serving(*, latency: float = 0.0, answer: str = "7") -> Any:
    """Run such a server for the length of a ``with`` block."""
    with loopback.serving(latency=latency, answer=answer, program=__file__) as plain:
        yield Loopback(plain.port)


if __name__ == "__main__":
    loopback.main(Batches)
