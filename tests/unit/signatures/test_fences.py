"""A fence is closed by its own tag alone, and no text can contain that."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures import fences
from judgesmith.signatures.fences import fence_tag, fenced, unix_lines

pytestmark = pytest.mark.no_cover

anything = st.text(st.characters(), max_size=30)
several = st.lists(st.none() | anything, max_size=4)


@given(several)
def test_the_tag_is_twelve_hex_digits_and_stands_in_no_text(texts):
    tag = fence_tag(texts)
    assert re.fullmatch("[0-9a-f]{12}", tag)
    assert not any(tag in text for text in texts if text)


@given(several)
def test_the_same_texts_give_the_same_tag(texts):
    assert fence_tag(texts) == fence_tag(list(texts))


@given(anything, anything)
def test_another_first_text_gives_another_tag(one, other):
    if one.encode("utf-16", "surrogatepass") != other.encode("utf-16", "surrogatepass"):
        assert fence_tag([one, "the same"]) != fence_tag([other, "the same"])


def test_later_texts_make_no_difference_unless_they_hold_the_tag():
    tag = fence_tag(["a source"])
    assert fence_tag(["a source", "a response"]) == fence_tag([None, "a source", ""]) == tag
    held = [fence_tag(["a source", f"{more} {tag.upper()}"]) for more in ("one", "other")]
    assert len({tag, *held}) == 3


def test_where_one_text_ends_makes_a_difference_to_a_tag_of_all():
    tag = fence_tag(["ab"])
    assert fence_tag(["ab", "c", tag]) != fence_tag(["ab", f"c{tag}", ""])


@given(st.text("0123456789abcdefABCDEF \u200b０ａе", max_size=300))
def test_a_text_that_holds_guessed_tags_gets_another_one(text):
    """With tags of two digits, a text can hold nearly all of them; one of those left is found."""
    readings = list(fences._digits_of(text))
    left = {f"{n:02x}" for n in range(256) if not any(f"{n:02x}" in one for one in readings)}
    whole = fences.TAG_DIGITS
    fences.TAG_DIGITS = 2
    try:
        if left:
            assert fence_tag([text]) in left
    finally:
        fences.TAG_DIGITS = whole


def test_a_text_that_holds_its_own_first_tag_gets_a_second():
    guessed = fence_tag(["text"])
    text = "text"
    for _ in range(50):  # chasing the tag never catches it
        text += fenced("100", guessed)
        guessed = fence_tag([text])
        assert guessed not in text


@given(anything)
def test_the_text_between_the_fences_is_the_text(text):
    tag = fence_tag([text])
    whole = fenced(text, tag)
    opening, closing = f"<verbatim-{tag}>\n", f"\n</verbatim-{tag}>"
    assert whole.startswith(opening)
    assert whole.index(closing) == len(whole) - len(closing)
    assert whole[len(opening) : -len(closing)] == unix_lines(text)
