"""``judgesmith prefer`` records comparisons that ``evaluate`` and ``compare`` read."""

import json

import pytest

COMPILE = ["--judge", "pairs", "--optimizer", "none", "--criteria", "general"]
WITHIN = ["--objective", "spearman@sample"]


@pytest.fixture
def pairs(run, data):
    """A judge that compares."""
    done = run("compile", data, "-o", "pairs", *COMPILE, *WITHIN, "--json")
    assert done.status == 0, done.err
    return "pairs"


def test_comparisons_are_recorded_and_evaluated(run, data, folder, pairs):
    done = run("prefer", pairs, data, "-o", "out.jsonl", "--json")
    assert done.status == 0, done.err
    assert done.json["unanswered"] == 0
    assert done.json["order"]["consistent"]["value"] == 1
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert len(rows) == 2 * done.json["pairs"]
    found = run("evaluate", "out.jsonl", data, "--json").json
    assert set(found["preferences"]) == {"given", "swapped", "combined"}
    again = run("prefer", pairs, data, "-o", "out.jsonl", "--json")
    assert again.json == done.json | {"calls": 0}


def test_a_sample_of_pairs_is_drawn_by_the_seed(run, data, folder, pairs):
    said = run("prefer", pairs, data, "-o", "out.jsonl", "--pairs", "1").out
    assert "preferences for the text shown first" in said
    assert "judgesmith evaluate out.jsonl" in said


@pytest.mark.no_cover
def test_its_ranks_are_scores(run, data, folder, pairs):
    assert run("score", pairs, data, "-o", "scores.jsonl").status == 0
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert all(0 <= row["score"] <= 100 for row in rows)
    assert run("evaluate", "scores.jsonl", data, "--json").status == 0


def test_it_is_searched_and_told_to_rank(run, data, folder):
    options = [*COMPILE, "--optimizer", "protocol", "--trials", "3", *WITHIN]
    done = run("compile", data, "-o", "judge", *options)
    assert done.status == 0, done.err
    assert "ranks within a source" in done.out
    protocol = json.loads((folder / "judge" / "judge.json").read_text())["protocol"]
    assert protocol["aggregation"]["kind"] == "overall"


def test_an_objective_over_sources_is_refused_before_anything_is_asked(run, data, folder):
    done = run("compile", data, "-o", "judge", *COMPILE, "--objective", "q")
    assert done.status == 2
    assert "q compares sources" in done.err
    assert "say --objective q@sample" in done.err
    assert not (folder / "judge").exists()
