"""A rated item is known by its texts, whatever ids it came with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures import Demonstration, RatedItem, Scale
from judgesmith.signatures.items import text_key

anything = st.text(st.characters(), max_size=20)  # lone surrogates included
texts = st.tuples(anything, st.none() | anything, anything)


@given(texts, texts)
def test_keys_are_equal_for_equal_texts_alone(one, other):
    assert (text_key(*one) == text_key(*other)) == (joined(one) == joined(other))


def joined(several):
    """Return texts with the two halves of a character made one."""
    return [
        text and text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        for text in several
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b", "c"), ("a", None, "bc")),
        (("ab", None, "c"), ("a", None, "bc")),
        (("a", "null", "b"), ("a", None, "b")),
        (("a", "", "b"), ("a", None, "b")),
        (("é", None, ""), ("e\u0301", None, "")),
        (("\ud800", None, ""), ("\\ud800", None, "")),
    ],
)
def test_texts_that_look_alike_have_keys_of_their_own(one, other):
    assert text_key(*one) != text_key(*other)


def test_two_halves_of_a_character_are_that_character():
    assert text_key("\ud83d\ude00", None, "") == text_key("😀", None, "")


def test_ids_and_ratings_make_no_difference():
    plain = RatedItem(source="s", response="r")
    rated = RatedItem(
        source_id="1", system_id="m", source="s", response="r", human={"overall": [5]}
    )
    assert plain.key == rated.key
    assert plain.key == Demonstration(inputs={"source": "s", "response": "r"}, outputs={}).key


def test_a_changed_copy_has_the_key_of_its_own_text():
    item = RatedItem(source="s", response="r")
    before = item.key
    assert item.model_copy(update={"response": "other"}).key == text_key("s", None, "other")
    assert item.key == before


def test_an_item_cannot_be_changed_and_takes_no_unknown_field():
    item = RatedItem(source="s", response="r")
    with pytest.raises(ValueError, match="frozen"):
        item.response = "other"
    with pytest.raises(ValueError, match="Extra inputs"):
        RatedItem(source="s", response="r", score=5)


def test_scales_are_taken_in_their_short_forms():
    item = RatedItem(response="r", scale={"overall": [1, 5], "fluency": "0..1"})
    assert item.scale == {"overall": Scale(low=1, high=5), "fluency": Scale(low=0, high=1)}
