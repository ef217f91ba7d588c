import numpy as np
import pytest

from judgesmith.optimizers import JudgedTable
from judgesmith.optimizers.table import judged_table
from judgesmith.signatures import Judgement


def table(predicted):
    n = len(predicted)
    return JudgedTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.arange(n, dtype=float),
        sources=np.arange(n),
        systems=np.asarray(["a"] * n),
        problems=tuple("lost" if np.isnan(one) else None for one in predicted),
    )


def test_a_judgement_without_a_score_is_counted_and_keeps_its_reason():
    judgements = [Judgement(score=3.0), Judgement.unscored("cut off")]
    found = judged_table(
        judgements, np.array([1.0, 2.0]), sources=np.arange(2), systems=np.array(["a", "a"])
    )
    assert np.isnan(found.predicted[1])
    assert found.problems == (None, "cut off")
    assert (found.n, found.n_unscored, found.share_scored) == (2, 1, 0.5)


def test_a_table_without_rows_lacks_no_score():
    assert table([]).share_scored == 1.0


def test_taken_rows_keep_all_their_columns_together():
    found = table([5.0, np.nan, 7.0]).take(np.array([2, 1]))
    assert found.human.tolist() == [2.0, 1.0]
    assert found.predicted[0] == 7.0
    assert found.problems == (None, "lost")


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"columns must be of one length; got \[1, 2\]"):
        JudgedTable(
            predicted=np.zeros(2), human=np.zeros(2), sources=np.zeros(1), systems=np.zeros(2)
        )
