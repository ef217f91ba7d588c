import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.experiments.report.figures import apart, band, confusion, standing
from judgesmith.experiments.report.reading import ReportRow

points = st.lists(st.sampled_from([None, 1.0, 2.0, 3.0]), min_size=8, max_size=8)


def rows_of(human, scores):
    return [
        ReportRow(item=place, group=place, human=one, score=other)
        for place, (one, other) in enumerate(zip(human, scores, strict=True))
    ]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_a_place_is_the_share_below_with_ties_counted_half(values):
    found = standing(np.asarray(values, dtype=float))
    for value, place in zip(values, found, strict=True):
        below = sum(one < value for one in values) + sum(one == value for one in values) / 2
        assert place == pytest.approx(below / len(values))


@given(points, points)
def test_differences_are_defined_where_both_are_and_add_to_nothing(human, scores):
    rows = rows_of(human, scores)
    gaps = apart(rows)
    assert [one is None for one in gaps] == [
        None in both for both in zip(human, scores, strict=True)
    ]
    known = [one for one in gaps if one is not None]
    assert sum(known) == pytest.approx(0)
    assert confusion(rows).sum() == len(known)
    # The scale that a judge uses makes no difference.
    stretched = rows_of(human, [None if one is None else one**3 - 7 for one in scores])
    assert apart(stretched) == gaps


def test_a_band_holds_the_line_and_is_undefined_where_there_is_none():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    sources = np.repeat(np.arange(20), 3)
    found = band(x, x + rng.normal(size=60), sources, seed=1)
    assert (found.low < found.middle).all()
    assert (found.middle < found.high).all()
    again = band(x, x + 0 * x, sources, seed=1)
    assert again.low == pytest.approx(again.high)
    assert band(np.ones(60), x, sources, seed=0) is None
    assert band(x, np.ones(60), sources, seed=0) is None
    assert band(x, 2 * x, np.zeros(60, dtype=int), seed=0) is None
