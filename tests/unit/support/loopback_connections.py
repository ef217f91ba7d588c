"""The loopback server with connections that break, and that can be killed and started again.

Run or start it like ``loopback.py``, which it extends. A behaviour may also have

``ending``
    how a connection ends, one of ``ENDINGS``:

    ``inside``
        half an answer comes, then the server shuts its side and goes on listening
    ``after``
        an answer comes whole, then the server shuts its side, which it did not announce
    ``reset``
        an answer comes whole, and the connection is reset while nobody uses it
    ``silence``
        nothing comes at all, and the connection stays open

What is asked and answered is noted in a file that outlives the server (``Restartable.noted``).
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import loopback

ENDINGS = ("inside", "after", "reset", "silence")
_NOTES = "LOOPBACK_NOTES"


class BreakingServer(loopback.Server):
    """A server whose connections may break at any time."""

    def __init__(self, latency: float, answer: str) -> None:
        super().__init__(latency, answer)
        self.notes = os.open(os.environ[_NOTES], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def reply(self, request: Any, body: bytes, content: bytes, turn: int) -> Any:
        self.note("asked", content)
        if not any("ending" in one for one in self.behaviours):
            n_answered = self.answered[content]
            said = await super().reply(request, body, content, turn)
            if self.answered[content] > n_answered:
                self.note("answered", content)
            return said
        ending = self.behaviour(body)["ending"]
        await asyncio.sleep(self.latency)
        return await self.broken(ending, request, content)

    async def broken(self, ending: str, request: Any, content: bytes) -> Any:
        from aiohttp import web

        choice = {"message": {"content": self.answer}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 1}
        said = json.dumps({"choices": [choice], "usage": usage}).encode()
        line = request.transport
        if ending in ("after", "reset"):
            self.answered[content] += 1
            self.note("answered", content)
        if ending != "silence":
            line.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said))
            line.write(said[: len(said) // 2] if ending == "inside" else said)
        if ending == "reset":
            await asyncio.sleep(0.02)  # it is read by then
            line.abort()
        elif ending != "silence":
            line.write_eof()
        while not line.is_closing():
            await asyncio.sleep(0.01)
        return web.Response(status=500)  # nobody gets it: the connection is closed

    def note(self, what: str, content: bytes) -> None:
        """Write one line down, which is there whatever becomes of this process."""
        os.write(self.notes, b"%s %s\n" % (what.encode(), content.hex().encode()))


class Restartable(loopback.Loopback):
    """A server that can be killed, and started again at the same address."""

    def __init__(self, command: list[str], notes: Path) -> None:
        self._command = command
        self._notes = notes
        self._process: subprocess.Popen[str] | None = None
        super().__init__(0)
        self.start()

    def start(self) -> None:
        """Start the server, as soon as its port is free; it has no behaviours then."""
        for _ in range(100):
            said = self._started()
            if said:
                super().__init__(int(said))
                return
            self.kill()
            time.sleep(0.05)
        raise OSError(f"nothing can listen on port {self.port}.")

    def _started(self) -> str:
        """Start the server; return its port, or nothing where somebody else has that."""
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {_NOTES: str(self._notes)},
        )
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill(self) -> None:
        """End the server at once, whatever it is doing."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def noted(self) -> tuple[Counter[str], Counter[str]]:
        """Return how often what was asked, and answered, of all servers so far, by content."""
        lines = self._notes.read_text().splitlines() if self._notes.exists() else []
        found: dict[str, Counter[str]] = {"asked": Counter(), "answered": Counter()}
        for line in lines:
            what, content = line.split()
            found[what][content] += 1
        return found["asked"], found["answered"]


@contextmanager
def serving(*, latency: float = 0.0, answer: str = "7") -> Iterator[Restartable]:
    """Run such a server in a process of its own for the length of a ``with`` block."""
    command = [sys.executable, str(Path(__file__).resolve())]
    command += ["--latency", str(latency), "--answer", answer]
    with TemporaryDirectory() as folder:
        server = Restartable(command, Path(folder) / "notes")
        try:
            yield server
        finally:
            server.kill()


if __name__ == "__main__":
    loopback.main(BreakingServer)
