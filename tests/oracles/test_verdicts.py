"""`metrics.verdicts` against definitions, enumerations and other implementations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics as sklearn

from judgesmith import InputError
from judgesmith import metrics as m
from judgesmith.metrics.verdicts import (
    compare_verdicts,
    counted_verdicts,
    out_of_fold_verdicts,
    verdict_agreement,
    verdict_threshold,
)
from judgesmith.metrics.verdicts.comparing import sign_flip_p

pytestmark = pytest.mark.filterwarnings("ignore:.*classes.*:UserWarning")

RNG = np.random.default_rng(3)
SOURCES = np.repeat(np.arange(40), 3)
LABELS = (RNG.random(120) < 0.6).astype(int)
VERDICTS = np.where(RNG.random(120) < 0.8, LABELS, 1 - LABELS)
THREE = RNG.integers(3, size=120)
SAID = np.where(RNG.random(120) < 0.7, THREE, RNG.integers(3, size=120))

# -- metrics -------------------------------------------------------------------------------------

ORACLES = {
    "accuracy": sklearn.accuracy_score,
    "balanced_accuracy": sklearn.balanced_accuracy_score,
    "mcc": sklearn.matthews_corrcoef,
    "cohen_kappa": sklearn.cohen_kappa_score,
    "macro_f1": lambda *rows: sklearn.f1_score(*rows, average="macro"),
}
OF_POSITIVE = {
    "f1": sklearn.f1_score,
    "tpr": sklearn.recall_score,
    "tnr": lambda *rows: sklearn.recall_score(*rows, pos_label=0),
    "precision": sklearn.precision_score,
    "npv": lambda *rows: sklearn.precision_score(*rows, pos_label=0),
}


@pytest.mark.parametrize("name", [*ORACLES, *OF_POSITIVE])
def test_a_metric_of_two_labels_equals_scikit_learn(name):
    found = getattr(m, name)(LABELS, VERDICTS)
    assert found == pytest.approx((ORACLES | OF_POSITIVE)[name](LABELS, VERDICTS))


@pytest.mark.parametrize("name", ORACLES)
def test_a_metric_of_three_labels_equals_scikit_learn(name):
    assert getattr(m, name)(THREE, SAID) == pytest.approx(ORACLES[name](THREE, SAID))


def test_quadratic_kappa_equals_scikit_learn():
    found = verdict_agreement(
        THREE, SAID, positive=2, classes=[0, 1, 2], ordered=True, n_resamples=50
    )
    expected = sklearn.cohen_kappa_score(THREE, SAID, weights="quadratic")
    assert found.quadratic_kappa.value == pytest.approx(expected)


def test_gwets_coefficient_is_its_definition():
    chance = [(np.mean(k == THREE) + np.mean(k == SAID)) / 2 for k in range(3)]
    chance = sum(share * (1 - share) for share in chance) / 2
    found = verdict_agreement(THREE, SAID, positive=2, n_resamples=50).ac1.value
    assert found == pytest.approx((np.mean(THREE == SAID) - chance) / (1 - chance))


def test_cost_is_the_mean_of_what_each_wrong_verdict_costs():
    costs = {0: 5.0, 1: 1.0}
    expected = np.mean([costs[h] * (h != p) for h, p in zip(LABELS, VERDICTS, strict=True)])
    assert m.expected_cost(LABELS, VERDICTS, costs=costs) == pytest.approx(expected)


METRICS = ["accuracy", "balanced_accuracy", "mcc", "kappa", "ac1", "f1", "tpr", "tnr", "cost"]


@pytest.mark.parametrize("name", METRICS)
def test_a_resample_has_the_value_of_its_repeated_rows(name):
    counted = counted_verdicts(name, LABELS, VERDICTS, SOURCES, 40, costs=[5, 1])
    counts = np.random.default_rng(0).integers(0, 3, size=(4, 40))
    for one, found in zip(counts, counted.of_counts(counts.astype(float)), strict=True):
        drawn = np.repeat(np.arange(120), one[SOURCES])
        again = counted_verdicts(
            name, LABELS[drawn], VERDICTS[drawn], SOURCES[drawn], 40, costs=[5, 1]
        )
        assert found == pytest.approx(again.value)


def test_words_booleans_and_numbers_are_the_same_labels():
    words = np.array(["fail", "pass"])
    found = [
        verdict_agreement(kind[LABELS], kind[VERDICTS], sources=SOURCES, n_resamples=50)
        for kind in (words, words.astype(object), np.array([False, True]), np.array([0.0, 1.0]))
    ]
    assert len({(one.counts, one.tpr.low, one.mcc.high) for one in found}) == 1
    assert [found[0].classes, found[2].classes] == [("fail", "pass"), (False, True)]
    with pytest.raises(ValueError, match="positive="):
        m.tpr(["good", "bad"], ["good", "good"])
    assert m.tpr(["good", "bad"], ["good", "good"], positive="good") == 1
    with pytest.raises(ValueError, match="positive="):
        m.tpr([1, 2, 3], [1, 2, 3])


def test_missing_labels_and_verdicts_are_left_out_and_counted():
    labels, verdicts = LABELS.astype(object), VERDICTS.astype(float)
    labels[:4], verdicts[2:10] = None, np.nan
    found = verdict_agreement(labels, verdicts, sources=SOURCES, n_resamples=50)
    assert (found.n_unlabelled, found.n_unscored, found.n) == (4, 6, 110)
    assert found.tnr.value == m.tnr(LABELS[10:], VERDICTS[10:])
    with pytest.raises(ValueError, match="10 rows"):
        m.tnr(labels, verdicts)


def test_what_is_undefined_is_nan_and_counted():
    found = verdict_agreement([1] * 12, [1] * 12, classes=(0, 1))
    for name in ("tnr", "balanced_accuracy", "mcc", "kappa", "npv"):
        one = getattr(found, name)
        assert np.isnan([one.value, one.low, one.high]).all()
        assert one.n_undefined == 1
    assert found.tpr.value == 1 > found.tpr.low > 0.6
    assert found.to_dict()["mcc"]["value"] is None


# -- thresholds ----------------------------------------------------------------------------------

SCORES = np.clip(0.25 + 0.4 * LABELS + RNG.normal(scale=0.2, size=120), 0, 1).round(2)


@pytest.mark.parametrize("name", ["balanced_accuracy", "mcc", "kappa", "f1", "accuracy", "cost"])
def test_no_threshold_is_better(name):
    costs = {0: 5, 1: 1} if name == "cost" else None
    found = verdict_threshold(LABELS, SCORES, objective=name, costs=costs)

    def value(threshold):
        at = counted_verdicts(name, LABELS, threshold <= SCORES, SOURCES, 40, costs=[5, 1]).value
        return -at if name == "cost" else np.nan_to_num(at, nan=-np.inf)

    best = max(value(threshold) for threshold in np.linspace(0, 1.005, 202))
    assert value(found.threshold) == pytest.approx(best)
    assert abs(found.value) == pytest.approx(abs(best))


def test_of_equally_good_thresholds_the_middle_of_the_widest_gap_is_taken():
    found = verdict_threshold([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9], objective="accuracy")
    assert found.threshold == pytest.approx(0.55)


def test_the_curve_has_the_rates_at_each_threshold():
    curve = verdict_threshold(LABELS, SCORES).curve
    for threshold, tpr, tnr in zip(curve.threshold, curve.tpr, curve.tnr, strict=True):
        assert tpr == m.tpr(LABELS, (threshold <= SCORES).astype(int))
        assert tnr == m.tnr(LABELS, (threshold <= SCORES).astype(int))
    assert (curve.tpr[0], curve.tnr[0], curve.tpr[-1], curve.tnr[-1]) == (1, 0, 0, 1)


def test_a_floor_is_met_by_the_exact_lower_bound_and_the_next_threshold_misses_it():
    found = verdict_threshold(LABELS, SCORES, floor=("tnr", 0.8))
    n = found.n_negative

    def bound(tnr):
        test = binomtest(round(tnr * n), n, alternative="greater")
        return test.proportion_ci(0.9, method="exact").low

    assert found.bound == pytest.approx(bound(found.tnr))
    looser = [
        (tpr, bound(tnr))
        for tpr, tnr in zip(found.curve.tpr, found.curve.tnr, strict=True)
        if tpr > found.tpr
    ]
    assert found.bound >= 0.8 > max(low for _, low in looser)


def test_a_floor_asks_for_as_many_rows_of_the_class_as_it_takes():
    def asked(n):
        labels = [0] * n + [1] * 30
        return verdict_threshold(labels, np.linspace(0, 1, n + 30), floor=("tnr", 0.9))

    assert asked(22).bound >= 0.9
    with pytest.raises(InputError, match=r"needs 22 rows without the positive label.*got 21"):
        asked(21)
    with pytest.raises(InputError, match="30 of 6 sources, worth"):
        verdict_threshold(
            [0] * 30 + [1] * 30, np.linspace(0, 1, 60), np.arange(60) // 5, floor=("tnr", 0.9)
        )
    with pytest.raises(InputError, match="rows of both labels"):
        verdict_threshold([1, 1, 1], [0.1, 0.2, 0.3])


def test_out_of_fold_verdicts_do_not_depend_on_the_labels_of_their_own_sources():
    def verdicts(labels):
        return out_of_fold_verdicts(labels, SCORES, SOURCES, n_folds=40)

    own = SOURCES == 7
    changed = np.where(own, 1 - LABELS, LABELS)
    assert np.array_equal(verdicts(LABELS)[own], verdicts(changed)[own])
    for source in (0, 20):
        rest = source != SOURCES
        threshold = verdict_threshold(LABELS[rest], SCORES[rest]).threshold
        assert np.array_equal(verdicts(LABELS)[~rest], SCORES[~rest] >= threshold)


def test_out_of_fold_verdicts_are_the_same_each_time_and_miss_what_is_missing():
    scores = np.where(np.arange(120) < 5, np.nan, SCORES)
    found = out_of_fold_verdicts(LABELS, scores, SOURCES, floor=("tnr", 0.9))
    again = out_of_fold_verdicts(LABELS, scores, SOURCES, floor=("tnr", 0.9))
    assert np.array_equal(found, again, equal_nan=True)
    assert np.isnan(found).sum() == 5


# -- comparisons ---------------------------------------------------------------------------------


def by_enumeration(gains):
    sums = [
        abs(sum(s * g for s, g in zip(signs, gains, strict=True)))
        for signs in product((-1, 1), repeat=len(gains))
    ]
    return np.mean(np.array(sums) >= abs(sum(gains)))


@given(st.lists(st.integers(-6, 6), max_size=9))
def test_the_sign_flip_test_is_the_enumeration_of_its_null(gains):
    found = sign_flip_p(np.array(gains, int), np.random.default_rng(0))
    assert found == pytest.approx(by_enumeration(gains))


def test_the_sign_flip_test_is_drawn_where_it_cannot_be_computed(monkeypatch):
    gains = np.array([3, -1, 4, 1, -5, 9, 2, 6, 5, 3])
    exact = sign_flip_p(gains, np.random.default_rng(0))
    monkeypatch.setattr("judgesmith.metrics.verdicts.comparing._MOST_SUMS", 1)
    assert sign_flip_p(gains, np.random.default_rng(0)) == pytest.approx(exact, abs=0.02)


OTHER = np.where(RNG.random(120) < 0.7, LABELS, 1 - LABELS)


def test_with_one_row_a_source_the_tests_are_mcnemars():
    found = compare_verdicts(LABELS, VERDICTS, OTHER)
    assert found.test == "mcnemar"
    for one, place in ((found.tpr, 0), (found.tnr, 1)):
        mine, other = found.first_only[place], found.second_only[place]
        assert one.p_value == pytest.approx(binomtest(mine, mine + other).pvalue)


def test_with_several_rows_a_source_all_its_verdicts_change_hands():
    few = SOURCES < 9
    labels, first, second = LABELS[few], VERDICTS[few], OTHER[few]
    found = compare_verdicts(labels, first, second, SOURCES[few])
    right = (first == labels) * 1 - (second == labels)
    weights = {
        "tpr": labels == 1,
        "tnr": labels == 0,
        "balanced_accuracy": 1 / np.bincount(labels)[labels],
    }
    assert found.test == "sign-flip"
    for name, weight in weights.items():
        one = getattr(found, name)
        gains = np.round(np.bincount(SOURCES[few], weights=right * weight), 12)
        sums = np.array(list(product((-1, 1), repeat=9))) @ gains
        assert one.p_value == pytest.approx(np.mean(np.abs(sums) >= abs(gains.sum()) - 1e-9))
        assert one.value == pytest.approx(
            getattr(m, name)(labels, first) - getattr(m, name)(labels, second)
        )


def test_the_judges_are_compared_on_rows_that_both_judged_and_change_places():
    first = np.where(np.arange(120) < 6, np.nan, VERDICTS)
    found = compare_verdicts(LABELS, first, OTHER, SOURCES)
    other = compare_verdicts(LABELS, OTHER, first, SOURCES)
    assert (found.n, found.n_unscored, found.n_groups) == (114, 6, 38)
    assert found.tnr.value == -other.tnr.value
    assert found.tnr.p_value == pytest.approx(other.tnr.p_value)
    same = compare_verdicts(LABELS, OTHER, OTHER, SOURCES)
    assert (same.tpr.value, same.tpr.p_value) == (0, 1)
