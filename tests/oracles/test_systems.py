"""`metrics.systems` against definitions, worked values and other implementations."""

import gzip
import json
from statistics import NormalDist

import numpy as np
import pytest
from looping import for_each
from scipy import stats

from judgesmith.metrics.systems import (
    prediction_powered_mean,
    system_difference,
    system_means,
    system_ranks,
)

# -- prediction powered --------------------------------------------------------------------------


HUMAN = [4, 2, 5, 3, 4, 1, 3, 5]
JUDGE = [4.5, 2.5, 4, 3.5, 4.5, 2, 2.5, 5]
OTHERS = [4, 3.5, 2, 5, 3, 4.5, 1.5, 4, 3.5, 2.5, 5, 3]
# ppi-python 0.2.3: ppi_mean_pointestimate(HUMAN, JUDGE, OTHERS, lam=lam) and
# ppi_mean_ci(HUMAN, JUDGE, OTHERS, alpha=0.05, lam=lam), as arrays. lam=None found 0.62145833.
PPI_PYTHON = {
    None: (3.3102647569444446, 2.6436810495624927, 3.9768484643263964),
    1.0: (3.2708333333333335, 2.532969614835797, 4.00869705183087),
    0.5: (3.322916666666667, 2.64010184244845, 4.005731490884884),
    0.0: (3.375, 2.462412323243585, 4.287587676756416),
}


@pytest.mark.parametrize("weight", PPI_PYTHON)
def test_the_mean_and_the_weight_are_those_of_ppi_python(weight):
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS, weight=weight)
    assert found.estimate.value == pytest.approx(PPI_PYTHON[weight][0], abs=1e-12)
    assert found.weight == pytest.approx(0.6214583333333334 if weight is None else weight)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_interval_is_that_of_ppi_python_but_for_degrees_of_freedom(weight):
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS, weight=weight).estimate
    # It divides by n where a variance divides by n - 1, and takes the normal quantile.
    rated = np.subtract(HUMAN, np.multiply(weight, JUDGE))
    theirs = np.sqrt(rated.var() / 8 + weight**2 * np.var(OTHERS) / 12)
    _, low, high = PPI_PYTHON[weight]
    assert theirs * NormalDist().inv_cdf(0.975) == pytest.approx((high - low) / 2)
    parts = [rated.var(ddof=1) / 8, weight**2 * np.var(OTHERS, ddof=1) / 12]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 7 + parts[1] ** 2 / 11)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    assert (found.high - found.low) / 2 == pytest.approx(reach)
    assert reach > (high - low) / 2


def test_the_ratings_alone_have_students_interval():
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    low, high = stats.t.interval(0.95, 7, loc=np.mean(HUMAN), scale=stats.sem(HUMAN))
    assert (found.classical.low, found.classical.high) == pytest.approx((low, high))
    assert (found.classical.n, found.classical.n_groups) == (8, 8)
    assert (found.estimate.n, found.n_rated, found.n_unrated) == (20, 8, 12)
    assert found.gain == pytest.approx(
        ((high - low) / 2 / stats.t.ppf(0.975, 7)) ** 2 / error_of(found.estimate) ** 2, rel=0.1
    )


def error_of(estimate):
    return (estimate.high - estimate.low) / 2 / stats.t.ppf(0.975, 10)


def test_whole_sources_count_once():
    found = prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    copies = [np.repeat(each, 3) for each in (HUMAN, JUDGE, OTHERS)]
    labels = {
        "sources": np.repeat(np.arange(8), 3),
        "sources_unlabelled": np.repeat(range(8, 20), 3),
    }
    for weight in (0.0, 0.5):
        once = prediction_powered_mean(HUMAN, JUDGE, OTHERS, weight=weight).estimate
        thrice = prediction_powered_mean(*copies, weight=weight, **labels).estimate
        assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
        assert (thrice.n, thrice.n_groups) == (60, 20)
    assert prediction_powered_mean(*copies, **labels).weight == pytest.approx(found.weight, abs=0.1)


def test_what_a_source_gives_to_rated_and_unrated_rows_alike_cancels():
    rng = np.random.default_rng(0)
    effect = 3 * rng.normal(size=40)
    judge = effect + rng.normal(size=40)
    human = judge + 0.1 * rng.normal(size=40)
    others = effect + rng.normal(size=40)
    shared = prediction_powered_mean(
        human, judge, others, sources=range(40), sources_unlabelled=range(40), weight=1.0
    )
    apart = prediction_powered_mean(
        human, judge, others, sources=range(40), sources_unlabelled=range(40, 80), weight=1.0
    )
    assert shared.estimate.n_groups == 40
    assert apart.estimate.n_groups == 80
    assert shared.estimate.value == apart.estimate.value
    expected = np.std(human - judge + others, ddof=1) / np.sqrt(40) * stats.t.ppf(0.975, 39)
    assert (shared.estimate.high - shared.estimate.low) / 2 == pytest.approx(expected)


def test_without_unrated_rows_or_with_a_constant_judge_the_ratings_stand_alone():
    for found in (
        prediction_powered_mean(HUMAN, JUDGE, []),
        prediction_powered_mean(HUMAN, [0.1] * 8, [0.1] * 5),
        prediction_powered_mean(HUMAN, [-score for score in JUDGE], [-score for score in OTHERS]),
    ):
        assert found.weight == 0
        assert found.estimate.value == found.classical.value
    assert prediction_powered_mean(HUMAN, JUDGE, []).gain == pytest.approx(1.0)


def test_rows_without_a_score_are_left_out_and_counted():
    found = prediction_powered_mean([*HUMAN, 1], [*JUDGE, None], [*OTHERS, np.nan, np.nan])
    full = prediction_powered_mean(HUMAN, JUDGE, OTHERS)
    assert found.n_unscored == 3
    assert (found.estimate, found.classical) == (full.estimate, full.classical)


def test_too_few_ratings_leave_the_interval_or_the_mean_undefined():
    one = prediction_powered_mean([5], [4], OTHERS)
    assert one.classical.value == 5
    assert np.isnan([one.estimate.low, one.classical.high, one.gain]).all()
    none = prediction_powered_mean([], [], OTHERS)
    assert np.isnan([none.estimate.value, none.classical.value, none.estimate.low]).all()
    assert (none.n_rated, none.n_unrated) == (0, 12)
    together = prediction_powered_mean(
        HUMAN, JUDGE, OTHERS, sources=["a"] * 8, sources_unlabelled=["a"] * 12
    )
    assert np.isfinite(together.estimate.value)
    assert np.isnan(together.estimate.low)


def test_ratings_that_do_not_vary_have_no_interval():
    found = prediction_powered_mean([4] * 8, JUDGE, OTHERS)
    assert (found.classical.value, found.estimate.value) == (4, 4)
    assert np.isnan([found.classical.low, found.estimate.low, found.gain]).all()


@for_each(
    ("change", "message"),
    [
        ({"human": HUMAN[1:]}, "got 8 scores of judge and 7 human"),
        ({"human": [None, *HUMAN[1:]]}, "human has no finite score for 1 of 8"),
        ({"judge_unlabelled": [1, np.inf]}, "judge_unlabelled has no finite score"),
        ({"judge_unlabelled": "abc"}, "judge_unlabelled must be a vector"),
        ({"judge": ["good"] * 8}, "judge must be a vector of numbers"),
        ({"sources": range(8)}, "both sources and sources_unlabelled, or neither"),
        ({"sources": range(7), "sources_unlabelled": range(12)}, "sources must hold one label"),
        ({"sources": range(8), "sources_unlabelled": [1]}, "sources_unlabelled must hold one"),
        ({"weight": 1.5}, "weight must be from 0 .* got 1.5"),
        ({"weight": float("nan")}, "weight must be from 0"),
        ({"confidence": 95}, "confidence must be strictly between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    given = {"judge": JUDGE, "human": HUMAN, "judge_unlabelled": OTHERS} | change
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(**given)


def rows(rng, n_rated, n_unrated, noise):
    true = rng.normal(size=n_rated + n_unrated) + 0.5
    judge = 1 + true + noise * rng.normal(size=true.size)
    human = true[:n_rated] + 0.3 * rng.normal(size=n_rated)
    return human, judge[:n_rated], judge[n_rated:]


@pytest.mark.no_cover
@pytest.mark.parametrize(("noise", "shortest", "longest"), [(0.3, 0.3, 0.7), (30, 0.97, 1.06)])
def test_it_covers_as_claimed_and_a_good_judge_makes_it_shorter(noise, shortest, longest):
    rng = np.random.default_rng(0)
    covered, lengths = 0, []
    for _ in range(300):
        found = prediction_powered_mean(*rows(rng, 15, 150, noise))
        covered += found.estimate.low <= 0.5 <= found.estimate.high
        powered, alone = (each.high - each.low for each in (found.estimate, found.classical))
        lengths.append([powered, alone])
    assert 0.92 <= covered / 300 <= 0.98
    powered, alone = np.mean(lengths, axis=0)
    assert shortest < powered / alone < longest


@pytest.mark.no_cover
def test_it_covers_with_rows_alike_within_sources_that_hold_both_kinds():
    rng = np.random.default_rng(1)
    sources, rated = np.repeat(np.arange(20), 4), np.tile([True, True, False, False], 20)
    covered = 0
    for _ in range(300):
        true = rng.normal(size=20)[sources] + rng.normal(size=80)
        judge, human = true + 0.5 * rng.normal(size=80), true + 0.5 * rng.normal(size=80)
        found = prediction_powered_mean(
            human[rated],
            judge[rated],
            judge[~rated],
            sources=sources[rated],
            sources_unlabelled=sources[~rated],
        )
        covered += found.estimate.low <= 0 <= found.estimate.high
    assert 0.92 <= covered / 300 <= 0.98


# -- system means --------------------------------------------------------------------------------


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
    for _ in range(250):
        judge, human, systems, sources = table(rng)
        found = system_difference(
            human, judge, first="new", second="old", systems=systems, sources=sources
        )
        powered += found.estimate.p_value < 0.05
        excluded += not found.estimate.low <= 0 <= found.estimate.high
        ratings += found.classical.p_value < 0.05
    assert 0.02 <= powered / 250 <= 0.08
    assert 0.02 <= ratings / 250 <= 0.08
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


@for_each(
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
def test_what_cannot_be_is_refused_of_system_means(change, message):
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


def test_ranks_are_those_that_comparisons_of_all_pairs_leave_open():
    rng = np.random.default_rng(3)
    sources, systems = np.repeat(np.arange(40), 3), np.tile(["best", "middle", "twin"], 40)
    quality = rng.normal(size=40)[sources] + 2.0 * (systems == "best")
    people = quality + rng.normal(scale=0.3, size=120)
    judge = quality + rng.normal(scale=0.3, size=120)
    people[60:] = np.nan
    found = system_ranks(people, judge, systems=systems, sources=sources)
    assert found == {"best": (1, 1), "middle": (2, 3), "twin": (2, 3)}
    assert system_ranks(-people, -judge, systems=systems, sources=sources)["best"] == (3, 3)
    people[:] = np.nan
    people[:3] = 1.0  # one source: nothing can be compared
    assert set(system_ranks(people, judge, systems=systems, sources=sources).values()) == {(1, 3)}
