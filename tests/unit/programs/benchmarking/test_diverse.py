"""Texts chosen to differ: the definition, its guarantee, and ties by order."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.programs.benchmarking import diverse, overlap

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=5).map(" ".join), max_size=7)
WORDS = ["Ann left Rome.", "Ann left Bonn.", "It rained.", "Ann left Rome, then Bonn."]


def apart(first, second):
    return 1 - overlap(first, second)


def closest(chosen):
    return min(apart(one, other) for one, other in combinations(chosen, 2))


@settings(max_examples=80, deadline=None)
@given(texts, st.integers(0, 8))
def test_each_choice_is_the_text_farthest_from_all_before_it(given_texts, k):
    found = diverse(given_texts, k)
    assert len(set(found)) == len(found) == min(k, len(given_texts))
    for n, place in enumerate(found):
        if n == 0:
            assert place == 0
            continue
        left = [other for other in range(len(given_texts)) if other not in found[:n]]
        gaps = [
            min(apart(given_texts[one], given_texts[kept]) for kept in found[:n]) for one in left
        ]
        assert place == left[gaps.index(max(gaps))]


@settings(max_examples=60, deadline=None)
@given(texts.filter(lambda given_texts: len(given_texts) > 1), st.integers(2, 4))
def test_no_choice_is_more_than_twice_as_far_apart(given_texts, k):
    k = min(k, len(given_texts))
    found = closest([given_texts[place] for place in diverse(given_texts, k)])
    best = max(closest(chosen) for chosen in combinations(given_texts, k))
    assert 2 * found >= best - 1e-12


@given(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3))
def test_the_distance_is_a_metric(three):
    one, other, third = three
    assert apart(one, other) == apart(other, one)
    assert (apart(one, other) == 0) == (one == other)
    assert apart(one, third) <= apart(one, other) + apart(other, third)


def test_a_worked_value():
    # 5 words in either text, of which "ann" and "left" are in both; 4 pairs, of which 1.
    assert overlap("Ann left Rome today.", "Ann left Bonn.") == pytest.approx(3 / 9)


def test_of_equal_texts_the_first_is_kept_and_copies_come_last():
    assert diverse(["x y", "a b", "x y", "a b", "c d"], 5) == (0, 1, 4, 2, 3)


def test_case_marks_and_script_play_no_part():
    assert overlap("ANN LEFT — Rome!", "ann left rome") == 1
    assert 0 < overlap("橋は開いた。", "橋は閉じた。") < 1


def test_texts_without_words_are_alike():
    assert overlap("🦆", "…") == 1
    assert diverse(["", "!", "a"], 2) == (0, 2)


def test_less_than_no_text_cannot_be_kept():
    with pytest.raises(ValueError, match="zero or more; got -1"):
        diverse([], -1)
