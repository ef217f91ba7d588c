import numpy as np
import pytest
from optimizing import example, examples_with_criteria

from judgesmith.optimizers.rows import rows_of
from judgesmith.signatures import Judgement, Scale
from judgesmith.signatures.scale import PERCENT


def test_scores_are_shown_between_the_ends_of_their_scale():
    # The paper's own examples divide by the maximum; 0 is described as worst, so min-max here.
    assert rows_of([example(0), example(4), example(2)]).percent().tolist() == [0.0, 100.0, 50.0]


def test_left_out_rows_are_those_with_the_same_texts():
    rows = rows_of([example(0), example(1)])
    assert [one.response for one in rows.without([rows.items[0].key]).items] == ["r1"]


def test_the_table_of_rows_has_one_judgement_per_row():
    table = rows_of([example(0), example(1)]).judged(
        [Judgement(score=9), Judgement(score=8)], judge_scale=PERCENT
    )
    assert table.predicted.tolist() == [9.0, 8.0]


def test_constant_scores_are_refused_where_something_is_chosen_by_them():
    rows = rows_of([example(0, score=3), example(1, score=3)])
    with pytest.raises(ValueError, match="all 2 scores to choose by are 3"):
        rows.refuse_constant()
    assert np.ptp(rows.human) == 0


class TestCriteria:
    """What people said of single criteria goes with the rows, by name."""

    @pytest.fixture
    def rows(self):
        return rows_of(examples_with_criteria())

    def test_they_stay_beside_their_rows(self, rows):
        assert rows.take([3, 0]).said("fact check").tolist() == [25, 0]
        left = rows.without([rows.items[0].key])
        assert left.said("fact check").tolist() == pytest.approx([np.nan, 100, 25], nan_ok=True)

    def test_the_score_is_a_target_and_an_unknown_criterion_is_none(self, rows):
        assert rows.said("score") is rows.human
        with pytest.raises(ValueError, match="nobody scored the criterion wit; there is fact che"):
            rows.said("wit")
        with pytest.raises(ValueError, match="nobody scored the criterion wit; there is none"):
            rows_of([example(0)]).said("wit")

    def test_the_table_of_several_targets_has_a_part_for_each_with_the_rows_rated_on_it(self, rows):
        judgements = [
            Judgement(score=10 * n, criteria={"Fact_Check": {"score": n}}) for n in range(4)
        ]
        table = rows.judged(judgements, ("score", "fact check"), judge_scale=PERCENT)
        whole, criterion = table.parts
        assert table.targets == ("score",) * 4 + ("fact check",) * 3
        assert whole.predicted.tolist() == [0, 10, 20, 30]
        assert whole.human.tolist() == rows.human.tolist()
        assert criterion.predicted.tolist() == [0, 2, 3]
        assert criterion.human.tolist() == [0, 100, 25]
        assert criterion.sources.tolist() == ["s0", "s2", "s3"]
        one = rows.judged(judgements, ("fact check",), judge_scale=PERCENT)
        assert (one.targets, one.predicted.tolist()) == ((), [0, 2, 3])

    def test_each_target_must_differ_somewhere(self, rows):
        rows.refuse_constant(("score", "fact check"))
        with pytest.raises(ValueError, match="all 1 scores on joy to choose by are 50"):
            rows.refuse_constant(("score", "joy"))
        with pytest.raises(ValueError, match="all 1 scores on joy to choose by are missing"):
            rows.take([1]).refuse_constant(("joy",))


def test_scores_may_be_shown_as_percent_of_the_highest_point():
    rows = rows_of([example(0), example(4), example(2)], percent_of_max=True)
    assert rows.percent().tolist() == [20.0, 100.0, 60.0]
    assert rows.take([2]).percent().tolist() == [60.0]


def test_the_table_names_the_scale_of_each_target():
    rows = rows_of([example(n, scale=Scale(low=1, high=5), criteria={"wit": 50}) for n in range(2)])
    judgements = [Judgement(score=3, criteria={"wit": {"score": 40}})] * 2
    likert = rows.scale

    def table(*targets):
        return rows.judged(judgements, targets, judge_scale=likert)

    assert (table("score").scale, table("score").judge_scale) == (likert, likert)
    assert (table("wit").scale, table("wit").judge_scale) == (PERCENT, PERCENT)
    both = table("score", "wit")
    assert both.scale == both.judge_scale == {"score": likert, "wit": PERCENT}
    assert [part.judge_scale for part in both.take(np.array([3, 0])).parts] == [PERCENT, likert]


def test_a_judge_that_says_what_people_said_scores_every_row():
    rows = rows_of([example(n, scale=Scale(low=1, high=5), criteria={"wit": 50}) for n in range(2)])
    table = rows.as_people_said(["score", "wit"])
    assert table.predicted.tolist() == table.human.tolist()
    assert table.n_calls == (1, 1, 1, 1)
