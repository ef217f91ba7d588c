"""Objectives: given, counted, ordinal, pairs, effort and constraints."""

import math
from itertools import permutations

import numpy as np
import pytest
from looping import for_each
from optimizing import LIKERT, examples, lm_of
from tables import LIKERT as LIKERT_TABLES
from tables import judged, random_table, resampled

from judgesmith import InputError
from judgesmith.metrics import (
    tie_aware_accuracy_interval,
    weighted_kappa_interval,
)
from judgesmith.metrics.pairs import adjacent_accuracy
from judgesmith.metrics.ratings import nearest_levels
from judgesmith.optimizers import (
    Agreement,
    PredictionTable,
    ProtocolSearch,
    RandomDemonstrationSearch,
    parse_objective,
)
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Kappa,
    NeighbourAccuracy,
    TieAccuracy,
    parse_agreement,
)
from judgesmith.optimizers.objectives.base import numbered_sources
from judgesmith.optimizers.objectives.combining import WeightedSum
from judgesmith.optimizers.objectives.functions import CallsPerItem, ShareScored
from judgesmith.optimizers.objectives.grammar import as_objective
from judgesmith.optimizers.predictions import prediction_table
from judgesmith.optimizers.rows import rows_from
from judgesmith.optimizers.search.racing import RaceStage, RacingRule
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import Judgement, Scale

# objectives


def table(predicted, human, sources=None):
    n = len(human)
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.asarray(human, dtype=float),
        sources=np.arange(n) if sources is None else np.asarray(sources),
        systems=np.asarray(["a"] * n),
    )


def test_unscored_rows_leave_the_correlation():
    whole = Agreement("pearson").value(table([1, 3, 2], [1, 2, 5]))
    assert Agreement("pearson").value(table([1, np.nan, 3, 2], [1, 9, 2, 5])) == whole


def test_without_scores_or_spread_the_objective_is_undefined_and_not_zero():
    assert math.isnan(Agreement("q").value(table([np.nan] * 4, [1, 2, 3, 4])))
    assert math.isnan(Agreement("q").value(table([50] * 4, [1, 2, 3, 4])))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "accuracy",
            "as in q or spearman@sample: statistic must be one of .*q; got 'accuracy'",
        ),
        ("q@item", "level must be one of system, sample, dataset; got 'item'"),
        ("q + kappa", "an objective is STATISTIC or STATISTIC@LEVEL"),
    ],
)
def test_what_is_no_single_correlation_is_refused_with_what_there_is(text, message):
    with pytest.raises(ValueError, match=message):
        parse_agreement(text)


def test_what_is_better_when_lower_is_no_objective_by_itself():
    with pytest.raises(ValueError, match="mae is better when lower; subtract it, as in '-mae'"):
        as_objective(AbsoluteError())


class TestSeveralTargets:
    whole = table([1, 3, 2, 5], [1, 2, 5, 4])
    wit = table([4, 3, 2, 1, 9], [1, 3, 2, 4, 5])

    @pytest.mark.parametrize("name", ["q", "pearson", "kendall"])
    def test_the_objective_is_the_mean_over_them(self, name):
        several = PredictionTable.of_parts({"score": self.whole, "wit": self.wit})
        one_by_one = [Agreement(name).value(part) for part in (self.whole, self.wit)]
        assert Agreement(name).value(several) == pytest.approx(np.mean(one_by_one))

    def test_scales_of_the_targets_do_not_mix(self):
        stretched = table(self.wit.predicted, 1000 * self.wit.human)
        several = PredictionTable.of_parts({"score": self.whole, "wit": self.wit})
        again = PredictionTable.of_parts({"score": self.whole, "wit": stretched})
        assert Agreement("q").value(again) == pytest.approx(Agreement("q").value(several))

    def test_one_that_is_undefined_makes_the_whole_undefined(self):
        for lost in (table([5, 5, 5], [1, 2, 3]), table([np.nan] * 3, [1, 2, 3])):
            several = PredictionTable.of_parts({"score": self.whole, "wit": lost})
            assert math.isnan(Agreement("q").value(several))


# Whatever objective a search is given, it is checked first and means what was given.

ROWS = examples(range(40))
RATED = {row.response: int(row.score) for row in ROWS}


def in_points(user, shown, system):
    """Answer with people's points, from 1 to 5, whatever scale was asked for."""
    return next(score for response, score in RATED.items() if f"{response}\n" in user)


class TestScales:
    """A judge that answers 1 to 5 when it is asked for 0 to 100 is far off in points."""

    @pytest.mark.parametrize(
        "search",
        [
            lambda objective, **more: RandomDemonstrationSearch(objective, n_trials=2, **more),
            lambda objective, **more: ProtocolSearch(objective, n_trials=2, confirm=None, **more),
        ],
        ids=["random", "protocol"],
    )
    def test_a_search_knows_what_its_judges_answer_on(self, search):
        student = ActiveCritic(variant="vanilla")
        values = {}
        for objective in ("kappa", "-mae", "q"):
            made = search(objective, lm=lm_of(in_points))
            made.compile(student, trainset=ROWS)
            values[objective] = made.trials_[0].value
        assert values["q"] == pytest.approx(3)
        assert values["kappa"] == pytest.approx(0, abs=0.01)
        off = np.mean([row.score - 1 - row.score / 25 for row in ROWS])
        assert values["-mae"] == pytest.approx(-off, abs=0.5)


def near(example, prediction, trace=None):
    """Return how near the judge's points are to people's, from 0 to 1."""
    return 1 - abs(example.score - 1 - prediction.score / 25) / 4


def agreeing(table):
    """Return Pearson, as users write it."""
    return np.corrcoef(table.predicted, table.human)[0, 1]


def shifted(user, shown, system):
    """Answer a few points above people's, and with a longer prompt nearer to them."""
    return max(0, 25 * (in_points(user, shown, system) - 1) - 10 // (1 + len(shown)))


class WithFields:
    """A metric with its own attributes, as users of DSPy write them."""

    def __call__(self, example, prediction, trace=None):
        assert example.scale == LIKERT
        assert prediction.problem is None
        return prediction.score > 40 if example.score > 3 else prediction.score <= 40


def strict(example, prediction, trace):
    assert trace is None
    return near(example, prediction)


SEARCHES = {
    "random": lambda **more: RandomDemonstrationSearch(n_trials=3, **more),
    "protocol": lambda **more: ProtocolSearch(n_trials=3, **more),
}
STUDENT = ActiveCritic(variant="vanilla")


class TestFunctions:
    @pytest.mark.parametrize(
        ("search", "given"),
        [
            ("protocol", {"objective": agreeing}),
            ("random", {"metric": WithFields()}),
            ("random", {"metric": strict}),
        ],
    )
    def test_every_search_takes_functions_and_metrics(self, search, given):
        made = SEARCHES[search](lm=lm_of(shifted), **given)
        judge = made.compile(STUDENT, trainset=ROWS)
        assert isinstance(judge, ActiveCritic)
        values = [trial.value for trial in made.trials_]
        assert not np.isnan(values[0])
        # Questions that the scripted model does not answer leave a candidate undefined.
        assert all(np.isnan(one) or 0 <= one <= 1 for one in values)

    def test_a_metric_is_the_mean_over_the_scored_rows(self):
        search = RandomDemonstrationSearch(metric=near, n_trials=1, lm=lm_of(shifted))
        search.compile(STUDENT, trainset=ROWS[:40], valset=ROWS[40:])
        rows = ROWS[40:]
        expected = [1 - min(10, 25 * (row.score - 1)) / 100 for row in rows]
        assert search.trials_[0].value == pytest.approx(np.mean(expected))

    def test_a_metric_has_the_interval_of_a_mean(self):
        rows = rows_from(ROWS)
        said = [Judgement(score=points) for points in np.linspace(0, 100, len(rows))]
        table = rows.judged(said, judge_scale=Scale(low=0, high=100))
        by_row = [near(row, one) for row, one in zip(ROWS, said, strict=True)]
        found = as_objective(near).estimate(table, seed=0)
        assert found.value == pytest.approx(np.mean(by_row))
        assert found.low < found.value < found.high
        whole = as_objective(lambda table: float(np.mean(near_all(table))))
        same = whole.estimate(table, seed=0)
        assert (same.value, same.low, same.high) == pytest.approx(
            (found.value, found.low, found.high)
        )
        parts = as_objective(near).row_parts(table)
        assert parts == pytest.approx(np.asarray(by_row) / len(rows))
        assert as_objective(near).gain(table, table, seed=0).value == 0

    def test_a_function_sees_scored_rows_and_each_target_by_itself(self):
        rows = rows_from(ROWS)
        said = [
            Judgement.unscored("cut off") if n % 7 == 0 else Judgement(score=n)
            for n in range(len(rows))
        ]
        table = rows.judged(said, judge_scale=Scale(low=0, high=100))
        assert as_objective(agreeing).value(table) == pytest.approx(
            parse_objective("pearson").value(table)
        )
        both = PredictionTable.of_parts({"score": table, "wit": table.take(np.arange(30))})
        assert as_objective(agreeing).value(both) == pytest.approx(
            parse_objective("pearson").value(both)
        )


def near_all(table):
    return 1 - np.abs(table.human - 1 - table.predicted / 25) / 4


def raising(example, prediction, trace=None):
    return prediction.no_such_field


def without_a_number(example, prediction, trace=None):
    return "good"


def returning_none(table):
    table.predicted.mean()


def undefined(table):
    return float("nan")


def of_nothing():
    return 1.0


@for_each("search", SEARCHES.values())
@for_each(
    ("objective", "message"),
    [
        (raising, "objective raising raised AttributeError on row 1 of"),
        (without_a_number, "without_a_number must return a finite number; on row 1 of .*'good'"),
        (returning_none, "returning_none must return a finite number; on a table of .* None"),
        (undefined, "objective undefined is undefined on the .* validation rows, even for"),
        (of_nothing, r"f\(table\) or metric\(.*; of_nothing takes other arguments"),
        (3, "an objective is a text such as 'q', f.ratings, scores., .*; got 3"),
        (Agreement, "an objective is a text such as 'q', .*; got <class"),
        (lambda table: 1 / 0, "objective <lambda> raised ZeroDivisionError on a table of"),
        ("kappa", "kappa needs 11 levels or fewer; raters gave [0-9]+ different"),
    ],
)
def test_what_is_no_objective_is_refused_before_the_first_call(search, objective, message):
    lm = lm_of(in_points)
    percent = Scale(low=0, high=100)
    fine = [row.copy(score=n, scale=percent) for n, row in enumerate(ROWS)]
    with pytest.raises(InputError, match=message):
        search(objective=objective, lm=lm).compile(STUDENT, trainset=fine)
    assert lm_client_of(lm).engine.asked == 0


def test_metrics_of_one_name_share_no_study(tmp_path):
    def named(weight):
        def metric(example, prediction, trace=None):
            return weight * near(example, prediction)

        return metric

    def searched(metric):
        lm = lm_of(shifted)
        search = ProtocolSearch(metric=metric, n_trials=2, lm=lm, storage=tmp_path / "a.journal")
        search.compile(STUDENT, trainset=ROWS)
        return search.study_.study_name, lm_client_of(lm).engine.asked

    first, asked = searched(named(1.0))
    assert asked > 0
    assert searched(named(1.0)) == (first, 0)
    assert searched(named(0.5))[0] != first


def test_a_metric_wants_examples():
    with pytest.raises(InputError, match="near compares examples with predictions, and this"):
        as_objective(near).value(judged([1, 2], [1, 2]))


# counted objectives

NAMES = (
    *("q", "pearson", "spearman@sample", "kendall", "q@sample", "pearson@system"),
    *("kappa", "kappa_linear", "ties@sample", "adjacent", "-mae", "scored", "-calls"),
    *("kendall_c", "concordance", "q + .5*kappa - .01*calls"),
)


def as_sum(text):
    found = parse_objective(text)
    return found if isinstance(found, WeightedSum) else WeightedSum(((1.0, found),))


@for_each("name", NAMES)
def test_a_resample_is_worth_what_its_repeated_rows_are_worth(name):
    table = random_table(1)
    counted, drawn, expected = resampled(as_sum(name), table)
    assert counted.of_counts(drawn) == pytest.approx(expected, nan_ok=True)
    assert counted.of_counts(np.ones_like(drawn[:1])) == pytest.approx([counted.value])


@pytest.mark.parametrize("name", [*NAMES, "ties"])
class TestEveryObjective:
    def test_its_estimate_and_its_gain_are_of_its_value(self, name):
        first, second = random_table(3, unscored=0), random_table(3, noise=60, unscored=0)
        objective = parse_objective(name)
        estimate = objective.estimate(first, seed=0)
        assert estimate.value == objective.value(first)
        assert estimate.low <= estimate.value <= estimate.high
        gain = objective.gain(first, second, seed=0)
        assert gain.value == gain.first - gain.second
        assert gain.first == pytest.approx(objective.value(first))

    def test_of_several_targets_it_is_the_mean(self, name):
        first, second = random_table(5), random_table(6)
        several = PredictionTable.of_parts({"score": first, "wit": second})
        objective = parse_objective(name)
        mean = (objective.value(first) + objective.value(second)) / 2
        assert objective.value(several) == pytest.approx(mean)
        estimate = objective.estimate(several, seed=0)
        assert estimate.value == pytest.approx(mean)
        assert estimate.low < mean < estimate.high


@pytest.mark.parametrize("name", ["q", "spearman@sample", "pearson@system"])
def test_a_correlation_in_a_sum_has_the_interval_that_it_has_alone(name):
    table, other = random_table(8, unscored=0), random_table(8, noise=50, unscored=0)
    alone, inside = parse_objective(name), as_sum(name)
    for one in ("estimate", "gain"):
        tables = (table,) if one == "estimate" else (table, other)
        first, second = (
            getattr(each, one)(*tables, seed=np.random.default_rng(0)) for each in (alone, inside)
        )
        assert first.value == pytest.approx(second.value)
        # A sum draws all sources for all terms, a correlation within them those with a value.
        apart = 0.05 if name.endswith("@sample") and one == "gain" else 1e-9
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=apart)


@pytest.mark.no_cover
def test_the_interval_of_a_sum_holds_the_truth_about_as_often_as_it_claims():
    objective = parse_objective("pearson + .5*kappa - .1*mae")
    truth = objective.value(random_table(10, n=200_000, n_sources=10**9, unscored=0))
    held = 0
    for seed in range(100, 300):
        table = random_table(seed, n=80, n_sources=10**9, unscored=0)
        found = objective.estimate(table, seed=np.random.default_rng(seed))
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 200 <= 0.99


def test_judges_are_compared_on_the_rows_that_both_scored():
    first, second = random_table(11, noise=10), random_table(12, noise=10)
    holes = np.where(np.arange(first.n) < 20, np.nan, first.predicted)
    second = first.predicting(holes, judge_scale=first.judge_scale)
    gain = parse_objective("kappa + scored").gain(first, second, seed=0)
    apart = first.share_scored - second.share_scored
    assert gain.value == pytest.approx(apart)
    assert gain.n == second.n - second.n_unscored


@for_each("name", [*NAMES, "ties"])
def test_a_judge_that_scored_nothing_has_no_agreement(name):
    table = random_table(13, unscored=1.1)
    found = parse_objective(name).value(table)
    assert math.isnan(found) or name in ("scored", "-calls")
    estimate = parse_objective(name).estimate(table, seed=0)
    assert math.isnan(estimate.low) == math.isnan(found)


# ordinal objectives


@pytest.mark.parametrize("weights", ["quadratic", "linear"])
def test_kappa_is_that_of_the_metric_on_the_nearest_levels(weights):
    table = random_table(0, n=300, n_sources=50)
    judge = nearest_levels(table.predicted, levels=range(1, 6), scale=(0, 100))
    theirs = weighted_kappa_interval(
        table.human,
        judge,
        sources=table.sources.tolist(),
        levels=range(1, 6),
        weights=weights,
        seed=0,
    )
    ours = Kappa(weights).estimate(table, seed=0)
    assert ours.value == pytest.approx(theirs.value)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_a_judge_on_either_scale_has_the_same_kappa_and_error():
    table = random_table(1, unscored=0)
    fitted = table.predicting(1 + table.predicted / 25, judge_scale=LIKERT_TABLES)
    assert Kappa().value(fitted) == Kappa().value(table)
    assert AbsoluteError().value(fitted) == pytest.approx(AbsoluteError().value(table))


def test_the_error_is_in_peoples_points_and_minds_no_unscored_row():
    table = judged([0, 50, np.nan, 100], [1, 4, 2, 5], scale=LIKERT_TABLES)
    assert AbsoluteError().value(table) == pytest.approx(1 / 3)


def test_means_of_raters_are_brought_to_the_nearest_level():
    table = judged([0, 50, 100, 75], [1.33, 2.67, 5, 4.33], scale=LIKERT_TABLES)
    assert Kappa().value(table) == 1.0


# pair objectives


@pytest.mark.parametrize("level", ["dataset", "sample"])
def test_pairs_are_counted_as_the_metric_counts_them(level):
    table = random_table(0)
    found = tie_aware_accuracy_interval(
        table.human, table.predicted, sources=table.sources.tolist(), level=level
    )
    assert TieAccuracy(level).value(table) == found.value


def test_in_a_resample_a_row_is_no_pair_with_its_own_copy():
    table = random_table(1, n=12, n_sources=4)
    codes, n = numbered_sources(table.sources)
    counts = np.array([2.0, 0.0, 1.0, 3.0])[:n]
    scored = [row for row in range(table.n) if not np.isnan(table.predicted[row])]
    agreeing = whole = 0.0
    for a, b in permutations(scored, 2):
        weight = counts[codes[a]] * counts[codes[b]]
        orders = [np.sign(each[a] - each[b]) for each in (table.predicted, table.human)]
        agreeing += weight * (orders[0] == orders[1])
        whole += weight
    found = TieAccuracy().counted(table, codes, n).of_counts(counts[None])
    assert found == pytest.approx([agreeing / whole])


def test_neighbours_are_those_of_the_metric():
    table = random_table(3)
    found = adjacent_accuracy(table.human, table.predicted, sources=table.sources.tolist())
    assert NeighbourAccuracy().value(table) == found.value
    estimate = NeighbourAccuracy().estimate(table, seed=0)
    assert estimate.n_undefined == found.n_undefined


# effort objectives


def test_calls_are_counted_on_all_rows_and_carried_from_the_judgements():
    judgements = [
        Judgement(score=3, calls=("a", "b")),
        Judgement.unscored("cut off", calls=("c",)),
        Judgement(score=4, calls=("d",)),
    ]
    table = prediction_table(
        judgements, np.array([1.0, 2.0, np.nan]), sources=np.arange(3), systems=np.array(["a"] * 3)
    )
    assert table.n_calls == (2, 1)
    assert CallsPerItem().value(table) == 1.5
    assert ShareScored().value(table) == 0.5


def test_a_judge_that_needs_fewer_calls_gains():
    scores, people = [10, 20, 50, 40], [1, 2, 3, 4]
    cheap, dear = (judged(scores, people, n_calls=(n,) * 4) for n in (1, 3))
    gain = parse_objective("q - .1*calls").gain(cheap, dear, seed=0)
    assert gain.value == pytest.approx(0.2)
    assert gain.low == pytest.approx(0.2)


def test_dollars_per_item_are_the_mean_over_all_rows_and_are_refused_where_nobody_knows_them():
    table = judged([1, 2, float("nan")], [1, 2, 3], usd=(0.01, 0.02, 0.06))
    assert parse_objective("-usd").value(table) == pytest.approx(-0.03)
    assert parse_objective("-usd").estimate(table, seed=0).low >= -0.06
    with pytest.raises(ValueError, match="the cost of these scores is unknown"):
        parse_objective("q - usd").value(judged([1, 2, 3], [1, 2, 3]))
    with pytest.raises(ValueError, match="usd is better when lower; subtract it"):
        parse_objective("usd")


# constrained

PEOPLE = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
GOOD = judged([0, 20, 50, 80, 100, 10, 25, 50, 70, 90], PEOPLE, scale=LIKERT_TABLES)
SHIFTED = judged([50, 60, 70, 80, 90, 50, 60, 70, 80, 90], PEOPLE, scale=LIKERT_TABLES)
FLAT = judged([50] * 10, PEOPLE, scale=LIKERT_TABLES)
HALF = judged([0, 20, 50, 80, 100, *[np.nan] * 5], PEOPLE, scale=LIKERT_TABLES)


def test_who_meets_them_comes_before_all_who_do_not():
    objective = parse_objective("q; kappa >= .9")
    q = Agreement("q")
    assert q.value(SHIFTED) > q.value(GOOD)
    assert objective.value(GOOD) == pytest.approx(q.value(GOOD))
    assert objective.value(SHIFTED) < -3 < objective.value(GOOD)


def test_who_misses_less_comes_before_who_misses_more():
    objective = parse_objective("q; kappa >= .9; scored >= .9")
    near = parse_objective("q; scored >= .9").value(HALF)
    assert near == pytest.approx(-3 - 0.4)
    assert objective.value(HALF) > parse_objective("q; kappa >= 1; scored >= 1").value(HALF)


def test_a_bound_that_is_met_to_the_digit_is_met():
    objective = parse_objective("q; scored >= .5")
    assert objective.value(HALF) == Agreement("q").value(HALF)
    tight = parse_objective("q; scored + scored + scored >= 1.5")
    assert tight.violation(HALF) == 0


def test_what_is_better_when_lower_is_bounded_from_above():
    objective = parse_objective("q; mae <= .5")
    assert objective.violation(GOOD) == 0
    assert objective.violation(SHIFTED) == pytest.approx(AbsoluteError().value(SHIFTED) - 0.5)


def test_a_violation_counts_in_parts_of_a_large_bound():
    table = judged([10, 20, 50, 40], [1, 2, 3, 4], n_calls=(6,) * 4)
    assert parse_objective("q; calls <= 4").violation(table) == pytest.approx(0.5)


def test_an_undefined_aim_or_condition_is_undefined_altogether():
    for name in ("q; scored >= .9", "scored; q >= 1", "scored; q >= 1; scored >= 2"):
        assert math.isnan(parse_objective(name).value(FLAT))


def test_the_estimate_is_of_the_aim_alone():
    objective = parse_objective("q; kappa >= 1")
    rngs = [np.random.default_rng(0) for _ in range(2)]
    assert objective.estimate(SHIFTED, seed=rngs[0]) == objective.aim.estimate(
        SHIFTED, seed=rngs[1]
    )


def test_the_gain_says_how_sure_the_better_choice_is():
    objective = parse_objective("q; kappa >= .5")
    first, second = random_table(1, n=200), random_table(1, n=200, noise=80)
    gain = objective.gain(first, second, seed=0)
    assert gain.first == pytest.approx(objective.aim.value(first), abs=0.1)
    assert gain.second < -3
    assert gain.p_value < 0.05


def test_a_race_leaves_out_who_misses_a_condition_whatever_the_aim():
    objective = parse_objective("spearman; mae <= .8")
    first = random_table(2, n=200, unscored=0)
    better = first.predicting(90 + first.human, judge_scale=first.judge_scale)
    assert objective.aim.value(better) > objective.aim.value(first)
    look = RaceStage(
        tables=[better, first],
        objective=objective,
        number=1,
        n_looks=4,
        rng=np.random.default_rng(0),
    )
    assert RacingRule()(look) == [1]


def test_the_interval_is_about_that_of_the_jackknife():
    table = random_table(2, n=400, n_sources=60)
    ours = TieAccuracy().estimate(table, seed=0)
    other = tie_aware_accuracy_interval(
        table.human, table.predicted, sources=table.sources.tolist(), level="dataset"
    )
    assert (ours.low, ours.high) == pytest.approx((other.low, other.high), abs=0.01)
