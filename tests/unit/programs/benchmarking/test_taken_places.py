"""Taken places are found as if each had been looked at."""

from random import Random

from judgesmith.programs.perturbing.error_kinds import TakenPlaces
from judgesmith.signatures.perturbation import Edit, touches


def test_looking_places_up_finds_what_looking_at_each_finds():
    rng = Random(0)
    for _ in range(500):
        spans = []
        for place in range(0, 40, 8):  # with a place between any two
            start = place + rng.randrange(3)
            spans.append((start, start + rng.randrange(5)))
        taken = TakenPlaces(rng.sample(spans, len(spans)))
        for _ in range(20):
            start = rng.randrange(45)
            end = start + rng.choice((0, 0, 1, 2, 7))
            put = rng.choice(("x", " x", "x ", " x "))
            edit = Edit(start=start, end=end, text=put)
            assert taken.is_met_by((start, end, put)) == any(touches(edit, one) for one in spans)
            wide = Edit(start=start, end=end, text="x")
            assert taken.meets(start, end) == any(touches(wide, one) for one in spans)


def test_places_may_overlap_and_be_none():
    taken = TakenPlaces([(1, 9), (2, 3), (1, 9), (8, 12), (5, 5)])
    assert [taken.meets(place, place + 1) for place in range(14)] == [
        False,
        *[True] * 11,
        *[False] * 2,
    ]
    assert not TakenPlaces([]).meets(0, 100)
    assert not taken.is_met_by((13, 13, ""))
