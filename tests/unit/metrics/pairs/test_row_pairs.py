from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.pairs.ordering import pairs_between, pairs_within

groups = st.lists(st.integers(0, 4), max_size=20)


@pytest.mark.no_cover
@given(groups)
def test_pairs_within_are_all_pairs_of_equal_groups(groups):
    first, second = pairs_within(np.array(groups, dtype=np.int64), 5)
    found = {frozenset(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)}
    expected = [
        pair for pair in combinations(range(len(groups)), 2) if len({groups[i] for i in pair}) == 1
    ]
    assert found == {frozenset(pair) for pair in expected}
    assert len(first) == len(expected)


@pytest.mark.no_cover
@given(groups, st.integers(1, 3), st.integers(1, 5))
def test_pairs_between_join_cells_that_are_apart_and_below_the_limit(cells, apart, limit):
    rows = np.array(cells, dtype=np.int64)
    first, second = pairs_between(rows, 5, apart=apart, limits=np.full(5, limit))
    found = sorted(zip(first.tolist(), second.tolist(), strict=True))
    expected = [
        (i, j)
        for i, own in enumerate(cells)
        for j, other in enumerate(cells)
        if other - own == apart and other < limit
    ]
    assert found == sorted(expected)


def test_too_many_pairs_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match="499,999,500,000 pairs, more than the 10,000,000"):
        pairs_within(np.zeros(1_000_000, np.int64), 1)
