"""The tutorial holds to its end: its commands, its files, and a server that answers its request."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from sessions import ROOT, run_session

pytestmark = pytest.mark.no_cover

PAGE = ROOT / "docs" / "tutorials" / "your-csv.md"
SHOWN = "http://127.0.0.1:8000"
AS_SCORED = {"score", "explanation", "criteria", "errors", "problem", "key", "judge", "target"}


def part(start):
    """Return the section of the page whose heading begins with ``start``."""
    text = PAGE.read_text(encoding="utf-8")
    return re.search(rf"^## {start}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[0]


def shown_row(folder):
    """Return the row that the page shows, and the one in the file that it is."""
    shown = json.loads(re.search(r"```json\n(.*?)```", part("4"), re.DOTALL)[1])
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    (row,) = [one for one in rows if one["score"] == pytest.approx(shown["score"], abs=1e-6)]
    return shown, row


def answered(folder):
    """Start the server of the page, make its request, stop the server, and return the answer."""
    serve, request = re.findall(r"```sh\n(.*?)```", part("9"), re.DOTALL)
    words = serve.split()
    assert words[0] == "judgesmith"
    assert SHOWN in request
    with subprocess.Popen(
        [sys.executable, "-m", *words, "--port", "0", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ) as server:
        try:
            address = json.loads(server.stdout.readline())["address"]
            done = subprocess.run(
                ["bash", "-c", request.replace(SHOWN, address.rstrip("/"))],
                stdout=subprocess.PIPE,
                check=True,
                timeout=60,
                env={**os.environ, "no_proxy": "*"},
            )
        finally:
            server.send_signal(signal.SIGTERM)
    assert server.returncode == 0
    return json.loads(done.stdout)


# One test, as what comes first on the page is needed by what comes after it.
def test_whoever_follows_the_page_sees_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_session(PAGE, tmp_path) == []
    shown, row = shown_row(tmp_path)
    assert set(shown) == set(row) - {"key"}
    assert row["explanation"].startswith(shown["explanation"].partition("…")[0])
    assert (row["source_id"], row["system_id"]) == (shown["source_id"], shown["system_id"])
    for name, criterion in shown["criteria"].items():
        assert row["criteria"][name]["score"] == criterion["score"]
    if shutil.which("curl"):
        answer = answered(tmp_path)
        assert {name: answer[name] for name in AS_SCORED} == {name: row[name] for name in AS_SCORED}


def test_the_files_shown_are_those_that_the_commands_read():
    rubric, experiment, *_ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    edited, provenance, _ = rubric.partition("provenance:\n")
    examples = ROOT / "examples"
    assert (examples / "support_rubric.yaml").read_text("utf-8").startswith(edited + provenance)
    assert (examples / "support_experiment.yaml").read_text("utf-8") == experiment
