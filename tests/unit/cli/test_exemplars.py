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


def test_the_same_command_again_continues_and_asks_nothing_twice(run, data, exemplar_judge, folder):
    assert run("exemplars", exemplar_judge, data, "-o", "out.jsonl").status == 0
    first = (folder / "out.jsonl").read_bytes()
    again = run("exemplars", exemplar_judge, data, "-o", "out.jsonl", "--json")
    assert (again.status, again.json["calls"]) == (0, 0), again.err
    assert (folder / "out.jsonl").read_bytes() == first


@pytest.mark.no_cover
def test_a_budget_that_ends_leaves_a_file_from_which_the_same_command_goes_on(
    run, data, exemplar_judge, folder
):
    usual = ["exemplars", exemplar_judge, data, "-o", "out.jsonl", "--ledger", "fresh.sqlite"]
    short = run(*usual, "--max-calls", "3")
    assert short.status == 0, short.err
    n_short = len((folder / "out.jsonl").read_text().splitlines())
    assert run(*usual).status == 0
    rows = (folder / "out.jsonl").read_text().splitlines()
    assert len(rows) == 3 * 10 > n_short


def test_a_file_of_something_else_stays(run, data, exemplar_judge, folder):
    (folder / "out.jsonl").write_text("mine\n")
    done = run("exemplars", exemplar_judge, data, "-o", "out.jsonl", "--json")
    assert done.status == 2
    assert done.fault["where"] == "out.jsonl:1"
    assert "out.jsonl:1: expected an exemplar of this judge" in done.fault["error"]
    assert (folder / "out.jsonl").read_text() == "mine\n"


def test_exemplars_of_other_sources_stay(run, data, exemplar_judge, folder, sample_rows):
    assert run("exemplars", exemplar_judge, data, "-o", "out.jsonl").status == 0
    first = (folder / "out.jsonl").read_bytes()
    (folder / "few.jsonl").write_text(json.dumps(sample_rows[0]) + "\n")
    done = run("exemplars", exemplar_judge, "few.jsonl", "-o", "out.jsonl", "--json")
    assert done.status == 2
    assert "out.jsonl holds 30 exemplars, 27 of which this run does not have" in done.fault["error"]
    assert (folder / "out.jsonl").read_bytes() == first


def test_nothing_to_write_for_is_refused(run, exemplar_judge, folder):
    (folder / "empty.jsonl").write_text("")
    done = run("exemplars", exemplar_judge, "empty.jsonl", "-o", "out.jsonl", "--json")
    assert done.status == 2
    assert "empty.jsonl: file: expected at least one row; got none" in done.fault["error"]
    assert not (folder / "out.jsonl").exists()


def test_other_judges_have_none(run, data, judge):
    done = run("exemplars", judge, data, "-o", "out.jsonl")
    assert done.status == 2
    assert "writes no exemplars" in done.err
