"""Calibration, cross-validation and splits by source."""

import math
from dataclasses import replace

import dspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from optimizing import examples
from tables import LIKERT as LIKERT_TABLES
from tables import judged as judged_tables

from judgesmith import InputError
from judgesmith.metrics import pearson
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.optimizers.fitting.calibrating import Calibrator
from judgesmith.optimizers.fitting.cross_validation import SourceFolds
from judgesmith.optimizers.fitting.ridge import Whitening
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Agreement,
    Kappa,
    in_people_points,
)
from judgesmith.optimizers.rows import (
    folds_by_source,
    pool_and_selection,
    rows_from,
    split_by_source,
)
from judgesmith.optimizers.trials import MOST_BLOCKS
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.ensemble.judges import Calibrated
from judgesmith.programs.families.ensemble.members import PanelJudgement, calibrated
from judgesmith.signatures import Judgement, Scale
from judgesmith.signatures.scale import PERCENT

# calibrating

LIKERT = Scale(low=1, high=5)


def judged(n_sources, *, rng, per_source=3, way=lambda truth: 50 + 15 * truth, first=0):
    """Return rated rows and a panel's judgements; doubt says how far off a score may be."""
    source = np.repeat(np.arange(n_sources), per_source)
    truth = rng.normal(size=n_sources)[source] * 0.5 + rng.normal(size=len(source)) * 0.8
    doubt = rng.choice([1.0, 20.0], size=len(source))
    seen = truth + np.where(doubt > 10, 2.0, 0.15) * rng.normal(size=len(source))
    human = np.clip(3 + truth, 1, 5)
    rows = rows_from(
        [
            dspy.Example(source="s", response=f"{first}-{k}", score=x, group=f"{first}-{s}")
            for k, (s, x) in enumerate(zip(source, human.tolist(), strict=True))
        ],
        LIKERT,
    )
    said = [
        PanelJudgement(score=float(way(x)), disagreement=float(d))
        for x, d in zip(seen, doubt, strict=True)
    ]
    return rows, said


def learn(calibrator, rng, n_sources=40, **more):
    first = judged(n_sources, rng=rng, first=1, **more)
    second = judged(n_sources, rng=rng, first=2, **more)
    return calibrator.learned(*first, *second)


def kept(calibration, rows, said):
    found = [calibrated(one, calibration) for one in said]
    held = [
        abs(one.score - human) for one, human in zip(found, rows.human, strict=True)
        if one.score is not None
    ]  # fmt: skip
    return found, held


@pytest.mark.no_cover
def test_intervals_hold_what_people_say_about_as_often_as_they_claim():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(60):
        found = learn(Calibrator(shape="line", confidence=0.8), rng, n_sources=25)
        rows, said = judged(20, rng=rng, first=3)
        for one, human in zip(said, rows.human, strict=True):
            judgement = calibrated(one, found)
            inside.append(judgement.low <= human <= judgement.high)
    assert 0.79 <= np.mean(inside) <= 0.87


def test_too_few_sources_for_the_confidence_leave_the_whole_scale():
    rng = np.random.default_rng(1)
    first, second = judged(20, rng=rng, first=1), judged(5, rng=rng, first=2)
    found = Calibrator(confidence=0.9).learned(*first, *second)
    assert found.margin is None
    assert found.interval(3) == (1, 5)


def test_kept_scores_lie_as_close_to_people_as_was_wished():
    rng = np.random.default_rng(2)
    found = learn(Calibrator(within=0.6), rng, n_sources=150)
    assert found.abstention.keeps == "below"
    assert 1 < found.abstention.limit <= 20
    rows, said = judged(200, rng=rng, first=3)
    judgements, distances = kept(found, rows, said)
    assert np.mean(distances) < 0.6
    assert 0.4 < np.mean([one.abstained for one in judgements]) < 0.6
    all_points = np.array([found.apply(one.score) for one in said])
    assert np.mean(distances) < 0.8 * np.mean(np.abs(all_points - rows.human))


def test_a_wish_that_cannot_be_certified_leaves_every_text_to_people():
    found = learn(Calibrator(within=0.01), np.random.default_rng(3))
    assert found.abstention.keeps == "none"
    assert calibrated(PanelJudgement(score=50, disagreement=0.1), found).abstained


def test_a_bent_scale_is_followed_by_a_curve_and_a_straight_one_by_a_line():
    rng = np.random.default_rng(4)
    bent = learn(Calibrator(), rng, n_sources=150, way=lambda x: 100 / (1 + math.exp(-4 * x - 6)))
    straight = learn(Calibrator(), rng, n_sources=10)
    assert len(bent.thresholds) > 2
    assert len(straight.thresholds) == 2


def test_a_line_is_the_one_of_least_squares():
    rng = np.random.default_rng(6)
    first, second = judged(40, rng=rng, first=1), judged(40, rng=rng, first=2)
    found = Calibrator(shape="line").learned(*first, *second)
    x = [one.score for one in first[1]]
    slope, intercept = np.polyfit(x, first[0].human, 1)
    for score in (40.0, 50.0, 60.0):
        assert found.apply(score) == pytest.approx(slope * score + intercept)


def test_a_judge_that_orders_the_wrong_way_round_is_worth_the_mean():
    found = learn(
        Calibrator(shape="line"), np.random.default_rng(7), way=lambda truth: 50 - 15 * truth
    )
    assert len(found.values) == 1


def test_compiling_keeps_what_each_number_was_learned_from_apart():
    trainset = examples(range(40))
    judge = ActiveCritic()
    found = Calibrator(shape="line").compile(judge, trainset=trainset)
    assert isinstance(found, Calibrated)
    c = found.calibration
    assert (c.n_sources_map, c.n_sources_margin) == (20, 20)
    assert (c.n_map, c.n_margin) == (40, 40)
    assert found.judge is not judge
    assert found.scale == LIKERT
    assert judge.protocol == found.judge.protocol


@pytest.mark.no_cover
def test_a_calibrated_judge_is_calibrated_anew_not_twice():
    trainset = examples(range(40))
    once = Calibrator().compile(ActiveCritic(), trainset=trainset)
    assert not isinstance(Calibrator().compile(once, trainset=trainset).judge, Calibrated)


def test_a_valset_brings_the_rows_of_the_margin_and_shares_no_source():
    judge = ActiveCritic()
    found = Calibrator().compile(
        judge, trainset=examples(range(20)), valset=examples(range(20, 50))
    )
    assert (found.calibration.n_sources_map, found.calibration.n_sources_margin) == (20, 30)
    with pytest.raises(ValueError, match="share 1 sources, such as '19'"):
        Calibrator().compile(judge, trainset=examples(range(20)), valset=examples(range(19, 50)))


def test_unscored_rows_are_left_out_of_both_parts():
    rng = np.random.default_rng(8)
    (rows, said), second = judged(20, rng=rng, first=1), judged(20, rng=rng, first=2)
    said = [Judgement.unscored("cut off") if k < 6 else one for k, one in enumerate(said)]
    found = Calibrator().learned(rows, said, second[0], [*second[1][:-1], said[0]])
    assert (found.n_map, found.n_margin) == (54, 59)
    assert found.n_sources_map == 18


def test_refuses_what_nothing_can_be_learned_from():
    judge = ActiveCritic()
    with pytest.raises(TypeError, match="expected a judge"):
        Calibrator().compile(dspy.Predict("source -> score"), trainset=examples(range(9)))
    with pytest.raises(ValueError, match="no rated items"):
        Calibrator().compile(judge, trainset=[])
    with pytest.raises(ValueError, match="drop teacher"):
        Calibrator().compile(judge, trainset=examples(range(40)), teacher=judge)
    with pytest.raises(ValueError, match="needs 20 scored rows that differ"):
        Calibrator().compile(judge, trainset=examples(range(10)))
    with pytest.raises(ValueError, match="has two members or two criteria with a score"):
        Calibrator(within=1).compile(ActiveCritic(variant="vanilla"), trainset=examples(range(40)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": 1}, "confidence must be between 0 and 1"),
        ({"share": 0}, "share must be between"),
        ({"within": 0}, "within must be above 0"),
        ({"shape": "wave"}, "line, curve or auto"),
    ],
)
def test_refuses_impossible_settings_on_the_spot(settings, message):
    with pytest.raises(ValueError, match=message):
        Calibrator(**settings)


@pytest.mark.no_cover
def test_live_judgements_are_those_that_were_learned_from():
    trainset = examples(range(40))
    found = Calibrator(shape="line").compile(ActiveCritic(), trainset=trainset)
    rows = rows_from(trainset)
    plain = score_batch(ActiveCritic(), rows.items)
    again = score_batch(found, rows.items)
    assert [one.uncalibrated for one in again] == [one.score for one in plain]


# crossing

PEARSON = Agreement("pearson")


def table(n, n_sources, seed=0, human=None):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=n) if human is None else np.asarray(human, dtype=float)
    return PredictionTable(
        predicted=human, human=human, sources=np.arange(n) % n_sources, systems=np.zeros(n)
    )


def halves(rows, n_folds=2, n_repeats=5, seed=0):
    rng = np.random.default_rng(seed)
    return SourceFolds.of(rows, n_folds=n_folds, n_repeats=n_repeats, rng=rng)


def noisy(rows, size, seed=1):
    scores = rows.human + size * np.random.default_rng(seed).normal(size=rows.n)
    return lambda inside, outside: scores[outside]


def test_the_value_is_the_mean_of_the_agreements_within_each_predicted_part():
    rows = table(40, 20)
    crossed = halves(rows, n_folds=3)
    fitted = noisy(rows, 1.0)
    values = []
    for parts in crossed.parts:
        for part in range(3):
            outside = np.flatnonzero(parts == part)
            values.append(pearson(rows.human[outside], fitted(None, outside)))
    assert crossed.agreement(fitted, PEARSON).value == pytest.approx(np.mean(values))


def test_predictions_of_different_fits_are_not_put_in_one_list():
    # Each fit adds the mean of what it has seen: low where the predicted rows are high.
    rows = table(30, 30)
    order = np.random.default_rng(5).normal(size=30)

    def fitted(inside, outside):
        return 0.01 * order[outside] + rows.human[inside].mean()

    crossed = halves(rows)
    within = crossed.agreement(fitted, PEARSON).value
    shifted = crossed.agreement(lambda inside, outside: order[outside], PEARSON).value
    assert within == pytest.approx(shifted)


def test_the_error_is_the_jackknife_over_blocks_of_sources():
    rows = table(12, 6)
    crossed = halves(rows, n_repeats=2)
    assert len(np.unique(crossed.blocks)) == 6
    first, second = noisy(rows, 0.5), noisy(rows, 2.0, seed=2)
    found = [crossed.agreement(one, PEARSON) for one in (first, second)]
    moved = []
    for block in range(6):
        values = []
        for fitted in (first, second):
            parts_values = []
            for parts in crossed.parts:
                for part in range(2):
                    rest = np.flatnonzero((parts == part) & (crossed.blocks != block))
                    if len(rest) >= 3:
                        parts_values.append(pearson(rows.human[rest], fitted(None, rest)))
            values.append(np.mean(parts_values))
        moved.append(values[0] - values[1])
    behind, error = found[1].behind(found[0])
    assert behind == pytest.approx(found[0].value - found[1].value)
    assert error == pytest.approx(np.sqrt(5 / 6 * np.sum((moved - np.mean(moved)) ** 2)))


@pytest.mark.no_cover
def test_the_error_is_about_how_far_the_distance_varies_between_sets():
    distances, errors = [], []
    for seed in range(30):
        rows = table(60, 30, seed=seed)
        crossed = halves(rows, seed=seed)
        best, other = (
            crossed.agreement(noisy(rows, size, seed=1000 * size + seed), PEARSON)
            for size in (1, 2)
        )
        behind, error = other.behind(best)
        distances.append(behind)
        errors.append(error)
    assert 0.7 < np.mean(errors) / np.std(distances) < 1.4


def test_rows_of_one_source_are_in_one_half_and_one_block():
    rows = table(90, 45)
    crossed = halves(rows)
    for labels in (*crossed.parts, crossed.blocks):
        for source in range(45):
            assert len(set(labels[rows.sources == source])) == 1
    assert len(np.unique(crossed.blocks)) == MOST_BLOCKS


def test_a_way_that_is_constant_in_a_half_is_undefined_and_infinitely_far_behind():
    rows = table(20, 10)
    crossed = halves(rows)
    constant = crossed.agreement(lambda inside, outside: np.ones(len(outside)), PEARSON)
    assert np.isnan(constant.value)
    behind, error = constant.behind(crossed.agreement(noisy(rows, 1.0), PEARSON))
    assert behind == np.inf
    assert np.isnan(error)


# splitting

groups = st.lists(st.integers(0, 9), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1)
seeds = st.integers(0, 2**32 - 1)


def rng(seed=0):
    return np.random.default_rng(seed)


def sources(n_groups, n_rows_each):
    return np.repeat(np.arange(n_groups), n_rows_each)


@pytest.mark.no_cover
@given(groups, seeds, st.floats(0, 0.99))
def test_parts_share_no_source_and_lose_no_row(labels, seed, holdout):
    values = np.arange(len(labels)) % 5
    parts = split_by_source(labels, values, holdout=holdout, rng=rng(seed))
    assert sorted([*parts.tuning, *parts.heldout]) == list(range(len(labels)))
    labels = np.asarray(labels)
    assert not set(labels[parts.tuning]) & set(labels[parts.heldout])
    n_held = len(set(labels[parts.heldout]))
    n = len(set(labels.tolist()))
    assert n_held == (min(max(round(holdout * n), 1), n - 1) if holdout else 0)


def test_every_part_sees_the_whole_range_where_chance_would_not():
    # Of 100 sources in order of value, every tenth stretch gives exactly one to the smaller part.
    values = np.arange(100)
    for holdout in (0.1, 0.9):
        parts = split_by_source(values, values, holdout=holdout, rng=rng(1))
        small = min(parts.tuning, parts.heldout, key=len)
        assert np.bincount(small // 10).tolist() == [1] * 10


def test_unrated_sources_are_shared_out_likewise():
    values = np.where(np.arange(100) < 50, np.nan, np.arange(100.0))
    parts = split_by_source(np.arange(100), values, holdout=0.2, rng=rng())
    assert np.isnan(values[parts.heldout]).sum() == 10


def test_rows_may_be_split_whatever_their_source():
    parts = split_by_source(sources(2, 50), np.zeros(100), holdout=0.75, rng=rng(), rows=True)
    assert (len(parts.tuning), len(parts.heldout)) == (25, 75)
    assert set(sources(2, 50)[parts.tuning]) == {0, 1}


@pytest.mark.parametrize("holdout", [-0.1, 1, 1.5, float("nan")])
def test_a_holdout_that_is_no_share_is_refused(holdout):
    with pytest.raises(ValueError, match="holdout is a share of sources from 0 to below 1; got"):
        split_by_source([1, 2], [1, 2], holdout=holdout, rng=rng())


def test_one_source_cannot_be_shared_out():
    with pytest.raises(
        ValueError, match=r"^there is 1 source; holding some out needs at least 2; give more "
    ):
        split_by_source([1, 1], [1, 2], rng=rng())


@given(groups, seeds, st.integers(1, 9))
def test_pool_and_selection_share_no_source_and_lose_no_rated_row(labels, seed, n_shown):
    labels = np.asarray(labels)
    values = np.where(np.arange(len(labels)) % 7 == 6, np.nan, labels * 1.0)
    rated = np.flatnonzero(np.isfinite(values))
    n_sources = len(set(labels[rated].tolist()))
    if n_sources < 2:
        return
    pool, selection = pool_and_selection(labels, values, n_demonstrations=n_shown, rng=rng(seed))
    assert sorted([*pool, *selection]) == rated.tolist()
    assert not set(labels[pool]) & set(labels[selection])
    n_pooled = len(set(labels[pool].tolist()))
    assert 1 <= n_pooled <= n_sources // 2
    if len(pool) < 4 * n_shown:
        assert n_pooled == n_sources // 2


@for_each(
    ("n_sources", "each", "n_shown", "n_pooled"),
    [(100, 4, 3, 20), (20, 1, 3, 10), (40, 1, 3, 12), (20, 16, 8, 4), (2, 10, 3, 1)],
)
def test_the_pool_is_a_fifth_or_what_the_demonstrations_need_or_half(
    n_sources, each, n_shown, n_pooled
):
    labels = sources(n_sources, each)
    pool, _ = pool_and_selection(labels, labels, n_demonstrations=n_shown, rng=rng())
    assert len(set(labels[pool])) == n_pooled


def test_a_single_source_cannot_both_teach_and_decide():
    with pytest.raises(
        ValueError, match=r"got 2 rated rows of 1 source to learn from; ask for no dem"
    ):
        pool_and_selection([1, 1, 2], [1, 2, np.nan], n_demonstrations=3, rng=rng())


@given(groups, seeds, st.integers(2, 5))
def test_folds_keep_sources_whole_and_are_all_used(labels, seed, k):
    n = len(set(labels))
    if k > n:
        with pytest.raises(ValueError, match=f"{n} sources make 2 to {n} folds; asked for {k}"):
            folds_by_source(labels, k, rng=rng(seed))
        return
    folds = folds_by_source(labels, k, rng=rng(seed))
    assert set(folds.tolist()) == set(range(k))
    assert len({(g, f) for g, f in zip(labels, folds.tolist(), strict=True)}) == n


# sources

labels = st.lists(st.integers(0, 3), min_size=3, max_size=12)
shares = st.sampled_from([0.0, 0.2, 0.8, 5.0])


@pytest.mark.no_cover
@given(labels, shares)
def test_whitened_rows_have_the_identity_as_their_covariance(groups, share):
    codes = np.asarray(groups)
    same = (codes[:, None] == codes[None, :]).astype(float)
    covariance = np.eye(len(codes)) + share * same
    white = Whitening.of(codes, share)
    matrix = white._white(np.eye(len(codes)))
    np.testing.assert_allclose(matrix @ covariance @ matrix.T, np.eye(len(codes)), atol=1e-9)


@pytest.mark.no_cover
@given(labels, shares)
def test_the_log_determinant_is_that_of_covariance_and_intercept(groups, share):
    codes = np.asarray(groups)
    same = (codes[:, None] == codes[None, :]).astype(float)
    covariance = np.eye(len(codes)) + share * same
    ones = np.ones(len(codes))
    precision = ones @ np.linalg.solve(covariance, ones)
    expected = np.linalg.slogdet(covariance)[1] + np.log(precision)
    assert Whitening.of(codes, share).log_determinant == pytest.approx(expected)


# scale points


def test_too_many_levels_are_refused_with_a_way_out():
    table = judged_tables(np.arange(12), np.arange(12))
    with pytest.raises(ValueError, match=r"12 different values, and no scale is named; take q"):
        Kappa().value(table)


def test_scores_are_points_of_the_judges_scale_wherever_they_lie():
    few = judged_tables([1, 5], [1, 5], scale=LIKERT_TABLES, judge_scale=PERCENT)
    assert in_people_points(few).tolist() == pytest.approx([1.04, 1.2])
    assert Kappa().value(few) == 0.0
    fitted = replace(few, judge_scale=LIKERT_TABLES)
    assert in_people_points(fitted).tolist() == [1, 5]
    assert Kappa().value(fitted) == 1.0


@for_each("objective", ["kappa", "kappa_linear", "-mae", "q + .5*kappa"])
@for_each("missing", ["scale", "judge_scale"])
def test_without_a_scale_points_are_not_compared(objective, missing):
    known = {"scale": LIKERT_TABLES, "judge_scale": LIKERT_TABLES, missing: None}
    table = judged_tables([1, 5, 3, 2], [1, 5, 3, 3], **known)
    whose = "human" if missing == "scale" else "the judge's"
    with pytest.raises(
        InputError, match=rf"{whose} scores is not known; give the table {missing}="
    ):
        parse_objective(objective).value(table)


def test_each_target_is_compared_on_its_own_scales():
    likert = judged_tables([1, 3, 5], [1, 3, 5], scale=LIKERT_TABLES, judge_scale=LIKERT_TABLES)
    percent = judged_tables([0, 50, 100], [0, 50, 100], scale=PERCENT, judge_scale=PERCENT)
    both = PredictionTable.of_parts({"score": likert, "wit": percent})
    assert Kappa().value(both) == 1.0
    off = replace(percent, predicted=np.array([1.0, 3.0, 5.0]))
    assert AbsoluteError().value(PredictionTable.of_parts({"score": likert, "wit": off})) == (
        pytest.approx((0 + (1 + 47 + 95) / 3) / 2)
    )


def test_a_named_scale_of_the_judge_is_believed():
    table = judged_tables([1, 5], [1, 5], scale=LIKERT_TABLES, judge_scale=Scale(low=1, high=9))
    assert in_people_points(table).tolist() == [1, 3]
    faults = replace(table, judge_scale=Scale(low=1, high=9, higher_is_better=False))
    assert in_people_points(faults).tolist() == [5, 3]


def test_scores_off_the_judges_scale_are_refused():
    with pytest.raises(InputError, match=r"from -3 to 200 are not on the judge's scale 0\.\.100"):
        in_people_points(judged_tables([-3, 200], [1, 5], scale=LIKERT_TABLES))
