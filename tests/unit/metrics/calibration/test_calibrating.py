import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression

from judgesmith.metrics.calibration.fitting import (
    AffineMap,
    IsotonicMap,
    affine_map,
    cross_calibrated,
    isotonic_map,
)

points = st.lists(
    st.tuples(st.integers(0, 9).map(lambda x: 0.7 * x), st.integers(1, 5)), min_size=1, max_size=30
)


def columns(rows):
    return (np.array(column, dtype=float) for column in zip(*rows, strict=True))


@pytest.mark.no_cover
@given(points, st.booleans())
def test_the_isotonic_map_is_scikit_learns(rows, increasing):
    predicted, human = columns(rows)
    curve = isotonic_map(human, predicted, increasing=increasing)
    theirs = IsotonicRegression(increasing=increasing, out_of_bounds="clip").fit(predicted, human)
    new = np.linspace(-1, 8, 200)
    assert curve(new) == pytest.approx(theirs.predict(new))
    assert curve.thresholds == pytest.approx(theirs.X_thresholds_)
    assert curve.to_dict()["values"] == pytest.approx(theirs.y_thresholds_)


@pytest.mark.no_cover
@given(points)
def test_no_other_monotone_curve_is_closer_to_people(rows):
    # The value at a level is the largest over lower ends of the smallest mean over upper ends.
    predicted, human = columns(rows)
    levels = np.unique(predicted)
    of_level = np.searchsorted(levels, predicted)
    expected = [
        max(
            min(
                human[(of_level >= low) & (of_level <= high)].mean()
                for high in range(k, len(levels))
            )
            for low in range(k + 1)
        )
        for k in range(len(levels))
    ]
    assert isotonic_map(human, predicted)(levels) == pytest.approx(expected)


@pytest.mark.no_cover
@given(points)
def test_the_line_is_scikit_learns(rows):
    predicted, human = columns(rows)
    if len(set(predicted)) < 2:
        with pytest.raises(ValueError, match="two different scores"):
            affine_map(human, predicted)
        return
    line = affine_map(human, predicted)
    theirs = LinearRegression().fit(predicted[:, None], human)
    assert (line.slope, line.intercept) == pytest.approx((theirs.coef_[0], theirs.intercept_))


def test_the_line_of_huge_or_tiny_scores_is_the_same_line():
    human = [1, 3, 2, 5]
    plain = affine_map(human, [1, 2, 3, 4])
    for scale in (1e-200, 1e200):
        line = affine_map(human, scale * np.array([1.0, 2, 3, 4]))
        assert line.slope * scale == pytest.approx(plain.slope)
        assert line.intercept == pytest.approx(plain.intercept)


def test_mapping_keeps_means_of_the_rows_it_was_learned_from():
    rng = np.random.default_rng(0)
    predicted, human = rng.normal(size=(2, 80))
    for fit in (affine_map, isotonic_map):
        assert fit(human, predicted)(predicted).mean() == pytest.approx(human.mean())


@pytest.mark.parametrize("fit", [affine_map, isotonic_map])
def test_maps_survive_json_and_are_compared_by_their_numbers(fit):
    found = fit([2, 2, 5, 4], [1, 2, 3, None])
    again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found
    assert hash(again) == hash(found)
    assert (found.n, found.n_unscored) == (3, 1)


def test_bounds_survive_json():
    found = affine_map([2, 5], [1, 2], bounds=(1, 5))
    assert AffineMap.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert found([0, 1.5, 9]).tolist() == [1, 3.5, 5]


@pytest.mark.parametrize("fit", [affine_map, isotonic_map])
def test_unscored_rows_stay_unscored_and_shapes_stay_shapes(fit):
    found = fit([2, 5], [1, 2])
    assert np.isnan(found([None, np.nan])).all()
    assert found([[1, 2]]).shape == (1, 2)
    assert found(pd.Series([1, 2])).tolist() == found.apply([1, 2]).tolist() == [2, 5]
    assert found([]).shape == (0,)
    assert found(2.0) == 5
    with pytest.raises(ValueError, match="finite"):
        found([np.inf])
    with pytest.raises(ValueError, match="numbers"):
        found(["high"])


@pytest.mark.parametrize("fit", [affine_map, isotonic_map])
@pytest.mark.parametrize(
    ("predicted", "human", "said"),
    [
        ([1, 2], [1], "aligned"),
        ([1, np.inf], [1, 2], "judge has no finite"),
        ([1, 2], [1, None], "human has no finite"),
        ([], [], "scored row"),
        ([None], [1], "scored row"),
        (["a"], [1], "numbers"),
        ([[1, 2]], [1, 2], "vector"),
    ],
)
def test_rows_that_teach_no_map_are_refused(fit, predicted, human, said):
    with pytest.raises(ValueError, match=said):
        fit(human, predicted)


@pytest.mark.parametrize(
    "fields",
    [
        {"thresholds": (1, 1), "values": (1, 2)},
        {"thresholds": (1, 2, 3), "values": (1, 3, 2)},
        {"thresholds": (), "values": ()},
        {"thresholds": (1, 2), "values": (1,)},
        {"thresholds": (1, np.nan), "values": (1, 2)},
    ],
)
def test_numbers_that_are_no_isotonic_map_are_refused(fields):
    with pytest.raises(ValueError, match="increasing thresholds"):
        IsotonicMap(**fields, n=1, n_unscored=0)


def test_numbers_that_are_no_line_are_refused():
    with pytest.raises(ValueError, match="finite"):
        AffineMap(slope=np.nan, intercept=0, n=1, n_unscored=0)
    with pytest.raises(ValueError, match="low < high"):
        affine_map([1, 2], [1, 2], bounds=(5, 1))


def test_rounding_dust_is_one_corner():
    curve = isotonic_map([1, 3, 4], [0.3, 0.1 + 0.2, 0.5])
    assert curve.to_dict()["values"] == [2, 4]


def test_each_row_is_mapped_without_its_source():
    rng = np.random.default_rng(1)
    predicted, human = rng.normal(size=(2, 24))
    sources = np.repeat(np.arange(8), 3)
    seen = []

    def fit(h, p):
        seen.append(set(p))
        return affine_map(h, p)

    mapped = cross_calibrated(
        human, predicted, fit=fit, sources=sources, n_folds=4, rng=np.random.default_rng(0)
    )
    assert len(seen) == 4
    for score, source, value in zip(predicted, sources, mapped, strict=True):
        without = [set(predicted[sources == source]) & taught for taught in seen]
        assert sum(not common for common in without) == 1
        own = seen[[not common for common in without].index(True)]
        inside = np.isin(predicted, list(own))
        assert value == pytest.approx(affine_map(human[inside], predicted[inside])([score])[0])


def test_maps_learned_elsewhere_show_that_a_useless_judge_is_useless():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(20):
        predicted, human = rng.normal(size=(2, 60))
        flat = np.mean((human - human.mean()) ** 2)
        seen = isotonic_map(human, predicted)(predicted)
        honest = cross_calibrated(human, predicted, fit=isotonic_map, rng=rng)
        gains.append([flat - np.mean((scores - human) ** 2) for scores in (seen, honest)])
    assert np.mean(gains, axis=0)[0] > 0.02
    assert np.mean(gains, axis=0)[1] < 0
    rows = [None, 1, 2, 3, 4, 5, 6, 7]
    assert np.isnan(cross_calibrated(range(8), rows, fit=affine_map, n_folds=2, rng=rng)[0])


def test_folds_that_cannot_be_dealt_are_refused():
    rng = np.random.default_rng(0)
    for n_folds, said in (
        (1, "n_folds must be a whole number, 2 or more; got 1"),
        (2.5, "n_folds must be a whole number"),
        (3, "n_folds must be from 2 to the number of sources, 2"),
    ):
        with pytest.raises(ValueError, match=said):
            cross_calibrated([1, 2], [1, 2], fit=affine_map, n_folds=n_folds, rng=rng)
    with pytest.raises(TypeError, match="rng"):
        cross_calibrated([1, 2], [1, 2], fit=affine_map, rng="0", n_folds=2)


def test_a_million_rows_are_no_trouble():
    rng = np.random.default_rng(0)
    predicted = rng.normal(size=1_000_000)
    curve = isotonic_map(predicted + rng.normal(size=len(predicted)), predicted)
    assert curve([0.0])[0] == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("bounds", [(5, 1), (1,), 3, (1, 2, 3), (0, np.inf), (np.nan, 1), "ab"])
def test_bounds_that_are_no_two_ends_are_refused(bounds):
    with pytest.raises(ValueError, match=r"^bounds "):
        affine_map([1, 2, 3], [1, 2, 3], bounds=bounds)
