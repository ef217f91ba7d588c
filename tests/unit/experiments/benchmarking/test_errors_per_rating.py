"""How many errors make which rating, by hand-worked pilots."""

import math

import pytest

from judgesmith.experiments.benchmark.errors_per_rating import errors_per_rating


def needed(ratings, n_errors, levels=(1, 2, 3, 4, 5)):
    return errors_per_rating(ratings, n_errors, levels=levels).n_errors


def test_the_median_is_taken_the_lower_of_two():
    assert needed([1, 1, 1, 2, 2], [4, 9, 6, 3, 2], levels=(1, 2)) == (6, 2)


def test_a_rating_that_no_text_had_lies_between_its_neighbours_halves_towards_fewer():
    assert needed([1, 5], [10, 0]) == (10, 7, 5, 2, 0)
    assert needed([1, 3], [5, 0], levels=(1, 2, 3)) == (5, 2, 0)


def test_beyond_what_any_text_had_the_most_errors_tried_and_none():
    assert needed([3, 3, 3], [2, 3, 15]) == (15, 9, 3, 1, 0)


def test_texts_without_a_rating_count_for_nothing_but_what_was_tried():
    found = errors_per_rating([2, math.nan], [3, 12], levels=(1, 2))
    assert (found.n_errors, found.n_texts) == ((12, 3), (0, 1))
    assert found.to_dict() == {
        "1": {"n_errors": 12, "pilot_texts": 0},
        "2": {"n_errors": 3, "pilot_texts": 1},
    }


def test_more_errors_for_a_higher_rating_are_out_of_order():
    assert errors_per_rating([1, 2], [3, 1], levels=(1, 2)).in_order
    assert not errors_per_rating([1, 2], [1, 3], levels=(1, 2)).in_order


def test_an_order_is_inverted_only_where_enough_texts_say_so():
    three = errors_per_rating([1] * 3 + [2] * 3, [1] * 3 + [3] * 3, levels=(1, 2))
    two = errors_per_rating([1] * 2 + [2] * 3, [1] * 2 + [3] * 3, levels=(1, 2))
    assert (three.in_order, three.inverted) == (False, True)
    assert (two.in_order, two.inverted) == (False, False)
    # Whoever lies between says nothing, if there are few.
    apart = errors_per_rating([1] * 3 + [2] + [3] * 3, [1] * 3 + [0] + [2] * 3, levels=(1, 2, 3))
    assert apart.inverted


def test_a_pilot_without_any_rating_says_what_to_do():
    with pytest.raises(ValueError, match="none of the 2 texts of the pilot could be rated"):
        needed([math.nan, math.nan], [0, 1])
