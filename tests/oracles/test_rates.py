"""`corrected_rates` against hand computation, enumeration, simulation and a bootstrap by hand."""

import itertools
from statistics import NormalDist

import numpy as np
import pytest

from judgesmith.metrics.systems import prediction_powered_mean, system_difference, system_ranks
from judgesmith.metrics.verdicts import corrected_rates
from judgesmith.metrics.verdicts.rates import RoganGladen, ShareSums, _equal_shares, _Rows

Z = NormalDist().inv_cdf(0.975)


def rows(passed, n, tp, n_positive, tn, n_negative):
    """Return labels and verdicts with these counts."""
    human = [None] * n + [1] * n_positive + [0] * n_negative
    judge = [1] * passed + [0] * (n - passed)
    judge += [1] * tp + [0] * (n_positive - tp) + [0] * tn + [1] * (n_negative - tn)
    return human, judge


def padded(k, n):
    return (k + Z**2 / 2) / (n + Z**2), n + Z**2


def by_hand(passed, n, tp, n_positive, tn, n_negative):
    """Return the interval that the formula makes of padded counts."""
    (p, n), (tpr, m1), (tnr, m0) = padded(passed, n), padded(tp, n_positive), padded(tn, n_negative)
    j = tpr + tnr - 1
    theta = (p + tnr - 1) / j
    variance = (
        p * (1 - p) / n + theta**2 * tpr * (1 - tpr) / m1 + (1 - theta) ** 2 * tnr * (1 - tnr) / m0
    ) / j**2
    return theta - Z * variance**0.5, theta + Z * variance**0.5


@pytest.mark.parametrize(
    "counts", [(300, 500, 54, 60, 36, 40), (20, 200, 30, 40, 70, 80), (990, 1000, 88, 90, 9, 10)]
)
def test_one_row_a_source_is_the_formula(counts):
    passed, n, tp, n_positive, tn, n_negative = counts
    (found,) = corrected_rates(*rows(*counts)).systems
    tpr, tnr = tp / n_positive, tn / n_negative
    value = (passed / n + tnr - 1) / (tpr + tnr - 1)
    low, high = by_hand(*counts)
    assert found.corrected.value == pytest.approx(np.clip(value, 0, 1))
    assert found.corrected.low == pytest.approx(max(min(low, value), 0))
    assert found.corrected.high == pytest.approx(min(max(high, value), 1))
    assert (found.n_positive, found.n_negative, found.judged.n) == (n_positive, n_negative, n)
    assert (found.tpr.value, found.tnr.value) == pytest.approx((tpr, tnr))
    assert found.youden.value == pytest.approx(tpr + tnr - 1)


def test_rows_of_a_source_that_are_all_alike_count_once():
    human, judge = map(np.array, rows(300, 500, 54, 60, 36, 40))
    human = human.astype(float)
    sources = np.repeat(np.arange(600), 3)
    (found,) = corrected_rates(np.repeat(human, 3), np.repeat(judge, 3), sources=sources).systems
    # Over G sources that each count once a variance is divided by G - 1.
    shares = (300 / 500, 500), (54 / 60, 60), (36 / 40, 40)
    counts = [one for p, n in shares for one in (p * (n - 1), n - 1)]
    assert (found.corrected.low, found.corrected.high) == pytest.approx(by_hand(*counts))
    (once,) = corrected_rates(human, judge).systems
    assert found.corrected.value == pytest.approx(once.corrected.value)


def test_weights_are_one_over_the_probability_of_selection():
    human, judge = rows(300, 500, 54, 60, 36, 40)
    chance = np.where(np.arange(600) % 3 == 0, 0.4, 0.1)
    (found,) = corrected_rates(human, judge, selection=chance).systems
    h, p, w = np.array(human[500:], float), np.array(judge[500:], float), 1 / chance[500:]
    tpr = np.average(p[h == 1], weights=w[h == 1])
    tnr = np.average(1 - p[h == 0], weights=w[h == 0])
    assert (found.tpr.value, found.tnr.value) == pytest.approx((tpr, tnr))
    assert found.labelled.value == pytest.approx(np.average(h, weights=w))
    assert found.corrected.value == pytest.approx((0.6 + tnr - 1) / (tpr + tnr - 1))
    assert np.isnan(found.powered.value)
    same = corrected_rates(human, judge, selection=np.full(600, 0.2)).to_dict()
    assert same == corrected_rates(human, judge).to_dict()


def test_the_effective_number_of_weighted_rows_is_that_of_their_variance():
    rng = np.random.default_rng(3)
    yes, weights = (rng.random(400) < 0.7) * 1.0, rng.choice([1.0, 0.25], 400)
    sums = ShareSums.of(yes, weights, np.arange(400))
    p = np.average(yes, weights=weights)
    variance = 400 / 399 * np.sum((weights * (yes - p)) ** 2) / weights.sum() ** 2
    assert float(sums.effective) == pytest.approx(min(p * (1 - p) / variance, weights.sum()))


def test_labels_of_rows_that_were_not_chosen_by_chance_are_left_out():
    human, judge = rows(300, 500, 54, 60, 36, 40)
    chance = np.ones(600)
    chance[500:520] = np.nan
    (found,) = corrected_rates(human, judge, selection=chance).systems
    (other,) = corrected_rates([*human[:500], *[None] * 20, *human[520:]], judge).systems
    assert found.corrected == other.corrected
    assert (found.n_unused, other.n_unused, found.judged.n) == (20, 0, 520)


def test_labels_of_one_source_have_no_interval():
    human, judge = [1, 0, 1, None, None], [1, 0, 1, 1, 0]
    for chance in (None, [0.2, 0.1, 0.1, np.nan, np.nan]):
        given = {"sources": [0, 0, 0, 1, 2], "selection": chance, "n_resamples": 20}
        (found,) = corrected_rates(human, judge, **given).systems
        assert found.problem == "few of a class"
        assert np.isnan([found.labelled.low, found.tpr.high, found.powered.low]).all()


def test_rows_without_a_verdict_are_left_out_and_counted():
    human, judge = rows(300, 500, 54, 60, 36, 40)
    (found,) = corrected_rates([*human, 1, None], [*judge, np.nan, None]).systems
    (other,) = corrected_rates(human, judge).systems
    assert (found.n_unscored, found.corrected) == (2, other.corrected)


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        ((300, 500, 55, 100, 50, 100), "youden"),
        ((300, 500, 20, 100, 20, 100), "youden"),
        ((300, 500, 96, 100, 3, 4), "few of a class"),
        ((0, 0, 90, 100, 90, 100), "no scored rows"),
    ],
)
def test_what_the_labels_cannot_carry_has_no_rate_and_a_reason(counts, problem):
    (found,) = corrected_rates(*rows(*counts)).systems
    assert found.problem == problem
    assert np.isnan([found.corrected.value, found.corrected.low, found.bootstrap.high]).all()
    if counts[1]:
        assert found.judged.value == pytest.approx(counts[0] / counts[1])


def two_systems(n, labelled, rng, tnr=(0.9, 0.9), rates=(0.8, 0.7)):
    """Return labels, verdicts, sources and systems of two systems on the same sources."""
    systems = np.tile([0, 1], n)
    human = (rng.random(2 * n) < np.array(rates)[systems]) * 1.0
    passes = np.where(human == 1, 0.9, 1 - np.array(tnr)[systems])
    judge = (rng.random(2 * n) < passes) * 1.0
    sources = np.repeat(np.arange(n), 2)
    return np.where(sources < labelled, human, np.nan), judge, sources, systems


def test_a_pooled_tnr_overrates_a_system_whose_own_is_lower():
    big = ShareSums.of(np.repeat([1.0, 0.0], [90, 10]), np.ones(100), np.arange(100))
    judged = ShareSums.of(np.repeat([1.0, 0.0], [76, 24]), np.ones(100), np.arange(100))
    assert float(RoganGladen.of(judged, big, big, 0.95).value) == pytest.approx(0.825)


def test_systems_have_their_own_rates_once_these_differ():
    given = two_systems(4000, 1500, np.random.default_rng(0), tnr=(0.95, 0.6))
    human, judge, sources, systems = given
    found = corrected_rates(human, judge, sources=sources, systems=systems, n_resamples=200)
    assert found.equal_tnr < 0.01 < found.equal_tpr
    assert not found.is_equal
    for one, rate in zip(found.systems, (0.8, 0.7), strict=True):
        assert one.uses == "own"
        assert one.corrected.low < rate < one.corrected.high
    assert found.differences[0].is_reliable


def test_differences_are_unreliable_where_a_system_was_not_tested():
    human, judge, sources, systems = two_systems(400, 200, np.random.default_rng(0))
    both = corrected_rates(human, judge, sources=sources, systems=systems, n_resamples=200)
    assert both.is_equal
    assert both.differences[0].is_reliable
    human = np.where(systems == 1, np.nan, human)
    found = corrected_rates(human, judge, sources=sources, systems=systems, n_resamples=200)
    assert np.isnan([found.equal_tpr, found.equal_tnr]).all()
    assert [one.is_tested for one in found.systems] == [True, False]
    assert not found.differences[0].is_reliable
    assert found.differences[0].corrected.value == pytest.approx(
        found.systems[0].corrected.value - found.systems[1].corrected.value
    )


def test_the_difference_has_the_variance_of_the_formula():
    rng = np.random.default_rng(2)
    human, judge, _, systems = two_systems(600, 0, rng)
    labels, verdicts = map(np.array, rows(0, 0, 54, 60, 36, 40))
    human = np.concatenate([human, labels.astype(float)])
    judge = np.concatenate([judge, verdicts])
    systems = np.concatenate([systems, np.tile([0, 1], 50)])
    found = corrected_rates(human, judge, systems=systems, n_resamples=200)
    scored = np.isnan(human)
    (p, n), (q, k) = (
        padded(judge[scored & (systems == at)].sum(), np.sum(scored & (systems == at)))
        for at in (0, 1)
    )
    (tpr, m1), (tnr, m0) = padded(54, 60), padded(36, 40)
    j = tpr + tnr - 1
    delta = (p - q) / j
    of_classes = tpr * (1 - tpr) / m1 + tnr * (1 - tnr) / m0
    variance = (p * (1 - p) / n + q * (1 - q) / k + delta**2 * of_classes) / j**2
    one = found.differences[0].corrected
    assert (one.low, one.high) == pytest.approx(
        (delta - Z * variance**0.5, delta + Z * variance**0.5)
    )
    assert one.p_value == pytest.approx(2 * NormalDist().cdf(-abs(delta) / variance**0.5))


def test_pairing_by_source_narrows_the_difference():
    rng = np.random.default_rng(4)
    effect = rng.random(300)
    sources, systems = np.repeat(np.arange(300), 2), np.tile([0, 1], 300)
    human = (effect[sources] < np.array([0.7, 0.65])[systems]) * 1.0
    judge = np.where(rng.random(600) < 0.9, human, 1 - human)
    human = np.where(sources < 100, human, np.nan)
    paired = corrected_rates(human, judge, sources=sources, systems=systems, n_resamples=50)
    alone = corrected_rates(human, judge, systems=systems, n_resamples=50)
    one, other = paired.differences[0].corrected, alone.differences[0].corrected
    assert one.value == pytest.approx(other.value)
    assert one.high - one.low < 0.85 * (other.high - other.low)


def test_other_rates_are_those_of_the_systems_functions():
    human, judge, sources, systems = two_systems(300, 80, np.random.default_rng(1))
    found = corrected_rates(human, judge, sources=sources, systems=systems, n_resamples=50)
    own = systems == 0
    labelled = ~np.isnan(human)
    powered = prediction_powered_mean(
        human[own & labelled],
        judge[own & labelled],
        judge[own & ~labelled],
        sources=sources[own & labelled],
        sources_unlabelled=sources[own & ~labelled],
    )
    assert found.systems[0].powered == powered.estimate
    between = system_difference(human, judge, first=0, second=1, systems=systems, sources=sources)
    assert found.differences[0].powered == between.estimate
    assert found.differences[0].labelled == between.classical
    assert found.differences[0].n_shared == 80


def test_the_bootstrap_is_one_over_sources():
    rng = np.random.default_rng(5)
    human, judge, sources, _ = two_systems(150, 70, rng)
    (found,) = corrected_rates(human, judge, sources=sources, seed=1).systems
    rates = []
    for _ in range(2000):
        at = np.concatenate([2 * (one := rng.integers(150, size=150)), 2 * one + 1])
        h, p = human[at], judge[at]
        tpr, tnr = p[h == 1].mean(), 1 - p[h == 0].mean()
        rates.append(np.clip((p[np.isnan(h)].mean() + tnr - 1) / (tpr + tnr - 1), 0, 1))
    low, high = np.quantile(rates, [0.025, 0.975])
    assert found.bootstrap.value == found.corrected.value
    assert (found.bootstrap.low, found.bootstrap.high) == pytest.approx((low, high), abs=0.02)


def test_the_test_of_equal_rates_is_the_enumeration_of_its_null():
    right = np.array([1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0])
    sources, systems = np.repeat(np.arange(7), 2), np.tile([0, 1], 7)
    given = _Rows.of(np.ones(14), right, sources, systems, None)

    def gap(first, second):
        return abs(first.mean() - second.mean())

    seen = gap(right[::2], right[1::2])
    every = []
    for swaps in itertools.product([0, 1], repeat=7):
        swapped = np.array(swaps, dtype=bool)
        first = np.where(swapped, right[1::2], right[::2])
        every.append(gap(first, right[::2] + right[1::2] - first) >= seen - 1e-9)
    found = _equal_shares(given, given.human == 1, 20_000, np.random.default_rng(0))
    assert found == pytest.approx(np.mean(every), abs=0.015)


def test_sources_with_one_system_change_places_with_each_other():
    right, systems = np.array([1, 1, 1, 1, 0, 1, 0, 0]), np.repeat([0, 1], 4)
    given = _Rows.of(np.ones(8), right, None, systems, None)
    found = _equal_shares(given, given.human == 1, 20_000, np.random.default_rng(0))
    every = [
        abs(right[list(one)].sum() - right.sum() / 2) >= 1.5
        for one in itertools.combinations(range(8), 4)
    ]
    assert found == pytest.approx(np.mean(every), abs=0.015)


def test_ranks_are_those_of_means_where_labels_are_a_random_sample():
    rng = np.random.default_rng(3)
    sources, systems = np.repeat(np.arange(120), 3), np.tile(["low", "high", "same"], 120)
    human = (rng.random(360) < np.tile([0.3, 0.8, 0.8], 120)).astype(float)
    judge = np.where(rng.random(360) < 0.9, human, 1 - human)
    human[rng.random(360) < 0.4] = np.nan
    found = corrected_rates(human, judge, sources=sources, systems=systems).ranks
    assert found == {"low": (3, 3), "high": (1, 2), "same": (1, 2)}
    assert found == system_ranks(human, judge, sources=sources, systems=systems)


def test_the_interval_holds_the_truth_as_often_as_it_claims():
    rng = np.random.default_rng(0)
    size = 4000
    for theta, tpr, tnr in ((0.8, 0.9, 0.75), (0.2, 0.97, 0.9), (0.95, 0.9, 0.9)):
        positive = rng.binomial(200, theta, size)
        counts = [(positive, rng.binomial(positive, tpr))]
        counts.append((200 - positive, rng.binomial(200 - positive, tnr)))
        judged = rng.binomial(1000, theta * tpr + (1 - theta) * (1 - tnr), size)
        found = RoganGladen.of(
            *(single(*one) for one in ((np.full(size, 1000), judged), *counts)), 0.95
        )
        held = (found.low <= theta) & (found.high >= theta)
        assert np.mean(found.is_given) > 0.5
        assert np.mean(held[found.is_given]) > 0.93


def single(n, k):
    """Return the sums of many sets of rows, each row a source of its own."""
    n, k = n.astype(float), k.astype(float)
    return ShareSums(rows=n, yes=k, rows_rows=n, yes_rows=k, yes_yes=k, n_sources=n)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"human": [0.5, 1, 0, 1]}, "human must be 1 for pass"),
        ({"judge": [2, 1, 0, 1]}, "judge must be 1 for pass"),
        ({"selection": [0, 1, 1, 1]}, "selection must be probabilities"),
        ({"systems": ["a", "b"]}, "one label per item"),
    ],
)
def test_what_is_no_verdict_is_refused(change, message):
    given = {"human": [1, 0, 1, 0], "judge": [1, 0, 1, 1], **change}
    with pytest.raises(ValueError, match=message):
        corrected_rates(given.pop("human"), given.pop("judge"), **given)
