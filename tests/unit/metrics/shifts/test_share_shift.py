import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.comparing import share_shift

shares = st.integers(0, 20).map(lambda k: k / 20)


@given(shares, shares, st.integers(1, 300), st.integers(1, 300))
def test_the_interval_holds_the_difference(before, now, n, m):
    found = share_shift(before, now, n_before=n, n_now=m)
    assert -1 - 1e-9 <= found.low <= found.difference <= found.high <= 1 + 1e-9


def test_newcombes_own_example():
    # Newcombe (1998), table II, example (a), method 10: 56/70 - 48/80.
    found = share_shift(48 / 80, 56 / 70, n_before=80, n_now=70)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)


def test_without_a_shift_it_rejects_no_more_often_than_it_claims():
    rng = np.random.default_rng(0)
    p = [
        share_shift(a / 60, b / 90, n_before=60, n_now=90).p_value
        for a, b in zip(rng.binomial(60, 0.2, 400), rng.binomial(90, 0.2, 400), strict=True)
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.06


@pytest.mark.parametrize(("share", "n"), [(1.2, 5), (0.5, 0), (0.5, float("inf"))])
def test_what_is_no_share_is_refused(share, n):
    with pytest.raises(ValueError, match="share"):
        share_shift(share, 0.5, n_before=n, n_now=5)
