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

PAGE = ROOT / "docs" / "tutorial.md"
SHOWN = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Return the folder in which somebody has followed the page, up to the server."""
    folder = tmp_path_factory.mktemp("shop")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder, run_session(PAGE, folder)


def part(start):
    """Return the section of the page whose heading begins with ``start``."""
    text = PAGE.read_text(encoding="utf-8")
    return re.search(rf"^## {start}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[0]


def test_every_command_prints_the_lines_it_shows(shop):
    _, wrong = shop
    assert wrong == []


def test_the_files_shown_are_those_that_the_commands_read():
    rubric, experiment, *_ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    edited, provenance, _ = rubric.partition("provenance:\n")
    examples = ROOT / "examples"
    assert (examples / "support_rubric.yaml").read_text("utf-8").startswith(edited + provenance)
    assert (examples / "support_experiment.yaml").read_text("utf-8") == experiment


def shown_row(folder):
    """Return the row that the page shows, and the one in the file that it is."""
    shown = json.loads(re.search(r"```json\n(.*?)```", part("4"), re.DOTALL)[1])
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    (row,) = [one for one in rows if one["score"] == pytest.approx(shown["score"], abs=1e-6)]
    return shown, row


def test_the_row_shown_is_one_that_was_written(shop):
    shown, row = shown_row(shop[0])
    assert set(shown) == set(row) - {"key"}
    assert row["explanation"].startswith(shown["explanation"].partition("…")[0])
    for name, criterion in shown["criteria"].items():
        assert row["criteria"][name]["score"] == criterion["score"]
    assert (row["source_id"], row["system_id"]) == (shown["source_id"], shown["system_id"])


@pytest.mark.skipif(shutil.which("curl") is None, reason="the request is made with curl")
def test_the_server_answers_the_request_as_shown(shop):
    folder, _ = shop
    serve, request = re.findall(r"```sh\n(.*?)```", part("9"), re.DOTALL)
    words = serve.split()
    assert words[0] == "judgesmith"
    with subprocess.Popen(
        [sys.executable, "-m", *words, "--port", "0", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ) as server:
        try:
            address = json.loads(server.stdout.readline())["address"]
            assert SHOWN in request
            asking = ["bash", "-c", request.replace(SHOWN, address.rstrip("/"))]
            direct = {**os.environ, "no_proxy": "*"}
            done = subprocess.run(
                asking, stdout=subprocess.PIPE, check=True, timeout=60, env=direct
            )
        finally:
            server.send_signal(signal.SIGTERM)
    assert server.returncode == 0
    _, row = shown_row(folder)
    answer = json.loads(done.stdout)
    told = {"score", "explanation", "criteria", "errors", "problem", "key", "judge", "target"}
    assert {name: answer[name] for name in told} == {name: row[name] for name in told}
