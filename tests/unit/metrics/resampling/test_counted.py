from typing import get_args

import numpy as np
import pytest

from judgesmith.metrics.correlation.coefficients import Statistic
from judgesmith.metrics.correlation.levels import ScoredRows, agreement, level_value
from judgesmith.metrics.resampling import counted
from judgesmith.metrics.resampling import counted as counted_pairs
from judgesmith.metrics.resampling.counted import of_counts
from judgesmith.metrics.resampling.intervals import agreement_interval

STATISTICS = get_args(Statistic)


def table(n, n_sources, *, levels, seed):
    rng = np.random.default_rng(seed)
    sources = rng.permutation(np.arange(n) % n_sources)
    x = rng.normal(size=n_sources)[sources] + rng.normal(size=n)
    y = x + rng.normal(size=n)
    if levels:
        x, y = np.round(x), np.round(y)
    return x + 50.0, y, sources, rng.integers(4, size=n)


def scored_rows(x, y, sources, systems, level):
    return ScoredRows.of(
        y, x, sources=sources, systems=systems, level=level, scored=np.ones(len(x), bool)
    )


def value_of_repeated_rows(x, y, sources, systems, names, counts, statistic, level):
    """Repeat the rows of each source; its copies are sources of their own."""
    drawn = [
        (row, f"{source} copy {copy}")
        for source, count in zip(names, counts, strict=True)
        for copy in range(int(count))
        for row in np.flatnonzero(sources == source)
    ]
    rows, copies = (list(each) for each in zip(*drawn, strict=True))
    repeated = scored_rows(x[rows], y[rows], copies, systems[rows], level)
    return level_value(repeated, statistic, level).value


@pytest.mark.no_cover
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize(("n", "n_sources"), [(40, 8), (30, 30), (90, 3)])
def test_equals_the_statistic_of_the_repeated_rows(statistic, level, levels, n, n_sources):
    x, y, sources, systems = table(n, n_sources, levels=levels, seed=n)
    rows = scored_rows(x, y, sources, systems, level)
    names = list(dict.fromkeys(sources.tolist()))
    rng = np.random.default_rng(1)
    counts = rng.multinomial(n_sources, np.full(n_sources, 1 / n_sources), size=12)
    expected = [
        value_of_repeated_rows(x, y, sources, systems, names, each, statistic, level)
        for each in counts
    ]
    found = of_counts(rows, statistic, level)(counts)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("levels", [False, True])
def test_all_ways_to_count_pairs_agree(levels):
    rows = scored_rows(*table(200, 40, levels=levels, seed=5), "dataset")
    counts = np.random.default_rng(0).multinomial(40, np.full(40, 1 / 40), size=50).astype(float)
    by_comparing = counted_pairs._pairs_by_comparing(rows)(counts)
    np.testing.assert_array_equal(counted_pairs._pairs_by_inversions(rows)(counts), by_comparing)
    np.testing.assert_array_equal(counted_pairs._pairs_by_table(rows)(counts), by_comparing)


@pytest.mark.parametrize("statistic", [one for one in STATISTICS if one != "concordance"])
def test_resamples_in_which_a_list_is_constant_are_undefined(statistic):
    x = np.array([0.1, 0.1 + 1e-16, 0.3, 0.3])
    rows = scored_rows(x, np.arange(4.0), list("aabb"), None, "dataset")
    values = of_counts(rows, statistic, "dataset")(np.array([[2, 0], [1, 1], [0, 2]]))
    assert np.isnan(values).tolist() == [True, False, True]


def test_concordance_is_zero_where_one_list_is_constant_and_undefined_where_both_are_equal():
    x, y = np.array([3.0, 3.0, 5.0, 4.0]), np.array([3.0, 3.0, 1.0, 4.0])
    rows = scored_rows(x, y, list("aabc"), None, "dataset")
    values = of_counts(rows, "concordance", "dataset")(
        np.array([[2, 0, 0], [0, 3, 0], [1, 0, 1], [0, 0, 1], [0, 1, 0]])
    )
    np.testing.assert_allclose(values, [np.nan, 0.0, 1.0, np.nan, np.nan])


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_concordance_keeps_its_digits_far_from_zero_and_where_resamples_hardly_vary(offset):
    x = np.array([0.0, 1.0, 2.0, 1.0, 1e6]) + offset
    y = np.array([0.0, 1.0, 2.0, 3.0, 2.0]) + offset
    rows = scored_rows(x, y, list("aaaab"), None, "dataset")
    value = of_counts(rows, "concordance", "dataset")(np.array([[1, 0]]))[0]
    assert value == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-5, 1e-9])
def test_pearson_keeps_its_digits_where_a_resample_varies_far_less_than_all_rows(scale):
    x = np.array([0.0, 1.0, 2.0, 1.0, 1 / scale])
    y = np.array([0.0, 1.0, 0.0, 3.0, 2.0])
    rows = scored_rows(x, y, list("aaaab"), None, "dataset")
    value = of_counts(rows, "pearson", "dataset")(np.array([[1, 0]]))[0]
    assert value == pytest.approx(np.corrcoef(x[:4], y[:4])[0, 1], abs=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_blocks_of_resamples_do_not_change_the_values(statistic, monkeypatch):
    rows = scored_rows(*table(60, 10, levels=False, seed=2), "dataset")
    counts = np.random.default_rng(0).multinomial(10, np.full(10, 0.1), size=100)
    whole = of_counts(rows, statistic, "dataset")(counts)
    monkeypatch.setattr(counted, "_BLOCK_CELLS", 1)
    np.testing.assert_allclose(of_counts(rows, statistic, "dataset")(counts), whole, atol=1e-12)


@pytest.mark.no_cover
@pytest.mark.parametrize("statistic", ["concordance", "kendall_c"])
def test_intervals_hold_the_truth_about_as_often_as_they_claim(statistic):
    rng = np.random.default_rng(0)

    def draw(n_sources):
        sources = np.arange(n_sources * 5) // 5
        true = rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
        return 0.7 * true + rng.normal(size=len(sources)) + 0.5, np.round(true), sources

    judge, people, sources = draw(20_000)
    given = {"statistic": statistic, "level": "dataset"}
    truth = agreement(people, judge, sources=sources, **given).value
    held = 0
    for _ in range(100):
        judge, people, sources = draw(40)
        found = agreement_interval(
            people, judge, sources=sources, **given, rng=rng, n_resamples=200
        )
        held += found.low <= truth <= found.high
    assert 0.88 <= held / 100 <= 0.99


@pytest.mark.parametrize("statistic", ["kendall", "kendall_c"])
def test_the_way_to_count_pairs_depends_on_rows_and_levels_and_changes_nothing(
    statistic, monkeypatch
):
    rows = scored_rows(*table(200, 100, levels=True, seed=7), "dataset")
    counts = np.random.default_rng(0).multinomial(100, np.full(100, 1 / 100), size=20)
    found = []
    for name in (None, "_TABLE_CELLS", "_PAIRWISE_ROWS", "_TALLY_CELLS"):
        if name:
            monkeypatch.setattr(counted_pairs, name, 100)
        found.append(of_counts(rows, statistic, "dataset")(counts))
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], atol=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_two_constant_lists_are_undefined_in_every_resample(statistic):
    rows = scored_rows(np.full(4, 3.0), np.full(4, 3.0), list("aabb"), None, "dataset")
    assert np.isnan(of_counts(rows, statistic, "dataset")(np.array([[2, 0], [1, 1]]))).all()


@pytest.mark.parametrize("statistic", STATISTICS)
def test_without_a_scored_row_every_resample_is_undefined(statistic):
    rows = ScoredRows.of(
        np.arange(3.0),
        np.full(3, np.nan),
        sources=list("abb"),
        systems=None,
        level="dataset",
        scored=np.zeros(3, bool),
    )
    assert np.isnan(of_counts(rows, statistic, "dataset")(np.array([[2, 0], [1, 1]]))).all()
