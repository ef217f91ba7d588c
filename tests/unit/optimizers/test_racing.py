"""Racing of candidates, and the test over a family of them."""

import json
import math

import numpy as np
import pytest

from judgesmith.optimizers import (
    Agreement,
    NoElimination,
    PredictionTable,
    RacingRule,
    SuccessiveHalving,
)
from judgesmith.optimizers.objectives.grammar import parse_objective
from judgesmith.optimizers.search.racing import (
    FEWEST_ROWS,
    OutOfBudget,
    RaceStage,
    RacingSearch,
    stratified_order,
)
from judgesmith.optimizers.space.proposing import Proposer, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.optimizers.trials import (
    ImprovementTest,
    family_p_values,
    rank_of,
    select_trial,
)
from judgesmith.signatures.space import Choice, Option, Space

# racing search

N = 100
HUMAN = np.random.default_rng(0).normal(size=N)
SPACE = Space(
    choices=[
        Choice(name="noise", options=[Option(id=str(k)) for k in (3, 2, 1, 0, 4, 5)]),
        Choice(name="seed", options=[Option(id=str(k)) for k in range(5)]),
    ]
)


class Simulated:
    """Says what people said, with noise."""

    def __init__(self, picked, *, rows_left=None):
        rng = np.random.default_rng(int(picked.get("seed", "9")) + 1)
        self.said = HUMAN + float(picked.get("noise", "2.5")) * rng.normal(size=N)
        self.rows_left = rows_left
        self.asked = set()

    def table(self, rows):
        new = set(rows) - self.asked
        if self.rows_left is not None:
            self.rows_left[0] -= len(new)
            if self.rows_left[0] < 0:
                raise OutOfBudget
        self.asked |= new
        return PredictionTable(
            predicted=self.said[rows],
            human=HUMAN[rows],
            sources=np.asarray(rows),
            systems=np.array(["a"] * len(rows)),
        )


def search(*, rows_left=None, **settings):
    given = {"elimination": RacingRule(), "n_trials": 20, "batch": 5, "seed": 0, **settings}
    study = open_storage(None).study("simulated")
    return RacingSearch(
        proposer=Proposer(study=study, space=SPACE, sampler=tpe, seed=0),
        make=lambda picked: Simulated(picked, rows_left=rows_left),
        objective=Agreement("q"),
        order=stratified_order(HUMAN, np.arange(N), np.random.default_rng(0)),
        **given,
    )


@pytest.mark.no_cover
def test_the_best_is_found_with_two_thirds_of_the_rows():
    racing = search()
    best = racing.run(Simulated({}))
    assert Agreement("q").value(best.table(range(N))) == pytest.approx(3)
    assert racing.n_judged < 2 / 3 * 21 * N


@pytest.mark.no_cover
def test_without_elimination_everybody_is_judged_on_all_rows():
    racing = search(elimination=NoElimination())
    racing.run(Simulated({}))
    assert racing.n_judged == 21 * N
    assert {one.n_rows for one in racing.trials.values()} == {N}


@pytest.mark.no_cover
def test_the_winner_is_the_best_of_all_that_were_judged_on_all_rows():
    racing = search(n_trials=7)
    best = racing.run(Simulated({}))
    whole = [one for one in racing.trials.values() if one.n_rows == N]
    value = Agreement("q").value(best.table(range(N)))
    assert value == max(one.value for one in whole)


@pytest.mark.no_cover
@pytest.mark.parametrize("rows", [99, 400])
def test_a_budget_that_ends_leaves_the_best_until_then(rows):
    racing = search(rows_left=[rows])
    start = Simulated({}, rows_left=racing.make({}).rows_left)
    best = racing.run(start)
    whole = {n: one.value for n, one in racing.trials.items() if one.n_rows == N}
    if not whole:
        assert best is start
    else:
        best.rows_left = None
        assert Agreement("q").value(best.table(range(N))) == max(whole.values())


@pytest.mark.no_cover
def test_the_sampler_is_told_of_every_trial_what_it_would_come_to():
    racing = search()
    racing.run(Simulated({}))
    kept = [one for one in racing.proposer.study.get_trials() if "k" in one.user_attrs]
    told = {one.user_attrs["k"]: one.value for one in kept}
    for number, trial in racing.trials.items():
        if number and trial.n_rows == N:
            assert told[number - 1] == pytest.approx(trial.value)


@pytest.mark.no_cover
def test_nobody_is_compared_on_fewer_than_ten_rows():
    racing = search()
    assert racing.stops == [15, 30, 60, 100]
    racing.order = racing.order[:30]
    assert racing.stops == [18, 30]
    racing.order = racing.order[: FEWEST_ROWS - 1]
    assert racing.stops == [9]


@pytest.mark.no_cover
def test_what_the_start_is_is_not_proposed():
    racing = search(n_trials=40)
    known = '{"noise": "3", "seed": "0"}'
    racing.run(Simulated({}), known=[known])
    assert len(racing.trials) == 30  # the start, and the 30 configurations but one
    assert {"noise": "3", "seed": "0"} not in [one.picked for one in racing.trials.values()]


@pytest.mark.no_cover
def test_every_beginning_of_the_order_spans_the_human_scores():
    order = stratified_order(HUMAN, np.arange(N), np.random.default_rng(3))
    assert sorted(order.tolist()) == list(range(N))
    ranks = np.argsort(np.argsort(HUMAN))
    for n in (10, 15, 30, 60):
        counts = np.histogram(ranks[order[:n]], bins=5, range=(0, N))[0]
        assert counts.max() - counts.min() <= 2


@pytest.mark.no_cover
def test_sources_stay_together_in_the_order():
    groups = np.repeat(np.arange(20), 5)
    order = groups[stratified_order(HUMAN, groups, np.random.default_rng(0))]
    assert np.count_nonzero(np.diff(order)) == 19


# eliminating

N_ELIMINATING = 60
HUMAN_ELIMINATING = np.random.default_rng(0).normal(size=N_ELIMINATING)


def table(noise, *, seed=1, unscored=0.0):
    rng = np.random.default_rng(seed)
    predicted = HUMAN_ELIMINATING + noise * rng.normal(size=N_ELIMINATING)
    predicted[rng.random(N_ELIMINATING) < unscored] = np.nan
    return PredictionTable(
        predicted=predicted,
        human=HUMAN_ELIMINATING,
        sources=np.arange(N_ELIMINATING),
        systems=np.array(["a"] * N_ELIMINATING),
    )


def constant():
    return table(0).predicting(np.zeros(N_ELIMINATING))


def look(*tables, number=1, n_looks=4):
    return RaceStage(
        tables=tables,
        objective=Agreement("q"),
        number=number,
        n_looks=n_looks,
        rng=np.random.default_rng(5),
    )


def test_the_ranking_puts_defined_before_undefined_and_scored_before_unscored():
    worst, best = table(2.0), table(0.1)
    silent = table(0.0, unscored=0.2)
    assert look(worst, constant(), best, silent).ranking() == [2, 0, 1, 3]


@pytest.mark.parametrize(("n", "left"), [(1, 1), (2, 1), (5, 3), (8, 4)])
def test_halving_keeps_the_better_half(n, left):
    tables = [table(0.1 + 0.4 * place) for place in range(n)]
    assert SuccessiveHalving()(look(*tables)) == list(range(left))


def test_a_race_drops_who_is_plainly_worse_flat_or_silent():
    tables = (table(0.3), table(3.0, seed=2), table(0.32, seed=3))
    assert RacingRule()(look(*tables)) == [0, 2]
    assert RacingRule()(look(table(2.0), constant())) == [0]
    assert RacingRule()(look(table(2.0), table(0.0, unscored=0.8))) == [0]
    assert RacingRule()(look(constant(), constant())) == [0, 1]


@pytest.mark.no_cover
def test_who_is_as_good_as_the_leader_seldom_goes():
    # One look of three that may drop somebody, at a third of the risk each.
    gone = 0
    for seed in range(30):
        one, other = table(1.0, seed=2 * seed), table(1.0, seed=2 * seed + 1)
        gone += len(RacingRule(risk=0.2)(look(one, other))) == 1
    # The leader is the better of the two, so that either may be the one who goes.
    assert gone / 30 <= 2 * (2 * 0.2 / 3) * 1.3


# family test

Q = Agreement("q")


def table_family_test(noise, *, n=60, seed=0, per_source=1, **columns):
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
        others = [table_family_test(3.0, seed=seed) for seed in range(2, 30)]
        number, found = decided([table_family_test(3.0), table_family_test(0.3), *others])
        assert number == found.number == 1
        assert found.passed
        assert found.p_value < 0.001
        assert found.n_compared == 29
        assert found.n_rows == 60
        assert found.gain > 0.5

    def test_the_best_that_is_sure_is_taken_before_a_better_one_that_is_not(self):
        start = table_family_test(1.0)
        human, said = start.human, start.predicted
        sure = start.predicting(said + 0.25 * (human - said))
        lucky = start.predicting(np.where(np.arange(60) < 40, human, -2 * human))
        objective = parse_objective("pearson")
        ranks = {0: (True, 0.0), 1: (True, 0.5), 2: (True, 0.6)}
        compared = {n: (one, start) for n, one in enumerate((start, sure, lucky))}
        number, found = select_trial(ImprovementTest(), objective, compared, ranks, seed=0)
        assert number == found.number == 1

    def test_nothing_is_confirmed_where_nothing_ranks_above_the_start(self):
        assert decided(
            [table_family_test(0.1), table_family_test(3.0), table_family_test(2.0)]
        ) == (0, None)

    def test_without_a_rule_the_best_is_taken_untested(self):
        tables = without_a_link(1, 8)
        values = [Q.value(one) for one in tables]
        compared = {n: (one, tables[0]) for n, one in enumerate(tables)}
        ranks = {n: (True, value) for n, value in enumerate(values)}
        number, found = select_trial(None, Q, compared, ranks, seed=0)
        assert number == int(np.argmax(values)) == found.number
        assert found.passed
        assert math.isnan(found.p_value)

    def test_any_value_is_better_than_none(self):
        flat = table_family_test(1.0).predicting(np.full(60, 3.0))
        number, found = decided([flat, table_family_test(2.0)])
        assert number == 1
        assert math.isnan(found.p_value)
        assert math.isnan(found.chosen_before)

    def test_scores_for_enough_rows_need_no_test(self):
        start = table_family_test(0.2)
        gaps = start.predicting(np.where(np.arange(60) < 10, np.nan, start.predicted))
        assert decided([gaps, table_family_test(2.0)])[0] == 1
        assert decided([table_family_test(2.0), gaps])[0] == 0

    def test_with_four_sources_nothing_can_be_sure(self):
        tables = [table_family_test(9.0, per_source=15), table_family_test(0.01, per_source=15)]
        number, found = decided(tables)
        assert number == 0
        assert found.p_value > 0.05

    def test_who_looked_for_luck_on_these_rows_needs_twice_as_much(self):
        tables = [table_family_test(3.0), table_family_test(2.0)]
        compared = {n: (one, tables[0]) for n, one in enumerate(tables)}
        ranks = {n: rank_of(Q.value(one), one.least_scored) for n, one in enumerate(tables)}
        rule = ImprovementTest()
        blind, learned = (
            select_trial(rule, Q, compared, ranks, learned=one, seed=0)[1].p_value
            for one in (False, True)
        )
        assert 0 < learned == min(1, 2 * blind)

    def test_one_that_says_what_the_start_says_is_no_better(self):
        start = table_family_test(1.0)
        compared = {0: (start, start), 1: (start, start)}
        ranks = {0: (True, 1.0, -3), 1: (True, 1.0, 0)}  # with fewer demonstrations
        number, found = select_trial(ImprovementTest(), Q, compared, ranks, seed=0)
        assert number == 0
        assert found.p_value == 1.0

    def test_candidates_on_fewer_rows_count_among_those_compared(self):
        start, better = table_family_test(2.0, n=120), table_family_test(0.8, n=120, seed=1)
        rows = np.arange(15)
        part = table_family_test(2.5, n=120, seed=3)
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
        objective, n_runs = parse_objective("kendall"), 80
        wrong = sum(
            decided(without_a_link(seed, 1), objective=objective)[0] > 0 for seed in range(n_runs)
        )
        assert 0 < wrong <= most_wrong(n_runs)

    @pytest.mark.no_cover
    def test_the_luckiest_of_ten_passes_in_no_more_than_the_level(self):
        """On shares of gains as they are, which ten objectives would be slow to find."""
        rng, n_runs = np.random.default_rng(0), 100
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
    tables = [table_family_test(2.0), table_family_test(1.0, seed=1)]
    number, found = decided(tables, seed=4)
    assert decided(tables, seed=4) == (number, found)
    said = json.loads(json.dumps(found.to_dict()))
    gone = ("value", "before", "crossed", "optimism")
    assert {name: said[name] for name in gone} == dict.fromkeys(gone)
    assert said["gain"] == pytest.approx(said["chosen"] - said["chosen_before"])
    assert said["n_compared"] == 1
    assert 0 < said["p_value"] <= 1
