"""Inside metrics: perturbations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.metrics.perturbations import (
    EXPERT_WEIGHTS,
    analysis,
    harmonic_mean_log_p,
    items_needed,
    wilcoxon,
    wilcoxon_log_p,
)
from judgesmith.metrics.perturbations.analysis import Resamples
from judgesmith.metrics.perturbations.scores import shares_of_metrics
from judgesmith.metrics.perturbations.wilcoxon import ResampledTest

# -- discernment power ---------------------------------------------------------------------------


def needed(originals, perturbed, *, seed=0, **settings):
    rng = np.random.default_rng(seed)
    return items_needed(originals, perturbed, seed=rng, **({"n_resamples": 400} | settings))


def test_fewer_items_do_not_reach_it_and_as_many_do():
    rng = np.random.default_rng(1)
    lost = np.round(4 + 10 * rng.normal(size=(60, 2)))
    found = needed(lost, 0 * lost, power=0.5)
    resamples = Resamples(lost.T.copy(), 400, int(np.random.default_rng(0).integers(2**63)))

    def reached(n):
        p = 2 / np.sum(np.exp(-resamples.log_p(n)), axis=1)
        return np.mean(p <= 0.05)

    assert reached(found.n - 1) < 0.5 <= reached(found.n) == found.reached


def test_many_items_are_tried_only_where_the_most_would_do(monkeypatch):
    lost = np.random.default_rng(3).normal(size=(40, 1))
    lost -= lost.mean()
    usual = needed(lost, 0 * lost), needed(lost + 0.3, 0 * lost)
    monkeypatch.setattr(analysis, "_MANY_ITEMS", 10)
    asked = []
    log_p = Resamples.log_p
    monkeypatch.setattr(Resamples, "log_p", lambda self, n: asked.append(n) or log_p(self, n))
    assert (needed(lost, 0 * lost), needed(lost + 0.3, 0 * lost)) == usual
    assert asked[: asked.index(400) + 1] == [1, 2, 4, 8, 400]


def test_drawing_rows_and_drawing_counts_are_two_ways_to_the_same():
    lost = np.random.default_rng(4).normal(3, 10, size=(1, 60)).round()
    resamples = Resamples(lost, 4000, seed=5)
    rng = np.random.default_rng(6)
    rows, counts = (way(rng, 60, 4000) for way in (resamples._of_rows, resamples._of_counts))
    assert np.mean(rows) == pytest.approx(np.mean(counts), rel=0.05)
    assert np.mean(rows < math.log(0.05)) == pytest.approx(
        np.mean(counts < math.log(0.05)), abs=0.04
    )


def test_resamples_come_in_batches(monkeypatch):
    monkeypatch.setattr(analysis, "_BATCH_CELLS", 50)
    resamples = Resamples(np.ones((2, 10)), 25, seed=0)
    assert resamples.log_p(10).shape == resamples.log_p(30).shape == (25, 2)


# -- expert weights ------------------------------------------------------------------------------


METRICS = {
    "summarization": ["coherence", "consistency", "fluency", "relevance"],
    "story_completion": ["coherence", "consistency", "fluency"],
    "question_answering": ["answer_quality"],
    "dialogue": ["coherence", "engagingness", "fluency", "groundedness"],
    "translation": ["accuracy", "fluency"],
}


@for_each("task", METRICS)
def test_weights_cover_the_metrics_of_the_task_and_sum_to_one(task):
    for weights in EXPERT_WEIGHTS[task].values():
        assert sorted(weights) == METRICS[task]
        shares_of_metrics(list(weights.values()), n_metrics=len(METRICS[task]))


# -- harmonic ------------------------------------------------------------------------------------


def test_weights_may_miss_one_by_rounding_and_no_more():
    thirds = [0.3333333, 0.3333333, 0.3333333]
    assert shares_of_metrics(thirds, n_metrics=3).sum() == pytest.approx(1, abs=1e-15)
    assert harmonic_mean_log_p(np.zeros(3), weights=thirds) == 0
    assert harmonic_mean_log_p(np.zeros(49)) == 0
    with pytest.raises(ValueError, match=r"must sum to 1 .*; got \[0\.9"):
        shares_of_metrics([0.3333, 0.3333, 0.3333], n_metrics=3)


# -- signed rank draws ---------------------------------------------------------------------------


pairs = st.lists(st.one_of(st.none(), st.integers(-30, 30)), min_size=1, max_size=40)


@pytest.mark.no_cover
@settings(max_examples=150)
@given(pairs, st.integers(1, 60), st.integers(0, 2**32))
def test_the_test_under_counts_is_the_test_of_the_items_drawn(lost, n_drawn, seed):
    steps = np.array(lost, dtype=float)
    drawn = np.random.default_rng(seed).integers(len(steps), size=(5, n_drawn))
    counts = np.stack([np.bincount(row, minlength=len(steps)) for row in drawn]).astype(float)
    np.testing.assert_allclose(
        ResampledTest(steps).log_p(counts),
        wilcoxon_log_p(steps[drawn], np.zeros(n_drawn)),
        rtol=1e-12,
        atol=1e-14,
    )


def test_one_draw_of_each_item_is_the_test_itself():
    steps = np.random.default_rng(0).normal(size=30).round(2)
    assert ResampledTest(steps).log_p(np.ones((1, 30)))[0] == wilcoxon_log_p(steps, np.zeros(30))


# -- wilcoxon ------------------------------------------------------------------------------------


def test_sets_are_ranked_in_batches_alike(monkeypatch):
    table = np.random.default_rng(0).integers(-3, 4, size=(7, 2, 11)).astype(float)
    at_once = wilcoxon_log_p(table, 0 * table)
    monkeypatch.setattr(wilcoxon, "_BATCH_CELLS", 40)
    assert np.array_equal(wilcoxon_log_p(table, 0 * table), at_once)
