import json
import sqlite3
from contextlib import closing

import pytest


@pytest.fixture
def ledger(run, judge, data):
    run("score", judge, data, "-o", "out.jsonl")
    return ".judgesmith/ledger.sqlite"


def test_stats_count_answers_by_model(run, ledger):
    assert "80 answers from 80 calls" in run("ledger", "stats").out
    found = run("ledger", "stats", "--json").json
    assert [(one["model"], one["answers"]) for one in found["models"]] == [("offline", 80)]


def test_export_writes_every_answer(run, ledger, folder):
    lines = run("ledger", "export").out.splitlines()
    assert len({json.loads(line)["identity"] for line in lines}) == 80
    done = run("ledger", "export", "-o", "answers.jsonl")
    assert done.out == "80 answers in answers.jsonl\n"
    assert (folder / "answers.jsonl").read_text().splitlines() == lines


def test_export_to_standard_output_has_no_room_for_json(run, ledger):
    done = run("ledger", "export", "--json")
    assert (done.status, done.out) == (2, "")
    assert done.fault["error"] == "--json leaves no room for the answers."
    assert done.fault["hint"] == "name a file with -o."


def test_prune_takes_out_what_it_is_told(run, ledger):
    assert run("ledger", "prune", "--older-than-days", "1", "--json").json["removed"] == 0
    assert run("ledger", "prune", "--model", "openai/m", "--json").json["removed"] == 0
    done = run("ledger", "prune", "--model", "offline")
    assert done.out == f"80 answers taken out of {ledger}\n"
    assert "0 answers from 80 calls" in run("ledger", "stats").out


def test_prune_wants_to_know_what(run, ledger):
    assert run("ledger", "prune").status == 2


def test_a_look_at_no_ledger_makes_none(run, folder):
    done = run("ledger", "stats", "--ledger", "missing.sqlite")
    assert done.status == 2
    assert "there is no cache at" in done.err
    assert list(folder.iterdir()) == []


def test_a_damaged_ledger_says_how_what_is_sound_is_rescued(run, ledger, folder, judge, data):
    path = folder / ledger
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE answers SET text = x'313030' WHERE id = 5")
        connection.commit()
    fault = run("ledger", "export", "--json", "-o", "answers.jsonl").fault
    assert "is damaged (an answer is not as it was kept)" in fault["error"]
    assert f"judgesmith cache rescue --ledger {path} -o NEW" in fault["hint"]
    assert not (folder / "answers.jsonl").exists()
    done = run("ledger", "rescue", "--ledger", ledger, "-o", "new.sqlite", "--json")
    assert done.json == {"ledger": ledger, "output": "new.sqlite", "answers": 79, "altered": 1}
    done = run("score", judge, data, "-o", "again.jsonl", "--ledger", "new.sqlite", "--json")
    assert (done.status, done.json["calls"], done.json["unscored"]) == (0, 1, 0)
    assert (folder / "again.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()


def test_rescue_replaces_nothing(run, ledger, folder):
    (folder / "new.sqlite").write_text("mine")
    done = run("ledger", "rescue", "-o", "new.sqlite")
    assert (done.status, (folder / "new.sqlite").read_text()) == (2, "mine")
    assert "new.sqlite is there already" in done.err
