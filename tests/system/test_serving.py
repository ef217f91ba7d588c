"""Judge over HTTP, by a process of its own on a real socket."""

import json
import subprocess
import sys
from urllib import error, request

import pytest


@pytest.fixture
def served(story, judge):
    """The address of a server of two judges."""
    names = [f"quick={judge()}", judge("annotator")]
    call = [sys.executable, "-m", "judgesmith", "serve", *names, "--port", "0", "--json"]
    process = subprocess.Popen(
        [*call, "--max-items", "8", "--max-chars", "5000"],
        cwd=story.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = json.loads(process.stdout.readline())
    yield told["address"]
    process.terminate()
    out, err = process.communicate(timeout=120)
    story.keep("the end", [process.returncode, out, story.plain.lines(err)])


def test_serve(story, served, sample_rows):
    item = {name: sample_rows[0][name] for name in ("source_id", "system_id", "source", "response")}
    items = [{**item, "response": row["response"]} for row in sample_rows[:3]]

    def ask(path, value=None, kind="application/json"):
        body = None
        if value is not None:
            body = value if isinstance(value, bytes) else json.dumps(value).encode()
        sent = request.Request(served + path, data=body, headers={"Content-Type": kind})
        try:
            with request.urlopen(sent) as reply:
                status, text, said = reply.status, reply.read().decode(), reply.headers
        except error.HTTPError as fault:
            status, text, said = fault.code, fault.read().decode(), fault.headers
        kind = said["Content-Type"].partition(";")[0]
        if kind == "application/json":
            found = story.plain.whole_or_parts(json.loads(text), whole=len(text) < 9000)
        elif kind == "application/x-ndjson":
            found = story.plain.table([json.loads(line) for line in text.splitlines()])
        else:
            found = len(text) > 100
        story.keep(path, [status, kind, found])

    ask("/")
    ask("/healthz")
    ask("/v1/judges")
    ask("/v1/judges/quick")
    for name in ("quick", "annotator"):
        ask(f"/v1/judges/{name}/judge", item)
        ask(f"/v1/judges/{name}/batch", {"items": items})
        ask(f"/v1/judges/{name}/batch", items)
        lines = "".join(json.dumps(one) + "\n" for one in items).encode()
        ask(f"/v1/judges/{name}/stream", lines, "application/x-ndjson")
    ask("/v1/judges/none/judge", item)
    ask("/v1/judges/quick/judge", {"responce": "misspelt"})
    ask("/v1/judges/quick/judge", b"{")
    ask("/v1/judges/quick/judge", {"response": "x" * 6000})
    ask("/v1/judges/quick/batch", {"items": items * 4})
    ask("/openapi.json")
