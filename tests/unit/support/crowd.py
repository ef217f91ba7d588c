"""Clients of a server of judges, many at once: some send garbage, some leave before the answer."""

import asyncio
import json
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

GARBAGE = (
    b"{",
    b"[]",
    b"\xff\xfe",
    b'{"response": 7}',
    b'{"source": "no response"}',
    b'{"responce": "misspelled"}',
    b'{"response": "\\ud800"}',
    b"[" * 5000,
    b'{"response": "' + b"long " * 60_000 + b'"}',
)
REFUSED = {400, 401, 403, 404, 405, 408, 413, 415, 422}
BUSY = {429, 503}


@dataclass
class Reply:
    """What a server answered."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Client:
    """One connection to a server, from an address, which is opened anew when it was closed."""

    def __init__(self, address, source=None):
        self.source = source
        parts = urlsplit(address)
        self.host, self.port = parts.hostname, parts.port
        self.reader = self.writer = None

    async def send(self, method, path, body=b"", *, kind="application/json", more=b"", **headers):
        """Send a request; ``more`` is raw text after it."""
        if self.writer is None or self.writer.is_closing() or self.reader.at_eof():
            self.reader, self.writer = await asyncio.open_connection(
                self.host, self.port, local_addr=self.source and (self.source, 0)
            )
        head = {"Host": f"{self.host}:{self.port}", "Content-Type": kind, **headers}
        head = {"Content-Length": str(len(body)), **head} if body is not None else head
        text = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
        self.writer.write(f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode() + (body or b"") + more)
        await self.writer.drain()

    async def reply(self):
        """Return the answer to what was sent."""
        status, headers = await self.head()
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while chunk := await self.chunk():
                body += chunk
        else:
            body = await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return Reply(status, headers, body)

    async def head(self):
        """Return status and headers of an answer."""
        first = await self.reader.readuntil(b"\r\n")
        status = int(first.split()[1])
        headers = {}
        while (line := await self.reader.readuntil(b"\r\n")) != b"\r\n":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip().lower()
        return status, headers

    async def chunk(self):
        """Return a part of an answer, empty at its end."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        part = await self.reader.readexactly(size + 2)
        return part[:-2]

    async def ask(self, method, path, body=b"", **options):
        """Send a request and return the answer."""
        await self.send(method, path, body, **options)
        return await self.reply()

    def close(self):
        """Leave, whatever is on its way."""
        if self.writer is not None:
            self.writer.transport.abort()
        self.writer = None


@dataclass
class Tally:
    """What a crowd was told."""

    right: int = 0
    left: int = 0
    wrong: list = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    slowest: float = 0.0

    def hold(self, found, expected):
        """Compare rows with those that there should be."""
        if found == expected:
            self.right += len(expected)
        else:
            self.wrong.append((found, expected))


async def visit(address, name, items, rows, *, requests, rng, tally):
    """Make requests of every kind, one after the other."""
    client = Client(address)
    base = f"/v1/judges/{name}"
    for _ in range(requests):
        chance = rng.random()
        some = rng.sample(range(len(items)), rng.randint(2, 6))
        sent = [items[n] for n in some]
        expected = [rows[n] for n in some]
        if chance < 0.15:
            await bother(client, base, rng, tally)
        elif chance < 0.25:
            many = json.dumps({"items": sent}).encode()
            await client.send("POST", f"{base}/batch", many)
            await asyncio.sleep(rng.random() * 0.02)
            client.close()
            tally.left += 1
        elif chance < 0.35:
            reply = await client.ask("POST", f"{base}/batch", json.dumps({"items": sent}).encode())
            tally.statuses[reply.status] += 1
            if reply.status == 200:
                tally.hold(reply.json["results"], expected)
        elif chance < 0.45:
            body = b"".join(json.dumps(one).encode() + b"\n" for one in sent)
            kind = "application/x-ndjson"
            reply = await client.ask("POST", f"{base}/stream", body, kind=kind)
            tally.statuses[reply.status] += 1
            if reply.status == 200:
                tally.hold(reply.lines, expected)
        else:
            reply = await client.ask("POST", f"{base}/judge", json.dumps(sent[0]).encode())
            tally.statuses[reply.status] += 1
            if reply.status == 200:
                tally.hold([reply.json], expected[:1])
        if tally.statuses[429]:
            await asyncio.sleep(0.05)
    client.close()


async def bother(client, base, rng, tally):
    """Send something that no server should take."""
    path = rng.choice(("judge", "judge", "batch", "stream", "other", "../judges"))
    kind = "application/x-ndjson" if path == "stream" else "application/json"
    body = rng.choice(GARBAGE)
    if rng.random() < 0.2:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await client.send("POST", f"{base}/{path}", None, more=rng.randbytes(300))
            await asyncio.wait_for(client.reader.read(1000), 60)
        client.close()
        return
    reply = await client.ask("POST", f"{base}/{path}", body, kind=kind)
    tally.statuses[reply.status] += 1
    refused = reply.lines[0] if path == "stream" and reply.status == 200 else reply.json
    if set(refused) != {"error", "where", "hint"}:
        tally.wrong.append((reply, "a refusal"))


async def crowd(address, name, items, rows, *, clients, requests, seed=0):
    """Let clients visit a server at the same time, and return what they were told."""
    tally = Tally()
    visits = [
        visit(
            address,
            name,
            items,
            rows,
            requests=requests,
            rng=random.Random(f"{seed} {n}"),
            tally=tally,
        )
        for n in range(clients)
    ]
    await asyncio.gather(*visits)
    return tally
