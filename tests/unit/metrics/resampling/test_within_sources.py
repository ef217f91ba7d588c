import numpy as np
import pytest

from judgesmith.metrics.correlation.coefficients import group_correlations
from judgesmith.metrics.correlation.levels import ScoredRows
from judgesmith.metrics.resampling import counted as module
from judgesmith.metrics.resampling.counted import within_sources

STATISTICS = ["pearson", "spearman", "kendall", "kendall_c", "concordance", "q"]


def scored_rows(x, y, sources):
    return ScoredRows.of(
        np.asarray(y, float),
        np.asarray(x, float),
        sources=sources,
        systems=None,
        level="sample",
        scored=np.ones(len(x), bool),
    )


def repeated(rows, statistic, counts):
    drawn = np.repeat(np.arange(len(counts)), counts.astype(int))
    x, y = (one.take(drawn) for one in (rows.judge, rows.human))
    return group_correlations(statistic, x, y, rows.sources[drawn], rows.n_sources)


@pytest.mark.no_cover
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("limits", [{}, {"_LARGEST_STACKED": 6}, {"_BLOCK_CELLS": 1}])
@pytest.mark.parametrize("ordinal", [False, True])
def test_sources_of_all_sizes_equal_those_of_repeated_rows(statistic, limits, ordinal, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(module, name, value)
    rng = np.random.default_rng(0)
    sources = rng.permutation(np.repeat(np.arange(9), [1, 2, 2, 3, 4, 5, 9, 17, 30]))
    x, y = rng.normal(size=(2, len(sources)))
    if ordinal:
        x, y = np.round(x), np.round(y)
    rows = scored_rows(x, y, sources)
    counts = rng.poisson(1.0, size=(40, len(sources))).astype(float)
    found = within_sources(rows, statistic, np.arange(len(sources)), len(sources))(counts)
    expected = np.stack([repeated(rows, statistic, each) for each in counts])
    assert np.isnan(expected).any()
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-5, 1e-9])
def test_pearson_keeps_its_digits_where_a_resample_varies_far_less_than_all_rows(scale):
    x = np.array([0.0, 1.0, 2.0, 1.0, 1 / scale])
    y = np.array([0.0, 1.0, 0.0, 3.0, 2.0])
    rows = scored_rows(x, y, ["a"] * 5)
    counts = np.array([[1, 1, 1, 1, 0], [2, 0, 0, 1, 0], [3, 0, 0, 0, 0]])
    found = within_sources(rows, "pearson", np.arange(5), 5)(counts)[:, 0]
    assert found[0] == pytest.approx(np.corrcoef(x[:4], y[:4])[0, 1], abs=1e-7)
    assert found[1] == pytest.approx(1.0)
    assert np.isnan(found[2])


@pytest.mark.parametrize("statistic", STATISTICS)
def test_rows_never_drawn_change_nothing_and_none_drawn_is_undefined(statistic):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 8))
    units = np.repeat(np.arange(4), 2)
    found = within_sources(scored_rows(x, y, list("ab") * 4), statistic, units, 4)(
        np.array([[1, 1, 1, 0], [0, 0, 0, 0]])
    )
    alone = within_sources(scored_rows(x[:6], y[:6], list("ab") * 3), statistic, units[:6], 3)(
        np.ones((1, 3))
    )
    np.testing.assert_allclose(found[0], alone[0], atol=1e-12)
    assert np.isnan(found[1]).all()


def test_many_sources_are_stacked_in_pieces(monkeypatch):
    rng = np.random.default_rng(2)
    sources = np.repeat(np.arange(50), 4)
    rows = scored_rows(*rng.normal(size=(2, 200)), sources)
    counts = rng.poisson(1.0, size=(5, 4)).astype(float)
    units = np.tile(np.arange(4), 50)
    whole = within_sources(rows, "q", units, 4)(counts)
    monkeypatch.setattr(module, "_STACK_CELLS", 50)
    np.testing.assert_array_equal(within_sources(rows, "q", units, 4)(counts), whole)
