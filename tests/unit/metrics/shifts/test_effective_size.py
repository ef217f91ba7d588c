import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.resampling import effective_size

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=30)


@given(rows)
def test_lies_between_what_equal_values_are_worth_and_the_number_of_values(pairs):
    values, sources = zip(*pairs, strict=True)
    counts = np.unique(sources, return_counts=True)[1]
    found = effective_size(values, sources=sources)
    assert len(values) ** 2 / np.sum(counts.astype(float) ** 2) - 1e-9 <= found
    assert found <= len(values) + 1e-9


def test_values_that_sources_say_nothing_about_are_worth_about_their_number():
    rng = np.random.default_rng(0)
    sizes = [effective_size(rng.normal(size=400), sources=np.arange(400) // 4) for _ in range(50)]
    assert np.median(sizes) > 330


def test_values_that_are_equal_within_sources_are_worth_their_sources():
    values = np.repeat(np.random.default_rng(0).normal(size=30), 5)
    assert effective_size(values, sources=np.repeat(np.arange(30), 5)) == pytest.approx(30)


def test_nothing_is_worth_nothing_and_missing_values_are_refused():
    assert effective_size([], sources=[]) == 0
    with pytest.raises(ValueError, match="values"):
        effective_size([1, np.nan], sources="ab")
