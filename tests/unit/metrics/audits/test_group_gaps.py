import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.audits.groups import group_gaps
from judgesmith.metrics.correlation.statistics import kendall

rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from("abc")),
    min_size=4,
    max_size=20,
)


def gaps(predicted, human, groups, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return group_gaps(human, predicted, groups, rng=np.random.default_rng(seed), **settings)


def answers(rng, n_sources=60, easier=0.0, favoured=0.0):
    """Return judge, people, groups and sources, each source of one of three groups."""
    sources = np.repeat(np.arange(n_sources), 4)
    groups = sources % 3
    human = easier * (groups == 0) + rng.normal(size=sources.size)
    judge = 0.7 * human + favoured * (groups == 1) + 0.3 * rng.normal(size=n_sources)[sources]
    return judge + 0.5 * rng.normal(size=sources.size), human, groups, sources


@pytest.mark.no_cover
@given(rows)
def test_the_gaps_are_those_of_a_regression_with_one_slope_and_a_mean_for_each_group(table):
    judge, human, groups = (np.array(each) for each in zip(*table, strict=True))
    if len(set(groups)) < 2:
        return
    found = gaps(judge, human, groups)
    dummies = np.stack([groups == each.group for each in found.groups], axis=1)
    within = human - dummies @ (dummies.T @ human / dummies.sum(axis=0))
    if np.allclose(within, 0):
        assert np.isnan([found.slope, found.largest.value, found.groups[0].gap.value]).all()
        return
    design = np.column_stack([human, dummies])
    slope, *means = np.linalg.lstsq(design, judge, rcond=None)[0]
    expected = np.array(means) - np.mean(judge - slope * human)
    values = [each.gap.value for each in found.groups]
    assert found.slope == pytest.approx(slope, abs=1e-9)
    assert values == pytest.approx(expected, abs=1e-9)
    assert found.largest.value == pytest.approx(max(values) - min(values))
    assert [each.gap.n for each in found.groups] == dummies.sum(axis=0).tolist()


def test_offsets_change_nothing_and_the_gaps_are_in_points_of_the_judge():
    judge, human, groups, sources = answers(np.random.default_rng(0), favoured=0.5)
    one = gaps(judge, human, groups, sources=sources)
    other = gaps(10 * judge + 5, human / 3 - 1, groups, sources=sources)
    assert other.largest.value == pytest.approx(10 * one.largest.value)
    assert other.largest.high == pytest.approx(10 * one.largest.high)
    assert [each.p_value for each in other.groups] == [each.p_value for each in one.groups]


def test_a_group_that_people_rate_higher_is_no_gap():
    judge, human, groups, sources = answers(np.random.default_rng(1), easier=2.0)
    found = gaps(judge, human, groups, sources=sources, n_resamples=300)
    assert found.largest.value < 0.4
    assert found.largest.low == 0
    assert found.p_value > 0.05


def test_a_group_that_the_judge_favours_is_found():
    judge, human, groups, sources = answers(np.random.default_rng(2), favoured=1.0)
    found = gaps(judge, human, groups, sources=sources, n_resamples=300)
    favoured = found.groups[1]
    assert favoured.group == 1
    assert favoured.gap.low > 0.3
    assert found.largest.low > 0.3
    assert max(found.p_value, favoured.p_value) < 0.05


@pytest.mark.no_cover
def test_fair_judges_are_accused_about_as_often_as_the_level_says():
    rng = np.random.default_rng(3)
    joint, single, covered = 0, [], 0
    for seed in range(250):
        judge, human, groups, sources = answers(rng, n_sources=45)
        found = gaps(judge, human, groups, seed, sources=sources, n_resamples=200)
        joint += found.p_value < 0.05
        covered += found.largest.low == 0
        single += [each.p_value < 0.05 for each in found.groups]
    assert 0.01 <= joint / 250 <= 0.09
    assert 0.02 <= np.mean(single) <= 0.08
    assert abs((250 - covered) - joint) <= 2


def test_the_agreement_is_that_of_the_groups_own_rows():
    judge, human, groups, sources = answers(np.random.default_rng(4))
    found = gaps(judge, human, groups, sources=sources, statistic="kendall")
    for each in found.groups:
        own = groups == each.group
        assert each.agreement.value == pytest.approx(kendall(human[own], judge[own]))
        assert (each.agreement.n, each.agreement.n_groups) == (80, 20)


def test_a_group_of_one_source_has_a_gap_without_an_interval_and_so_has_the_largest():
    judge, human, groups, sources = answers(np.random.default_rng(5))
    groups = np.where(sources == 0, "rare", "common")
    found = gaps(judge, human, groups, sources=sources)
    rare, common = found.groups
    assert np.isfinite([rare.gap.value, common.gap.value, found.largest.value]).all()
    assert np.isnan([rare.gap.low, rare.p_value, found.largest.low, found.p_value]).all()
    assert rare.gap.n_groups == 1


def test_a_group_without_a_scored_row_is_undefined_and_counted():
    judge, human, groups, sources = answers(np.random.default_rng(6))
    judge[groups == 2] = np.nan
    found = gaps(judge, human, groups, sources=sources)
    assert np.isnan([found.groups[2].gap.value, found.groups[2].agreement.value]).all()
    assert np.isfinite([found.largest.value, found.largest.low]).all()
    assert (found.largest.n_undefined, found.n_unscored, found.largest.n) == (1, 80, 160)


def test_any_kind_of_vector_is_taken():
    given = gaps(pd.Series([1.0, 3, 2, 5, 4, 4]), range(6), pd.Series(list("aabbab")))
    plain = gaps([1, 3, 2, 5, 4, 4], [0, 1, 2, 3, 4, 5], list("aabbab"))
    assert given.largest.value == plain.largest.value


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"groups": ["a"] * 3}, ValueError, "groups must be two or more, to be compared; got 1"),
        ({"groups": ["a", "b"]}, ValueError, "groups must hold one label per item"),
        ({"groups": ["a", None, "b"]}, ValueError, "groups holds a missing label"),
        ({"human": [1, None, 2]}, ValueError, "human has no finite score"),
        ({"judge": []}, ValueError, "must be aligned"),
        ({"statistic": "r"}, ValueError, "statistic must be one of"),
        ({"sources": [1]}, ValueError, "sources must hold one label"),
        ({"n_resamples": 1}, ValueError, "at least 20 resamples"),
        ({"rng": None}, TypeError, "rng must be a whole number or a numpy.random.Generator"),
    ],
)
def test_what_cannot_be_is_refused(change, error, message):
    given = {
        "judge": [1, 2, 3],
        "human": [1, 2, 3],
        "groups": ["a", "b", "b"],
        "rng": np.random.default_rng(0),
    }
    with pytest.raises(error, match=message):
        group_gaps(**(given | change))
