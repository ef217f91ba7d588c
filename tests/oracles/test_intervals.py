"""Bootstrap intervals against definitions, worked values and other implementations."""

import dataclasses
import math

import numpy as np
import pytest
from looping import for_each
from scipy import stats

from judgesmith.metrics import permutation_test
from judgesmith.metrics.correlation import (
    RatedPart,
    agreement,
    agreement_difference,
    agreement_interval,
    mean_agreement_difference,
    mean_agreement_interval,
)

# -- intervals -----------------------------------------------------------------------------------


# The Pearson correlation of all rows and the mean of it within sources, in `draw` below.
WITHIN = 1 / math.sqrt(2 * 1.25)
OVERALL = (1 + 0.36) / math.sqrt((2 + 0.36) * (1.25 + 0.36))


def draw(rng, n_sources, n_systems):
    """Return judge and human scores: quality and an effect of the source, both with noise."""
    sources = np.repeat(np.arange(n_sources), n_systems)
    quality = rng.normal(size=sources.size) + 0.6 * rng.normal(size=n_sources)[sources]
    human = quality + 0.5 * rng.normal(size=sources.size)
    return quality + rng.normal(size=sources.size), human, sources


def interval(judge, human, sources, *, seed=0, **settings):
    settings = {"statistic": "q", "level": "dataset", "n_resamples": 200} | settings
    return agreement_interval(
        human, judge, sources=sources, seed=np.random.default_rng(seed), **settings
    )


def judges_of_whom_one_gives_up():
    """Return a good judge, one that is as good on easy sources and ties all on hard ones."""
    rng = np.random.default_rng(5)
    sources, systems = np.repeat(np.arange(40), 6), np.tile(np.arange(6), 40)
    human = rng.normal(size=240)
    easy = sources < 15
    good = human + rng.normal(size=240) * np.where(easy, 0.5, 2.0)
    lazy = np.where(easy, human + 0.5 * rng.normal(size=240), 3.0)
    return good, lazy, human, sources, systems


def test_a_judge_that_ties_what_is_hard_is_compared_where_it_tries():
    good, lazy, human, sources, systems = judges_of_whom_one_gives_up()
    easy = sources < 15
    labels = {"sources": sources, "systems": systems, "statistic": "kendall", "level": "sample"}
    found = agreement_difference(human, lazy, good, **labels, seed=0)
    alone = [
        agreement(
            human[easy], each[easy], sources=sources[easy], statistic="kendall", level="sample"
        )
        for each in (lazy, good)
    ]
    assert (found.first, found.second) == (alone[0].value, alone[1].value)
    assert (found.n, found.n_groups, found.n_undefined) == (90, 15, 25)
    assert found.low < 0 < found.high
    tested = permutation_test(human, lazy, good, **labels, seed=0)
    assert tested.statistic == found.value
    assert (tested.n_groups, tested.n_undefined) == (15, 25)
    assert tested.p_value > 0.05


@pytest.mark.no_cover
@pytest.mark.parametrize(("n_sources", "n_systems"), [(15, 8), (60, 1), (60, 6)])
def test_dataset_interval_covers_the_truth_about_as_often_as_it_claims(n_sources, n_systems):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        found = agreement_interval(
            *draw(rng, n_sources, n_systems)[:2],
            sources=np.repeat(np.arange(n_sources), n_systems),
            statistic="pearson",
            level="dataset",
            seed=rng,
            n_resamples=400,
        )
        covered += found.low <= OVERALL <= found.high
    assert 0.92 <= covered / 400 <= 0.98


@pytest.mark.no_cover
def test_sample_interval_covers_the_truth_about_as_often_as_it_claims():
    rng = np.random.default_rng(1)
    # The mean within sources of few rows is biased towards 0: take the mean of very many.
    n_systems = 6
    truth = agreement(
        *draw(rng, 40_000, n_systems)[:2],
        sources=np.repeat(np.arange(40_000), n_systems),
        statistic="pearson",
        level="sample",
    ).value
    assert truth == pytest.approx(WITHIN, abs=0.05)
    covered = 0
    for _ in range(1500):
        predicted, human, sources = draw(rng, 20, n_systems)
        found = agreement_interval(
            human,
            predicted,
            sources=sources,
            statistic="pearson",
            level="sample",
            seed=rng,
            n_resamples=400,
        )
        covered += found.low <= truth <= found.high
    assert 0.92 <= covered / 1500 <= 0.98


@pytest.mark.no_cover
def test_equally_good_judges_differ_significantly_in_about_one_test_of_twenty():
    rng = np.random.default_rng(2)
    below, excluded = 0, 0
    for _ in range(400):
        _, human, sources = draw(rng, 20, 4)
        second = human - 0.5 * rng.normal(size=human.size) + rng.normal(size=human.size)
        first = human - 0.5 * rng.normal(size=human.size) + rng.normal(size=human.size)
        found = agreement_difference(
            human,
            first,
            second,
            sources=sources,
            statistic="pearson",
            level="dataset",
            seed=rng,
            n_resamples=400,
        )
        below += found.p_value < 0.05
        excluded += not found.low <= 0 <= found.high
    assert 0.02 <= below / 400 <= 0.08
    assert abs(below - excluded) <= 6


def test_a_clearly_better_judge_has_a_small_p_value_and_an_interval_above_zero():
    rng = np.random.default_rng(3)
    predicted, human, sources = draw(rng, 60, 6)
    found = agreement_difference(
        human,
        predicted,
        predicted + 3 * rng.normal(size=human.size),
        sources=sources,
        statistic="q",
        level="dataset",
        seed=rng,
    )
    assert found.low > 0
    assert 2 / 1001 <= found.p_value < 0.005
    assert found.value == found.first - found.second


def test_swapping_the_judges_turns_the_difference_around():
    rng = np.random.default_rng(4)
    first, human, sources = draw(rng, 30, 4)
    second = first + rng.normal(size=human.size)
    given = {"sources": sources, "statistic": "kendall", "level": "sample"}
    one = agreement_difference(human, first, second, seed=0, **given)
    other = agreement_difference(human, second, first, seed=0, **given)
    assert (one.value, one.p_value) == (-other.value, other.p_value)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_a_judge_does_not_differ_from_itself():
    predicted, human, sources = draw(np.random.default_rng(5), 20, 4)
    found = agreement_difference(
        human,
        predicted,
        2 * predicted + 1,
        sources=sources,
        statistic="spearman",
        level="dataset",
        seed=0,
    )
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_what_judges_share_cancels_in_a_paired_interval():
    rng = np.random.default_rng(6)
    first, human, sources = draw(rng, 30, 4)
    second = first + 0.1 * rng.normal(size=human.size)
    alone = interval(first, human, sources)
    paired = agreement_difference(
        human, first, second, sources=sources, statistic="q", level="dataset", seed=rng
    )
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)


@for_each("level", ["system", "sample", "dataset"])
@for_each("statistic", ["pearson", "spearman", "kendall", "q"])
def test_the_value_is_that_of_agreement_and_lies_on_its_range(level, statistic):
    predicted, human, sources = draw(np.random.default_rng(7), 30, 6)
    predicted[::11] = np.nan
    given = {"systems": np.tile(np.arange(6), 30), "statistic": statistic, "level": level}
    found = interval(predicted, human, sources, **given)
    plain = agreement(human, predicted, sources=sources, **given)
    assert (found.value, found.n, found.n_undefined) == (plain.value, plain.n, plain.n_undefined)
    bound = 3 if statistic == "q" else 1
    assert -bound <= found.low <= found.high <= bound
    assert found.n_groups == 30


def test_the_same_generator_state_gives_the_same_interval_and_another_does_not():
    rows = draw(np.random.default_rng(8), 20, 4)
    assert interval(*rows, seed=1) == interval(*rows, seed=1)
    assert interval(*rows, seed=1) != interval(*rows, seed=2)


def test_rows_of_one_source_are_drawn_together():
    rng = np.random.default_rng(9)
    predicted, human, sources = draw(rng, 40, 1)
    copies = {"judge": np.repeat(predicted, 5), "human": np.repeat(human, 5)}
    by_source = interval(**copies, sources=np.repeat(sources, 5), statistic="pearson")
    by_row = interval(**copies, sources=np.arange(200), statistic="pearson")
    once = interval(predicted, human, sources, statistic="pearson")
    assert (by_source.low, by_source.high) == pytest.approx((once.low, once.high))
    assert by_row.high - by_row.low < 0.7 * (by_source.high - by_source.low)


def test_higher_confidence_gives_a_longer_interval():
    rows = draw(np.random.default_rng(10), 20, 4)
    narrow, wide = (interval(*rows, confidence=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_with_one_source_the_value_stays_and_the_interval_is_undefined():
    found = interval([1, 2, 3, 3], [1, 2, 2, 3], ["only"] * 4)
    assert found.value > 0
    assert np.isnan([found.low, found.high]).all()
    assert found.n_groups == 1


def test_sources_without_a_scored_row_are_not_drawn():
    found = interval([1, 2, 3, None], [1, 2, 2, 3], list("aaab"))
    assert (found.n, found.n_groups) == (3, 1)
    assert np.isnan(found.low)


def test_at_sample_level_only_sources_with_a_value_count_as_units():
    predicted, human = [1, 2, 3, *[4] * 9], [1, 3, 2, *range(9)]
    found = interval(predicted, human, np.repeat(range(4), 3), level="sample")
    assert (found.n_groups, found.n_undefined) == (4, 3)
    assert np.isnan(found.low)


def test_too_many_undefined_resamples_leave_no_interval():
    human = [1, 2, 3, 4, 5, 6]
    found = interval([5, 5, 5, 5, 5, 4], human, range(6), statistic="pearson")
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()


def test_an_undefined_value_has_no_interval_and_no_p_value():
    found = interval([5, 5, 5, 5], [1, 2, 3, 4], range(4))
    assert np.isnan([found.value, found.low, found.high]).all()
    paired = agreement_difference(
        [1, 2, 3, 4],
        [5, 5, 5, 5],
        [1, 2, 3, 5],
        sources=range(4),
        statistic="q",
        level="dataset",
        seed=0,
    )
    assert np.isnan([paired.value, paired.first, paired.p_value]).all()
    assert paired.second > 2


def test_rows_unscored_by_either_judge_are_left_out_for_both():
    rng = np.random.default_rng(11)
    first, human, sources = draw(rng, 20, 4)
    second = first + rng.normal(size=human.size)
    first[3], second[10] = np.nan, np.nan
    kept = np.isfinite(first) & np.isfinite(second)
    given = {"statistic": "q", "level": "dataset"}
    found = agreement_difference(human, first, second, sources=sources, seed=rng, **given)
    alone = agreement(human[kept], second[kept], sources=sources[kept], **given)
    assert found.n == 78
    assert found.second == pytest.approx(alone.value)


@for_each(
    ("change", "error", "message"),
    [
        ({"seed": "0"}, TypeError, "seed must be a whole number or a.*; got str"),
        ({"n_resamples": 5}, ValueError, "at least 20 resamples.*got 5"),
        ({"n_resamples": 99.5}, TypeError, "number of resamples must be a whole number; got 99.5"),
        ({"n_resamples": "99"}, TypeError, "number of resamples must be a whole number; got '99'"),
        ({"confidence": 95}, ValueError, "confidence must be strictly between 0 and 1"),
        ({"statistic": "r"}, ValueError, "statistic must be one of"),
        ({"level": "item"}, ValueError, "level must be one of"),
    ],
)
def test_impossible_settings_are_refused(change, error, message):
    given = {"statistic": "q", "level": "dataset", "seed": np.random.default_rng(0)} | change
    with pytest.raises(error, match=message):
        agreement_interval([1, 2, 3], [1, 2, 3], sources=range(3), **given)
    with pytest.raises(error, match=message):
        agreement_difference([1, 2, 3], [1, 2, 3], [1, 2, 3], sources=range(3), **given)


def test_labels_may_come_one_by_one():
    human, first, second = np.random.default_rng(0).normal(size=(3, 12))
    given = {"statistic": "pearson", "level": "dataset", "n_resamples": 50}

    def labels(kind):
        return {
            "sources": kind(i // 3 for i in range(12)),
            "systems": kind(i % 3 for i in range(12)),
        }

    def both(kind):
        one = agreement_interval(human, first, **given, **labels(kind), resample="both", seed=1)
        return one, agreement_difference(human, first, second, **given, **labels(kind), seed=1)

    assert both(iter) == both(list)


def test_what_is_no_list_of_labels_is_refused():
    given = {"statistic": "pearson", "level": "dataset", "seed": np.random.default_rng(0)}
    with pytest.raises(TypeError, match="sources must be a sequence of labels"):
        agreement_interval([1, 2, 3], [1, 2, 3], sources=3, **given)
    with pytest.raises(TypeError, match="sources must be a sequence of labels"):
        agreement_difference([1, 2, 3], [1, 2, 3], [1, 2, 3], sources=3, **given)


# level, statistic; the value and interval of one judge; interval and p-value of a difference.
RECORDED = [
    (
        (
            "system",
            "pearson",
            0.8461157232415201,
            -0.30536893650643354,
            0.984720381963006,
            -0.6430812390787692,
            0.6728941746780336,
            0.8277101195352772,
        )
    ),
    (
        (
            "system",
            "spearman",
            0.6668859288553503,
            -0.4801931336542222,
            1.0,
            -0.7567906448232451,
            0.9,
            0.976717865010137,
        )
    ),
    (
        (
            "system",
            "kendall",
            0.5270462766947299,
            -0.38822444129673894,
            1.0,
            -0.6000000000000001,
            0.8371911676818775,
            1.0,
        )
    ),
    (
        (
            "system",
            "q",
            2.0400479287916005,
            -1.211983561750997,
            2.9752495868168802,
            -2.0324892560461914,
            2.404700820515051,
            0.864963007303037,
        )
    ),
    (
        (
            "sample",
            "pearson",
            0.6624950741952665,
            0.36964075716739475,
            0.8624261613544165,
            -0.22115125108118605,
            0.3551018835172095,
            0.5199724001688969,
        )
    ),
    (
        (
            "sample",
            "spearman",
            0.623289969265679,
            0.3573240930525428,
            0.8357768515634175,
            -0.1907538684699221,
            0.3379367585959467,
            0.4918824823689372,
        )
    ),
    (
        (
            "sample",
            "kendall",
            0.5617998763206515,
            0.3069079547095668,
            0.7838444436795943,
            -0.19294211216985113,
            0.348854972958969,
            0.46374715956483115,
        )
    ),
    (
        (
            "sample",
            "q",
            1.8475849197815972,
            1.0429192449123295,
            2.487328764258392,
            -0.5783741312322997,
            1.0551270316637493,
            0.4825096144274929,
        )
    ),
    (
        (
            "dataset",
            "pearson",
            0.7524226707493804,
            0.6661871718682438,
            0.8388702078995953,
            0.049819691221256485,
            0.4419977414258371,
            0.04760132460672989,
        )
    ),
    (
        (
            "dataset",
            "spearman",
            0.7583763398604397,
            0.6373077203136925,
            0.857494575230126,
            0.04164942514296408,
            0.46086727525203836,
            0.04760132460672989,
        )
    ),
    (
        (
            "dataset",
            "kendall",
            0.6307430829153989,
            0.5292361104591218,
            0.7547916955435229,
            0.023184103549703225,
            0.44814397375949133,
            0.06174141269359185,
        )
    ),
    (
        (
            "dataset",
            "q",
            2.141542093525219,
            1.8289940035619279,
            2.4487416169001315,
            0.10653498357802327,
            1.3760332820022594,
            0.04760132460672989,
        )
    ),
]


def judged_rows():
    """Return whole points of two judges and of people, one of them unscored, with labels."""
    rng = np.random.default_rng(12)
    human = rng.integers(1, 6, 60).astype(float)
    first, second = human + rng.integers(-2, 3, 60), human + rng.integers(-3, 4, 60)
    first[7] = np.nan
    return first, second, human, np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)


@pytest.mark.parametrize(("level", "statistic", "value", "low", "high", *"abp"), RECORDED)
def test_by_default_sources_give_the_percentiles_recorded_before_there_was_a_choice(
    level, statistic, value, low, high, a, b, p
):
    first, second, human, sources, systems = judged_rows()
    given = {"sources": sources, "systems": systems, "statistic": statistic, "level": level}
    given["n_resamples"] = 200
    found = agreement_interval(human, first, seed=3, **given)
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), rel=1e-13)
    paired = agreement_difference(human, first, second, seed=3, **given)
    assert (paired.low, paired.high, paired.p_value) == pytest.approx((a, b, p), rel=1e-13)


@pytest.mark.parametrize("level", ["sample", "dataset"])
def test_rows_are_the_units_where_each_source_has_one(level):
    predicted, human, _ = draw(np.random.default_rng(13), 40, 1)
    given = {"sources": range(40) if level == "dataset" else [0] * 40, "level": level}
    by_item = interval(predicted, human, **given, resample="items")
    by_source = interval(predicted, human, sources=range(40), level="dataset")
    assert (by_item.low, by_item.high) == pytest.approx((by_source.low, by_source.high))
    assert by_item.n_groups == 40


def test_drawing_systems_too_is_at_least_as_unsure_and_counts_the_fewer_units():
    rng = np.random.default_rng(14)
    sources, systems = (each.ravel() for each in np.indices((60, 9)))
    human = rng.normal(size=9)[systems] + rng.normal(size=540)
    judge = human + rng.normal(size=9)[systems] + rng.normal(size=540)
    width = {}
    for resample, n_groups in {"sources": 60, "systems": 9, "both": 9, "items": 540}.items():
        found = interval(
            judge, human, sources, systems=systems, resample=resample, n_resamples=1000
        )
        assert found.n_groups == n_groups
        width[resample] = found.high - found.low
    assert width["items"] < width["both"]
    assert width["sources"] < width["systems"] < 1.2 * width["both"]


# nlpstats 0.0.1, numpy.random.seed(0): bootstrap(x, z, LEVEL, "kendall", "both", n_resamples=2999)
# for input, system and global level in this order, of the matrices below (systems by sources).
BY_NLPSTATS = {"sample": (0.4358, 0.6110), "system": (0.3059, 0.7162), "dataset": (0.5417, 0.6859)}


@pytest.mark.parametrize("level", list(BY_NLPSTATS))
def test_drawing_both_agrees_with_another_implementation(level):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40, 12)) + rng.normal(size=12)
    x = z + rng.normal(size=(40, 12))
    systems, sources = (each.ravel() for each in np.indices((40, 12)))
    # Theirs is not widened for 12 sources; this confidence makes ours as short.
    confidence = 1 - 2 * stats.t.cdf(-1.959964 * math.sqrt(11 / 12), 11)
    found = interval(
        x.ravel(),
        z.ravel(),
        sources,
        systems=systems,
        resample="both",
        statistic="kendall",
        level=level,
        n_resamples=2000,
        confidence=confidence,
    )
    assert (found.low, found.high) == pytest.approx(BY_NLPSTATS[level], abs=0.012)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"resample": "rows"}, "resample must be one of"),
        ({"resample": "both"}, "resample='both' needs systems="),
        ({"method": "t"}, "method must be one of"),
    ],
)
def test_impossible_choices_of_units_and_methods_are_refused(change, message):
    given = {"sources": range(3), "statistic": "q", "level": "dataset"} | change
    with pytest.raises(ValueError, match=message):
        agreement_interval([1, 2, 3], [1, 2, 3], seed=0, **given)
    with pytest.raises(ValueError, match=message):
        agreement_difference([1, 2, 3], [1, 2, 3], [1, 2, 3], seed=0, **given)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("resample", ["sources", "items", "systems", "both"])
class TestOddInputs:
    @pytest.fixture
    def settings(self, resample, method):
        return {
            "statistic": "q",
            "level": "dataset",
            "n_resamples": 40,
            "resample": resample,
            "method": method,
        }

    @pytest.mark.parametrize("n", [0, 1])
    def test_no_item_or_one_is_undefined(self, settings, n):
        found = interval([2.0] * n, [1.0] * n, ["a"] * n, systems=["s"] * n, **settings)
        assert np.isnan([found.value, found.low, found.high]).all()
        assert found.n == n

    def test_a_constant_judge_and_one_that_scored_nothing_are_undefined(self, settings):
        sources, systems = (each.ravel() for each in np.indices((6, 5)))
        for predicted in ([4] * 30, [None] * 30):
            found = interval(predicted, range(30), sources, systems=systems, **settings)
            assert np.isnan([found.value, found.low, found.high]).all()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"judge": [1, 2]}, "must be aligned"),
            ({"judge": [1, math.inf, 3]}, "judge has no finite score"),
            ({"judge": ["a", "b", "c"]}, "judge must be a vector of numbers"),
            ({"human": [1, math.nan, 3]}, "human has no finite score"),
            ({"sources": [1, None, 3]}, "sources holds a missing label"),
            ({"systems": [1, 2]}, "systems must hold one label per item"),
        ],
    )
    def test_what_is_no_rated_item_is_refused(self, settings, change, message):
        given = {"judge": [1, 2, 3], "human": [1, 2, 3], "sources": [1, 2, 3]}
        with pytest.raises(ValueError, match=message):
            interval(**(given | {"systems": [1, 2, 3]} | settings | change))


def test_without_sources_each_row_is_one_and_a_seed_is_a_generator_of_it():
    human, judge, other = np.random.default_rng(17).normal(size=(3, 30))
    given = {"sources": range(30), "statistic": "pearson", "level": "dataset"}
    assert agreement_interval(human, judge) == agreement_interval(human, judge, **given, seed=0)
    assert agreement_difference(human, judge, other, seed=5) == agreement_difference(
        human, judge, other, **given, seed=5
    )
    assert permutation_test(human, judge, other) == permutation_test(
        human, judge, other, **given, seed=0
    )
    for function, scores in (
        (agreement, (human, judge)),
        (agreement_difference, (human, judge, other)),
    ):
        with pytest.raises(ValueError, match="sample level needs sources="):
            function(*scores, level="sample")


# -- averaging -----------------------------------------------------------------------------------


def part(seed, noise=1.0, n_sources=30, per_source=4, gaps=0):
    rng = np.random.default_rng(seed)
    sources = np.repeat(np.arange(n_sources), per_source)
    human = np.repeat(rng.normal(size=n_sources), per_source) + rng.normal(size=sources.size)
    predicted = human + noise * rng.normal(size=sources.size)
    predicted[:gaps] = np.nan
    return RatedPart(judge=predicted, human=human, sources=sources)


def plain(one):
    return {"judge": one.judge, "human": one.human, "sources": one.sources}


@pytest.mark.parametrize("level", ["dataset", "sample"])
@pytest.mark.parametrize("statistic", ["pearson", "q"])
def test_the_average_of_one_part_is_its_own_interval(statistic, level):
    one = part(0, gaps=5)
    how = {"statistic": statistic, "level": level}
    found = mean_agreement_interval([one], **how, seed=1)
    assert found == agreement_interval(**plain(one), **how, seed=1)
    other = part(0, noise=2.0)
    both = mean_agreement_difference([one], [other], **how, seed=1)
    assert both == agreement_difference(
        one.human, one.judge, other.judge, sources=one.sources, **how, seed=1
    )


def test_equal_parts_are_as_unsure_as_one_and_independent_ones_less():
    how = {"statistic": "pearson", "level": "dataset"}

    def width(parts):
        found = mean_agreement_interval(parts, **how, seed=1)
        return found.high - found.low

    same = width([part(0)] * 4)
    assert same == pytest.approx(width([part(0)]))
    assert width([part(seed) for seed in range(4)]) < 0.8 * same


def test_the_value_is_the_mean_and_rows_of_all_parts_count():
    parts = [part(seed) for seed in range(3)]
    how = {"statistic": "spearman", "level": "dataset"}
    found = mean_agreement_interval(parts, **how, seed=0)
    values = [agreement_interval(**plain(one), **how, seed=0).value for one in parts]
    assert found.value == pytest.approx(np.mean(values))
    assert (found.n, found.n_groups) == (360, 30)


def test_parts_may_be_about_different_sources():
    first, second = part(0), part(1)
    moved = RatedPart(
        judge=second.judge, human=second.human, sources=np.asarray(second.sources) + 20
    )
    how = {"statistic": "pearson", "level": "dataset"}
    found = mean_agreement_interval([first, moved], **how, seed=0)
    assert found.n_groups == 50
    assert found.low < found.value < found.high


def test_undefined_on_any_part_is_undefined():
    flat = RatedPart(judge=[1.0] * 8, human=range(8), sources=range(8))
    fine = RatedPart(judge=range(8), human=range(8), sources=range(8))
    found = mean_agreement_interval([fine, flat], statistic="pearson", level="dataset", seed=0)
    assert np.isnan([found.value, found.low, found.high]).all()


def test_rows_that_either_leaves_unscored_are_left_out_of_a_difference():
    first, second = part(0, gaps=8), part(0)
    how = {"statistic": "pearson", "level": "dataset"}
    found = mean_agreement_difference([first], [second], **how, seed=0)
    assert found.n == 112
    assert found.value == pytest.approx(0.0)


@pytest.mark.no_cover
def test_the_interval_covers_the_truth_about_as_often_as_it_claims():
    truth = 1 / np.sqrt(2)
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng([9, seed])
        sources = np.repeat(np.arange(40), 3)
        parts = []
        shared = np.repeat(rng.normal(size=40), 3)
        for _ in range(3):
            human = (shared + np.repeat(rng.normal(size=40), 3)) / np.sqrt(2)
            predicted = human + rng.normal(size=sources.size)
            parts.append(RatedPart(judge=predicted, human=human, sources=sources))
        found = mean_agreement_interval(
            parts, statistic="pearson", level="dataset", seed=rng, n_resamples=200
        )
        covered += found.low <= truth <= found.high
    assert 0.86 <= covered / 200 <= 0.98


@for_each(
    ("first", "second", "said"),
    [
        ([], [], "no parts to average over"),
        ([part(0)], [], "parts must pair up; got 1 and 0"),
        ([part(0)], [part(0, n_sources=3)], "rows must pair up"),
        ([part(0)], [part(1)], "human of one part differ"),
        (
            [part(0)],
            [dataclasses.replace(part(0), sources=np.arange(120) % 30)],
            "sources of one part differ",
        ),
        (
            [part(0)],
            [dataclasses.replace(part(0), systems=["s"] * 120)],
            "systems of one part differ",
        ),
    ],
)
def test_what_does_not_pair_up_is_refused(first, second, said):
    with pytest.raises(ValueError, match=said):
        mean_agreement_difference(first, second, statistic="q", level="dataset", seed=0)


def test_systems_are_drawn_for_all_parts_at_once():
    rng = np.random.default_rng(15)
    sources, systems = (each.ravel() for each in np.indices((10, 9)))
    human = rng.normal(size=9)[systems] + rng.normal(size=90)
    one = RatedPart(
        judge=human + rng.normal(size=90), human=human, sources=sources, systems=systems
    )
    how = {"statistic": "q", "level": "sample", "n_resamples": 100}
    for resample in ("systems", "both"):
        alone, thrice = (
            mean_agreement_interval(parts, **how, resample=resample, seed=1)
            for parts in ([one], [one, one, one])
        )
        assert (thrice.low, thrice.high) == pytest.approx((alone.low, alone.high))
        assert thrice.n_groups == 9


def test_items_of_several_parts_are_not_drawn():
    with pytest.raises(ValueError, match="items can be drawn from one part only; got 2"):
        mean_agreement_interval(
            [part(0), part(1)],
            statistic="q",
            level="dataset",
            seed=0,
            resample="items",
        )
