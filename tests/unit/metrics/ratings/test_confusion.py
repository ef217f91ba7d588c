import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix as sklearn_confusion_matrix
from sklearn.metrics import recall_score

from judgesmith.metrics.ratings.agreement import confusion_matrix

pytestmark = pytest.mark.no_cover

LEVELS = [1, 2, 3, 4, 5]
rows = st.lists(st.tuples(st.sampled_from([*LEVELS, None]), st.sampled_from(LEVELS)), max_size=25)


@given(rows)
def test_counts_are_those_of_pairs_of_levels_one_by_one(pairs):
    found = confusion_matrix([h for _, h in pairs], [p for p, _ in pairs], levels=LEVELS)
    for i, human in enumerate(LEVELS):
        for j, predicted in enumerate(LEVELS):
            assert found.counts[i][j] == pairs.count((predicted, human))
    assert found.n_unscored == sum(p is None for p, _ in pairs)
    assert found.n + found.n_unscored == len(pairs)


@given(rows)
def test_rates_are_shares_of_a_row_and_nan_where_nobody_gave_the_level(pairs):
    found = confusion_matrix([h for _, h in pairs], [p for p, _ in pairs], levels=LEVELS)
    for i, (counts, rates) in enumerate(zip(found.counts, found.rates, strict=True)):
        if sum(counts):
            assert rates == pytest.approx([count / sum(counts) for count in counts])
            assert found.recall[i] == rates[i]
            means = [p for p, h in pairs if h == LEVELS[i] and p is not None]
            assert found.shifts[i] == pytest.approx(np.mean(means) - LEVELS[i], abs=1e-12)
        else:
            assert np.isnan([*rates, found.recall[i], found.shifts[i]]).all()


def test_the_table_equals_scikit_learn():
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, 400)
    judge = np.clip(human + rng.integers(-2, 3, 400), 1, 5)
    found = confusion_matrix(human, judge, levels=LEVELS)
    expected = sklearn_confusion_matrix(human, judge, labels=LEVELS)
    np.testing.assert_array_equal(found.counts, expected)
    normalised = sklearn_confusion_matrix(human, judge, labels=LEVELS, normalize="true")
    np.testing.assert_allclose(found.rates, normalised)
    np.testing.assert_allclose(found.recall, recall_score(human, judge, average=None))


def test_levels_are_those_that_occur_also_on_unscored_items():
    found = confusion_matrix([1, 1, 7], [1, 2, None])
    assert found.levels == (1, 2, 7)
    assert found.counts == ((1, 1, 0), (0, 0, 0), (0, 0, 0))
    assert confusion_matrix([], []).counts == ()
    assert confusion_matrix([], [], levels=[0, 1]).counts == ((0, 0), (0, 0))


def test_shifts_count_places_not_points():
    found = confusion_matrix([30, 10], [10, 30], levels=[10, 30])
    assert found.shifts == (1, -1)


def test_the_record_compares_hashes_and_becomes_json():
    found = confusion_matrix([1, 1, 1], [1, None, 2], levels=[1, 2])
    assert found == confusion_matrix([1, 1, 1], [2, 1, None], levels=[1, 2])
    assert hash(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == {
        "levels": [1.0, 2.0],
        "counts": [[1, 1], [0, 0]],
        "rates": [[0.5, 0.5], [None, None]],
        "recall": [0.5, None],
        "shifts": [0.5, None],
        "n": 2,
        "n_unscored": 1,
    }


@pytest.mark.parametrize(
    ("predicted", "human", "message"),
    [
        ([1, 2.5], [1, 2], "judge holds 1 of 2"),
        ([1, 2], [1, 9], "human holds 1 of 2"),
        ([1, 2], [1, None], "give only rated items"),
        ([1, np.inf], [1, 2], "mark an item without a score as nan"),
        ([1], [1, 2], "aligned"),
    ],
)
def test_what_is_no_rating_is_refused(predicted, human, message):
    with pytest.raises(ValueError, match=message):
        confusion_matrix(human, predicted, levels=LEVELS)
