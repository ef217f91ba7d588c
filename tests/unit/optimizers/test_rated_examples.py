import numpy as np
import pytest
from optimizing import LIKERT, example, examples_with_criteria

from judgesmith.optimizers.rows import rated_example, rows_of
from judgesmith.signatures import RatedItem, Scale


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


class TestCriteria:
    """What people said of single criteria is read by name, from 0 to 100."""

    @pytest.fixture
    def rows(self):
        return rows_of(examples_with_criteria())

    def test_names_are_recognised_however_they_are_written(self, rows):
        assert list(rows.criteria) == ["fact check", "joy"]
        assert rows.said("FACT_CHECK").tolist() == pytest.approx([0, np.nan, 100, 25], nan_ok=True)

    def test_what_nobody_said_is_nan_and_not_zero(self, rows):
        assert np.isnan(rows.said("joy")).tolist() == [False, True, True, True]

    def test_they_come_back_from_an_example(self):
        item = RatedItem(source="s", response="r")
        rows = rows_of([rated_example(item, 4, LIKERT, group=7, criteria={"joy": 75})])
        assert rows.said("joy").tolist() == [75]
        assert rows_of([rated_example(item, 4, LIKERT, group=7)]).criteria == {}

    @pytest.mark.parametrize(
        ("criteria", "message"),
        [
            ({"joy": 101}, r"example 0: joy is 101, outside 0\.\.100"),
            ({"joy": -1}, r"example 0: joy is -1, outside 0\.\.100"),
            ({"joy": float("inf")}, r"example 0: joy is inf, outside 0\.\.100"),
            ("joy", "example 0: criteria are points by name, .*; got 'joy'"),
        ],
    )
    def test_what_is_no_score_of_a_criterion_is_refused(self, criteria, message):
        with pytest.raises(ValueError, match=message):
            rows_of([example(0, criteria=criteria)])


def test_a_scale_without_a_percent_of_its_maximum_is_refused_at_once():
    with pytest.raises(ValueError, match="percent of the maximum needs a scale from 0"):
        rows_of([example(0)], Scale(low=-1, high=5), percent_of_max=True)
