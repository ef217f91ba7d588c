import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.rating_sheets import RatingForm, heading
from judgesmith.data.sheets import as_written, cell_of
from judgesmith.signatures import Scale

MARKS = ["response", "suggested_by", "key"]
scales = st.sampled_from(
    [
        Scale.parse("1..5"),
        Scale(low=0, high=1, kind="integer"),
        Scale(low=-2.5, high=2),
        Scale(low=0, high=10, higher_is_better=False),
        Scale.categorical("poor", "fair", "very good"),
    ]
)


@given(st.text(min_size=1).filter(lambda name: name == cell_of(name).strip()), scales)
def test_a_heading_says_criterion_and_scale_and_is_read_again(name, scale):
    form = RatingForm.of([*MARKS, heading(name, scale)])
    assert form is not None
    assert form.scales == {name: scale}


@pytest.mark.parametrize("name", ["=cmd()", "+a", "@b", "a: b", "from 1 (worst)", "a; -b"])
def test_hostile_names_of_criteria_are_read_again_and_start_no_formula(name):
    column = heading(name, Scale.parse("1..5"))
    assert column[0] not in "=+-@"
    assert list(RatingForm.of([*MARKS, column]).columns) == [name]


def test_labels_that_cannot_be_listed_are_asked_for_by_number():
    scale = Scale.categorical("bad, really", "good")
    assert heading("tone", scale) == "tone: a whole number from 0 (worst) to 1 (best)"


def test_columns_of_one_criterion_are_several_raters():
    column = heading("clear", Scale.parse("1..5"))
    form = RatingForm.of([*MARKS, column, f"{column} ana", f"{column} (2)"])
    assert form.columns == {"clear": (column, f"{column} ana", f"{column} (2)")}


@pytest.mark.parametrize(
    "names",
    [
        ["response", "clear: a number from 1 (worst) to 5 (best)"],
        [*MARKS, "clear"],
        [*MARKS, "clear: a number from five (worst) to 1 (best)"],
        [*MARKS, "clear: a number from 5 (worst) to 1 (best)"],
        [*MARKS, "clear: one of poor, from worst to best"],
    ],
)
def test_other_tables_are_no_sheets(names):
    assert RatingForm.of(names) is None


@given(st.text())
def test_what_holds_formulas_back_is_taken_off_again(text):
    plain = cell_of(as_written(text))
    assert cell_of(as_written(plain)) == plain
