"""A judge can be compiled with a calibration, from rows that nothing else was learned from."""

import json
import re

import pytest

from judgesmith.data.samples import sample_path
from judgesmith.programs import SavedCalibrated, SavedJudge, load_saved

QUICK = ["--optimizer", "none", "--criteria", "general", "--holdout", ".3"]


def compiled(run, *options, out="judge"):
    done = run("compile", "sample", "-o", out, *QUICK, *options, "--json")
    assert done.status == 0, done.err
    return done


@pytest.mark.no_cover
def test_it_is_learned_from_rows_of_its_own_and_held_against_rows_held_out(run, folder):
    done = compiled(run, "--calibrate", "--confidence", ".8")
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
    compiled(run, "--calibrate", "--confidence", ".8")
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
    compiled(run, "--calibrate", "--within", "0.01")
    assert run("score", "judge", "sample", "-o", "scores.jsonl").status == 0
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert {row["abstained"] for row in rows} == {True}
    assert all(row["score"] is None and "left to people" in row["problem"] for row in rows)


def test_a_distance_as_long_as_the_scale_is_refused_before_anything_is_asked(run, folder):
    refused = run("compile", "sample", "-o", "judge", *QUICK, "--calibrate", "--within", "4")
    assert refused.status == 2
    assert "scores on 1..5 always lie within 4 points of people" in refused.err
    assert not list(folder.iterdir())


@pytest.mark.no_cover
def test_the_same_command_again_asks_nothing(run, folder):
    first = compiled(run, "--calibrate")
    assert compiled(run, "--calibrate").json == first.json | {"calls": 0}
    other = run("compile", "sample", "-o", "judge", *QUICK, "--calibrate", "--confidence", ".7")
    assert "holds a judge from another run" in other.err


@pytest.mark.no_cover
def test_what_it_would_cost_counts_the_calibration(run, folder):
    planned = compiled(run, "--calibrate", "--dry-run").json["calls"]
    assert compiled(run, "--calibrate").json["calls"] <= planned <= 320


@pytest.mark.no_cover
def test_what_it_took_is_told_beside_what_it_would_cost(run, folder):
    search = ["--optimizer", "reflective", "--trials", "1", "--calibrate"]
    planned = compiled(run, *search, "--dry-run").json["calls"]
    assert f"at most {planned} calls" in compiled(run, *search).err


def test_only_a_search_of_the_protocol_can_make_the_calibration_dearer(run, folder):
    def added(*options):
        plain, whole = (
            run("compile", "sample", "-o", "judge", *options, *more, "--dry-run", "--json").json
            for more in ([], ["--calibrate"])
        )
        return whole["calls"] - plain["calls"] * 112 / 160  # rows that are compiled from

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
    done = run("compile", "half.jsonl", "-o", "judge", *QUICK, "--calibrate")
    assert done.status == 2
    assert "needs 40 rated rows of several among them; there would be 24 of 12" in done.err
    assert not (folder / "judge").exists()


@pytest.mark.parametrize("calls", [200, 300])
def test_a_run_that_the_budget_ended_goes_on(run, folder, calls):
    done = compiled(run, "--calibrate", "--max-calls", calls)
    saved = load_saved(folder / "judge")
    if isinstance(saved, SavedJudge):
        assert done.err.startswith("note: the judge was saved without a calibration: ")
        assert done.json["calibration"] is None
        assert done.json["no_calibration"] in done.err
    assert saved.settings["complete"] is False
    compiled(run, "--calibrate")
    compiled(run, "--calibrate", "--ledger", "new/ledger.sqlite", out="other")
    whole = (folder / "other" / "judge.json").read_bytes()
    assert (folder / "judge" / "judge.json").read_bytes() == whole


@pytest.mark.no_cover
def test_it_is_told_apart_from_the_judge_without(run, folder):
    compiled(run, "--calibrate")
    compiled(run, out="plain")
    assert 'kind: "calibrated" → (absent)' in run("show", "judge", "--diff", "plain").out
    refused = run("compile", "sample", "-o", "later", "--from", "judge")
    assert "expected one judge by itself; got a calibrated judge." in refused.err


def test_judgements_are_printed_on_the_scale_of_people_with_their_intervals(run):
    said = run("compile", "sample", "-o", "judge", *QUICK, "--calibrate").out
    shown = said[said.index("Two judgements") :]
    assert (
        len(re.findall(r"^  [1-5]\.\d \[\d\.\d\d, \d\.\d\d\] on 1\.\.5 \(people", shown, re.M)) == 2
    )
