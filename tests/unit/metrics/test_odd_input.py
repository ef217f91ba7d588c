"""Inside metrics: odd input."""

import numpy as np
import pandas as pd
import pytest
from looping import for_each

from judgesmith import metrics
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

# -- Every function of two lists of scores answers to odd lists, or refuses them in o ------------


PLAIN = {
    name: getattr(metrics.correlation, name)
    for name in ("pearson", "spearman", "kendall", "lins_ccc", "q")
}


def labelled(name, *, where=metrics, judges=1, draws=None, **more):
    """Return a function of two lists in which people also are the second judge, if there is one."""

    def call(human, judge):
        n = len(human) if np.ndim(human) else 0
        given = {"sources": [i // 3 for i in range(n)], "systems": [i % 3 for i in range(n)]}
        if draws is not None:
            given |= {"seed": np.random.default_rng(0), draws: 20}
        scores = [human, judge, human] if judges == 2 else [human, judge]
        return getattr(where, name)(*scores, **given, statistic="pearson", **more)

    return call


RECORDED = {
    f"{name}@{level}": labelled(name, where=where, judges=judges, draws=draws, level=level)
    for name, judges, draws, where in (
        ("agreement", 1, None, metrics.correlation),
        ("contributions", 1, None, metrics.correlation),
        ("agreement_interval", 1, "n_resamples", metrics.correlation),
        ("agreement_difference", 2, "n_resamples", metrics.correlation),
        ("permutation_test", 2, "n_permutations", metrics),
    )
    for level in ("system", "sample", "dataset")
} | {
    "worst_pairs": metrics.correlation.worst_pairs,
    "williams_test": lambda human, judge: metrics.comparing.williams_test(human, judge, human),
}
EVERY = PLAIN | RECORDED
HUMAN = [1, 2, 3, 4, 5, 3]
REFUSED = {
    "columns with different indexes": (pd.Series([2, 1, 3]), pd.Series([1, 2, 3], index=[2, 1, 0])),
    "infinite": ([np.inf, 1, 2, 3, 4, 5], HUMAN),
    "unrated": ([1, 2, 3, 4, 5, 6], [None, 2, 3, 4, 5, 6]),
    "shorter": ([1, 2, 3], HUMAN),
    "strings": (["1", "2", "3", "4", "5", "6"], HUMAN),
    "a string among numbers": ([1, 2, 3, 4, 5, "6"], HUMAN),
    "complex": ([1j] * 6, HUMAN),
    "a table": ([[1, 2, 3, 4, 5, 6]], HUMAN),
    "one number": (3, HUMAN),
    "a dictionary": ({1: 2}, HUMAN),
    "beyond floats": ([10**400, 1, 2, 3, 4, 5], HUMAN),
}
ODD = [9, 5, 5, 1, 0, 3]  # an index of pandas; scores are taken by their position
ANSWERED = {
    "nothing": ([], []),
    "one item": ([1], [2]),
    "constant": ([3] * 6, HUMAN),
    "people constant": ([1, 2, 3, 4, 5, 6], [3] * 6),
    "huge": ([1e308, -1e308, 1e308, 0, 1, 2], HUMAN),
    "tiny": ([5e-324, 1e-323, 0, 0, 1e-322, 0], HUMAN),
    "yes and no": ([True, False, True, True, False, True], HUMAN),
    "objects": (np.array([2, 1, 3, 5, 4, 3], object), np.array(HUMAN, object)),
    "series": (pd.Series([2, 1, 3, 5, 4, 3], index=ODD), pd.Series(HUMAN, index=ODD)),
    "a series beside a list": (pd.Series([2, 1, 3, 5, 4, 3], index=ODD), HUMAN),
}


@pytest.mark.no_cover
@for_each("name", EVERY)
@for_each("kind", REFUSED)
def test_what_is_no_list_of_scores_is_refused_with_its_name(name, kind):
    with pytest.raises(ValueError, match=r"judge|human|other"):
        EVERY[name](*REFUSED[kind][::-1])


@pytest.mark.no_cover
@for_each("name", EVERY)
@for_each("kind", ANSWERED)
def test_odd_lists_of_scores_have_an_answer(name, kind):
    EVERY[name](*ANSWERED[kind][::-1])


@pytest.mark.no_cover
@for_each("name", EVERY)
@for_each("gap", [None, np.nan])
def test_gaps_are_left_out_by_records_and_refused_by_plain_functions(name, gap):
    if name in PLAIN:
        with pytest.raises(ValueError, match="judge has no finite score for 1 of 6"):
            EVERY[name](HUMAN, [gap, 1, 3, 5, 4, 3])
        return
    found = EVERY[name](HUMAN, [gap, 1, 3, 5, 4, 3])
    if hasattr(found, "n"):
        assert found.n == 5


# -- Settings of pairs, ratings and perturbations that are of a wrong kind are refuse ------------


SCORES, SOURCES = [1, 2, 2, 3], ["a", "a", "b", "b"]


def report(**options):
    settings = {"perturbations": ["typos"], "levels": ["character"], "metrics": ["fluency"]}
    rng = np.random.default_rng(0)
    return discernment([[5], [4]], [[[4], [4]]], seed=rng, **(settings | options))


REFUSED_of_odd_settings = {
    "tolerance": lambda given: tie_aware_accuracy(SCORES, SCORES, tolerance=given),
    "prior": lambda given: bradley_terry([1], first=["a"], second=["b"], prior=given),
    "readable": lambda given: modes([[1, 2]], readable=given),
    "reliability": lambda given: spearman_brown(given, 2),
    "factor": lambda given: spearman_brown(0.5, given),
}


@for_each("given", ["1", None, [1]])
@for_each("name", REFUSED_of_odd_settings)
def test_a_number_that_is_none_is_refused_by_its_name(name, given):
    with pytest.raises(TypeError, match=f"{name} must be a number; got"):
        REFUSED_of_odd_settings[name](given)


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
    assert rater_vs_rest(table, **options, seed=rng).average.n == 6
    with pytest.raises(TypeError, match="sources must be a sequence"):
        rater_vs_rest(table, sources=3, seed=rng)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"seed": "3"}, "seed must be"), ({"n_splits": 1.5}, "n_splits must be a whole number")],
)
def test_a_ceiling_needs_a_generator_and_whole_splits(options, message):
    with pytest.raises(TypeError, match=message):
        human_ceiling([[1, 2], [3, 4]], **({"seed": np.random.default_rng(0)} | options))


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
