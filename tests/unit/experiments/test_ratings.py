import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.targets import rating_points, rating_value
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)
ratings = st.lists(st.integers(1, 5), min_size=1, max_size=9)


@given(ratings)
def test_mean_and_median_match_their_definitions(said):
    assert rating_value(said, "mean") == pytest.approx(sum(said) / len(said))
    low, high = sorted(said)[(len(said) - 1) // 2], sorted(said)[len(said) // 2]
    assert rating_value(said, "median") == (low + high) / 2


@pytest.mark.no_cover
@given(ratings)
def test_mode_is_the_median_of_the_most_frequent_ratings(said):
    counts = Counter(said)
    modes = sorted(one for one in counts if counts[one] == max(counts.values()))
    assert rating_value(said, "mode") == rating_value(modes, "median")


@pytest.mark.no_cover
@given(ratings, st.randoms())
@pytest.mark.parametrize("how", ["mean", "median", "mode", "unanimous"])
def test_the_order_of_raters_does_not_matter(how, said, random):
    shuffled = random.sample(said, len(said))
    assert rating_value(said, how) == rating_value(shuffled, how)


def test_raters_who_differ_have_no_unanimous_value():
    assert rating_value([4, 4, 4], "unanimous") == 4
    assert rating_value([4, 4, 5], "unanimous") is None


@pytest.mark.parametrize("how", ["mean", "median", "mode", "unanimous"])
def test_no_ratings_have_no_value(how):
    assert rating_value([], how) is None


def test_an_unknown_way_names_the_known_ones():
    with pytest.raises(ValueError, match=r"^ratings are aggregated by mean, median, mode, unan"):
        rating_value([1], "max")


@pytest.mark.parametrize("answer", ["4", " 4 ", "4.0", "+4", "4e0", 4, 4.0])
def test_numbers_and_their_spellings_are_read(answer):
    assert rating_points(answer, LIKERT) == 4


@pytest.mark.parametrize(
    "answer",
    [
        *("four", "4,5", "1_0", "nan", "NaN", "NA", "inf", "", "٤", "4/5", "5.01"),
        *(True, False, None, [4], math.nan, math.inf, -math.inf, 10**400, 0, 6),
    ],
)
def test_what_is_no_rating_on_the_scale_is_refused(answer):
    with pytest.raises(ValueError, match=r"^a number from 1 to 5$"):
        rating_points(answer, LIKERT)


def test_whole_points_only_where_the_scale_says_so():
    whole = Scale(low=1, high=5, kind="integer")
    with pytest.raises(ValueError, match=r"^a whole number from 1 to 5$"):
        rating_points(4.5, whole)
    assert rating_points(4.5, LIKERT) == 4.5


def test_labels_are_read_on_a_categorical_scale():
    words = Scale.categorical("poor", "fair", "good")
    assert rating_points("good", words) == 2
    assert rating_points(1, words) == 1
    with pytest.raises(ValueError, match=r"^one of poor, fair, good, or a whole number from 0 to"):
        rating_points("excellent", words)


def test_without_a_scale_any_finite_number_is_read():
    assert rating_points("-17.5", None) == -17.5
    with pytest.raises(ValueError, match=r"^a number$"):
        rating_points("high", None)
