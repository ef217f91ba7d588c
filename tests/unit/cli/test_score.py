import fcntl
import json

import pytest

pytestmark = pytest.mark.no_cover


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def out(folder):
    return folder / "out.jsonl"


def test_every_row_of_the_input_has_its_row_in_order(run, judge, data, out, sample_rows):
    done = run("score", judge, data, "-o", out)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"40 rows in {out}, 0 without a score\n")
    rows = rows_of(out)
    ids = [(row["source_id"], row["system_id"]) for row in rows]
    assert ids == [(row["source_id"], row["system_id"]) for row in sample_rows]
    assert set(rows[0]) == {
        *("source_id", "system_id", "score", "explanation", "criteria", "errors", "problem"),
        *("key", "judge", "target", "run"),
    }


def test_ratings_in_the_input_change_nothing(run, judge, data, out, folder, sample_rows):
    run("score", judge, data, "-o", out)
    bare = folder / "bare.jsonl"
    unrated = [{**row, "human": {"overall": ["?"]}, "scale": {}} for row in sample_rows]
    bare.write_text("".join(json.dumps(row) + "\n" for row in unrated))
    assert run("score", judge, bare, "-o", folder / "other.jsonl").status == 0
    assert (folder / "other.jsonl").read_bytes() == out.read_bytes()


def test_the_same_command_again_writes_the_same_and_asks_nothing(run, judge, data, out):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    done = run("score", judge, data, "-o", out, "--json")
    assert done.json["calls"] == 0
    assert out.read_bytes() == before


def test_the_bundled_sample_can_be_scored_by_name(run, judge, out):
    assert run("score", judge, "sample", "-o", out, "--json").json["rows"] == 160


def test_a_bad_row_is_named_and_nothing_is_written(run, judge, data, out, folder):
    lines = data.read_text().splitlines()
    lines[6] = '{"source": '
    data.write_text("\n".join(lines))
    done = run("score", judge, data, "-o", out)
    assert done.status == 2
    assert "data.jsonl:7: line: expected one JSON object" in done.err
    assert not out.exists()
    assert not list(folder.glob(".out*"))


def test_a_spent_budget_is_stated_and_no_failure(run, judge, data, out):
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20"]
    done = run("score", judge, data, "-o", out, *options)
    assert done.status == 0
    assert "× not asked: the budget of 20 calls is spent" in done.out
    again = run("score", judge, data, "-o", out, *options, "--json").json
    assert again["calls"] == 0
    more = run("score", judge, data, "-o", out, *options[:-1], "1000", "--json").json
    assert (more["unscored"], more["calls"]) == (0, 60)


def test_rows_of_another_run_are_kept_unless_forced(run, judge, data, out, folder, sample_rows):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    other = folder / "other.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in sample_rows[1:]))
    done = run("score", judge, other, "-o", out)
    assert done.status == 2
    assert "holds this judge's rows for another input or model" in done.err
    assert out.read_bytes() == before
    assert run("score", judge, other, "-o", out, "--force").status == 0
    assert len(rows_of(out)) == 39


def test_a_file_that_has_grown_is_the_same_run(run, judge, data, out, sample_rows):
    run("score", judge, data, "-o", out)
    with data.open("a") as file:
        file.write(json.dumps({**sample_rows[0], "source_id": "new", "system_id": "x"}) + "\n")
    done = run("score", judge, data, "-o", out, "--json")
    assert (done.status, done.json["rows"], done.json["calls"]) == (0, 41, 0)


def test_rows_are_not_replaced_by_fewer_nor_scores_by_failures(run, judge, data, out, folder):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    first, *_ = data.read_text().splitlines()
    (folder / "short.jsonl").write_text(first + "\n")
    done = run("score", judge, folder / "short.jsonl", "-o", out)
    assert done.status == 2
    assert "holds 40 rows, 40 with a score, and this run has 1, 1 with a score" in done.err
    spent = ("--ledger", folder / "fresh.sqlite", "--max-calls", "4")
    done = run("score", judge, data, "-o", out, *spent)
    assert done.status == 2
    assert "replace this one with --force" in done.err
    assert out.read_bytes() == before
    assert run("score", judge, data, "-o", out, *spent, "--force").status == 0
    assert out.read_bytes() != before


def test_rows_of_an_input_that_only_begins_alike_are_kept(
    run, judge, data, out, folder, sample_rows
):
    run("score", judge, data, "-o", out)
    before = out.read_bytes()
    other = folder / "other.jsonl"
    changed = [*sample_rows[:20], sample_rows[20] | {"response": "New."}, *sample_rows[21:]]
    other.write_text("".join(json.dumps(row) + "\n" for row in changed))
    fresh = ("--ledger", folder / "fresh.sqlite")
    done = run("score", judge, other, "-o", out, *fresh, "--json")
    assert done.status == 2
    assert done.fault["where"] == f"{out}:21"
    assert (
        f"expected the texts of row 21 of this run, '{sample_rows[20]['source_id']}'"
        in (done.fault["error"])
    )
    assert done.fault["hint"].endswith("or replace this one with --force.")
    assert out.read_bytes() == before
    assert not list(folder.glob(".out*"))
    assert run("score", judge, other, "-o", out, "--force").status == 0


def test_a_broken_line_in_the_earlier_file_is_named(run, judge, data, out):
    run("score", judge, data, "-o", out)
    lines = out.read_text().splitlines()
    out.write_text("\n".join([*lines[:6], lines[6][:40], *lines[7:]]) + "\n")
    before = out.read_bytes()
    done = run("score", judge, data, "-o", out)
    assert done.status == 2
    assert f"error: {out}:7: expected a row of this run, as one JSON object; got '{{" in done.err
    assert "(name another file (the answers are on record), or replace this one" in done.err
    assert out.read_bytes() == before


def test_drafts_of_killed_runs_are_cleared_away_and_others_left(run, judge, data, out, folder):
    orphan, own = folder / ".out.jsonl-0123abcd.part", folder / ".out.jsonl-89abcdef.part"
    orphan.write_text("half")
    with own.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        run("score", judge, data, "-o", out)
    assert not orphan.exists()
    assert own.exists()


def test_the_judge_is_asked_through_its_own_model_unless_told_otherwise(run, judge, data, out):
    done = run("score", judge, data, "-o", out, "--model", "nonsense")
    assert done.status == 2
    assert "got 'nonsense'" in done.err


def test_scores_of_texts_that_have_changed_since_are_not_compared_with_people(
    run, judge, data, out, sample_rows
):
    run("score", judge, data, "-o", out)
    assert run("evaluate", out, data).status == 0
    changed = [*sample_rows[:-1], {**sample_rows[-1], "response": "Something else."}]
    data.write_text("".join(json.dumps(row) + "\n" for row in changed))
    done = run("evaluate", out, data)
    assert done.status == 2
    assert f"out.jsonl:{len(sample_rows)}: key: expected a score of the texts that" in done.err
