from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures.space import Choice, Space


def choice(name, *ids, **only_if):
    return Choice(name=name, options=[{"id": one} for one in ids], only_if=only_if)


NESTED = Space(
    choices=(
        choice("a", "1", "2", "3"),
        choice("b", "x", "y", a=("1", "2")),
        choice("c", "p", "q", b=("y",)),
        choice("d", "s", "t"),
    )
)


@st.composite
def spaces(draw):
    made = []
    for n in range(draw(st.integers(1, 5))):
        only_if = {}
        if made and draw(st.booleans()):
            on = draw(st.sampled_from(made))
            only_if = {on.name: tuple(draw(st.sets(st.sampled_from(on.ids), min_size=1)))}
        ids = [f"o{k}" for k in range(draw(st.integers(1, 3)))]
        made.append(choice(f"c{n}", *ids, **only_if))
    return Space(choices=made)


@pytest.mark.no_cover
@given(spaces())
def test_size_counts_the_different_complete_forms_of_all_combinations(space):
    names = space.names
    every = product(*(one.ids for one in space.choices))
    forms = {tuple(space.complete(dict(zip(names, ids, strict=True))).items()) for ids in every}
    assert space.size == len(forms)
    assert {tuple(one.items()) for one in space.configurations()} == forms


@pytest.mark.no_cover
@given(spaces())
def test_the_first_configuration_is_the_default_and_complete_forms_stay_as_they_are(space):
    configurations = list(space.configurations())
    assert configurations[0] == space.complete({})
    assert all(space.complete(one) == one for one in configurations)


def test_only_choices_that_arise_are_asked_about():
    asked = []

    def last(one):
        asked.append(one.name)
        return one.ids[-1]

    assert NESTED.proposed(last) == {"a": "3", "d": "t"}
    assert asked == ["a", "d"]


def test_options_set_parts_and_later_choices_win():
    space = Space(
        choices=[
            {"name": "a", "options": [{"id": "1", "sets": {"samples": 1, "explain": "none"}}]},
            {"name": "b", "options": [{"id": "1"}, {"id": "2", "sets": {"samples": 2}}]},
        ]
    )
    assert space.sets({}) == {"samples": 1, "explain": "none"}
    assert space.sets({"b": "2"}) == {"samples": 2, "explain": "none"}


def test_a_choice_is_replaced_in_its_place_and_others_are_added_at_the_end():
    more = NESTED.extended(choice("b", "z", "y", a=("1",)), choice("e", "0"))
    assert more.names == ("a", "b", "c", "d", "e")
    assert more.choices[1].ids == ("z", "y")
    with pytest.raises(ValueError, match="c arises only if b is y"):
        NESTED.extended(choice("b", "z"))


def test_choices_that_are_left_out_stay_at_their_defaults_for_those_that_depend_on_them():
    assert NESTED.without("a").names == ("b", "c", "d")
    assert NESTED.without("b").names == ("a", "d")  # c arises under y alone, which is no default
    assert NESTED.without("b", "c").names == ("a", "d")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ((choice("a", "1"), choice("a", "1")), "the choice a stands twice"),
        ((choice("a", "1", b=("1",)),), "no such choice"),
        ((choice("a", "1"), choice("b", "1", a=("2",))), "no such choice"),
    ],
)
def test_a_space_that_cannot_be_decided_in_order_is_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        Space(choices=choices)


@pytest.mark.parametrize("ids", [(), ("1", "1")])
def test_a_choice_needs_options_each_once(ids):
    with pytest.raises(ValueError, match="a choice needs options without"):
        choice("a", *ids)


def test_unknown_choices_and_options_are_refused_by_name():
    with pytest.raises(ValueError, match="no choice z; there are a, b, c, d"):
        NESTED.complete({"z": "1"})
    with pytest.raises(ValueError, match="a is one of 1, 2, 3; got '9'"):
        NESTED.complete({"a": "9"})


def test_a_space_comes_back_from_plain_data():
    assert Space.model_validate_json(NESTED.model_dump_json()) == NESTED
