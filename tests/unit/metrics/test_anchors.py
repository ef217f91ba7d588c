"""Anchors: their values by hand, and who anchors which rating."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.anchors import (
    Anchors,
    anchor_values,
    choose_anchors,
    without_anchor,
)

LIKERT = [1, 2, 3, 4, 5]
NAN = float("nan")

# Worked by hand, one column per rating from 1 to 5:
# (people, model, values as |h - r| on average + |x - r| on average + the distance of the means)
BY_HAND = [
    ([3, 3, 3], [3, 3], [4, 2, 0, 2, 4]),
    # 2 + 3 + 1, 1 + 2 + 1, 0 + 1 + 1, 1 + 0 + 1, 2 + 1 + 1
    ([3], [4, 4], [6, 4, 2, 2, 4]),
    # people 1, 2: .5 .5 1.5 2.5 3.5; model 1, 1, 4: 1 4/3 5/3 2 3; means 1.5 and 2
    ([1, 2], [1, 1, 4], [2, 7 / 3, 11 / 3, 5, 7]),
    # a mean of three raters is one value: 10/3; |10/3 - 4| = 2/3; model 4: 0; means 2/3 apart
    ([10 / 3], [4], [7 / 3 + 3 + 2 / 3, 4 / 3 + 2 + 2 / 3, 1 / 3 + 1 + 2 / 3, 4 / 3, 10 / 3]),
]


@pytest.mark.parametrize(("human", "model", "expected"), BY_HAND)
def test_values_are_those_worked_by_hand(human, model, expected):
    assert anchor_values([human], [model], LIKERT)[0] == pytest.approx(expected)


ratings = st.lists(st.sampled_from(LIKERT), min_size=1, max_size=4)


@given(st.lists(st.tuples(ratings, ratings), min_size=1, max_size=5))
def test_values_are_the_formula_term_by_term(texts):
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


def test_texts_of_equal_value_go_by_id_whatever_rounding_makes_of_them():
    # 0 + 1/3 + 1/3 and 1/3 + 1/3 + 0, which differ in the last binary digit.
    found = chosen(
        [[1, 1, 1], [1, 1, 2], [2]], [[1, 1, 2], [1, 1, 2], [2]], ids=["b", "a", "c"], levels=[1, 2]
    )
    assert texts_of(found) == [[1, 0], [2]]
    assert found.of[0][0].value == found.of[0][1].value


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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"levels": [2, 1]}, "rising"),
        ({"levels": [1]}, "two or more"),
        ({"per_rating": 0}, "1 anchor or more"),
        ({"ids": ["a"]}, "a row per text"),
        ({"sources": ["a"]}, "a row per text"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change, said):
    with pytest.raises(ValueError, match=said):
        chosen([[1], [2]], [[1], [2]], **{"levels": [1, 2], **change})


def test_people_and_model_rate_the_same_texts():
    with pytest.raises(ValueError, match="2 and 1 texts"):
        anchor_values([[1], [2]], [[1]], [1, 2])


def test_anchors_say_all_of_themselves_as_plain_values():
    found = chosen(EXACT, EXACT)
    assert isinstance(found, Anchors)
    assert found.to_dict()["levels"] == [1, 2, 3, 4, 5]
