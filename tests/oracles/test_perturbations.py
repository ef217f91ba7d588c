"""`metrics.perturbations` against definitions, worked values and other implementations."""

import dataclasses
import json
import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each
from scipy import stats

from judgesmith.metrics.perturbations import (
    EXPERT_WEIGHTS,
    average_discernment,
    discernment,
    discernment_score,
    harmonic_mean_log_p,
    items_needed,
    signed_rank_test,
    wilcoxon_log_p,
)

# -- discerning ----------------------------------------------------------------------------------


NAMES = ["typos", "entities", "reordering", "rewriting"]
LEVELS = ["character", "word", "sentence", "sentence"]
METRICS = ["fluency", "coherence"]
WEIGHTS = {
    "typos": {"fluency": 0.75, "coherence": 0.25},
    "reordering": {"coherence": 1, "fluency": 0},
}
FAST = {"n_resamples": 40}


def judged(n_items=40, seed=0):
    """Return scores of originals, and of texts that lose more on fluency and with each place."""
    rng = np.random.default_rng(seed)
    originals = rng.integers(2, 6, size=(n_items, 2)).astype(float)
    loss = np.array([0.3, 0.0]) + 0.3 * np.arange(4)[:, None, None]
    return originals, np.round(originals - loss - rng.normal(size=(4, n_items, 2)))


def report(originals, perturbed, *, seed=0, **settings):
    settings = {
        "perturbations": NAMES, "levels": LEVELS, "metrics": METRICS, "weights": WEIGHTS
    } | FAST | settings  # fmt: skip
    return discernment(originals, perturbed, seed=np.random.default_rng(seed), **settings)


def test_scores_are_the_papers_formulas_one_after_another():
    originals, perturbed = judged()
    found = report(originals, perturbed)
    scores, expert = {}, {}
    for name, texts, one in zip(NAMES, perturbed, found.perturbations, strict=True):
        p = [
            stats.wilcoxon(originals[:, m], texts[:, m], alternative="greater").pvalue
            for m in range(2)
        ]
        assert [test.p_value for test in one.tests] == pytest.approx(p)
        assert [test.metric for test in one.tests] == METRICS
        scores[name] = math.log(2 / sum(1 / x for x in p), 0.05)
        assert one.score.value == pytest.approx(scores[name])
        if name in WEIGHTS:
            share = [WEIGHTS[name][metric] for metric in METRICS]
            mean = 1 / sum(w / x for w, x in zip(share, p, strict=True))
            expert[name] = math.log(mean, 0.05)
            assert one.expert_score.value == pytest.approx(expert[name])
        else:
            assert one.expert_score is one.expert_items_needed is None
    average = (scores["typos"] + scores["entities"]) / 3
    average += (scores["reordering"] + scores["rewriting"]) / 6
    assert found.lowest.value == pytest.approx(min(scores.values()))
    assert found.average.value == pytest.approx(average)
    assert found.expert_lowest.value == pytest.approx(min(expert.values()))
    assert found.expert_average.value == pytest.approx(sum(expert.values()) / 2)
    assert found.expert_average.n_undefined == 2
    assert (found.lowest.n, found.lowest.n_groups, found.lowest.n_undefined) == (320, 40, 0)


def test_the_printed_form_scores_higher_by_the_logarithm_of_the_number_of_metrics():
    normalised, printed = report(*judged()), report(*judged(), form="printed")
    for one, other in zip(normalised.perturbations, printed.perturbations, strict=True):
        gain = math.log(2) / math.log(20)
        assert other.score.value == pytest.approx(one.score.value + gain)
        if one.expert_score:
            assert other.expert_score.value == one.expert_score.value
    assert printed.form == "printed"


def test_values_lie_in_their_intervals_and_the_same_seed_gives_the_same_report():
    found = report(*judged())
    for one in (
        *(each.score for each in found.perturbations),
        found.perturbations[0].expert_score,
        found.lowest,
        found.average,
        found.expert_lowest,
        found.expert_average,
    ):
        assert 0 <= one.low <= one.value <= one.high
        assert one.low < one.high
    assert report(*judged()) == found
    assert report(*judged(), seed=1) != found


def test_one_draw_of_items_serves_all_metrics_and_perturbations():
    originals, perturbed = judged()
    found = report(originals, perturbed[[2, 2]], perturbations=["a", "b"], levels=["word"] * 2,
                   weights=None)  # fmt: skip
    first, second = found.perturbations
    assert dataclasses.replace(second, name="a") == first
    # The average of equal scores has the interval of each of them.
    assert found.average.low == pytest.approx(first.score.low)
    assert found.average.high == pytest.approx(first.score.high)
    assert (found.expert_lowest, found.expert_average) == (None, None)


@pytest.mark.no_cover
def test_an_interval_holds_the_median_score_about_as_often_as_it_claims():
    def draw(rng):
        return np.round(rng.normal(4, 1, size=(50, 1)) * 5) / 5

    def lost(rng):
        return np.round((0.3 + rng.normal(size=(50, 1))) * 5) / 5

    rng = np.random.default_rng(3)
    many = np.stack([lost(rng)[:, 0] for _ in range(2000)])
    truth = np.median(wilcoxon_log_p(many, np.zeros(50))) / math.log(0.05)
    held = 0
    for seed in range(80):
        originals = draw(rng)
        # A share that any resample reaches keeps the search for a number of items short.
        found = discernment(
            originals, [originals - lost(rng)], perturbations=["x"], levels=["word"],
            metrics=["m"], seed=np.random.default_rng(seed), n_resamples=200, power=1e-9,
        ).perturbations[0].score  # fmt: skip
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 80 <= 0.99


@pytest.mark.no_cover
@pytest.mark.parametrize(("form", "n_metrics", "low", "high"), [
    ("normalised", 1, 0.045, 0.055),
    ("normalised", 4, 0.05, 0.075),
    ("printed", 4, 0.23, 0.33),
])  # fmt: skip
def test_discernment_is_claimed_as_often_where_there_is_none_as_documented(
    form, n_metrics, low, high
):
    rng = np.random.default_rng(4)
    lost = np.round(rng.normal(size=(8000, n_metrics, 100)) * 5) / 5
    log_p = harmonic_mean_log_p(wilcoxon_log_p(lost, np.zeros(100)), form=form)
    assert low <= np.mean(log_p <= math.log(0.05)) <= high


def test_unscored_sides_are_dropped_and_counted():
    originals, perturbed = judged()
    originals[3, 0] = perturbed[0, 3, 0] = perturbed[0, 7, 0] = np.nan
    perturbed[1, :5] = np.nan
    found = report(originals, perturbed)
    first, second = found.perturbations[:2]
    assert [(test.n_pairs, test.n_dropped) for test in first.tests] == [(38, 2), (40, 0)]
    assert [(test.n_pairs, test.n_dropped) for test in second.tests] == [(35, 5), (35, 5)]
    assert (first.score.n, first.score.n_groups) == (78, 40)
    assert (second.score.n, second.score.n_groups) == (70, 35)
    kept = report(originals[5:], perturbed[:, 5:]).perturbations[1]
    assert second.tests[0].log_p == kept.tests[0].log_p


def test_an_undefined_perturbation_is_left_out_and_counted():
    originals, perturbed = judged()
    perturbed[3] = np.nan
    found = report(originals, perturbed)
    without = report(originals, perturbed[:3], perturbations=NAMES[:3], levels=LEVELS[:3])
    undefined = found.perturbations[3]
    assert math.isnan(undefined.score.value)
    assert math.isnan(undefined.score.low)
    assert math.isnan(undefined.log_p_opposite)
    assert (undefined.score.n_undefined, undefined.score.n_groups) == (2, 0)
    assert undefined.items_needed.n is None
    assert not undefined.prefers_damage
    assert found.average == dataclasses.replace(without.average, n_undefined=1)
    assert found.lowest.n_undefined == 1


def test_a_metric_without_scores_matters_only_where_it_has_weight():
    originals, perturbed = judged()
    perturbed[2, :, 0] = np.nan  # fluency has no weight there
    found = report(originals, perturbed)
    one = found.perturbations[2]
    assert math.isnan(one.score.value)
    assert one.expert_score.value > 0
    assert one.score.n_undefined == one.expert_score.n_undefined == 1


def test_with_nothing_scored_everything_is_undefined():
    nothing = np.full((4, 6, 2), np.nan)
    found = report(nothing[0], nothing)
    for one in (found.lowest, found.average, found.expert_lowest):
        assert np.isnan([one.value, one.low, one.high]).all()
        assert (one.n, one.n_groups, one.n_undefined) == (0, 0, 4)


def test_no_interval_is_given_where_many_resamples_leave_nothing_to_test():
    originals, perturbed = judged()
    perturbed[0, 2:] = np.nan
    found = report(originals, perturbed, n_resamples=200).perturbations
    assert math.isfinite(found[0].score.value)
    assert np.isnan([found[0].score.low, found[0].score.high]).all()
    assert found[1].score.low < found[1].score.high
    assert [one.too_few for one in found] == [True, False, False, False]


def test_a_judge_that_never_moves_scores_zero_without_an_interval():
    found = report(np.full((10, 2), 3.0), np.full((4, 10, 2), 3.0))
    assert found.lowest.value == found.average.value == 0
    assert np.isnan([found.average.low, found.average.high]).all()
    for one in found.perturbations:
        assert all(test.all_tied for test in one.tests)
        assert one.too_few
        assert one.items_needed.n is None
        assert not one.prefers_damage


def test_one_item_has_no_interval():
    found = report(*judged(n_items=1))
    assert math.isfinite(found.average.value)
    assert math.isnan(found.average.low)


def test_a_judge_that_prefers_damage_is_shown():
    originals, perturbed = judged()
    found = report(originals, 2 * originals - perturbed).perturbations[3]
    assert found.prefers_damage
    assert found.score.value < 0.1
    assert found.log_p_opposite == pytest.approx(
        report(originals, perturbed).perturbations[3].score.value * math.log(0.05)
    )


def test_a_report_is_ready_for_json():
    originals, perturbed = judged()
    perturbed[3] = np.nan
    told = json.loads(json.dumps(report(originals, perturbed).to_dict(), allow_nan=False))
    assert told["perturbations"][3]["score"]["value"] is None
    assert told["perturbations"][3]["tests"][0]["log_p"] is None
    assert told["perturbations"][1]["expert_score"] is None
    assert told["perturbations"][0]["items_needed"]["limit"] == 400
    assert told["lowest"]["n_groups"] == 40


def test_lists_and_frames_do_as_arrays():
    originals, perturbed = judged()
    frames = report(pd.DataFrame(originals), perturbed.tolist())
    assert frames == report(originals, perturbed)


@for_each(
    ("settings", "message"),
    [
        ({"perturbations": NAMES[:3]}, "perturbations must be 4 different names"),
        ({"perturbations": ["a", "a", "b", "c"]}, "perturbations must be 4 different names"),
        ({"perturbations": "abcd"}, "must be a sequence of names; got 'abcd'"),
        ({"metrics": [1, 2]}, "metrics must be a sequence of names"),
        ({"levels": LEVELS[:2]}, "one level per perturbation; got 2 for 4"),
        ({"levels": ["page"] * 4}, "got 'page' at index 0"),
        ({"form": "plain"}, "form must be"),
        ({"power": 1.0}, "power must be strictly between 0 and 1"),
        ({"confidence": 95}, "confidence must be strictly between 0 and 1"),
        ({"n_resamples": 1}, "at least 20 resamples"),
        ({"weights": {"typo": {"fluency": 1, "coherence": 0}}}, r"for perturbations \['typo'\]"),
        ({"weights": {"typos": {"fluency": 1}}}, r"'typos' must cover the metrics"),
        ({"weights": {"typos": {"fluency": 1, "flow": 0}}}, r"'typos' must cover the metrics"),
        ({"weights": {"typos": {"fluency": 7, "coherence": 3}}}, "weights of 'typos': .* sum to 1"),
    ],
)
def test_says_what_is_wrong_with_names_weights_and_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        report(*judged(), **settings)


@for_each(
    ("originals", "perturbed"),
    [
        (np.zeros(5), np.zeros((4, 5, 2))),
        (np.zeros((5, 2)), np.zeros((5, 2))),
        (np.zeros((5, 2)), np.zeros((4, 6, 2))),
        (np.zeros((5, 2)), np.zeros((4, 5, 1))),
        (np.zeros((0, 2)), np.zeros((4, 0, 2))),
        (np.zeros((5, 2)), np.zeros((0, 5, 2))),
    ],
)
def test_says_what_shapes_it_expects(originals, perturbed):
    with pytest.raises(ValueError, match=r"originals must have shape \(n_items, n_metrics\)"):
        report(originals, perturbed)


def test_refuses_infinite_scores_words_and_a_seed_for_a_generator():
    originals, perturbed = judged()
    with pytest.raises(ValueError, match="infinite score"):
        report(originals * math.inf, perturbed)
    with pytest.raises(ValueError, match="array of numbers"):
        report([["good", "bad"]], perturbed)
    with pytest.raises(ValueError, match="originals must be an array of numbers"):
        report(originals.astype(str), perturbed)
    with pytest.raises(TypeError, match="Generator; got str"):
        discernment(originals, perturbed, perturbations=NAMES, levels=LEVELS, metrics=METRICS,
                    seed="0")  # fmt: skip


# -- discernment power ---------------------------------------------------------------------------


def needed(originals, perturbed, *, seed=0, **settings):
    rng = np.random.default_rng(seed)
    return items_needed(originals, perturbed, seed=rng, **({"n_resamples": 400} | settings))


def test_a_loss_on_every_text_needs_the_five_items_that_any_proof_needs():
    found = needed(np.full((8, 1), 5.0), np.arange(8.0)[:, None] / 2)
    assert (found.n, found.limit, found.share, found.reached) == (5, 80, 0.8, 1.0)


@pytest.mark.parametrize("effect", [0.3, 0.5])
def test_the_number_of_items_is_what_normal_theory_says(effect):
    # Wilcoxon's test is 3 / pi as efficient as the t-test, for normal differences.
    n = 600
    lost = effect + np.random.default_rng(0).normal(size=(n, 1))
    theory = (1.645 + 0.842) ** 2 / effect**2 * math.pi / 3
    found = needed(lost, np.zeros((n, 1)))
    assert found.n == pytest.approx(theory, rel=0.25, abs=2)
    assert found.reached >= 0.8


def test_more_is_needed_for_a_larger_share_and_a_smaller_effect():
    lost = np.random.default_rng(2).normal(size=(50, 1))
    lost -= lost.mean()
    numbers = [needed(lost + 0.5, 0 * lost, power=share).n for share in (0.5, 0.8, 0.95)]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1]
    assert needed(lost + 1, 0 * lost).n < needed(lost + 0.3, 0 * lost).n


def test_more_items_than_there_are_can_be_needed_up_to_ten_times_as_many():
    lost = np.random.default_rng(3).normal(size=(40, 1))
    lost -= lost.mean()
    assert 40 < needed(lost + 0.3, 0 * lost).n <= 400
    hopeless = needed(lost, 0 * lost)
    assert (hopeless.n, hopeless.limit) == (None, 400)
    assert 0 <= hopeless.reached < 0.8


def test_weights_turn_to_the_metric_that_notices():
    rng = np.random.default_rng(5)
    lost = np.stack([rng.normal(1, 1, size=50), rng.normal(size=50)], axis=1)
    zeros = np.zeros((50, 2))
    assert needed(lost, zeros, weights=[1, 0]).n <= needed(lost, zeros).n
    assert needed(lost, zeros, weights=[1, 0]).n == needed(lost[:, :1], zeros[:, :1]).n
    assert needed(lost, zeros, form="printed").n <= needed(lost, zeros).n


def test_texts_that_could_not_be_perturbed_are_items_to_collect():
    lost = np.random.default_rng(6).normal(0.8, 1, size=(60, 1))
    half = lost.copy()
    half[::2] = np.nan
    assert needed(half, 0 * lost).n == pytest.approx(
        2 * needed(half[1::2], 0 * half[1::2]).n, rel=0.3
    )


def test_without_a_scored_pair_it_is_undefined():
    found = needed(np.full((5, 1), np.nan), np.zeros((5, 1)))
    assert found.n is None
    assert math.isnan(found.reached)
    assert found.to_dict() == {"n": None, "limit": 50, "share": 0.8, "reached": None}


@for_each(
    ("originals", "perturbed", "settings", "message"),
    [
        (np.zeros(5), np.zeros(5), {}, "must be tables of one shape"),
        (np.zeros((5, 1)), np.zeros((6, 1)), {}, r"got \(5, 1\) and \(6, 1\)"),
        (np.zeros((0, 1)), np.zeros((0, 1)), {}, "must be tables of one shape"),
        (np.zeros((5, 1)), np.zeros((5, 1)), {"power": 80}, "power must be strictly between"),
        (np.zeros((5, 2)), np.zeros((5, 2)), {"weights": [2, -1]}, "0 or more for every metric"),
        (np.zeros((5, 1)), np.full((5, 1), np.inf), {}, "perturbed holds an infinite score"),
        (np.zeros((5, 1)), np.zeros((5, 1)), {"n_resamples": 5}, "at least 20 resamples"),
    ],
)
def test_says_what_is_wrong(originals, perturbed, settings, message):
    with pytest.raises(ValueError, match=message):
        needed(originals, perturbed, **settings)


# -- discernment scores --------------------------------------------------------------------------


def test_a_score_counts_in_powers_of_one_twentieth():
    assert discernment_score(np.log([0.05, 0.0025, 1])).tolist() == [1, 2, 0]
    assert not np.signbit(discernment_score(0.0))
    assert discernment_score(-1000.0) == pytest.approx(1000 / np.log(20))
    assert np.isnan(discernment_score(np.nan))


def test_a_probability_above_one_is_refused():
    with pytest.raises(ValueError, match=r"at most 0; got 0\.5"):
        discernment_score([0.5, -1])


def test_levels_weigh_the_same_and_perturbations_share_their_level():
    levels = ["character", "word", "character", "character"]
    assert average_discernment([1, 9, 2, 3], levels) == pytest.approx((2 + 9) / 2)
    assert average_discernment([1, np.nan, 2, 3], levels) == 2
    assert average_discernment([np.nan, 9, np.nan, 3], levels) == 6
    assert np.isnan(average_discernment([np.nan], ["sentence"]))
    assert np.isnan(average_discernment([], []))


@pytest.mark.parametrize(
    ("scores", "levels", "message"),
    [
        ([1, 2], ["word"], r"one level each; got shape \(2,\) and 1 levels"),
        ([[1]], ["word"], "must be a vector"),
        ([1, 2], ["word", "page"], "got 'page' at index 1"),
    ],
)
def test_says_what_is_wrong_of_discernment_scores(scores, levels, message):
    with pytest.raises(ValueError, match=message):
        average_discernment(scores, levels)


# -- expert weights ------------------------------------------------------------------------------


def test_every_task_has_its_kinds_of_perturbation():
    kinds = {task: len(weights) for task, weights in EXPERT_WEIGHTS.items()}
    assert kinds == {
        "summarization": 6,
        "story_completion": 6,
        "question_answering": 5,
        "dialogue": 6,
        "translation": 5,
    }


def test_damage_weighs_on_the_metric_that_should_notice():
    assert EXPERT_WEIGHTS["summarization"]["rewriting"] == {
        "coherence": 0.2,
        "consistency": 0,
        "fluency": 0.2,
        "relevance": 0.6,
    }
    assert EXPERT_WEIGHTS["translation"]["word_deletions"] == {"accuracy": 0.7, "fluency": 0.3}
    assert EXPERT_WEIGHTS["story_completion"]["fictional_entities"]["consistency"] == 1


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        EXPERT_WEIGHTS["translation"]["typos"] = {}
    with pytest.raises(TypeError):
        EXPERT_WEIGHTS["translation"]["word_deletions"]["fluency"] = 1


# -- harmonic ------------------------------------------------------------------------------------


p_values = st.lists(st.floats(1e-6, 1), min_size=1, max_size=6)


@given(p_values)
def test_it_is_the_harmonic_mean(ps):
    mean = len(ps) / sum(1 / p for p in ps)
    assert math.exp(harmonic_mean_log_p(np.log(ps))) == pytest.approx(mean)
    printed = 1 / sum(1 / p for p in ps)
    assert math.exp(harmonic_mean_log_p(np.log(ps), form="printed")) == pytest.approx(printed)


@pytest.mark.no_cover
@given(p_values, st.randoms(use_true_random=False))
def test_weights_are_the_shares_of_the_metrics(ps, random):
    shares = [random.random() + 0.01 for _ in ps]
    shares = [share / sum(shares) for share in shares]
    mean = 1 / sum(share / p for share, p in zip(shares, ps, strict=True))
    assert math.exp(harmonic_mean_log_p(np.log(ps), weights=shares)) == pytest.approx(mean)


@pytest.mark.no_cover
@given(p_values)
def test_it_lies_between_the_smallest_and_the_largest_whatever_their_order(ps):
    logs = np.log(ps)
    found = float(harmonic_mean_log_p(logs))
    assert min(logs) - 1e-9 <= found <= max(logs) + 1e-9
    assert harmonic_mean_log_p(logs[::-1]) == pytest.approx(found)


def test_it_equals_a_value_worked_by_hand():
    # 4 / (1 / .01 + 3 / .5) is 4 / 106.
    p = [0.01, 0.5, 0.5, 0.5]
    assert math.exp(harmonic_mean_log_p(np.log(p))) == pytest.approx(4 / 106)


def test_the_printed_form_gains_the_logarithm_of_the_number_of_metrics():
    for n_metrics, gain in ((2, 0.23), (3, 0.37), (4, 0.46)):
        ones = np.zeros(n_metrics)
        assert harmonic_mean_log_p(ones) == 0
        log_p = harmonic_mean_log_p(ones, form="printed")
        assert log_p / math.log(0.05) == pytest.approx(gain, abs=0.005)


def test_p_values_too_small_for_floats_are_combined():
    assert harmonic_mean_log_p([-1000, -1000]) == pytest.approx(-1000)
    assert harmonic_mean_log_p([-1000, 0]) == pytest.approx(-1000 + math.log(2))
    assert harmonic_mean_log_p([-1000, 0], weights=[0, 1]) == 0
    assert harmonic_mean_log_p([-math.inf, -1]) == -math.inf
    assert harmonic_mean_log_p([-math.inf, -1], weights=[0, 1]) == pytest.approx(-1)


def test_an_undefined_metric_matters_only_where_it_has_weight():
    logs = [[-3, np.nan], [np.nan, -2], [-3, -2]]
    assert np.isnan(harmonic_mean_log_p(logs)).tolist() == [True, True, False]
    found = harmonic_mean_log_p(logs, weights=[1, 0])
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[0] == pytest.approx(-3)


def test_weights_may_differ_from_row_to_row():
    found = harmonic_mean_log_p([[-3, -1], [-3, -1]], weights=[[1, 0], [0, 1]])
    assert found.tolist() == pytest.approx([-3, -1])


@for_each(
    ("weights", "message"),
    [
        ([0.5, 0.5], "must cover the metrics, one for each of 3"),
        (1.0, "must cover the metrics"),
        ([1.5, -0.5, 0], "0 or more for every metric"),
        ([0.5, 0.5, np.nan], "0 or more for every metric"),
        ([4, 1, 5], "Divide votes by how many there were"),
    ],
)
def test_says_what_is_wrong_with_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        harmonic_mean_log_p([-1, -1, -1], weights=weights)


@for_each(
    ("log_p", "settings", "message"),
    [
        ([], {}, "must have metrics on its last axis"),
        (-1.0, {}, "must have metrics on its last axis"),
        ([0.3, -1], {}, "natural logarithms of p-values, at most 0; got 0.3"),
        ([-1, -1], {"form": "weighted"}, "must be 'normalised' or 'printed'; got 'weighted'"),
        ([-1, -1], {"form": "printed", "weights": [1, 0]}, "the printed form has no weights"),
    ],
)
def test_says_what_is_wrong_with_logarithms_and_settings(log_p, settings, message):
    with pytest.raises(ValueError, match=message):
        harmonic_mean_log_p(log_p, **settings)


# -- wilcoxon ------------------------------------------------------------------------------------


differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
few_kinds = st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=30)
OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15)


def log_p(lost):
    return float(wilcoxon_log_p(lost, np.zeros(len(lost))))


def average_ranks(sizes):
    """Return one plus the number of smaller sizes, plus half the number of others alike."""
    return [
        sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2
        for size in sizes
    ]


def enumerated(lost):
    """Return the share of all assignments of signs with a rank sum at least as large."""
    nonzero = [one for one in lost if one]
    ranks = average_ranks([abs(one) for one in nonzero])
    seen = sum(rank for rank, one in zip(ranks, nonzero, strict=True) if one > 0)
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(nonzero))
    ]
    return sum(one >= seen for one in sums) / len(sums)


def by_scipy(lost, alternative):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stats.wilcoxon(lost, alternative=alternative).pvalue


@pytest.mark.no_cover
@given(differences)
def test_with_few_pairs_it_is_the_share_of_all_assignments_of_signs(lost):
    assert math.exp(log_p(lost)) == pytest.approx(enumerated(lost))


@pytest.mark.no_cover
@pytest.mark.skipif(OLD, reason="before 1.15 SciPy had another rule for few pairs with ties")
@pytest.mark.parametrize(
    ("kinds", "sizes", "n_sets"),
    [
        (1, (14, 70), 150),
        (5, (14, 70), 150),
        (1000, (14, 70), 150),
        ("normal", (1, 70), 150),
        (2, (1, 5), 100),
    ],
)
def test_it_equals_scipy_in_both_directions_with_ties_and_zeros(kinds, sizes, n_sets):
    rng = np.random.default_rng(0)
    for _ in range(n_sets):
        n = int(rng.integers(*sizes))
        if kinds == "normal":
            lost = rng.normal(loc=rng.normal() / 2, size=n)
        else:
            lost = rng.integers(-kinds, kinds + 1, size=n).astype(float)
        if lost.any():
            found = signed_rank_test(lost, np.zeros(n))
            assert math.exp(found.log_p) == pytest.approx(by_scipy(lost, "greater"), abs=1e-13)
            assert math.exp(found.log_p_opposite) == pytest.approx(
                by_scipy(lost, "less"), abs=1e-13
            )


def test_it_equals_quoted_values_of_scipy():
    # SciPy 1.17.1: scipy.stats.wilcoxon(d, alternative="greater").pvalue
    assert math.exp(log_p([1, 1, 2, -3, 0, 4])) == pytest.approx(0.1875)
    assert math.exp(log_p([1, 2, 3, -4, 5, 6, 7, -8, 9, 10])) == pytest.approx(0.0654296875)
    lost = [1, 2, 0, -1, 3, 1, 1, 0, -2, 2, 1, 4, 1, -1, 2, 3, 0, 1, 1, 2]
    assert math.exp(log_p(lost)) == pytest.approx(0.004238754822965801)


@pytest.mark.parametrize("n", [14, 33, 50])
def test_without_ties_up_to_fifty_pairs_every_tail_is_exact_also_the_smallest(n):
    ways = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        ways = [
            one + (ways[place - rank] if place >= rank else 0) for place, one in enumerate(ways)
        ]
    for n_lost in (0, 1, n // 3, n):
        signs = np.where(np.arange(n) < n_lost, -1, 1)
        lost = signs * np.arange(1, n + 1)
        at_least = sum(ways[lost[lost > 0].sum() :])
        exact = math.log(Fraction(at_least, 2**n))
        assert log_p(lost) == pytest.approx(exact, rel=1e-12)
    assert log_p(np.arange(1, n + 1)) == pytest.approx(-n * math.log(2))


def test_far_tails_are_numbers_and_no_infinities():
    n = 4000
    z = math.sqrt(n * (n + 1) / 2 * 3 / (2 * n + 1))  # all ranks are positive
    # The leading terms of the normal tail; at z of 54 the next one is 1e-7 of them.
    tail = -z * z / 2 - math.log(z * math.sqrt(2 * math.pi)) + math.log1p(-1 / z**2)
    assert log_p(np.arange(1.0, n + 1)) == pytest.approx(tail, rel=1e-9)
    assert tail < -1000


def test_one_million_pairs_are_ranked():
    found = signed_rank_test(np.arange(1.0, 1e6 + 1), np.zeros(10**6))
    assert found.log_p == pytest.approx(-375_007, abs=10)


@pytest.mark.no_cover
@settings(max_examples=50)
@given(st.lists(few_kinds, min_size=1, max_size=4))
def test_many_sets_at_once_are_as_each_of_them_alone(rows):
    width = max(map(len, rows))
    table = np.array([row + [None] * (width - len(row)) for row in rows], dtype=float)
    together = signed_rank_test(table, np.zeros(width))
    for place, row in enumerate(rows):
        alone = signed_rank_test(np.array(row, dtype=float), np.zeros(len(row)))
        assert together.log_p[place] == pytest.approx(float(alone.log_p), nan_ok=True)
        assert together.n_pairs[place] == alone.n_pairs == sum(one is not None for one in row)
        assert together.n_nonzero[place] == alone.n_nonzero == sum(bool(one) for one in row)
        assert together.n_pairs[place] + together.n_dropped[place] == width


@pytest.mark.no_cover
@given(differences)
def test_the_opposite_direction_is_the_test_of_turned_signs(lost):
    zeros = np.zeros(len(lost))
    assert signed_rank_test(lost, zeros).log_p_opposite == signed_rank_test(zeros, lost).log_p


@pytest.mark.no_cover
@given(differences, st.integers(1, 1000), st.integers(-1000, 1000))
def test_only_the_ranks_of_sizes_count(lost, factor, offset):
    scores = np.array(lost, dtype=float)
    base = np.full(len(lost), float(offset))
    assert wilcoxon_log_p(factor * scores + base, base) == pytest.approx(log_p(lost))
    assert log_p(np.sign(scores) * scores**2) == pytest.approx(log_p(lost))


def test_dust_of_averaging_is_no_evidence():
    thirds = np.array([0.1 + 0.2, 0.7 + 0.1, 1.1 + 2.2] * 10)
    clean = np.array([0.3, 0.8, 3.3] * 10)
    assert (thirds != clean).any()
    assert signed_rank_test(thirds, clean).all_tied
    assert signed_rank_test(thirds * 1e12, clean * 1e12).all_tied
    assert signed_rank_test([0.1 + 0.2, 1.0], [0.2, 0.9]).log_p == wilcoxon_log_p([1, 1], [0, 0])


def test_without_a_difference_the_p_value_is_one_and_without_a_pair_it_is_undefined():
    found = signed_rank_test([[3, 3, 3], [np.nan, np.nan, 2]], [[3, 3, 3], [1, 2, np.nan]])
    assert found.log_p.tolist()[0] == found.log_p_opposite.tolist()[0] == 0
    assert np.isnan([found.log_p[1], found.log_p_opposite[1]]).all()
    assert found.all_tied.tolist() == [True, False]
    assert found.too_few.tolist() == [True, True]
    assert found.n_dropped.tolist() == [0, 3]


def test_four_differences_are_too_few_and_five_are_not():
    found = signed_rank_test([[1, 2, 3, 4, 0], [1, 2, 3, 4, 5]], np.zeros(5))
    assert found.too_few.tolist() == [True, False]
    assert np.exp(found.log_p).tolist() == pytest.approx([1 / 16, 1 / 32])


def test_the_normal_approximation_believes_three_gains_among_a_hundred_pairs():
    found = signed_rank_test([1, 1, 1] + [0] * 97, np.zeros(100))
    assert math.exp(found.log_p) == pytest.approx(0.0416, abs=1e-4)
    assert found.too_few


def test_rejects_one_time_in_twenty_where_nothing_is_lost():
    rng = np.random.default_rng(2)
    lost = np.round(rng.normal(size=(20_000, 100)) * 5) / 5
    assert np.mean(wilcoxon_log_p(lost, np.zeros(100)) <= math.log(0.05)) == pytest.approx(
        0.05, abs=0.005
    )


def test_no_items_and_no_sets_are_undefined_and_empty():
    assert math.isnan(wilcoxon_log_p([], []))
    assert wilcoxon_log_p(np.zeros((0, 3)), np.zeros(3)).shape == (0,)
    assert np.isnan(wilcoxon_log_p(np.zeros((2, 0)), [])).tolist() == [True, True]


@for_each(
    ("originals", "perturbed", "message"),
    [
        (5, [1], "originals must have one score per item"),
        ([1, 2], [1], "pair up by item, on their last axis; got 2 and 1 items"),
        ([[1, 2]] * 2, [[1, 2]] * 3, r"must broadcast; got \(2, 2\) and \(3, 2\)"),
        (
            [[1, math.inf]],
            [1, 2],
            r"originals holds an infinite score, the first at index \(0, 1\)",
        ),
        ([1, 2], [1, -math.inf], "perturbed holds an infinite score"),
        ([1, "good"], [1, 2], "originals must be an array of numbers"),
        (["1", "2"], [1, 2], "originals must be an array of numbers; got"),
        ([[1, 2], [1]], [1, 2], "originals must be an array of numbers"),
        ([1, 2], [{}, 2], "perturbed must be an array of numbers"),
    ],
)
def test_says_what_is_wrong_with_scores(originals, perturbed, message):
    with pytest.raises(ValueError, match=message):
        signed_rank_test(originals, perturbed)
