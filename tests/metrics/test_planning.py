import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics import labels_needed


def half_width(n, correlation, z=1.959963984540054):
    middle, reach = math.atanh(correlation), z / math.sqrt(n - 3)
    return (math.tanh(middle + reach) - math.tanh(middle - reach)) / 2


@given(st.floats(0.01, 0.9), st.floats(-0.98, 0.98))
def test_is_the_smallest_number_whose_interval_is_short_enough(width, correlation):
    n = labels_needed(width, correlation)
    assert half_width(n, correlation) <= width * (1 + 1e-9)
    assert n == 4 or half_width(n - 1, correlation) > width * (1 - 1e-9)


@pytest.mark.parametrize(("size", "intraclass", "factor"), [(1, 1, 1), (4, 0, 1), (4, 0.5, 2.5)])
def test_clusters_multiply_by_the_design_effect(size, intraclass, factor):
    plain = labels_needed(0.05, 0.4)
    found = labels_needed(0.05, 0.4, cluster_size=size, intraclass=intraclass)
    assert found == pytest.approx(plain * factor, abs=2 * factor)


def test_intervals_of_that_many_normal_items_are_as_short_as_asked():
    rng = np.random.default_rng(0)
    n = labels_needed(0.1, 0.6)
    x = rng.normal(size=(2000, n))
    y = 0.6 * x + 0.8 * rng.normal(size=(2000, n))
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)]
    low, high = np.quantile(correlations, [0.025, 0.975])
    assert (high - low) / 2 == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"half_width": 0}, "half_width must be strictly between 0 and 1"),
        ({"correlation": 1}, "correlation must be strictly between -1 and 1; got 1"),
        ({"confidence": 95}, "confidence must be"),
        ({"cluster_size": 0.5}, "cluster_size must be at least 1"),
        ({"cluster_size": math.inf}, "cluster_size must be at least 1"),
        ({"intraclass": 1.5}, "intraclass must be from 0 to 1"),
    ],
)
def test_arguments_outside_their_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        labels_needed(**{"half_width": 0.05, "correlation": 0.5} | change)
