import numpy as np
import pytest
from sklearn.linear_model import Ridge

from judgesmith.programs.offline.prior import Belief


def test_the_posterior_mean_is_ridge_regression():
    rng = np.random.default_rng(0)
    terms, grades = rng.normal(size=(12, 4)), rng.normal(50, 10, size=12)
    before = Belief(mean=np.zeros(4), covariance=9.0 * np.eye(4), noise=6.0)
    ridge = Ridge(alpha=36.0 / 9.0, fit_intercept=False).fit(terms, grades)
    assert before.given(terms, grades).mean == pytest.approx(ridge.coef_)


def test_examples_one_by_one_teach_what_they_teach_together():
    rng = np.random.default_rng(1)
    terms, grades = rng.normal(size=(5, 3)), rng.normal(size=5)
    before = Belief(mean=np.ones(3), covariance=np.diag([1.0, 2.0, 3.0]), noise=0.7)
    together, one_by_one = before.given(terms, grades), before
    for row, grade in zip(terms, grades, strict=True):
        one_by_one = one_by_one.given(row[None, :], np.array([grade]))
    assert one_by_one.mean == pytest.approx(together.mean)
    assert one_by_one.covariance == pytest.approx(together.covariance)


def test_examples_make_predictions_surer_but_never_surer_than_the_noise():
    before = Belief(mean=np.zeros(2), covariance=np.eye(2) * 100, noise=5.0)
    terms = np.array([1.0, 2.0])
    after = before.given(np.tile(terms, (50, 1)), np.full(50, 20.0))
    (_, wide), (mean, narrow) = before.predict(terms), after.predict(terms)
    assert mean == pytest.approx(20.0, abs=0.1)
    assert 5.0 <= narrow < wide


def test_no_examples_change_nothing():
    before = Belief(mean=np.ones(2), covariance=np.eye(2), noise=1.0)
    assert before.given(np.empty((0, 2)), np.empty(0)) is before
