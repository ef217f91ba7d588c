import io

import pytest


@pytest.fixture
def told(run, judge, data):
    def said(*more, **kept):
        done = run("score", judge, data, "-o", "new.jsonl", "--dry-run", *more, **kept)
        assert (done.status, done.err) == (0, "")
        return done

    return said


def row_of(text, name):
    (line,) = [one for one in text.splitlines() if one.startswith(name)]
    return line.removeprefix(name).split()


def test_nothing_is_asked_or_written(told, folder):
    before = sorted(folder.rglob("*"))
    assert "nothing was asked" in told("--ledger", "none.sqlite").out
    told("--ledger", "none.sqlite", "--model", "openai/gpt-4o-mini")
    assert sorted(folder.rglob("*")) == before


def test_rows_a_million_and_a_thousand_million_stand_side_by_side(told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    options = ["--model", "openai/m", "--price", "1,4", "--seconds-per-call", "3", "--ledger", "no"]
    text = told(*options, "--concurrency", "64").out
    assert row_of(text, "calls  ") == ["80", "2,000,000", "2,000,000,000"]
    assert row_of(text, "time")[:2] == ["4", "s"]
    assert row_of(text, "  bound by") == ["answers"] * 3
    assert row_of(text, "  requests under way") == ["1", "70", "69,400"]
    assert "64 texts at a time, 3 s a call (as given)" in text
    assert row_of(told(*options, "--rpm", "10").out, "  bound by") == ["--rpm"] * 3


def test_rows_on_record_cost_nothing(run, told, judge, data):
    run("score", judge, data, "-o", "done.jsonl")
    found = told("--json").json
    assert [one["calls"] for one in found["sizes"]] == [0, 2_000_000, 2_000_000_000]
    assert found["looked_up"] == {"rows": 40, "on_record": 40}


def test_what_this_very_run_has_written_is_not_in_the_way(run, judge, data, told, folder):
    run("score", judge, data, "-o", "new.jsonl")
    run("score", judge, data, "-o", "scores/")
    before = {one: one.read_bytes() for one in folder.rglob("*.json*") if one.is_file()}
    told()
    assert run("score", judge, data, "-o", "scores/", "--dry-run").status == 0
    assert {one: one.read_bytes() for one in before} == before
    other = run("score", judge, data, "-o", "new.jsonl", "--model", "openai/m", "--dry-run")
    assert other.status == 2
    assert "new.jsonl holds this judge's rows for another input or model" in other.err
    forced = run(
        "score", judge, data, "-o", "new.jsonl", "--model", "openai/m", "--dry-run", "--force"
    )
    assert forced.status == 0


def test_rows_on_standard_input_are_counted_from_the_first_on(run, judge, data, monkeypatch):
    for output in ("new.jsonl", "scores/"):
        given = io.TextIOWrapper(io.BytesIO(data.read_bytes()))
        monkeypatch.setattr("sys.stdin", given)
        done = run("score", judge, "-", "-o", output, "--dry-run", "--json")
        assert done.json["sizes"][0]["rows"] == 40


def test_an_unknown_price_is_said(told):
    text = told("--model", "openai/m", "--ledger", "none.sqlite").out
    assert row_of(text, "cost")[0] == "unknown"
    assert "--price IN,OUT" in text


def test_it_fits_a_narrow_terminal(told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "48")
    text = told("--model", "openai/m", "--price", "1,4", "--ledger", "none.sqlite").out
    assert max(map(len, text.splitlines())) <= 48
