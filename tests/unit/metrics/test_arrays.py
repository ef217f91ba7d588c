"""Inside metrics: arrays."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from looping import for_each

from judgesmith.metrics.arrays import (
    fraction,
    generator,
    group_codes,
    paired_scores,
    rating_table,
    score_vector,
)
from judgesmith.metrics.records import squarable, whole_number

# -- checks --------------------------------------------------------------------------------------


def test_none_and_nan_are_unscored_where_that_is_allowed():
    _, predicted = paired_scores([1, 2, 3], [1, None, np.nan], allow_unscored=True)
    assert np.isnan(predicted).tolist() == [False, True, True]


@for_each(
    ("predicted", "human", "message"),
    [
        ([1, 2], [1, 2, 3], "got 2 scores of judge and 3 human"),
        ([[1, 2]], [[1, 2]], r"judge must be a vector.*\(1, 2\)"),
        (["a", "b"], [1, 2], "judge must be a vector of numbers"),
        ([1, np.nan], [1, 2], "judge has no finite score for 1 of 2 items.*index 1"),
        ([1, 2], [np.inf, 2], "human has no finite score for 1 of 2 items.*index 0"),
    ],
)
def test_scores_that_do_not_pair_up_are_refused_with_what_came(predicted, human, message):
    with pytest.raises(ValueError, match=message):
        paired_scores(human, predicted)


def test_a_human_score_may_never_be_missing_and_no_score_infinite():
    with pytest.raises(ValueError, match="human has no finite score"):
        paired_scores([1.0, np.nan], [1.0, 2.0], allow_unscored=True)
    with pytest.raises(ValueError, match="judge has no finite score"):
        paired_scores([1.0, 2.0], [np.inf, 2.0], allow_unscored=True)


@pytest.mark.parametrize("labels", [["b", "a", "b"], np.array(["b", "a", "b"]), (7, "7", 7)])
def test_groups_are_numbered_by_first_appearance(labels):
    codes, n_groups = group_codes(labels, name="sources", n_items=3)
    assert codes.tolist() == [0, 1, 0]
    assert n_groups == 2


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan])
def test_a_missing_label_is_refused_and_located(missing):
    with pytest.raises(ValueError, match=r"systems holds a missing label.*index 1"):
        group_codes(["a", missing], name="systems", n_items=2)


@pytest.mark.parametrize("labels", [3, [[1], [2], [3]], np.zeros((3, 2))])
def test_what_is_no_list_of_labels_is_refused(labels):
    with pytest.raises(TypeError, match=r"sources must (be a sequence of labels|hold one label)"):
        group_codes(labels, name="sources", n_items=3)


def test_labels_may_come_from_pandas_and_its_missing_value_is_one():
    codes, _ = group_codes(pd.Series(["b", "a", "b"], index=[4, 5, 6]), name="sources", n_items=3)
    assert codes.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"sources holds a missing label \(<NA>\).*index 1"):
        group_codes(pd.Series(["a", None], dtype="string"), name="sources", n_items=2)


@for_each(
    "scores",
    [
        np.ma.array([1.0, 9.0, 3.0], mask=[False, True, False]),
        pd.Series([1, None, 3], dtype="Int64", index=[7, 8, 9]),
        np.array([1, None, 3], dtype=object),
        np.array([1, np.nan, 3], dtype=np.float32),
        [Decimal(1), float("nan"), True + 2],
    ],
)
def test_scores_may_come_in_any_container_and_what_it_marks_as_missing_is(scores):
    _, predicted = paired_scores([1, 2, 3], scores, allow_unscored=True)
    np.testing.assert_array_equal(predicted, [1.0, np.nan, 3.0])


@for_each(
    "scores",
    [
        ["1", "2"],
        [1, "2"],
        np.array([1, "2"], dtype=object),
        [b"1", b"2"],
        [1j, 2],
        np.array([1j, 2], dtype=object),
        np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
        [10**400, 1],
        {1: 2},
        None,
    ],
)
def test_what_numpy_would_turn_into_numbers_although_it_is_none_is_refused(scores):
    with pytest.raises(ValueError, match="judge must be a vector"):
        paired_scores([1, 2], scores)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [([1, 2, 3], r"shape \(n_items, n_raters\)"), ([[1, np.inf]], "item 0"), ([["x"]], "table")],
)
def test_a_table_of_ratings_is_two_dimensional_and_finite_or_missing(ratings, message):
    with pytest.raises(ValueError, match=message):
        rating_table(ratings)


@for_each("value", [0, 1, -0.1, 95, float("nan")])
def test_a_fraction_lies_strictly_between_0_and_1(value):
    with pytest.raises(ValueError, match="confidence must be strictly between 0 and 1"):
        fraction(value, name="confidence")


@for_each(
    ("scores", "given", "message"),
    [
        ([1, None], {}, "human has no finite score for 1 of 2 items, the first at index 1"),
        ([1, np.inf], {"allow_missing": True}, "mark a missing score as nan"),
        ([1, 2], {"n_items": 3}, "human must hold one score per item; got 2 for 3"),
        ([[1, 2]], {}, "human must be a vector"),
        (["good"], {}, "human must be a vector of numbers"),
    ],
)
def test_a_list_of_scores_that_cannot_be_one_is_refused(scores, given, message):
    with pytest.raises(ValueError, match=message):
        score_vector(scores, name="human", **given)


def test_masked_ratings_are_missing():
    table = rating_table(np.ma.masked_array([[1, 2], [3, 4]], [[False, True], [False, False]]))
    np.testing.assert_array_equal(table, [[1, np.nan], [3, 4]])


def test_columns_with_different_indexes_are_refused_and_those_with_equal_ones_taken():
    import pandas as pd

    human = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    with pytest.raises(ValueError, match="different indexes, and scores are taken by their pos"):
        paired_scores(human, human.iloc[::-1])
    h, p = paired_scores(human, human * 2)
    assert p.tolist() == [2.0, 4.0, 6.0]
    assert h.tolist() == [1.0, 2.0, 3.0]
    assert paired_scores(human, human.to_numpy()[::-1])[1].tolist() == [3.0, 2.0, 1.0]


def test_a_generator_is_taken_and_a_whole_number_seeds_one():
    given = np.random.default_rng(3)
    assert generator(given) is given
    assert generator(np.int64(3)).random() == np.random.default_rng(3).random()
    for wrong in (None, "0", True, 0.5):
        with pytest.raises(TypeError, match="seed must be a whole number or a numpy"):
            generator(wrong)
    with pytest.raises(ValueError, match="seed must be 0 or more"):
        generator(-1)


# -- limits --------------------------------------------------------------------------------------


def test_scores_that_overflow_when_squared_are_refused():
    with pytest.raises(
        ValueError, match=r"human must be from -1e100 to 1e100.*-1e\+200 at index 1"
    ):
        squarable(np.array([np.nan, -1e200]), name="human")


@for_each("value", [0, 2.0, 2.5, True, "3", None, float("nan")])
def test_a_count_is_a_whole_number_that_is_large_enough(value):
    with pytest.raises(ValueError, match="n_bins must be a whole number, 1 or more; got"):
        whole_number(value, name="n_bins", least=1)


def test_whole_numbers_of_arrays_are_counts():
    assert whole_number(np.int64(3), name="n_bins", least=1) == 3
