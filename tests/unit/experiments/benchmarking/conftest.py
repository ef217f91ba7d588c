"""A small rated set to build benchmarks from, and builds that take a moment."""

import pytest
from benchmark_texts import rows

from judgesmith.data.items import DataSet
from judgesmith.experiments.benchmark.building import build_benchmark
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.programs.lm import model

SMALL = {
    "local": {"steps": 4, "n_references": 2},
    "global": {
        "n_candidates": 0,
        "per_rating": 1,
        "n_anchors": 2,
        "n_samples": 2,
        "n_references": 2,
    },
}


@pytest.fixture(scope="session")
def articles():
    """Four articles, each with two references and three summaries rated on two criteria."""
    return DataSet(name="articles", items=tuple(rows()))


@pytest.fixture(scope="session")
def build():
    """Build a benchmark from rated data, with a model for all roles or one for each."""

    def built(dataset, perspective, *, lm=None, roles=None, sub_aspects=(), concurrency=8, **more):
        settings = BenchmarkSettings(
            perspective=perspective, **{"n_spot_checks": 5, **SMALL[perspective], **more}
        )
        lm = lm or model("offline", ledger=None)
        return build_benchmark(
            dataset,
            settings,
            lm=lm,
            roles=roles,
            sub_aspects=sub_aspects,
            concurrency=concurrency,
        )

    return built


@pytest.fixture(scope="session")
def sequences(articles, build):
    """A local benchmark."""
    return build(articles, "local")


@pytest.fixture(scope="session")
def ratings(articles, build):
    """A global benchmark of one criterion."""
    return build(articles, "global", criteria=("fluency",))
