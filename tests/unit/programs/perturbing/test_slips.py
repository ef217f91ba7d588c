from random import Random

import pytest

from judgesmith.programs.perturbing.damage import LOOKALIKES, NEIGHBOURS, SLIPS, Slips
from judgesmith.programs.perturbing.passage import Passage


def slip(kind, text, index, seed=0):
    """Return what one kind of slip makes of a text at a letter, or None."""
    change = kind(Slips(text, Passage(text).letters, Random(seed)), index)
    if change is None:
        return None
    start, end, put = change
    return text[:start] + put + text[end:]


@pytest.mark.parametrize(
    ("kind", "text", "index", "expected"),
    [
        (Slips.lookalike, "loud", 0, "1oud"),
        (Slips.lookalike, "été", 0, "eté"),
        (Slips.transposition, "the", 1, "teh"),
        (Slips.transposition, "see", 1, None),
        (Slips.omission, "cat", 1, "ct"),
        (Slips.omission, "see", 1, None),
        (Slips.omission, "a cat", 0, None),
        (Slips.doubling, "cat", 1, "caat"),
        (Slips.doubling, "see", 1, None),
        (Slips.undoubling, "see", 1, "se"),
        (Slips.undoubling, "cat", 1, None),
        (Slips.undoubling, "eee", 0, None),
        (Slips.extra_space, "cat", 0, "c at"),
        (Slips.extra_space, "cat", 2, None),
        (Slips.missing_space, "a cat", 0, "acat"),
        (Slips.missing_space, "a, cat", 0, None),
        (Slips.neighbour, "你好", 0, None),
        (Slips.extra, "你好", 0, None),
        (Slips.transposition, "你好", 0, "好你"),
        (Slips.doubling, "e\u0301t", 0, "e\u0301e\u0301t"),
    ],
)
def test_each_kind_of_slip_changes_what_it_says_or_nothing(kind, text, index, expected):
    assert slip(kind, text, index) == expected


def test_a_neighbour_is_beside_the_key_and_in_its_case():
    for seed in range(20):
        small, capital = slip(Slips.neighbour, "g", 0, seed), slip(Slips.neighbour, "G", 0, seed)
        assert small in NEIGHBOURS["g"]
        assert capital == small.upper()


def test_keyboards_have_the_usual_neighbours():
    assert set(NEIGHBOURS["s"]) == set("adwezx")
    assert set(NEIGHBOURS["1"]) == {"2"}
    assert set(NEIGHBOURS["ы"]) >= set("фв")
    assert all(key not in near for key, near in NEIGHBOURS.items())
    assert all(key != other for key, other in LOOKALIKES.items())


def test_every_kind_of_slip_changes_the_text_where_it_happens():
    text = "Letter by letter, ill-assorted 1100 goods."
    for kind in SLIPS:
        made = {slip(kind, text, index) for index in range(len(Passage(text).letters))} - {None}
        assert made
        assert text not in made
