"""`metrics.verdicts` against definitions, enumerations and other implementations."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy.stats import binomtest, norm, t
from sklearn import metrics as sklearn

from judgesmith import metrics as m
from judgesmith.metrics.verdicts import (
    compare_verdicts,
    labels_needed,
    verdict_agreement,
    verdict_curves,
)
from judgesmith.metrics.verdicts.comparing import sign_flip_p
from judgesmith.metrics.verdicts.confusion import CodedVerdicts
from judgesmith.metrics.verdicts.threshold import Cuts, lower_bound, rows_to_show

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


@for_each("name", [*ORACLES, *OF_POSITIVE])
def test_a_metric_of_two_labels_equals_scikit_learn(name):
    found = getattr(m, name)(LABELS, VERDICTS)
    assert found == pytest.approx((ORACLES | OF_POSITIVE)[name](LABELS, VERDICTS))


@for_each("name", ORACLES)
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


METRICS = ["accuracy", "balanced_accuracy", "mcc", "kappa", "ac1", "f1", "tpr", "tnr"]


@for_each("name", METRICS)
def test_a_resample_has_the_value_of_its_repeated_rows(name):
    counted = CodedVerdicts.of(LABELS, VERDICTS, sources=SOURCES).counted(name)
    counts = np.random.default_rng(0).integers(0, 3, size=(4, 40))
    for one, found in zip(counts, counted.of_counts(counts.astype(float)), strict=True):
        drawn = np.repeat(np.arange(120), one[SOURCES])
        again = CodedVerdicts.of(LABELS[drawn], VERDICTS[drawn]).counted(name)
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
CUTS = Cuts.of(SCORES, LABELS == 1, np.arange(120))


def test_cuts_have_the_rates_of_each_threshold():
    tpr, tnr = CUTS.rate(good=True), CUTS.rate(good=False)
    for at, threshold in enumerate(CUTS.thresholds):
        passed = (threshold <= SCORES).astype(int)
        assert (tpr[at], tnr[at]) == (m.tpr(LABELS, passed), m.tnr(LABELS, passed))
        assert CUTS.tables[at].tolist() == sklearn.confusion_matrix(LABELS, passed).ravel().tolist()
    assert (tpr[0], tnr[0], tpr[-1], tnr[-1]) == (1, 0, 0, 1)


@pytest.mark.parametrize("good", [True, False])
def test_the_limit_of_a_rate_is_exact_for_one_row_a_source(good):
    n = np.count_nonzero((LABELS == 1) == good)
    for rate, limit in zip(CUTS.rate(good=good), CUTS.lower_limit(good=good), strict=True):
        test = binomtest(round(rate * n), n, alternative="greater")
        assert limit == pytest.approx(test.proportion_ci(0.9, method="exact").low)


def test_rows_that_are_alike_within_sources_are_worth_fewer():
    alike = Cuts.of(np.repeat(SCORES, 3), np.repeat(LABELS == 1, 3), np.repeat(np.arange(120), 3))
    assert (alike.lower_limit(good=False) <= CUTS.lower_limit(good=False) + 1e-12).all()


def test_a_floor_takes_as_many_rows_as_can_show_it():
    assert rows_to_show(0.9) == 22
    assert lower_bound(np.ones(1), 22, 0.9) >= 0.9 > lower_bound(np.ones(1), 21, 0.9)


# -- curves --------------------------------------------------------------------------------------


def test_areas_equal_scikit_learn():
    assert m.roc_auc(LABELS, SCORES) == pytest.approx(sklearn.roc_auc_score(LABELS, SCORES))
    found, expected = m.average_precision(LABELS, SCORES), sklearn.average_precision_score
    assert found == pytest.approx(expected(LABELS, SCORES))
    coarse = SCORES.round(1)
    assert m.roc_auc(LABELS, coarse) == pytest.approx(sklearn.roc_auc_score(LABELS, coarse))
    assert m.average_precision(LABELS, coarse) == pytest.approx(expected(LABELS, coarse))


def test_curves_equal_scikit_learn():
    found = verdict_curves(LABELS, SCORES, SOURCES, n_resamples=50)
    fpr, tpr, thresholds = sklearn.roc_curve(LABELS, SCORES, drop_intermediate=False)
    assert found.threshold == pytest.approx(thresholds[:0:-1])
    assert (found.fpr, found.tpr) == (pytest.approx(fpr[:0:-1]), pytest.approx(tpr[:0:-1]))
    precision, _, thresholds = sklearn.precision_recall_curve(LABELS, SCORES)
    assert found.precision == pytest.approx(precision[:-1])
    assert found.area.low < found.area.value < found.area.high
    assert found.average_precision.low < found.average_precision.value


def test_the_interval_of_the_area_is_delongs_for_one_row_a_source():
    good, others = SCORES[LABELS == 1], SCORES[LABELS == 0]
    wins = (good[:, None] > others) + (good[:, None] == others) / 2
    area = wins.mean()
    spread = np.sqrt(wins.mean(1).var() / len(good) + wins.mean(0).var() / len(others))
    spread *= np.sqrt(120 / 119)
    ends = np.log(area / (1 - area)) + t.ppf([0.025, 0.975], 119) * spread / (area * (1 - area))
    found = verdict_curves(LABELS, SCORES, n_resamples=50).area
    assert (found.low, found.high) == pytest.approx(tuple(1 / (1 + np.exp(-ends))))


def test_areas_without_rows_of_a_class_are_nan_and_counted():
    found = verdict_curves([1, 1, None], [0.1, 0.9, 0.5], classes=(0, 1))
    assert np.isnan([found.area.value, found.area.low]).all()
    assert (found.area.n_undefined, found.n_unlabelled, found.fpr[0]) == (
        1,
        1,
        pytest.approx(np.nan, nan_ok=True),
    )
    separated = verdict_curves([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], n_resamples=50)
    assert separated.area.value == separated.average_precision.value == 1
    assert np.isnan(separated.area.low)
    assert verdict_curves([], []).n_groups == 0


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


def test_many_labels_of_many_rows_are_compared():
    draw = np.random.default_rng(0)
    size = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151]
    labels = np.repeat(np.arange(11), size)
    first = np.where(draw.random(len(labels)) < 0.8, labels, 0)
    second = np.where(draw.random(len(labels)) < 0.7, labels, 0)
    found = compare_verdicts(labels, first, second, positive=10, n_resamples=50)
    assert found.balanced_accuracy.p_value < 0.001


def test_the_judges_are_compared_on_rows_that_both_judged_and_change_places():
    first = np.where(np.arange(120) < 6, np.nan, VERDICTS)
    found = compare_verdicts(LABELS, first, OTHER, SOURCES)
    other = compare_verdicts(LABELS, OTHER, first, SOURCES)
    assert (found.n, found.n_unscored, found.n_groups) == (114, 6, 38)
    assert found.tnr.value == -other.tnr.value
    assert found.tnr.p_value == pytest.approx(other.tnr.p_value)
    same = compare_verdicts(LABELS, OTHER, OTHER, SOURCES)
    assert (same.tpr.value, same.tpr.p_value) == (0, 1)


# -- raters --------------------------------------------------------------------------------------

RATERS = [
    [0, 0, 0, 0], [None, None, 2, 2], [2, 1, 1, None], [2, 0, 0, 0], [0, 0, 0, 2],
    [0, 1, 0, 2], [0, None, 0, 0], [0, None, None, 0], [0, 2, 1, 0], [2, 2, 2, None],
    [1, 2, 1, 1], [0, 0, None, 1], [0, 0, 0, 0], [2, 0, 2, 2], [2, None, 2, 2],
    [None, 1, 0, None], [0, 0, None, 0], [0, None, 0, 0], [None, None, 1, 1], [0, 0, 0, 0],
    [1, None, 2, 1], [0, 0, 0, 0], [2, 1, 0, 2], [0, 0, 0, None], [2, 1, 1, 1],
]  # fmt: skip
# DawidSkene(n_iter=5000, tol=1e-15) of crowd-kit 1.4.2, and CAC(...).gwet() of irrCAC 0.4.4.
DOUBTFUL = {
    2: [0.012158, 0.987842, 0],
    9: [0, 0.172753, 0.827247],
    15: [0.841684, 0, 0.158316],
    18: [0.025064, 0.974936, 0],
    22: [0.059988, 0, 0.940012],
    24: [0.000964, 0.999036, 0],
}
PRIOR = [0.597594, 0.205383, 0.197023]
FIRST_RATER = [[0.923747, 0, 0.076253], [0, 0.480812, 0.519188], [0, 0, 1]]


def test_dawid_and_skene_is_that_of_crowd_kit():
    found = m.dawid_skene(RATERS, tolerance=1e-12)
    assert found.has_converged
    for item, expected in DOUBTFUL.items():
        assert found.probabilities[item] == pytest.approx(expected, abs=1e-5)
    assert found.prior == pytest.approx(PRIOR, abs=1e-5)
    assert np.array(found.raters[0]) == pytest.approx(np.array(FIRST_RATER), abs=1e-5)


def test_gwets_coefficient_of_several_raters_is_that_of_irrcac():
    assert m.gwet_ac1(RATERS).value == pytest.approx(0.53963, abs=5e-6)


@pytest.mark.raters
def test_raters_agree_and_are_weighed_as_in_crowd_kit_and_irrcac():
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    cac = pytest.importorskip("irrCAC.raw")
    draw = np.random.default_rng(1)
    for n_labels in (2, 3):
        true = draw.integers(n_labels, size=60)
        table = np.where(
            draw.random((60, 5)) < 0.7, true[:, None], draw.integers(n_labels, size=(60, 5))
        )
        table = np.where(draw.random((60, 5)) < 0.2, np.nan, table)
        rows = [
            (i, j, int(table[i, j])) for i, j in zip(*np.nonzero(~np.isnan(table)), strict=True)
        ]
        frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
        theirs = crowdkit.DawidSkene(n_iter=5000, tol=1e-15).fit(frame).probas_.sort_index()
        mine = m.dawid_skene(table, tolerance=1e-12, n_iterations=5000)
        assert np.array(mine.probabilities) == pytest.approx(
            theirs.sort_index(axis=1).to_numpy(), abs=1e-4
        )
        expected = cac.CAC(pd.DataFrame(table)).gwet()["est"]["coefficient_value"]
        assert m.gwet_ac1(table).value == pytest.approx(expected, abs=5e-6)


def test_a_rater_who_says_the_opposite_is_found_out():
    draw = np.random.default_rng(2)
    true = draw.integers(2, size=200)
    right = draw.random((200, 4)) < [0.9, 0.85, 0.9, 0.1]
    found = m.dawid_skene(np.where(right, true[:, None], 1 - true[:, None]))
    assert np.array(found.raters[3]).diagonal() == pytest.approx([0.1, 0.1], abs=0.08)
    assert np.mean(np.argmax(found.probabilities, axis=1) == true) > 0.93
    assert np.allclose(np.sum(found.probabilities, axis=1), 1)


def test_a_frame_is_read_by_rows():
    frame = pd.DataFrame(RATERS, columns=["anna", "ben", "eva", "tom"])
    assert m.dawid_skene(frame).probabilities[2] == m.dawid_skene(RATERS).probabilities[2]
    assert m.tpr(pd.Series(["pass", "fail"]), pd.Series(["pass", "fail"])) == 1
    with pytest.raises(ValueError, match="2 rows"):
        m.tpr(pd.Series(["pass", pd.NA, None]), ["pass"] * 3)


def test_items_without_labels_are_nan_and_one_step_is_not_convergence():
    found = m.dawid_skene([["pass", "pass"], [None, None], ["fail", "pass"], ["fail", "fail"]])
    assert np.isnan(found.probabilities[1]).all()
    assert found.classes == ("fail", "pass")
    assert not m.dawid_skene(RATERS, n_iterations=1).has_converged
    assert m.dawid_skene([]).probabilities == ()
    with pytest.raises(ValueError, match="one column per rater"):
        m.dawid_skene([[1, 0], [1]])


# -- sample sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.6, 0.9, 0.97])
def test_as_many_labels_as_needed_give_wilsons_interval_that_half_width(rate):
    n = labels_needed(rate, 0.04)

    def half_width(n):
        z = norm.ppf(0.975) ** 2 / n  # (p - rate) ** 2 = z * p * (1 - p) at both ends
        return np.ptp(np.roots([1 + z, -2 * rate - z, rate**2])) / 2

    assert half_width(n) <= 0.04 < half_width(n - 1)
    assert labels_needed(rate, 0.04, cluster_size=5, intraclass=0.3) == np.ceil(2.2 * n)


def test_sample_sizes_refuse_what_cannot_be():
    for odd in ({"rate": 1.2}, {"half_width": 0}, {"cluster_size": 0.5}, {"intraclass": 2}):
        with pytest.raises(ValueError, match=next(iter(odd))):
            labels_needed(**odd)
