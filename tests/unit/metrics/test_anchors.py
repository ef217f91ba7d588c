"""Inside metrics: anchors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.metrics.anchors import (
    anchor_values,
    balanced,
    choose_anchors,
    rating_of,
    rating_values,
    without_anchor,
)

# -- Ratings by comparisons with anchors: worked by hand, at both ends of the scale a ------------


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


@for_each(("relations", "values", "rating"), BY_HAND)
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


@for_each(("n_levels", "gap"), [(3, 0), (3, 1), (5, 0), (5, 2), (5, 3)])
def test_a_text_exactly_between_two_ratings_is_worth_the_same_under_both(n_levels, gap):
    values = rating_values([[WINS if r <= gap else LOSES for r in range(n_levels)]])[0]
    assert values[gap] == values[gap + 1] == values.max() == 1


@for_each(("aimed", "rating"), [(NAN, 1), (1, 1), (2, 2), (5, 2), (0, 1)])
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


@for_each(
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


# -- Anchors: their values by hand, and who anchors which rating ---------------------------------


LIKERT = [1, 2, 3, 4, 5]
# Worked by hand, one column per rating from 1 to 5:
# (people, model, values as |h - r| on average + |x - r| on average + the distance of the means)


ratings = st.lists(st.sampled_from(LIKERT), min_size=1, max_size=4)


@given(st.lists(st.tuples(ratings, ratings), min_size=1, max_size=5))
def test_values_are_the_formula_term_by_term_of_anchors(texts):
    found = anchor_values([h for h, _ in texts], [x for _, x in texts], LIKERT)
    for row, (h, x) in zip(found, texts, strict=True):
        apart = abs(sum(h) / len(h) - sum(x) / len(x))
        expected = [
            sum(abs(one - r) for one in h) / len(h)
            + sum(abs(one - r) for one in x) / len(x)
            + apart
            for r in LIKERT
        ]
        assert row == pytest.approx(expected)
        assert (row >= 0).all()


def test_unreadable_samples_are_left_out_and_under_half_readable_is_no_rating():
    model = [[4, None, 4, NAN], [4, None, None], [None], []]
    found = anchor_values([[4]] * 4, model, [3, 4])
    assert found[0].tolist() == [2, 0]
    assert np.isnan(found[1:]).all()


def test_a_text_that_nobody_rated_anchors_nothing():
    assert np.isnan(anchor_values([[], [None]], [[4], [4]], [3, 4])).all()


def chosen(human, model, *, sources=None, ids=None, per_rating=5, levels=LIKERT):
    n = len(human)
    return choose_anchors(
        anchor_values(human, model, levels),
        levels=levels,
        human=human,
        sources=list(range(n)) if sources is None else sources,
        ids=[f"{place:03}" for place in range(n)] if ids is None else ids,
        per_rating=per_rating,
    )


def texts_of(anchors):
    return [[one.text for one in level] for level in anchors.of]


EXACT = [[1], [2], [3], [4], [5]]


def test_exact_texts_anchor_their_own_rating():
    found = chosen(EXACT, EXACT)
    assert texts_of(found) == [[0], [1], [2], [3], [4]]
    assert [one.value for one in found.all] == [0] * 5
    assert (found.n_far, found.n_missing, found.n_without) == (0, 20, 0)


def test_a_text_anchors_one_rating_only_that_of_its_smallest_value():
    # Between 1 and 2, and nearer to 2; no other rating may have it.
    found = chosen([[1], [1, 2, 2], [2]], [[1], [2], [2]], levels=[1, 2])
    assert texts_of(found) == [[0], [2, 1]]


def test_between_ratings_that_fit_alike_people_decide_and_then_the_lower():
    # People say 2 and the model 4: the values of 2, 3 and 4 are 4 each. People say 2.5: 2 and 3.
    disputed = chosen([*EXACT, [2]], [*EXACT, [4]])
    assert texts_of(disputed)[1] == [1, 5]
    between = chosen([*EXACT, [2, 3]], [*EXACT, [2, 3]])
    assert texts_of(between)[1] == [1, 5]


def test_the_best_come_first_and_ties_go_by_id():
    human = [[1], [2], [1], [1], [1, 1, 2]]
    found = chosen(human, human, ids=["d", "x", "b", "c", "a"], levels=[1, 2], per_rating=4)
    assert texts_of(found)[0] == [2, 3, 0, 4]


def test_a_source_anchors_a_rating_twice_only_where_no_other_is_left():
    human = [[1], [1], [1], [1, 1, 2], [2]]
    sources = ["s", "s", "s", "t", "s"]
    assert texts_of(chosen(human, human, sources=sources, per_rating=2, levels=[1, 2]))[0] == [0, 3]
    assert texts_of(chosen(human, human, sources=sources, levels=[1, 2]))[0] == [0, 3, 1, 2]


def test_values_over_one_are_counted_and_so_is_what_is_missing():
    found = chosen([[1], [2], [2], []], [[1], [2], [1], [2]], levels=[1, 2], per_rating=2)
    assert [one.value for one in found.of[1]] == [0, 2]
    assert (found.n_far, found.n_missing, found.n_without, found.n_texts) == (1, 1, 1, 4)
    said = found.to_dict()
    assert (said["n_far"], said["n_missing"], said["anchors"][2]["value"]) == (1, 1, 2)


def test_a_rating_without_any_anchor_is_named():
    assert chosen([[1], [3], [5]], [[1], [3], [5]]).empty == (2, 4)
    assert chosen([[1], [2]], [[1], [None]], levels=[1, 2]).empty == (2,)
    assert chosen([[1], [2]], [[1], [2]], levels=[1, 2]).empty == ()


points = st.lists(st.integers(10, 50).map(lambda n: n / 10), min_size=1, max_size=4)


def own_rating(human, model):
    """Return which of two or more ratings a text anchors, from those that it leaves without."""
    found = choose_anchors(
        anchor_values([human], [model], LIKERT),
        levels=LIKERT,
        human=[human],
        sources=["s"],
        ids=["d"],
    )
    (own,) = set(LIKERT) - set(found.empty)
    return own


@given(points, ratings)
def test_a_text_anchors_no_rating_that_people_put_out_of_its_reach(human, model):
    assert own_rating(human, model) not in without_anchor([human], LIKERT)


@given(points)
def test_a_text_anchors_every_rating_in_its_reach_if_the_model_says_so(human):
    reach = set(LIKERT) - set(without_anchor([human], LIKERT))
    assert reach == {one for one in LIKERT if own_rating(human, [one]) == one}


def test_texts_share_what_they_reach_and_one_that_nobody_rated_reaches_nothing():
    assert without_anchor([[1], [2, 4], [5], []], LIKERT) == ()
    assert without_anchor([[], [3.5]], LIKERT) == (1, 2, 5)
    assert without_anchor([], [1, 2]) == (1, 2)
    assert without_anchor([[0], [9]], LIKERT) == (2, 3, 4)


def test_the_choice_does_not_hang_on_the_order_of_the_texts():
    rng = np.random.default_rng(0)
    human = [[n % 5 + 1] for n in range(60)]
    model = [rng.integers(1, 6, 10).tolist() for _ in range(60)]
    order = rng.permutation(60).tolist()
    ids, sources = [f"t{n}" for n in range(60)], [n % 20 for n in range(60)]

    def named(places):
        found = chosen(
            [human[p] for p in places],
            [model[p] for p in places],
            sources=[sources[p] for p in places],
            ids=[ids[p] for p in places],
        )
        return [[ids[places[one.text]] for one in level] for level in found.of]

    assert named(range(60)) == named(order)


@for_each(
    ("change", "said"),
    [
        ({"levels": [2, 1]}, "rising"),
        ({"levels": [1]}, "two or more"),
        ({"per_rating": 0}, "1 anchor or more"),
        ({"ids": ["a"]}, "a row per text"),
        ({"sources": ["a"]}, "a row per text"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_of_anchors(change, said):
    with pytest.raises(ValueError, match=said):
        chosen([[1], [2]], [[1], [2]], **{"levels": [1, 2], **change})


def test_people_and_model_rate_the_same_texts():
    with pytest.raises(ValueError, match="2 and 1 texts"):
        anchor_values([[1], [2]], [[1]], [1, 2])


# -- As many texts of every rating as there can be: which are kept, and what is missi ------------


def balance(rows, **more):
    """Return the balance of rows of (source, rating, value)."""
    sources, ratings, values = zip(*rows, strict=True) if rows else ((), (), ())
    return balanced(ratings, values, **{"sources": sources, "levels": [1, 2, 3], **more})


def test_the_best_of_each_source_and_rating_are_kept_in_their_order():
    rows = [("a", 1, 0.2), ("a", 1, 1.9), ("b", 1, 0.1), ("a", 1, 1.5), ("a", 2, -0.5)]
    assert balance(rows, per_rating=2).kept == (1, 2, 3, 4)
    assert balance(rows, per_rating=1).kept == (1, 2, 4)


def test_earlier_texts_win_ties_also_but_for_rounding():
    rows = [("a", 1, 0.3), ("a", 1, 0.1 + 0.2), ("a", 1, 0.3)]
    assert balance(rows, per_rating=2).kept == (0, 1)


def test_gaps_are_told_by_source_and_rating_and_in_all():
    rows = [("a", 1, 1), ("a", 1, 1), ("a", 1, 1), ("b", 3, 1), ("a", 3, 1)]
    found = balance(rows, per_rating=2)
    assert found.gaps == (("a", 2, 2), ("a", 3, 1), ("b", 1, 2), ("b", 2, 2), ("b", 3, 1))
    assert found.n_rated == (3, 0, 2)
    assert found.n_kept == (2, 0, 2)
    assert found.n_missing == (2, 4, 2)
    assert found.n_left_out == (1, 0, 0)
    assert sum(n for *_, n in found.gaps) == sum(found.n_missing)


def test_texts_without_a_rating_are_counted_and_not_kept():
    found = balance([("a", NAN, NAN), ("a", 1, 2)])
    assert (found.kept, found.n_unrated, found.n_sources) == ((1,), 1, 1)


def test_sources_of_which_nothing_was_made_are_gaps_as_well():
    found = balance([("b", 1, 2)], per_rating=1, all_sources=["a", "b"])
    assert found.n_sources == 2
    assert found.gaps[:3] == (("a", 1, 1), ("a", 2, 1), ("a", 3, 1))


def test_a_report_counts_the_sources_that_lack_texts():
    found = balance([("a", 1, 1), ("b", 1, 1), ("b", 2, 1)], per_rating=1, levels=[1, 2])
    assert found.to_dict() == {
        "per_rating": 1,
        "n_sources": 2,
        "n_unrated": 0,
        "ratings": [
            {"rating": 1, "rated": 2, "kept": 2, "missing": 0, "sources_lacking": 0},
            {"rating": 2, "rated": 1, "kept": 1, "missing": 1, "sources_lacking": 1},
        ],
    }


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([("a", 4, 1)], {}, "none of"),
        ([("a", 1, 1)], {"per_rating": 0}, "1 text or more"),
        ([("a", 1, 1)], {"sources": ["a", "b"]}, "one rating, value and source"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_of_balance(rows, more, said):
    with pytest.raises(ValueError, match=said):
        balance(rows, **more)
