import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.pairs.strengths import logistic, most_likely, split_by_wins

tables = st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=4, max_size=4)


def connected(wins):
    """Say whether wins lead from every system to every other one, step by step."""
    reached = (wins > 0) | np.eye(len(wins), dtype=bool)
    for _ in wins:
        reached = reached @ reached
    return reached.all()


@pytest.mark.no_cover
@given(tables)
def test_strengths_exist_where_wins_lead_from_every_system_to_every_other(table):
    wins = np.array(table, float)
    np.fill_diagonal(wins, 0)
    split = split_by_wins(wins)
    assert (split is None) == connected(wins)
    if split is not None:
        inside, said = split
        assert 0 < inside.sum() < 4
        assert not wins[np.ix_(~inside, inside)].any()
        assert wins[np.ix_(inside, ~inside)].any() == said.startswith("never lost")
        return
    strengths = most_likely(wins)
    # Where the likelihood is highest every system has won as often as it should have.
    due = (wins + wins.T) * logistic(strengths[:, None] - strengths)
    assert due.sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-7)
    assert strengths.sum() == pytest.approx(0, abs=1e-8)


def test_strengths_far_apart_with_few_surprises_are_found_step_by_step():
    # A row of ten systems: each beats the next a million times, and loses to it once.
    wins = np.zeros((10, 10))
    above = np.arange(9)
    wins[above, above + 1], wins[above + 1, above] = 1e6, 1
    assert np.diff(most_likely(wins)) == pytest.approx([-np.log(1e6)] * 9, abs=1e-9)


def test_a_fit_that_newtons_full_steps_would_overshoot_is_found():
    wins = np.array([[0, 1e7, 0, 0.1], [1e-3, 0, 1e4, 0], [0, 1e-2, 0, 1e6], [1e5, 0, 1, 0]])
    strengths = most_likely(wins)
    lost = wins * logistic(strengths - strengths[:, None])
    assert lost.sum(axis=1) == pytest.approx(lost.sum(axis=0), rel=1e-8)


def test_the_logistic_keeps_its_digits_in_both_tails():
    assert logistic(-40.0) == pytest.approx(np.exp(-40), rel=1e-12)
    assert np.isnan(logistic(np.nan))
