import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from judgesmith.metrics.ratings.kappa import (
    checked_levels,
    kappa_of_tables,
    level_codes,
    table_cells,
    weighted_kappa,
)

WEIGHTS = ["linear", "quadratic", "nominal"]
LEVELS = [1, 2, 3, 4, 5]
pairs_of_ratings = st.lists(
    st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)), max_size=25
)


def kappa_by_definition(predicted, human, levels, weights):
    n, places = len(human), range(len(levels))
    weigh = {"linear": abs, "quadratic": lambda d: d * d, "nominal": lambda d: float(d != 0)}[
        weights
    ]
    observed = expected = 0.0
    for i in places:
        for j in places:
            both = sum(
                h == levels[i] and p == levels[j] for p, h in zip(predicted, human, strict=True)
            )
            row = sum(h == levels[i] for h in human)
            column = sum(p == levels[j] for p in predicted)
            observed += weigh(i - j) * both
            expected += weigh(i - j) * row * column / n if n else 0
    return 1 - observed / expected if expected else np.nan


def split(pairs):
    return [p for p, _ in pairs], [h for _, h in pairs]


@pytest.mark.no_cover
@given(pairs_of_ratings, st.sampled_from(WEIGHTS))
def test_kappa_matches_the_definition_summed_over_pairs_of_levels(pairs, weights):
    predicted, human = split(pairs)
    found = weighted_kappa(human, predicted, levels=LEVELS, weights=weights)
    expected = kappa_by_definition(predicted, human, LEVELS, weights)
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.no_cover
@given(pairs_of_ratings, st.sampled_from(WEIGHTS))
def test_kappa_is_the_same_with_sides_swapped_items_reordered_or_the_scale_turned(pairs, weights):
    predicted, human = map(np.array, split(pairs))
    found = weighted_kappa(human, predicted, levels=LEVELS, weights=weights)
    turned = weighted_kappa(6.0 - human, 6.0 - predicted, levels=LEVELS, weights=weights)
    swapped = weighted_kappa(predicted[::-1], human[::-1], levels=LEVELS, weights=weights)
    assert turned == pytest.approx(found, nan_ok=True, abs=1e-12)
    assert swapped == pytest.approx(found, nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("labels", [LEVELS, list(range(9)), None])
def test_kappa_equals_scikit_learn(weights, labels):
    rng = np.random.default_rng(0)
    for n in (7, 60, 1600):
        human = rng.integers(1, 6, n)
        judge = np.clip(human + rng.integers(-2, 3, n), 1, 5)
        expected = cohen_kappa_score(
            judge, human, labels=labels, weights=None if weights == "nominal" else weights
        )
        found = weighted_kappa(human, judge, levels=labels, weights=weights)
        assert found == pytest.approx(expected, abs=1e-12)


def test_kappa_of_a_worked_table_of_two_psychiatrists():
    # Fleiss, Levin and Paik (2003), table 18.1: they agree on .89, by chance on .66.
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    first, second = (
        np.repeat(side, np.ravel(table))
        for side in (np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3))
    )
    assert weighted_kappa(second, first, weights="nominal") == pytest.approx(0.23 / 0.34)


def test_levels_that_nobody_used_are_steps_if_they_are_declared():
    human, judge = [1, 1, 3, 5], [1, 3, 3, 3]
    declared = weighted_kappa(human, judge, levels=LEVELS, weights="quadratic")
    found = weighted_kappa(human, judge, weights="quadratic")
    assert declared == pytest.approx(found)
    # Without a rating of 3 by anybody, 1 and 5 are neighbours among the levels that occur.
    human, judge = [1, 1, 2, 5], [1, 2, 2, 2]
    assert weighted_kappa(human, judge, levels=LEVELS) != pytest.approx(
        weighted_kappa(human, judge)
    )


def test_kappa_of_two_equal_constants_is_undefined_and_of_two_different_ones_zero():
    assert np.isnan(weighted_kappa([2, 2], [2, 2], levels=LEVELS))
    assert np.isnan(weighted_kappa([2], [2]))
    assert np.isnan(weighted_kappa([], [], levels=LEVELS))
    assert np.isnan(weighted_kappa([], []))
    assert weighted_kappa([3, 3], [2, 2], levels=LEVELS) == 0
    assert weighted_kappa([1, 2, 5], [1, 2, 5]) == 1


def test_kappa_takes_the_kinds_of_lists_there_are():
    human = [1, 2, 2, 3]
    expected = weighted_kappa(human, [1, 2, 3, 3])
    for kind in (
        tuple,
        np.array,
        pd.Series,
        lambda x: np.array(x, object),
        lambda x: np.array(x, np.int8),
    ):
        assert weighted_kappa(kind(human), kind([1, 2, 3, 3])) == expected
    assert weighted_kappa(
        [True, False, False], [True, False, True], levels=[0, 1]
    ) == pytest.approx(0.4)


def test_rounding_noise_does_not_take_a_score_off_its_level():
    judge = [0.1 + 0.2, 0.1, 0.7]
    assert weighted_kappa([0.3, 0.1, 0.8 - 0.1], judge, levels=[0.1, 0.3, 0.7]) == 1
    assert weighted_kappa([0.3, 0.1, 0.8 - 0.1], judge) == 1
    assert weighted_kappa([1e-300, 0], [1e-300, 0], levels=[0, 1e-300]) == 1


def test_kappa_of_a_million_items_takes_no_square_of_them():
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, 1_000_000)
    judge = np.where(rng.random(len(human)) < 0.5, human, rng.integers(1, 6, len(human)))
    assert weighted_kappa(human, judge, weights="nominal") == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize(
    ("predicted", "human", "options", "message"),
    [
        ([1, 6], [1, 2], {"levels": LEVELS}, r"judge holds 1 of 2.*1, 2, 3, 4, 5.*index 1: 6"),
        ([1, 2], [0, 2.5], {"levels": LEVELS}, r"human holds 2 of 2.*first at index 0: 0"),
        ([1, 1], [1, 1.5], {"levels": [1]}, "none of the levels 1, the first at index 1: 1.5"),
        ([1], [99], {"levels": range(20)}, r"levels 0, 1, 2, \.\.\., 18, 19, the first"),
        ([1, np.nan], [1, 2], {}, "drop unscored items"),
        ([1, 2], [1, None], {}, "give only rated items"),
        ([1, np.inf], [1, 2], {}, "no finite score"),
        ([1, 2], [1], {}, "aligned"),
        (["good", "bad"], [1, 2], {}, "must be a vector of numbers"),
        ([[1, 2]], [[1, 2]], {}, "must be a vector"),
        ([1], [1], {"weights": "cubic"}, r"'linear', 'quadratic', 'nominal'.*'cubic'"),
        ([1], [1], {"levels": [2, 1]}, r"must rise.*\[2.0, 1.0\]"),
        ([1], [1], {"levels": [1, 1]}, "must rise"),
        ([1], [1], {"levels": []}, "vector of finite numbers"),
        ([1], [1], {"levels": [[1]]}, "vector of finite numbers"),
        ([1], [1], {"levels": [1, np.nan]}, "vector of finite numbers"),
        ([1], [1], {"levels": ["low", "high"]}, "levels must be an array of numbers"),
        ([1], [1], {"levels": range(300)}, "at most 256 levels; got 300"),
        (range(300), range(300), {}, "300 different scores are too many"),
    ],
)
def test_what_is_no_rating_or_no_scale_is_refused(predicted, human, options, message):
    with pytest.raises(ValueError, match=message):
        weighted_kappa(human, predicted, **options)


def test_many_tables_at_once_are_the_same_as_one_by_one():
    tables = np.random.default_rng(2).integers(0, 5, (3, 4, 9)).astype(float)
    found = kappa_of_tables(tables, 3, "linear")
    assert found.shape == (3, 4)
    assert found[1, 2] == kappa_of_tables(tables[1, 2], 3, "linear")


def test_cells_put_the_human_level_first():
    cells, n_levels = table_cells(np.array([2.0, 1.0]), np.array([1.0, 3.0]), levels=[1, 2, 3])
    assert (cells.tolist(), n_levels) == ([3, 2], 3)


def test_levels_are_taken_from_scores_where_none_are_declared():
    known = checked_levels(None, np.array([0.3, 1.0]), np.array([0.1 + 0.2]))
    assert known.tolist() == [0.3, 1.0]
    assert level_codes(np.array([[1.0], [0.3]]), known, name="ratings").tolist() == [[1], [0]]
