from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.correlation.columns import inversion_passes


@given(st.lists(st.integers(0, 40), max_size=40))
def test_every_inversion_is_found_in_exactly_one_pass(codes):
    found = []
    for low, high, first, last in inversion_passes(np.array(codes, dtype=np.int64)):
        for row, start, end in zip(low, first, last, strict=True):
            found += [(other, row) for other in high[start:end]]
    expected = [(a, b) for a, b in combinations(range(len(codes)), 2) if codes[a] > codes[b]]
    assert sorted(found) == expected


def test_codes_may_be_large():
    passes = inversion_passes(np.array([2**40, 1, 2**33]))
    assert sum(int(np.sum(last - first)) for *_, first, last in passes) == 2
