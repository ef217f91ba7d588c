import dspy
import numpy as np
import pytest

from judgesmith.optimizers.rows import rated_example, rows_of
from judgesmith.signatures import Judgement, RatedItem, Scale

LIKERT = Scale(low=1, high=5)


def example(n, **fields):
    given = {"source": f"s{n}", "response": f"r{n}", "score": 1.0 + n % 5, "scale": LIKERT}
    return dspy.Example(**{**given, **fields}).with_inputs("source", "response")


def test_an_item_comes_back_from_its_example_with_its_texts_and_its_group():
    item = RatedItem(source="s", context="c", response="r", system_id="m")
    examples = [rated_example(item, 4, LIKERT, group=7), example(1, group=8)]
    rows = rows_of(examples)
    assert rows.items[0].key == item.key
    assert rows.groups.tolist() == ["7", "8"]
    assert rows.systems.tolist() == ["m", ""]
    assert rows.human.tolist() == [4.0, 2.0]


def test_rows_without_a_group_are_grouped_by_source():
    rows = rows_of([example(0, source="same"), example(1, source="same"), example(2)])
    assert rows.groups.tolist() == ["same", "same", "s2"]


def test_scores_are_shown_between_the_ends_of_their_scale():
    # The paper's own examples divide by the maximum; 0 is described as worst, so min-max here.
    assert rows_of([example(0), example(4), example(2)]).percent().tolist() == [0.0, 100.0, 50.0]


def test_left_out_rows_are_those_with_the_same_texts():
    rows = rows_of([example(0), example(1)])
    assert [one.response for one in rows.without([rows.items[0].key]).items] == ["r1"]


def test_the_table_of_rows_has_one_judgement_per_row():
    table = rows_of([example(0), example(1)]).judged([Judgement(score=9), Judgement(score=8)])
    assert table.predicted.tolist() == [9.0, 8.0]


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "no rated items to learn from; give a non-empty trainset"),
        ([example(0, response=None)], "example 0 has no response"),
        ([example(0), example(1, score=None)], "example 1 has no score"),
        ([example(0, scale=None)], "expected one scale for all scores; got none"),
        ([example(0), example(1, scale="0..1")], r"expected one scale.*1\.\.5, 0\.\.1"),
        ([example(0, score=float("nan"))], "a score is nan; leave unrated items out"),
        (
            [example(0, scale=Scale(low=0, high=9, higher_is_better=False))],
            "the scores count faults",
        ),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(examples, message):
    with pytest.raises(ValueError, match=message):
        rows_of(examples)


def test_a_scale_that_is_given_replaces_those_of_the_examples():
    assert rows_of([example(0, scale=None)], Scale(low=0, high=10)).scale.high == 10


def test_constant_scores_are_refused_where_something_is_chosen_by_them():
    rows = rows_of([example(0, score=3), example(1, score=3)])
    with pytest.raises(ValueError, match="all 2 scores to choose by are 3"):
        rows.refuse_constant()
    assert np.ptp(rows.human) == 0
