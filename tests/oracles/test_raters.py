"""Raters and their reliability against definitions, worked values and other implementations."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from looping import for_each

from judgesmith.metrics import human_ceiling, icc, kendall, pearson, q, spearman
from judgesmith.metrics.correlation import agreement
from judgesmith.metrics.ratings import icc as icc_of_intraclass
from judgesmith.metrics.ratings import (
    icc_interval,
    pairwise_rater_agreement,
    rater_vs_rest,
    raters_needed,
    spearman_brown,
)

# -- ceiling -------------------------------------------------------------------------------------


def ragged(rng, n_items, n_raters, noise, missing):
    table = rng.normal(size=(n_items, 1)) + noise * rng.normal(size=(n_items, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table


@pytest.mark.parametrize(("n_raters", "missing"), [(2, 0), (3, 0), (6, 0), (6, 0.3)])
def test_ceiling_is_what_a_judge_that_knows_the_truth_reaches(n_raters, missing):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(20_000, 1))
    table = truth + 1.2 * rng.normal(size=(20_000, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    table[np.count_nonzero(~np.isnan(table), axis=1) < 2] = np.nan
    rated = ~np.isnan(table).all(axis=1)
    reached = np.corrcoef(truth[rated, 0], np.nanmean(table[rated], axis=1))[0, 1]
    found = human_ceiling(table, seed=rng, n_splits=5)
    assert found.ceiling == pytest.approx(reached, abs=0.015)
    assert found.n_items == np.count_nonzero(rated)


def test_ceiling_steps_two_raters_up_by_the_published_formula():
    rng = np.random.default_rng(4)
    table = ragged(rng, 40, 2, 1, 0)
    found = human_ceiling(table, seed=rng, n_splits=50)
    assert found.reliability == pytest.approx(
        2 * found.half_correlation / (1 + found.half_correlation)
    )
    assert found.ceiling == pytest.approx(np.sqrt(found.reliability))


def test_ceiling_of_raters_who_contradict_each_other_is_undefined():
    found = human_ceiling([[1, 3], [2, 2], [3, 1]], seed=0)
    assert np.isnan(found.ceiling)
    assert found.half_correlation < 0


def test_ceiling_without_two_items_of_two_ratings_is_undefined():
    found = human_ceiling([[1, 2], [3, None]], seed=0, n_splits=7)
    assert np.isnan([found.ceiling, found.reliability, found.half_correlation]).all()
    assert (found.n_items, found.n_undefined) == (1, 7)


def test_splits_without_a_correlation_are_counted():
    found = human_ceiling([[4, 4], [4, 4]], seed=0, n_splits=7)
    assert np.isnan(found.ceiling)
    assert found.n_undefined == 7


def test_a_ceiling_needs_a_split():
    with pytest.raises(ValueError, match="n_splits must be at least 1; got 0"):
        human_ceiling([[1, 2], [2, 3]], seed=0, n_splits=0)


@pytest.mark.parametrize("table", [np.empty((0, 3)), np.empty((3, 0)), [[1], [2]]])
def test_ceiling_without_two_ratings_of_an_item_is_undefined(table):
    found = human_ceiling(table, seed=0, n_splits=3)
    assert np.isnan([found.ceiling, found.reliability]).all()
    assert (found.n_items, found.n_undefined) == (0, 3)


@pytest.mark.parametrize("table", [[1, 2], [["a", "b"]], [[1, np.inf]]])
def test_what_is_no_table_of_ratings_is_refused(table):
    with pytest.raises(ValueError, match="ratings must"):
        human_ceiling(table, seed=0)


@pytest.mark.parametrize("n_raters", [2, 3, 6])
def test_ceiling_is_nearly_the_root_of_the_intraclass_correlation_of_the_mean(n_raters):
    rng = np.random.default_rng(5)
    table = ragged(rng, 300, n_raters, 1, 0)
    found = human_ceiling(table, seed=rng)
    assert found.ceiling**2 == pytest.approx(icc(table).mean, abs=0.01)


# -- intraclass ----------------------------------------------------------------------------------


MODELS = ["one-way", "agreement", "consistency"]
complete = arrays(
    float,
    st.tuples(st.integers(2, 7), st.integers(2, 5)),
    elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]),
)
SIX_TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
TWO_RATERS = [
    [2.6, 2.5],
    [3.7, 3.6],
    [2.8, 2.0],
    [2.1, 2.7],
    [1.5, 2.2],
    [0.5, 1.0],
    [1.6, 2.9],
    [3.3, 4.6],
]
CONTRARY = [[1, 5, 3], [4, 2, 3], [5, 1, 4], [2, 4, 3], [3, 3, 1]]
# pingouin 0.7.0, pg.intraclass_corr(data, "item", "rater", "score") with
# pg.options["round.column.CI95"] = 6: ICC and CI95 of one rating and of the mean.
PINGOUIN = [
    (SIX_TARGETS, "one-way", (0.165742, -0.132932, 0.72256), (0.442797, -0.884442, 0.912415)),
    (SIX_TARGETS, "agreement", (0.289764, 0.018787, 0.761084), (0.620051, 0.071137, 0.927232)),
    (SIX_TARGETS, "consistency", (0.714841, 0.342465, 0.945858), (0.909316, 0.675675, 0.985892)),
    (TWO_RATERS, "one-way", (0.722868, 0.157112, 0.936423), (0.839145, 0.271559, 0.967168)),
    (TWO_RATERS, "agreement", (0.729555, 0.178511, 0.937841), (0.843633, 0.302943, 0.967924)),
    (TWO_RATERS, "consistency", (0.766546, 0.204752, 0.948449), (0.867847, 0.339907, 0.973542)),
    (CONTRARY, "one-way", (-0.381579, -0.471768, 0.14678), (-4.833333, -25.065326, 0.34041)),
    (CONTRARY, "consistency", (-0.403226, -0.479802, 0.073663), (-6.25, -35.631584, 0.192613)),
]


def test_icc_equals_the_analysis_of_variance_published_for_six_targets_and_four_judges():
    # Shrout and Fleiss (1979), table 2; they report ICC(1,1) = .17 and ICC(1,4) = .44.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = icc_of_intraclass(table)
    assert (round(found.single, 2), round(found.mean, 2)) == (0.17, 0.44)
    assert (found.n_items, found.n_raters) == (6, 4)


@pytest.mark.parametrize("missing", [0, 0.3])
def test_icc_recovers_the_share_of_variance_it_estimates(missing):
    table = ragged(np.random.default_rng(1), 20_000, 4, np.sqrt(1.5), missing)
    found = icc_of_intraclass(table)
    assert found.single == pytest.approx(1 / 2.5, abs=0.02)
    k = found.n_raters
    assert found.mean == pytest.approx(k * found.single / (1 + (k - 1) * found.single))


def test_icc_does_not_depend_on_unit_offset_or_column_order():
    rng = np.random.default_rng(2)
    table = ragged(rng, 30, 5, 1, 0.2)
    found = icc_of_intraclass(table)
    moved = icc_of_intraclass(rng.permuted(1e6 + 3 * table, axis=1))
    assert (moved.single, moved.mean) == pytest.approx((found.single, found.mean))


@for_each(
    "table", [[[1, 2]], [[1, None], [2, None]], [[3, 3], [3, 3]], [[None, None]], np.empty((0, 3))]
)
def test_icc_without_two_items_repeated_ratings_or_variation_is_undefined(table):
    found = icc_of_intraclass(table)
    assert np.isnan([found.single, found.mean]).all()


def test_icc_of_items_that_do_not_differ_is_negative_for_one_and_undefined_for_the_mean():
    found = icc_of_intraclass([[1, 2], [2, 1]])
    assert found.single == -1
    assert np.isnan(found.mean)


def anova(table):
    """Return the mean squares of items, of raters and of the rest, summed cell by cell."""
    n, k = len(table), len(table[0])
    grand = sum(map(sum, table)) / (n * k)
    rows = [sum(row) / k for row in table]
    columns = [sum(row[j] for row in table) / n for j in range(k)]
    left = sum(
        (table[i][j] - rows[i] - columns[j] + grand) ** 2 for i in range(n) for j in range(k)
    )
    return (
        k * sum((row - grand) ** 2 for row in rows) / (n - 1),
        n * sum((column - grand) ** 2 for column in columns) / (k - 1),
        left / ((n - 1) * (k - 1)),
    )


def ratio(top, bottom):
    return top / bottom if bottom > 1e-11 else np.nan


@pytest.mark.no_cover
@given(complete)
def test_two_way_models_are_the_ratios_of_mean_squares_that_define_them(table):
    (n, k), (rows, columns, left) = table.shape, anova(table.tolist())
    agreement = icc_of_intraclass(table, model="agreement")
    consistency = icc_of_intraclass(table, model="consistency")
    expected = [
        ratio(rows - left, rows + (k - 1) * left + k / n * (columns - left)),
        ratio(rows - left, rows + (columns - left) / n),
        ratio(rows - left, rows + (k - 1) * left),
        ratio(rows - left, rows),
    ]
    found = [agreement.single, agreement.mean, consistency.single, consistency.mean]
    assert found == pytest.approx(expected, nan_ok=True, rel=1e-6, abs=1e-9)
    assert (agreement.n_items, agreement.n_raters, agreement.n_left_out) == (n, k, 0)


@pytest.mark.no_cover
@for_each(("table", "model", "single", "mean"), PINGOUIN)
def test_values_and_intervals_equal_pingouin(table, model, single, mean):
    for of, expected in (("single", single), ("mean", mean)):
        found = icc_interval(table, model=model, of=of)
        assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-6)
        assert found.value == getattr(icc_of_intraclass(table, model=model), of)


def test_intervals_equal_those_published_for_six_targets_and_four_judges():
    # Shrout and Fleiss (1979): ICC(2,1) .29 and ICC(3,1) .71, of the mean .62 and .91.
    assert round(icc_of_intraclass(SIX_TARGETS, model="agreement").single, 2) == 0.29
    assert round(icc_of_intraclass(SIX_TARGETS, model="agreement").mean, 2) == 0.62
    assert round(icc_of_intraclass(SIX_TARGETS, model="consistency").single, 2) == 0.71
    assert round(icc_of_intraclass(SIX_TARGETS, model="consistency").mean, 2) == 0.91


def test_a_mean_that_no_reliability_fits_is_undefined_and_not_fifteen():
    # pingouin 0.7.0 reports ICC(A,k) = 15.0, CI95 [5.75, 0.23], for these five items.
    assert np.isnan(icc_of_intraclass(CONTRARY, model="agreement").mean)
    found = icc_interval(CONTRARY, model="agreement", of="mean")
    assert np.isnan([found.value, found.low, found.high]).all()
    found = icc_interval(CONTRARY, model="agreement")
    expected = (-0.555556, -0.676473, 0.092386)
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-6)


@pytest.mark.no_cover
@given(complete, st.sampled_from(MODELS))
def test_nothing_depends_on_unit_offset_or_the_order_of_items_and_raters(table, model):
    found = icc_interval(table, model=model)
    moved = icc_interval(100 + 8 * table[::-1, ::-1], model=model)
    for one, other in zip(found.to_dict().values(), moved.to_dict().values(), strict=True):
        if one is None or isinstance(one, str):
            assert other == one
        else:
            assert one == pytest.approx(other, rel=1e-7, abs=1e-9)


def test_leniency_lowers_agreement_and_leaves_consistency_alone():
    table = ragged(np.random.default_rng(5), 200, 3, 0.5, 0)
    lenient = table + np.array([0, 1, 2])
    for model in ("consistency", "agreement"):
        before = icc_of_intraclass(table, model=model).single
        after = icc_of_intraclass(lenient, model=model).single
        assert (after == pytest.approx(before)) == (model == "consistency")
    one_way = icc_of_intraclass(lenient).single
    agreement = icc_of_intraclass(lenient, model="agreement").single
    assert one_way < agreement < 0.7


@pytest.mark.parametrize("model", ["agreement", "consistency"])
def test_two_way_models_leave_out_and_count_items_with_a_missing_rating(model):
    table = np.array([*map(list, SIX_TARGETS), [1, 2, None, 3], [None] * 4], dtype=float)
    found = icc_interval(table, model=model)
    expected = icc_interval(SIX_TARGETS, model=model)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert (found.n, found.n_groups, found.n_undefined) == (24, 6, 2)
    one_way = icc_of_intraclass(table)
    assert (one_way.n_items, one_way.n_left_out) == (7, 1)


@for_each("model", MODELS)
@for_each(
    "table",
    [np.empty((0, 3)), np.empty((3, 0)), [[1, 2]], [[1], [2]], [[3, 3], [3, 3]], [[None, None]]],
)
def test_too_few_ratings_or_no_variation_leave_everything_undefined(table, model):
    for of in ("single", "mean"):
        found = icc_interval(table, model=model, of=of)
        assert np.isnan([found.value, found.low, found.high]).all()


def test_raters_who_never_differ_have_a_value_and_no_interval():
    for model in MODELS:
        found = icc_interval([[0.1 + 0.2, 0.3], [1, 1], [0.7, 0.7]], model=model)
        assert found.value == 1
        assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("table", "of"),
    [([[2, 5], [3, 1], [4, 4], [5, 1]], "mean"), ([[5, 4, 2, 1, 3], [5, 1, 4, 5, 1]], "single")],
)
def test_an_approximation_that_breaks_down_gives_no_interval(table, of):
    found = icc_interval(table, model="agreement", of=of)
    assert found.value < 0
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.no_cover
@given(complete, st.sampled_from(MODELS), st.sampled_from(["single", "mean"]))
def test_an_interval_holds_its_value(table, model, of):
    found = icc_interval(table, model=model, of=of)
    assert np.isnan(found.low) or found.low <= found.value <= found.high <= 1


def test_two_items_and_raters_that_cancel_have_no_share_of_a_variance():
    found = icc_of_intraclass([[1, 2], [2, 1]], model="agreement")
    assert np.isnan([found.single, found.mean]).all()


@for_each("model", MODELS)
@for_each("missing", [0, 0.3])
def test_nominal_95_percent_intervals_cover_about_that(model, missing):
    rng, held = np.random.default_rng(6), 0
    leniency = 0.4 if model == "agreement" else 0
    truth = 1 / (1 + 1 + leniency**2)
    for _ in range(300):
        table = ragged(rng, 30, 4, 1, missing * (model == "one-way"))
        found = icc_interval(table + leniency * rng.normal(size=4), model=model)
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 300 <= 0.98


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "two-way"}, r"'one-way', 'agreement', 'consistency'.*'two-way'"),
        ({"of": "both"}, "of must be 'single' or 'mean'; got 'both'"),
        ({"confidence": 95}, "confidence must be strictly between 0 and 1"),
    ],
)
def test_unknown_models_and_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        icc_interval([[1, 2], [2, 3]], **options)


@pytest.mark.parametrize("table", [[1, 2], [["a", "b"]], [[1, np.inf]]])
def test_what_is_no_table_of_ratings_is_refused_of_intraclass(table):
    with pytest.raises(ValueError, match="ratings must"):
        icc_of_intraclass(table, model="agreement")


def jackknife_by_definition(table, sources, model):
    """Return ends for one rating from correlations without one source after another."""
    from scipy.stats import t as student

    def log_ratio(rows):
        found = icc_of_intraclass(table[rows], model=model)
        return np.log((1 + (found.n_raters - 1) * found.single) / (1 - found.single))

    rated = ~np.isnan(table).all(axis=1) if model == "one-way" else ~np.isnan(table).any(axis=1)
    present = np.unique(sources[rated])
    without = [log_ratio(sources != source) for source in present]
    n = len(present)
    error = np.sqrt((n - 1) / n * np.sum((without - np.mean(without)) ** 2))
    middle = log_ratio(np.ones(len(table), bool))
    k = icc_of_intraclass(table, model=model).n_raters
    ends = np.exp(middle + student.ppf([0.025, 0.975], n - 1) * error)
    return (ends - 1) / (ends + k - 1)


@for_each("model", MODELS)
@for_each("missing", [0, 0.3])
def test_an_interval_over_sources_is_the_jackknife_of_the_logarithmic_ratio(model, missing):
    table = ragged(np.random.default_rng(7), 40, 3, 1, missing)
    sources = np.repeat(np.arange(10), 4)
    table[sources == 4] = np.nan
    found = icc_interval(table, model=model, sources=sources)
    expected = jackknife_by_definition(table, sources, model)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert found.value == icc_of_intraclass(table, model=model).single
    given = ~np.isnan(table)
    enters = given.any(axis=1) if model == "one-way" else given.all(axis=1)
    assert found.n_groups == len(set(sources[enters])) < 10
    of_mean = icc_interval(table, model=model, of="mean", sources=sources)
    assert of_mean.low < of_mean.value < of_mean.high


@pytest.mark.parametrize("model", MODELS)
def test_intervals_over_sources_do_not_depend_on_unit_offset_or_order(model):
    table = np.round(2 * ragged(np.random.default_rng(8), 24, 4, 1, 0))
    sources = np.repeat(np.arange(8), 3)
    found = icc_interval(table, model=model, sources=sources)
    moved = icc_interval(1e5 + 3 * table[::-1, ::-1], model=model, sources=sources[::-1])
    assert (moved.low, moved.high) == pytest.approx((found.low, found.high), rel=1e-6)


def test_intervals_over_sources_cover_where_items_of_a_source_are_alike_and_few_ratings_differ():
    rng = np.random.default_rng(9)

    def draw(n_sources):
        sources = np.repeat(np.arange(n_sources), 6)
        true = rng.normal(size=n_sources)[sources] + 0.7 * rng.normal(size=len(sources))
        table = np.clip(np.round(5 + true[:, None] + rng.normal(size=(len(true), 3))), 1, 5)
        return table, sources

    truth = icc_of_intraclass(draw(20_000)[0]).single
    held = np.zeros(2)
    for _ in range(200):
        table, sources = draw(50)
        for place, over in enumerate((sources, None)):
            found = icc_interval(table, sources=over)
            held[place] += found.low <= truth <= found.high
    by_source, by_f = held / 200
    assert 0.89 <= by_source <= 0.99
    assert by_f < by_source - 0.05


@for_each(
    ("table", "sources"),
    [
        ([[1, 2], [2, 2], [3, 4]], "aaa"),
        ([[1, 2], [2, 2]], "ab"),
        ([[1, 1], [2, 2], [3, 3]], "abc"),
        (np.empty((0, 2)), ""),
        ([[1, 2], [2, 1], [2, 3], [3, 2]], "abcd"),
    ],
)
def test_without_enough_sources_or_a_value_without_each_there_is_no_interval(table, sources):
    for model in MODELS:
        found = icc_interval(table, model=model, sources=list(sources))
        if not (model == "one-way" and len(sources) == 4):
            assert np.isnan([found.low, found.high]).all()


def test_intervals_over_sources_end_where_correlations_do_however_few_the_sources():
    found = icc_interval([[1, 2], [2, 2.5], [5, 6], [7, 7.5]], sources=list("abbb"))
    assert np.isnan(found.low) or -1 <= found.low <= found.value <= found.high <= 1
    far = icc_interval(
        [[1, 1.001], [2, 2.001], [5, 6], [7, 7.5]], sources=list("aabb"), of="single"
    )
    assert far.high == pytest.approx(1)


def test_sources_must_be_one_per_item():
    with pytest.raises(ValueError, match="sources must hold one label per item; got 1 for 2"):
        icc_interval([[1, 2], [2, 3]], sources=["a"])


# -- prophecy ------------------------------------------------------------------------------------


@given(st.floats(-0.3, 1), st.floats(0.1, 4))
def test_as_many_times_fewer_ratings_give_back_the_reliability(reliability, factor):
    stepped = spearman_brown(reliability, factor)
    assume(abs(stepped) < 1e3)
    assert spearman_brown(stepped, 1 / factor) == pytest.approx(reliability, abs=1e-9)


def test_rounding_lifts_no_reliability_above_one():
    assert spearman_brown(1.0, 0.1) == 1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_mean_of_ratings_has_the_share_of_true_variance_that_is_foretold(k):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(40_000, 1))
    ratings = truth + 1.5 * rng.normal(size=(40_000, k))
    squared = np.corrcoef(truth[:, 0], ratings.mean(axis=1))[0, 1] ** 2
    assert spearman_brown(1 / (1 + 1.5**2), k) == pytest.approx(squared, abs=0.01)


def test_reliabilities_without_a_value_stay_undefined():
    assert np.isnan(spearman_brown(np.nan, 2))
    assert np.isnan(spearman_brown(-1, 2))
    assert np.isnan(spearman_brown(-0.6, 3))
    assert spearman_brown(1, 7) == 1
    assert spearman_brown(-0.4, 3) == pytest.approx(-6)


@given(st.floats(0.01, 1), st.floats(0.01, 0.99))
def test_the_raters_needed_reach_the_target_and_one_fewer_do_not(reliability, target):
    n = raters_needed(reliability, target)
    assert spearman_brown(reliability, n) >= target * (1 - 1e-9)
    assert n == 1 or spearman_brown(reliability, n - 1) < target


def test_whole_numbers_of_raters_are_not_rounded_up():
    assert [raters_needed(0.5, k / (k + 1)) for k in range(1, 40)] == list(range(1, 40))


@for_each(
    ("function", "arguments", "message"),
    [
        (spearman_brown, (1.1, 2), "at most 1; got 1.1"),
        (spearman_brown, (0.5, 0), "factor must be a positive number"),
        (spearman_brown, (0.5, np.nan), "factor must be a positive number"),
        (spearman_brown, (0.5, np.inf), "factor must be a positive number"),
        (raters_needed, (0, 0.8), "nothing in common"),
        (raters_needed, (np.nan, 0.8), "above 0 and at most 1"),
        (raters_needed, (1.2, 0.8), "above 0 and at most 1"),
        (raters_needed, (0.5, 1), "target must be strictly between"),
    ],
)
def test_impossible_reliabilities_factors_and_targets_are_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


# -- rater agreement -----------------------------------------------------------------------------


STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall": kendall, "q": q}


def ragged_of_rater_agreement(rng, n_items, n_raters, missing):
    table = rng.normal(size=(n_items, 1)) + rng.normal(size=(n_items, n_raters))
    table = np.round(2 * table)
    table[rng.random(table.shape) < missing] = np.nan
    return table


def rest_by_definition(table, rater, statistic):
    own, rest = [], []
    for row in table:
        others = [x for place, x in enumerate(row) if place != rater and not np.isnan(x)]
        if others and not np.isnan(row[rater]):
            own.append(row[rater])
            rest.append(sum(others) / len(others))
    return STATISTICS[statistic](own, rest), len(own)


@given(st.integers(0, 10**6), st.sampled_from(list(STATISTICS)))
@settings(max_examples=25)
def test_each_rater_is_correlated_with_the_mean_of_those_others_who_rated(seed, statistic):
    rng = np.random.default_rng(seed)
    table = ragged_of_rater_agreement(rng, 8, 3, 0.3)
    found = rater_vs_rest(table, statistic=statistic, seed=rng, n_resamples=20)
    expected = [rest_by_definition(table, rater, statistic) for rater in range(3)]
    values = np.array([value for value, _ in expected])
    assert [each.value for each in found.raters] == pytest.approx(values, nan_ok=True)
    assert [each.n for each in found.raters] == [n for _, n in expected]
    defined = ~np.isnan(values)
    assert found.average.n_undefined == np.count_nonzero(~defined)
    if defined.any():
        assert found.average.value == pytest.approx(values[defined].mean())


@given(st.integers(0, 10**6), st.sampled_from(list(STATISTICS)))
@settings(max_examples=25)
def test_pairs_of_raters_are_correlated_on_the_items_that_both_rated(seed, statistic):
    rng = np.random.default_rng(seed)
    table = ragged_of_rater_agreement(rng, 8, 4, 0.3)
    values, n = [], 0
    for one, other in combinations(table.T, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        values.append(STATISTICS[statistic](one[both], other[both]))
        n += 0 if np.isnan(values[-1]) else np.count_nonzero(both)
    found = pairwise_rater_agreement(table, statistic=statistic, seed=rng, n_resamples=20)
    assert found.n_undefined == np.count_nonzero(np.isnan(values))
    if not np.isnan(values).all():
        assert found.value == pytest.approx(np.nanmean(values))
        assert found.n == n


def test_at_the_other_levels_raters_take_the_part_of_judges():
    rng = np.random.default_rng(0)
    sources, systems = np.repeat(np.arange(30), 4), np.tile(np.arange(4), 30)
    table = ragged_of_rater_agreement(rng, 120, 3, 0.1)
    for level in ("sample", "system"):
        found = rater_vs_rest(
            table, level=level, sources=sources, systems=systems, seed=rng, n_resamples=100
        )
        pairs = pairwise_rater_agreement(
            table, level=level, sources=sources, systems=systems, seed=rng, n_resamples=100
        )
        values = []
        for one, other in combinations(table.T, 2):
            both = ~np.isnan(one) & ~np.isnan(other)
            values.append(
                agreement(
                    other[both],
                    one[both],
                    sources=sources[both],
                    systems=systems[both],
                    statistic="pearson",
                    level=level,
                ).value
            )
        assert pairs.value == pytest.approx(np.mean(values))
        assert found.average.low < found.average.value < found.average.high
        assert found.average.n_groups == 30


@pytest.mark.no_cover
def test_raters_alike_agree_with_the_rest_as_test_theory_foretells():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, 4))
    found = rater_vs_rest(table, seed=rng, n_resamples=20)
    pairs = pairwise_rater_agreement(table, seed=rng, n_resamples=20)
    assert pairs.value == pytest.approx(0.5, abs=0.01)
    expected = np.sqrt(0.5 * spearman_brown(0.5, 3))
    assert found.average.value == pytest.approx(expected, abs=0.01)
    assert pairs.value < found.average.value


def test_a_rater_who_says_one_thing_only_is_left_out_of_the_average_and_counted():
    table = [[2, 1, 2], [2, 3, 3], [2, 4, 4], [2, 5, 3]]
    found = rater_vs_rest(table, seed=0)
    assert np.isnan(found.raters[0].value)
    assert found.average.n_undefined == 1
    assert found.average.value == np.mean([rater.value for rater in found.raters[1:]])
    pairs = pairwise_rater_agreement(table, seed=0)
    assert (pairs.n_undefined, pairs.n) == (2, 4)
    assert pairs.value == pytest.approx(pearson([2, 3, 4, 3], [1, 3, 4, 5]))


def test_nothing_changes_if_raters_change_places_but_their_order():
    table = ragged_of_rater_agreement(np.random.default_rng(2), 30, 4, 0.2)
    found = rater_vs_rest(table, seed=0)
    turned = rater_vs_rest(table[:, ::-1], seed=0)
    assert turned.average.value == pytest.approx(found.average.value)
    assert turned.raters[0].value == pytest.approx(found.raters[3].value)


@for_each(
    "table",
    [np.empty((0, 3)), np.empty((3, 0)), [[1], [2]], [[1, None], [None, 2]], [[1, 1], [1, 1]]],
)
def test_raters_without_anything_in_common_have_no_agreement(table):
    for statistic in STATISTICS:
        options = {"statistic": statistic, "seed": np.random.default_rng(0)}
        found = rater_vs_rest(table, **options)
        assert all(np.isnan(each.value) for each in found.raters)
        for each in (found.average, pairwise_rater_agreement(table, **options)):
            assert np.isnan([each.value, each.low, each.high]).all()


@pytest.mark.no_cover
def test_intervals_over_sources_cover_about_what_they_claim():
    rng, held = np.random.default_rng(3), 0
    for _ in range(150):
        sources = np.repeat(np.arange(40), 3)
        true = rng.normal(size=40)[sources] + rng.normal(size=120)
        table = true[:, None] + np.sqrt(2) * rng.normal(size=(120, 3))
        found = pairwise_rater_agreement(table, sources=sources, seed=rng, n_resamples=200)
        held += found.low <= 0.5 <= found.high
    assert 0.89 <= held / 150 <= 0.99


@pytest.mark.parametrize("function", [rater_vs_rest, pairwise_rater_agreement])
def test_what_cannot_be_is_refused(function):
    table, rng = [[1, 2], [2, 3], [3, 3]], np.random.default_rng(0)
    with pytest.raises(ValueError, match="statistic must be one of"):
        function(table, statistic="alpha", seed=rng)
    with pytest.raises(ValueError, match="level must be one of"):
        function(table, level="segment", seed=rng)
    with pytest.raises(ValueError, match="sample level needs sources="):
        function(table, level="sample", seed=rng)
    with pytest.raises(ValueError, match="system level needs systems="):
        function(table, level="system", seed=rng)
    with pytest.raises(ValueError, match="sources must hold one label per item"):
        function(table, sources=[1], seed=rng)
    with pytest.raises(ValueError, match="systems must hold one label per item"):
        function(table, systems=[1], seed=rng)
    with pytest.raises(ValueError, match="ratings must have shape"):
        function([1, 2], seed=rng)
    with pytest.raises(TypeError, match="seed must be"):
        function(table, seed=None)
    with pytest.raises(ValueError, match="at least 20 resamples"):
        function(table, seed=rng, n_resamples=3)
