import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.programs.perturbing import PERTURBATIONS, perturb
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbed, Skipped

PROSE = "The old bridge in Rome was opened by Ada Lovell in 1919, they said; it is long. " * 8


def changed(text, name, amount=None, seed=0):
    return perturb(RatedItem(response=text), PERTURBATIONS[name], amount=amount, seed=seed)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abé e\u0301你👍.1", max_size=40), st.integers(1, 12))
def test_exactly_k_letters_are_deleted_and_one_is_left_at_least(text, k):
    letters = len(Passage(text).letters)
    found = changed(text, "character_deletions", k)
    if letters <= k:
        assert found == Skipped(reason=f"fewer than {k + 1} letters and digits")
        return
    assert len(found.edits) == k
    assert all(edit.text == "" for edit in found.edits)
    assert all(text[edit.start].isalnum() for edit in found.edits)


@pytest.mark.parametrize("k", [1, 5, 10, 50])
@pytest.mark.parametrize("seed", range(5))
def test_exactly_k_typing_slips_are_made_none_beside_another(k, seed):
    found = changed(PROSE, "character_typos", k, seed)
    assert len(found.edits) == k
    gaps = zip(found.edits, found.edits[1:], strict=False)
    assert all(after.start > before.end for before, after in gaps)


def test_a_text_too_short_for_k_slips_is_skipped():
    assert changed("abc def", "character_typos", 10) == Skipped(
        reason="fewer than 10 places for typing slips"
    )


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab ", min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 20))
def test_slips_never_undo_each_other(text, k, seed):
    found = changed(text, "character_typos", k, seed)
    assert isinstance(found, Skipped) or found.text != text


def test_case_loss_writes_every_capital_small_and_nothing_else():
    found = changed("The BRIDGE of Ä. McCoy", "case_loss")
    assert found.text == "the bridge of ä. mccoy"
    assert [(edit.start, edit.end) for edit in found.edits] == [
        *((0, 1), (4, 10), (14, 15), (17, 18), (19, 20))
    ]
    assert changed("no capital", "case_loss") == Skipped(reason="no capital letter")
    assert changed("没有大写", "case_loss") == Skipped(reason="no capital letter")


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("It's well-known: 3.5 km.", "It's well-known 3.5 km"),
        ("the man , who left .", "the man who left"),
        ("(One) two... three!?", "One two three"),
        ("你好。再见！", "你好再见"),
        ("a - b", "a b"),
    ],
)
def test_punctuation_loss_drops_marks_around_words_and_leaves_no_double_blanks(text, without):
    assert changed(text, "punctuation_loss").text == without


def test_a_text_without_marks_keeps_them():
    assert changed("no marks here", "punctuation_loss") == Skipped(reason="no punctuation")


def test_minor_and_major_differ_in_number():
    minor = changed(PROSE, "character_deletions/minor")
    major = changed(PROSE, "character_deletions/major")
    assert isinstance(minor, Perturbed)
    assert (len(PROSE) - len(minor.text), len(PROSE) - len(major.text)) == (10, 50)
