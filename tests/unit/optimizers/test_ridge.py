"""Ridge regression on terms and their products."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.linear_model import BayesianRidge, Ridge

from judgesmith.optimizers.fitting import ridge
from judgesmith.optimizers.fitting.cross_validation import LIMIT
from judgesmith.optimizers.fitting.ridge import Basis, LinearFit, Whitening, fit_ridge
from judgesmith.signatures.scale import Scale

NAMES = ("overall", *(f"lexical:{place}" for place in range(6)))
SCALE = Scale(low=-1000, high=1000)


def draw(n, k, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    terms = rng.normal(size=(n, 1 + k))
    return terms, rng, noise * rng.normal(size=n)


def fitted(terms, human, names=NAMES, groups=None):
    basis = Basis.of(names, terms)
    groups = np.arange(len(human)) if groups is None else groups
    return fit_ridge(basis, basis.steps(terms), human, groups=groups)


def test_terms_that_say_nothing_leave_the_models_own_order():
    terms, rng, noise = draw(60, 6)
    fit = fitted(terms, terms[:, 0] + noise)
    new = rng.normal(size=(500, 7))
    assert np.corrcoef(fit.predict(new), new[:, 0])[0, 1] > 0.95


def test_many_rows_predict_as_a_foreign_bayesian_ridge_does():
    terms, rng, noise = draw(2000, 6)
    human = terms @ np.array([0.5, 1, -1, 0.3, 0, 0, 0]) + noise
    fit = fitted(terms, human)
    new = rng.normal(size=(300, 7))
    foreign = BayesianRidge().fit(terms, human).predict(new)
    assert np.corrcoef(fit.predict(new), foreign)[0, 1] > 0.998


def test_what_is_best_in_the_middle_and_what_counts_by_the_score_are_learned():
    terms, rng, noise = draw(600, 2, noise=0.3)

    def liked(terms):
        return terms[:, 0] - np.minimum(terms[:, 1] ** 2, 4) + terms[:, 0] * terms[:, 2]

    fit = fitted(terms, liked(terms) + noise, names=NAMES[:3])
    new = rng.normal(size=(500, 3))
    assert np.corrcoef(fit.predict(new), liked(new))[0, 1] > 0.95


@pytest.mark.parametrize(("scale", "shift"), [(100.0, 0.0), (0.01, 50.0)])
def test_the_unit_of_a_term_changes_no_prediction(scale, shift):
    terms, _, noise = draw(80, 6)
    human = terms[:, 0] + terms[:, 2] + noise
    plain = fitted(terms, human).predict(terms)
    other = scale * terms + shift
    np.testing.assert_allclose(fitted(other, human).predict(other), plain, atol=1e-8)


def test_one_odd_text_is_worth_no_more_than_the_limit():
    basis = Basis.of(["overall"], np.array([[-1.0], [1.0]]))
    fit = LinearFit(basis=basis, weights=np.array([2.0]), intercept=1.0)
    assert fit.predict(np.array([[1e9], [-1e9]])).tolist() == [1 + 2 * LIMIT, 1 - 2 * LIMIT]
    terms, _, noise = draw(80, 6)
    fit = fitted(terms, terms[:, 0] + noise)
    most = LIMIT * np.abs(fit.weights).sum() + abs(fit.intercept)
    assert np.all(np.abs(fit.predict(1e9 * terms)) <= most)


def test_a_term_that_never_varies_has_no_weight():
    terms, _, noise = draw(80, 6)
    terms[:, 3] = 7.0
    learned = fitted(terms, terms[:, 0] + noise).aggregation(SCALE)
    used = {*learned.terms, *(name for one in learned.products for name in (one.first, one.second))}
    assert NAMES[3] not in used
    assert used == {*NAMES} - {NAMES[3]}


def test_the_aggregation_scores_as_the_fit_predicts():
    terms, rng, noise = draw(80, 6)
    fit = fitted(terms, terms[:, 0] * terms[:, 1] + noise)
    learned = fit.aggregation(SCALE)
    assert learned.products
    assert type(learned).model_validate_json(learned.model_dump_json()) == learned
    new = 4 * rng.normal(size=(30, 7))
    found = [learned.apply([row[NAMES.index(one)] for one in learned.terms]) for row in new]
    assert found == pytest.approx(fit.predict(new).tolist())


def test_a_sum_is_the_same_in_steps_of_other_rows():
    terms, rng, noise = draw(80, 2)
    fit = fitted(terms, terms[:, 0] * terms[:, 1] + noise, names=NAMES[:3])
    learned = fit.aggregation(SCALE)
    own = LinearFit(
        basis=Basis.learned(learned),
        weights=np.array([*learned.weights, *(one.weight for one in learned.products)]),
        intercept=learned.intercept,
    )
    wider = Basis.of(NAMES, 1 + 2 * rng.normal(size=(500, 7)))
    near = np.hstack([0.1 * rng.normal(size=(40, 3)), np.zeros((40, 4))])  # nothing is limited
    moved = own.in_steps_of(wider)
    assert moved.predict(near) == pytest.approx(fit.predict(near[:, :3]))


def test_what_rows_of_a_source_share_does_not_pose_as_evidence():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(12), 20)
    # One lexical term is constant within a source, and so is the raters' mood that day.
    mood = rng.normal(size=12)[groups]
    term = (0.6 * rng.normal(size=12)[groups]) + 0.8 * mood
    terms = np.column_stack([rng.normal(size=240), term])
    human = terms[:, 0] + mood + 0.3 * rng.normal(size=240)
    aware = fitted(terms, human, names=NAMES[:2], groups=groups)
    naive = fitted(terms, human, names=NAMES[:2])
    assert abs(aware.weights[1]) < abs(naive.weights[1])


def test_weights_and_evidence_are_those_of_the_definition():
    # Definition: points are N(1 a + X m, s^2 (I + X S^2 X')), with a and log s under flat priors.
    rng = np.random.default_rng(3)
    steps = rng.normal(size=(15, 6))
    kinds = ("overall", "lexical", "lexical", "product", "product", "product")
    white = Whitening.of(np.arange(15), 0.0)

    def defined(rest):
        evidence, weights = [], []
        for product, lexical in itertools.product(ridge.SHARES, repeat=2):
            variances = [1 / ridge.USUAL_ROWS, *[lexical / 2] * 2, *[product / 3] * 3]
            covariance = np.eye(15) + steps @ np.diag(variances) @ steps.T
            inverse = np.linalg.inv(covariance)
            one = np.ones(15)
            level = one @ inverse @ rest / (one @ inverse @ one)
            distance = (rest - level) @ inverse @ (rest - level)
            log_determinants = np.linalg.slogdet(covariance)[1] + np.log(one @ inverse @ one)
            doubt = np.log(ridge.NOTHING_FIRST) * ((product == 0) + (lexical == 0))
            evidence.append(doubt - 0.5 * (log_determinants + 14 * np.log(distance)))
            weights.append(variances * (steps.T @ inverse @ (rest - level)))
        return logsumexp(evidence), softmax(evidence) @ np.array(weights)

    before = None
    for rest in rng.normal(size=(3, 15)):
        evidence, weights = ridge.posterior(white, steps, rest, kinds)
        expected = defined(rest)
        assert weights == pytest.approx(expected[1])
        if before is not None:  # evidence has an unknown constant
            assert evidence - before[0] == pytest.approx(expected[0] - before[1])
        before = evidence, expected[0]


def test_a_kind_of_terms_is_penalised_as_ridge_regression_does(monkeypatch):
    monkeypatch.setattr(ridge, "SHARES", (0.3,))
    terms, _, noise = draw(80, 6)
    human = terms @ np.array([0.5, 1, -1, 0.3, 0, 0, 0]) + noise
    steps = np.clip((terms - terms.mean(axis=0)) / terms.std(axis=0), -LIMIT, LIMIT)
    target = ridge._halfway(human)
    white = Whitening.of(np.arange(80), 0.0)
    _, weights = ridge.posterior(white, steps, target, ["lexical"] * 7)
    foreign = Ridge(alpha=7 / 0.3).fit(steps, target)
    assert weights == pytest.approx(foreign.coef_)
