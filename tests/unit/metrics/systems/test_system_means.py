import gzip
import json

import numpy as np
import pytest
from scipy import stats

from judgesmith.metrics.systems.means import (
    prediction_powered_mean,
    system_difference,
    system_means,
)


def table(rng, n_sources=60, n_rated=15, gap=0.0):
    """Return judge, people (nan where unrated), systems and sources, each of both systems."""
    sources, systems = np.tile(np.arange(n_sources), 2), np.repeat(["new", "old"], n_sources)
    true = rng.normal(size=n_sources)[sources] + 0.5 * rng.normal(size=sources.size)
    true = true + gap * (systems == "new")
    judge = true + 0.3 * rng.normal(size=true.size)
    human = true + 0.3 * rng.normal(size=true.size)
    return judge, np.where(sources < n_rated, human, np.nan), systems, sources


def test_every_system_has_the_mean_of_its_own_rows():
    judge, human, systems, sources = table(np.random.default_rng(0))
    judge[[3, 40]] = np.nan
    found = system_means(human, judge, systems=systems, sources=sources)
    assert [each.system for each in found] == ["new", "old"]
    for each in found:
        own = systems == each.system
        rated = ~np.isnan(human)
        alone = prediction_powered_mean(
            human[own & rated],
            judge[own & rated],
            judge[own & ~rated],
            sources=sources[own & rated],
            sources_unlabelled=sources[own & ~rated],
        )
        assert each.estimate == alone.estimate
        assert (each.weight, each.gain, each.n_unscored) == (
            alone.weight,
            alone.gain,
            alone.n_unscored,
        )


def test_without_sources_every_row_is_its_own():
    judge, human, systems, _ = table(np.random.default_rng(1))
    by_row = system_means(human, judge, systems=systems)
    assert by_row == system_means(human, judge, systems=systems, sources=range(120))


def test_a_system_that_nobody_rated_is_undefined():
    judge, human, systems, sources = table(np.random.default_rng(2))
    human[systems == "old"] = np.nan
    _, old = system_means(human, judge, systems=systems, sources=sources)
    assert np.isnan([old.estimate.value, old.classical.value, old.estimate.high, old.gain]).all()
    assert (old.n_rated, old.n_unrated) == (0, 60)
    found = system_difference(
        human, judge, first="new", second="old", systems=systems, sources=sources
    )
    assert np.isnan([found.estimate.value, found.classical.p_value, found.estimate.second]).all()
    assert found.n_shared == 0


def test_where_both_were_rated_on_the_same_sources_the_ratings_alone_are_the_paired_test():
    judge, human, systems, sources = table(np.random.default_rng(3), gap=0.3)
    found = system_difference(
        human, judge, first="new", second="old", systems=systems, sources=sources
    )
    expected = stats.ttest_rel(human[:15], human[60:75])
    interval = expected.confidence_interval()
    assert found.classical.p_value == pytest.approx(expected.pvalue)
    assert (found.classical.low, found.classical.high) == pytest.approx(tuple(interval))
    assert found.n_shared == 15
    assert found.estimate.value == pytest.approx(found.estimate.first - found.estimate.second)


def test_where_no_source_is_shared_the_ratings_alone_are_welchs_test():
    rng = np.random.default_rng(4)
    human = np.concatenate([rng.normal(size=12), 0.5 + 2 * rng.normal(size=20)])
    systems = np.repeat(["new", "old"], [12, 20])
    found = system_difference(
        human, np.zeros(32), first="new", second="old", systems=systems
    ).classical
    expected = stats.ttest_ind(human[:12], human[12:], equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx(tuple(interval))


def test_of_complete_pairs_it_is_the_powered_mean_of_their_differences():
    judge, human, systems, sources = table(np.random.default_rng(5))
    found = system_difference(
        human, judge, first="new", second="old", systems=systems, sources=sources, weight=0.7
    )
    gaps, wanted = judge[:60] - judge[60:], human[:60] - human[60:]
    alone = prediction_powered_mean(wanted[:15], gaps[:15], gaps[15:], weight=0.7)
    assert found.estimate.value == pytest.approx(alone.estimate.value)
    assert (found.estimate.low, found.estimate.high) == pytest.approx(
        (alone.estimate.low, alone.estimate.high)
    )
    tuned = system_difference(
        human, judge, first="new", second="old", systems=systems, sources=sources
    )
    again = prediction_powered_mean(wanted[:15], gaps[:15], gaps[15:])
    assert tuned.weight == pytest.approx(again.weight, abs=0.02)


def test_swapping_the_systems_turns_the_difference_around():
    judge, human, systems, sources = table(np.random.default_rng(6))
    given = {"systems": systems, "sources": sources}
    one = system_difference(human, judge, first="new", second="old", **given)
    other = system_difference(human, judge, first="old", second="new", **given)
    assert one.estimate.value == pytest.approx(-other.estimate.value)
    assert one.estimate.p_value == pytest.approx(other.estimate.p_value)
    assert (one.estimate.low, one.weight) == pytest.approx((-other.estimate.high, other.weight))


def test_other_systems_and_unscored_rows_take_no_part():
    judge, human, systems, sources = table(np.random.default_rng(7))
    given = {"first": "new", "second": "old"}
    alone = system_difference(human, judge, systems=systems, sources=sources, **given)
    more = system_difference(
        [*human, 2, 9, 9],
        [*judge, 1, 9, np.nan],
        systems=[*systems, "third", "third", "old"],
        sources=[*sources, 0, 1, 2],
        **given,
    )
    assert more.estimate == alone.estimate
    assert more.n_unscored == 1


@pytest.mark.no_cover
def test_systems_equally_good_differ_significantly_in_about_one_test_of_twenty():
    rng = np.random.default_rng(8)
    powered = ratings = excluded = 0
    for _ in range(400):
        judge, human, systems, sources = table(rng)
        found = system_difference(
            human, judge, first="new", second="old", systems=systems, sources=sources
        )
        powered += found.estimate.p_value < 0.05
        excluded += not found.estimate.low <= 0 <= found.estimate.high
        ratings += found.classical.p_value < 0.05
    assert 0.02 <= powered / 400 <= 0.08
    assert 0.02 <= ratings / 400 <= 0.08
    assert powered == excluded


@pytest.mark.no_cover
def test_a_good_judge_finds_a_difference_more_often_than_the_ratings_alone():
    rng = np.random.default_rng(9)
    powered = ratings = 0
    for _ in range(200):
        judge, human, systems, sources = table(rng, n_sources=120, n_rated=15, gap=0.4)
        found = system_difference(
            human, judge, first="new", second="old", systems=systems, sources=sources
        )
        powered += found.estimate.p_value < 0.05
        ratings += found.classical.p_value < 0.05
    assert powered > ratings + 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"second": "third"}, "second must be one of the systems; no row has 'third'"),
        ({"second": "new"}, "must be two systems; got 'new' twice"),
        ({"systems": ["new"]}, "systems must hold one label per item"),
        ({"sources": [1]}, "sources must hold one label per item"),
        ({"human": [1, 2]}, "human must hold one score per item; got 2 for 4"),
        ({"judge": [1, 2, 3, np.inf]}, "judge has no finite score for 1 of 4"),
        ({"weight": -0.1}, "weight must be from 0"),
        ({"confidence": 0}, "confidence must be strictly"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    given = {
        "judge": [1, 2, 3, 4],
        "human": [1, None, 3, 2],
        "systems": ["new", "old"] * 2,
        "first": "new",
        "second": "old",
    } | change
    with pytest.raises(ValueError, match=message):
        system_difference(**given)
    del given["first"], given["second"]
    if "second" not in change:
        with pytest.raises(ValueError, match=message):
            system_means(**given)


@pytest.fixture(scope="module")
def summeval(data_folder):
    """Return scores of gpt-4 and of people on consistency, with systems and sources."""
    rated = {}
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            rated[row["source_id"], row["system_id"]] = np.mean(row["human"]["consistency"])
    rows = []
    recorded = data_folder / "recorded" / "summeval_likert_llms.jsonl.gz"
    with gzip.open(recorded, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if (row["judge"], row["criterion"]) == ("gpt-4-0314 rts", "consistency"):
                key = row["source_id"], row["system_id"]
                rows.append((np.array(row["scores"], dtype=float)[0], rated[key], *key))
    judge, human, sources, systems = map(np.array, zip(*rows, strict=True))
    return judge, human, systems, sources


def test_on_summeval_gpt4_shortens_the_interval_of_the_mean_of_all_systems(summeval):
    judge, human, _, sources = summeval
    rng = np.random.default_rng(0)
    ratios, held = [], 0
    for _ in range(20):
        some = np.where(rng.random(human.size) < 0.25, human, np.nan)
        found = system_means(some, judge, systems=np.zeros(human.size), sources=sources)[0]
        powered, alone = (one.high - one.low for one in (found.estimate, found.classical))
        ratios.append(powered / alone)
        held += found.estimate.low <= human.mean() <= found.estimate.high
    assert 0.8 < np.mean(ratios) < 0.9
    assert held >= 18


def test_on_summeval_25_ratings_of_one_system_gain_little_from_gpt4(summeval):
    judge, human, systems, sources = summeval
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(10):
        rated = rng.permutation(np.unique(sources))[:25]
        some = np.where(np.isin(sources, rated), human, np.nan)
        found = system_difference(
            some, judge, first="M8", second="M9", systems=systems, sources=sources
        )
        gains.append(found.gain)
    assert 0.9 < np.median(gains) < 1.5
