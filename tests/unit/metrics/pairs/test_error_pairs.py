import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.pairs.errors import accuracy_by_errors, comparisons_by_errors
from judgesmith.metrics.pairs.ordering import adjacent_accuracy

rows = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, np.nan]), st.integers(0, 4), st.integers(0, 3)),
    min_size=1,
    max_size=20,
)


@pytest.mark.no_cover
@given(rows)
def test_each_cell_is_the_share_of_its_pairs_in_which_fewer_errors_score_higher(rows):
    predicted, errors, sources = zip(*rows, strict=True)
    found = accuracy_by_errors(predicted, errors, sources=sources)
    assert found.errors == tuple(sorted(set(errors)))
    unscored = 0
    for row, a in enumerate(found.errors):
        for column, b in enumerate(found.errors):
            pairs = [
                (x, y)
                for x, m, s in rows
                for y, n, t in rows
                if s == t and m == a and n == b and a != b
            ]
            wins = [(x > y) if a < b else (y > x) for x, y in pairs if not np.isnan(x + y)]
            unscored += len(pairs) - len(wins)
            assert found.n_pairs[row, column] == len(wins)
            expected = np.mean(wins) if wins else np.nan
            assert found.accuracy[row, column] == pytest.approx(expected, nan_ok=True)
    assert found.n_unscored == unscored / 2


def test_the_first_off_diagonal_is_adjacent_accuracy_and_the_kth_pairs_that_are_k_apart():
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 11, size=(20, 6)).astype(float)
    scores[3, 2] = np.nan
    errors, sources = np.tile(np.arange(6), 20), np.repeat(np.arange(20), 6)
    found = accuracy_by_errors(scores.ravel(), errors, sources=sources)
    for k in (1, 2, 5):
        local = adjacent_accuracy(-errors, scores.ravel(), sources=sources, apart=k)
        assert found.at(k) == pytest.approx(local.value)
    assert np.isnan(found.at(6))
    np.testing.assert_equal(found.accuracy, found.accuracy.T)


def test_comparisons_know_which_text_is_first():
    preferred = [1, 1, 0, 0.5, None]
    found = comparisons_by_errors(preferred, [0, 0, 1, 1, 1], [1, 1, 0, 0, 0])
    assert found.accuracy[0, 1] == 1
    assert found.accuracy[1, 0] == 0.5
    assert found.n_pairs.tolist() == [[0, 2], [2, 0]]
    assert (found.n_unscored, found.at(1)) == (1, 0.75)


def test_the_scores_comparisons_are_those_of_the_preferences_they_imply():
    rng = np.random.default_rng(1)
    scores, errors = rng.integers(1, 5, size=(2, 10))
    first, second = np.triu_indices(10, k=1)
    differ = errors[first] != errors[second]
    first, second = first[differ], second[differ]
    preferred = (np.sign(scores[first] - scores[second]) + 1) / 2
    one = accuracy_by_errors(scores, errors, sources=[0] * 10)
    other = comparisons_by_errors(preferred, errors[first], errors[second])
    for k in range(1, 4):
        assert one.at(k) == pytest.approx(other.at(k), nan_ok=True)


def test_scores_too_far_apart_to_subtract_are_compared():
    found = accuracy_by_errors([1.7e308, -1.7e308, None], [0, 1, 2], sources=[0, 0, 0])
    assert (found.at(1), found.n_unscored) == (1, 2)


def test_no_rows_make_an_empty_table():
    found = accuracy_by_errors([], [], sources=[])
    assert found.accuracy.shape == (0, 0)
    assert np.isnan(found.at(1))


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="must be 0 or more; got -1"):
        accuracy_by_errors([1, 2], [0, -1], sources=list("aa"))
    with pytest.raises(ValueError, match="too large a table"):
        accuracy_by_errors(np.ones(1001), np.arange(1001), sources=np.arange(1001))
    with pytest.raises(ValueError, match="equally many errors, the first at index 1"):
        comparisons_by_errors([1, 0], [0, 1], [1, 1])
    with pytest.raises(ValueError, match="must be 1"):
        comparisons_by_errors([2], [0], [1])
    with pytest.raises(ValueError, match="got 1 for 2"):
        comparisons_by_errors([1], [0, 0], [1, 1])
