"""`metrics.resampling` against definitions, worked values and other implementations."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy import stats

from judgesmith.metrics import krippendorff_alpha, percent_agreement
from judgesmith.metrics.correlation import agreement, agreement_difference, agreement_interval
from judgesmith.metrics.ratings import krippendorff_alpha_interval
from judgesmith.metrics.resampling import jackknife_interval, share_interval

# -- bca -----------------------------------------------------------------------------------------


def test_agrees_with_the_interval_of_scipy():
    rng = np.random.default_rng(5)
    human = rng.normal(size=300)
    judge = human + 0.4 * rng.normal(size=300)
    found = agreement_interval(
        human,
        judge,
        sources=range(300),
        statistic="pearson",
        level="dataset",
        seed=rng,
        n_resamples=8000,
        method="bca",
    )
    theirs = stats.bootstrap(
        (judge, human),
        lambda x, y, axis: stats.pearsonr(x, y, axis=axis).statistic,
        paired=True,
        vectorized=True,
        n_resamples=4000,
        method="BCa",
        rng=rng,
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)


@for_each("resample", ["sources", "items", "systems", "both"])
@for_each("level", ["system", "sample", "dataset"])
def test_every_unit_and_level_has_an_interval_and_a_p_value(level, resample):
    rng = np.random.default_rng(6)
    sources, systems = (each.ravel() for each in np.indices((20, 8)))
    human = rng.normal(size=160) + 0.2 * systems
    first, second = human + rng.normal(size=160), human + 3 * rng.normal(size=160)
    given = {
        "sources": sources,
        "systems": systems,
        "statistic": "spearman",
        "level": level,
        "seed": rng,
        "n_resamples": 2000,
        "resample": resample,
        "method": "bca",
    }
    found = agreement_interval(human, first, **given)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.n_groups == {"sources": 20, "items": 160}.get(resample, 8)
    paired = agreement_difference(human, first, second, **given)
    assert paired.low <= paired.value <= paired.high
    if abs(paired.p_value - 0.05) > 0.01:
        assert (paired.p_value < 0.05) == (paired.low > 0 or paired.high < 0)


def test_without_an_interval_there_is_no_p_value():
    # One source alone carries the skewness: the correction for it cannot be used.
    rng = np.random.default_rng(0)
    for seed in range(30):
        human = np.random.default_rng(seed).exponential(size=5) ** 6
        found = agreement_difference(
            human,
            human + 0.1,
            human[::-1],
            sources=range(5),
            statistic="pearson",
            level="dataset",
            seed=rng,
            n_resamples=50,
            confidence=0.999,
            method="bca",
        )
        assert np.isnan(found.low) == np.isnan(found.p_value)


# -- counted -------------------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("statistic", ["concordance", "kendall_c"])
def test_intervals_hold_the_truth_about_as_often_as_they_claim(statistic):
    rng = np.random.default_rng(0)

    def draw(n_sources):
        sources = np.arange(n_sources * 5) // 5
        true = rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
        return 0.7 * true + rng.normal(size=len(sources)) + 0.5, np.round(true), sources

    judge, people, sources = draw(20_000)
    given = {"statistic": statistic, "level": "dataset"}
    truth = agreement(people, judge, sources=sources, **given).value
    held = 0
    for _ in range(60):
        judge, people, sources = draw(40)
        found = agreement_interval(
            people, judge, sources=sources, **given, seed=rng, n_resamples=200
        )
        held += found.low <= truth <= found.high
    assert 0.88 <= held / 60 <= 0.99


# -- jackknife -----------------------------------------------------------------------------------


tables = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=12
)


def test_the_jackknife_of_a_mean_is_students_interval():
    # SciPy 1.17.1: scipy.stats.t.interval(0.95, 4, loc=np.mean(x), scale=scipy.stats.sem(x))
    x = np.array([4.0, 5.0, 3.0, 5.0, 2.0])
    found = jackknife_interval(lambda kept: float(x[kept].mean()), sources=range(5), n=5)
    assert (found.low, found.high) == pytest.approx((2.181068, 5.418932), abs=1e-6)


def test_the_jackknife_leaves_out_whole_items():
    rng = np.random.default_rng(0)
    x, items = rng.normal(size=30), np.repeat(np.arange(10), 3)
    found = jackknife_interval(lambda kept: float(x[kept].mean()), sources=items, n=30)
    means = x.reshape(10, 3).mean(axis=1)
    once = jackknife_interval(lambda kept: float(means[kept].mean()), sources=range(10), n=10)
    assert (found.low, found.high) == pytest.approx((once.low, once.high))


def test_bounds_end_the_interval():
    x = np.array([5.0, 5.0, 5.0, 4.0])
    found = jackknife_interval(
        lambda kept: float(x[kept].mean()), sources=range(4), n=4, bounds=(1, 5)
    )
    assert found.high == 5


def test_a_statistic_that_is_the_same_whatever_is_left_out_has_no_interval():
    found = jackknife_interval(lambda kept: 3.0, sources=range(5), n=5)
    assert found.value == 3
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="confidence"):
        jackknife_interval(lambda kept: 3.0, sources=range(5), n=5, confidence=95)
    with pytest.raises(ValueError, match="one label per item"):
        krippendorff_alpha_interval([[1, 1]], sources=[1, 2], measurement="nominal")
    with pytest.raises(ValueError, match="measurement must be one of"):
        krippendorff_alpha_interval([[1, 1]], sources=[1], measurement="ratio")


@pytest.mark.no_cover
@given(tables, st.sampled_from(["nominal", "ordinal"]))
def test_the_value_is_alpha_and_rows_with_one_rating_take_no_part(rows, measurement):
    table = np.array(rows)
    items = np.arange(len(table)) // 2
    found = krippendorff_alpha_interval(table, sources=items, measurement=measurement)
    several = np.count_nonzero(~np.isnan(table), axis=1) > 1
    alpha = krippendorff_alpha(table, measurement=measurement)
    assert found.value == pytest.approx(alpha, nan_ok=True)
    assert found.n == np.count_nonzero(~np.isnan(table[several]))
    assert found.n_groups == len(set(items[several]))
    assert np.isnan(found.low) or found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("table", [[[1, 1], [1, 1], [0, 0]], [[1, 1], [1, 1]], [[1, 0]], []])
def test_no_interval_is_given_where_nothing_says_how_alpha_varies(table):
    rows = np.array(table, dtype=float).reshape(-1, 2)
    found = krippendorff_alpha_interval(rows, sources=range(len(rows)), measurement="nominal")
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_no_interval_is_given_where_no_two_raters_gave_the_rarer_answer():
    table = np.ones((40, 3))
    table[::4, 0] = 0
    apart = krippendorff_alpha_interval(table, sources=range(40), measurement="nominal")
    assert apart.value < 0
    assert np.isnan(apart.low)
    table[:8:4, 1] = 0
    met = krippendorff_alpha_interval(table, sources=range(40), measurement="nominal")
    assert met.low < met.value < met.high


@pytest.mark.no_cover
@pytest.mark.parametrize(("share", "likeness"), [(0.75, 0.3), (0.9, 0.01)])
def test_the_interval_of_alpha_covers_the_truth_about_as_often_as_it_claims(share, likeness):
    rng = np.random.default_rng(0)
    spread = (1 - likeness) / likeness
    covered, n = 0, 0
    for _ in range(150):
        # The correlation of two answers by the same chance is the likeness, and so is alpha.
        own = rng.beta(share * spread, (1 - share) * spread, size=210)
        table = (rng.random((210, 3)) < own[:, None]).astype(float)
        found = krippendorff_alpha_interval(
            table, sources=np.repeat(np.arange(30), 7), measurement="nominal"
        )
        n += not np.isnan(found.low)
        covered += found.low <= likeness <= found.high
    assert n > 140
    assert 0.9 <= covered / n <= 0.99


def test_rounding_is_no_variation():
    points = np.array([0.1] * 6 + [0.3] * 4)
    found = jackknife_interval(
        lambda rows: 7.3 + np.mean(points[rows]) - points[rows].sum() / rows.sum(),
        sources=range(10),
        n=10,
    )
    assert found.value == pytest.approx(7.3)
    assert np.isnan([found.low, found.high]).all()


def test_an_infinite_statistic_has_no_interval():
    points = np.array([1.0, np.inf, 2.0])
    found = jackknife_interval(lambda rows: points[rows].sum(), sources=range(3), n=3)
    assert found.value == np.inf
    assert np.isnan([found.low, found.high]).all()


def test_items_that_are_no_list_are_refused():
    with pytest.raises(TypeError, match="sources must be a sequence of labels"):
        jackknife_interval(lambda rows: 1.0, sources=3, n=1)
    with pytest.raises(TypeError, match="sources must be a sequence of labels"):
        krippendorff_alpha_interval([[1, 1]], sources=3, measurement="nominal")


# -- shares --------------------------------------------------------------------------------------


answers = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=30)
tables_of_shares = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=8
)


def clustered(rng, n_items, size, share, likeness):
    """Return answers about items whose own shares vary: ``likeness`` is their correlation."""
    spread = (1 - likeness) / likeness
    own = rng.beta(share * spread, (1 - share) * spread, size=n_items)
    items = np.repeat(np.arange(n_items), size)
    return (rng.random(len(items)) < own[items]).astype(float), items


@pytest.mark.no_cover
@given(answers)
def test_the_share_is_the_share_of_all_answers_and_lies_in_its_interval(pairs):
    yes, items = zip(*pairs, strict=True)
    found = share_interval(yes, sources=items)
    assert found.value == pytest.approx(sum(yes) / len(yes))
    assert (found.n, found.n_groups) == (len(yes), len(set(items)))
    if len(set(items)) > 1:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high
    else:
        assert np.isnan(found.low)
        assert np.isnan(found.high)


def test_with_one_answer_per_item_it_is_wilsons_interval_but_for_students_t():
    # SciPy 1.17.1: scipy.stats.binomtest(720, 1000).proportion_ci(method="wilson")
    yes = np.arange(1000) < 720
    found = share_interval(yes, sources=range(1000))
    assert (found.low, found.high) == pytest.approx((0.69137, 0.74695), abs=2e-4)


def test_the_mirrored_answers_have_the_mirrored_interval():
    yes, items = clustered(np.random.default_rng(0), 20, 4, 0.8, 0.2)
    one, other = share_interval(yes, sources=items), share_interval(1 - yes, sources=items)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


def test_answers_that_repeat_the_item_tell_no_more_than_one_per_item():
    yes = np.arange(40) % 4 > 0
    once = share_interval(yes, sources=range(40))
    thrice = share_interval(np.repeat(yes, 3), sources=np.repeat(np.arange(40), 3))
    # The variance over items has n - 1 in it, which one answer per item cannot use.
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=0.004)


def test_where_all_say_yes_items_count_as_single_answers():
    found = share_interval(np.ones(60), sources=np.repeat(np.arange(20), 3))
    assert found.value == found.high == 1
    assert found.low == share_interval(np.ones(20), sources=range(20)).low
    assert 0.8 < found.low < 0.85


@pytest.mark.parametrize(("n_items", "size"), [(15, 3), (50, 1), (50, 21)])
def test_the_interval_of_a_share_covers_the_truth_about_as_often_as_it_claims(n_items, size):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        yes, items = clustered(rng, n_items, size, 0.9, 0.2)
        found = share_interval(yes, sources=items)
        covered += found.low <= 0.9 <= found.high
    assert 0.92 <= covered / 400 <= 0.99


def test_no_answers_have_no_share():
    found = share_interval([], sources=[])
    assert np.isnan(found.value)
    assert (found.n, found.n_groups) == (0, 0)


def test_answers_that_are_not_yes_or_no_are_refused():
    with pytest.raises(ValueError, match="a vector of 0 and 1"):
        share_interval([0, 1, np.nan], sources=[1, 2, 3])
    with pytest.raises(ValueError, match="one label per item"):
        share_interval([0, 1], sources=[1])
    with pytest.raises(ValueError, match="confidence"):
        share_interval([0, 1], sources=[1, 2], confidence=95)


@pytest.mark.no_cover
@given(tables_of_shares)
def test_raw_agreement_counts_pairs(rows):
    pairs = [
        a == b
        for row in rows
        for a, b in combinations([one for one in row if not np.isnan(one)], 2)
    ]
    found = percent_agreement(rows)
    assert found == pytest.approx(np.mean(pairs)) if pairs else np.isnan(found)


@pytest.mark.parametrize("yes", [["1", "0"], [1j, 0], [{}, {}]])
def test_what_is_no_number_is_no_answer(yes):
    with pytest.raises(ValueError, match="yes must be an array of numbers"):
        share_interval(yes, sources=range(len(yes)))
