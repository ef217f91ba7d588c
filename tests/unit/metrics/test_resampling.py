"""Inside metrics: resampling."""

from statistics import NormalDist
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each
from scipy import stats

from judgesmith.metrics.correlation import Statistic
from judgesmith.metrics.correlation.coefficients import group_correlations
from judgesmith.metrics.correlation.levels import ScoredRows, level_value
from judgesmith.metrics.resampling import counted, draws
from judgesmith.metrics.resampling import counted as counted_pairs
from judgesmith.metrics.resampling import counted as module
from judgesmith.metrics.resampling.counted import of_counts, of_units, within_sources
from judgesmith.metrics.resampling.draws import check_resample, draws_of_units, without_each
from judgesmith.metrics.resampling.jackknife import Bca, acceleration

# -- bca -----------------------------------------------------------------------------------------


def mean_of(points):
    return lambda counts: counts @ points / counts.sum(axis=1)


def test_the_acceleration_of_a_mean_is_a_sixth_of_its_standardised_third_moment():
    points = np.random.default_rng(0).exponential(size=25)
    centred = points - points.mean()
    expected = np.sum(centred**3) / (6 * np.sum(centred**2) ** 1.5)
    assert acceleration(mean_of(points), (25,)) == pytest.approx(expected)


def test_the_ends_are_those_of_the_formula():
    rng = np.random.default_rng(2)
    resampled, value, a, confidence = rng.exponential(size=999), 0.5, 0.04, 0.9
    normal = NormalDist()
    z0 = normal.inv_cdf(np.mean(resampled < value))
    quantile = stats.t.ppf(0.05, 29) * np.sqrt(30 / 29)
    shares = [normal.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in (quantile, -quantile)]
    found = Bca.of(value, resampled, acceleration=a, n_units=30).interval(confidence)
    assert found == pytest.approx(tuple(np.quantile(resampled, shares)))


def test_without_bias_and_acceleration_it_is_the_percentile_interval():
    resampled = np.linspace(-1, 1, 201)
    bca = Bca.of(0.0, resampled, acceleration=0.0, n_units=10**7)
    assert bca.interval(0.9) == pytest.approx((-0.9, 0.9), abs=1e-3)


@for_each("shift", [0.1, 0.35, 0.6, 1.2])
@for_each("a", [-0.05, 0.0, 0.08])
def test_the_p_value_is_where_the_interval_ends_at_zero(shift, a):
    resampled = np.random.default_rng(4).normal(size=20_000) * 0.4 + shift
    bca = Bca.of(shift + 0.02, resampled, acceleration=a, n_units=25)
    low, _ = bca.interval(1 - bca.p_value())
    assert low == pytest.approx(0, abs=0.02)


def test_resamples_that_are_all_equal_to_the_value_give_an_interval_of_no_length():
    bca = Bca.of(1.0, np.ones(50), acceleration=0.0, n_units=9)
    assert bca.interval(0.95) == (1.0, 1.0)
    assert Bca.of(0.0, np.zeros(50), acceleration=0.0, n_units=9).p_value() == 1.0


@pytest.mark.parametrize(
    ("value", "resampled", "a"),
    [
        (2.0, np.linspace(0, 1, 50), 0.0),
        (0.5, np.full(50, np.nan), 0.0),
        (0.5, np.linspace(0, 1, 50), float("nan")),
        (0.5, np.linspace(0, 1, 50), 5.0),
    ],
)
def test_where_a_correction_is_undefined_there_is_no_interval(value, resampled, a):
    bca = Bca.of(value, resampled, acceleration=a, n_units=9)
    assert np.isnan(bca.interval(0.95)).all()


@pytest.mark.parametrize("a", [float("nan"), 5.0])
def test_where_the_acceleration_cannot_be_used_no_p_value_is_small(a):
    found = Bca.of(0.5, np.linspace(0.1, 1, 50), acceleration=a, n_units=9).p_value()
    assert np.isnan(found) or found == 1.0


def test_nothing_varies_if_no_unit_matters_and_nan_without_a_unit_stays():
    assert acceleration(lambda counts: np.ones(len(counts)), (4,)) == 0.0
    assert np.isnan(acceleration(lambda counts: np.where(counts[:, 0] > 0, 1.0, np.nan), (4,)))


def test_too_many_units_are_refused_with_the_limit():
    with pytest.raises(ValueError, match="at most 20000 of them; got 20001"):
        acceleration(mean_of(np.ones(20_001)), (20_001,))


@pytest.mark.parametrize("value", [0.02, 3.0])
def test_no_p_value_is_smaller_than_the_resamples_can_tell(value):
    resampled = np.linspace(0.01, 4, 99)
    bca = Bca.of(value, resampled, acceleration=0.2, n_units=10**6)
    assert bca.p_value() >= 2 / 100


# -- counted -------------------------------------------------------------------------------------


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
@for_each("statistic", STATISTICS)
@for_each("level", ["system", "sample", "dataset"])
@for_each("levels", [False, True])
@for_each(("n", "n_sources"), [(40, 8), (90, 3)])
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


@for_each("statistic", [one for one in STATISTICS if one != "concordance"])
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


@for_each("statistic", STATISTICS)
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


# -- drawn units ---------------------------------------------------------------------------------


STATISTICS_of_drawn_units = ["pearson", "spearman", "kendall", "kendall_c", "concordance", "q"]
LEVELS = ["system", "sample", "dataset"]
RESAMPLES = ["sources", "items", "systems", "both"]


def table_of_drawn_units(seed, *, levels, design, n_sources=7, n_systems=6):
    """Return scores in a design with all cells, with gaps, or with several rows in a cell."""
    rng = np.random.default_rng(seed)
    sources, systems = (
        each.ravel() for each in np.meshgrid(range(n_sources), range(n_systems), indexing="ij")
    )
    if design == "gaps":
        kept = rng.random(len(sources)) < 0.7
        kept[: n_systems + 1] = True
        kept[::n_systems] = True
        sources, systems = sources[kept], systems[kept]
    if design == "repeats":
        drawn = np.concatenate([np.arange(len(sources)), rng.integers(len(sources), size=20)])
        sources, systems = sources[drawn], systems[drawn]
    x = rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    y = x + rng.normal(size=len(sources))
    if levels:
        x, y = np.round(x), np.round(y)
    return x + 2.0, y, sources, systems


def value_of_repeated_rows_of_drawn_units(
    x, y, sources, systems, resample, counts, statistic, level
):
    """Repeat rows as drawn; copies of a source or a system are new ones."""
    drawn = []
    for row, (source, system) in enumerate(zip(sources, systems, strict=True)):
        times_source = times_system = times_row = 1
        if resample in ("sources", "both"):
            times_source = int(counts[0][source])
        if resample in ("systems", "both"):
            times_system = int(counts[-1][system])
        if resample == "items":
            times_row = int(counts[0][row])
        drawn += [
            (row, f"{source} copy {a}", f"{system} copy {b}")
            for a in range(times_source)
            for b in range(times_system)
            for _ in range(times_row)
        ]
    if not drawn:
        return np.nan
    rows, source_copies, system_copies = (list(each) for each in zip(*drawn, strict=True))
    repeated = scored_rows(x[rows], y[rows], source_copies, system_copies, level)
    return level_value(repeated, statistic, level).value


def sizes_of(rows, resample):
    return {
        "sources": (rows.n_sources,),
        "items": (len(rows.sources),),
        "systems": (rows.n_systems,),
        "both": (rows.n_sources, rows.n_systems),
    }[resample]


@pytest.mark.no_cover
@pytest.mark.parametrize(("design", "levels"), [("full", True), ("gaps", False), ("repeats", True)])
@pytest.mark.parametrize("resample", RESAMPLES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("statistic", STATISTICS_of_drawn_units)
def test_equals_the_statistic_of_the_repeated_rows_of_drawn_units(
    statistic, level, resample, levels, design
):
    x, y, sources, systems = table_of_drawn_units(3, levels=levels, design=design)
    rows = scored_rows(x, y, sources, systems, level)
    (drawn,) = draws_of_units(sizes_of(rows, resample), 12, np.random.default_rng(1))
    expected = [
        value_of_repeated_rows_of_drawn_units(
            x, y, sources, systems, resample, counts, statistic, level
        )
        for counts in zip(*drawn, strict=True)
    ]
    found = of_units(rows, statistic, level, resample)(*drawn)
    assert np.isfinite(found).any()
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.no_cover
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(STATISTICS_of_drawn_units),
    st.sampled_from(LEVELS),
    st.sampled_from(RESAMPLES),
)
def test_small_designs_with_many_undefined_values_equal_the_repeated_rows(
    seed, statistic, level, resample
):
    x, y, sources, systems = table_of_drawn_units(
        seed, levels=True, design="gaps", n_sources=3 + seed % 2, n_systems=2 + seed % 3
    )
    rows = scored_rows(x, y, sources, systems, level)
    (drawn,) = draws_of_units(sizes_of(rows, resample), 6, np.random.default_rng(seed))
    expected = [
        value_of_repeated_rows_of_drawn_units(
            x, y, sources, systems, resample, counts, statistic, level
        )
        for counts in zip(*drawn, strict=True)
    ]
    found = of_units(rows, statistic, level, resample)(*drawn)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.no_cover
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("resample", ["items", "systems", "both"])
def test_blocks_do_not_change_the_values(level, resample, monkeypatch):
    rows = scored_rows(*table_of_drawn_units(6, levels=False, design="full"), level)
    (drawn,) = draws_of_units(sizes_of(rows, resample), 60, np.random.default_rng(2))
    whole = of_units(rows, "q", level, resample)(*drawn)
    monkeypatch.setattr(counted, "_BLOCK_CELLS", 1)
    np.testing.assert_allclose(of_units(rows, "q", level, resample)(*drawn), whole, atol=1e-12)


@pytest.mark.no_cover
def test_draws_of_both_are_independent_and_as_many_as_there_are():
    drawn = list(draws_of_units((3, 5), 4000, np.random.default_rng(0)))
    sources, systems = (np.concatenate(each) for each in zip(*drawn, strict=True))
    assert (sources.shape, systems.shape) == ((4000, 3), (4000, 5))
    assert set(sources.sum(axis=1)) == {3.0}
    assert set(systems.sum(axis=1)) == {5.0}
    assert sources.mean(axis=0) == pytest.approx(1, abs=0.05)
    assert abs(np.corrcoef(sources[:, 0], systems[:, 0])[0, 1]) < 0.05


@pytest.mark.no_cover
def test_leaving_out_each_unit_covers_all_of_one_kind_and_none_of_the_other(monkeypatch):
    monkeypatch.setattr(draws, "_BATCH_CELLS", 1)
    batches = list(without_each((3, 20), 1))
    assert len(batches) == 20
    sources, systems = (np.concatenate(each) for each in zip(*batches, strict=True))
    assert (sources == 1).all()
    np.testing.assert_array_equal(systems, 1 - np.eye(20))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("resample", "message"),
    [("rows", "resample must be one of"), ("both", "resample='both' needs systems=")],
)
def test_units_that_there_are_not_are_refused(resample, message):
    with pytest.raises(ValueError, match=message):
        check_resample(resample, has_systems=False)


# -- within sources ------------------------------------------------------------------------------


STATISTICS_of_within_sources = ["pearson", "spearman", "kendall", "kendall_c", "concordance", "q"]


def scored_rows_of_within_sources(x, y, sources):
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
@pytest.mark.parametrize("statistic", STATISTICS_of_within_sources)
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
    rows = scored_rows_of_within_sources(x, y, sources)
    counts = rng.poisson(1.0, size=(40, len(sources))).astype(float)
    found = within_sources(rows, statistic, np.arange(len(sources)), len(sources))(counts)
    expected = np.stack([repeated(rows, statistic, each) for each in counts])
    assert np.isnan(expected).any()
    np.testing.assert_allclose(found, expected, atol=1e-10)


@for_each("statistic", STATISTICS_of_within_sources)
def test_rows_never_drawn_change_nothing_and_none_drawn_is_undefined(statistic):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 8))
    units = np.repeat(np.arange(4), 2)
    found = within_sources(
        scored_rows_of_within_sources(x, y, list("ab") * 4), statistic, units, 4
    )(np.array([[1, 1, 1, 0], [0, 0, 0, 0]]))
    alone = within_sources(
        scored_rows_of_within_sources(x[:6], y[:6], list("ab") * 3), statistic, units[:6], 3
    )(np.ones((1, 3)))
    np.testing.assert_allclose(found[0], alone[0], atol=1e-12)
    assert np.isnan(found[1]).all()


def test_many_sources_are_stacked_in_pieces(monkeypatch):
    rng = np.random.default_rng(2)
    sources = np.repeat(np.arange(50), 4)
    rows = scored_rows_of_within_sources(*rng.normal(size=(2, 200)), sources)
    counts = rng.poisson(1.0, size=(5, 4)).astype(float)
    units = np.tile(np.arange(4), 50)
    whole = within_sources(rows, "q", units, 4)(counts)
    monkeypatch.setattr(module, "_STACK_CELLS", 50)
    np.testing.assert_array_equal(within_sources(rows, "q", units, 4)(counts), whole)


def test_of_two_kinds_of_units_all_influences_are_pooled():
    first, second = np.random.default_rng(1).exponential(size=(2, 12))
    second = second[:5]

    def difference(one, other):
        return mean_of(first)(one) - mean_of(second)(other)

    influence = np.concatenate(
        [(first - first.mean()) / len(first), -(second - second.mean()) / len(second)]
    )
    expected = np.sum(influence**3) / (6 * np.sum(influence**2) ** 1.5)
    assert acceleration(difference, (12, 5)) == pytest.approx(expected)
