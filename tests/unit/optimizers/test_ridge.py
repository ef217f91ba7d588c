import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge, Ridge

from judgesmith.optimizers.fitting import aggregation
from judgesmith.optimizers.fitting.aggregation import LIMIT, LinearFit, Whitening, fit_ridge


def draw(n, k, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    terms = rng.normal(size=(n, 1 + k))
    return terms, rng, noise * rng.normal(size=n)


KINDS = ("overall", *["lexical"] * 6)


def test_terms_that_say_nothing_leave_the_models_own_order():
    terms, rng, noise = draw(60, 6)
    fit = fit_ridge(terms, terms[:, 0] + noise, kinds=KINDS, groups=np.arange(60))
    new = rng.normal(size=(500, 7))
    assert np.corrcoef(fit.predict(new), new[:, 0])[0, 1] > 0.95


def test_terms_that_say_much_are_learned_where_the_models_own_score_says_nothing():
    terms, rng, noise = draw(300, 6, noise=0.5)
    fit = fit_ridge(terms, terms[:, 3] + noise, kinds=KINDS, groups=np.arange(300))
    new = rng.normal(size=(500, 7))
    assert np.corrcoef(fit.predict(new), new[:, 3])[0, 1] > 0.95


def test_many_rows_predict_as_a_foreign_bayesian_ridge_does():
    terms, rng, noise = draw(2000, 6)
    human = terms @ np.array([0.5, 1, -1, 0.3, 0, 0, 0]) + noise
    fit = fit_ridge(terms, human, kinds=KINDS, groups=np.arange(2000))
    new = rng.normal(size=(300, 7))
    foreign = BayesianRidge().fit(terms, human).predict(new)
    assert np.corrcoef(fit.predict(new), foreign)[0, 1] > 0.999


def test_predictions_are_in_human_points():
    terms, _, noise = draw(400, 6)
    human = np.clip(np.round(3 + terms[:, 0] + 0.5 * noise), 1, 5)
    fit = fit_ridge(terms, human, kinds=KINDS, groups=np.arange(400))
    predicted = fit.predict(terms)
    assert np.mean(predicted) == pytest.approx(np.mean(human), abs=0.1)
    assert 0.5 < np.std(predicted) / np.std(human) <= 1.05


@pytest.mark.parametrize(("scale", "shift"), [(100.0, 0.0), (0.01, 50.0)])
def test_the_unit_of_a_term_changes_no_prediction(scale, shift):
    terms, _, noise = draw(80, 6)
    human = terms[:, 0] + terms[:, 2] + noise
    plain = fit_ridge(terms, human, kinds=KINDS, groups=np.arange(80)).predict(terms)
    other = scale * terms + shift
    moved = fit_ridge(other, human, kinds=KINDS, groups=np.arange(80)).predict(other)
    np.testing.assert_allclose(moved, plain, atol=1e-8)


def test_constant_terms_get_no_weight():
    terms, _, noise = draw(50, 6)
    terms[:, 4] = 7.0
    fit = fit_ridge(terms, terms[:, 0] + noise, kinds=KINDS, groups=np.arange(50))
    assert fit.weights[4] == 0
    assert np.isfinite(fit.predict(terms)).all()


def test_one_odd_text_is_worth_no_more_than_the_limit():
    fit = LinearFit(centers=np.zeros(1), spreads=np.ones(1), weights=np.array([2.0]), intercept=1.0)
    assert fit.predict(np.array([[1e9], [-1e9]])).tolist() == [1 + 2 * LIMIT, 1 - 2 * LIMIT]


def test_what_rows_of_a_source_share_does_not_pose_as_evidence():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(12), 20)
    # One lexical term is constant within a source, and so is the raters' mood that day.
    mood = rng.normal(size=12)[groups]
    term = (0.6 * rng.normal(size=12)[groups]) + 0.8 * mood
    terms = np.column_stack([rng.normal(size=240), term])
    human = terms[:, 0] + mood + 0.3 * rng.normal(size=240)
    kinds = ["overall", "lexical"]
    aware = fit_ridge(terms, human, kinds=kinds, groups=groups)
    naive = fit_ridge(terms, human, kinds=kinds, groups=np.arange(240))
    assert abs(aware.weights[1]) < abs(naive.weights[1])


def test_under_one_prior_weights_and_evidence_are_those_of_the_definition():
    # Definition: points are N(1 a + X m, s^2 (I + X S^2 X')), with a and log s under flat priors.
    rng = np.random.default_rng(3)
    steps, rest = rng.normal(size=(15, 3)), rng.normal(size=15)
    widths = np.array([[0.2, 0.5, 0.0], [0.2, 0.05, 1.0]])
    white = Whitening.of(np.arange(15), 0.0)
    evidence, weights = aggregation._posteriors(white, steps, rest, widths)
    expected = []
    for row, weight in zip(widths, weights, strict=True):
        covariance = np.eye(15) + steps @ np.diag(row**2) @ steps.T
        inverse = np.linalg.inv(covariance)
        one = np.ones(15)
        level = one @ inverse @ rest / (one @ inverse @ one)
        distance = (rest - level) @ inverse @ (rest - level)
        log_determinants = np.linalg.slogdet(covariance)[1] + np.log(one @ inverse @ one)
        expected.append(-0.5 * (log_determinants + 14 * np.log(distance)))
        assert weight == pytest.approx(row**2 * (steps.T @ inverse @ (rest - level)))
    assert np.diff(evidence) == pytest.approx(np.diff(expected))


def test_a_kind_of_terms_is_penalised_as_ridge_regression_does(monkeypatch):
    monkeypatch.setattr(aggregation, "SHARES", (0.3,))
    terms, _, noise = draw(80, 6)
    human = terms @ np.array([0.5, 1, -1, 0.3, 0, 0, 0]) + noise
    fit = fit_ridge(terms, human, kinds=["lexical"] * 7, groups=np.arange(80))
    steps = np.clip((terms - terms.mean(axis=0)) / terms.std(axis=0), -LIMIT, LIMIT)
    foreign = Ridge(alpha=7 / 0.3).fit(steps, aggregation._halfway(human))
    assert fit.weights / fit.weights[1] == pytest.approx(foreign.coef_ / foreign.coef_[1])
