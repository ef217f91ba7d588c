"""Every function of two lists of scores answers to odd lists, or refuses them in one sentence."""

import numpy as np
import pandas as pd
import pytest

from judgesmith import metrics

pytestmark = pytest.mark.no_cover

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
            given |= {"rng": np.random.default_rng(0), draws: 20}
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


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_list_of_scores_is_refused_with_its_name(name, kind):
    with pytest.raises(ValueError, match=r"judge|human|other"):
        EVERY[name](*REFUSED[kind][::-1])


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", ANSWERED)
def test_odd_lists_of_scores_have_an_answer(name, kind):
    EVERY[name](*ANSWERED[kind][::-1])


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("gap", [None, np.nan])
def test_gaps_are_left_out_by_records_and_refused_by_plain_functions(name, gap):
    if name in PLAIN:
        with pytest.raises(ValueError, match="judge has no finite score for 1 of 6"):
            EVERY[name](HUMAN, [gap, 1, 3, 5, 4, 3])
        return
    found = EVERY[name](HUMAN, [gap, 1, 3, 5, 4, 3])
    if hasattr(found, "n"):
        assert found.n == 5
