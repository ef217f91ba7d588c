import itertools

import numpy as np
import pytest

from judgesmith.optimizers.search.screening import Surrogate, coded, likeness

CODES = np.asarray(list(itertools.product((1, 2, 3), repeat=3)))


def evidence(values, shares=1.0):
    return Surrogate(codes=CODES, values=values, shares=np.full(len(CODES), shares))


def test_likeness_goes_from_nothing_to_everything_in_common():
    found = likeness(np.asarray([[1, 1, 1]]), np.asarray([[2, 2, 2], [1, 2, 2], [1, 1, 1]]), 0.3)
    assert found[0, 0] == 0
    assert found[0, 1] == pytest.approx(0.6 / 3)
    assert found[0, 2] == pytest.approx(1)


def test_what_does_not_arise_is_an_option_of_its_own():
    options = {"explain": ("none", "before"), "aid": ("steps",)}
    found = coded([{"explain": "none"}, {"explain": "before", "aid": "steps"}], options)
    assert found.tolist() == [[1, 0], [2, 1]]
    assert coded([], options).shape == (0, 2)


def test_effects_add_up_for_configurations_that_were_not_seen():
    adds = np.asarray([[0.0, 0.3, -0.3], [0.0, 0.5, 0.1], [0.0, -0.2, 0.4]])
    truth = sum(adds[choice, CODES[:, choice] - 1] for choice in range(3))
    rng = np.random.default_rng(0)
    known = rng.permutation(len(CODES))[:18]
    seen = Surrogate(codes=CODES[known], values=truth[known], shares=np.ones(18))
    found = seen.outlook(CODES)
    unknown = np.setdiff1d(np.arange(len(CODES)), known)
    assert np.corrcoef(found.means[unknown], truth[unknown])[0, 1] > 0.9
    assert found.deviations[unknown].min() > found.deviations[known].max()


def test_what_is_seen_on_few_rows_moves_less_than_what_is_seen_on_all():
    values = np.random.default_rng(1).normal(size=len(CODES))
    values[0] = 4
    shares = np.ones(len(CODES))
    few = shares.copy()
    few[0] = 0.05
    found = [
        Surrogate(codes=CODES, values=values, shares=one).outlook(CODES).means[0]
        for one in (shares, few)
    ]
    assert found[1] < found[0]


def test_a_lucky_part_of_the_rows_moves_nobody_past_those_judged_on_all():
    values = np.random.default_rng(2).normal(size=len(CODES))
    shares = np.where(np.arange(len(CODES)) % 2, 1.0, 0.1)
    seen = Surrogate(codes=CODES, values=values, shares=shares)
    lucky = Surrogate(codes=CODES, values=values + 3 * (shares < 1), shares=shares)
    apart = [
        of.means[shares < 1].mean() - of.means[shares == 1].mean()
        for of in (seen.outlook(CODES), lucky.outlook(CODES))
    ]
    assert apart[1] - apart[0] < 1.5


def test_the_unit_of_values_does_not_matter():
    values = np.random.default_rng(3).normal(size=len(CODES))
    small, large = evidence(values, 0.5).outlook(CODES), evidence(7 + 100 * values, 0.5)
    assert large.outlook(CODES).means == pytest.approx(7 + 100 * small.means)
    assert large.outlook(CODES).deviations == pytest.approx(100 * small.deviations)


def test_the_undefined_counts_as_the_worst():
    values = np.random.default_rng(4).normal(size=len(CODES))
    worst = values.copy()
    values[5], worst[5] = np.nan, np.delete(values, 5).min()
    assert evidence(values).outlook(CODES).means == pytest.approx(
        evidence(worst).outlook(CODES).means
    )


@pytest.mark.parametrize("values", [[], [1.0], [np.nan, np.nan], [1.0, 1.0], [0.0, 1.0]])
def test_little_is_enough_to_answer(values):
    seen = Surrogate(
        codes=np.asarray([[1], [2]])[: len(values)],
        values=np.asarray(values),
        shares=np.asarray([1.0, 0.1])[: len(values)],
    )
    found = seen.outlook(np.asarray([[1], [2], [3]]))
    assert np.isfinite(found.means).all()
    assert np.isfinite(found.deviations).all()
