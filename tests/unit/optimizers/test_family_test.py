import json
import math

import numpy as np
import pytest

from judgesmith.optimizers import Agreement, PredictionTable
from judgesmith.optimizers.objectives.grammar import parse_objective
from judgesmith.optimizers.search.confirmation import (
    ImprovementTest,
    family_p_values,
    select_trial,
)
from judgesmith.optimizers.trials import rank_of

Q = Agreement("q")


def table(noise, *, n=60, seed=0, per_source=1, **columns):
    """Return what a judge says that knows people's scores up to some noise."""
    human = np.random.default_rng(0).normal(size=n)
    said = human + noise * np.random.default_rng([seed, 1]).normal(size=n)
    return PredictionTable(
        predicted=said,
        human=human,
        sources=np.arange(n) // per_source,
        systems=np.array(["a"] * n),
        **columns,
    )


def without_a_link(seed, n_candidates, *, n=60, per_source=2):
    """Return what a start and others say that know nothing of what people said."""
    rng = np.random.default_rng([seed, 2])
    human = rng.normal(size=n)
    common = rng.normal(size=n)
    return [
        PredictionTable(
            predicted=common + rng.normal(size=n),
            human=human,
            sources=np.arange(n) // per_source,
            systems=np.array(["a"] * n),
        )
        for _ in range(1 + n_candidates)
    ]


def decided(tables, *, objective=Q, seed=0, rule=None, **settings):
    """Return the number that is taken of the start and others, and how it was confirmed."""
    rule = ImprovementTest(**settings) if rule is None else rule
    ranks = {n: rank_of(objective.value(one), one.least_scored) for n, one in enumerate(tables)}
    compared = {n: (one, tables[0]) for n, one in enumerate(tables)}
    return select_trial(rule, objective, compared, ranks, seed=seed)


class TestWhatIsTaken:
    def test_a_strong_gain_is_taken_whoever_else_was_compared(self):
        others = [table(3.0, seed=seed) for seed in range(2, 30)]
        number, found = decided([table(3.0), table(0.3), *others])
        assert number == found.number == 1
        assert found.passed
        assert found.p_value < 0.001
        assert found.n_compared == 29
        assert found.n_rows == 60
        assert found.gain > 0.5

    def test_the_best_that_is_sure_is_taken_before_a_better_one_that_is_not(self):
        start = table(1.0)
        human, said = start.human, start.predicted
        sure = start.predicting(said + 0.25 * (human - said))
        lucky = start.predicting(np.where(np.arange(60) < 40, human, -2 * human))
        objective = parse_objective("pearson")
        ranks = {0: (True, 0.0), 1: (True, 0.5), 2: (True, 0.6)}
        compared = {n: (one, start) for n, one in enumerate((start, sure, lucky))}
        number, found = select_trial(ImprovementTest(), objective, compared, ranks, seed=0)
        assert number == found.number == 1

    def test_nothing_is_confirmed_where_nothing_ranks_above_the_start(self):
        assert decided([table(0.1), table(3.0), table(2.0)]) == (0, None)

    def test_without_a_rule_the_best_is_taken_untested(self):
        tables = without_a_link(1, 8)
        values = [Q.value(one) for one in tables]
        compared = {n: (one, tables[0]) for n, one in enumerate(tables)}
        ranks = {n: (True, value) for n, value in enumerate(values)}
        number, found = select_trial(None, Q, compared, ranks, seed=0)
        assert number == int(np.argmax(values)) == found.number
        assert found.passed
        assert math.isnan(found.p_value)

    def test_the_start_stays_where_it_was_not_judged(self):
        assert select_trial(ImprovementTest(), Q, {}, {}, start=1, seed=0) == (1, None)

    def test_the_start_may_have_any_number(self):
        tables = {0: table(0.2), 1: table(3.0)}
        ranks = {n: rank_of(Q.value(one), 1.0) for n, one in tables.items()}
        compared = {n: (one, tables[1]) for n, one in tables.items()}
        number, found = select_trial(ImprovementTest(), Q, compared, ranks, start=1, seed=0)
        assert number == 0
        assert found.n_compared == 1

    def test_any_value_is_better_than_none(self):
        flat = table(1.0).predicting(np.full(60, 3.0))
        number, found = decided([flat, table(2.0)])
        assert number == 1
        assert math.isnan(found.p_value)
        assert math.isnan(found.chosen_before)

    def test_scores_for_enough_rows_need_no_test(self):
        start = table(0.2)
        gaps = start.predicting(np.where(np.arange(60) < 10, np.nan, start.predicted))
        assert decided([gaps, table(2.0)])[0] == 1
        assert decided([table(2.0), gaps])[0] == 0

    def test_with_four_sources_nothing_can_be_sure(self):
        tables = [table(9.0, per_source=15), table(0.01, per_source=15)]
        number, found = decided(tables)
        assert number == 0
        assert found.p_value > 0.05

    def test_who_looked_for_luck_on_these_rows_needs_twice_as_much(self):
        tables = [table(3.0), table(2.0)]
        compared = {n: (one, tables[0]) for n, one in enumerate(tables)}
        ranks = {n: rank_of(Q.value(one), one.least_scored) for n, one in enumerate(tables)}
        rule = ImprovementTest()
        blind, learned = (
            select_trial(rule, Q, compared, ranks, learned=one, seed=0)[1].p_value
            for one in (False, True)
        )
        assert 0 < learned == min(1, 2 * blind)

    def test_with_one_source_nothing_is_tested(self):
        number, found = decided([table(9.0, per_source=60), table(0.1, per_source=60)])
        assert number == 0
        assert math.isnan(found.p_value)

    def test_one_that_says_what_the_start_says_is_no_better(self):
        start = table(1.0)
        compared = {0: (start, start), 1: (start, start)}
        ranks = {0: (True, 1.0, -3), 1: (True, 1.0, 0)}  # with fewer demonstrations
        number, found = select_trial(ImprovementTest(), Q, compared, ranks, seed=0)
        assert number == 0
        assert found.p_value == 1.0

    def test_candidates_on_fewer_rows_count_among_those_compared(self):
        start, better = table(2.0, n=120), table(0.8, n=120, seed=1)
        rows = np.arange(15)
        part = table(2.5, n=120, seed=3)
        compared = {0: (start, start), 1: (better, start)}
        compared |= {n: (part.part(rows), start.part(rows)) for n in (2, 3)}
        ranks = {n: rank_of(Q.value(one), 1.0) for n, one in ((0, start), (1, better))}
        number, found = select_trial(ImprovementTest(), Q, compared, ranks, seed=0)
        assert number == 1
        assert found.n_compared == 3
        assert found.n_rows == 120


def most_wrong(n_runs, level=0.05):
    """Return how often a test at this level is wrong at most, but for bad luck."""
    return level * n_runs + 2 * math.sqrt(level * (1 - level) * n_runs)


class TestHowOftenItIsWrong:
    @pytest.mark.no_cover
    def test_luck_passes_in_no_more_than_the_level(self):
        objective, n_runs = parse_objective("kendall"), 200
        wrong = sum(
            decided(without_a_link(seed, 1), objective=objective)[0] > 0 for seed in range(n_runs)
        )
        assert 0 < wrong <= most_wrong(n_runs)

    @pytest.mark.no_cover
    def test_the_luckiest_of_ten_passes_in_no_more_than_the_level(self):
        """On shares of gains as they are, which ten objectives would be slow to find."""
        rng, n_runs = np.random.default_rng(0), 200
        wrong = 0
        for seed in range(n_runs):
            shares = rng.normal(size=(10, 30)) + rng.normal(size=30)
            wrong += min(family_p_values(list(shares), rng=np.random.default_rng(seed))) <= 0.05
        assert 0 < wrong <= most_wrong(n_runs)

    def test_more_candidates_make_the_same_gain_less_sure(self):
        rng = np.random.default_rng(0)
        one, others = rng.normal(0.6, 1, size=20), rng.normal(size=(30, 20))
        alone = family_p_values([one], rng=np.random.default_rng(1))[0]
        among = family_p_values([one, *others], rng=np.random.default_rng(1))[0]
        assert alone < 0.05 < among

    def test_copies_of_a_candidate_change_nothing(self):
        one = np.random.default_rng(0).normal(0.5, 1, size=20)
        alone = family_p_values([one], rng=np.random.default_rng(1))
        assert family_p_values([one] * 5, rng=np.random.default_rng(1)) == alone * 5

    def test_few_blocks_have_the_p_value_of_all_patterns_of_signs(self):
        shares = np.array([3.0, 1.0, 2.0, 4.0, 0.5, 1.5])
        (p_value,) = family_p_values([shares], rng=np.random.default_rng(0))
        assert p_value == pytest.approx(1 / 64, abs=0.005)

    def test_an_undefined_candidate_is_left_out(self):
        rng = np.random.default_rng(0)
        first, other = family_p_values([np.full(20, np.nan), np.ones(20)], rng=rng)
        assert math.isnan(first)
        assert other < 0.001


def test_it_is_the_same_for_the_same_seed_and_ready_for_json():
    tables = [table(2.0), table(1.0, seed=1)]
    number, found = decided(tables, seed=4)
    assert decided(tables, seed=4) == (number, found)
    said = json.loads(json.dumps(found.to_dict()))
    gone = ("value", "before", "crossed", "optimism")
    assert {name: said[name] for name in gone} == dict.fromkeys(gone)
    assert said["gain"] == pytest.approx(said["chosen"] - said["chosen_before"])
    assert said["n_compared"] == 1
    assert 0 < said["p_value"] <= 1


@pytest.mark.parametrize("level", [0, 1, -0.1, math.nan])
def test_what_is_no_level_is_refused(level):
    with pytest.raises(ValueError, match="level is a chance between 0 and 1; got"):
        ImprovementTest(level=level)
