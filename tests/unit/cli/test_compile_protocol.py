import inspect
import json

import pytest

from judgesmith.cli.judge.compile import command
from judgesmith.cli.judge.compile_options import settings_of
from judgesmith.cli.shared.model_options import ModelChoice

QUICK = ["--optimizer", "protocol", "--trials", "5", "--criteria", "general"]


def compiled(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, *QUICK, *options, "--json")
    assert done.status == 0, done.err
    return done


def history(folder, out="judge"):
    saved = json.loads((folder / out / "judge.json").read_text())
    return [one for one in saved["history"] if one["stage"] == "protocol"]


@pytest.mark.no_cover
def test_a_judge_is_made_and_its_search_is_kept_beside_the_ledger(run, data, folder):
    done = compiled(run, data)
    assert done.json["heldout"]["dataset"]["q"]["n"] == 12
    assert len(history(folder)) == 6
    searches = folder / ".judgesmith" / "searches"
    run_id = json.loads((folder / "judge" / "judge.json").read_text())["settings"]["run"]
    assert {one.name for one in searches.iterdir()} >= {f"{run_id}.journal", f"{run_id}.jsonl"}
    assert "calls were made" in done.err
    assert "the estimate was about" in done.err


@pytest.mark.no_cover
def test_the_same_command_again_asks_nothing(run, data, folder):
    first = compiled(run, data)
    before = (folder / "judge" / "judge.json").read_bytes()
    assert compiled(run, data).json == first.json | {"calls": 0}
    again = compiled(run, data, out="other")
    assert again.json["calls"] == 0
    assert (folder / "other" / "judge.json").read_bytes() == before


@pytest.mark.no_cover
def test_a_run_that_the_budget_ended_goes_on(run, data, folder):
    done = compiled(run, data, "--max-calls", "120")
    assert "the budget is spent" in done.err
    done = compiled(run, data)
    compiled(run, data, "--ledger", "new/ledger.sqlite", out="other")
    whole = (folder / "other" / "judge.json").read_bytes()
    assert (folder / "judge" / "judge.json").read_bytes() == whole


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("option", "fixed"),
    [
        (["--variant", "coarse"], {"variant"}),
        (["--explain", "after"], {"explain"}),
        (["--criteria-calls", "separate"], {"variant", "criteria_calls"}),
        (["--without", "explanations"], {"explain"}),
        (["--without", "os"], {"variant", "overall"}),
        ([], {"rubric", "samples"}),
    ],
    ids=lambda given: "-".join(sorted(given)) or "none",
)
def test_what_an_option_says_is_not_searched(run, data, folder, option, fixed):
    compiled(run, data, *option)
    for one in history(folder):
        assert not fixed & set(one["picked"])


@pytest.mark.no_cover
def test_the_number_of_samples_is_searched_on_request(run, data, folder):
    compiled(run, data, "--vary-samples", "--trials", "8")
    assert len({one["picked"].get("samples") for one in history(folder)[1:]}) > 1


@pytest.mark.no_cover
def test_no_more_demonstrations_are_shown_than_the_option_says(run, data, folder):
    compiled(run, data, "--demonstrations", "1", "--trials", "8")
    assert {one["picked"].get("demonstrations", "0") for one in history(folder)} == {"0", "1"}


def test_a_dry_run_asks_nothing_and_says_what_is_usual_and_what_is_most(run, data, folder):
    done = run("compile", data, "-o", "judge", *QUICK, "--dry-run", "--json")
    assert sorted(path.name for path in folder.iterdir()) == ["data.jsonl"]
    made = compiled(run, data).json["calls"]
    assert 0 < made <= done.json["calls"]
    assert done.json["expected_calls"] < done.json["calls"]
    said = run("compile", data, "-o", "judge", *QUICK, "--dry-run").out
    assert f"Typically about {done.json['expected_calls']} calls" in said


@pytest.mark.parametrize(
    ("options", "blamed"),
    [
        (["--optimizer", "protocol", "--rounds", "3"], "--rounds"),
        (["--trials", "3"], "--trials"),
        (["--draws", "3"], "--draws"),
        (["--vary-samples"], "--vary-samples"),
        (["--optimizer", "none", "--storage", "sqlite:///x"], "--storage"),
    ],
)
def test_options_of_another_search_are_refused(run, data, options, blamed):
    done = run("compile", data, "-o", "judge", *options)
    assert done.status == 2
    assert f"{blamed} belongs to --optimizer" in done.err


@pytest.mark.no_cover
def test_a_search_that_keeps_no_study_minds_no_database(run, data, monkeypatch):
    monkeypatch.setenv("JUDGESMITH_STORAGE", "postgresql://nobody@127.0.0.1:1/none")
    options = ["--criteria", "general", "--optimizer"]
    assert run("compile", data, "-o", "judge", *options, "reflective").status == 0
    done = run("compile", data, "-o", "other", *options, "protocol")
    assert (done.status, "postgresql database" in done.err) == (2, True)


@pytest.mark.no_cover
@pytest.mark.parametrize("url", ["nowhere", "postgresql://me:secret@127.0.0.1:9/x", "odd://x"])
def test_a_storage_that_cannot_be_used_is_refused_and_its_secrets_are_kept(run, data, url):
    done = run("compile", data, "-o", "judge", *QUICK, "--storage", url)
    assert done.status == 2
    assert "secret" not in done.err + done.out


@pytest.mark.no_cover
def test_a_study_may_be_kept_in_a_database(run, data, folder):
    compiled(run, data, "--storage", "sqlite:///study.db", out="other")
    assert (folder / "study.db").is_file()
    compiled(run, data)
    judges = [(folder / out / "judge.json").read_bytes() for out in ("judge", "other")]
    assert judges[0] == judges[1]


@pytest.mark.no_cover
def test_screening_is_kept_in_the_settings_with_its_own_number_of_trials(run, data, folder):
    compiled(run, data, "--screen", "--trials", "14")
    settings = json.loads((folder / "judge" / "judge.json").read_text())["settings"]
    assert (settings["screen"], settings["n_trials"]) == (True, 14)
    tried = history(folder)
    assert len(tried) == 15
    assert sum(one["n_rows"] == tried[0]["n_rows"] for one in tried[1:]) == 2
    before = (folder / "judge" / "judge.json").read_bytes()
    assert compiled(run, data, "--screen", "--trials", "14", out="other").json["calls"] == 0
    assert (folder / "other" / "judge.json").read_bytes() == before


@pytest.mark.parametrize(
    ("said", "n"),
    [
        (["--screen"], 108),
        (["--screen", "--trials", "20"], 20),
        (["--trials", "20", "--screen"], 20),
        ([], 30),
    ],
)
def test_screening_has_a_number_of_trials_of_its_own_unless_one_is_said(said, n):
    given = ["sample", "-o", "judge", "--optimizer", "protocol", *said]
    with command.make_context("compile", given) as context:
        found = dict(context.params)
        ModelChoice.taken_from(found)
        apart = {*inspect.signature(command.callback).parameters, "record", "replay"}
        options = {name: value for name, value in found.items() if name not in apart}
        assert settings_of(None, first="offline", **options).n_trials == n
