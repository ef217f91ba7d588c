import pytest

from judgesmith.programs.features.texts import Text, repeated_phrase, repetition_features
from judgesmith.programs.features.vector import (
    broken_pairs,
    same_people,
    style_features,
    surface_faults,
)


def test_clean_text_has_no_faults():
    assert surface_faults(Text('She said "yes" (twice). Then he left.')) == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It ended without", "unfinished"),
        ("He looked at the. She left.", "dangling"),
        ("He Paid. then she left.", "lower_start"),
        ('She said "yes.', "unbalanced"),
        ("The unk was here.", "placeholders"),
        ("A bad \ud800 character.", "placeholders"),
        ("He left, . She stayed.", "doubled_marks"),
        ("He went to is home.", "broken_pairs"),
    ],
)
def test_every_fault_is_found(text, fault):
    assert surface_faults(Text(text)) == {fault: 1}


@pytest.mark.parametrize(
    "text",
    [
        "The man who has it is late, and the one he met at the door is glad to go.",
        "An hour ago a university gave an honest answer to a useful question.",
        "The book she read, and the one he has, are on a shelf.",
        "There are two cats. Both are small.",
        "Er ist an dem Tag in Rom gewesen.",
    ],
)
def test_sound_sentences_have_no_broken_pairs(text):
    assert broken_pairs(Text(text)) == 0


def test_people_of_the_source_are_the_same_in_a_new_case():
    assert same_people(["she", "lost", "her", "hat"], ["i", "met", "her"]) == 1.0
    assert same_people(["he", "lost", "my", "hat"], ["i", "left"]) == 0.5


def test_repetition_is_seen_within_and_across_sentences():
    clean = repetition_features(Text("The cat sat down. A dog ran past."))
    again = repetition_features(Text("The cat sat down. The cat sat down."))
    stutter = repetition_features(Text("The cat cat sat on it on it."))
    assert clean["sentence_again"] == clean["stutter"] == clean["repeated_trigrams"] == 0.0
    assert again["sentence_again"] == 1.0
    assert again["repeated_trigrams"] > 0.3
    assert stutter["stutter"] == pytest.approx(1.0986123)  # log(1 + 2)
    assert repeated_phrase(Text("No phrase returns here.")) == ""


def test_a_harder_wording_loses_ease():
    plain, hard = Text("The dog ran home."), Text("Canine individuals perambulated residentially.")
    assert style_features(hard, plain)["ease_gain"] < 0 < style_features(plain, hard)["ease_gain"]
