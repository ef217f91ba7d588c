import numpy as np
import pytest

from judgesmith.data import DataSet
from judgesmith.experiments.evaluate.perspectives.ratings import SampledScores, right_levels
from judgesmith.experiments.evaluate.perspectives.report import local_report
from judgesmith.signatures import RatedItem, Scale

TEN = Scale(low=1, high=10)


def of(rows, *, errors=None):
    """Report rows of a source, a rating and answers."""
    items = [
        RatedItem(source_id=source, response="", human={"wit": (right,) * 2}, scale={"wit": "0..9"})
        for source, right, _ in rows
    ]
    data = DataSet(name="toy", items=tuple(items))
    answers = [one if isinstance(one, list) else [one] for _, _, one in rows]
    scores = SampledScores.of(answers, [None] * len(rows), TEN)
    n_errors = None if errors is None else np.asarray(errors, dtype=float)
    return local_report(right_levels(data, "wit"), scores, data.groups, n_errors=n_errors)


def test_accuracy_equals_a_table_worked_by_hand():
    # a: 3 < 5 right, 5 < 5 tied, so wrong; b has two texts: 7 > 6 wrong.
    found = of([("a", 0, 3), ("a", 1, 5), ("a", 2, 5), ("b", 0, 7), ("b", 1, 6)])
    assert (found.accuracy.value, found.accuracy.n) == (pytest.approx(1 / 3), 3)
    assert found.accuracy.tied == pytest.approx(1 / 3)


def test_every_pair_of_neighbouring_occupied_ratings_counts_and_no_other():
    # 2 and 5 are neighbours where nothing lies between: two texts at 2, one at 5, one at 9.
    found = of([("a", 2, 1), ("a", 2, 6), ("a", 5, 5), ("a", 9, 9)])
    assert (found.accuracy.n, found.accuracy.value) == (3, pytest.approx(2 / 3))


def test_pairs_with_an_unscored_side_are_left_out_and_counted():
    found = of([("a", 0, 3), ("a", 1, [np.nan]), ("a", 2, 5), ("b", 0, 1), ("b", 1, 2)])
    assert (found.accuracy.n, found.accuracy.n_unscored, found.basis.unscored.n) == (1, 2, 1)
    assert found.accuracy.value == 1


def test_samples_are_averaged_and_noise_of_their_mean_is_no_difference():
    tenths = [[1.1, 1.2, 1.5], [1.5, 1.2, 1.1]]
    assert sum(tenths[0]) / 3 != sum(tenths[1]) / 3
    found = of([("a", 0, tenths[0]), ("a", 1, tenths[1]), ("b", 0, [1, 4]), ("b", 1, [2, np.nan])])
    assert (found.accuracy.value, found.accuracy.tied) == (0, 0.5)


def test_complete_sequences_have_the_same_accuracy_by_neighbours_and_by_errors():
    rows = [("a", 2, 9), ("a", 1, 6), ("a", 0, 6), ("b", 2, 8), ("b", 1, 5), ("b", 0, 3)]
    found = of(rows, errors=[0, 1, 2, 0, 1, 2])
    assert found.by_errors.errors == (0, 1, 2)
    np.testing.assert_equal(
        found.by_errors.accuracy, [[np.nan, 1, 1], [1, np.nan, 0.5], [1, 0.5, np.nan]]
    )
    assert {k: (one.value, one.n) for k, one in found.apart.items()} == {1: (0.75, 4), 2: (1, 2)}
    same = found.apart[1].value, found.by_errors.at(1), found.accuracy.value, found.counted.value
    assert same == (0.75,) * 4


def test_sets_that_say_nothing_of_errors_have_no_table_of_them():
    rows = [("a", 0, 3), ("a", 1, 5)]
    assert of(rows).by_errors is of(rows, errors=[np.nan, np.nan]).by_errors is None
    assert of(rows, errors=[3, 3]).to_dict()["errors_apart"] == {}


def test_accuracy_as_a_function_of_drawn_sources_is_that_of_their_pairs():
    found = of([("a", 0, 3), ("a", 1, 5), ("b", 0, 7), ("b", 1, 6), ("b", 2, 8), ("c", 0, 1)])
    draws = np.array([[3.0, 0, 0], [0, 1, 5], [1, 1, 1], [0, 0, 2]])
    np.testing.assert_allclose(found.counted.of_counts(draws), [1, 0.5, 2 / 3, np.nan])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", 0, 3), ("b", 1, 5)], "no source has two texts with different"),
        ([("a", 0, 3), ("a", 1, [np.nan])], "no pair of neighbours on wit has two scores"),
    ],
)
def test_a_set_without_a_pair_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        of(rows)
