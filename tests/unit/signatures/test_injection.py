"""Errors put into a text one after the other, each where it was put."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures.perturbation import EARLIER_TOUCHED, Edit, Target, with_error


def made(target: Target, start: int, end: int, text: str) -> Target | str:
    edit = [Edit(start=start, end=end, text=text)]
    return with_error(target, edits=edit, sub_aspect="s", kind="k")


@given(st.text(min_size=1, max_size=30), st.data())
def test_every_error_stands_where_its_spans_say_and_can_be_taken_back(
    original: str, data: st.DataObject
) -> None:
    target = Target(text=original)
    for step in range(6):
        start = data.draw(st.integers(0, len(target.text)))
        end = data.draw(st.integers(start, len(target.text)))
        found = made(target, start, end, f"<{step}>")
        if isinstance(found, Target):
            target = found
    for error in target.errors:
        ((start, end),) = error.spans
        assert target.text[start:end].startswith("<")
    text = target.text
    places = sorted(
        (span, old)
        for one in target.errors
        for span, old in zip(one.spans, one.removed, strict=True)
    )
    for (start, end), old in reversed(places):
        text = text[:start] + old + text[end:]
    assert text == original


def test_what_was_left_out_is_not_written_over_later() -> None:
    shorter = made(Target(text="It did not rain."), 7, 11, "")
    assert isinstance(shorter, Target)
    assert shorter.text == "It did rain."
    assert made(shorter, 7, 7, "not ") == EARLIER_TOUCHED
    assert made(shorter, 3, 7, "had ") == EARLIER_TOUCHED
    assert isinstance(made(shorter, 0, 2, "He"), Target)


def test_a_moved_sentence_is_one_error_with_two_places() -> None:
    text = "First. Then. Last."
    edits = [Edit(start=0, end=7, text=""), Edit(start=18, end=18, text=" First.")]
    found = with_error(Target(text=text), edits, sub_aspect="order", kind="reordering")
    assert isinstance(found, Target)
    assert found.text == "Then. Last. First."
    assert found.n_errors == 1
    assert found.errors[0].spans == ((0, 0), (11, 18))
    assert found.errors[0].removed == ("First. ", "")


def test_a_change_that_changes_nothing_is_no_error() -> None:
    assert made(Target(text="same"), 0, 4, "same") == "unchanged"
    assert with_error(Target(text="same"), [], sub_aspect="s", kind="k") == "unchanged"


def test_edits_beyond_the_text_are_refused() -> None:
    with pytest.raises(ValueError, match="in the text"):
        made(Target(text="ab"), 1, 5, "x")
