from itertools import permutations

import numpy as np
import pytest
from tables import judged, random_table

from judgesmith.metrics import tie_aware_accuracy_interval
from judgesmith.metrics.pairs import adjacent_accuracy
from judgesmith.optimizers.objectives.agreement import NeighbourAccuracy, TieAccuracy
from judgesmith.optimizers.objectives.base import numbered_sources


@pytest.mark.parametrize("level", ["dataset", "sample"])
def test_pairs_are_counted_as_the_metric_counts_them(level):
    table = random_table(0)
    found = tie_aware_accuracy_interval(
        table.human, table.predicted, sources=table.sources.tolist(), level=level
    )
    assert TieAccuracy(level).value(table) == found.value


def test_in_a_resample_a_row_is_no_pair_with_its_own_copy():
    table = random_table(1, n=12, n_sources=4)
    codes, n = numbered_sources(table.sources)
    counts = np.array([2.0, 0.0, 1.0, 3.0])[:n]
    scored = [row for row in range(table.n) if not np.isnan(table.predicted[row])]
    agreeing = whole = 0.0
    for a, b in permutations(scored, 2):
        weight = counts[codes[a]] * counts[codes[b]]
        orders = [np.sign(each[a] - each[b]) for each in (table.predicted, table.human)]
        agreeing += weight * (orders[0] == orders[1])
        whole += weight
    found = TieAccuracy().counted(table, codes, n).of_counts(counts[None])
    assert found == pytest.approx([agreeing / whole])


def test_the_interval_is_about_that_of_the_jackknife():
    table = random_table(2, n=400, n_sources=60)
    ours = TieAccuracy().estimate(table, rng=np.random.default_rng(0))
    other = tie_aware_accuracy_interval(
        table.human, table.predicted, sources=table.sources.tolist(), level="dataset"
    )
    assert (ours.low, ours.high) == pytest.approx((other.low, other.high), abs=0.01)


def test_neighbours_are_those_of_the_metric():
    table = random_table(3)
    found = adjacent_accuracy(table.human, table.predicted, sources=table.sources.tolist())
    assert NeighbourAccuracy().value(table) == found.value
    estimate = NeighbourAccuracy().estimate(table, rng=np.random.default_rng(0))
    assert estimate.n_undefined == found.n_undefined


def test_pairs_have_no_system_level():
    with pytest.raises(ValueError, match="dataset or sample; got 'system'"):
        TieAccuracy("system")


def test_without_neighbours_there_is_no_share():
    table = judged([1, 2, 3], [1, 2, 3])
    assert np.isnan(NeighbourAccuracy().value(table))
    assert np.isnan(TieAccuracy("sample").value(table))
