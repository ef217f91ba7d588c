from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.pairs.preferences import (
    majority_preference,
    preferences,
    preferences_from_scores,
)

votes = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=4, max_size=4), min_size=1
)


@pytest.mark.no_cover
@given(votes)
def test_the_answer_with_most_votes_wins_and_tied_votes_prefer_neither(votes):
    found = majority_preference(votes)
    for own, given_votes in zip(found, votes, strict=True):
        counts = Counter(vote for vote in given_votes if not np.isnan(vote)).most_common()
        if not counts:
            assert np.isnan(own)
        elif len(counts) > 1 and counts[0][1] == counts[1][1]:
            assert own == 0.5
        else:
            assert own == counts[0][0]


@pytest.mark.no_cover
@given(votes)
def test_orders_and_samples_are_votes_alike_and_sides_are_treated_alike(votes):
    table = np.array(votes)
    found = majority_preference(table)
    np.testing.assert_equal(majority_preference(table.reshape(-1, 2, 2)), found)
    np.testing.assert_equal(majority_preference(table[:, ::-1]), found)
    np.testing.assert_equal(majority_preference(1 - table), 1 - found)


def test_no_votes_prefer_nothing():
    assert majority_preference(np.empty((0, 3))).tolist() == []
    assert np.isnan(majority_preference(np.empty((2, 0)))).all()


def test_scores_become_preferences():
    assert preferences_from_scores([1, 2, 3], [2, 2, 2]).tolist() == [0, 0.5, 1]
    assert preferences_from_scores([0.4, 0.5], [0.3, 0.3], tolerance=0.1).tolist() == [0.5, 1]
    assert preferences_from_scores([0.1 + 0.2], [0.3]).tolist() == [0.5]
    assert preferences_from_scores([], []).tolist() == []
    assert preferences_from_scores([1e308, -1e308], [-1e308, -1e308]).tolist() == [1, 0.5]
    assert np.isnan(preferences_from_scores([None, 1], [1, None])).all()


def test_what_is_no_preference_is_refused():
    with pytest.raises(ValueError, match="for pair 1; majority_preference makes"):
        preferences([1, 0.67], "human", allow_unscored=False)
    with pytest.raises(ValueError, match="no preference for 1 of 2 pairs, the first at index 0"):
        preferences([None, 1], "human", allow_unscored=False)
    with pytest.raises(ValueError, match="must be a vector"):
        preferences([[1]], "human", allow_unscored=False)
    with pytest.raises(ValueError, match="got 1 for 3"):
        preferences([1], "human", n=3, allow_unscored=True)
    with pytest.raises(ValueError, match="human must be an array of numbers"):
        preferences(["A"], "human", allow_unscored=True)
    with pytest.raises(ValueError, match="got inf"):
        majority_preference([[1, np.inf]])
    with pytest.raises(ValueError, match="votes must have shape"):
        majority_preference([1, 0])
    with pytest.raises(ValueError, match="second must hold one score per item; got 1 for 2"):
        preferences_from_scores([1, 2], [1])
    with pytest.raises(ValueError, match="first has no finite score"):
        preferences_from_scores([np.inf], [1])
    with pytest.raises(ValueError, match="tolerance"):
        preferences_from_scores([1], [1], tolerance=-1)
    with pytest.raises(ValueError, match="must be 1"):
        preferences(2, "human", allow_unscored=True)
