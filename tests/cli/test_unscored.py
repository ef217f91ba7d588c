"""Rows without a score: how many are too many, and when they are asked about again."""

import json

import pytest

pytestmark = pytest.mark.no_cover

UNREADABLE = "I would rather not say."


@pytest.fixture
def graded(run, on_server, data):
    """A judge that asks the server one question per text; its options for other commands."""
    asked = [*on_server[:4]]
    options = ["--optimizer", "none", "--ledger", "made.sqlite"]
    assert run("compile", data, "-o", "graded", *on_server, *options).status == 0
    return ["graded", *asked]


def broken(server, rows, **script):
    """Have the server answer questions about these rows with what cannot be read."""
    server.script(
        *({"contains": row["response"][:40], "answer": UNREADABLE, **script} for row in rows)
    )


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def unscored_in(path):
    return [row for row in rows_of(path) if row["score"] is None]


class TestTooMany:
    def test_score_warns_of_the_main_reason_and_fails(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "--ledger", "own.sqlite", "-o"]
        done = run(*score, "out.jsonl")
        assert done.status == 1
        assert "warning: 3 of 40 rows that were asked about have no score, more than 5%" in done.err
        assert "the model's answer could not be read" in done.err
        assert len(unscored_in(folder / "out.jsonl")) == 3
        assert run(*score, "two.jsonl", "--max-unscored", ".1").status == 0
        assert run(*score, "three.jsonl", "--json").json["unscored"] == 3

    def test_rows_that_a_budget_did_not_reach_do_not_count(self, run, graded, data, folder):
        judge, *asked = graded
        asked += ["--ledger", "own.sqlite", "--max-calls", "10"]
        done = run("score", judge, data, *asked, "-o", "out.jsonl")
        assert (done.status, "warning" in done.err) == (0, False)
        assert len(unscored_in(folder / "out.jsonl")) == 30

    def test_evaluate_fails_of_a_judge_and_of_its_scores(
        self, run, graded, data, server, sample_rows
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        asked += ["--ledger", "own.sqlite"]
        done = run("evaluate", judge, data, *asked)
        assert (done.status, "warning: 3 of 40 rows" in done.err) == (1, True)
        assert run("evaluate", judge, data, *asked, "--max-unscored", ".1").status == 0
        run("score", judge, data, *asked, "-o", "out.jsonl")
        done = run("evaluate", "out.jsonl", data, "--json")
        assert (done.status, "warning: 3 of 40 rows" in done.err) == (1, True)
        assert done.json["rows"]["unscored"] == 3
