import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.predictions import prediction_table
from judgesmith.signatures import Judgement, Scale
from judgesmith.signatures.judgement import Cause, Reason

LOST = Cause(Reason.OTHER, "lost")


def table(predicted):
    n = len(predicted)
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.arange(n, dtype=float),
        sources=np.arange(n),
        systems=np.asarray(["a"] * n),
        problems=tuple(LOST if np.isnan(one) else None for one in predicted),
    )


def test_a_judgement_without_a_score_is_counted_and_keeps_its_reason():
    judgements = [Judgement(score=3.0), Judgement.unscored("cut off")]
    found = prediction_table(
        judgements, np.array([1.0, 2.0]), sources=np.arange(2), systems=np.array(["a", "a"])
    )
    assert np.isnan(found.predicted[1])
    assert found.problems == (None, Cause(Reason.OTHER, "cut off"))
    assert (found.n, found.n_unscored, found.share_scored) == (2, 1, 0.5)


def test_a_table_without_rows_lacks_no_score():
    assert table([]).share_scored == 1.0


def test_of_several_targets_the_one_with_fewest_scores_is_what_counts():
    both = PredictionTable.of_parts({"a": table([1.0, 2.0]), "b": table([1.0, np.nan])})
    assert (both.share_scored, both.least_scored) == (0.75, 0.5)
    assert table([1.0, np.nan]).least_scored == 0.5


def test_taken_rows_keep_all_their_columns_together():
    found = table([5.0, np.nan, 7.0]).take(np.array([2, 1]))
    assert found.human.tolist() == [2.0, 1.0]
    assert found.predicted[0] == 7.0
    assert found.problems == (None, LOST)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"columns must be of one length; got \[1, 2\]"):
        PredictionTable(
            predicted=np.zeros(2), human=np.zeros(2), sources=np.zeros(1), systems=np.zeros(2)
        )


@pytest.mark.parametrize("name", ["problems", "targets"])
def test_labels_of_rows_are_one_per_row_or_none(name):
    with pytest.raises(ValueError, match=f"{name} are none or one per row; got 1, not 2"):
        dataclasses.replace(table([1.0, 2.0]), **{name: ("a",)})


class TestSeveralTargets:
    @pytest.fixture
    def whole(self):
        return PredictionTable.of_parts(
            {"score": table([1.0, 2.0]), "wit": table([5.0, np.nan, 7.0])}
        )

    def test_parts_come_back_as_they_went_in(self, whole):
        first, second = whole.parts
        assert first.predicted.tolist() == [1.0, 2.0]
        assert second.predicted.tolist() == pytest.approx([5.0, np.nan, 7.0], nan_ok=True)
        assert second.problems == (None, LOST, None)
        assert first.targets == second.targets == ()
        assert second.parts == [second]

    def test_rows_that_are_taken_stay_with_their_targets(self, whole):
        found = whole.take(np.array([4, 0, 2]))
        assert found.targets == ("wit", "score", "wit")
        wit, score = found.parts
        assert (wit.predicted.tolist(), score.predicted.tolist()) == ([7.0, 5.0], [1.0])

    def test_all_rows_count_for_the_share_that_is_scored(self, whole):
        assert (whole.n, whole.n_unscored, whole.share_scored) == (5, 1, 0.8)

    def test_other_predictions_keep_the_targets(self, whole):
        found = whole.predicting(np.arange(5.0))
        assert found.targets == whole.targets
        assert found.parts[1].predicted.tolist() == [2.0, 3.0, 4.0]


class TestTheScoreOnACriterion:
    def judged(self, *criteria, human=(1.0, 2.0), target="Fact_Check", problem=None):
        judgements = [
            Judgement(score=None if problem else 9.0, problem=problem, criteria=one)
            for one in criteria
        ]
        labels = np.array(["a"] * len(human))
        return prediction_table(
            judgements, np.array(human), sources=labels, systems=labels, target=target
        )

    def test_it_is_found_however_the_name_is_written(self):
        found = self.judged({"**fact check**": {"score": 3}}, {"FACT_CHECK": {"score": 4}})
        assert found.predicted.tolist() == [3.0, 4.0]

    def test_a_gap_keeps_its_reason(self):
        gap = {"fact check": {"score": None, "explanation": "no score: lost"}}
        found = self.judged(gap, {"fact check": {"score": 4}})
        assert found.problems == (Cause(Reason.UNREADABLE, "lost"), None)
        assert found.n_unscored == 1

    def test_a_judge_that_does_not_score_it_says_so(self):
        found = self.judged({}, {"joy": {"score": 4}})
        assert {one.text for one in found.problems} == {"the judge gave no score on Fact_Check"}
        assert (
            self.judged({}, {}, problem="cut off").problems == (Cause(Reason.OTHER, "cut off"),) * 2
        )

    def test_a_criterion_counts_even_where_the_whole_has_no_score(self):
        found = self.judged(*[{"fact check": {"score": 4}}] * 2, problem="cut off")
        assert found.predicted.tolist() == [4.0, 4.0]
        assert found.problems == (None, None)

    def test_rows_that_nobody_rated_on_it_are_left_out(self):
        several = [{"fact check": {"score": n}} for n in range(3)]
        found = self.judged(*several, human=(1.0, np.nan, 3.0))
        assert (found.predicted.tolist(), found.human.tolist()) == ([0.0, 2.0], [1.0, 3.0])


def test_what_is_known_of_scales_and_calls_goes_with_the_rows():
    likert, percent = Scale(low=1, high=5), Scale(low=0, high=100)
    whole = replace(table([1.0, 2.0, 3.0]), n_calls=(1, 2, 3), scale=likert, judge_scale=percent)
    part = whole.take(np.array([2, 0]))
    assert (part.n_calls, part.scale, part.judge_scale) == ((3, 1), likert, percent)
    other = whole.predicting(whole.predicted)
    assert (other.n_calls, other.scale, other.judge_scale) == ((1, 2, 3), likert, None)


def test_targets_on_different_scales_keep_their_own():
    one, other = (
        replace(table([1.0, 2.0]), n_calls=(1, 1), scale=Scale(low=1, high=high)) for high in (5, 7)
    )
    alike = PredictionTable.of_parts({"score": one, "wit": one})
    assert (alike.scale, alike.n_calls) == (one.scale, (1, 1, 1, 1))
    mixed = PredictionTable.of_parts({"score": one, "wit": replace(other, n_calls=())})
    assert mixed.n_calls == ()
    assert mixed.scale == {"score": one.scale, "wit": other.scale}
    assert [part.scale for part in mixed.parts] == [one.scale, other.scale]


def test_calls_are_counted_for_every_row_or_none():
    with pytest.raises(ValueError, match="n_calls are none or one per row; got 1, not 2"):
        replace(table([1.0, 2.0]), n_calls=(1,))
