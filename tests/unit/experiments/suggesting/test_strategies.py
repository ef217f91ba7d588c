import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.experiments.labels.suggesting import STRATEGIES, Candidates, diverse
from judgesmith.signatures import RatedItem


def candidates(scores, doubt=None, sources=None, texts=None):
    n = len(scores)
    texts = texts or [f"text number {place} of all" + " w" * (place % 3) for place in range(n)]
    return Candidates(
        items=tuple(RatedItem(response=text) for text in texts),
        scores=np.asarray(scores, dtype=float),
        doubt=np.asarray(np.zeros(n) if doubt is None else doubt, dtype=float),
        sources=np.arange(n) if sources is None else np.asarray(sources),
    )


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 10), st.integers(0, 9))
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_puts_all_rows_in_an_order_that_the_seed_decides(name, scores, n, seed):
    rows = candidates(scores, doubt=scores[::-1])
    first, again = (STRATEGIES[name](rows, n, np.random.default_rng(seed)) for _ in range(2))
    assert first == again
    assert sorted(first) == list(range(len(scores)))


def test_coverage_takes_rare_scores_as_often_as_usual_ones():
    rows = candidates([*[50] * 97, 0, 20, 100])
    order = STRATEGIES["coverage"](rows, 4, np.random.default_rng(0))
    assert {0.0, 50.0, 100.0} <= set(rows.scores[order[:4]])


def test_disagreement_takes_the_least_sure_first():
    rows = candidates([1, 2, 3], doubt=[0.1, 5, 2])
    assert STRATEGIES["disagreement"](rows, 2, np.random.default_rng(0)) == [1, 2, 0]


def test_stratified_takes_the_least_sure_of_every_part_of_the_range():
    rows = candidates([0, 1, 99, 100], doubt=[1, 2, 4, 3])
    assert set(STRATEGIES["stratified"](rows, 2, np.random.default_rng(0))[:2]) == {1, 2}


def test_a_batch_has_no_source_twice_and_no_copies_while_there_are_others():
    texts = ["one two three four"] * 3 + ["five six", "seven eight"]
    rows = candidates([1, 2, 3, 4, 5], sources=[0, 1, 2, 3, 3], texts=texts)
    assert diverse(rows, range(5), 2) == [0, 3]
    assert diverse(rows, range(5), 3) == [0, 3, 4]
    assert diverse(rows, range(5), 9) == [0, 3, 4, 1, 2]
    assert diverse(rows, range(5), 1, taken=[0]) == [3]
    assert diverse(rows, range(5), 1, known={0, 1, 2}) == [3]
