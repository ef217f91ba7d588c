import numpy as np
import pytest

from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.describing import rater_names, rater_table
from judgesmith.signatures.items import RatedItem


def test_items_with_several_ratings_make_the_table():
    found = rater_table([(1,), (2, 3), (), (4, 5)])
    assert (found.ratings.tolist(), found.items.tolist()) == ([[2, 3], [4, 5]], [1, 3])
    assert (found.who, found.may_be_people) == ("unnamed", True)


def test_missing_ratings_are_nan():
    found = rater_table([(1, 2, 3), (4, 5)])
    np.testing.assert_equal(found.ratings, [[1, 2, 3], [4, 5, np.nan]])
    assert (found.who, found.may_be_people) == ("uneven", False)


@pytest.mark.parametrize("ratings", [[], [()], [(1,), (2,)]])
def test_without_several_ratings_there_is_no_table(ratings):
    found = rater_table(ratings)
    assert (found.ratings.size, found.who, found.may_be_people) == (0, "none", False)


@pytest.mark.parametrize(
    ("names", "who"),
    [
        ([("a", "b"), ("a", "c")], "varying"),
        ([("a", "b"), None], "unnamed"),
        ([("a", "b"), ("a", "b", "c")], "unnamed"),
        ([("b", "a"), ("a", "b")], "named"),
    ],
)
def test_names_count_where_all_items_have_them_one_for_each_rating(names, who):
    assert rater_table([(1, 2), (3, 4)], names).who == who


@pytest.mark.parametrize("given", [None, "ab", {"a": 1}, [["a"], ["b"]], [None, "a"], ["a", "a"]])
def test_what_is_no_list_of_names_names_nobody(given):
    item = RatedItem(response="r", extra={"raters": given})
    assert rater_names(DataSet(name="toy", items=(item,))) == [None]
