"""Benchmarks of a few sources of SummEval, offline: sequences of sixteen, ratings of 1 to 5."""

from collections import Counter

import pytest

from judgesmith.data import read_items
from judgesmith.experiments.benchmark.report import blind_kinds_of

pytestmark = [pytest.mark.data, pytest.mark.no_cover]


@pytest.fixture(scope="module")
def summeval(data_folder):
    return read_items(data_folder / "summeval.jsonl.gz")


def test_sequences_have_the_reference_and_fifteen_errors(summeval, build):
    made = build(summeval, "local", n_sources=6, steps=15, n_references=5)
    told = made.report["criteria"]
    assert set(told) == {"coherence", "consistency", "fluency", "relevance"}
    for own in told.values():
        assert own["sequences"] == own["sources"] == 6
        assert own["texts"] == sum(int(n) * count for n, count in own["lengths"].items())
        assert sum(count for n, count in own["lengths"].items() if n == "16") >= 5
    assert blind_kinds_of(made.report)


def test_ratings_are_balanced_as_far_as_texts_of_them_can_be_made(summeval, build):
    made = build(
        summeval,
        "global",
        criteria=("consistency",),
        n_sources=2,
        per_rating=3,
        n_references=3,
        n_candidates=6,
    )
    per_cell = Counter((row["source_id"], row["human"]["consistency"][0]) for row in made.rows)
    assert max(per_cell.values()) == 3
    assert {rating for _, rating in per_cell} >= {1.0, 3.0}
    told = made.report["criteria"]["consistency"]
    missing = sum(one["missing"] for one in told["balance"]["ratings"])
    assert len(made.rows) + missing == 2 * 5 * 3
    assert told["anchors"]["accuracy"]["value"] > 0.6
