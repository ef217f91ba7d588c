import numpy as np
import pytest

from judgesmith.experiments.screened_estimate import screened_texts


def test_rows_set_aside_to_confirm_one_on_make_no_more_of_it():
    for n_trials in (1, 3, 30, 108):
        for n in range(1, 150):
            aside = range(n)
            whole = screened_texts(n_trials, [1] * n)
            assert all(screened_texts(n_trials, [1] * (n - one)) + one <= whole for one in aside)


def test_changed_versions_count_as_if_the_first_rows_had_the_most():
    by_row = [1] * 50 + [3] * 10
    assert screened_texts(20, by_row) == (20 - 12) * 30 + 10 * (30 + 2) + 2 * 80


def test_who_is_asked_anew_is_counted_at_every_stage():
    assert screened_texts(20, [1] * 60, anew=True) == 20 * 10 + 12 * 12 + 2 * 60


@pytest.mark.parametrize("n", [1, 9, 10])
def test_few_rows_are_judged_by_all(n):
    assert screened_texts(108, np.ones(n, dtype=int)) == 108 * n
