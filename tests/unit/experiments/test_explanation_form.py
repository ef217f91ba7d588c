import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.experiments.labels.explanation_answers import COLUMNS, QUESTIONS, RowId, part_mark


@pytest.mark.no_cover
@given(st.text(max_size=20), st.integers(1, 99), st.integers(1, 20))
def test_an_id_says_what_it_was_made_from(part, number, item):
    row = RowId("x0123456789ab", number, 120, item, part_mark(part))
    assert RowId.read(f" {row} ") == row


@pytest.mark.no_cover
@given(st.lists(st.integers(1, 120), min_size=2, max_size=5))
def test_ids_sort_as_rows_do(numbers):
    ids = [str(RowId("x0123456789ab", number, 120, 1, "a")) for number in sorted(numbers)]
    assert sorted(ids) == ids


@pytest.mark.parametrize("cell", ["", "7", "x0123456789ab-1of2", "y0123456789ab-1of2-item1-a"])
def test_what_is_no_id_is_none(cell):
    assert RowId.read(cell) is None


def test_an_id_of_absurd_length_is_none():
    assert RowId.read(f"x0123456789ab-{'9' * 5000}of2-item1-a") is None


def test_a_part_has_the_same_mark_however_its_accents_are_stored():
    assert part_mark("Clart\u00e9 (1)") == part_mark("Clarte\u0301 (1)") == "clarte1"


def test_only_overall_explanations_are_asked_everything():
    def asked(**row):
        return [question.name for question in QUESTIONS if question.is_asked(**row)]

    every = ["clear", "relevant", "fits_score", "factual"]
    assert asked(whole=False, aspects=True) == every
    assert asked(whole=True, aspects=False) == [*every, "separates_cases", "usefulness"]
    assert asked(whole=True, aspects=True) == list(COLUMNS[-7:])
