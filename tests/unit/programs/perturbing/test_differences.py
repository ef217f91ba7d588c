"""Where two texts differ, word by word: edits that give the other text, and nothing but changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.perturbing.differences import Incomparable, differences, tokens_of
from judgesmith.signatures.perturbation import edited


def found(old, new):
    return [one.edit for one in differences(tokens_of(old), tokens_of(new), new)]


def changed(old, new):
    return edited(old, found(old, new))


@pytest.mark.parametrize(
    ("old", "new", "edits"),
    [
        ("Ann left.", "Bob left.", [(0, 3, "Bob")]),
        ("Ann left.", "Ann has left.", [(3, 3, " has")]),
        ("Ann has left.", "Ann left.", [(3, 7, "")]),
        ("The dog ran.", "dog ran.", [(0, 4, "")]),
        ("dog ran.", "The dog ran.", [(0, 0, "The ")]),
        ("Ann left", "Ann left.", [(8, 8, ".")]),
        ("Hello world.", "Hello, world.", [(5, 5, ",")]),
        ('Say "line tour".', 'Say "joint line tour".', [(5, 5, "joint ")]),
        ("他走了。", "她走了。", [(0, 1, "她")]),
        ("", "new", [(0, 0, "new")]),
        ("old", "", [(0, 3, "")]),
    ],
)
def test_edits_are_as_small_as_words_are(old, new, edits):
    assert [(one.start, one.end, one.text) for one in found(old, new)] == edits
    assert changed(old, new) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a  b\n\nc", "a b c"),
        ("\u201cAnn\u2019s\u201d \u2013 so", '"Ann\'s" - so'),
        ("\uff21\uff22", "AB"),
        ("", " \n "),
    ],
)
def test_blanks_shapes_and_widths_are_no_differences(old, new):
    assert found(old, new) == []


def test_what_stayed_keeps_its_blanks():
    assert changed("Ann\t left\n\n Rome .", "Bob left Rome.") == "Bob\t left\n\n Rome ."


def test_texts_that_repeat_themselves_too_much_are_not_compared():
    with pytest.raises(Incomparable, match="too many equal words"):
        found("x " + "a " * 1500 + "y", "y " + "a " * 1500 + "x")


WORDS = st.lists(
    st.sampled_from([*"abc", "Ann", "2", ",", ".", "走", "😀", '"', "e\u0301"]), max_size=12
)


@given(old=WORDS, new=WORDS)
def test_edits_between_words_set_apart_give_the_other_text(old, new):
    old, new = " ".join(old), " ".join(new)
    assert [one.key for one in tokens_of(changed(old, new))] == [one.key for one in tokens_of(new)]
