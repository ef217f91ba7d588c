"""Ratings by comparisons with anchors: worked by hand, at both ends of the scale as well."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.anchors import rating_of, rating_values

NAN = float("nan")
WINS, EVEN, LOSES, SIMILAR = [1, 1], [1, -1], [-1, -1], [0, 0]

# Worked by hand: what a text does against two anchors of each rating 1, 2, 3, and the three values
# -|even| + wins over the rating below + losses to the rating above, 1 where there is no neighbour.
BY_HAND = [
    # The clear cases: even with its own anchors, better than those below, worse than those above.
    ([EVEN, LOSES, LOSES], [0 + 1 + 1, -1 + 0.5 + 1, -1 + 0 + 1], 1),
    ([WINS, EVEN, LOSES], [-1 + 1 + 0.5, 0 + 1 + 1, -1 + 0.5 + 1], 2),
    ([WINS, WINS, EVEN], [-1 + 1 + 0, -1 + 1 + 0.5, 0 + 1 + 1], 3),
    # Exactly between two ratings, at either end and in the middle: both are worth the same.
    ([WINS, LOSES, LOSES], [-1 + 1 + 1, -1 + 1 + 1, -1 + 0 + 1], 1),
    ([WINS, WINS, LOSES], [-1 + 1 + 0, -1 + 1 + 1, -1 + 1 + 1], 2),
    # Beyond both ends: without the end rule a text that loses to all would be worth 0 as a 1.
    ([LOSES, LOSES, LOSES], [-1 + 1 + 1, -1 + 0 + 1, -1 + 0 + 1], 1),
    ([WINS, WINS, WINS], [-1 + 1 + 0, -1 + 1 + 0, -1 + 1 + 1], 3),
    # Similar counts neither way.
    ([SIMILAR, SIMILAR, SIMILAR], [0 + 1 + 0, 0 + 0 + 0, 0 + 0 + 1], 1),
    ([WINS, SIMILAR, LOSES], [-1 + 1 + 0, 0 + 1 + 1, -1 + 0 + 1], 2),
    ([[1, 0], [-1, 0], LOSES], [-0.5 + 1 + 0.5, -0.5 + 0.5 + 1, -1 + 0 + 1], 1),
]


@pytest.mark.parametrize(("relations", "values", "rating"), BY_HAND)
def test_values_and_ratings_are_those_worked_by_hand(relations, values, rating):
    assert rating_values([relations])[0] == pytest.approx(values)
    found = rating_of([relations], levels=[1, 2, 3])
    assert found.ratings.tolist() == [rating]
    assert found.values[0] == pytest.approx(max(values))


def plainly(relations):
    """Return the values of one text by the formula, term by term."""
    found = []
    for r, own in enumerate(relations):
        value = -abs(sum((s == 1) - (s == -1) for s in own)) / len(own)
        below = relations[r - 1] if r else None
        above = relations[r + 1] if r + 1 < len(relations) else None
        value += 1 if below is None else sum(s == 1 for s in below) / len(below)
        value += 1 if above is None else sum(s == -1 for s in above) / len(above)
        found.append(value)
    return found


signs = st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3)


@given(st.lists(signs, min_size=2, max_size=5))
def test_values_are_the_formula_term_by_term(relations):
    assert rating_values([relations])[0] == pytest.approx(plainly(relations))


@given(st.lists(signs, min_size=2, max_size=5))
def test_turning_scale_and_relations_round_turns_the_values_round(relations):
    turned = [[-sign for sign in level] for level in reversed(relations)]
    assert rating_values([turned])[0][::-1] == pytest.approx(rating_values([relations])[0])


@pytest.mark.parametrize("n_levels", [2, 3, 5])
def test_a_text_that_is_where_it_should_be_has_its_rating_at_every_place_of_the_scale(n_levels):
    for place in range(n_levels):
        relations = [[WINS, EVEN, LOSES][1 + np.sign(r - place)] for r in range(n_levels)]
        found = rating_of([relations], levels=range(n_levels))
        assert (found.ratings[0], found.values[0]) == (place, 2)


@pytest.mark.parametrize(("n_levels", "gap"), [(3, 0), (3, 1), (5, 0), (5, 2), (5, 3)])
def test_a_text_exactly_between_two_ratings_is_worth_the_same_under_both(n_levels, gap):
    values = rating_values([[WINS if r <= gap else LOSES for r in range(n_levels)]])[0]
    assert values[gap] == values[gap + 1] == values.max() == 1


@pytest.mark.parametrize(("aimed", "rating"), [(NAN, 1), (1, 1), (2, 2), (5, 2), (0, 1)])
def test_a_tie_goes_to_the_rating_nearest_the_one_that_was_aimed_at(aimed, rating):
    found = rating_of([[WINS, LOSES, LOSES]], levels=[1, 2, 3], aimed=[aimed])
    assert (found.ratings.tolist(), found.n_tied) == ([rating], 1)


def test_a_tie_at_the_same_distance_goes_to_the_lower():
    alike = [SIMILAR, SIMILAR, SIMILAR]  # worth 1 as a 1 and as a 3
    assert rating_of([alike], levels=[1, 2, 3], aimed=[2]).ratings.tolist() == [1]


def test_an_aim_decides_nothing_where_there_is_no_tie():
    found = rating_of([[WINS, EVEN, LOSES]], levels=[1, 2, 3], aimed=[3])
    assert (found.ratings.tolist(), found.n_tied) == ([2], 0)


def test_rounding_does_not_decide_a_tie():
    thirds = [[1, -1, -1], [-1, -1, -1]]  # 1: -1/3 + 1 + 1, 2: -1 + 1/3 + 1
    tenths = [[1] * 7 + [-1] * 3, [1] * 3 + [-1] * 7]  # -.4 + 1 + .7 and -.4 + .7 + 1
    assert rating_of([thirds], levels=[1, 2]).n_tied == 0
    assert rating_of([tenths], levels=[1, 2], aimed=[2]).ratings.tolist() == [2]


def test_anchors_without_an_answer_are_left_out_of_the_means():
    with_gaps = [[1, NAN, NAN], [1, -1, NAN], [-1, -1, -1]]
    assert rating_values([with_gaps])[0] == pytest.approx([-1 + 1 + 0.5, 0 + 1 + 1, -1 + 0.5 + 1])


def test_a_text_with_too_few_answers_about_a_rating_is_not_rated_and_counted():
    relations = [[[1, NAN, NAN], [-1, -1, -1]], [[1, 1, NAN], [-1, -1, -1]]]
    found = rating_of(relations, levels=[1, 2], n_anchors=[[3, 3], [3, 3]])
    assert np.isnan(found.ratings).tolist() == np.isnan(found.values).tolist() == [True, False]
    assert found.n_unrated == 1


def test_a_rating_of_whose_anchors_none_may_be_compared_leaves_a_text_unrated():
    found = rating_of([[[NAN, NAN], [1, 1]]], levels=[1, 2], n_anchors=[[0, 2]])
    assert (np.isnan(found.ratings[0]), found.n_unrated, found.n_tied) == (True, 1, 0)


def test_no_texts_have_no_ratings():
    found = rating_of(np.empty((0, 3, 2)), levels=[1, 2, 3])
    assert (found.ratings.tolist(), found.n_unrated) == ([], 0)


def test_every_rating_is_the_best_of_its_values():
    relations = np.array(list(itertools.product([-1, 0, 1], repeat=4))).reshape(-1, 2, 2)
    found = rating_of(relations, levels=[1, 2])
    assert found.values.tolist() == rating_values(relations).max(axis=1).tolist()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"relations": [[1, -1]]}, "shape"),
        ({"relations": [[[1]]]}, "two levels or more"),
        ({"relations": [[[2], [1]]]}, "1, 0 or -1"),
        ({"levels": [1, 2, 3]}, "one per column"),
        ({"levels": [2, 1]}, "rising"),
        ({"aimed": [1, 2]}, "one rating per text"),
        ({"n_anchors": [[1]]}, "one number per text and level"),
        ({"n_anchors": [[0, 1]]}, "none below"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, said):
    usual = {"relations": [[[1], [-1]]], "levels": [1, 2]}
    with pytest.raises(ValueError, match=said):
        rating_of(**{**usual, **arguments})
