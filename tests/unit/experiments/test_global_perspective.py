import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data import DataSet
from judgesmith.experiments.evaluate.perspectives.ratings import SampledScores, right_levels
from judgesmith.experiments.evaluate.perspectives.report import (
    UNKNOWN_SCALE,
    UNREADABLE,
    global_report,
    ratings_of,
)
from judgesmith.metrics import weighted_kappa
from judgesmith.signatures import RatedItem, Scale

THREE = Scale(low=1, high=3)
PERCENT = Scale(low=0, high=100)
LEVELS = np.arange(1.0, 6.0)


def of(right, answers, *, scale=THREE, judged_on=THREE, sources=None):
    items = [
        RatedItem(
            source_id=str(place if sources is None else sources[place]),
            response="",
            human={"wit": (one, one)},
            scale={"wit": scale},
        )
        for place, one in enumerate(right)
    ]
    data = DataSet(name="toy", items=tuple(items))
    rows = [one if isinstance(one, list) else [one] for one in answers]
    scores = SampledScores.of(rows, [None] * len(rows), judged_on)
    rng = np.random.default_rng(0)
    return global_report(right_levels(data, "wit"), scores, data.groups, rng=rng)


def test_kappa_equals_a_table_worked_by_hand():
    # Right 1 1 2 3 against judged 1 2 2 2: 2 levels off in all. Rows 2/1/1, columns 1/3/0 let
    # expect (1*1*1 + 2*3*1 + 2*0*2 + ... ) = (6 + 1 + 2 + 3) / 4 = 3.
    found = of([1, 1, 2, 3], [1, 2, 2, 2])
    assert found.kappa.value == pytest.approx(1 - 2 / 3)
    assert found.confusion.counts == ((1, 1, 0), (0, 1, 0), (0, 1, 0))
    assert found.confusion.rates == ((0.5, 0.5, 0), (0, 1, 0), (0, 1, 0))
    assert found.confusion.shifts == (0.5, 0, -1)


def test_levels_that_nobody_uses_are_steps_all_the_same():
    with_middle = of([1, 3, 3], [1, 1, 3])
    wide = of([1, 5, 5], [1, 1, 5], scale=Scale(low=1, high=5), judged_on=Scale(low=1, high=5))
    assert len(wide.confusion.levels) == 5
    assert with_middle.kappa.value == pytest.approx(wide.kappa.value)


def test_kappa_of_two_equal_constants_is_undefined():
    assert np.isnan(of([2, 2], [2, 2]).kappa.value)
    assert of([2, 2], [2, 2]).to_dict()["kappa"]["value"] is None


def test_each_sample_goes_to_its_level_before_the_most_frequent_is_taken():
    # Means or modes of the raw answers would be 48 or 60; as levels they are 2, 2, 3, 3, 2.
    scores = SampledScores.of([[30, 35, 60, 60, 30.5]], [None], PERCENT)
    assert ratings_of(scores, LEVELS)[0].tolist() == [2]


def test_a_tied_mode_goes_to_the_one_nearer_the_mean_then_to_the_lower():
    near = SampledScores.of([[1, 1, 5, 5, 4], [2, 4]], [None] * 2, Scale(low=1, high=5))
    assert ratings_of(near, LEVELS)[0].tolist() == [5, 2]


def test_turning_the_scale_of_the_judge_round_turns_its_rating_round():
    scale, answers = Scale(low=0, high=20), range(21)
    rows = [[[one] for one in answers], [[20 - one] for one in answers]]
    one, other = (
        ratings_of(SampledScores.of(each, [None] * 21, scale), LEVELS)[0] for each in rows
    )
    np.testing.assert_equal(one, 6 - other)


@pytest.mark.parametrize(("answer", "level"), [(12.5, 2), (87.5, 4), (37.5, 3), (62.5, 3)])
def test_halves_go_towards_the_middle(answer, level):
    scores = SampledScores.of([[answer]], [None], PERCENT)
    assert ratings_of(scores, LEVELS)[0].tolist() == [level]


def test_under_half_readable_is_unscored_and_half_is_enough():
    half, less = [3, np.nan], [3, np.nan, np.nan]
    found, why = ratings_of(SampledScores.of([half, less], [None] * 2, THREE), LEVELS[:3])
    np.testing.assert_equal(found, [3, np.nan])
    assert why == (None, UNREADABLE)


def test_texts_with_fewer_samples_than_others_lack_none():
    found, why = ratings_of(SampledScores.of([[1], [3] * 10], [None] * 2, THREE), LEVELS[:3])
    assert (found.tolist(), why) == ([1, 3], (None, None))


def test_what_has_no_rating_is_counted_with_its_reason_and_not_as_zero():
    found = of([1, 2, 3, 3], [1, [np.nan], [9.0], 3])
    assert (found.basis.unscored.n, found.basis.unscored.n_rows, found.basis.n_outside) == (2, 4, 1)
    assert found.kappa.n == 2
    assert sum(found.basis.unscored.reasons.values()) == 2
    assert found.kappa.value == pytest.approx(1.0)


def test_scores_that_are_on_no_known_scale_are_no_ratings():
    with pytest.raises(ValueError, match=UNKNOWN_SCALE.text):
        of([1, 2], [-8.0, 3.0], judged_on=None)


def test_where_no_rating_is_undisputed_the_reasons_are_counted():
    human = [(1, 2), (3,)]
    items = [RatedItem(response="", human={"wit": h}, scale={"wit": THREE}) for h in human]
    data = DataSet(name="toy", items=tuple(items))
    scores = SampledScores.of([[1], [2]], [None] * 2, THREE)
    with pytest.raises(ValueError, match="1 are disputed, 1 have a single rating"):
        global_report(right_levels(data, "wit"), scores, data.groups, rng=np.random.default_rng(0))


@given(st.lists(st.tuples(*[st.integers(1, 3)] * 3), min_size=1, max_size=12))
def test_kappa_as_a_function_of_drawn_sources_is_that_of_their_rows(rows):
    right, judged, sources = zip(*rows, strict=True)
    found = of(right, judged, sources=sources)
    labels = {one: place for place, one in enumerate(dict.fromkeys(sources))}
    draws = np.zeros((1, len(labels)))
    draws[0, 0] = 2
    kept = [place for place, one in enumerate(sources) if labels[one] == 0] * 2
    expected = weighted_kappa(np.array(right)[kept], np.array(judged)[kept], levels=[1, 2, 3])
    np.testing.assert_allclose(found.counted.of_counts(draws)[0], expected)
    np.testing.assert_allclose(found.counted.value, found.kappa.value)
