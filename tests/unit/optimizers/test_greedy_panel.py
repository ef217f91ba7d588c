import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from judgesmith.metrics import pearson
from judgesmith.optimizers.fitting.panels import Members, greedy_weights, weighted_mean
from judgesmith.signatures import Scale

LIKERT = Scale(low=1, high=5)


def made(n=200, noise=(1.0, 1.0, 1.0), seed=0):
    """Return scores of judges that see the truth with noise of their own, and people's points."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    scores = np.column_stack([50 + 10 * (truth + s * rng.normal(size=n)) for s in noise])
    return scores, np.clip(3 + truth, 1, 5)


def value_of(scores, human):
    return lambda fit: pearson(human, fit.predict(scores))


def test_judges_with_noise_of_their_own_are_better_together():
    scores, human = made()
    members = Members.learned(scores, human, LIKERT)
    weights = greedy_weights(members, value_of(scores, human), n_rounds=20, allowed=range(3))
    assert (weights > 0.2).all()
    alone = [pearson(human, scores[:, k]) for k in range(3)]
    assert pearson(human, members.fitted(weights).predict(scores)) > max(alone) + 0.05


def test_a_judge_that_knows_nothing_gets_no_weight():
    scores, human = made(noise=(0.3, 30.0))
    members = Members.learned(scores, human, LIKERT)
    weights = greedy_weights(members, value_of(scores, human), n_rounds=20, allowed=range(2))
    assert weights[0] > 0.9


def test_it_finds_about_the_best_panel_there_is():
    scores, human = made(noise=(0.8, 1.2, 2.0), seed=4)
    members = Members.learned(scores, human, LIKERT)
    value = value_of(scores, human)

    def worth(chosen):
        counts = np.bincount(chosen, minlength=3)
        return value(members.fitted(counts / counts.sum()))

    best = max(
        worth(one) for n in range(1, 7) for one in combinations_with_replacement(range(3), n)
    )
    weights = greedy_weights(members, value, n_rounds=20, allowed=range(3))
    assert value(members.fitted(weights)) > best - 0.003


def test_one_round_takes_the_best_single_judge():
    scores, human = made(noise=(1.0, 0.5, 2.0))
    members = Members.learned(scores, human, LIKERT)
    weights = greedy_weights(members, value_of(scores, human), n_rounds=1, allowed=range(3))
    assert weights.tolist() == [0, 1, 0]


def test_where_the_objective_is_undefined_no_judge_is_preferred():
    scores, human = made()
    members = Members.learned(scores, human, LIKERT)
    weights = greedy_weights(members, lambda fit: math.nan, n_rounds=5, allowed=[0, 2])
    assert weights.tolist() == [0.5, 0, 0.5]


def test_missing_scores_leave_the_mean_and_are_never_zero():
    steps = np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, 3.0]])
    found = weighted_mean(steps, np.array([0.5, 0.5]))
    assert found[0] == 1
    assert np.isnan(found[1])
    assert found[2] == 2


def test_plain_numbers_score_as_the_fit_does():
    scores, human = made()
    scores[::7, 0] = np.nan
    scores[::11, 1] = np.nan
    scores[5] = np.nan
    fit = Members.learned(scores, human, LIKERT).fitted(np.array([0.5, 0.25, 0.25]))
    plain = fit.plain(["a", "b", "c"])
    for row, expected in zip(scores.tolist(), fit.predict(scores).tolist(), strict=True):
        given = {
            name: None if math.isnan(one) else one for name, one in zip("abc", row, strict=True)
        }
        found = plain.apply(given)
        assert (math.isnan(expected) and found is None) or found == pytest.approx(expected)


def test_a_panel_that_orders_the_wrong_way_round_keeps_its_order():
    scores, human = made(noise=(0.1,))
    assert Members.learned(100 - scores, human, LIKERT).fitted(np.ones(1)).slope > 0


def test_a_judge_with_one_answer_for_all_is_no_fault():
    scores, human = made(noise=(0.5, 0.5))
    scores[:, 1] = 80
    members = Members.learned(scores, human, LIKERT)
    assert (members.steps[:, 1] == 0).all()
    assert members.fitted(np.array([0.0, 1.0])).plain(["a", "b"]).apply({"a": 1, "b": 80}) > 1
