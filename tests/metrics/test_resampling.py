import math

import numpy as np
import pytest

from judgesmith.metrics import agreement, agreement_interval, paired_interval

# The Pearson correlation of all rows and the mean of it within sources, in `draw` below.
WITHIN = 1 / math.sqrt(2 * 1.25)
OVERALL = (1 + 0.36) / math.sqrt((2 + 0.36) * (1.25 + 0.36))


def draw(rng, n_sources, n_systems):
    """Return judge and human scores: quality and an effect of the source, both with noise."""
    sources = np.repeat(np.arange(n_sources), n_systems)
    quality = rng.normal(size=sources.size) + 0.6 * rng.normal(size=n_sources)[sources]
    human = quality + 0.5 * rng.normal(size=sources.size)
    return quality + rng.normal(size=sources.size), human, sources


def interval(predicted, human, sources, *, seed=0, **settings):
    settings = {"statistic": "q", "level": "dataset", "n_resamples": 200} | settings
    return agreement_interval(
        predicted, human, sources=sources, rng=np.random.default_rng(seed), **settings
    )


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
            rng=rng,
            n_resamples=400,
        )
        covered += found.low <= OVERALL <= found.high
    assert 0.92 <= covered / 400 <= 0.98


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
            predicted,
            human,
            sources=sources,
            statistic="pearson",
            level="sample",
            rng=rng,
            n_resamples=400,
        )
        covered += found.low <= truth <= found.high
    assert 0.92 <= covered / 1500 <= 0.98


def test_equally_good_judges_differ_significantly_in_about_one_test_of_twenty():
    rng = np.random.default_rng(2)
    below, excluded = 0, 0
    for _ in range(400):
        _, human, sources = draw(rng, 20, 4)
        second = human - 0.5 * rng.normal(size=human.size) + rng.normal(size=human.size)
        first = human - 0.5 * rng.normal(size=human.size) + rng.normal(size=human.size)
        found = paired_interval(
            first,
            second,
            human,
            sources=sources,
            statistic="pearson",
            level="dataset",
            rng=rng,
            n_resamples=400,
        )
        below += found.p_value < 0.05
        excluded += not found.low <= 0 <= found.high
    assert 0.02 <= below / 400 <= 0.08
    assert abs(below - excluded) <= 6


def test_a_clearly_better_judge_has_a_small_p_value_and_an_interval_above_zero():
    rng = np.random.default_rng(3)
    predicted, human, sources = draw(rng, 60, 6)
    found = paired_interval(
        predicted,
        predicted + 3 * rng.normal(size=human.size),
        human,
        sources=sources,
        statistic="q",
        level="dataset",
        rng=rng,
    )
    assert found.low > 0
    assert 2 / 1001 <= found.p_value < 0.005
    assert found.value == found.first - found.second


def test_swapping_the_judges_turns_the_difference_around():
    rng = np.random.default_rng(4)
    first, human, sources = draw(rng, 30, 4)
    second = first + rng.normal(size=human.size)
    given = {"sources": sources, "statistic": "kendall", "level": "sample"}
    one = paired_interval(first, second, human, rng=np.random.default_rng(0), **given)
    other = paired_interval(second, first, human, rng=np.random.default_rng(0), **given)
    assert (one.value, one.p_value) == (-other.value, other.p_value)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_a_judge_does_not_differ_from_itself():
    predicted, human, sources = draw(np.random.default_rng(5), 20, 4)
    found = paired_interval(
        predicted,
        2 * predicted + 1,
        human,
        sources=sources,
        statistic="spearman",
        level="dataset",
        rng=np.random.default_rng(0),
    )
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_what_judges_share_cancels_in_a_paired_interval():
    rng = np.random.default_rng(6)
    first, human, sources = draw(rng, 30, 4)
    second = first + 0.1 * rng.normal(size=human.size)
    alone = interval(first, human, sources)
    paired = paired_interval(
        first, second, human, sources=sources, statistic="q", level="dataset", rng=rng
    )
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)


@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall", "q"])
def test_the_value_is_that_of_agreement_and_lies_on_its_range(level, statistic):
    predicted, human, sources = draw(np.random.default_rng(7), 30, 6)
    predicted[::11] = np.nan
    given = {"systems": np.tile(np.arange(6), 30), "statistic": statistic, "level": level}
    found = interval(predicted, human, sources, **given)
    plain = agreement(predicted, human, sources=sources, **given)
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
    copies = {"predicted": np.repeat(predicted, 5), "human": np.repeat(human, 5)}
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
    paired = paired_interval(
        [5, 5, 5, 5],
        [1, 2, 3, 5],
        [1, 2, 3, 4],
        sources=range(4),
        statistic="q",
        level="dataset",
        rng=np.random.default_rng(0),
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
    found = paired_interval(first, second, human, sources=sources, rng=rng, **given)
    alone = agreement(second[kept], human[kept], sources=sources[kept], **given)
    assert found.n == 78
    assert found.second == pytest.approx(alone.value)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"rng": 0}, TypeError, "rng must be a numpy.random.Generator; got int"),
        ({"n_resamples": 5}, ValueError, "at least 20 resamples.*got 5"),
        ({"confidence": 95}, ValueError, "confidence must be strictly between 0 and 1"),
        ({"statistic": "r"}, ValueError, "statistic must be one of"),
        ({"level": "item"}, ValueError, "level must be one of"),
    ],
)
def test_impossible_settings_are_refused(change, error, message):
    given = {"statistic": "q", "level": "dataset", "rng": np.random.default_rng(0)} | change
    with pytest.raises(error, match=message):
        agreement_interval([1, 2, 3], [1, 2, 3], sources=range(3), **given)
    with pytest.raises(error, match=message):
        paired_interval([1, 2, 3], [1, 2, 3], [1, 2, 3], sources=range(3), **given)
