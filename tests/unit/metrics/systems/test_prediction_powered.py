from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgesmith.metrics.systems.means import prediction_powered_mean

HUMAN = [4, 2, 5, 3, 4, 1, 3, 5]
JUDGE = [4.5, 2.5, 4, 3.5, 4.5, 2, 2.5, 5]
OTHERS = [4, 3.5, 2, 5, 3, 4.5, 1.5, 4, 3.5, 2.5, 5, 3]
# ppi-python 0.2.3: ppi_mean_pointestimate(HUMAN, JUDGE, OTHERS, lam=lam) and
# ppi_mean_ci(HUMAN, JUDGE, OTHERS, alpha=0.05, lam=lam), as arrays. lam=None found 0.62145833.
PPI_PYTHON = {
    None: (3.3102647569444446, 2.6436810495624927, 3.9768484643263964),
    1.0: (3.2708333333333335, 2.532969614835797, 4.00869705183087),
    0.5: (3.322916666666667, 2.64010184244845, 4.005731490884884),
    0.0: (3.375, 2.462412323243585, 4.287587676756416),
}


@pytest.mark.parametrize("weight", PPI_PYTHON)
def test_the_mean_and_the_weight_are_those_of_ppi_python(weight):
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS, weight=weight)
    assert found.estimate.value == pytest.approx(PPI_PYTHON[weight][0], abs=1e-12)
    assert found.weight == pytest.approx(0.6214583333333334 if weight is None else weight)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_interval_is_that_of_ppi_python_but_for_degrees_of_freedom(weight):
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS, weight=weight).estimate
    # It divides by n where a variance divides by n - 1, and takes the normal quantile.
    rated = np.subtract(HUMAN, np.multiply(weight, JUDGE))
    theirs = np.sqrt(rated.var() / 8 + weight**2 * np.var(OTHERS) / 12)
    _, low, high = PPI_PYTHON[weight]
    assert theirs * NormalDist().inv_cdf(0.975) == pytest.approx((high - low) / 2)
    parts = [rated.var(ddof=1) / 8, weight**2 * np.var(OTHERS, ddof=1) / 12]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 7 + parts[1] ** 2 / 11)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    assert (found.high - found.low) / 2 == pytest.approx(reach)
    assert reach > (high - low) / 2


def test_the_ratings_alone_have_students_interval():
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    low, high = stats.t.interval(0.95, 7, loc=np.mean(HUMAN), scale=stats.sem(HUMAN))
    assert (found.classical.low, found.classical.high) == pytest.approx((low, high))
    assert (found.classical.n, found.classical.n_groups) == (8, 8)
    assert (found.estimate.n, found.n_rated, found.n_unrated) == (20, 8, 12)
    assert found.gain == pytest.approx(
        ((high - low) / 2 / stats.t.ppf(0.975, 7)) ** 2 / error_of(found.estimate) ** 2, rel=0.1
    )


def error_of(estimate):
    return (estimate.high - estimate.low) / 2 / stats.t.ppf(0.975, 10)


def test_whole_sources_count_once():
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    copies = [np.repeat(each, 3) for each in (HUMAN, JUDGE, OTHERS)]
    labels = {
        "sources": np.repeat(np.arange(8), 3),
        "sources_unlabelled": np.repeat(range(8, 20), 3),
    }
    for weight in (0.0, 0.5):
        once = prediction_powered_mean(HUMAN, JUDGE, OTHERS, weight=weight).estimate
        thrice = prediction_powered_mean(*copies, weight=weight, **labels).estimate
        assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
        assert (thrice.n, thrice.n_groups) == (60, 20)
    assert prediction_powered_mean(*copies, **labels).weight == pytest.approx(found.weight, abs=0.1)


def test_what_a_source_gives_to_rated_and_unrated_rows_alike_cancels():
    rng = np.random.default_rng(0)
    effect = 3 * rng.normal(size=40)
    judge = effect + rng.normal(size=40)
    human = judge + 0.1 * rng.normal(size=40)
    others = effect + rng.normal(size=40)
    shared = prediction_powered_mean(
        human, judge, others, sources=range(40), sources_unlabelled=range(40), weight=1.0
    )
    apart = prediction_powered_mean(
        human, judge, others, sources=range(40), sources_unlabelled=range(40, 80), weight=1.0
    )
    assert shared.estimate.n_groups == 40
    assert apart.estimate.n_groups == 80
    assert shared.estimate.value == apart.estimate.value
    expected = np.std(human - judge + others, ddof=1) / np.sqrt(40) * stats.t.ppf(0.975, 39)
    assert (shared.estimate.high - shared.estimate.low) / 2 == pytest.approx(expected)


def test_without_unrated_rows_or_with_a_constant_judge_the_ratings_stand_alone():
    for found in (
        prediction_powered_mean(HUMAN, JUDGE, []),
        prediction_powered_mean(HUMAN, [0.1] * 8, [0.1] * 5),
        prediction_powered_mean(HUMAN, [-score for score in JUDGE], [-score for score in OTHERS]),
    ):
        assert found.weight == 0
        assert found.estimate.value == found.classical.value
    assert prediction_powered_mean(HUMAN, JUDGE, []).gain == pytest.approx(1.0)


def test_rows_without_a_score_are_left_out_and_counted():
    found = prediction_powered_mean([*HUMAN, 1], [*JUDGE, None], [*OTHERS, np.nan, np.nan])
    full = prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    assert found.n_unscored == 3
    assert (found.estimate, found.classical) == (full.estimate, full.classical)


def test_too_few_ratings_leave_the_interval_or_the_mean_undefined():
    one = prediction_powered_mean([5], [4], OTHERS)
    assert one.classical.value == 5
    assert np.isnan([one.estimate.low, one.classical.high, one.gain]).all()
    none = prediction_powered_mean([], [], OTHERS)
    assert np.isnan([none.estimate.value, none.classical.value, none.estimate.low]).all()
    assert (none.n_rated, none.n_unrated) == (0, 12)
    together = prediction_powered_mean(
        HUMAN, JUDGE, OTHERS, sources=["a"] * 8, sources_unlabelled=["a"] * 12
    )
    assert np.isfinite(together.estimate.value)
    assert np.isnan(together.estimate.low)


def test_ratings_that_do_not_vary_have_no_interval():
    found = prediction_powered_mean([4] * 8, JUDGE, OTHERS)
    assert (found.classical.value, found.estimate.value) == (4, 4)
    assert np.isnan([found.classical.low, found.estimate.low, found.gain]).all()


def test_any_kind_of_vector_is_taken():
    given = prediction_powered_mean(
        np.array(HUMAN, dtype=object),
        pd.Series(JUDGE),
        tuple(OTHERS),
        sources=pd.Series(range(8)),
        sources_unlabelled=np.arange(8, 20),
    )
    assert given == prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    shares = prediction_powered_mean([True, False] * 4, JUDGE, OTHERS)
    assert shares.classical.value == 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"human": HUMAN[1:]}, "got 8 scores of judge and 7 human"),
        ({"human": [None, *HUMAN[1:]]}, "human has no finite score for 1 of 8"),
        ({"judge_unlabelled": [1, np.inf]}, "judge_unlabelled has no finite score"),
        ({"judge_unlabelled": "abc"}, "judge_unlabelled must be a vector"),
        ({"judge": ["good"] * 8}, "judge must be a vector of numbers"),
        ({"sources": range(8)}, "both sources and sources_unlabelled, or neither"),
        ({"sources": range(7), "sources_unlabelled": range(12)}, "sources must hold one label"),
        ({"sources": range(8), "sources_unlabelled": [1]}, "sources_unlabelled must hold one"),
        ({"weight": 1.5}, "weight must be from 0 .* got 1.5"),
        ({"weight": float("nan")}, "weight must be from 0"),
        ({"confidence": 95}, "confidence must be strictly between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    given = {"judge": JUDGE, "human": HUMAN, "judge_unlabelled": OTHERS} | change
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(**given)


def rows(rng, n_rated, n_unrated, noise):
    true = rng.normal(size=n_rated + n_unrated) + 0.5
    judge = 1 + true + noise * rng.normal(size=true.size)
    human = true[:n_rated] + 0.3 * rng.normal(size=n_rated)
    return human, judge[:n_rated], judge[n_rated:]


@pytest.mark.no_cover
@pytest.mark.parametrize(("noise", "shortest", "longest"), [(0.3, 0.3, 0.7), (30, 0.97, 1.06)])
def test_it_covers_as_claimed_and_a_good_judge_makes_it_shorter(noise, shortest, longest):
    rng = np.random.default_rng(0)
    covered, lengths = 0, []
    for _ in range(600):
        found = prediction_powered_mean(*rows(rng, 15, 150, noise))
        covered += found.estimate.low <= 0.5 <= found.estimate.high
        powered, alone = (each.high - each.low for each in (found.estimate, found.classical))
        lengths.append([powered, alone])
    assert 0.92 <= covered / 600 <= 0.98
    powered, alone = np.mean(lengths, axis=0)
    assert shortest < powered / alone < longest


@pytest.mark.no_cover
def test_it_covers_with_rows_alike_within_sources_that_hold_both_kinds():
    rng = np.random.default_rng(1)
    sources, rated = np.repeat(np.arange(20), 4), np.tile([True, True, False, False], 20)
    covered = 0
    for _ in range(600):
        true = rng.normal(size=20)[sources] + rng.normal(size=80)
        judge, human = true + 0.5 * rng.normal(size=80), true + 0.5 * rng.normal(size=80)
        found = prediction_powered_mean(
            human[rated],
            judge[rated],
            judge[~rated],
            sources=sources[rated],
            sources_unlabelled=sources[~rated],
        )
        covered += found.estimate.low <= 0 <= found.estimate.high
    assert 0.92 <= covered / 600 <= 0.98
