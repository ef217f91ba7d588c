"""``exemplars``: the texts that a judge compares with, on file."""

import json

import pytest


@pytest.fixture
def exemplar_judge(run, data):
    usual = ["--judge", "exemplar", "--choose", "levels=3", "--criteria", "general"]
    assert run("compile", data, "-o", "judge", *usual, "--optimizer", "none").status == 0
    return "judge"


def test_exemplars_are_written_and_their_order_told(run, data, exemplar_judge, folder):
    done = run("exemplars", exemplar_judge, data, "-o", "out.jsonl")
    assert done.status == 0, done.err
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    n = len(rows) // 3
    assert f"{len(rows)} exemplars of {n} sources in out.jsonl" in done.out
    assert "neighbouring levels in order: " in done.out
    assert set(rows[0]) == {
        *("source_id", "criterion", "level", "levels", "text", "flags", "above"),
        *("writer", "judge"),
    }
    again = run("exemplars", exemplar_judge, data, "-o", "out.jsonl", "--force", "--json")
    told = again.json
    assert (told["exemplars"], told["sources"], told["calls"]) == (len(rows), n, 0)
    assert told["in_order"]["n"] == 2 * n
    assert told["in_order"]["low"] < told["in_order"]["value"]


@pytest.mark.no_cover
def test_another_writer_may_be_named(run, data, exemplar_judge, folder):
    done = run("exemplars", exemplar_judge, data, "-o", "out.jsonl", "--role", "writer=offline")
    assert done.status == 0, done.err
    assert json.loads((folder / "out.jsonl").read_text().split("\n")[0])["writer"] == "offline"


def test_a_file_that_is_there_stays(run, data, exemplar_judge, folder):
    (folder / "out.jsonl").write_text("mine\n")
    done = run("exemplars", exemplar_judge, data, "-o", "out.jsonl")
    assert done.status == 2
    assert "out.jsonl is there already; name another file" in done.err.replace("\n", " ") or (
        "out.jsonl is there already" in done.err
    )
    assert (folder / "out.jsonl").read_text() == "mine\n"


def test_other_judges_have_none(run, data, judge):
    done = run("exemplars", judge, data, "-o", "out.jsonl")
    assert done.status == 2
    assert "writes no exemplars" in done.err
