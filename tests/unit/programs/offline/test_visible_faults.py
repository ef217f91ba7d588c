"""Faults that show one at a time: sentences about something else, words one letter off."""

import hostile
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.offline.judging import misspelt_words, one_letter_off, straying_sentences

SOURCE = (
    "The bridge over the canal in Ghent opened on Monday after nine years of work. Two thousand "
    "people crossed it on foot, and the mayor thanked the engineers who had planned it."
)
GOOD = "The bridge in Ghent opened after nine years. The mayor thanked the engineers."
STRAY = "Penguins rarely swim in warmer oceans."


def test_a_sentence_about_something_else_strays():
    assert straying_sentences(SOURCE, None, GOOD) == 0
    assert straying_sentences(SOURCE, None, f"{GOOD} {STRAY}") == 1
    assert straying_sentences(SOURCE, None, f"{STRAY} {GOOD} {STRAY}") == 2


def test_the_context_is_material_as_well():
    assert straying_sentences(SOURCE, STRAY, f"{GOOD} {STRAY}") == 0


def test_texts_that_are_not_made_of_the_material_have_no_strays():
    assert straying_sentences(SOURCE, None, STRAY) == 0
    assert straying_sentences("", None, f"{GOOD} {STRAY}") == 0
    assert straying_sentences("Die Brücke wurde am Montag eröffnet.", None, GOOD) == 0


def test_a_few_words_are_about_nothing():
    assert straying_sentences(SOURCE, None, f"{GOOD} Well, penguins!") == 0


def test_words_one_letter_off_a_word_of_the_material_are_misspelt():
    assert misspelt_words(SOURCE, None, GOOD) == 0
    assert misspelt_words(SOURCE, None, "The brdige in Ghent opned; poeple crosssed it.") == 4


def test_every_misspelt_word_counts_once_and_names_and_bent_words_not_at_all():
    assert misspelt_words(SOURCE, None, "The brigde, that brigde, and bridges.") == 1
    assert misspelt_words(SOURCE, None, "Ghant and Manday are opening.") == 0
    assert misspelt_words(SOURCE, "A brigde is a misspelling.", "The brigde.") == 0


words = st.text("abcd", min_size=2, max_size=6)


@given(words, words)
def test_one_letter_off_is_what_one_edit_reaches_with_the_ending_kept(word, other):
    places = range(len(word) + 1)
    reached = {word[:i] + word[i + 1 :] for i in places}
    reached |= {word[:i] + letter + word[i:] for i in places for letter in "abcd"}
    reached |= {word[:i] + letter + word[i + 1 :] for i in places[:-1] for letter in "abcd"}
    reached |= {word[:i] + word[i : i + 2][::-1] + word[i + 2 :] for i in places[:-1]}
    expected = other in reached - {word} and word[-1] == other[-1]
    assert one_letter_off(word, other) == one_letter_off(other, word) == expected


@pytest.mark.parametrize("name", ["all of them"])
def test_any_text_can_be_looked_at(name):
    text = hostile.TEXTS[name]
    for source, context, response in ((text, None, text), ("", text, GOOD), (SOURCE, None, text)):
        assert straying_sentences(source, context, response) >= 0
        assert misspelt_words(source, context, response) >= 0
    assert straying_sentences("", None, "") == misspelt_words("", None, "") == 0
