from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from judgesmith.metrics.resampling.intervals import agreement_difference, agreement_interval
from judgesmith.metrics.resampling.jackknife import Bca, acceleration


def mean_of(points):
    return lambda counts: counts @ points / counts.sum(axis=1)


def test_the_acceleration_of_a_mean_is_a_sixth_of_its_standardised_third_moment():
    points = np.random.default_rng(0).exponential(size=25)
    centred = points - points.mean()
    expected = np.sum(centred**3) / (6 * np.sum(centred**2) ** 1.5)
    assert acceleration(mean_of(points), (25,)) == pytest.approx(expected)


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


def test_turning_the_sign_turns_the_interval_around_and_keeps_the_p_value():
    resampled = np.random.default_rng(3).exponential(size=500) - 0.1
    one = Bca.of(0.6, resampled, acceleration=0.05, n_units=40)
    other = Bca.of(-0.6, -resampled, acceleration=-0.05, n_units=40)
    assert other.interval(0.95) == pytest.approx(tuple(-end for end in one.interval(0.95)[::-1]))
    assert other.p_value() == pytest.approx(one.p_value())


@pytest.mark.parametrize("shift", [0.1, 0.35, 0.6, 1.2])
@pytest.mark.parametrize("a", [-0.05, 0.0, 0.08])
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


def test_agrees_with_the_interval_of_scipy():
    rng = np.random.default_rng(5)
    human = rng.normal(size=300)
    judge = human + 0.4 * rng.normal(size=300)
    found = agreement_interval(
        human,
        judge,
        sources=range(300),
        statistic="pearson",
        level="dataset",
        rng=rng,
        n_resamples=8000,
        method="bca",
    )
    theirs = stats.bootstrap(
        (judge, human),
        lambda x, y, axis: stats.pearsonr(x, y, axis=axis).statistic,
        paired=True,
        vectorized=True,
        n_resamples=4000,
        method="BCa",
        rng=rng,
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)


@pytest.mark.parametrize("resample", ["sources", "items", "systems", "both"])
@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
def test_every_unit_and_level_has_an_interval_and_a_p_value(level, resample):
    rng = np.random.default_rng(6)
    sources, systems = (each.ravel() for each in np.indices((20, 8)))
    human = rng.normal(size=160) + 0.2 * systems
    first, second = human + rng.normal(size=160), human + 3 * rng.normal(size=160)
    given = {
        "sources": sources,
        "systems": systems,
        "statistic": "spearman",
        "level": level,
        "rng": rng,
        "n_resamples": 2000,
        "resample": resample,
        "method": "bca",
    }
    found = agreement_interval(human, first, **given)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.n_groups == {"sources": 20, "items": 160}.get(resample, 8)
    paired = agreement_difference(human, first, second, **given)
    assert paired.low <= paired.value <= paired.high
    if abs(paired.p_value - 0.05) > 0.01:
        assert (paired.p_value < 0.05) == (paired.low > 0 or paired.high < 0)


@pytest.mark.parametrize("value", [0.02, 3.0])
def test_no_p_value_is_smaller_than_the_resamples_can_tell(value):
    resampled = np.linspace(0.01, 4, 99)
    bca = Bca.of(value, resampled, acceleration=0.2, n_units=10**6)
    assert bca.p_value() >= 2 / 100


def test_without_an_interval_there_is_no_p_value():
    # One source alone carries the skewness: the correction for it cannot be used.
    rng = np.random.default_rng(0)
    for seed in range(30):
        human = np.random.default_rng(seed).exponential(size=5) ** 6
        found = agreement_difference(
            human,
            human + 0.1,
            human[::-1],
            sources=range(5),
            statistic="pearson",
            level="dataset",
            rng=rng,
            n_resamples=50,
            confidence=0.999,
            method="bca",
        )
        assert np.isnan(found.low) == np.isnan(found.p_value)
