import math

import numpy as np
import pytest
from tables import judged, random_table, resampled

from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.optimizers.objectives.combining import WeightedSum

NAMES = (
    *("q", "pearson", "spearman@sample", "kendall", "q@sample", "pearson@system"),
    *("kappa", "kappa_linear", "ties@sample", "adjacent", "-mae", "scored", "-calls"),
    *("kendall_c", "concordance", "q + .5*kappa - .01*calls"),
)


def as_sum(text):
    found = parse_objective(text)
    return found if isinstance(found, WeightedSum) else WeightedSum(((1.0, found),))


@pytest.mark.parametrize("name", NAMES)
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
        estimate = objective.estimate(first, rng=np.random.default_rng(0))
        assert estimate.value == objective.value(first)
        assert estimate.low <= estimate.value <= estimate.high
        gain = objective.gain(first, second, rng=np.random.default_rng(0))
        assert gain.value == gain.first - gain.second
        assert gain.first == pytest.approx(objective.value(first))

    def test_nothing_is_gained_on_itself(self, name):
        table = random_table(4)
        gain = parse_objective(name).gain(table, table, rng=np.random.default_rng(0))
        assert (gain.value, gain.low, gain.high, gain.p_value) == (0, 0, 0, 1)

    def test_of_several_targets_it_is_the_mean(self, name):
        first, second = random_table(5), random_table(6)
        several = PredictionTable.of_parts({"score": first, "wit": second})
        objective = parse_objective(name)
        mean = (objective.value(first) + objective.value(second)) / 2
        assert objective.value(several) == pytest.approx(mean)
        estimate = objective.estimate(several, rng=np.random.default_rng(0))
        assert estimate.value == pytest.approx(mean)
        assert estimate.low < mean < estimate.high

    def test_the_same_seed_gives_the_same_interval(self, name):
        one, again = (
            parse_objective(name).estimate(random_table(7), rng=np.random.default_rng(1))
            for _ in range(2)
        )
        assert one == again


@pytest.mark.parametrize("name", ["q", "spearman@sample", "pearson@system"])
def test_a_correlation_in_a_sum_has_the_interval_that_it_has_alone(name):
    table, other = random_table(8, unscored=0), random_table(8, noise=50, unscored=0)
    alone, inside = parse_objective(name), as_sum(name)
    for one in ("estimate", "gain"):
        tables = (table,) if one == "estimate" else (table, other)
        first, second = (
            getattr(each, one)(*tables, rng=np.random.default_rng(0)) for each in (alone, inside)
        )
        assert first.value == pytest.approx(second.value)
        # A sum draws all sources for all terms, a correlation within them those with a value.
        apart = 0.05 if name.endswith("@sample") and one == "gain" else 1e-9
        assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=apart)


def test_terms_that_share_their_noise_have_a_wider_interval_than_independent_ones():
    table = random_table(9, noise=40, unscored=0)
    width = {}
    for name in ("pearson", "spearman", "pearson + spearman"):
        found = parse_objective(name).estimate(table, rng=np.random.default_rng(0))
        width[name] = found.high - found.low
    assert width["pearson + spearman"] > 1.2 * math.hypot(width["pearson"], width["spearman"])


@pytest.mark.no_cover
def test_the_interval_of_a_sum_holds_the_truth_about_as_often_as_it_claims():
    objective = parse_objective("pearson + .5*kappa - .1*mae")
    truth = objective.value(random_table(10, n=200_000, n_sources=10**9, unscored=0))
    held = 0
    for seed in range(100, 300):
        table = random_table(seed, n=80, n_sources=10**9, unscored=0)
        found = objective.estimate(table, rng=np.random.default_rng(seed))
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 200 <= 0.99


def test_judges_are_compared_on_the_rows_that_both_scored():
    first, second = random_table(11, noise=10), random_table(12, noise=10)
    holes = np.where(np.arange(first.n) < 20, np.nan, first.predicted)
    second = first.predicting(holes, judge_scale=first.judge_scale)
    gain = parse_objective("kappa + scored").gain(first, second, rng=np.random.default_rng(0))
    apart = first.share_scored - second.share_scored
    assert gain.value == pytest.approx(apart)
    assert gain.n == second.n - second.n_unscored


def test_tables_of_other_rows_are_not_compared():
    with pytest.raises(ValueError, match="do not pair up"):
        parse_objective("kappa").gain(
            random_table(1), random_table(2), rng=np.random.default_rng(0)
        )


@pytest.mark.parametrize("name", [*NAMES, "ties"])
def test_a_judge_that_scored_nothing_has_no_agreement(name):
    table = random_table(13, unscored=1.1)
    found = parse_objective(name).value(table)
    assert math.isnan(found) or name in ("scored", "-calls")
    estimate = parse_objective(name).estimate(table, rng=np.random.default_rng(0))
    assert math.isnan(estimate.low) == math.isnan(found)


def test_one_source_has_no_interval():
    table = judged([10, 40, 60], [1, 2, 3], sources=[0, 0, 0])
    found = parse_objective("q + ties").estimate(table, rng=np.random.default_rng(0))
    assert not math.isnan(found.value)
    assert math.isnan(found.low)
