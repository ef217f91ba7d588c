"""The sides of criteria that rules know, and the rules that break them."""

from __future__ import annotations

import pytest

from judgesmith.programs.features.qualities import FAMILIES, GENERAL
from judgesmith.programs.perturbing.error_kinds import RULES
from judgesmith.programs.perturbing.error_rules import (
    SUB_ASPECTS,
    known_sub_aspects,
    rule_kinds,
)
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.rubric import folded

SIDES = [side for sides in SUB_ASPECTS.values() for side in sides]


def test_every_family_of_criteria_has_two_to_four_sides():
    assert set(SUB_ASPECTS) == {family.name for family in (*FAMILIES, GENERAL)}
    assert {len(sides) for sides in SUB_ASPECTS.values()} <= {2, 3, 4}


def test_sides_of_one_criterion_are_told_apart_by_name():
    for sides in SUB_ASPECTS.values():
        assert len({side.name for side in sides}) == len(sides)


def test_one_name_has_one_meaning_and_is_written_as_it_is_looked_up():
    assert len({side.name for side in SIDES}) == len(set(SIDES))
    assert all(folded(side.name) == side.name for side in SIDES)


def test_every_side_can_be_broken_by_a_rule():
    assert all(side.kinds and set(side.kinds) <= set(RULES) for side in SIDES)


@pytest.mark.parametrize("criterion", ["fluency", "coherence", "relevance", "consistency", "x"])
def test_what_the_table_names_has_the_rules_of_the_table(criterion):
    for side in known_sub_aspects(criterion):
        assert side.criterion == criterion
        assert rule_kinds(side) in {one.kinds for one in SIDES if one.name == side.name}


def test_a_name_is_found_however_it_is_written():
    assert rule_kinds(SubAspect(criterion="c", name="Order_of  Sentences"))[1] == "reordering"


@pytest.mark.parametrize(
    ("name", "definition", "kinds"),
    [
        ("correct spelling", "", {"character_typos"}),
        ("Entity accuracy", "Names of people are right.", {"fictional_entities"}),
        ("redundancy", "", {"repetition"}),
        ("transitions", "Sentences are in a logical order.", {"reordering"}),
        ("coverage of key events", "", {"key_sentence_omission"}),
    ],
)
def test_a_side_that_others_named_is_matched_by_its_words(name, definition, kinds):
    side = SubAspect(criterion="quality", name=name, definition=definition)
    assert set(rule_kinds(side)) == kinds


@pytest.mark.parametrize("name", ["\u202e!", "🦆", "x" * 100_000, "质量"])
def test_a_side_that_says_nothing_has_all_rules_of_its_criterion(name):
    found = rule_kinds(SubAspect(criterion="fluency", name=name))
    assert set(found) == {kind for side in SUB_ASPECTS["fluency"] for kind in side.kinds}
