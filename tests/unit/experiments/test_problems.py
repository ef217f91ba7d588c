import copy
import pickle

import pytest

from judgesmith.data.problems import DataError, Problem, shown


def problem(line):
    return Problem(where=f"a.csv:{line}", field="score", expected="a number", came="'x'")


def test_a_problem_reads_as_one_line():
    assert str(problem(3)) == "a.csv:3: score: expected a number; got 'x'"


def test_the_message_shows_twenty_problems_and_counts_the_rest():
    lines = str(DataError([problem(n) for n in range(1, 24)])).splitlines()
    assert lines[0] == "23 problems in the data:"
    assert lines[20] == "  a.csv:20: score: expected a number; got 'x'"
    assert lines[21:] == ["  … and 3 more"]


def test_twenty_problems_leave_nothing_to_count():
    assert "more" not in str(DataError([problem(n) for n in range(20)]))


def test_the_error_keeps_all_problems_and_is_a_value_error():
    with pytest.raises(ValueError) as caught:
        raise DataError([problem(n) for n in range(50)])
    assert len(caught.value.problems) == 50


def test_the_error_survives_copies_and_processes():
    error = DataError([problem(1), problem(2)])
    assert copy.copy(error).problems == error.problems
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_problem_is_plain_data_for_machines():
    assert problem(2).to_dict() == {
        "where": "a.csv:2",
        "field": "score",
        "expected": "a number",
        "came": "'x'",
    }


def test_long_values_are_cut_and_line_breaks_are_spelled():
    assert shown("a\nb") == r"'a\nb'"
    assert len(shown("x" * 1000)) == 80
