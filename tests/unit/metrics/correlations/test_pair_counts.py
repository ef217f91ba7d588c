import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.correlation import columns as module
from judgesmith.metrics.correlation.columns import Column, pair_counts, row_balances

rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=30
)


def by_definition(x, y, groups):
    """Return for each row its net, and the pairs that either list orders, one by one."""
    same = groups[:, None] == groups
    signs = [np.sign(each[:, None] - each) * same for each in (x, y)]
    return [np.sum(each, axis=1) for each in (signs[0] * signs[1], *map(np.abs, signs))]


def columns(triples):
    groups, x, y = (np.array(each) for each in zip(*triples, strict=True))
    return x, y, groups, Column.of(x.astype(float)), Column.of(y.astype(float))


@pytest.mark.no_cover
@given(rows, st.sampled_from(["table", "comparing", "inversions"]))
def test_pairs_are_those_that_one_counts_one_by_one(triples, way):
    x, y, groups, *pair = columns(triples)
    size = np.bincount(groups, minlength=5)
    found = {
        "table": lambda: module._by_table(*pair, groups, 5),
        "comparing": lambda: module._by_comparing(*pair, groups, size),
        "inversions": lambda: module._by_inversions(*pair, groups, size),
    }[way]()
    expected = [
        np.bincount(groups, weights=each, minlength=5) for each in by_definition(x, y, groups)
    ]
    for one, other in zip((found.net, found.ordered_x, found.ordered_y), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.no_cover
@given(rows)
def test_the_balance_of_a_row_is_what_one_counts_one_by_one(triples):
    x, y, groups, *pair = columns(triples)
    np.testing.assert_array_equal(row_balances(*pair, groups, 5), by_definition(x, y, groups)[0])


@pytest.mark.parametrize("n_groups", [0, 1, 3])
def test_groups_may_be_empty(n_groups):
    nothing = Column.of(np.empty(0))
    none = np.empty(0, np.int64)
    assert pair_counts(nothing, nothing, none, n_groups).net.tolist() == [0] * n_groups
    assert row_balances(nothing, nothing, none, n_groups).tolist() == []
