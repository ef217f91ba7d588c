import json
from pathlib import Path

import pytest

LEVELS = {"system", "sample", "dataset"}
STATISTICS = {"pearson", "spearman", "kendall", "q"}
ESTIMATE = {"value", "low", "high", "confidence", "n", "n_groups", "n_undefined"}
KEYS = {
    *("judge", "target", "calls", "cost_usd", "rows"),
    *("uncompiled", "selection", "heldout", "gain", "optimism", "criteria"),
}
QUICK = ["--rounds", "2"]


def compiled(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, *options, "--json")
    assert done.status == 0, done.err
    return done


def test_the_report_has_the_shapes_that_are_promised(run, data):
    found = compiled(run, data, *QUICK).json
    assert set(found) == KEYS
    assert found["rows"] == {"train": 12, "select": 16, "heldout": 12, "unscored": 0}
    assert (found["judge"], found["target"], found["cost_usd"]) == ("judge", "overall", 0.0)
    for part in ("uncompiled", "selection", "heldout", "gain"):
        assert set(found[part]) == LEVELS
        for statistics in found[part].values():
            assert set(statistics) == STATISTICS
            assert all(set(one) >= ESTIMATE for one in statistics.values())
    chosen, held = (found[part]["dataset"]["q"]["value"] for part in ("selection", "heldout"))
    assert found["optimism"]["dataset"]["q"] == pytest.approx(chosen - held)


def test_without_held_out_rows_nothing_is_reported_on_them(run, data):
    done = compiled(run, data, *QUICK, "--holdout", "0")
    assert set(done.json) == KEYS
    assert [done.json[part] for part in ("uncompiled", "heldout", "gain", "optimism")] == [None] * 4
    assert done.json["rows"]["heldout"] == 0
    assert "nothing is known about unseen texts" in done.err
    assert (
        "Agreement on the rows it was chosen by"
        in run("compile", data, "-o", "other", *QUICK, "--holdout", "0").out
    )


def test_people_see_agreement_examples_and_what_to_do_next(run, data):
    done = run("compile", data, "-o", "judge", *QUICK)
    assert (done.status, done.err) == (0, "")
    assert "rows: 12 to show, 16 to choose by, 12 held out, 0 unrated, 0 unscored" in done.out
    assert done.out.count("\n  response: ") == done.out.count("\n  because: ") == 2
    assert done.out.rstrip().endswith("judgesmith score judge INPUT.jsonl -o SCORES.jsonl")
    table = done.out.split("\n\n")[1:4]
    assert max(len(line) for part in table for line in part.splitlines()) <= 90


def test_the_same_command_again_asks_nothing_and_says_the_same(run, data, folder):
    first = compiled(run, data, *QUICK).json
    before = (folder / "judge" / "judge.json").read_bytes()
    (folder / ".judgesmith" / "ledger.sqlite").unlink()
    again = compiled(run, data, *QUICK).json
    assert again == first | {"calls": 0}
    assert (folder / "judge" / "judge.json").read_bytes() == before
    assert "nothing was asked" in run("compile", data, "-o", "judge", *QUICK).out


def test_two_folders_of_one_run_hold_the_same_bytes(run, data, folder):
    compiled(run, data, *QUICK)
    compiled(run, data, *QUICK, out="other")
    files = [path.relative_to("judge") for path in Path("judge").rglob("*.*")]
    assert len(files) >= 4
    for name in files:
        assert (folder / "judge" / name).read_bytes() == (folder / "other" / name).read_bytes()


def test_a_judge_of_another_run_is_kept_unless_forced(run, data, folder):
    compiled(run, data, *QUICK)
    before = (folder / "judge" / "judge.json").read_bytes()
    done = run("compile", data, "-o", "judge", *QUICK, "--seed", "1")
    assert done.status == 2
    assert "name another folder, or replace it with --force." in done.err
    assert (folder / "judge" / "judge.json").read_bytes() == before
    compiled(run, data, *QUICK, "--seed", "1", "--force")
    assert (folder / "judge" / "judge.json").read_bytes() != before
    assert not list(folder.glob(".judge-*"))


def test_options_reach_the_judge(run, data, folder):
    rubric = folder / "rubric.yaml"
    rubric.write_text("task: Judge a summary.\ncriteria:\n  brevity: Is it short?\n")
    compiled(run, data, *QUICK, "--rubric", rubric, "--target", "fluency", "--no-texts")
    made = json.loads((folder / "judge" / "judge.json").read_text())
    assert made["target"] == "fluency"
    assert [one["name"] for one in made["protocol"]["rubric"]["criteria"]] == ["brevity"]
    assert made["golden"] == []
    compiled(run, data, "--optimizer", "none", "--variant", "vanilla", out="bare")
    bare = json.loads((folder / "bare" / "judge.json").read_text())
    assert (list(bare["questions"]), bare["history"]) == (["grade"], [])


def test_where_nothing_was_searched_the_judge_says_so(run, data):
    done = compiled(run, data, "--optimizer", "none")
    assert "nothing was searched: this is the judge as it was." in done.err
    assert done.json["gain"]["dataset"]["q"]["value"] == 0.0


def test_flat_tables_are_read_through_a_map(run, folder, sample_rows):
    lines = ["article\tsummary\tstars"] + [
        f"{row['source']}\t{row['response']}\t{row['human']['overall'][0]}" for row in sample_rows
    ]
    table = folder / "flat.tsv"
    table.write_text("\n".join(lines) + "\n")
    options = ["--map", "source=article,response=summary,score=stars", "--scale", "1..5"]
    assert compiled(run, table, *QUICK, *options).json["rows"]["heldout"] == 12


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--rounds", "1"],
        ["--variant", "vanilla"],
        ["--demonstrations", "0"],
        ["--optimizer", "none"],
        ["--holdout", "0"],
    ],
)
def test_a_dry_run_asks_nothing_and_its_bound_holds(run, data, folder, options):
    options = [*QUICK, *options]
    done = run("compile", data, "-o", "judge", *options, "--dry-run", "--json")
    assert done.status == 0
    assert sorted(path.name for path in folder.iterdir()) == ["data.jsonl"]
    made = compiled(run, data, *options).json["calls"]
    assert 0.6 * done.json["calls"] <= made <= done.json["calls"] <= done.json["max_calls"]
    assert (
        f"{done.json['calls']} calls if every answer can be read"
        in run("compile", data, "-o", "judge", *options, "--dry-run").out
    )


def test_a_dry_run_knows_what_it_costs_or_that_it_does_not(run, data):
    options = [*QUICK, "--dry-run", "--json", "--model", "openai/unheard-of"]
    assert compiled(run, data, *options).json["cost_usd"] is None
    priced = compiled(run, data, *options, "--price", "1,2").json
    tokens = priced["input_tokens"] + 2 * priced["output_tokens"]
    assert priced["cost_usd"] == pytest.approx(tokens / 1e6)
