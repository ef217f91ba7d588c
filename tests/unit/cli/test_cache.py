"""Recordings and the cache from the command line."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from judgesmith.programs.lm.engines import NativeEngine
from judgesmith.programs.offline import OfflineEngine

# Commands that ask models are recorded, and come to the same without model, key or network.


@pytest.fixture
def silent(monkeypatch):
    """Make every model fail that is asked."""

    def refuse(*_):
        raise AssertionError("a model was asked")

    def silence():
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.setattr(OfflineEngine, "answer", refuse)
        monkeypatch.setattr(NativeEngine, "complete", refuse)
        monkeypatch.setattr(NativeEngine, "complete_sync", refuse)

    return silence


def test_a_compiled_judge_is_made_again_from_its_cassette_alone(run, data, folder, silent):
    asked = ("compile", data, "--rounds", "1")
    assert run(*asked, "-o", "judge", "--record", "run.jsonl").status == 0
    (folder / ".judgesmith").rename(folder / "elsewhere")
    silent()
    done = run(*asked, "-o", "again", "--replay", "run.jsonl", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    assert not (folder / ".judgesmith").exists()
    for path in (folder / "judge").rglob("*"):
        if path.is_file():
            again = folder / "again" / path.relative_to(folder / "judge")
            assert again.read_bytes() == path.read_bytes(), path
    done = run("compile", data, "--rounds", "2", "-o", "other", "--replay", "run.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "--replay")
    assert "no recorded answer to the request" in done.fault["error"]


def test_failed_requests_fail_again_in_the_same_words(
    run, data, folder, server, silent, sample_rows
):
    assert run("compile", data, "-o", "judge", "--variant", "vanilla", "--optimizer", "none").out
    contains = sample_rows[3]["response"][:40]
    server.script({"contains": contains, "status": 400, "body": "no such thing"})
    asked = ("score", "judge", data, "--model", "openai/m", "--api-base", server.url)
    ends = ("--record", "run.jsonl.gz", "--max-calls", "20", "--ledger", "own.sqlite")
    done = run(*asked, "-o", "own.jsonl", *ends)
    assert done.status == 0
    assert "19 answers and 21 failed requests are in run.jsonl.gz" in done.out
    n_requests = server.counts()["requests"]
    silent()
    done = run(*asked, "-o", "again.jsonl", "--replay", "run.jsonl.gz", "--json")
    assert (done.status, done.json["calls"], done.json["unscored"]) == (0, 0, 21)
    assert server.counts()["requests"] == n_requests
    assert (folder / "again.jsonl").read_bytes() == (folder / "own.jsonl").read_bytes()
    assert any("HTTP 400" in problem for problem in done.json["problems"])


def test_what_was_done_before_is_not_recorded_in_part(run, data, folder):
    asked = ("compile", data, "--optimizer", "none", "-o", "judge")
    assert run(*asked).status == 0
    done = run(*asked, "--record", "run.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "--record")
    assert "its answers would be missing" in done.fault["error"]
    assert run(*asked, "--record", "run.jsonl", "--force").status == 0
    head, *answers = (folder / "run.jsonl").read_text().splitlines()
    assert json.loads(head)["answers"] == len(answers) > 40


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("discern", "own.jsonl:me", "data.jsonl"), "is read by this command"),
        (("score", "judge", "data.jsonl", "--ledger", "own.jsonl"), "what --ledger names, too"),
    ],
)
def test_a_cassette_replaces_nothing_that_is_read_or_holds_answers(run, data, folder, asked, says):
    (folder / "own.jsonl").write_text("what is there")
    done = run(*asked, "-o", "out.jsonl", "--record", "own.jsonl", "--force", "--json")
    assert (done.status, done.fault["where"]) == (2, "--record")
    assert says in done.fault["error"]
    assert (folder / "own.jsonl").read_text() == "what is there"


# ledger


@pytest.fixture
def ledger(run, judge, data):
    run("score", judge, data, "-o", "out.jsonl")
    return ".judgesmith/ledger.sqlite"


def test_a_damaged_ledger_says_how_what_is_sound_is_rescued(run, ledger, folder, judge, data):
    path = folder / ledger
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE answers SET text = x'313030' WHERE id = 5")
        connection.commit()
    fault = run("ledger", "export", "--json", "-o", "answers.jsonl").fault
    assert "is damaged (an answer was changed after it was kept)" in fault["error"]
    assert f"judgesmith cache rescue --ledger {path} -o NEW" in fault["hint"]
    assert not (folder / "answers.jsonl").exists()
    done = run("ledger", "rescue", "--ledger", ledger, "-o", "new.sqlite", "--json")
    assert done.json == {"ledger": ledger, "output": "new.sqlite", "answers": 79, "altered": 1}
    done = run("score", judge, data, "-o", "again.jsonl", "--ledger", "new.sqlite", "--json")
    assert (done.status, done.json["calls"], done.json["unscored"]) == (0, 1, 0)
    assert (folder / "again.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()


# ledger place

SCORE = """
import sys
from judgesmith.cli import main
assert main(["score", "judge", "data.jsonl", "-o", "out.jsonl"]) == 0
assert not any(name.split(".")[0] in ("psycopg", "sqlalchemy") for name in sys.modules)
"""
NOBODY = "postgresql://me:secret@127.0.0.1:9/x"
SEARCH = ["--optimizer", "protocol", "--criteria", "general"]


def test_the_environment_names_the_ledger_and_an_option_another(
    run, judge, data, folder, monkeypatch
):
    monkeypatch.setenv("JUDGESMITH_LEDGER", "named/ledger.sqlite")
    assert run("score", judge, data, "-o", "one.jsonl").status == 0
    assert (folder / "named" / "ledger.sqlite").is_file()
    assert run("score", judge, data, "-o", "two.jsonl", "--ledger", "other.sqlite").status == 0
    stats = [
        run("ledger", "stats", "--json", *said).json for said in ([], ["--ledger", "other.sqlite"])
    ]
    assert stats[0]["answers"] == stats[1]["answers"] > 0
    assert not (folder / ".judgesmith").exists()


@pytest.mark.no_cover
def test_scoring_on_a_file_loads_no_driver_of_a_database(judge, data, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCORE], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("said", "blamed"),
    [
        (["--ledger", NOBODY], "--ledger"),
        ([*SEARCH, "--storage", NOBODY], "--storage"),
        ([*SEARCH, "--ledger", NOBODY, "--storage", "sqlite:///x"], "--ledger"),
    ],
)
def test_a_database_that_does_not_answer_is_refused_before_anything_is_asked(
    run, data, folder, said, blamed
):
    done = run("compile", data, "-o", "new", "--json", *said)
    assert (done.status, done.fault["where"]) == (2, blamed)
    assert "secret" not in done.err
    assert not (folder / ".judgesmith").exists()
