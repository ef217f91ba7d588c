import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.pairs.ordering import agreeing_pairs, check_tolerance, scaled_column

rows = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=25
)


def sign(a, b, tolerance=0):
    return 0 if abs(a - b) <= tolerance else 1 if a > b else -1


@pytest.mark.no_cover
@given(rows, st.integers(0, 9))
def test_each_row_counts_the_rows_of_its_group_that_it_is_ordered_or_tied_with_alike(
    rows, tolerance
):
    # Tenths are no binary fractions: .3 - .2 and .2 - .1 differ by rounding, and must not.
    predicted, human, groups = (np.array(column) for column in zip(*rows, strict=True))
    expected = [
        sum(
            sign(p, q, tolerance) == sign(h, g)
            for j, (q, g, other) in enumerate(rows)
            if other == group and j != i
        )
        for i, (p, h, group) in enumerate(rows)
    ]
    judge, reach = scaled_column(predicted / 10, tolerance / 10)
    found = agreeing_pairs(judge, reach, Column.of(human.astype(float)), groups)
    assert found.tolist() == expected


def test_no_rows_agree_about_nothing():
    judge, reach = scaled_column(np.array([]), 0.5)
    assert reach.tolist() == []
    none = np.array([], dtype=np.int64)
    assert agreeing_pairs(judge, reach, Column.of(np.array([])), none).tolist() == []


def test_a_tolerance_beyond_all_gaps_ties_everything_at_any_scale():
    for scores in ([1e-300, 2e-300], [1e300, -1e300], [0.0, 0.0]):
        _, reach = scaled_column(np.array(scores), 1e308)
        assert set(reach.tolist()) == {len(set(scores))}


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, np.inf])
def test_a_tolerance_that_is_no_distance_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance must be zero or more points"):
        check_tolerance(tolerance)
