"""Benchmark ``discernment_objective`` on the bundled sample; it has rated sets."""

import pytest

from benchmarks.search import discernment_objective as benchmark
from judgesmith.data import read_items


@pytest.mark.no_cover
def test_both_objectives_are_held_against_the_same_rows_and_kinds():
    data = read_items("sample").subset(range(40))
    found = benchmark.compared(data, seed=0, n_trials=1, versions=1)
    both = [found[objective] for objective in benchmark.OBJECTIVES]
    assert all(set(benchmark.NUMBERS) < set(one) for one in both)
    assert all(0 <= one["unseen d_min"] <= one["unseen d_avg"] for one in both)
    assert all(one["q"] > 0 for one in both)
    rows = benchmark.rows_of("sample", [found])
    assert [row["objective"] for row in rows] == [*benchmark.OBJECTIVES, "difference"]
