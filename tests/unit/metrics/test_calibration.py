"""Inside metrics: calibration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy import stats

from judgesmith.metrics.calibration import abstention as module
from judgesmith.metrics.calibration.abstention import _p_value
from judgesmith.metrics.resampling.jackknife import left_out_interval, mean_over_sources

# -- certified threshold -------------------------------------------------------------------------


def certified_threshold(losses, *, seed=0, **settings):
    return module.certified_threshold(losses, seed=np.random.default_rng(seed), **settings)


rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), max_size=60)


@pytest.mark.parametrize(
    ("observed", "quoted"), [(0.05, 0.00155265), (0.1, 0.0994474), (0.02, 1.51159e-5)]
)
def test_p_values_of_right_and_wrong_are_binomial(observed, quoted):
    # MAPIE 1.6.0: compute_hoeffding_bentkus_p_value([observed], 100, 0.15, binary=True)
    wrong = (np.arange(100) < 100 * observed).astype(float)
    assert _p_value(wrong, 0.15, 0.05) == pytest.approx(quoted, rel=1e-5)
    assert _p_value(wrong, 0.15, 0.05) == pytest.approx(
        stats.binomtest(int(wrong.sum()), 100, 0.15, alternative="less").pvalue
    )


@pytest.mark.no_cover
@given(st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=1, max_size=30))
def test_p_values_of_other_losses_are_the_least_that_a_bettor_lost(losses):
    risk, level, n = 0.4, 0.05, len(losses)
    if set(losses) <= {0, 1}:
        return
    wealth, most, variance, past = 1.0, 1.0, 0.25, []
    deviations = 0.25
    for loss in losses:
        stake = min(1.0, np.sqrt(2 * np.log(1 / level) / (n * variance)))
        wealth *= 1 + stake * (risk - loss)
        most = max(most, wealth)
        past.append(loss)
        mean = (0.5 + sum(past)) / (len(past) + 1)
        deviations += (loss - mean) ** 2
        variance = deviations / (len(past) + 1)
    assert _p_value(np.array(losses), risk, level) == pytest.approx(1 / most)


@pytest.mark.parametrize("level", [0.01, 0.1])
def test_losses_that_are_too_large_on_average_have_small_p_values_rarely_enough(level):
    rng = np.random.default_rng(0)
    for draw, mean in (
        (lambda: rng.beta(1, 4, size=80), 0.2),
        (lambda: rng.random(80) ** 2, 1 / 3),
    ):
        p_values = [_p_value(draw(), mean, level) for _ in range(500)]
        assert np.mean(np.array(p_values) <= level) <= level + 2 * np.sqrt(level / 500)


@pytest.mark.no_cover
@given(rows, st.sampled_from([0.2, 0.4, 0.6]))
def test_matches_the_procedure_written_out(given_rows, wished):
    losses = np.array([row[0] for row in given_rows], dtype=float)
    certainty = np.array([row[1] for row in given_rows], dtype=float)
    n, m = len(losses), 4
    cuts, p = [], []
    for k in range(1, m + 1):
        # The lowest cut above which lie at most so many rows.
        allowed = [
            cut for cut in (-np.inf, *certainty) if 0 < np.sum(certainty > cut) <= n * k // m
        ]
        cut = min(allowed, default=np.inf)
        above = losses[certainty > cut]
        cuts.append(cut)
        p.append(stats.binom.cdf(above.sum(), len(above), wished) if len(above) else 1.0)
    passed = []
    for step, k in enumerate(np.argsort(p, kind="stable")):
        if p[k] > 0.1 / (m - step):
            break
        passed.append(k)
    found = certified_threshold(
        losses, certainty=certainty, max_risk=wished, n_candidates=m, confidence=0.9
    )
    expected = cuts[max(passed)] if passed else np.inf
    assert found.threshold == expected
    accepted = certainty > expected
    assert found.coverage == pytest.approx(accepted.mean() if n else 0)
    if accepted.any():
        assert found.risk == pytest.approx(losses[accepted].mean())
    else:
        assert np.isnan(found.risk)


def test_too_few_rows_certify_nothing():
    found = certified_threshold(np.zeros(10), certainty=np.arange(10), max_risk=0.1)
    assert (found.threshold, found.coverage) == (np.inf, 0)
    assert certified_threshold([], certainty=[], max_risk=0.1).threshold == np.inf


def test_the_unit_of_losses_does_not_matter():
    rng = np.random.default_rng(0)
    losses = rng.random(500) ** 4
    certainty = rng.normal(size=500) - 3 * losses
    one = certified_threshold(losses, certainty=certainty, max_risk=0.15)
    other = certified_threshold(4 * losses, certainty=certainty, max_risk=0.6, largest_loss=4)
    assert 0 < one.coverage < 1
    assert one.threshold == other.threshold
    assert other.risk == pytest.approx(4 * one.risk)


def test_sources_count_once_however_many_rows_they_have():
    rng = np.random.default_rng(0)
    losses = (rng.random(400) < 0.05).astype(float)
    rows_apart = certified_threshold(losses, certainty=np.ones(400), max_risk=0.1)
    assert rows_apart.coverage == 1
    repeated = certified_threshold(
        np.repeat(losses[:40], 10),
        certainty=np.ones(400),
        max_risk=0.1,
        sources=np.repeat(np.arange(40), 10),
    )
    assert (repeated.coverage, repeated.n, repeated.n_groups) == (0, 400, 40)
    uneven = certified_threshold(
        [0] * 100 + [1],
        certainty=[1] * 101,
        max_risk=0.9,
        sources=[0] * 100 + [1],
        confidence=0.05,
        n_candidates=1,
    )
    assert uneven.risk == 0.5


def test_rows_without_a_loss_are_left_out_and_counted():
    found = certified_threshold([0.0] * 60 + [None], certainty=range(61), max_risk=0.1)
    assert (found.n, found.n_unscored, found.n_candidates) == (60, 1, 20)


@for_each(
    ("settings", "said"),
    [
        ({"max_risk": 0}, "max_risk must be between 0 and largest_loss"),
        ({"max_risk": 1}, "max_risk must be between 0 and largest_loss"),
        ({"max_risk": 0.1, "largest_loss": np.inf}, "max_risk must be between"),
        ({"max_risk": 0.1, "n_candidates": 0}, "n_candidates must be a whole number, 1 or more"),
        ({"max_risk": 0.1, "n_candidates": 2.5}, "n_candidates must be a whole number, 1 or more"),
        ({"max_risk": 0.1, "confidence": 2}, "confidence"),
        ({"max_risk": 0.1, "largest_loss": 0.5}, "at most largest_loss, 0.5; got 1.0"),
        ({"max_risk": 0.1, "sources": [1]}, "one label per item"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        certified_threshold([0, 1], certainty=[1, 2], **settings)


def test_the_order_of_rows_does_not_help():
    # Sorted by loss, a bettor would win first and be believed.
    rng = np.random.default_rng(0)
    losses = np.sort(rng.random(400))
    found = [
        certified_threshold(
            losses, certainty=np.ones(400), max_risk=0.45, seed=seed, n_candidates=1
        )
        for seed in range(50)
    ]
    assert np.mean([one.coverage > 0 for one in found]) <= 0.05
    with pytest.raises(TypeError, match="seed"):
        module.certified_threshold(losses, certainty=losses, max_risk=0.5, seed="0")


@pytest.mark.no_cover
@pytest.mark.parametrize("decimals", [9, 0])
def test_the_promise_is_broken_no_more_often_than_allowed(decimals):
    rng = np.random.default_rng(0)
    broken, coverage = 0, []
    for _ in range(300):
        # The chance of a wrong answer is 0.3 whatever the certainty: nothing may be certified.
        found = certified_threshold(
            rng.random(150) < 0.3,
            certainty=np.round(rng.normal(size=150), decimals),
            max_risk=0.299,
            n_candidates=5,
            confidence=0.9,
        )
        broken += found.coverage > 0
        sure = rng.random(150)
        useful = certified_threshold(
            rng.random(150) < 0.5 * (1 - sure), certainty=sure, max_risk=0.2, confidence=0.9
        )
        coverage.append(useful.coverage)
    assert 0.01 < broken / 300 <= 0.1
    # Its risk is 0.25 * (coverage): at most 0.2 up to a coverage of 0.8.
    assert np.mean(np.array(coverage) > 0.8) < 0.1
    assert 0.2 < np.mean(coverage) < 0.8


# -- probability error ---------------------------------------------------------------------------


def test_the_mean_over_sources_is_the_jackknife_that_leaves_sources_out():
    rng = np.random.default_rng(0)
    values, sources = rng.normal(size=40), rng.integers(0, 9, size=40)
    found = mean_over_sources(values, sources, 0.95)
    without = np.array([values[sources != s].mean() for s in np.unique(sources)])
    assert (found.low, found.high) == pytest.approx(left_out_interval(values.mean(), without, 0.95))
    assert found.n_groups == len(without)
