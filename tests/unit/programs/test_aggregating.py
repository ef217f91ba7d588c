"""A judge's score is made of the model's numbers, and missing numbers leave it unscored."""

import pytest

from judgesmith.programs.features import lexical_features
from judgesmith.programs.judging.scoring import aggregate, check_terms, terms_of
from judgesmith.signatures import Aggregation, CriterionScore, Judgement

FOUND = Judgement(
    score=70,
    raw=70,
    criteria={
        "a": CriterionScore(score=40),
        "b": CriterionScore(score=80),
        "c": CriterionScore(score=None),
    },
)
TEXTS = ("Ann left Rome.", None, "Ann left.")


def linear(*terms, weight=1.0, **more):
    n = len(terms)
    return Aggregation(
        kind="linear",
        terms=terms,
        centers=(50,) * n,
        spreads=(10,) * n,
        weights=(weight,) * n,
        intercept=3,
        scale="1..5",
        **more,
    )


def test_the_models_own_score_is_left_as_it_is():
    assert aggregate(Aggregation(), FOUND, *TEXTS) is FOUND


def test_the_mean_of_the_criteria_needs_them_all():
    scored = FOUND.model_copy(update={"criteria": {k: FOUND.criteria[k] for k in "ab"}})
    assert aggregate(Aggregation(kind="mean"), scored, *TEXTS).score == 60
    found = aggregate(Aggregation(kind="mean"), FOUND, *TEXTS)
    assert found.score is None
    assert found.problem == "there is no number for criterion:c, which the judge needs."


def test_learned_weights_are_applied_to_standardised_terms():
    found = aggregate(linear("overall", "criterion:a", weight=0.5), FOUND, *TEXTS)
    assert found.score == pytest.approx(3 + 0.5 * 2 - 0.5 * 1)
    assert found.raw == 70


def test_lexical_terms_are_counted_in_the_texts_judged():
    term = terms_of(FOUND, *TEXTS)
    assert term("lexical:unknown_names") == lexical_features(*TEXTS)["unknown_names"]


def test_a_number_that_is_missing_is_named():
    found = aggregate(linear("overall", "criterion:c"), FOUND, *TEXTS)
    assert (found.score, found.raw) == (None, 70)
    assert "no number for criterion:c" in found.problem


def test_a_judgement_without_a_score_keeps_its_reason():
    unscored = Judgement.unscored("no answer")
    assert aggregate(linear("overall"), unscored, *TEXTS) is unscored


def test_unknown_lexical_features_are_refused_before_anything_is_judged():
    check_terms(linear("overall", "lexical:unknown_names"))
    with pytest.raises(ValueError, match="does not count: beauty, charm"):
        check_terms(linear("lexical:beauty", "overall", "lexical:charm"))
