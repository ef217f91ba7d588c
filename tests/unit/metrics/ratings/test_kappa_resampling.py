import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.metrics.ratings.kappa import (
    RatedKinds,
    pairwise_kappa,
    weighted_kappa,
    weighted_kappa_difference,
    weighted_kappa_interval,
)
from judgesmith.metrics.resampling.draws import draws_of_sources

pytestmark = pytest.mark.no_cover

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


def test_large_resamples_are_made_in_blocks_of_the_same_result(monkeypatch):
    judge, human, sources = drawn(np.random.default_rng(3), 20, 4)
    rows = RatedKinds.of(human, [judge], sources=sources, levels=LEVELS)
    once = resampled(rows, "linear", np.random.default_rng(0), 50)
    monkeypatch.setattr("judgesmith.metrics.ratings.kappa._BLOCK_CELLS", 700)
    np.testing.assert_array_equal(resampled(rows, "linear", np.random.default_rng(0), 50), once)


def test_the_value_is_the_kappa_of_scored_rows_and_only_their_sources_count():
    judge, human, sources = drawn(np.random.default_rng(4), 12, 3)
    judge[:4] = np.nan
    found = weighted_kappa_interval(
        human, judge, sources=sources, levels=LEVELS, rng=np.random.default_rng(0)
    )
    assert found.value == weighted_kappa(human[4:], judge[4:], levels=LEVELS)
    assert found.low < found.value < found.high
    assert (found.n, found.n_groups, found.n_undefined) == (32, 11, 0)


def test_levels_that_are_not_declared_are_those_of_scored_rows():
    judge, human = [1, 5, 1, None], [1, 5, 5, 3]
    found = weighted_kappa_interval(human, judge, sources=range(4), rng=np.random.default_rng(0))
    assert found.value == weighted_kappa(human[:3], judge[:3])


@pytest.mark.parametrize(
    ("judge", "human", "sources", "n_undefined"),
    [
        ([2, 2, 2], [2, 2, 2], "abc", 1),
        ([1, 2, 2], [1, 2, 3], "aaa", 0),
        ([None, None], [1, 2], "ab", 1),
        ([], [], "", 1),
        ([1], [2], "a", 0),
    ],
)
def test_without_a_value_or_a_second_source_there_is_no_interval(
    judge, human, sources, n_undefined
):
    found = weighted_kappa_interval(
        human, judge, sources=list(sources), levels=LEVELS, rng=np.random.default_rng(0)
    )
    assert np.isnan([found.low, found.high]).all()
    assert np.isnan(found.value) == bool(n_undefined)
    assert found.n_undefined == n_undefined


def test_an_interval_needs_most_resamples_to_have_a_kappa():
    found = weighted_kappa_interval(
        [1, 1, 1, 1, 1, 2], [1, 1, 1, 1, 1, 2], sources=range(6), rng=np.random.default_rng(0)
    )
    assert found.value == 1
    assert np.isnan(found.low)


@pytest.mark.parametrize("per_source", [1, 6])
def test_nominal_95_percent_intervals_cover_about_that(per_source):
    rng = np.random.default_rng(5)
    truth = weighted_kappa(*drawn(rng, 60_000, 3)[:2], levels=LEVELS)
    held = 0
    for _ in range(150):
        judge, human, sources = drawn(rng, 40, per_source)
        found = weighted_kappa_interval(
            human, judge, sources=sources, levels=LEVELS, rng=rng, n_resamples=200
        )
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 150 <= 0.99


def test_a_paired_interval_is_about_the_rows_that_both_scored():
    rng = np.random.default_rng(6)
    first, human, sources = drawn(rng, 40, 5, noise=0.5)
    second = rng.permutation(first)
    first[0], second[1] = np.nan, np.nan
    found = weighted_kappa_difference(human, first, second, sources=sources, levels=LEVELS, rng=rng)
    assert found.first == weighted_kappa(human[2:], first[2:], levels=LEVELS)
    assert found.second == weighted_kappa(human[2:], second[2:], levels=LEVELS)
    assert found.value == found.first - found.second
    assert 0 < found.low < found.value < found.high
    assert (found.n, found.n_groups) == (198, 40)
    assert found.p_value < 0.01


def test_a_paired_interval_is_narrower_than_one_that_forgets_the_pairing():
    rng = np.random.default_rng(7)
    first, human, sources = drawn(rng, 60, 4)
    second = np.where(rng.random(len(first)) < 0.95, first, 3)
    paired = weighted_kappa_difference(
        human, first, second, sources=sources, levels=LEVELS, rng=rng
    )
    alone = weighted_kappa_interval(human, first, sources=sources, levels=LEVELS, rng=rng)
    assert paired.high - paired.low < 0.6 * (alone.high - alone.low)


def test_equal_judges_differ_by_nothing():
    judge, human, sources = drawn(np.random.default_rng(8), 20, 2)
    found = weighted_kappa_difference(
        human, judge, judge, sources=sources, levels=LEVELS, rng=np.random.default_rng(0)
    )
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_a_difference_without_a_kappa_on_either_side_is_undefined():
    found = weighted_kappa_difference(
        [2, 2, 2], [2, 2, 2], [1, 2, 2], sources=range(3), rng=np.random.default_rng(0)
    )
    assert np.isnan([found.value, found.low, found.p_value]).all()
    assert found.n_undefined == 1


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_pairwise_kappa_is_the_mean_over_pairs_of_raters_on_the_items_they_share(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 4, (9, 4)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    values, n = [], 0
    for one in range(4):
        for other in range(one + 1, 4):
            both = ~np.isnan(table[:, one]) & ~np.isnan(table[:, other])
            n += np.count_nonzero(both)
            values.append(weighted_kappa(table[both, other], table[both, one], levels=[1, 2, 3]))
    found = pairwise_kappa(table, levels=[1, 2, 3], rng=rng, n_resamples=20)
    assert found.value == pytest.approx(np.nanmean(values), nan_ok=True)
    assert (found.n, found.n_undefined) == (n, np.count_nonzero(np.isnan(values)))


def test_pairwise_kappa_draws_sources_if_they_are_given():
    rng = np.random.default_rng(9)
    judge, human, sources = drawn(rng, 30, 6)
    table = np.stack([judge, human], axis=1)
    by_item = pairwise_kappa(table, levels=LEVELS, rng=rng)
    by_source = pairwise_kappa(table, sources=sources, levels=LEVELS, rng=rng)
    assert by_source.value == by_item.value
    assert (by_source.n_groups, by_item.n_groups) == (30, 180)
    assert by_source.high - by_source.low > by_item.high - by_item.low


@pytest.mark.parametrize("table", [np.empty((0, 3)), [[1], [2]], [[1, None], [None, 2]]])
def test_pairwise_kappa_of_raters_who_share_no_item_is_undefined(table):
    found = pairwise_kappa(table, rng=np.random.default_rng(0))
    assert np.isnan([found.value, found.low]).all()
    assert found.n == 0


def test_a_difference_that_most_resamples_cannot_show_has_no_interval():
    found = weighted_kappa_difference(
        [1, 1, 1, 1, 1, 2],
        [1, 1, 1, 1, 1, 2],
        [1, 1, 1, 1, 2, 2],
        sources=range(6),
        rng=np.random.default_rng(0),
    )
    assert found.value > 0
    assert np.isnan([found.low, found.high, found.p_value]).all()


def test_settings_and_labels_that_cannot_be_are_refused():
    rng, rows = np.random.default_rng(0), ([1, 2], [1, 2])
    with pytest.raises(ValueError, match="one label per item"):
        weighted_kappa_interval(*rows, sources=[1], rng=rng)
    with pytest.raises(TypeError, match=r"numpy\.random\.Generator"):
        weighted_kappa_interval(*rows, sources=[1, 2], rng="0")
    with pytest.raises(ValueError, match="at least 20 resamples"):
        weighted_kappa_difference([1, 2], *rows, sources=[1, 2], rng=rng, n_resamples=5)
    with pytest.raises(ValueError, match="aligned"):
        weighted_kappa_difference([1, 2], [1, 2], [1], sources=[1, 2], rng=rng)
    with pytest.raises(ValueError, match="weights must be one of"):
        pairwise_kappa([[1, 2]], weights="none", rng=rng)
    with pytest.raises(ValueError, match="ratings holds 1 of 2"):
        pairwise_kappa([[1, 2]], levels=[1, 3], rng=rng)
