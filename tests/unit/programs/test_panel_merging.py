import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panelling import REPORT, error, missing

from judgesmith.programs.families.ensemble.merging import (
    Annotation,
    is_invented,
    merged_by_rule,
    most_severe,
    numbered,
    read_shown,
    shown,
)
from judgesmith.signatures import ErrorSpan
from judgesmith.signatures.fences import unix_lines


def merged(**errors):
    return merged_by_rule(numbered(errors, REPORT), REPORT)


def texts(found):
    return [(one.error.text, one.error.severity, one.members) for one in found]


def test_overlapping_errors_of_two_are_one_that_covers_both_and_is_as_bad_as_the_worse():
    found = merged(a=[error("left at ten", 2, "One.")], b=[error("at ten. Its", 4, "Two.")])
    assert texts(found) == [("left at ten. Its", 4, ("a", "b"))]
    assert found[0].error.explanation == "One. Two."


def test_two_issues_of_one_annotator_at_one_place_stay_two():
    found = merged(a=[error("ten", 2, "Early."), error("ten", 5, "Late.")], b=[error("ten", 3)])
    assert [(one.error.severity, one.members) for one in found] == [(3, ("a", "b")), (5, ("a",))]


def test_what_hardly_overlaps_stays_apart_and_no_chain_swallows_the_text():
    found = merged(a=[error("The ferry left at")], b=[error("at ten. Its captain,")])
    assert len(found) == 2


def test_what_is_missing_is_merged_where_two_say_the_same():
    found = merged(a=[missing("No date.", 2)], b=[missing("no  date.", 4), missing("No name.")])
    assert [(one.error.severity, one.members) for one in found] == [(4, ("a", "b")), (3, ("b",))]
    assert all(one.error.located == "missing" and one.error.start is None for one in found)


def test_the_most_severe_are_kept_in_their_order_of_equals_what_more_found():
    found = merged(a=[error("ferry", 1), error("ten", 3), error("sang", 3)], b=[error("sang", 3)])
    assert [one.error.text for one in most_severe(found, 1)] == ["sang"]
    assert [one.error.text for one in most_severe(found, 2)] == ["ten", "sang"]
    assert most_severe(found, 8) == found


def test_judges_that_grade_nothing_give_errors_without_severity():
    assert merged(a=[error("ten", None)], b=[error("ten", None)])[0].error.severity is None


@pytest.mark.parametrize(
    ("given_error", "invented"),
    [
        (ErrorSpan(text="moon", located="unresolved"), True),
        (ErrorSpan(text="moon"), True),
        (ErrorSpan(text=" "), False),
        (ErrorSpan(text="none", located="missing"), False),
        (ErrorSpan(text="ten", start=0, end=3), False),
        (ErrorSpan(text="ten", start=70, end=300), True),
        (ErrorSpan(text="ten", start=-3, end=3), True),
    ],
)
def test_an_error_is_invented_where_it_quotes_what_is_not_there(given_error, invented):
    assert is_invented(given_error, REPORT) is invented
    assert len(numbered({"a": [given_error]}, REPORT)) == (not invented)


hostile = st.text(st.sampled_from('ab"\\{}\n\r\x85\u2028[]#:1 😀'), max_size=20)


@given(hostile, hostile)
def test_what_is_shown_is_read_back_whatever_stands_in_it(response, why):
    response = f"{response}x"
    whole = ErrorSpan(text=response, start=0, end=len(response), severity=2.5, explanation=why)
    given_errors = [
        Annotation(number=n, member=name, error=whole) for n, name in ((1, "A"), (2, "B"))
    ]
    lines = shown(given_errors, response)
    text = unix_lines(response)
    update = {"text": text, "end": len(text), "explanation": unix_lines(why)}
    read = whole.model_copy(update=update)
    assert list(read_shown(lines)) == [replace(one, error=read) for one in given_errors]
    assert lines.count("\n") == 1


def test_lines_that_are_no_annotations_are_passed_over():
    assert list(read_shown("[" * 9999 + '\nnull\n{"n": 1}\n3\n' + json.dumps({"at": 3}))) == []


def test_a_panel_larger_than_the_alphabet_has_letters_for_all():
    crowd = {f"m{n}": [error("ten")] for n in range(28)}
    lines = shown(numbered(crowd, REPORT), REPORT).split("\n")
    assert [json.loads(line)["annotator"] for line in lines][25:] == ["Z", "AA", "BB"]
