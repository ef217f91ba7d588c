"""A scale says what an answer may be, and maps it to another scale and back."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import BaseModel

from judgesmith.signatures import Scale

ends = st.floats(-1e12, 1e12)


@st.composite
def scales(draw):
    low, high = draw(ends), draw(ends)
    assume(high - low > 1e-6 * max(abs(low), abs(high), 1e-300))
    return Scale(low=low, high=high, higher_is_better=draw(st.booleans()))


@pytest.mark.no_cover
@given(scales())
def test_a_scale_is_read_from_the_text_it_shows(scale):
    assert Scale.parse(str(scale)) == Scale(low=scale.low, high=scale.high)


@pytest.mark.no_cover
@given(scales())
def test_a_scale_survives_json(scale):
    assert Scale.model_validate_json(scale.model_dump_json()) == scale


@pytest.mark.no_cover
@given(scales(), st.floats(0, 1))
def test_points_and_fraction_undo_each_other(scale, fraction):
    points = scale.points(fraction)
    rounding = 1e-9 * max(abs(scale.low), abs(scale.high)) / (scale.high - scale.low)
    assert scale.fraction(points) == pytest.approx(fraction, abs=1e-9 + rounding)


@pytest.mark.no_cover
@given(scales())
def test_the_worst_end_is_zero_and_the_best_end_one(scale):
    worst, best = (scale.low, scale.high) if scale.higher_is_better else (scale.high, scale.low)
    assert scale.fraction(worst) == 0
    assert scale.fraction(best) == 1


@pytest.mark.parametrize("text", ["1..5", "1:5", "1 to 5", "1,5", " 1 .. 5 ", "1.0..5e0", "1 TO 5"])
def test_a_range_is_written_in_several_ways(text):
    assert Scale.parse(text) == Scale(low=1, high=5)


def test_ends_may_be_negative_and_broken():
    assert Scale.parse("-1.5..2.25") == Scale(low=-1.5, high=2.25)
    assert str(Scale(low=0, high=12_345_678.5)) == "0..12345678.5"


@pytest.mark.parametrize("text", ["", "5", "1-5", "1..", "..5", "one..five", "1..5..9", "1...5"])
def test_anything_else_is_no_range(text):
    with pytest.raises(ValueError, match=r"written LOW\.\.HIGH, as in 1\.\.5; got"):
        Scale.parse(text)


def test_a_field_takes_the_short_forms():
    class Form(BaseModel):
        scale: Scale

    assert Form(scale="1..5").scale == Form(scale=[1, 5]).scale == Scale(low=1, high=5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"low": 5, "high": 5}, "low must be below high; got 5 and 5"),
        ({"low": 5, "high": 1}, "low must be below high; got 5 and 1"),
        ({"low": float("nan"), "high": 1}, "got nan and 1"),
        ({"low": 0, "high": float("inf")}, "got 0 and inf"),
        ({"low": -1.7e308, "high": 1.7e308}, "low must be below high"),
        ({"low": 0.5, "high": 3, "kind": "integer"}, "ends of an integer scale must be whole"),
        ({"low": 0, "high": 1, "labels": ("no", "yes")}, "a categorical scale needs labels"),
        ({"low": 0, "high": 1, "kind": "categorical"}, "a categorical scale needs labels"),
        (
            {"low": 0, "high": 1, "kind": "categorical", "labels": ("a", "a")},
            "labels must differ",
        ),
        (
            {"low": 0, "high": 2, "kind": "categorical", "labels": ("a", "b")},
            "2 labels need 2 whole points; got 0 to 2",
        ),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        Scale(**given)


@pytest.mark.parametrize("labels", [(), ("only",)])
def test_one_name_is_no_choice(labels):
    with pytest.raises(ValueError, match="needs two labels or more"):
        Scale.categorical(*labels)


class TestWhatAnAnswerMayBe:
    def test_any_number_between_the_ends_of_a_numeric_scale(self):
        scale = Scale(low=0, high=1)
        assert 0 in scale
        assert 0.3 in scale
        assert 1 in scale
        assert 1.0001 not in scale

    def test_whole_points_only_on_an_integer_scale(self):
        scale = Scale(low=1, high=5, kind="integer")
        assert 4 in scale
        assert 4.0 in scale
        assert 4.5 not in scale

    @pytest.mark.parametrize("number", [np.int64(4), np.float32(4), np.float64(4)])
    def test_numbers_of_numpy(self, number):
        assert number in Scale(low=1, high=5, kind="integer")

    @pytest.mark.parametrize("other", [True, None, "4", float("nan"), 10**400, [4], 4j])
    def test_nothing_else(self, other):
        assert other not in Scale(low=0, high=5)


class TestReadingAnAnswer:
    def test_a_label_gives_its_point(self):
        scale = Scale(low=1, high=3, kind="categorical", labels=("poor", "fair", "good"))
        assert [scale.read(label) for label in scale.labels] == [1, 2, 3]
        assert scale.read("2") == 2

    def test_a_number_is_read_from_text(self):
        assert Scale(low=0, high=1).read(" 0.25 ") == 0.25

    @pytest.mark.parametrize("answer", ["fine", "", "nan", "6", None, True, b"3", [3], 10**400])
    def test_everything_else_is_refused_with_what_was_expected(self, answer):
        with pytest.raises(ValueError, match=r"expected an answer on the scale 1\.\.5; got"):
            Scale(low=1, high=5).read(answer)

    def test_the_labels_are_named(self):
        with pytest.raises(ValueError, match="on the scale poor, good; got 'fair'"):
            Scale.categorical("poor", "good").read("fair")


def test_a_scale_that_counts_faults_turns_around():
    faults = Scale(low=0, high=10, higher_is_better=False)
    assert faults.fraction(0) == 1
    assert faults.points(0.75) == 2.5


class TestPercentOfTheMaximum:
    @pytest.mark.parametrize(("low", "high"), [(1, 5), (0, 100), (0, 1), (0.5, 2.5)])
    def test_the_highest_point_is_a_hundred_and_zero_points_are_zero(self, low, high):
        scale = Scale(low=low, high=high)
        assert scale.percent_of_max(high) == 100
        assert scale.percent_of_max(0) == 0
        assert scale.percent_of_max(low) == pytest.approx(100 * low / high)

    @given(st.floats(0, 50))
    def test_a_scale_from_zero_gives_what_its_fraction_gives(self, points):
        scale = Scale(low=0, high=50)
        assert scale.percent_of_max(points) == pytest.approx(100 * scale.fraction(points))

    @pytest.mark.parametrize(
        ("scale", "said"),
        [
            (Scale(low=-25, high=0), r"more is better; got -25\.\.0\.$"),
            (Scale(low=-1, high=1), r"got -1\.\.1\.$"),
            (Scale(low=0, high=10, higher_is_better=False), r"got 0\.\.10, which counts faults"),
        ],
    )
    def test_scales_on_which_it_says_nothing_are_refused(self, scale, said):
        with pytest.raises(ValueError, match=said):
            scale.percent_of_max(0)


def test_equal_scales_are_one_key():
    assert len({Scale(low=1, high=5), Scale(low=1.0, high=5.0)}) == 1
