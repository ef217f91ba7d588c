import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgesmith.metrics.ratings.agreement import modes, unanimous_counts, unanimous_ratings

LEVELS = [1, 2, 3]
tables = arrays(
    float,
    st.tuples(st.integers(0, 8), st.integers(0, 4)),
    elements=st.sampled_from([1.0, 2.0, 3.0, np.nan]),
)


@pytest.mark.no_cover
@given(tables)
def test_kept_are_the_items_with_two_ratings_or_more_that_are_all_equal(table):
    expected = []
    for row in table:
        given = row[~np.isnan(row)]
        expected.append(given[0] if len(given) > 1 and len(set(given)) == 1 else np.nan)
    np.testing.assert_array_equal(unanimous_ratings(table, levels=LEVELS), expected)


@pytest.mark.no_cover
@given(tables)
def test_every_item_is_counted_once(table):
    found = unanimous_counts(table, levels=LEVELS)
    kept = unanimous_ratings(table, levels=LEVELS)
    size = np.count_nonzero(~np.isnan(table), axis=1)
    disputed = modes(table, readable=0)[np.isnan(kept) & (size > 1)]
    assert found.n_kept == tuple(np.count_nonzero(kept == level) for level in LEVELS)
    assert found.n_dropped == tuple(np.count_nonzero(disputed == level) for level in LEVELS)
    assert (found.n_too_few, found.n_unknown) == (np.count_nonzero(size < 2), 0)
    assert sum(found.n_kept) + sum(found.n_dropped) + found.n_too_few == len(table)


def test_a_mean_tells_what_all_raters_gave_only_at_the_ends_of_the_scale():
    ratings = [[1, None], [None, 3], [2, None], [2.9999999999, None], [None, None], [2, 2]]
    is_mean = [True, True, True, True, True, False]
    found = unanimous_ratings(ratings, levels=LEVELS, is_mean=is_mean)
    np.testing.assert_array_equal(found, [1, 3, np.nan, 3, np.nan, 2])
    counts = unanimous_counts(ratings, levels=LEVELS, is_mean=pd.Series(is_mean))
    assert (counts.n_kept, counts.n_dropped) == ((1, 1, 2), (0, 0, 0))
    assert (counts.n_unknown, counts.n_too_few) == (1, 1)


def test_disputed_items_are_counted_by_the_level_that_most_raters_gave():
    found = unanimous_counts([[1, 1, 3], [1, 2, 3], [3, 3, 2]], levels=LEVELS)
    assert found.n_dropped == (1, 1, 1)


def test_levels_that_differ_by_rounding_noise_are_agreed_on():
    found = unanimous_ratings([[0.1 + 0.2, 0.3], [0.3, 0.7]], levels=[0.3, 0.7])
    np.testing.assert_array_equal(found, [0.3, np.nan])


@pytest.mark.parametrize(
    ("ratings", "options", "message"),
    [
        ([[1, 4]], {}, "ratings holds 1 of 2 scores that are none of the levels 1, 2, 3"),
        ([[1, 2]], {"is_mean": [True]}, "a mean must be the one number.*item 0"),
        ([[3.5]], {"is_mean": [True]}, "means must be from 1 to 3.*got 3.5 to 3.5"),
        ([[1]], {"is_mean": [True, False]}, "one yes or no per item"),
        ([[1]], {"is_mean": True}, "one yes or no per item"),
        ([1], {}, "must have shape"),
        ([[1]], {"levels": [2, 1]}, "must rise"),
    ],
)
def test_what_is_no_rating_or_no_mean_is_refused(ratings, options, message):
    for function in (unanimous_ratings, unanimous_counts):
        with pytest.raises(ValueError, match=message):
            function(ratings, **({"levels": LEVELS} | options))
