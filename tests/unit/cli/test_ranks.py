"""Judges whose scores are ranks within a source, on the command line."""

import pytest

PAIRS = ["--judge", "pairs", "--criteria", "general", "--optimizer", "none"]


@pytest.fixture
def pairs_judge(run, data):
    done = run("compile", data, "-o", "pairs", *PAIRS, "--objective", "q@sample")
    assert done.status == 0, done.err
    return "pairs"


@pytest.mark.no_cover
def test_evaluate_tells_figures_within_sources_alone_and_says_why(run, data, pairs_judge):
    done = run("evaluate", pairs_judge, data)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert "sample" in lines
    assert not {"dataset", "system"} & set(lines)
    assert "note: scores of pairs are ranks within a source" in done.out


@pytest.mark.no_cover
def test_compare_decides_within_sources_and_says_why(run, data, judge, pairs_judge):
    done = run("compare", pairs_judge, judge, data)
    assert done.status == 0, done.err
    assert "Spearman at sample level" in " ".join(done.out.split())
    assert "note: scores of pairs are ranks within a source" in done.out
    told = run("compare", pairs_judge, judge, data, "--json")
    assert told.json["objective"]["name"] == "spearman@sample"
    assert told.json["objective"]["gain"]["value"] is not None


def test_compare_refuses_to_decide_over_sources_before_anything_is_asked(
    run, data, judge, pairs_judge
):
    done = run("compare", pairs_judge, judge, data, "--objective", "q", "--json")
    assert done.status == 2
    assert done.fault == {
        "error": "scores of pairs are ranks within a source, and q compares sources.",
        "where": "--objective",
        "hint": "say --objective q@sample.",
    }


@pytest.mark.no_cover
def test_scores_on_file_do_not_tell_that_they_are_ranks_and_score_says_so(run, data, pairs_judge):
    done = run("score", pairs_judge, data, "-o", "scores.jsonl", "--json")
    assert "note: scores are ranks within a source, which the file does not say" in done.err


def test_what_decides_need_not_be_said(run, data):
    done = run("compile", data, "-o", "pairs", *PAIRS)
    assert done.status == 0, done.err
    assert "note: --objective was not given: q@sample was looked at" in done.out
    assert "Validation q@sample:" in done.out


def test_an_objective_that_compares_sources_is_refused_by_the_option_to_say(run, data):
    done = run("compile", data, "-o", "pairs", *PAIRS, "--objective", "spearman", "--json")
    assert (done.status, done.fault["where"]) == (2, "--objective")
    assert done.fault["hint"] == "say --objective spearman@sample."
    done = run("compile", data, "-o", "pairs", *PAIRS, "--objective", "q + scored", "--json")
    assert done.fault["hint"] == "say q@sample in --objective."


@pytest.mark.no_cover
@pytest.mark.parametrize("optimizer", ["random", "protocol", "none"])
def test_a_run_may_start_from_a_judge_that_ranks(run, data, pairs_judge, optimizer):
    again = ["--from", pairs_judge, "--optimizer", optimizer]
    again += ["--trials", "2"] if optimizer == "protocol" else []
    done = run("compile", data, "-o", "again", *again)
    assert done.status == 0, done.err
    assert "note: --objective was not given: q@sample was looked at" in done.out


def test_what_a_run_from_a_judge_that_ranks_is_chosen_by_compares_no_sources(
    run, data, pairs_judge
):
    again = ["compile", data, "-o", "again", "--from", pairs_judge, "--objective", "q", "--json"]
    done = run(*again)
    assert (done.status, done.fault["where"]) == (2, "--objective")
    assert done.fault["hint"] == "say --objective q@sample."
