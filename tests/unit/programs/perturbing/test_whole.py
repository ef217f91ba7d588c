from random import Random

import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Donors, perturb
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped


def story(n, ending, **fields):
    return RatedItem(source_id=f"s{n}", source=f"Story {n}.", response=ending, **fields)


STORIES = [story(n, f"The end of {n}.") for n in range(5)]


@pytest.mark.parametrize("name", ["random_ending", "random_answer"])
@pytest.mark.parametrize("seed", range(10))
def test_the_text_of_another_source_takes_its_place(name, seed):
    found = perturb(STORIES[2], PERTURBATIONS[name], donors=Donors(STORIES), seed=seed)
    assert found.text in {one.response for one in STORIES} - {STORIES[2].response}
    assert [(edit.start, edit.end) for edit in found.edits] == [(0, len(STORIES[2].response))]


def test_a_row_may_name_its_wrong_ending():
    way = PERTURBATIONS["wrong_ending"]
    given = story(1, "Right.", extra={"wrong_ending": "Wrong."})
    assert perturb(given, way, seed=0).text == "Wrong."
    same = story(1, "Right.", extra={"wrong_ending": " Right. "})
    assert perturb(same, way, seed=0) == Skipped(reason="the wrong ending is the right one")
    assert isinstance(perturb(story(1, "Right."), way, seed=0), Skipped)
    odd = story(1, "Right.", extra={"wrong_ending": ["Wrong."]})
    assert isinstance(perturb(odd, way, seed=0), Skipped)


def test_donors_are_of_another_source_by_id_and_by_text_and_differ():
    item = RatedItem(source_id="1", source="a", response="x y")
    same_id = RatedItem(source_id="1", source="b", response="no")
    same_text = RatedItem(source_id="2", source=" a ", response="no")
    same_words = RatedItem(source_id="3", source="c", response="x  y")
    empty = RatedItem(source_id="4", source="d", response=" ")
    fits = RatedItem(source_id="5", source="e", response="yes")
    several = [same_id, same_text, same_words, empty] * 50
    donors = Donors([*several, fits])
    assert len(donors) == 4
    assert {donors.other_than(item, Random(seed)) for seed in range(20)} == {"yes"}
    assert Donors(several).other_than(item, Random(0)) is None
