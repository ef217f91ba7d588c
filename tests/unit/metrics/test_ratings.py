"""Inside metrics: ratings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.metrics.ratings import weighted_kappa
from judgesmith.metrics.ratings.kappa import (
    RatedKinds,
    checked_levels,
    kappa_of_tables,
    level_codes,
    table_cells,
)
from judgesmith.metrics.resampling.draws import draws_of_sources

# -- kappa ---------------------------------------------------------------------------------------


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


# -- kappa resampling ----------------------------------------------------------------------------


WEIGHTS = ["linear", "quadratic", "nominal"]
LEVELS = [1, 2, 3, 4, 5]


def resampled(rows, weights, rng, n):
    """Return the kappa of each table in each resample."""
    kappas = rows.kappas(weights)
    return np.concatenate([kappas(*counts) for counts in rows.draws(rng, n)])


def drawn(rng, n_sources, per_source, noise=1.0):
    sources = np.repeat(np.arange(n_sources), per_source)
    true = rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    judge, human = (
        np.clip(np.round(3 + true + noise * rng.normal(size=len(sources))), 1, 5) for _ in range(2)
    )
    return judge, human, sources


@pytest.mark.no_cover
@given(st.integers(0, 10**6), st.sampled_from(WEIGHTS))
@settings(max_examples=15)
def test_each_resample_has_the_kappa_of_its_repeated_rows(seed, weights):
    judge, human, sources = drawn(np.random.default_rng(seed), 6, 3)
    sources = sources + (np.arange(18) == 17)
    rows = RatedKinds.of(human, [judge], sources=sources, levels=LEVELS)
    found = resampled(rows, weights, np.random.default_rng(seed), 30)[:, 0]
    (counts,) = draws_of_sources(7, 30, np.random.default_rng(seed))
    for value, count in zip(found, counts, strict=True):
        again = np.repeat(np.arange(18), count[sources].astype(int))
        expected = weighted_kappa(human[again], judge[again], levels=LEVELS, weights=weights)
        assert value == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.no_cover
def test_drawing_rows_as_a_table_gives_the_same_interval_as_drawing_them_one_by_one():
    judge, human, _ = drawn(np.random.default_rng(0), 150, 1)
    rows = RatedKinds.of(human, [judge], sources=range(150), levels=LEVELS)
    assert rows.n_sources == 150
    found = resampled(rows, "linear", np.random.default_rng(1), 4000)[:, 0]
    (counts,) = draws_of_sources(150, 4000, np.random.default_rng(2))
    one_by_one = [
        weighted_kappa(human[again], judge[again], levels=LEVELS)
        for again in (np.repeat(np.arange(150), count.astype(int)) for count in counts[:800])
    ]
    np.testing.assert_allclose(
        np.quantile(found, [0.05, 0.5, 0.95]),
        np.quantile(one_by_one, [0.05, 0.5, 0.95]),
        atol=0.015,
    )


@pytest.mark.no_cover
def test_large_resamples_are_made_in_blocks_of_the_same_result(monkeypatch):
    judge, human, sources = drawn(np.random.default_rng(3), 20, 4)
    rows = RatedKinds.of(human, [judge], sources=sources, levels=LEVELS)
    once = resampled(rows, "linear", np.random.default_rng(0), 50)
    monkeypatch.setattr("judgesmith.metrics.ratings.kappa._BLOCK_CELLS", 700)
    np.testing.assert_array_equal(resampled(rows, "linear", np.random.default_rng(0), 50), once)
