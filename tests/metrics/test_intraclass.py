import numpy as np
import pytest

from judgesmith.metrics import intraclass_correlation


def ragged(rng, n_items, n_raters, noise, missing):
    table = rng.normal(size=(n_items, 1)) + noise * rng.normal(size=(n_items, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table


def test_icc_equals_the_analysis_of_variance_published_for_six_targets_and_four_judges():
    # Shrout and Fleiss (1979), table 2; they report ICC(1,1) = .17 and ICC(1,4) = .44.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = intraclass_correlation(table)
    assert (round(found.single, 2), round(found.mean, 2)) == (0.17, 0.44)
    assert (found.n_items, found.n_raters) == (6, 4)


@pytest.mark.parametrize("missing", [0, 0.3])
def test_icc_recovers_the_share_of_variance_it_estimates(missing):
    table = ragged(np.random.default_rng(1), 20_000, 4, np.sqrt(1.5), missing)
    found = intraclass_correlation(table)
    assert found.single == pytest.approx(1 / 2.5, abs=0.02)
    k = found.n_raters
    assert found.mean == pytest.approx(k * found.single / (1 + (k - 1) * found.single))


def test_icc_does_not_depend_on_unit_offset_or_column_order():
    rng = np.random.default_rng(2)
    table = ragged(rng, 30, 5, 1, 0.2)
    found = intraclass_correlation(table)
    moved = intraclass_correlation(rng.permuted(1e6 + 3 * table, axis=1))
    assert (moved.single, moved.mean) == pytest.approx((found.single, found.mean))


@pytest.mark.parametrize(
    "table", [[[1, 2]], [[1, None], [2, None]], [[3, 3], [3, 3]], [[None, None]], np.empty((0, 3))]
)
def test_icc_without_two_items_repeated_ratings_or_variation_is_undefined(table):
    found = intraclass_correlation(table)
    assert np.isnan([found.single, found.mean]).all()


def test_icc_of_items_that_do_not_differ_is_negative_for_one_and_undefined_for_the_mean():
    found = intraclass_correlation([[1, 2], [2, 1]])
    assert found.single == -1
    assert np.isnan(found.mean)
