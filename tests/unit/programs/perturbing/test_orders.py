"""What a model is told holds what is to be done and how often, and is read back as that."""

import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Every, amount_of
from judgesmith.programs.perturbing.orders import (
    GENERAL_STEPS,
    can_be_ordered,
    no_use,
    order_of,
    read_order,
)
from judgesmith.signatures.family_configs import check_steps
from judgesmith.signatures.fences import imitates_layout

BY_MODEL = [one for one in PERTURBATIONS.values() if one.method == "model"]


def test_every_kind_by_model_has_an_order():
    assert all(map(can_be_ordered, BY_MODEL))
    with pytest.raises(ValueError, match="no language model is told to do repetition; kinds with"):
        order_of(PERTURBATIONS["repetition"], 1)


@pytest.mark.parametrize("way", BY_MODEL, ids=str)
@pytest.mark.parametrize(
    "amount", [1, 2, 17, Every(), Every(at_least=4), Every(step=2, at_least=2)]
)
def test_orders_are_one_line_and_say_how_much(way, amount):
    order = order_of(way, amount)
    assert read_order(order) == (way.kind, amount)
    assert "\n" not in order
    assert order.endswith(".")
    assert not imitates_layout(order)


@pytest.mark.parametrize("text", ["", "Sing.", "repetition (1): Sing.", "rewriting (x): Sing."])
def test_what_is_no_order_is_read_as_none(text):
    assert read_order(text) is None


def test_general_steps_are_steps():
    check_steps(GENERAL_STEPS, of="any change")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("fictional_entities/major", "Then Ann left.", "fewer than 2 names and numbers"),
        ("fictional_entities/major", "Then Ann Mary left.", "fewer than 2 names and numbers"),
        ("fictional_entities/minor", "他去了罗马。", "no name or number"),
        ("fictional_entities/minor", "他2019年去了罗马。", ""),
        ("grammatical_errors/minor", "Ann left.", "fewer than 6 words"),
        ("rewriting/major", "Ann left.", "fewer than 2 sentences"),
        ("rewriting/minor", "Ann left.", ""),
        ("paraphrase", "ANN LEFT ROME.", "a text whose names cannot be told by capitals"),
        ("paraphrase", "👩‍👩‍👧 !", "no word"),
        ("paraphrase", "x" * 20_001, "longer than 20000 characters"),
    ],
)
def test_texts_that_cannot_be_changed_are_told_before_anybody_is_asked(name, text, reason):
    way = PERTURBATIONS[name]
    much = 2 if name == "grammatical_errors/minor" else None
    assert no_use(text, way, much or amount_of(way)) == reason
