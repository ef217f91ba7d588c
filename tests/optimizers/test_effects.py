import itertools

import numpy as np
import pytest

from judgesmith.optimizers.effects import Evidence, likeness

CODES = np.asarray(list(itertools.product((1, 2, 3), repeat=3)))


def evidence(values, shares=1.0):
    return Evidence(codes=CODES, values=values, shares=np.full(len(CODES), shares))


def test_likeness_goes_from_nothing_to_everything_in_common():
    found = likeness(np.asarray([[1, 1, 1]]), np.asarray([[2, 2, 2], [1, 2, 2], [1, 1, 1]]), 0.3)
    assert found[0, 0] == 0
    assert found[0, 2] == pytest.approx(1)
    assert found[0, 1] == pytest.approx(0.65 / 3)


def test_drawn_values_covary_as_likeness_says():
    # Without trials to speak of, what is promised is a draw from the prior.
    weak = Evidence(codes=CODES[:2], values=np.asarray([0.0, 1.0]), shares=np.asarray([1e-9, 1e-9]))
    rng = np.random.default_rng(0)
    draws = np.asarray([weak.promised(CODES, rng, caution=1.0) for _ in range(500)])
    draws -= draws.mean(axis=1, keepdims=True)
    near = np.mean(draws[:, 0] * draws[:, 1])  # two of three options are the same
    far = np.mean(draws[:, 0] * draws[:, 26])  # none is
    assert near > 0 > far


def test_what_is_seen_on_few_rows_moves_less_than_what_is_seen_on_all():
    values = np.random.default_rng(1).normal(size=len(CODES))
    spread = [
        np.std(evidence(values, share).promised(CODES, np.random.default_rng(0), caution=0))
        for share in (1.0, 0.05)
    ]
    assert spread[1] < spread[0]


def test_one_choice_and_two_trials_are_enough_to_answer():
    one = Evidence(
        codes=np.asarray([[1], [2]]), values=np.asarray([0.0, 1.0]), shares=np.asarray([1.0, 0.1])
    )
    found = one.promised(np.asarray([[1], [2], [3]]), np.random.default_rng(0))
    assert np.isfinite(found).all()
