"""Settings of pairs, ratings and perturbations that are of a wrong kind are refused in words."""

import numpy as np
import pytest

from judgesmith.metrics import (
    discernment,
    human_ceiling,
    tie_aware_accuracy,
    tie_aware_accuracy_difference,
)
from judgesmith.metrics.pairs import adjacent_accuracy, bradley_terry
from judgesmith.metrics.perturbations import average_discernment
from judgesmith.metrics.ratings import (
    modes,
    rater_vs_rest,
    raters_needed,
    spearman_brown,
    unanimous_ratings,
)

SCORES, SOURCES = [1, 2, 2, 3], ["a", "a", "b", "b"]


def report(**options):
    settings = {"perturbations": ["typos"], "levels": ["character"], "metrics": ["fluency"]}
    rng = np.random.default_rng(0)
    return discernment([[5], [4]], [[[4], [4]]], rng=rng, **(settings | options))


REFUSED = {
    "tolerance": lambda given: tie_aware_accuracy(SCORES, SCORES, tolerance=given),
    "prior": lambda given: bradley_terry([1], first=["a"], second=["b"], prior=given),
    "readable": lambda given: modes([[1, 2]], readable=given),
    "reliability": lambda given: spearman_brown(given, 2),
    "factor": lambda given: spearman_brown(0.5, given),
}


@pytest.mark.parametrize("given", ["1", None, [1]])
@pytest.mark.parametrize("name", REFUSED)
def test_a_number_that_is_none_is_refused_by_its_name(name, given):
    with pytest.raises(TypeError, match=f"{name} must be a number; got"):
        REFUSED[name](given)


@pytest.mark.parametrize("tolerances", [0.5, (1, 2, 3), None, (1,)])
def test_two_judges_have_two_tolerances(tolerances):
    with pytest.raises(ValueError, match="tolerances must be two, one for each judge"):
        tie_aware_accuracy_difference(
            SCORES, SCORES, SCORES, sources=SOURCES, level="sample", tolerances=tolerances
        )


def test_neighbours_further_apart_than_any_are_no_pairs():
    assert adjacent_accuracy(SCORES, SCORES, sources=SOURCES, apart=10**30).n == 0


def test_labels_that_can_be_read_once_are_read_once():
    first, second = iter("ab"), iter("ba")
    assert bradley_terry([1, 0], first=first, second=second, prior=1).systems == ("a", "b")
    table, rng = [[1, 2], [2, 2], [4, 3]], np.random.default_rng(0)
    options = {"level": "system", "sources": iter([0, 0, 1]), "systems": iter("aba")}
    assert rater_vs_rest(table, **options, rng=rng).average.n == 6
    with pytest.raises(TypeError, match="sources must be a sequence"):
        rater_vs_rest(table, sources=3, rng=rng)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"rng": "3"}, "rng must be"), ({"n_splits": 1.5}, "n_splits must be a whole number")],
)
def test_a_ceiling_needs_a_generator_and_whole_splits(options, message):
    with pytest.raises(TypeError, match=message):
        human_ceiling([[1, 2], [3, 4]], **({"rng": np.random.default_rng(0)} | options))


def test_a_reliability_next_to_none_needs_more_raters_than_can_be_told():
    with pytest.raises(ValueError, match="no number of raters can be told"):
        raters_needed(1e-320, 0.8)


@pytest.mark.parametrize("is_mean", [[None], [2], [np.nan]])
def test_whether_a_rating_is_a_mean_is_yes_or_no(is_mean):
    with pytest.raises(ValueError, match="is_mean must be yes or no"):
        unanimous_ratings([[1]], levels=[1, 2], is_mean=is_mean)


@pytest.mark.parametrize("name", ["perturbations", "levels", "metrics"])
def test_names_and_levels_come_in_a_sequence(name):
    with pytest.raises(TypeError, match=f"{name} must be a sequence"):
        report(**{name: None})
    with pytest.raises(TypeError, match="levels must be a sequence"):
        average_discernment([1], 3)


def test_weights_for_unknown_perturbations_of_any_kind_are_named():
    with pytest.raises(ValueError, match=r"perturbations \[1, 'z'\], which are not among"):
        report(weights={1: {"fluency": 1.0}, "z": {"fluency": 1.0}})
