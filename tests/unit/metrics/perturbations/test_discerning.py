import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judgesmith.metrics.perturbations.analysis import discernment
from judgesmith.metrics.perturbations.scores import harmonic_mean_log_p
from judgesmith.metrics.perturbations.wilcoxon import wilcoxon_log_p

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
    return discernment(originals, perturbed, rng=np.random.default_rng(seed), **settings)


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
    for seed in range(120):
        originals = draw(rng)
        # A share that any resample reaches keeps the search for a number of items short.
        found = discernment(
            originals, [originals - lost(rng)], perturbations=["x"], levels=["word"],
            metrics=["m"], rng=np.random.default_rng(seed), n_resamples=200, power=1e-9,
        ).perturbations[0].score  # fmt: skip
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 120 <= 0.99


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


def test_masked_scores_are_unscored():
    originals, perturbed = judged()
    masked = np.ma.masked_array(perturbed, mask=np.arange(40)[:, None] % np.full((4, 1, 2), 7) == 0)
    found = report(originals, masked)
    assert found.perturbations[0].tests[0].n_dropped == 6
    assert found == report(originals, masked.filled(np.nan))


def test_lists_and_frames_do_as_arrays():
    originals, perturbed = judged()
    frames = report(pd.DataFrame(originals), perturbed.tolist())
    assert frames == report(originals, perturbed)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
                    rng="0")  # fmt: skip
