import gzip
import json
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.audits.bias import place_effects, position_bias

answer = st.sampled_from([0.0, 0.5, 1.0, np.nan])


def bias(in_order, swapped, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return position_bias(in_order, swapped, rng=np.random.default_rng(seed), **settings)


def effects(predicted, places, seed=0, **settings):
    settings = {"n_resamples": 20} | settings
    return place_effects(predicted, places, rng=np.random.default_rng(seed), **settings)


@pytest.mark.no_cover
@given(st.lists(st.tuples(answer, answer), min_size=1, max_size=20))
def test_the_bias_is_what_the_first_place_won_beyond_one_half(pairs):
    judged = [(a, b) for a, b in pairs if a == a and b == b]
    found = bias(*zip(*pairs, strict=True))
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
    one, other = bias(a, b), bias(1 - b, 1 - a)
    assert one.bias.value == pytest.approx(other.bias.value, nan_ok=True)
    assert one.among_inconsistent.value == pytest.approx(
        other.among_inconsistent.value, nan_ok=True
    )


@pytest.mark.parametrize(("first", "expected"), [(1, 0.5), (0, -0.5)])
def test_a_judge_that_looks_at_the_place_only_has_the_greatest_bias_there_is(first, expected):
    found = bias([first] * 6, [1 - first] * 6)
    assert (found.bias.value, found.among_inconsistent.value) == (expected, expected)
    assert found.inconsistent.value == 1


def test_a_judge_that_is_always_consistent_has_none_right_or_wrong():
    found = bias([1, 0, 1, 1], [1, 0, 1, 1])
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
        found = bias(a, b, seed, sources=sources, n_resamples=300)
        # The first place wins with chance Phi(.2 / sqrt 3), of three variances of 1.
        truth = NormalDist().cdf(0.2 / 3**0.5) - 0.5
        covered += found.bias.low <= truth <= found.bias.high
    assert 0.91 <= covered / 300 <= 0.98


@pytest.mark.parametrize(
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
        position_bias(**answers, rng=np.random.default_rng(0))


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
        found[criterion] = bias(*given, sources=sources, n_resamples=300).bias
    assert found["relevance"].low > 0.04
    assert found["consistency"].high < -0.06
