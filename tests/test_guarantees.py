"""The tests and figures that the page of guarantees names exist and are exact."""

import re
from pathlib import Path

import hostile
import loopback_faults

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reference" / "guarantees.md").read_text(encoding="utf-8")


def cells():
    """Return the three cells of every row of a promise."""
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip() != "promised"]


def test_every_promise_names_tests_that_are_there():
    for promised, _, held in (row for row in cells() if row[0] != "---"):
        tests = re.findall(r"`([^`]*)`", held)
        assert bool(tests) == bool(promised), promised
        for test in tests:
            assert re.fullmatch(r"tests/(\w+/)*(test|fuzz)_\w+\.py", test), test
            assert (ROOT / test).is_file(), test


def test_every_topic_it_measures_with_is_there():
    named = re.findall(r"python -m benchmarks run((?: \w+)+)`", PAGE)
    topics = {topic for names in named for topic in names.split()} - {"robustness", "serving"}
    assert topics
    for topic in topics:
        assert (ROOT / "benchmarks" / "robustness" / f"{topic}.py").is_file(), topic


def test_it_counts_what_the_tests_try():
    faults = loopback_faults
    n_faults = len(faults.PASSING) + len(faults.LASTING) + len(faults.HARMLESS)
    refusals = (ROOT / "tests" / "unit" / "cli" / "bad_inputs.yaml").read_text(encoding="utf-8")
    assert f", {n_faults} kinds." in PAGE
    assert f"\n{len(re.findall('^- command:', refusals, re.MULTILINE))} cases over" in PAGE
    assert f"the {len(hostile.TEXTS)} of `tests/unit/support/hostile.py`" in PAGE
