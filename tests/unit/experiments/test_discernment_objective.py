"""``benchmarks/discernment_objective.py`` on the bundled sample; the benchmark has rated sets."""

import importlib
from pathlib import Path

import pytest

from judgesmith.data import read_items

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("discernment_objective")


@pytest.mark.no_cover
def test_both_objectives_are_held_against_the_same_rows_and_kinds(benchmark):
    data = read_items("sample").subset(range(40))
    found = benchmark.compared(data, seed=0, n_trials=1, versions=1)
    both = [found[objective] for objective in benchmark.OBJECTIVES]
    assert all(set(benchmark.NUMBERS) < set(one) for one in both)
    assert all(0 <= one["unseen d_min"] <= one["unseen d_avg"] for one in both)
    assert all(one["q"] > 0 for one in both)
    lines = benchmark.row_of("sample", [found])
    assert [line.split(" | ")[1] for line in lines] == [*benchmark.OBJECTIVES, "difference"]
