import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Every, perturb
from judgesmith.programs.perturbing.grammar import WRONG_FORMS
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.perturbation import Skipped
from judgesmith.signatures.rated import RatedItem

TEXT = (
    "The bridge was opened by the mayor. She said that it is a gift. They have a train. "
    "People walked home and they were happy."
)


def changed(text, amount=None, seed=0, name="grammatical_errors"):
    way = PERTURBATIONS[name]
    return perturb(RatedItem(response=text), way, amount=amount, seed=seed)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 2, 7])
def test_exactly_k_faults_are_made(k, seed):
    found = changed(TEXT, k, seed)
    assert len(found.edits) == k


@pytest.mark.parametrize("seed", range(10))
def test_every_sentence_has_a_fault_and_there_are_as_many_as_asked_for(seed):
    found = changed(TEXT, Every(at_least=6), seed)
    assert len(found.edits) == 6
    for start, end in Passage(TEXT).sentences:
        assert any(start <= edit.start < end for edit in found.edits)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It is.", {"It are."}),
        ("It took the lead.", {"It takes the lead.", "It took lead."}),
        ("We walked.", {"Us walked.", "We walking."}),
        ("We tried.", {"Us tried.", "We trying."}),
    ],
)
def test_faults_are_of_form_where_a_form_is_known(text, wrong):
    assert {changed(text, 1, seed).text for seed in range(20)} == wrong


@pytest.mark.parametrize("seed", range(5))
def test_other_languages_have_words_change_places(seed):
    text = "La porta verde cade subito."
    found = changed(text, 1, seed)
    assert sorted(found.text.rstrip(".").split()) == sorted(text.rstrip(".").split())
    chinese = changed("桥梁很长。", 1, seed)
    assert sorted(chinese.text) == sorted("桥梁很长。")
    assert chinese.text.endswith("。")


def test_a_text_without_room_is_skipped():
    assert changed("Stop!", 1) == Skipped(reason="fewer than 1 places for faults of grammar")
    assert changed("It is.", 3) == Skipped(reason="fewer than 3 places for faults of grammar")


def test_no_wrong_form_is_the_form_itself():
    assert all(right != wrong for right, wrong in WRONG_FORMS.items())
    assert all(word == word.lower() for word in WRONG_FORMS)
