import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.experiments.labels.suggesting import doubts_of
from judgesmith.programs.families.ensemble.members import CalibratedJudgement, PanelJudgement
from judgesmith.signatures import Judgement


def judgement(*scores):
    points = {f"c{place}": {"score": one} for place, one in enumerate(scores) if one is not None}
    return Judgement(score=50, criteria=points)


rows = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 100))] * 3), min_size=1, max_size=8)


@given(rows)
def test_doubt_is_the_spread_of_criteria_around_their_own_means(table):
    found = doubts_of([judgement(*row) for row in table])
    means = [np.mean([row[c] for row in table if row[c] is not None] or [0]) for c in range(3)]
    for row, doubt in zip(table, found, strict=True):
        apart = [points - means[c] for c, points in enumerate(row) if points is not None]
        assert doubt == pytest.approx(np.std(apart) if apart else 0.0, abs=1e-9)


def test_a_criterion_that_is_always_strict_is_no_doubt():
    assert doubts_of([judgement(20, 60), judgement(30, 70)]).tolist() == [0, 0]


def test_a_panel_says_itself_how_far_its_members_disagree():
    panel = [PanelJudgement(score=3, disagreement=one) for one in (0.5, None, 2.0)]
    assert doubts_of(panel).tolist() == [0.5, 0.0, 2.0]


def test_a_calibrated_judge_doubts_by_its_interval_unless_all_are_as_wide():
    criteria = {"a": {"score": 40}, "b": {"score": 60}}
    wide = CalibratedJudgement(score=3, low=1, high=5, criteria=criteria)
    narrow = CalibratedJudgement(score=3, low=2, high=3, criteria={"a": {"score": 90}})
    assert doubts_of([wide, narrow]).tolist() == [4, 1]
    assert doubts_of([wide, wide.model_copy(update={"criteria": {}})]).tolist() == [0, 0]


def test_nothing_tells_where_there_is_a_score_alone():
    assert doubts_of([Judgement(score=1), Judgement(score=2)]).tolist() == [0, 0]
