import math

import numpy as np
import pytest

from judgesmith.metrics.perturbations import analysis
from judgesmith.metrics.perturbations.analysis import Resamples, items_needed


def needed(originals, perturbed, *, seed=0, **settings):
    rng = np.random.default_rng(seed)
    return items_needed(originals, perturbed, rng=rng, **({"n_resamples": 400} | settings))


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


def test_fewer_items_do_not_reach_it_and_as_many_do():
    rng = np.random.default_rng(1)
    lost = np.round(4 + 10 * rng.normal(size=(60, 2)))
    found = needed(lost, 0 * lost, power=0.5)
    resamples = Resamples(lost.T.copy(), 400, int(np.random.default_rng(0).integers(2**63)))

    def reached(n):
        p = 2 / np.sum(np.exp(-resamples.log_p(n)), axis=1)
        return np.mean(p <= 0.05)

    assert reached(found.n - 1) < 0.5 <= reached(found.n) == found.reached


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


@pytest.mark.parametrize(
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
