"""Reports of benchmarks in words: what is undefined, missing or said by people."""

import copy

import pytest

from judgesmith.experiments.benchmark.report import (
    blind_kinds_of,
    checks_table,
    estimate_cell,
    report_text,
    share_cell,
)

CHECKED = {
    "checks": 4,
    "answers": 7,
    "blank": 1,
    "right": {"value": 0.5, "low": 0.2, "high": 0.8},
    "near": {"value": 1.0, "low": None, "high": None},
    "by_criterion": {"flu|ency": {"value": 0.5, "low": None, "high": None}},
    "by_rater": {"ann": 0.5, "bob": None},
    "agreement": 0.25,
}


@pytest.fixture
def report(sequences):
    return copy.deepcopy(dict(sequences.report))


def test_what_is_undefined_is_said_to_be():
    assert estimate_cell({"value": None, "low": None, "high": None}) == "undefined"
    assert share_cell(None) == "undefined"


def test_what_people_say_has_a_row_each():
    assert checks_table(CHECKED).rows == (
        ("all", "0.500 [0.200, 0.800]"),
        ("all, within one point", "1.000"),
        ("flu|ency", "0.500"),
        ("rater ann", "0.500"),
        ("rater bob", "undefined"),
        ("raters with each other", "0.250"),
    )
    alone = {**CHECKED, "near": None, "agreement": None, "by_rater": {}, "by_criterion": {}}
    assert checks_table(alone).rows == (("all", "0.500 [0.200, 0.800]"),)


def test_what_people_say_stands_in_the_report_with_marks_escaped(report):
    text = report_text({**report, "spot_check": CHECKED})
    assert "7 answers to 4 questions, 1 left blank." in text
    assert "| flu\\|ency | 0.500 |" in text
    assert "Nobody has checked it yet" not in text


def test_sources_that_are_left_out_and_errors_that_nobody_sees_are_named(report):
    report["references"] |= {"sources_without": 3, "dropped": {"no word in it": 2}}
    seen = report["criteria"]["fluency"]["comparator"]["kinds"]
    seen[0] |= {"sight": "blind", "kind": "typos"}
    text = report_text(report)
    assert "left out: 2 no word in it; 3 sources have none and are left out." in text
    assert "typos" in blind_kinds_of(report)["fluency"]
    assert "- fluency: typos" in text
    for own in report["criteria"].values():
        own["comparator"]["kinds"] = []
    assert "No kind of error is surely missed in most pairs." in report_text(report)
    assert "## Notes" not in report_text({**report, "notes": []})


def test_of_a_comparator_that_nobody_could_read_it_is_not_said_that_it_sees_all(report):
    for own in report["criteria"].values():
        own["comparator"] |= {"accuracy": {"value": None, "n": 0}, "kinds": []}
    text = report_text(report)
    assert "- fluency, relevance: unknown, as no pair has an answer." in text
    assert "No kind of error is surely missed" not in text
