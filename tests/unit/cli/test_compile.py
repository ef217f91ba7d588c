"""judgesmith compile: options, output and saved judge."""

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgesmith.cli.judge.calibration_options import NO_CALIBRATION
from judgesmith.cli.judge.compiled import _print_objective, print_again
from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.places import check_output, file_place, judge_place
from judgesmith.data.samples import sample_path
from judgesmith.programs import SavedCalibrated, SavedJudge, load_saved

# compile

LEVELS = {"system", "sample", "dataset"}
STATISTICS = {"pearson", "spearman", "kendall", "q"}
ESTIMATE = {"value", "low", "high", "confidence", "n", "n_groups", "n_undefined"}
KEYS = {
    *("judge", "target", "calls", "cost_usd", "rows"),
    *("uncompiled", "selection", "heldout", "gain", "optimism", "objective", "criteria"),
    *("confirmation", "notes"),
}
QUICK = ["--rounds", "2"]


def compiled(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, *options, "--json")
    assert done.status == 0, done.err
    return done


@pytest.mark.no_cover
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


@pytest.mark.no_cover
def test_without_held_out_rows_nothing_is_reported_on_them(run, data):
    done = compiled(run, data, *QUICK, "--holdout", "0")
    assert set(done.json) == KEYS
    assert [done.json[part] for part in ("uncompiled", "heldout", "gain", "optimism")] == [None] * 4
    assert done.json["rows"]["heldout"] == 0
    assert "nothing is known about unseen texts" in done.err
    assert (
        "Agreement on validation rows"
        in run("compile", data, "-o", "other", *QUICK, "--holdout", "0").out
    )


@pytest.mark.no_cover
def test_people_see_agreement_examples_and_what_to_do_next(run, data):
    done = run("compile", data, "-o", "judge", *QUICK)
    assert (done.status, done.err) == (0, "")
    assert "12 few-shot, 16 validation, 12 test rows; 0 unrated, 0 unscored" in done.out
    assert done.out.count("\n  response: ") == done.out.count("\n  because: ") == 2
    assert done.out.rstrip().endswith(f"judgesmith score judge {data} -o SCORES.jsonl")
    table = done.out.split("\n\n")[1:4]
    assert max(len(line) for part in table for line in part.splitlines()) <= 90


@pytest.mark.no_cover
def test_the_same_command_again_asks_nothing_and_says_the_same(run, data, folder):
    first = compiled(run, data, *QUICK).json
    before = (folder / "judge" / "judge.json").read_bytes()
    (folder / ".judgesmith" / "ledger.sqlite").unlink()
    again = compiled(run, data, *QUICK).json
    assert again == first | {"calls": 0, "notes": []}
    assert (folder / "judge" / "judge.json").read_bytes() == before
    assert "no model calls made" in run("compile", data, "-o", "judge", *QUICK).out


@pytest.mark.no_cover
def test_two_folders_of_one_run_hold_the_same_bytes(run, data, folder):
    compiled(run, data, *QUICK)
    compiled(run, data, *QUICK, out="other")
    files = [path.relative_to("judge") for path in Path("judge").rglob("*.*")]
    assert len(files) >= 4
    for name in files:
        assert (folder / "judge" / name).read_bytes() == (folder / "other" / name).read_bytes()


@pytest.mark.no_cover
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


@pytest.mark.no_cover
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


@pytest.mark.no_cover
def test_where_nothing_was_searched_the_judge_says_so(run, data):
    done = compiled(run, data, "--optimizer", "none")
    assert "nothing was searched: this is the baseline." in done.err
    assert done.json["gain"]["dataset"]["q"]["value"] == 0.0


@pytest.mark.no_cover
def test_flat_tables_are_read_through_a_map(run, folder, sample_rows):
    lines = ["article\tsummary\tstars"] + [
        f"{row['source']}\t{row['response']}\t{row['human']['overall'][0]}" for row in sample_rows
    ]
    table = folder / "flat.tsv"
    table.write_text("\n".join(lines) + "\n")
    options = ["--map", "source=article,response=summary,score=stars", "--scale", "1..5"]
    assert compiled(run, table, *QUICK, *options).json["rows"]["heldout"] == 12


@pytest.mark.no_cover
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
    # A judge that comes back as it was answers the report from the ledger.
    assert 0.5 * done.json["calls"] <= made <= done.json["calls"] <= done.json["max_calls"]
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


@pytest.mark.no_cover
def test_criteria_of_people_are_judged_each_by_itself(run, data):
    done = compiled(run, data, *QUICK, "--criteria", "human")
    assert done.json["target"] == "mean"
    assert set(done.json["criteria"]["heldout"]) == {"faithfulness", "fluency"}
    by_name = compiled(
        run, data, *QUICK, "--target", "fluency", "--target", "faithfulness", out="other"
    )
    assert by_name.json["heldout"] == done.json["heldout"]
    said = run("compile", data, "-o", "third", *QUICK, "--criteria", "human", "--full").out
    assert "By criterion, uncompiled" in said
    assert "By criterion, compiled" in said
    assert "criteria: faithfulness, fluency" in said
    assert "By criterion, Pearson over all rows held out" in run("show", "third").out


def test_a_rubric_may_define_what_people_rated(run, data, folder):
    (folder / "rubric.yaml").write_text("task: Judge it.\ncriteria:\n  FLUENCY: Ours, really?\n")
    options = [*QUICK, "--rubric", "rubric.yaml", "--target", "fluency", "--target", "overall"]
    compiled(run, data, *options)
    made = json.loads((folder / "judge" / "judge.json").read_text())
    (one,) = made["protocol"]["rubric"]["criteria"]
    assert (one["name"], one["definition"]) == ("fluency", "Ours, really?")
    assert made["settings"]["compared"] == ["fluency", "score"]


@pytest.mark.no_cover
def test_parts_can_be_left_out(run, data, folder):
    compiled(run, data, *QUICK, "--without", "mcs, search,weights,explanations")
    protocol = json.loads((folder / "judge" / "judge.json").read_text())["protocol"]
    assert (protocol["variant"], protocol["explain"]) == ("coarse", "none")
    assert protocol["demonstrations"] == {}
    assert protocol["aggregation"]["kind"] == "overall"


@pytest.mark.no_cover
def test_a_change_is_confirmed_unless_that_is_left_out(run, data, folder):
    found = compiled(run, data, *QUICK).json["confirmation"]
    (leader,) = found["leaders"]
    assert 0 < leader["p_value"] <= 1
    assert leader["n_compared"] == 1
    compiled(run, data, *QUICK, "--without", "confirmation", out="other")
    made = json.loads((folder / "other" / "judge.json").read_text())
    assert made["settings"]["confirm"] is None
    (leader,) = made["agreement"]["confirmation"]["leaders"]
    assert leader["p_value"] is None
    assert leader["passed"]


@pytest.mark.no_cover
def test_the_variants_questions_are_those_that_were_chosen(run, data, folder):
    options = ["--criteria-calls", "separate", "--explain", "after", "--criteria", "general"]
    compiled(run, data, "--rounds", "1", "--optimizer", "none", *options)
    prompts = sorted(path.name for path in (folder / "judge" / "prompts").iterdir())
    assert prompts == [*(f"assess_{n}.txt" for n in range(1, 7)), "overall.txt"]
    text = (folder / "judge" / "prompts" / "overall.txt").read_text()
    assert text.index("[[ ## score ## ]]") < text.index("[[ ## explanation ## ]]")


@pytest.mark.no_cover
def test_a_run_can_start_from_an_earlier_judge(run, data, judge, sample_rows, folder):
    more = folder / "more.jsonl"
    rows = [*sample_rows, *later_rows()]
    more.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = compiled(run, more, *QUICK, "--from", "judge", out="next")
    assert "earlier judge was made from" in done.err
    said = run("compile", more, "-o", "again", *QUICK, "--from", "judge").out
    assert "earlier" in said.split("dataset")[0]
    before, after = (json.loads((folder / n / "judge.json").read_text()) for n in ("judge", "next"))
    assert after["protocol"]["rubric"] == before["protocol"]["rubric"]
    assert len(after["settings"]["earlier"]) == 12
    assert compiled(run, more, *QUICK, "--from", "judge", out="next").json["calls"] == 0


def later_rows():
    lines = sample_path().read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[40:80]]


@pytest.mark.parametrize(
    ("options", "said", "where"),
    [
        (["--without", "serach"], "what can be left out is explanations, task", "--without"),
        (["--without", "mcs,os"], "without mcs and os nothing is scored", "--without"),
        (["--target", "fluenci"], "no ratings of 'fluenci'", "--target"),
        (["--target", "fluency", "--target", "fluency"], "every target is named once", None),
        (
            ["--target", "fluency", "--target", "overall", "--variant", "coarse"],
            "the coarse variant gives one",
            "--target",
        ),
        (["--objective", "accuracy"], "expected a known name", "--objective"),
        (["--criteria", "own"], "'own' is not one of", "--criteria"),
        (["--variant", "vanilla", "--without", "task"], "do not go together", None),
        (["--variant", "vanilla", "--explain", "after"], "do not go together", None),
        (["--variant", "vanilla", "--criteria", "human"], "do not go together", None),
        (["--criteria", "general", "--without", "criteria"], "do not go together", None),
        (["--criteria", "general", "--inference", "single"], "do not go together", None),
        (["--explain", "after", "--without", "explanations"], "do not go together", None),
        (["--criteria-calls", "separate", "--without", "mcs"], "do not go together", None),
        (["--lexical", "--without", "weights"], "do not go together", None),
        (["--from", "nowhere"], "no judge there", "nowhere"),
        (["--from", "judge", "--variant", "coarse"], "--from takes this", None),
        (["--variant", "coarse", "--criteria-calls", "separate"], "criteria_calls=separate", None),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(run, data, judge, folder, options, said, where):
    before = sorted(path.name for path in folder.iterdir())
    done = run("compile", data, "-o", "made", *options, "--json")
    assert (done.status, done.out) == (2, "")
    assert said in done.fault["error"]
    if where is not None:
        assert done.fault["where"] == where
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.no_cover
def test_a_judge_that_shows_no_criteria_names_none(run, data):
    done = run("compile", data, "-o", "judge", "--rounds", "1", "--variant", "vanilla")
    assert "criteria: none shown" in done.out
    card = run("show", "judge").out
    assert "fluency" not in card
    assert "- task:" not in card


@pytest.mark.no_cover
def test_one_number_has_one_interval(run, data):
    found = compiled(run, data, *QUICK).json
    assert found["objective"]["gain"] == found["gain"]["dataset"]["q"]
    assert found["objective"]["heldout"] == found["heldout"]["dataset"]["q"]


@pytest.mark.no_cover
def test_few_sources_held_out_are_cautioned_against(run, data):
    assert "3 sources are held out: an interval needs 5 or more." in compiled(run, data, *QUICK).err


@pytest.mark.no_cover
def test_answers_can_be_limited(run, data, folder):
    compiled(run, data, "--optimizer", "none", "--answer-tokens", "700")
    made = json.loads((folder / "judge" / "judge.json").read_text())
    assert made["protocol"]["max_tokens"] == 700
    short = compiled(run, data, "--optimizer", "none", "--answer-tokens", "400", out="short")
    assert short.json["rows"]["unscored"] == 0


# What compile prints of a judge says what is true of it.

AS_IT_IS = ["--optimizer", "none", "--criteria", "general"]


@pytest.mark.parametrize(
    ("optimism", "said"),
    [
        (-0.241, "1.241"),
        (0.241, "0.759"),
        (-1e-16, "1.000"),
    ],
)
def test_luck_is_above_or_below(optimism, said, capsys):
    chosen = SimpleNamespace(value=1.0)
    found = SimpleNamespace(name="q", targets=("score",), optimism=optimism, selection=chosen)
    _print_objective(found)
    assert (
        capsys.readouterr()
        .out.strip()
        .endswith(f"Q: 1.000 on the rows that the judge was selected by (test: {said})")
    )


@pytest.mark.no_cover
def test_the_score_of_a_judge_without_a_model_is_told_as_it_is(run, folder):
    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["references"] = [row["source"]]
    (folder / "data.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    options = ["--judge", "reference", "--optimizer", "none", "--without", "weights"]
    done = run("compile", "data.jsonl", "-o", "judge", *options)
    assert "score: rougeL against references" in done.out, done.err


@pytest.mark.no_cover
def test_the_same_run_again_says_that_there_is_no_calibration(run, folder, data, capsys):
    assert run("compile", data, "-o", "judge", *AS_IT_IS).status == 0
    saved = load_saved(folder / "judge")
    saved = saved.model_copy(update={"settings": {**saved.settings, NO_CALIBRATION: "too few."}})
    print_again(saved, folder, as_json=False)
    assert "note: the judge was saved without a calibration: too few." in capsys.readouterr().out
    print_again(saved, folder, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["calibration"], found["no_calibration"]) == (None, "too few.")


def test_a_judge_that_is_taken_as_it_is_has_one_column_and_no_gain(run, data):
    done = run("compile", data, "-o", "judge", *AS_IT_IS)
    assert done.status == 0, done.err
    table = done.out.partition("Agreement on test rows")[2].partition("Validation")[0]
    assert "baseline" in table
    assert not {"uncompiled", "gain", "+0.000"} & set(table.split())


# A judge can be compiled with a calibration, from rows that nothing else was learned from.

QUICK_COMPILE_CALIBRATED = ["--optimizer", "none", "--criteria", "general", "--holdout", ".3"]


def compiled_compile_calibrated(run, *options, out="judge"):
    done = run("compile", "sample", "-o", out, *QUICK_COMPILE_CALIBRATED, *options, "--json")
    assert done.status == 0, done.err
    return done


@pytest.mark.no_cover
def test_it_is_learned_from_rows_of_its_own_and_held_against_rows_held_out(run, folder):
    done = compiled_compile_calibrated(run, "--calibrate", "--confidence", ".8")
    found = done.json["calibration"]
    assert (found["n"], found["n_sources"]) == (32, 8)
    assert 0 <= found["covered"] <= 1
    saved = load_saved(folder / "judge")
    assert isinstance(saved, SavedCalibrated)
    own = set(saved.seen["calibrate"])
    assert len(own) == saved.calibration.n_map + saved.calibration.n_margin == 48
    assert not own & saved.members["judge"].seen_keys
    assert saved.rows["calibrate"] == done.json["rows"]["calibrate"] == 48
    assert "calibration: interval: " in done.err


@pytest.mark.no_cover
def test_its_scores_carry_their_intervals(run, folder):
    compiled_compile_calibrated(run, "--calibrate", "--confidence", ".8")
    assert run("score", "judge", "sample", "-o", "scores.jsonl").status == 0
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert all(row["low"] <= row["score"] <= row["high"] for row in rows)
    assert {row["abstained"] for row in rows} == {False}
    found = run("evaluate", "judge", "sample", "--json").json
    assert (found["rows"]["unseen"], found["rows"]["seen"]) == (32, 128)
    assert run("evaluate", "scores.jsonl", "sample").status == 0
    assert "# A calibrated judge" in run("show", "judge").out
    assert "===== judge/assess =====" in run("show", "judge", "--prompts").out


def test_texts_that_nobody_can_vouch_for_are_left_to_people(run, folder):
    compiled_compile_calibrated(run, "--calibrate", "--within", "0.01")
    assert run("score", "judge", "sample", "-o", "scores.jsonl").status == 0
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert {row["abstained"] for row in rows} == {True}
    assert all(row["score"] is None and "left to people" in row["problem"] for row in rows)


def test_a_distance_as_long_as_the_scale_is_refused_before_anything_is_asked(run, folder):
    refused = run(
        "compile",
        "sample",
        "-o",
        "judge",
        *QUICK_COMPILE_CALIBRATED,
        "--calibrate",
        "--within",
        "4",
    )
    assert refused.status == 2
    assert "scores on 1..5 always lie within 4 points of people" in refused.err
    assert not list(folder.iterdir())


@pytest.mark.no_cover
def test_the_same_command_again_asks_nothing(run, folder):
    first = compiled_compile_calibrated(run, "--calibrate")
    assert compiled_compile_calibrated(run, "--calibrate").json == first.json | {
        "calls": 0,
        "notes": [],
    }
    other = run(
        "compile",
        "sample",
        "-o",
        "judge",
        *QUICK_COMPILE_CALIBRATED,
        "--calibrate",
        "--confidence",
        ".7",
    )
    assert "holds a judge from another run" in other.err


@pytest.mark.no_cover
def test_what_it_would_cost_counts_the_calibration(run, folder):
    planned = compiled_compile_calibrated(run, "--calibrate", "--dry-run").json["calls"]
    assert compiled_compile_calibrated(run, "--calibrate").json["calls"] <= planned <= 320


@pytest.mark.no_cover
def test_what_it_took_is_told_beside_what_it_would_cost(run, folder):
    search = ["--optimizer", "reflective", "--trials", "1", "--calibrate"]
    planned = compiled_compile_calibrated(run, *search, "--dry-run").json["calls"]
    assert f"at most {planned} calls" in compiled_compile_calibrated(run, *search).err


def test_only_a_search_of_the_protocol_can_make_the_calibration_dearer(run, folder):
    def added(*options):
        plain, whole = (
            run("compile", "sample", "-o", "judge", *options, *more, "--dry-run", "--json").json
            for more in ([], ["--calibrate"])
        )
        return (
            whole["calls_at_most"] - plain["calls_at_most"] * 112 / 160
        )  # rows that are compiled from

    options = ["--criteria", "general", "--demonstrations", "0", "--rounds", "1"]
    assert added(*options, "--holdout", "0") == pytest.approx(48 * 2)
    search = ["--criteria", "general", "--holdout", "0", "--trials", "1"]
    rewriting, protocol = (added("--optimizer", one, *search) for one in ("reflective", "protocol"))
    assert rewriting < 48 * 2.5 < 48 * 6 < protocol


def test_rows_that_nobody_rated_are_too_few_before_anything_is_asked(run, folder):
    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    for row in rows[::2]:
        row["human"] = {}
    (folder / "half.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    done = run("compile", "half.jsonl", "-o", "judge", *QUICK_COMPILE_CALIBRATED, "--calibrate")
    assert done.status == 2
    assert "needs 40 rated rows of several among them; there would be 24 of 12" in done.err
    assert not (folder / "judge").exists()


@pytest.mark.parametrize("calls", [200, 300])
def test_a_run_that_the_budget_ended_goes_on(run, folder, calls):
    done = compiled_compile_calibrated(run, "--calibrate", "--max-calls", calls)
    saved = load_saved(folder / "judge")
    if isinstance(saved, SavedJudge):
        assert done.err.startswith("note: the judge was saved without a calibration: ")
        assert done.json["calibration"] is None
        assert done.json["no_calibration"] in done.err
    assert saved.settings["complete"] is False
    compiled_compile_calibrated(run, "--calibrate")
    compiled_compile_calibrated(run, "--calibrate", "--ledger", "new/ledger.sqlite", out="other")
    whole = (folder / "other" / "judge.json").read_bytes()
    assert (folder / "judge" / "judge.json").read_bytes() == whole


@pytest.mark.no_cover
def test_it_is_told_apart_from_the_judge_without(run, folder):
    compiled_compile_calibrated(run, "--calibrate")
    compiled_compile_calibrated(run, out="plain")
    assert 'kind: "calibrated" → (absent)' in run("show", "judge", "--diff", "plain").out
    refused = run("compile", "sample", "-o", "later", "--from", "judge")
    assert "expected one judge by itself; got a calibrated judge." in refused.err


def test_judgements_are_printed_on_the_scale_of_people_with_their_intervals(run):
    said = run("compile", "sample", "-o", "judge", *QUICK_COMPILE_CALIBRATED, "--calibrate").out
    shown = said[said.index("Two judgements") :]
    assert (
        len(re.findall(r"^  [1-5]\.\d \[\d\.\d\d, \d\.\d\d\] on 1\.\.5 \(raters", shown, re.M)) == 2
    )


# What is printed to go on with: the same model, at the same server, and no secret.

QUICK_SAVED_LINE = ["--criteria", "general", "--optimizer", "none", "--judge", "direct"]


@pytest.mark.no_cover
def test_the_line_to_go_on_with_asks_the_server_that_was_asked(run, data, server):
    asked = ["--model", "openai/m", "--api-base", server.url]
    done = run("compile", data, "-o", "a judge", *QUICK_SAVED_LINE, *asked)
    assert done.status == 0, done.err
    line = done.out.rstrip().splitlines()[-1]
    assert shlex.split(line) == [
        *("judgesmith", "score", "a judge", str(data), "-o", "SCORES.jsonl"),
        *("--model", "openai/m", "--api-base", server.url),
    ]


def test_nothing_more_is_printed_where_nothing_was_said_of_models(run, data):
    done = run("compile", data, "-o", "judge", *QUICK_SAVED_LINE)
    assert done.out.endswith(f"  judgesmith score judge {data} -o SCORES.jsonl\n")


@pytest.mark.no_cover
def test_without_a_key_it_is_said_that_a_judge_keeps_no_address(run, data, server, monkeypatch):
    asked = ["--model", "openai/m", "--api-base", server.url]
    assert run("compile", data, "-o", "judge", *QUICK_SAVED_LINE, *asked).status == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    command = ["score", "judge", data, "-o", "out.jsonl", "--ledger", "fresh.sqlite", "--json"]
    done = run(*command, "--allow-model", "openai/m")
    assert done.status == 2
    assert "needs a key" in done.fault["error"]
    assert done.fault["hint"].startswith("give --api-base")


# places


def test_a_place_in_a_folder_that_is_there_is_returned_and_left_alone(tmp_path):
    place = tmp_path / "out.jsonl"
    assert check_output(str(place)) == place
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_not_made(tmp_path):
    with pytest.raises(OptionError, match=r"there is no folder .*/a to put b in; make it"):
        check_output(str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_nothing_is_refused():
    with pytest.raises(OptionError, match="nothing can be written in /proc"):
        check_output("/proc/judge")


@pytest.mark.parametrize("nothing", ["", "/", "."])
def test_a_place_needs_a_name(nothing):
    with pytest.raises(OptionError, match="names no file or folder"):
        check_output(nothing)


def test_a_file_is_neither_a_folder_nor_what_is_read(tmp_path):
    read = tmp_path / "in.csv"
    read.write_text("a")
    assert file_place(str(tmp_path / "out.csv"), str(read), None, "-", like="out.csv").name
    with pytest.raises(OptionError, match=r"is read by this command; name another file"):
        file_place(str(read), "-", str(read), like="out.csv")
    with pytest.raises(OptionError, match=r"is a folder; name a file, such as out\.csv"):
        file_place(str(tmp_path), like="out.csv")


def test_a_judge_replaces_nothing_but_a_judge(tmp_path):
    place = tmp_path / "judge"
    assert judge_place(str(place)) == place
    place.mkdir()
    with pytest.raises(OptionError, match="is there and holds no judge; name another folder"):
        judge_place(str(place))
    (place / "judge.json").touch()
    assert judge_place(str(place)) == place
