import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.audits.bias import length_bias

rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 400)), min_size=4, max_size=20
)


def bias(predicted, human, lengths, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return length_bias(human, predicted, lengths, rng=np.random.default_rng(seed), **settings)


def slope(judge, human, length):
    """Return the coefficient of length, all three standardised, from a regression on rows."""
    z = [(each - each.mean()) / each.std() for each in (judge, human, length)]
    return np.linalg.lstsq(np.stack([z[1], z[2]], axis=1), z[0], rcond=None)[0][1]


def answers(rng, n_sources=40, by_length=0.0, human_noise=0.0):
    """Return judge, people, lengths and sources; ``by_length`` is the bias of the judge."""
    sources = np.repeat(np.arange(n_sources), 4)
    quality = 0.5 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
    log_length = 0.6 * quality + 0.8 * rng.normal(size=sources.size)
    judge = quality + by_length * log_length + 0.5 * rng.normal(size=sources.size)
    human = quality + human_noise * rng.normal(size=sources.size)
    return judge, human, np.exp(log_length), sources


@pytest.mark.no_cover
@given(rows)
def test_the_slope_is_that_of_a_regression_on_standardised_rows(table):
    judge, human, lengths = (np.array(each, dtype=float) for each in zip(*table, strict=True))
    found = bias(judge, human, lengths)
    logs = np.log(lengths)
    flat = min(np.ptp(judge), np.ptp(human), np.ptp(logs)) == 0
    if flat or abs(np.corrcoef(human, logs)[0, 1]) > 0.999:
        return
    assert found.slope.value == pytest.approx(slope(judge, human, logs), abs=1e-9)
    ranks = [stats.rankdata(each) for each in (judge, human, lengths)]
    if abs(np.corrcoef(ranks[1], ranks[2])[0, 1]) < 0.999:
        assert found.rank_slope.value == pytest.approx(slope(*ranks), abs=1e-9)
    assert found.correlation.value == pytest.approx(stats.pearsonr(judge, logs).statistic)
    assert found.human_correlation.value == pytest.approx(stats.pearsonr(human, logs).statistic)


def test_units_and_scales_change_nothing():
    judge, human, lengths, sources = answers(np.random.default_rng(0), by_length=0.3)
    one = bias(judge, human, lengths, sources=sources)
    other = bias(10 * judge + 3, human / 2 - 1, 5 * lengths, sources=sources)
    for name in ("slope", "rank_slope", "correlation", "human_correlation"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first.value, first.low) == pytest.approx((second.value, second.low))


def test_ranks_do_not_mind_the_shape_of_the_scales():
    judge, human, lengths, _ = answers(np.random.default_rng(1), by_length=0.3)
    one, other = bias(judge, human, lengths), bias(np.exp(judge), human**3, lengths**2)
    assert one.rank_slope == other.rank_slope
    assert one.slope.value != pytest.approx(other.slope.value)


def test_a_judge_that_says_what_people_say_has_no_slope_though_it_goes_with_length():
    _, human, lengths, _ = answers(np.random.default_rng(2))
    found = bias(human, human, lengths)
    assert found.slope.value == pytest.approx(0, abs=1e-12)
    assert found.correlation.value > 0.4


@pytest.mark.no_cover
def test_a_fair_judge_is_cleared_as_often_as_the_interval_claims():
    rng, covered, ranked = np.random.default_rng(3), 0, 0
    for seed in range(300):
        judge, human, lengths, sources = answers(rng)
        found = bias(judge, human, lengths, seed, sources=sources, n_resamples=300)
        covered += found.slope.low <= 0 <= found.slope.high
        ranked += found.rank_slope.low <= 0.05 <= found.rank_slope.high
    assert 0.91 <= covered / 300 <= 0.98


def test_noise_in_human_scores_looks_like_bias_unless_its_size_is_given():
    # Of people: the variance of quality is 1.25, that of their noise 1. Good answers are long.
    judge, human, lengths, _ = answers(np.random.default_rng(4), n_sources=8000, human_noise=1.0)
    assert bias(judge, human, lengths).slope.value > 0.2
    told = bias(judge, human, lengths, reliability=1.25 / 2.25)
    assert told.slope.value == pytest.approx(0, abs=0.02)


def test_what_cannot_be_told_apart_is_undefined():
    human, lengths = [1, 2, 3, 4], [10, 100, 1000, 10_000]
    assert np.isnan(bias([1, 3, 2, 4], human, lengths).slope.value)
    assert bias([1, 3, 2, 4], human, lengths).correlation.value == pytest.approx(0.8)
    flat = bias([3, 3, 3, 3], human, [5, 9, 7, 7])
    assert np.isnan([flat.slope.value, flat.correlation.value, flat.slope.low]).all()
    equal = bias([1, 3, 2, 4], human, [7] * 4)
    assert np.isnan(
        [equal.slope.value, equal.rank_slope.value, equal.human_correlation.value]
    ).all()
    assert np.isnan(bias([], [], []).slope.value)
    assert np.isnan(bias([1, 2, 4, 3], [1, 3, 2, 4], [9, 8, 7, 5], reliability=0.01).slope.value)


def test_unscored_rows_are_left_out_and_counted():
    judge, human, lengths, _ = answers(np.random.default_rng(5))
    judge[[2, 7]] = np.nan
    kept = ~np.isnan(judge)
    found, alone = bias(judge, human, lengths), bias(judge[kept], human[kept], lengths[kept])
    assert found.n_unscored == 2
    assert (found.slope, found.rank_slope) == (alone.slope, alone.rank_slope)
    assert found.slope.n == 158


def test_any_kind_of_vector_is_taken():
    given = bias(pd.Series([1.0, 3, 2, 5]), (1, 2, 3, 4), np.array([9, 7, 8, 5], dtype=object))
    plain = bias([1, 3, 2, 5], [1, 2, 3, 4], [9, 7, 8, 5])
    assert given.slope.value == plain.slope.value


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"lengths": [1, 0, 2]}, ValueError, "lengths must be above 0; the one at index 1"),
        ({"lengths": [1, 2]}, ValueError, "lengths must hold one score per item; got 2 for 3"),
        ({"lengths": [1, None, 2]}, ValueError, "lengths has no finite score"),
        ({"human": [1, None, 2]}, ValueError, "human has no finite score"),
        ({"judge": ["good"] * 3}, ValueError, "judge must be a vector of numbers"),
        ({"judge": [1, np.inf, 2]}, ValueError, "judge has no finite score"),
        ({"reliability": 0}, ValueError, "reliability must be above 0"),
        ({"sources": [1, 2]}, ValueError, "sources must hold one label per item"),
        ({"sources": [1, 2, None]}, ValueError, "sources holds a missing label"),
        ({"rng": 1.5}, TypeError, "rng must be a whole number or a numpy.random.Generator"),
    ],
)
def test_what_cannot_be_is_refused(change, error, message):
    given = {
        "judge": [1, 2, 3],
        "human": [1, 2, 3],
        "lengths": [1, 2, 3],
        "rng": np.random.default_rng(0),
    }
    with pytest.raises(error, match=message):
        length_bias(**(given | change))
