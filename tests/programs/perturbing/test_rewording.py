import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Every, perturb
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.rewording import SAME
from judgesmith.signatures.perturbation import Skipped
from judgesmith.signatures.rated import RatedItem

TEXT = "The film isn't long. Kids often like it. He began late. Nobody left."


def changed(text, name, amount=None, seed=0):
    return perturb(RatedItem(response=text), PERTURBATIONS[name], amount=amount, seed=seed)


def test_a_paraphrase_says_the_same_wherever_the_rules_can():
    found = changed(TEXT, "paraphrase")
    assert found.text == (
        "The movie is not long. Children frequently like it. He started late. Nobody left."
    )
    assert changed("Nobody left.", "paraphrase") == Skipped(
        reason="fewer than 1 words or phrases that rules can say otherwise"
    )


def test_no_word_stands_for_itself():
    assert all(word != other.lower() for word, other in SAME.items())


def test_parts_of_words_are_left_alone():
    for text in ("filmed", "big-hearted", "untiled", "I'm's"):
        assert isinstance(changed(text, "paraphrase"), Skipped)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 3])
def test_exactly_k_sentences_are_said_again_right_after_themselves(k, seed):
    found = changed(TEXT, "rewriting/minor", k, seed)
    assert len(found.edits) == k
    ends = [end for _, end in Passage(TEXT).sentences]
    assert all(edit.start == edit.end and edit.start in ends for edit in found.edits)
    assert TEXT.split()[0] in found.text


def test_every_second_sentence_is_said_again():
    found = changed(TEXT, "rewriting/major")
    ends = [end for _, end in Passage(TEXT).sentences]
    assert [edit.start for edit in found.edits] == ends[::2]
    two = changed("One is it. Two is it.", "rewriting/major")
    assert len(two.edits) == 2
    assert isinstance(changed("One is it.", "rewriting/major"), Skipped)
    three = changed(TEXT, "rewriting/major", Every(step=2, at_least=3))
    assert len(three.edits) == 3


def test_a_name_keeps_its_capital_and_a_small_word_loses_it():
    made = changed("Rome is old.", "rewriting/minor").text
    assert ", Rome is old." in made
    assert ", the film" not in changed("The film is old.", "rewriting/minor").text
    assert ", the movie is old." in changed("The film is old.", "rewriting/minor").text


def test_other_scripts_are_not_said_again_by_rule():
    assert changed("桥梁很长。它很好。", "rewriting/minor") == Skipped(
        reason="fewer than 1 sentences in Latin letters"
    )
