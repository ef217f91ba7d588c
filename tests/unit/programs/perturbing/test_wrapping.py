"""What models put around a text comes off where it holds all of it, and else tells against it."""

import time

import pytest

from judgesmith.programs.perturbing.differences import spoken_around, unwrapped

TEXT = 'Ann "Red" Poe left.'


@pytest.mark.parametrize(
    "answer",
    [
        f"```\n{TEXT}\n```",
        f"~~~text\n{TEXT}\n~~~",
        f"\n<verbatim-0123456789ab>\n{TEXT}\n</verbatim-0123456789ab> ",
        f"\u201c{TEXT}\u201d",
        f"<verbatim-0123456789ab>\n```\n{TEXT}\n```\n</verbatim-0123456789ab>",
    ],
)
def test_what_is_around_all_of_it_comes_off(answer):
    assert unwrapped(answer, TEXT) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{TEXT}\n```",
        f"<verbatim-0123456789ab>\n{TEXT}\n</verbatim-0123456789ab>",
        f"\u201c{TEXT}\u201d",
        '"A" and "B"',
    ],
)
def test_what_the_text_has_itself_stays(text):
    assert unwrapped(text, text) == text


def test_quotation_marks_of_two_quotations_stay():
    assert unwrapped('"Yes," she said, "no"', "Yes, she said, no") == '"Yes," she said, "no"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT, ""),
        ("I'm sorry.", "a refusal"),
        ("I’m unable to do so.", "a refusal"),
        ("Sorry, no.", "a refusal"),
        ("Sorry days were over.", ""),
        ("Of course! Ann left.", "a remark beside the text"),
        ("Of course Ann left.", ""),
        ("Here is the new text: Ann left.", "a remark beside the text"),
        ("Here is Ann.", ""),
        ("Voici le texte :\nAnn left.", "a remark beside the text"),
        ("Ann left.\n(Note: one name replaced.)", "a remark beside the text"),
        ("Ann left.\nLet me know if you need more.", "a remark beside the text"),
        ("[[ ## changed ## ]] Ann left.", "marks of the layout of questions"),
        ("Ann <left>.", "markup that the text does not have"),
        ("Ann\u200b left.", "signs that nobody sees"),
    ],
)
def test_remarks_refusals_and_marks_are_told_from_texts(text, said):
    assert spoken_around(text, TEXT) == said
    assert spoken_around(text, text) == ""


def test_long_answers_take_no_time():
    begun = time.perf_counter()
    for answer in ("```\n" * 200_000, "sure " * 400_000, "[" * 1_000_000, '"' * 1_000_000):
        spoken_around(unwrapped(answer, TEXT), TEXT)
    assert time.perf_counter() - begun < 10
