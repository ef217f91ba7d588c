"""Names, numbers and negations are told by what is written, and doubt is admitted."""

import pytest

from judgesmith.programs.perturbing.differences import (
    capitals_tell,
    mentions,
    negations_in,
    numbers_in,
    tokens_of,
)


def named(text, **how):
    tokens = tokens_of(text)
    return [tokens[place].text for place in sorted(mentions(tokens, **how))]


@pytest.mark.parametrize(
    ("text", "sure", "doubtful"),
    [
        ("Ann met Bob.", ["Bob"], ["Ann", "Bob"]),
        ("The man met Bob. He ran.", ["Bob"], ["Bob"]),
        ("Bob ran. Then Bob fell.", ["Bob", "Bob"], ["Bob", "Bob"]),
        ("I said that I'm 4, not IV.", ["4", "IV"], ["4", "IV"]),
        ("Er sah die Stadt Köln.", ["Stadt", "Köln"], ["Stadt", "Köln"]),
        ("она уехала в Рим", ["Рим"], ["Рим"]),
        ("", [], []),
    ],
)
def test_a_capital_within_a_sentence_makes_a_name(text, sure, doubtful):
    assert named(text, sure=True) == sure
    assert named(text) == doubtful


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("Then she met Bob.", True),
        ("Man Bites Dog In Rome", False),
        ("ALL OF IT IS LOUD.", False),
        ("他去了罗马。", False),
        ("هو في روما.", False),
        ("", True),
    ],
)
def test_capitals_tell_nothing_where_all_or_none_have_them(text, tells):
    assert capitals_tell(tokens_of(text)) is tells


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("It isn't so.", 1),
        ("It isn’t so, it cannot be.", 2),
        ("Es ist nicht so, kein Zweifel.", 2),
        ("他不去。", 1),
        ("Nothing is knotted.", 1),
        ("It is so.", 0),
    ],
)
def test_negations_are_counted_in_some_languages(text, n):
    assert negations_in(tokens_of(text)) == n


def test_numbers_count_in_digits_and_in_small_words_alike():
    assert numbers_in(tokens_of("Three of 1,000")) == numbers_in(tokens_of("1000 by 3"))
    assert numbers_in(tokens_of("Three")) != numbers_in(tokens_of("four"))
