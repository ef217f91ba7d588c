import random

import pytest

from judgesmith.experiments.evaluate.errors.page import MOST, numbered, pieces, place_text
from judgesmith.signatures.judgement import ErrorSpan


def errors_at(*places):
    return numbered([ErrorSpan(text="", start=start, end=end) for start, end in places])


def drawn(text, *places, around=1000):
    """Return the text with a bracket and a number where each error begins and ends."""
    parts = []
    for one in pieces(text, errors_at(*places), around=around):
        parts += [f"<{n}]" for n in one.closes] + [f"[{n}>" for n in one.opens]
        parts += [f"({one.left_out})"] * bool(one.left_out) + [one.text]
    return "".join(parts)


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        ([], "abcdef"),
        ([(0, 6)], "[1>abcdef<1]"),
        ([(1, 3), (2, 5)], "a[1>b[2>c<1]de<2]f"),
        ([(1, 3), (3, 5)], "a[1>bc<1][2>de<2]f"),
        ([(2, 2)], "ab[1><1]cdef"),
        ([(6, 6), (0, 0)], "[1><1]abcdef[2><2]"),
        ([(1, 3), (3, 3), (3, 4)], "a[1>bc<1][2><2][3>d<3]ef"),
        ([(1, 4), (1, 4)], "a[1>bcd<1]ef"),
    ],
)
def test_marks_stand_where_errors_begin_and_end(places, shown):
    assert drawn("abcdef", *places) == shown


def test_an_empty_text_has_no_pieces_but_those_of_its_marks():
    assert drawn("") == ""
    assert drawn("", (0, 0)) == "[1><1]"


def test_what_is_far_from_any_mark_is_left_out_and_counted():
    text = "".join(chr(97 + n % 26) for n in range(200))
    shown = drawn(text, (100, 103), around=5)
    assert shown == f"{text[:5]}(90){text[95:100]}[1>{text[100:103]}<1]{text[103:108]}(92)"
    assert drawn(text, (10, 190), around=5).startswith(f"{text[:10]}[1>{text[10:15]}(170)")


def test_every_character_is_shown_once_or_counted():
    rng = random.Random(0)
    for _ in range(200):
        text = "x" * rng.randrange(40)
        ends = [sorted(rng.choices(range(len(text) + 1), k=2)) for _ in range(rng.randrange(5))]
        found = list(pieces(text, errors_at(*ends), around=rng.randrange(1, 6)))
        assert sum(len(one.text) + one.left_out for one in found) == len(text)
        numbers = list(range(1, len(set(map(tuple, ends))) + 1))
        for side in ("opens", "closes"):
            assert sorted(n for one in found for n in getattr(one, side)) == numbers


def test_a_text_of_megabytes_with_many_errors_shows_a_few_pages():
    text = "word " * 1_000_000
    errors = numbered([ErrorSpan(text="", start=n * 1000, end=n * 1000 + 4) for n in range(4000)])
    errors = errors[:MOST]
    assert sum(len(one.text) for one in pieces(text, errors, around=200)) < 100_000


def test_a_place_is_told_with_how_it_was_found():
    for located, said in (
        ("missing", "missing from the text"),
        ("unresolved", "quoted, but not in the text"),
        (None, "without a place"),
    ):
        assert place_text(ErrorSpan(text="x", located=located)) == said
    assert place_text(ErrorSpan(text="", start=3, end=3)) == "before character 3"
    odd = ErrorSpan(text="x", start=3, end=4, located="normalised")
    assert place_text(odd).endswith("other spaces, case or quotation marks")
