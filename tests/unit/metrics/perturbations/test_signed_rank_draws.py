import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.metrics.perturbations.wilcoxon import ResampledTest, wilcoxon_log_p

pairs = st.lists(st.one_of(st.none(), st.integers(-30, 30)), min_size=1, max_size=40)


@pytest.mark.no_cover
@settings(max_examples=150)
@given(pairs, st.integers(1, 60), st.integers(0, 2**32))
def test_the_test_under_counts_is_the_test_of_the_items_drawn(lost, n_drawn, seed):
    steps = np.array(lost, dtype=float)
    drawn = np.random.default_rng(seed).integers(len(steps), size=(5, n_drawn))
    counts = np.stack([np.bincount(row, minlength=len(steps)) for row in drawn]).astype(float)
    np.testing.assert_allclose(
        ResampledTest(steps).log_p(counts),
        wilcoxon_log_p(steps[drawn], np.zeros(n_drawn)),
        rtol=1e-12,
        atol=1e-14,
    )


def test_one_draw_of_each_item_is_the_test_itself():
    steps = np.random.default_rng(0).normal(size=30).round(2)
    assert ResampledTest(steps).log_p(np.ones((1, 30)))[0] == wilcoxon_log_p(steps, np.zeros(30))
