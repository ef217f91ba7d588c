import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgesmith.metrics.ratings.reliability import icc, icc_interval

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


def ragged(rng, n_items, n_raters, noise, missing):
    table = rng.normal(size=(n_items, 1)) + noise * rng.normal(size=(n_items, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table


def test_icc_equals_the_analysis_of_variance_published_for_six_targets_and_four_judges():
    # Shrout and Fleiss (1979), table 2; they report ICC(1,1) = .17 and ICC(1,4) = .44.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = icc(table)
    assert (round(found.single, 2), round(found.mean, 2)) == (0.17, 0.44)
    assert (found.n_items, found.n_raters) == (6, 4)


@pytest.mark.parametrize("missing", [0, 0.3])
def test_icc_recovers_the_share_of_variance_it_estimates(missing):
    table = ragged(np.random.default_rng(1), 20_000, 4, np.sqrt(1.5), missing)
    found = icc(table)
    assert found.single == pytest.approx(1 / 2.5, abs=0.02)
    k = found.n_raters
    assert found.mean == pytest.approx(k * found.single / (1 + (k - 1) * found.single))


def test_icc_does_not_depend_on_unit_offset_or_column_order():
    rng = np.random.default_rng(2)
    table = ragged(rng, 30, 5, 1, 0.2)
    found = icc(table)
    moved = icc(rng.permuted(1e6 + 3 * table, axis=1))
    assert (moved.single, moved.mean) == pytest.approx((found.single, found.mean))


@pytest.mark.parametrize(
    "table", [[[1, 2]], [[1, None], [2, None]], [[3, 3], [3, 3]], [[None, None]], np.empty((0, 3))]
)
def test_icc_without_two_items_repeated_ratings_or_variation_is_undefined(table):
    found = icc(table)
    assert np.isnan([found.single, found.mean]).all()


def test_icc_of_items_that_do_not_differ_is_negative_for_one_and_undefined_for_the_mean():
    found = icc([[1, 2], [2, 1]])
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
    agreement = icc(table, model="agreement")
    consistency = icc(table, model="consistency")
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
@pytest.mark.parametrize(("table", "model", "single", "mean"), PINGOUIN)
def test_values_and_intervals_equal_pingouin(table, model, single, mean):
    for of, expected in (("single", single), ("mean", mean)):
        found = icc_interval(table, model=model, of=of)
        assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-6)
        assert found.value == getattr(icc(table, model=model), of)


def test_intervals_equal_those_published_for_six_targets_and_four_judges():
    # Shrout and Fleiss (1979): ICC(2,1) .29 and ICC(3,1) .71, of the mean .62 and .91.
    assert round(icc(SIX_TARGETS, model="agreement").single, 2) == 0.29
    assert round(icc(SIX_TARGETS, model="agreement").mean, 2) == 0.62
    assert round(icc(SIX_TARGETS, model="consistency").single, 2) == 0.71
    assert round(icc(SIX_TARGETS, model="consistency").mean, 2) == 0.91


def test_a_mean_that_no_reliability_fits_is_undefined_and_not_fifteen():
    # pingouin 0.7.0 reports ICC(A,k) = 15.0, CI95 [5.75, 0.23], for these five items.
    assert np.isnan(icc(CONTRARY, model="agreement").mean)
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
        before = icc(table, model=model).single
        after = icc(lenient, model=model).single
        assert (after == pytest.approx(before)) == (model == "consistency")
    one_way = icc(lenient).single
    agreement = icc(lenient, model="agreement").single
    assert one_way < agreement < 0.7


@pytest.mark.parametrize("model", ["agreement", "consistency"])
def test_two_way_models_leave_out_and_count_items_with_a_missing_rating(model):
    table = np.array([*map(list, SIX_TARGETS), [1, 2, None, 3], [None] * 4], dtype=float)
    found = icc_interval(table, model=model)
    expected = icc_interval(SIX_TARGETS, model=model)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert (found.n, found.n_groups, found.n_undefined) == (24, 6, 2)
    one_way = icc(table)
    assert (one_way.n_items, one_way.n_left_out) == (7, 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
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
    found = icc([[1, 2], [2, 1]], model="agreement")
    assert np.isnan([found.single, found.mean]).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("missing", [0, 0.3])
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
def test_what_is_no_table_of_ratings_is_refused(table):
    with pytest.raises(ValueError, match="ratings must"):
        icc(table, model="agreement")


def jackknife_by_definition(table, sources, model):
    """Return ends for one rating from correlations without one source after another."""
    from scipy.stats import t as student

    def log_ratio(rows):
        found = icc(table[rows], model=model)
        return np.log((1 + (found.n_raters - 1) * found.single) / (1 - found.single))

    rated = ~np.isnan(table).all(axis=1) if model == "one-way" else ~np.isnan(table).any(axis=1)
    present = np.unique(sources[rated])
    without = [log_ratio(sources != source) for source in present]
    n = len(present)
    error = np.sqrt((n - 1) / n * np.sum((without - np.mean(without)) ** 2))
    middle = log_ratio(np.ones(len(table), bool))
    k = icc(table, model=model).n_raters
    ends = np.exp(middle + student.ppf([0.025, 0.975], n - 1) * error)
    return (ends - 1) / (ends + k - 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("missing", [0, 0.3])
def test_an_interval_over_sources_is_the_jackknife_of_the_logarithmic_ratio(model, missing):
    table = ragged(np.random.default_rng(7), 40, 3, 1, missing)
    sources = np.repeat(np.arange(10), 4)
    table[sources == 4] = np.nan
    found = icc_interval(table, model=model, sources=sources)
    expected = jackknife_by_definition(table, sources, model)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert found.value == icc(table, model=model).single
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

    truth = icc(draw(20_000)[0]).single
    held = np.zeros(2)
    for _ in range(200):
        table, sources = draw(50)
        for place, over in enumerate((sources, None)):
            found = icc_interval(table, sources=over)
            held[place] += found.low <= truth <= found.high
    by_source, by_f = held / 200
    assert 0.89 <= by_source <= 0.99
    assert by_f < by_source - 0.05


@pytest.mark.parametrize(
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
