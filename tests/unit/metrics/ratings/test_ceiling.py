import numpy as np
import pytest

from judgesmith.metrics import human_ceiling, icc


def ragged(rng, n_items, n_raters, noise, missing):
    table = rng.normal(size=(n_items, 1)) + noise * rng.normal(size=(n_items, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table


@pytest.mark.parametrize(("n_raters", "missing"), [(2, 0), (3, 0), (6, 0), (6, 0.3)])
def test_ceiling_is_what_a_judge_that_knows_the_truth_reaches(n_raters, missing):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(20_000, 1))
    table = truth + 1.2 * rng.normal(size=(20_000, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    table[np.count_nonzero(~np.isnan(table), axis=1) < 2] = np.nan
    rated = ~np.isnan(table).all(axis=1)
    reached = np.corrcoef(truth[rated, 0], np.nanmean(table[rated], axis=1))[0, 1]
    found = human_ceiling(table, rng=rng, n_splits=5)
    assert found.ceiling == pytest.approx(reached, abs=0.015)
    assert found.n_items == np.count_nonzero(rated)


def test_ceiling_steps_two_raters_up_by_the_published_formula():
    rng = np.random.default_rng(4)
    table = ragged(rng, 40, 2, 1, 0)
    found = human_ceiling(table, rng=rng, n_splits=50)
    assert found.reliability == pytest.approx(
        2 * found.half_correlation / (1 + found.half_correlation)
    )
    assert found.ceiling == pytest.approx(np.sqrt(found.reliability))


def test_ceiling_of_raters_who_contradict_each_other_is_undefined():
    found = human_ceiling([[1, 3], [2, 2], [3, 1]], rng=np.random.default_rng(0))
    assert np.isnan(found.ceiling)
    assert found.half_correlation < 0


def test_ceiling_without_two_items_of_two_ratings_is_undefined():
    found = human_ceiling([[1, 2], [3, None]], rng=np.random.default_rng(0), n_splits=7)
    assert np.isnan([found.ceiling, found.reliability, found.half_correlation]).all()
    assert (found.n_items, found.n_undefined) == (1, 7)


def test_splits_without_a_correlation_are_counted():
    found = human_ceiling([[4, 4], [4, 4]], rng=np.random.default_rng(0), n_splits=7)
    assert np.isnan(found.ceiling)
    assert found.n_undefined == 7


def test_a_ceiling_needs_a_split():
    with pytest.raises(ValueError, match="n_splits must be at least 1; got 0"):
        human_ceiling([[1, 2], [2, 3]], rng=np.random.default_rng(0), n_splits=0)


@pytest.mark.parametrize("table", [np.empty((0, 3)), np.empty((3, 0)), [[1], [2]]])
def test_ceiling_without_two_ratings_of_an_item_is_undefined(table):
    found = human_ceiling(table, rng=np.random.default_rng(0), n_splits=3)
    assert np.isnan([found.ceiling, found.reliability]).all()
    assert (found.n_items, found.n_undefined) == (0, 3)


@pytest.mark.parametrize("table", [[1, 2], [["a", "b"]], [[1, np.inf]]])
def test_what_is_no_table_of_ratings_is_refused(table):
    with pytest.raises(ValueError, match="ratings must"):
        human_ceiling(table, rng=np.random.default_rng(0))


@pytest.mark.parametrize("n_raters", [2, 3, 6])
def test_ceiling_is_nearly_the_root_of_the_intraclass_correlation_of_the_mean(n_raters):
    rng = np.random.default_rng(5)
    table = ragged(rng, 300, n_raters, 1, 0)
    found = human_ceiling(table, rng=rng)
    assert found.ceiling**2 == pytest.approx(icc(table).mean, abs=0.01)
