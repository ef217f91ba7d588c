"""`metrics.audits` against definitions, worked values and other implementations."""

import gzip
import json
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy import stats

from judgesmith.metrics.audits import (
    group_gaps,
    length_bias,
    place_effects,
    position_bias,
    scale_use,
    self_preference,
)
from judgesmith.metrics.correlation import kendall
from judgesmith.metrics.systems import system_difference, system_means

# -- group gaps ----------------------------------------------------------------------------------


rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from("abc")), min_size=4, max_size=20
)


def gaps(predicted, human, groups, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return group_gaps(human, predicted, groups, seed=np.random.default_rng(seed), **settings)


def answers(rng, n_sources=60, easier=0.0, favoured=0.0):
    """Return judge, people, groups and sources, each source of one of three groups."""
    sources = np.repeat(np.arange(n_sources), 4)
    groups = sources % 3
    human = easier * (groups == 0) + rng.normal(size=sources.size)
    judge = 0.7 * human + favoured * (groups == 1) + 0.3 * rng.normal(size=n_sources)[sources]
    return judge + 0.5 * rng.normal(size=sources.size), human, groups, sources


@pytest.mark.no_cover
@given(rows)
def test_the_gaps_are_those_of_a_regression_with_one_slope_and_a_mean_for_each_group(table):
    judge, human, groups = (np.array(each) for each in zip(*table, strict=True))
    if len(set(groups)) < 2:
        return
    found = gaps(judge, human, groups)
    dummies = np.stack([groups == each.group for each in found.groups], axis=1)
    within = human - dummies @ (dummies.T @ human / dummies.sum(axis=0))
    if np.allclose(within, 0):
        assert np.isnan([found.slope, found.largest.value, found.groups[0].gap.value]).all()
        return
    design = np.column_stack([human, dummies])
    slope, *means = np.linalg.lstsq(design, judge, rcond=None)[0]
    expected = np.array(means) - np.mean(judge - slope * human)
    values = [each.gap.value for each in found.groups]
    assert found.slope == pytest.approx(slope, abs=1e-9)
    assert values == pytest.approx(expected, abs=1e-9)
    assert found.largest.value == pytest.approx(max(values) - min(values))
    assert [each.gap.n for each in found.groups] == dummies.sum(axis=0).tolist()


def test_offsets_change_nothing_and_the_gaps_are_in_points_of_the_judge():
    judge, human, groups, sources = answers(np.random.default_rng(0), favoured=0.5)
    one = gaps(judge, human, groups, sources=sources)
    other = gaps(10 * judge + 5, human / 3 - 1, groups, sources=sources)
    assert other.largest.value == pytest.approx(10 * one.largest.value)
    assert other.largest.high == pytest.approx(10 * one.largest.high)
    assert [each.p_value for each in other.groups] == [each.p_value for each in one.groups]


def test_a_group_that_people_rate_higher_is_no_gap():
    judge, human, groups, sources = answers(np.random.default_rng(1), easier=2.0)
    found = gaps(judge, human, groups, sources=sources, n_resamples=300)
    assert found.largest.value < 0.4
    assert found.largest.low == 0
    assert found.p_value > 0.05


def test_a_group_that_the_judge_favours_is_found():
    judge, human, groups, sources = answers(np.random.default_rng(2), favoured=1.0)
    found = gaps(judge, human, groups, sources=sources, n_resamples=300)
    favoured = found.groups[1]
    assert favoured.group == 1
    assert favoured.gap.low > 0.3
    assert found.largest.low > 0.3
    assert max(found.p_value, favoured.p_value) < 0.05


@pytest.mark.no_cover
def test_fair_judges_are_accused_about_as_often_as_the_level_says():
    rng = np.random.default_rng(3)
    joint, single, covered = 0, [], 0
    for seed in range(250):
        judge, human, groups, sources = answers(rng, n_sources=45)
        found = gaps(judge, human, groups, seed, sources=sources, n_resamples=200)
        joint += found.p_value < 0.05
        covered += found.largest.low == 0
        single += [each.p_value < 0.05 for each in found.groups]
    assert 0.01 <= joint / 250 <= 0.09
    assert 0.02 <= np.mean(single) <= 0.08
    assert abs((250 - covered) - joint) <= 2


def test_the_agreement_is_that_of_the_groups_own_rows():
    judge, human, groups, sources = answers(np.random.default_rng(4))
    found = gaps(judge, human, groups, sources=sources, statistic="kendall")
    for each in found.groups:
        own = groups == each.group
        assert each.agreement.value == pytest.approx(kendall(human[own], judge[own]))
        assert (each.agreement.n, each.agreement.n_groups) == (80, 20)


def test_a_group_of_one_source_has_a_gap_without_an_interval_and_so_has_the_largest():
    judge, human, groups, sources = answers(np.random.default_rng(5))
    groups = np.where(sources == 0, "rare", "common")
    found = gaps(judge, human, groups, sources=sources)
    rare, common = found.groups
    assert np.isfinite([rare.gap.value, common.gap.value, found.largest.value]).all()
    assert np.isnan([rare.gap.low, rare.p_value, found.largest.low, found.p_value]).all()
    assert rare.gap.n_groups == 1


def test_a_group_without_a_scored_row_is_undefined_and_counted():
    judge, human, groups, sources = answers(np.random.default_rng(6))
    judge[groups == 2] = np.nan
    found = gaps(judge, human, groups, sources=sources)
    assert np.isnan([found.groups[2].gap.value, found.groups[2].agreement.value]).all()
    assert np.isfinite([found.largest.value, found.largest.low]).all()
    assert (found.largest.n_undefined, found.n_unscored, found.largest.n) == (1, 80, 160)


@for_each(
    ("change", "error", "message"),
    [
        ({"groups": ["a"] * 3}, ValueError, "groups must be two or more, to be compared; got 1"),
        ({"groups": ["a", "b"]}, ValueError, "groups must hold one label per item"),
        ({"groups": ["a", None, "b"]}, ValueError, "groups holds a missing label"),
        ({"human": [1, None, 2]}, ValueError, "human has no finite score"),
        ({"judge": []}, ValueError, "must be aligned"),
        ({"statistic": "r"}, ValueError, "statistic must be one of"),
        ({"sources": [1]}, ValueError, "sources must hold one label"),
        ({"n_resamples": 1}, ValueError, "at least 20 resamples"),
        ({"seed": None}, TypeError, "seed must be a whole number or a numpy.random.Generator"),
    ],
)
def test_what_cannot_be_is_refused(change, error, message):
    given = {
        "judge": [1, 2, 3],
        "human": [1, 2, 3],
        "groups": ["a", "b", "b"],
        "seed": np.random.default_rng(0),
    }
    with pytest.raises(error, match=message):
        group_gaps(**(given | change))


# -- length bias ---------------------------------------------------------------------------------


rows_of_length_bias = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 400)), min_size=4, max_size=20
)


def bias(predicted, human, lengths, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return length_bias(human, predicted, lengths, seed=np.random.default_rng(seed), **settings)


def slope(judge, human, length):
    """Return the coefficient of length, all three standardised, from a regression on rows."""
    z = [(each - each.mean()) / each.std() for each in (judge, human, length)]
    return np.linalg.lstsq(np.stack([z[1], z[2]], axis=1), z[0], rcond=None)[0][1]


def answers_of_length_bias(rng, n_sources=40, by_length=0.0, human_noise=0.0):
    """Return judge, people, lengths and sources; ``by_length`` is the bias of the judge."""
    sources = np.repeat(np.arange(n_sources), 4)
    quality = 0.5 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
    log_length = 0.6 * quality + 0.8 * rng.normal(size=sources.size)
    judge = quality + by_length * log_length + 0.5 * rng.normal(size=sources.size)
    human = quality + human_noise * rng.normal(size=sources.size)
    return judge, human, np.exp(log_length), sources


@pytest.mark.no_cover
@given(rows_of_length_bias)
def test_the_slope_is_that_of_a_regression_on_standardised_rows(table):
    judge, human, lengths = (np.array(each, dtype=float) for each in zip(*table, strict=True))
    found = bias(judge, human, lengths)
    logs = np.log(lengths)
    flat = min(np.ptp(judge), np.ptp(human), np.ptp(logs)) == 0
    if flat or abs(np.corrcoef(human, logs)[0, 1]) > 0.999:
        return
    assert found.slope.value == pytest.approx(slope(judge, human, logs), abs=1e-9)
    ranks = [stats.rankdata(each) for each in (judge, human, lengths)]
    if abs(np.corrcoef(ranks[1], ranks[2])[0, 1]) < 0.999:
        assert found.rank_slope.value == pytest.approx(slope(*ranks), abs=1e-9)
    assert found.correlation.value == pytest.approx(stats.pearsonr(judge, logs).statistic)
    assert found.human_correlation.value == pytest.approx(stats.pearsonr(human, logs).statistic)


def test_units_and_scales_change_nothing():
    judge, human, lengths, sources = answers_of_length_bias(np.random.default_rng(0), by_length=0.3)
    one = bias(judge, human, lengths, sources=sources)
    other = bias(10 * judge + 3, human / 2 - 1, 5 * lengths, sources=sources)
    for name in ("slope", "rank_slope", "correlation", "human_correlation"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first.value, first.low) == pytest.approx((second.value, second.low))


def test_ranks_do_not_mind_the_shape_of_the_scales():
    judge, human, lengths, _ = answers_of_length_bias(np.random.default_rng(1), by_length=0.3)
    one, other = bias(judge, human, lengths), bias(np.exp(judge), human**3, lengths**2)
    assert one.rank_slope == other.rank_slope
    assert one.slope.value != pytest.approx(other.slope.value)


def test_a_judge_that_says_what_people_say_has_no_slope_though_it_goes_with_length():
    _, human, lengths, _ = answers_of_length_bias(np.random.default_rng(2))
    found = bias(human, human, lengths)
    assert found.slope.value == pytest.approx(0, abs=1e-12)
    assert found.correlation.value > 0.4


@pytest.mark.no_cover
def test_a_fair_judge_is_cleared_as_often_as_the_interval_claims():
    rng, covered, ranked = np.random.default_rng(3), 0, 0
    for seed in range(300):
        judge, human, lengths, sources = answers_of_length_bias(rng)
        found = bias(judge, human, lengths, seed, sources=sources, n_resamples=300)
        covered += found.slope.low <= 0 <= found.slope.high
        ranked += found.rank_slope.low <= 0.05 <= found.rank_slope.high
    assert 0.91 <= covered / 300 <= 0.98


def test_noise_in_human_scores_looks_like_bias_unless_its_size_is_given():
    # Of people: the variance of quality is 1.25, that of their noise 1. Good answers are long.
    judge, human, lengths, _ = answers_of_length_bias(
        np.random.default_rng(4), n_sources=8000, human_noise=1.0
    )
    assert bias(judge, human, lengths).slope.value > 0.2
    told = bias(judge, human, lengths, reliability=1.25 / 2.25)
    assert told.slope.value == pytest.approx(0, abs=0.02)


def test_what_cannot_be_told_apart_is_undefined():
    human, lengths = [1, 2, 3, 4], [10, 100, 1000, 10_000]
    assert np.isnan(bias([1, 3, 2, 4], human, lengths).slope.value)
    assert bias([1, 3, 2, 4], human, lengths).correlation.value == pytest.approx(0.8)
    flat = bias([3, 3, 3, 3], human, [5, 9, 7, 7])
    assert np.isnan([flat.slope.value, flat.correlation.value, flat.slope.low]).all()
    equal = bias([1, 3, 2, 4], human, [7] * 4)
    assert np.isnan(
        [equal.slope.value, equal.rank_slope.value, equal.human_correlation.value]
    ).all()
    assert np.isnan(bias([], [], []).slope.value)
    assert np.isnan(bias([1, 2, 4, 3], [1, 3, 2, 4], [9, 8, 7, 5], reliability=0.01).slope.value)


def test_unscored_rows_are_left_out_and_counted():
    judge, human, lengths, _ = answers_of_length_bias(np.random.default_rng(5))
    judge[[2, 7]] = np.nan
    kept = ~np.isnan(judge)
    found, alone = bias(judge, human, lengths), bias(judge[kept], human[kept], lengths[kept])
    assert found.n_unscored == 2
    assert (found.slope, found.rank_slope) == (alone.slope, alone.rank_slope)
    assert found.slope.n == 158


@for_each(
    ("change", "error", "message"),
    [
        ({"lengths": [1, 0, 2]}, ValueError, "lengths must be above 0; the one at index 1"),
        ({"lengths": [1, 2]}, ValueError, "lengths must hold one score per item; got 2 for 3"),
        ({"lengths": [1, None, 2]}, ValueError, "lengths has no finite score"),
        ({"human": [1, None, 2]}, ValueError, "human has no finite score"),
        ({"judge": ["good"] * 3}, ValueError, "judge must be a vector of numbers"),
        ({"judge": [1, np.inf, 2]}, ValueError, "judge has no finite score"),
        ({"reliability": 0}, ValueError, "reliability must be above 0"),
        ({"sources": [1, 2]}, ValueError, "sources must hold one label per item"),
        ({"sources": [1, 2, None]}, ValueError, "sources holds a missing label"),
        ({"seed": 1.5}, TypeError, "seed must be a whole number or a numpy.random.Generator"),
    ],
)
def test_what_cannot_be_is_refused_of_length_bias(change, error, message):
    given = {
        "judge": [1, 2, 3],
        "human": [1, 2, 3],
        "lengths": [1, 2, 3],
        "seed": np.random.default_rng(0),
    }
    with pytest.raises(error, match=message):
        length_bias(**(given | change))


# -- Audits of tables in which nothing varies, or that are too large or no tables at  ------------


def rng():
    return np.random.default_rng(0)


def undefined(*estimates):
    return all(np.isnan([each.low, each.high]).all() for each in estimates)


HUMAN = np.array([1.0, 2, 3, 4, 5, 1, 2, 3, 4, 5, 2, 4]) / 10
OWN = np.arange(12) % 2 == 0


def test_a_judge_that_repeats_people_has_no_interval_since_no_resample_differs():
    lengths = [3, 9, 4, 8, 2, 7, 5, 6, 9, 1, 8, 3]
    found = length_bias(HUMAN, HUMAN, lengths, seed=rng())
    assert found.slope.value == pytest.approx(0, abs=1e-12)
    assert undefined(found.slope, found.rank_slope)
    assert not undefined(found.correlation)
    own = self_preference(HUMAN, HUMAN, own=OWN, seed=rng())
    assert undefined(own.gap, own.adjusted)
    assert not undefined(own.judge_gap)
    groups = group_gaps(HUMAN, HUMAN, OWN, seed=rng())
    assert undefined(groups.largest, *(each.gap for each in groups.groups))
    assert np.isnan([groups.p_value, groups.groups[0].p_value]).all()


def test_a_constant_judge_has_no_interval_at_any_place():
    found = place_effects([0.1] * 12, [1, 2, 3] * 4, seed=rng())
    assert [each.value for each in found.effects] == [0, 0, 0]
    assert undefined(found.slope, *found.effects)


def test_answers_that_all_changed_towards_one_place_leave_room_for_others():
    found = position_bias([1] * 8, [0] * 8, seed=rng())
    assert (found.bias.value, found.inconsistent.value) == (0.5, 1)
    assert undefined(found.bias)
    assert 0.5 < found.inconsistent.low < 0.8
    assert found.inconsistent.high == 1
    assert found.among_inconsistent.low < 0.3
    assert found.among_inconsistent.high == 0.5
    never = position_bias([1] * 8, [1] * 8, seed=rng())
    assert never.inconsistent.low == 0
    assert never.inconsistent.high > 0.2
    assert np.isnan(never.among_inconsistent.value)
    assert never.among_inconsistent.n == 0


def test_more_groups_and_places_than_fit_are_refused():
    scores = np.arange(5000.0)
    with pytest.raises(ValueError, match="5000 sources times 5000 groups or places are more than"):
        group_gaps(scores, scores, np.arange(5000), seed=rng())
    with pytest.raises(ValueError, match="5000 sources times 5000 groups or places are more than"):
        place_effects(scores, scores, seed=rng())


def test_labels_that_are_none_are_refused_by_name():
    scores = [1, 2, 3]
    with pytest.raises(TypeError, match="groups must be a sequence of labels"):
        group_gaps(scores, scores, None, seed=rng())
    with pytest.raises(TypeError, match="systems must be a sequence of labels"):
        system_means(scores, scores, systems=None)
    with pytest.raises(TypeError, match="systems must be a sequence of labels"):
        system_difference(scores, scores, systems=3, first=1, second=2)


def test_scores_that_squares_would_overflow_are_refused():
    huge = [1e308, -1e308, 1, 2]
    for call in (
        lambda: group_gaps([1, 2, 3, 4], huge, [0, 0, 1, 1], seed=rng()),
        lambda: place_effects(huge, [1, 2, 1, 2], seed=rng()),
        lambda: scale_use(huge),
        lambda: system_means(huge, huge, systems=["a"] * 4),
    ):
        with pytest.raises(ValueError, match="must be from -1e100 to 1e100"):
            call()


def test_scores_that_rounding_puts_beyond_the_scale_are_on_its_end():
    found = scale_use([0.1 + 0.2, 0.1, 0.2], levels=[0.1, 0.2, 0.3])
    assert found.ceiling_share.value == pytest.approx(1 / 3)


# -- position ------------------------------------------------------------------------------------


answer = st.sampled_from([0.0, 0.5, 1.0, np.nan])


def bias_of_position(in_order, swapped, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return position_bias(in_order, swapped, seed=np.random.default_rng(seed), **settings)


def effects(predicted, places, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return place_effects(predicted, places, seed=np.random.default_rng(seed), **settings)


@pytest.mark.no_cover
@given(st.lists(st.tuples(answer, answer), min_size=1, max_size=20))
def test_the_bias_is_what_the_first_place_won_beyond_one_half(pairs):
    judged = [(a, b) for a, b in pairs if a == a and b == b]
    found = bias_of_position(*zip(*pairs, strict=True))
    assert found.n_unscored == len(pairs) - len(judged)
    if not judged:
        assert np.isnan([found.bias.value, found.inconsistent.value]).all()
        return
    wins = [won for a, b in judged for won in (a, 1 - b)]
    assert found.bias.value == pytest.approx(np.mean(wins) - 0.5)
    changed = [(a, b) for a, b in judged if a != b]
    assert found.inconsistent.value == pytest.approx(len(changed) / len(judged))
    if changed:
        towards = np.mean([a > b for a, b in changed]) - 0.5
        assert found.among_inconsistent.value == pytest.approx(towards)
    else:
        assert np.isnan(found.among_inconsistent.value)


@pytest.mark.no_cover
@given(st.lists(st.tuples(answer, answer), min_size=1, max_size=20))
def test_calling_the_texts_the_other_way_round_changes_nothing(pairs):
    a, b = (np.array(each) for each in zip(*pairs, strict=True))
    one, other = bias_of_position(a, b), bias_of_position(1 - b, 1 - a)
    assert one.bias.value == pytest.approx(other.bias.value, nan_ok=True)
    assert one.among_inconsistent.value == pytest.approx(
        other.among_inconsistent.value, nan_ok=True
    )


@pytest.mark.parametrize(("first", "expected"), [(1, 0.5), (0, -0.5)])
def test_a_judge_that_looks_at_the_place_only_has_the_greatest_bias_there_is(first, expected):
    found = bias_of_position([first] * 6, [1 - first] * 6)
    assert (found.bias.value, found.among_inconsistent.value) == (expected, expected)
    assert found.inconsistent.value == 1


def test_a_judge_that_is_always_consistent_has_none_right_or_wrong():
    found = bias_of_position([1, 0, 1, 1], [1, 0, 1, 1])
    assert (found.bias.value, found.inconsistent.value) == (0, 0)
    assert np.isnan(found.among_inconsistent.value)


@pytest.mark.no_cover
def test_intervals_over_sources_cover_about_as_often_as_they_claim():
    rng, covered = np.random.default_rng(0), 0
    sources = np.repeat(np.arange(40), 3)
    for seed in range(300):
        quality = rng.normal(size=40)[sources] + rng.normal(size=120)
        # Of a pair without difference, the first place wins by .2 standard deviations.
        a, b = (quality + by + rng.normal(size=120) > 0 for by in (0.2, -0.2))
        found = bias_of_position(a, b, seed, sources=sources, n_resamples=300)
        # The first place wins with chance Phi(.2 / sqrt 3), of three variances of 1.
        truth = NormalDist().cdf(0.2 / 3**0.5) - 0.5
        covered += found.bias.low <= truth <= found.bias.high
    assert 0.91 <= covered / 300 <= 0.98


@for_each(
    ("change", "message"),
    [
        ({"given": [1, 2, 0]}, "given must be from 0 .* got 2.0 at index 1"),
        ({"swapped": [1, -1, 0]}, "swapped must be from 0"),
        ({"swapped": [1, 0]}, "swapped must hold one score per item; got 2 for 3"),
        ({"given": ["first"] * 3}, "given must be a vector of numbers"),
        ({"sources": [1]}, "sources must hold one label"),
    ],
)
def test_answers_that_cannot_be_are_refused(change, message):
    answers = {"given": [1, 0, 1], "swapped": [1, 0, 0]} | change
    with pytest.raises(ValueError, match=message):
        position_bias(**answers, seed=0)


@pytest.mark.no_cover
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=20))
def test_the_effect_of_a_place_is_its_mean_less_that_of_all(rows):
    scores, places = (np.array(each) for each in zip(*rows, strict=True))
    found = effects(scores, places)
    assert found.places == tuple(np.unique(places))
    expected = [scores[places == place].mean() - scores.mean() for place in found.places]
    assert [each.value for each in found.effects] == pytest.approx(expected)
    if len(found.places) > 1:
        assert found.slope.value == pytest.approx(np.polyfit(places, scores, 1)[0], abs=1e-9)
    else:
        assert np.isnan(found.slope.value)


def test_what_a_source_gives_to_all_its_places_cancels_in_the_intervals():
    rng = np.random.default_rng(1)
    sources, places = np.repeat(np.arange(40), 5), np.tile(np.arange(1, 6), 40)
    scores = 3 * rng.normal(size=40)[sources] - 0.2 * places + rng.normal(size=200)
    together = effects(scores, places, sources=sources, n_resamples=300)
    apart = effects(scores, places, n_resamples=300)
    assert together.slope.high - together.slope.low < 0.6 * (apart.slope.high - apart.slope.low)
    assert together.slope.low < -0.2 < together.slope.high < 0
    assert together.slope.n_groups == 40


def test_places_of_unscored_rows_do_not_count():
    found = effects(pd.Series([1.0, None, 3, 4]), [1, 9, 2, 2])
    assert (found.places, found.n_unscored) == ((1, 2), 1)
    empty = effects([], [])
    assert (empty.places, empty.effects) == ((), ())
    assert np.isnan(empty.slope.value)
    with pytest.raises(ValueError, match="places must hold one score per item"):
        effects([1, 2], [1])


def test_gpt35_prefers_the_first_summary_for_relevance_and_the_second_for_consistency(data_folder):
    answers = {}
    recorded = data_folder / "recorded" / "summeval_h2h_chatgpt.jsonl.gz"
    with gzip.open(recorded, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            kind = row["criterion"], row["judge"].endswith("order swapped")
            key = row["source_id"], row["system_id"]
            answers.setdefault(kind, {})[key] = row["scores"][0]
    found = {}
    for criterion in ("relevance", "consistency"):
        in_order, swapped = answers[criterion, False], answers[criterion, True]
        sources = [source for source, _ in in_order]
        given = list(in_order.values()), [swapped[key] for key in in_order]
        found[criterion] = bias_of_position(*given, sources=sources, n_resamples=300).bias
    assert found["relevance"].low > 0.04
    assert found["consistency"].high < -0.06


# -- scale use -----------------------------------------------------------------------------------


rows_of_scale_use = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=15
)


def tie_rate(scores, same=None):
    pairs = [
        scores[i] == scores[j]
        for i, j in combinations(range(len(scores)), 2)
        if same is None or same[i] == same[j]
    ]
    return np.mean(pairs) if pairs else np.nan


def evenness(scores, n_levels):
    _, counts = np.unique(scores, return_counts=True)
    return stats.entropy(counts) / np.log(n_levels) if counts.size else np.nan


@pytest.mark.no_cover
@given(rows_of_scale_use)
def test_every_share_is_what_counting_gives(table):
    scores, sources = (np.array(each, dtype=float) for each in zip(*table, strict=True))
    found = scale_use(scores, levels=range(1, 6), round_to=2, sources=sources)
    values, counts = np.unique(scores, return_counts=True)
    assert found.most_used == values[np.argmax(counts)]
    assert found.most_used_share.value == pytest.approx(counts.max() / len(scores))
    assert found.floor_share.value == pytest.approx(np.mean(scores == 1))
    assert found.ceiling_share.value == pytest.approx(np.mean(scores == 5))
    assert found.round_share.value == pytest.approx(np.mean(scores % 2 == 0))
    assert found.n_used == len(values)
    assert found.tied_pairs.value == pytest.approx(tie_rate(scores), nan_ok=True)
    assert found.tied_pairs_within.value == pytest.approx(tie_rate(scores, sources), nan_ok=True)
    assert found.entropy.value == pytest.approx(evenness(scores, 5), abs=1e-12)


def test_an_even_use_has_entropy_1_and_a_constant_one_0_unless_only_it_is_known():
    assert scale_use([1, 2, 3, 4], levels=range(1, 5)).entropy.value == pytest.approx(1)
    assert scale_use([2, 2, 2], levels=range(1, 5)).entropy.value == 0
    assert np.isnan(scale_use([2, 2, 2]).entropy.value)
    assert scale_use([2, 2, 2]).tied_pairs.value == 1


def test_scores_between_levels_count_for_the_nearest_in_entropy_only():
    found = scale_use([1, 1.2, 4.9, 5], levels=[1, 5])
    assert found.entropy.value == pytest.approx(1)
    assert (found.n_used, found.tied_pairs.value, found.ceiling_share.value) == (4, 0, 0.25)


def test_scores_that_differ_by_rounding_alone_are_one():
    found = scale_use([0.3, 0.1 + 0.2, 0.6], round_to=0.3)
    assert (found.n_used, found.floor_share.value) == (2, pytest.approx(2 / 3))
    assert (found.round_share.value, found.tied_pairs.value) == (1, pytest.approx(1 / 3))


def test_units_change_nothing():
    scores = np.random.default_rng(0).integers(1, 6, size=60)
    one = scale_use(scores, levels=range(1, 6), round_to=2)
    other = scale_use(scores * 20, levels=range(20, 101, 20), round_to=40)
    assert other.most_used == 20 * one.most_used
    assert one.entropy == other.entropy
    assert (one.round_share, one.tied_pairs) == (other.round_share, other.tied_pairs)


def test_unscored_rows_are_left_out_and_no_rows_leave_all_undefined():
    found = scale_use(pd.Series([4, None, 4, 5]), sources=list("aabb"))
    assert (found.n_unscored, found.most_used, found.most_used_share.n) == (1, 4, 3)
    for empty in (scale_use([]), scale_use([None], levels=[1, 2], round_to=1)):
        assert np.isnan([empty.most_used, empty.entropy.value, empty.tied_pairs.value]).all()
        assert np.isnan([empty.most_used_share.value, empty.round_share.value]).all()
        assert empty.n_used == 0
    one = scale_use([3])
    assert (one.most_used_share.value, one.floor_share.value) == (1, 1)
    assert np.isnan(one.tied_pairs.value)
    assert np.isnan(found.round_share.value)


@pytest.mark.no_cover
def test_intervals_cover_about_as_often_as_they_claim():
    rng = np.random.default_rng(1)
    sources = np.repeat(np.arange(50), 4)

    def draw(n):
        own = np.repeat(np.arange(n), 4)
        return np.clip(np.round(4 + 0.6 * rng.normal(size=n)[own] + rng.normal(size=4 * n)), 1, 5)

    true = scale_use(draw(40_000), levels=range(1, 6))
    ties = entropy = 0
    for _ in range(400):
        found = scale_use(draw(50), levels=range(1, 6), sources=sources)
        ties += found.tied_pairs.low <= true.tied_pairs.value <= found.tied_pairs.high
        entropy += found.entropy.low <= true.entropy.value <= found.entropy.high
    assert 0.91 <= ties / 400 <= 0.98
    assert 0.91 <= entropy / 400 <= 0.98


def test_many_rows_and_levels_take_no_table_of_both():
    scores = np.random.default_rng(2).normal(size=200_000)
    found = scale_use(scores)
    assert (found.n_used, found.tied_pairs.value) == (200_000, 0)


@for_each(
    ("change", "message"),
    [
        ({"levels": [3]}, r"levels must be two points or more; got \[3.0\]"),
        ({"levels": range(1, 4)}, "within levels, 1 to 3; got 4, and 1 such in all"),
        ({"levels": ["low", "high"]}, "levels must be a vector of numbers"),
        ({"round_to": 0}, "round_to must be above 0"),
        ({"scores": [1, np.inf, 2]}, "scores has no finite score"),
        ({"scores": "abc"}, "scores must be a vector"),
        ({"sources": [1]}, "sources must hold one label"),
        ({"confidence": 2}, "confidence must be strictly"),
    ],
)
def test_what_cannot_be_is_refused_of_scale_use(change, message):
    with pytest.raises(ValueError, match=message):
        scale_use(**({"scores": [1, 4, 2]} | change))


# -- self preference -----------------------------------------------------------------------------


rows_of_self_preference = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.booleans()), min_size=4, max_size=20
)


def preference(predicted, human, own, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return self_preference(human, predicted, own=own, seed=np.random.default_rng(seed), **settings)


def answers_of_self_preference(rng, n_sources=30, better=0.0, favoured=0.0, noise=0.5):
    """Return judge, people, whose answer it is and sources; two of six systems are its own."""
    sources, systems = np.repeat(np.arange(n_sources), 6), np.tile(np.arange(6), n_sources)
    own = systems < 2
    quality = 0.5 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
    quality = quality + better * own
    judge = quality + favoured * own + noise * rng.normal(size=sources.size)
    return judge, quality + 0.1 * rng.normal(size=sources.size), own, sources


@pytest.mark.no_cover
@given(rows_of_self_preference)
def test_gaps_are_differences_of_standardised_means_and_a_coefficient(table):
    judge, human, own = (np.array(each) for each in zip(*table, strict=True))
    found = preference(judge, human, own)
    if min(np.ptp(judge), np.ptp(human), np.ptp(own.astype(int))) == 0:
        assert np.isnan(found.gap.value)
        return
    j, h = ((each - each.mean()) / each.std() for each in (judge, human))
    by_judge, by_people = (each[own].mean() - each[~own].mean() for each in (j, h))
    assert found.judge_gap.value == pytest.approx(by_judge)
    assert found.human_gap.value == pytest.approx(by_people)
    assert found.gap.value == pytest.approx((j - h)[own].mean() - (j - h)[~own].mean(), abs=1e-9)
    if abs(np.corrcoef(h, own)[0, 1]) < 0.999:
        design = np.stack([np.ones(len(j)), own, h], axis=1)
        coefficient = np.linalg.lstsq(design, j, rcond=None)[0][1]
        assert found.adjusted.value == pytest.approx(coefficient, abs=1e-9)
    assert (found.n_own, found.n_other) == (own.sum(), (~own).sum())


def test_scales_change_nothing_and_calling_the_others_own_turns_the_gaps_around():
    judge, human, own, sources = answers_of_self_preference(np.random.default_rng(0), favoured=0.4)
    one = preference(judge, human, own, sources=sources)
    other = preference(3 * judge + 1, human / 7, own, sources=sources)
    around = preference(judge, human, ~own, sources=sources)
    for name in ("gap", "adjusted", "judge_gap", "human_gap"):
        first, second, third = (getattr(each, name) for each in (one, other, around))
        assert (first.value, first.low) == pytest.approx((second.value, second.low))
        assert (first.value, first.low) == pytest.approx((-third.value, -third.high))


@pytest.mark.no_cover
def test_a_judge_that_prefers_its_own_as_people_do_is_cleared_as_often_as_claimed():
    rng, gap, adjusted = np.random.default_rng(1), 0, 0
    for seed in range(300):
        found = preference(
            *answers_of_self_preference(rng)[:3],
            seed,
            sources=np.repeat(range(30), 6),
            n_resamples=300,
        )
        gap += found.gap.low <= 0 <= found.gap.high
        adjusted += found.adjusted.low <= 0 <= found.adjusted.high
    assert 0.91 <= gap / 300 <= 0.98
    assert 0.91 <= adjusted / 300 <= 0.98


def test_a_judge_that_favours_its_own_is_found():
    judge, human, own, sources = answers_of_self_preference(np.random.default_rng(2), favoured=0.8)
    found = preference(judge, human, own, sources=sources, n_resamples=200)
    assert found.gap.low > 0
    assert found.adjusted.low > 0
    assert found.human_gap.low < 0 < found.human_gap.high


def test_noise_of_the_judge_hides_what_it_gives_its_own_from_the_plain_gap_only():
    found = preference(
        *answers_of_self_preference(
            np.random.default_rng(3), n_sources=5000, better=1.0, noise=2.0
        )[:3]
    )
    assert found.gap.value < -0.2
    assert found.adjusted.value == pytest.approx(0, abs=0.05)


def test_answers_of_one_kind_or_constant_scores_are_undefined():
    for own in ([True] * 4, [False] * 4):
        found = preference([1, 2, 3, 4], [1, 2, 4, 3], own)
        assert np.isnan([found.gap.value, found.adjusted.value, found.judge_gap.low]).all()
    flat = preference([2, 2, 2, 2], [1, 2, 4, 3], [True, False] * 2)
    assert np.isnan([flat.gap.value, flat.adjusted.value]).all()
    assert np.isfinite(flat.human_gap.value)
    assert np.isnan(preference([], [], []).gap.value)
    assert preference([], [], []).n_own == 0


def test_unscored_rows_are_left_out_and_counted_of_self_preference():
    judge, human, own, _ = answers_of_self_preference(np.random.default_rng(4))
    judge[[0, 9]] = np.nan
    kept = ~np.isnan(judge)
    found, alone = preference(judge, human, own), preference(judge[kept], human[kept], own[kept])
    assert (found.n_unscored, found.gap) == (2, alone.gap)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ([1, 2, 0], "own must be True or False"),
        ([True, False], "own must hold one score per item; got 2 for 3"),
        ([True, None, False], "own has no finite score for 1 of 3"),
        (["gpt", "gpt", "other"], "own must be a vector of numbers"),
    ],
)
def test_whose_answers_they_are_must_be_said(own, message):
    with pytest.raises(ValueError, match=message):
        preference([1, 2, 3], [1, 2, 3], own)
