import json

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
    assert "there is no ledger at" in done.err
    assert list(folder.iterdir()) == []
