import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, Every, perturb
from judgesmith.programs.perturbing.damage import SAME
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped

TEXT = "The film isn't long. Kids often like it. He began late. Nobody left."


def changed(text, name, amount=None, seed=0):
    return perturb(RatedItem(response=text), PERTURBATIONS[name], amount=amount, seed=seed)


def test_a_paraphrase_says_the_same_wherever_the_rules_can():
    found = changed(TEXT, "paraphrase")
    assert found.text == (
        "The film is not long. Children frequently like it. He started late. Nobody left."
    )
    assert changed("Nobody left.", "paraphrase") == Skipped(
        reason="no word or phrase that rules can say otherwise"
    )


def test_no_word_stands_for_itself():
    assert all(word != other.lower() for word, other in SAME.items())


def test_parts_of_words_are_left_alone():
    for text in ("movie-like", "one-nearly", "maybes", "I'm's"):
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


@pytest.mark.parametrize("text", ["Rome is old.", "Fat toddlers lead.", "The film is old."])
def test_a_capital_stands_after_a_colon(text):
    made = changed(text, "rewriting/minor").text
    assert made.startswith(text)
    assert made.endswith(f": {text}")


@pytest.mark.parametrize(
    "text",
    [
        "It took five takes to film the video.",
        "I had more than enough stock.",
        "They won Sunday's big match.",
        "He is also said to be in talks.",
        "He supported father John, whose mother died.",
        "They saw The Big Movie, and Nearly There.",
        "That was very nearly enough.",
        "Isn't it here? Don't you go? It occurred to him.",
        "He went more often than not.",
        "It is no more than 5 km.",
        "She started the car as quickly as she could.",
    ],
)
def test_what_depends_on_word_class_idiom_or_name_stays(text):
    assert isinstance(changed(text, "paraphrase"), Skipped)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("More than 50 people came.", "Over 50 people came."),
        ("Although it's late, I'm fine.", "Though it's late, I am fine."),
        ("He will be there.", "He'll be there."),
        ("Everyone began to run.", "Everybody started to run."),
    ],
)
def test_what_depends_on_nothing_is_said_otherwise(text, same):
    assert changed(text, "paraphrase").text == same


@pytest.mark.parametrize("name", ["paraphrase", "rewriting/minor", "negation", "empty_sentences"])
def test_a_german_text_is_not_said_in_english(name):
    text = "Der Film ist nicht alt, und das Haus war am See. Sie will ihn nicht sehen."
    assert changed(text, name) == Skipped(reason="not in English, whose words alone the rules know")


def test_other_scripts_are_not_said_again_by_rule():
    assert changed("桥梁很长。它很好。", "rewriting/minor") == Skipped(
        reason="not in English, whose words alone the rules know"
    )
