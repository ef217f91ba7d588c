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

    def test_compile_fails_and_the_same_command_mends_it(
        self, run, on_server, data, server, sample_rows
    ):
        options = [*on_server, "--optimizer", "none"]
        broken(server, sample_rows[:12])
        done = run("compile", data, "-o", "made", *options)
        assert (done.status, "warning: 12 of 40 rows" in done.err) == (1, True)
        server.forget()
        done = run("compile", data, "-o", "made", *options, "--json")
        assert (done.status, done.json["rows"]["unscored"]) == (0, 0)
        assert 12 <= done.json["calls"] <= 24
        assert run("compile", data, "-o", "made", *options, "--json").json["calls"] == 0


class TestAskedAnew:
    def test_a_finished_run_that_is_started_again_asks_what_it_could_not_read(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        for output in ("out.jsonl", "scores/"):
            score = ["score", judge, data, *asked, "-o", output, "--json"]
            score += ["--ledger", f"{output[:3]}.sqlite"]
            written = folder / (output if output.endswith("l") else "scores/data.jsonl")
            first = run(*score)
            assert (first.json["calls"], first.json["unscored"]) == (43, 3)
            again = run(*score)
            assert (again.json["calls"], again.json["unscored"]) == (6, 3)
            server.forget()
            mended = run(*score)
            assert (mended.status, mended.json["calls"], mended.json["unscored"]) == (0, 3, 0)
            assert unscored_in(written) == []
            before = written.read_bytes()
            assert run(*score).json["calls"] == 0
            assert written.read_bytes() == before
            broken(server, sample_rows[5:8])

    def test_one_that_goes_on_keeps_its_answers_until_it_is_finished(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "--ledger", "own.sqlite", "-o", "out.jsonl"]
        score += ["--max-unscored", "1", "--json", "--max-calls"]
        assert run(*score, "20").json["calls"] == 20
        assert run(*score, "30").json["calls"] == 10
        server.forget()
        done = run(*score, "1000").json
        assert (done["calls"], done["unscored"]) == (13, 3)
        assert run(*score, "43").json["unscored"] == 3
        assert run(*score, "1000").json["calls"] == 3
        assert unscored_in(folder / "out.jsonl") == []

    def test_rows_without_a_score_are_asked_about_where_that_is_said(
        self, run, graded, data, server, sample_rows
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "--ledger", "own.sqlite", "-o", "out.jsonl"]
        score += ["--max-unscored", "1", "--json", "--max-calls"]
        assert run(*score, "20").json["unscored"] == 23 + 3
        server.forget()
        done = run(*score, "1000", "--retry-unscored").json
        assert (done["calls"], done["unscored"]) == (23 + 3, 0)

    def test_an_evaluation_asks_anew_too(self, run, graded, data, server, sample_rows):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        evaluate = ["evaluate", judge, data, *asked, "--ledger", "own.sqlite", "--json"]
        assert run(*evaluate).json["rows"]["unscored"] == 3
        server.forget()
        assert run(*evaluate).json["rows"]["unscored"] == 0

    def test_what_was_asked_anew_is_played_as_it_was_recorded(
        self, run, graded, data, server, sample_rows, folder
    ):
        judge, *asked = graded
        broken(server, sample_rows[5:8])
        score = ["score", judge, data, *asked, "-o"]
        own = ["--ledger", "own.sqlite"]
        run(*score, "out.jsonl", *own)
        server.forget()
        recorded = run(*score, "out.jsonl", *own, "--force", "--record", "tape.jsonl")
        assert recorded.status == 0, recorded.err
        asked_before = server.counts()["requests"]
        assert run(*score, "played.jsonl", "--replay", "tape.jsonl").status == 0
        assert (folder / "played.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()
        assert server.counts()["requests"] == asked_before
