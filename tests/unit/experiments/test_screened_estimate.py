import numpy as np
import pytest

from judgesmith.experiments.compile.estimate import screened_texts


def test_changed_versions_count_as_if_the_first_rows_had_the_most():
    by_row = [1] * 50 + [3] * 10
    assert screened_texts(20, by_row) == (20 - 12) * 30 + 10 * (30 + 2) + 2 * 80


def test_who_is_asked_anew_is_counted_at_every_stage():
    assert screened_texts(20, [1] * 60, anew=True) == 20 * 10 + 12 * 12 + 2 * 60


@pytest.mark.parametrize("n", [1, 9, 10])
def test_few_rows_are_judged_by_all(n):
    assert screened_texts(108, np.ones(n, dtype=int)) == 108 * n
