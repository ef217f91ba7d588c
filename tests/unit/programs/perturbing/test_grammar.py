import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Every, perturb
from judgesmith.programs.perturbing.grammar import WRONG_FORMS
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped

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
        ("It took the lead.", {"It taking the lead."}),
        ("He goes by a car.", {"Him goes by a car.", "He go by a car.", "He goes by car."}),
        ("Ann has opened.", {"Ann has opening."}),
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
    assert changed("Stop!", 1) == Skipped(reason="no place for a fault of grammar")
    assert changed("It is.", 3) == Skipped(reason="fewer than 3 places for faults of grammar")


def test_no_wrong_form_is_the_form_itself():
    assert all(right != wrong for right, wrong in WRONG_FORMS.items())
    assert all(word == word.lower() for word in WRONG_FORMS)


def faults(text, k=1, n_seeds=40):
    """Return what is changed in a text, into what, over many draws."""
    made = [changed(text, k, seed) for seed in range(n_seeds)]
    found = [edit for one in made if not isinstance(one, Skipped) for edit in one.edits]
    return {(text[edit.start : edit.end], edit.text) for edit in found}


@pytest.mark.parametrize(
    "text",
    [
        "Then Manchester United won.",
        "He saw Josep Maria Bartomeu there.",
        "See Reference section A there.",
        "Then Jared went.",
    ],
)
def test_names_are_left_as_they_are(text):
    names = {"United", "Josep Maria", "Maria Bartomeu", "A", "Jared"}
    assert not names & {was for was, _ in faults(text)}


def test_articles_go_only_where_english_needs_one():
    assert ("the ", "") not in faults("He went to deliver the food to the players in the future.")
    assert ("the ", "") in faults("It was the same.")
    assert ("a ", "") not in faults("There is a few of them.")


def test_another_tense_alone_is_no_error():
    assert ("lost", "loses") not in faults("Napoli lost to Roma 1-0.")
    assert ("left", "leaves") not in faults("Then she left us some meatloaf.")
    assert ("injured", "injuring") not in faults("He was injured by it.")


@pytest.mark.parametrize("word", ["is", "was", "has"])
def test_teams_may_be_one_or_many(word):
    assert word not in {was for was, _ in faults(f"Then Chelsea {word} here; the team {word}.")}


def test_a_country_in_small_letters_is_no_pronoun():
    assert "us" not in {was for was, _ in faults("They went to the us then.")}


def test_a_german_text_gets_no_english_forms():
    text = "Sie ist an der Tür und was sie film nennt, ist nicht so das Mitglied, also die Frau."
    made = {put for _, put in faults(text, 2)}
    assert made
    assert all(len(put.split()) == 2 for put in made)
