import numpy as np
import pytest

from judgesmith.metrics.records import squarable, whole_number


def test_scores_that_overflow_when_squared_are_refused():
    with pytest.raises(
        ValueError, match=r"human must be from -1e100 to 1e100.*-1e\+200 at index 1"
    ):
        squarable(np.array([np.nan, -1e200]), name="human")


@pytest.mark.parametrize("value", [0, 2.0, 2.5, True, "3", None, float("nan")])
def test_a_count_is_a_whole_number_that_is_large_enough(value):
    with pytest.raises(ValueError, match="n_bins must be a whole number, 1 or more; got"):
        whole_number(value, name="n_bins", least=1)


def test_whole_numbers_of_arrays_are_counts():
    assert whole_number(np.int64(3), name="n_bins", least=1) == 3
