import json
import shutil

import pytest

from judgesmith.cli import main

RUBRIC = "task: Judge.\ncriteria:\n  faithfulness: Is it true?\n  fluency: Is it well written?\n"


@pytest.fixture(scope="module")
def teachers(tmp_path_factory, sample_rows):
    """A judge that lists errors, with its ledger, and some texts."""
    place = tmp_path_factory.mktemp("teachers")
    rows = "".join(json.dumps(row) + "\n" for row in sample_rows[:16])
    (place / "data.jsonl").write_text(rows, encoding="utf-8")
    (place / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    files = [str(place / "data.jsonl"), "-o", str(place / "teacher")]
    options = [
        "--judge",
        "annotator",
        "--optimizer",
        "none",
        "--rubric",
        str(place / "rubric.yaml"),
    ]
    ledger = ["--ledger", str(place / "ledger.sqlite")]
    assert main(["compile", *files, *options, *ledger]) == 0
    return place


@pytest.fixture
def place(folder, teachers):
    shutil.copytree(teachers, folder, dirs_exist_ok=True)
    return folder


DISTIL = ["distil", "data.jsonl", "teacher", "-o", "student", "--ledger", "ledger.sqlite"]


def test_texts_become_chats_and_the_same_command_says_the_same(run, place):
    dry = run(*DISTIL, "--dry-run", "--json").json
    assert dry == {"calls": 32, "outputs": 16}
    assert not (place / "student").exists()
    first = run(*DISTIL, "--validation", "0.25", "--json")
    assert first.status == 0
    assert first.json["examples"] == {"train": 24, "validation": 8}
    assert first.json["left_out"] == {}
    before = {one.name: one.read_bytes() for one in (place / "student").iterdir()}
    again = run(*DISTIL, "--validation", "0.25")
    assert "24 examples for training and 8 for validation in student" in again.out
    assert {one.name: one.read_bytes() for one in (place / "student").iterdir()} == before
    another = run(*DISTIL, "--outputs", "1", "--json")
    assert another.fault["where"] == "--output"
    assert "data of another run" in another.fault["error"]
    assert run(*DISTIL, "--outputs", "1", "--force").status == 0


def test_sources_of_a_test_set_are_left_out(run, place, sample_rows):
    held = [row | {"response": "x"} for row in sample_rows[:4]]
    (place / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held))
    found = run(*DISTIL, "--exclude", "test.jsonl", "--json")
    assert (found.json["sources"], found.json["sources_excluded"]) == (3, 1)
    assert "note: 1 source left out: shared with what was to be excluded." in found.err


def test_a_spent_budget_is_no_failure_and_says_that_there_is_nothing(run, place):
    command = [*DISTIL[:-1], "new.sqlite", "--max-calls", "0"]
    found = run(*command)
    assert found.status == 0
    assert "not asked, as the budget was spent" in found.out
    assert "note: there is nothing to learn from" in found.out
