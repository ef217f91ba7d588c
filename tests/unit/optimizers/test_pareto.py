import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import LIKERT, judged

from judgesmith.optimizers import parse_objective
from judgesmith.optimizers.objectives.combining import ParetoFront


def front(values, violations=None):
    values = np.asarray(values, dtype=float)
    names = tuple(f"f{k}" for k in range(values.shape[1]))
    missed = None if violations is None else np.asarray(violations, dtype=float)
    return ParetoFront(names=names, values=values, violations=missed)


points = st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=15)


@pytest.mark.no_cover
@given(points)
def test_on_the_front_are_those_that_nobody_beats(values):
    def beats(a, b):
        return a != b and all(x >= y for x, y in zip(a, b, strict=True))

    expected = [k for k, one in enumerate(values) if not any(beats(other, one) for other in values)]
    found = front(values)
    assert list(found.places) == expected
    assert found.knee in expected


@pytest.mark.no_cover
@given(points, st.floats(0.01, 100), st.floats(-10, 10))
def test_units_do_not_move_the_front_nor_its_knee(values, stretch, shift):
    values = np.asarray(values, dtype=float)
    other = values * [1, 2.0 ** round(np.log2(stretch)), 1] + [0, 0, float(round(shift))]
    assert front(values).places == front(other).places
    assert front(values).knee == front(other).knee


def test_on_a_quarter_of_a_circle_the_knee_is_in_the_middle():
    angles = np.linspace(0, np.pi / 2, 9)
    assert front(np.stack([np.sin(angles), 10 * np.cos(angles)], axis=1)).knee == 4


def test_the_knee_is_farthest_from_the_line_between_the_ends():
    values = np.array([[0.0, 1.0], [0.3, 0.95], [0.5, 0.9], [0.8, 0.4], [1.0, 0.0]])
    line = (values[-1] - values[0]) / np.linalg.norm(values[-1] - values[0])
    away = values - values[0]
    distance = np.abs(away[:, 0] * line[1] - away[:, 1] * line[0])
    assert front(values).knee == int(np.argmax(distance)) == 2


def test_where_nobody_is_beyond_the_line_the_knee_is_the_end_best_on_the_first():
    assert front([[0, 1], [0.2, 0.2], [1, 0]]).knee == 2


def test_undefined_values_are_never_on_the_front():
    found = front([[np.nan, 9], [1, 1], [0, 2]])
    assert found.places == (1, 2)
    empty = front([[np.nan, 9]])
    assert (empty.places, empty.knee) == ((), None)


def test_who_misses_a_condition_is_beaten_by_who_misses_less():
    values = [[9, 9], [1, 1], [0, 2], [0, 0]]
    assert front(values, [0.1, 0, 0, 0]).places == (1, 2)
    assert front(values, [0.1, 0.3, 0.2, 0.2]).places == (0,)


def test_it_is_made_of_objectives_and_tables():
    people = [1, 2, 3, 4, 5]
    tables = [
        judged([0, 30, 50, 70, 100], people, scale=LIKERT, n_calls=(4,) * 5),
        judged([0, 50, 30, 70, 100], people, scale=LIKERT, n_calls=(1,) * 5),
        judged([0, 50, 30, 70, 90], people, scale=LIKERT, n_calls=(2,) * 5),
        judged([40, 50, 60, 70, 80], people, scale=LIKERT, n_calls=(1,) * 5),
    ]
    q, calls = parse_objective("q"), parse_objective("-calls")
    assert ParetoFront.of([q, calls], tables).places == (3,)
    exact = parse_objective("q; kappa >= .8")
    found = ParetoFront.of([exact, calls], tables)
    assert found.places == (0, 1)
    assert found.names == ("q", "-calls")
    saved = json.loads(json.dumps(found.to_dict()))
    assert saved["objectives"] == ["q", "-calls"]
    assert [one["candidate"] for one in saved["front"]] == [0, 1]
    assert saved["knee"] in (0, 1)


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match=r"one column for each of 1 names; got shape \(2, 2\)"):
        ParetoFront(names=("q",), values=np.ones((2, 2)))
    with pytest.raises(ValueError, match="one number per candidate"):
        front([[1, 2]], [0, 0])
    with pytest.raises(ValueError, match="0 or more"):
        front([[1, 2]], [-1])
