from functools import partial

import numpy as np
import pytest

from judgesmith.metrics.correlation.levels import agreement
from judgesmith.metrics.correlation.statistics import kendall, lins_ccc, pearson, q, spearman

STATISTICS = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall_c": partial(kendall, variant="c"),
    "concordance": lins_ccc,
    "q": q,
}


@pytest.fixture
def rows():
    """Return ragged rows of 12 sources and 5 systems, some unscored, one source constant."""
    rng = np.random.default_rng(4)
    cells = [(s, k) for s in range(12) for k in range(5) if rng.random() < 0.9]
    sources, systems = (np.array(each) for each in zip(*cells, strict=True))
    human = rng.integers(1, 6, size=len(cells)).astype(float)
    predicted = human + rng.normal(size=len(cells)).round(1)
    predicted[sources == 3] = 2.0
    predicted[[5, 20]] = np.nan
    return predicted, human, sources, systems


@pytest.mark.parametrize("statistic", STATISTICS)
def test_dataset_level_is_the_correlation_of_all_scored_rows(rows, statistic):
    predicted, human, sources, systems = rows
    scored = ~np.isnan(predicted)
    found = agreement(
        human, predicted, sources=sources, systems=systems, statistic=statistic, level="dataset"
    )
    assert found.value == pytest.approx(STATISTICS[statistic](predicted[scored], human[scored]))
    assert (found.n, found.n_unscored, found.n_groups) == (len(human) - 2, 2, 1)
    assert found.n_undefined == 0


@pytest.mark.parametrize("statistic", STATISTICS)
def test_sample_level_averages_the_sources_that_have_a_value_and_counts_the_others(rows, statistic):
    predicted, human, sources, systems = rows
    values = []
    for source in range(12):
        own = (sources == source) & ~np.isnan(predicted)
        values.append(STATISTICS[statistic](predicted[own], human[own]))
    found = agreement(
        human, predicted, sources=sources, systems=systems, statistic=statistic, level="sample"
    )
    assert found.value == pytest.approx(np.nanmean(values))
    assert (found.n_groups, found.n_undefined) == (12, np.count_nonzero(np.isnan(values)))
    # A source in which one list is constant has a concordance: 0.
    assert (found.n_undefined >= 1) == (statistic != "concordance")


@pytest.mark.parametrize("statistic", STATISTICS)
def test_system_level_correlates_means_over_scored_rows(rows, statistic):
    predicted, human, sources, systems = rows
    scored = ~np.isnan(predicted)
    means = [
        (predicted[own].mean(), human[own].mean())
        for own in ((systems == system) & scored for system in range(5))
    ]
    found = agreement(
        human, predicted, sources=sources, systems=systems, statistic=statistic, level="system"
    )
    assert found.value == pytest.approx(STATISTICS[statistic](*zip(*means, strict=True)))
    assert (found.n_groups, found.n_undefined) == (5, 0)


@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
def test_the_order_of_rows_and_the_names_of_groups_do_not_matter(rows, level):
    predicted, human, sources, systems = rows
    order = np.random.default_rng(0).permutation(len(human))
    plain = agreement(
        human, predicted, sources=sources, systems=systems, statistic="q", level=level
    )
    mixed = agreement(
        human[order],
        predicted[order],
        sources=[f"source {each}" for each in sources[order]],
        systems=[("system", each) for each in systems[order]],
        statistic="q",
        level=level,
    )
    assert mixed.value == pytest.approx(plain.value)
    assert mixed.n_undefined == plain.n_undefined


def test_equal_system_means_tie_although_their_sums_round_differently():
    # The mean of three 0.1 differs from 0.1 in the last digit.
    found = agreement(
        [1, 1, 1, 2],
        [0.1, 0.1, 0.1, 0.1],
        sources=[0, 1, 2, 0],
        systems=["a", "a", "a", "b"],
        statistic="spearman",
        level="system",
    )
    assert np.isnan(found.value)


def test_a_system_without_a_scored_row_is_left_out_and_counted():
    found = agreement(
        [1, 2, 3, 4],
        [1, 2, np.nan, 3],
        sources=range(4),
        systems=list("abcd"),
        statistic="pearson",
        level="system",
    )
    assert (found.n_groups, found.n_undefined, found.n_unscored) == (4, 1, 1)


@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
def test_nothing_scored_is_undefined_and_not_an_error(level):
    found = agreement(
        [1, 2], [None, None], sources=[0, 1], systems=[0, 0], statistic="q", level=level
    )
    assert np.isnan(found.value)
    assert (found.n, found.n_unscored) == (0, 2)
    assert found.n_undefined == found.n_groups


def test_systems_are_needed_at_system_level_only():
    given = {"sources": [0, 0, 0], "statistic": "pearson"}
    agreement([1, 2, 3], [1, 2, 3], level="sample", **given)
    with pytest.raises(ValueError, match="needs systems="):
        agreement([1, 2, 3], [1, 2, 3], level="system", **given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": "segment"}, "'system', 'sample', 'dataset'.*'segment'"),
        ({"statistic": "tau"}, "statistic must be one of"),
        ({"sources": [0, None, 1]}, "sources holds a missing label"),
        ({"systems": [0, 1]}, "systems must hold one label per item"),
    ],
)
def test_what_cannot_be_computed_is_refused(change, message):
    given = {"sources": [0, 0, 1], "statistic": "q", "level": "dataset"} | change
    with pytest.raises(ValueError, match=message):
        agreement([1, 2, 3], [1, 2, 3], **given)
