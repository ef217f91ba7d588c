import math

import numpy as np
import pytest

from judgesmith.optimizers import Agreement, NoElimination, PredictionTable, RacingRule
from judgesmith.optimizers.search.racing import (
    FEWEST_ROWS,
    OutOfBudget,
    RacingSearch,
    stratified_order,
)
from judgesmith.optimizers.space.proposing import Proposer, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.signatures.space import Choice, Option, Space

pytestmark = pytest.mark.no_cover

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


def test_without_elimination_everybody_is_judged_on_all_rows():
    racing = search(elimination=NoElimination())
    racing.run(Simulated({}))
    assert racing.n_judged == 21 * N
    assert {one.n_rows for one in racing.trials.values()} == {N}


def test_the_winner_is_the_best_of_all_that_were_judged_on_all_rows():
    racing = search(n_trials=7)
    best = racing.run(Simulated({}))
    whole = [one for one in racing.trials.values() if one.n_rows == N]
    value = Agreement("q").value(best.table(range(N)))
    assert value == max(one.value for one in whole)


@pytest.mark.parametrize("rows", [0, 99, 100, 250, 400, 900])
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


def test_the_sampler_is_told_of_every_trial_what_it_would_come_to():
    racing = search()
    racing.run(Simulated({}))
    kept = [one for one in racing.proposer.study.get_trials() if "k" in one.user_attrs]
    told = {one.user_attrs["k"]: one.value for one in kept}
    for number, trial in racing.trials.items():
        if number and trial.n_rows == N:
            assert told[number - 1] == pytest.approx(trial.value)


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


def test_rank_puts_scored_share_before_value_and_undefined_last():
    def rank(value, share=1.0):
        return TrialRecord(number=1, picked={}, value=value, n_rows=9, share_scored=share).rank

    assert rank(0.1) > rank(-3.0) > rank(math.nan) > rank(2.0, share=0.9)


def test_every_beginning_of_the_order_spans_the_human_scores():
    order = stratified_order(HUMAN, np.arange(N), np.random.default_rng(3))
    assert sorted(order.tolist()) == list(range(N))
    ranks = np.argsort(np.argsort(HUMAN))
    for n in (10, 15, 30, 60):
        counts = np.histogram(ranks[order[:n]], bins=5, range=(0, N))[0]
        assert counts.max() - counts.min() <= 2


def test_sources_stay_together_in_the_order():
    groups = np.repeat(np.arange(20), 5)
    order = groups[stratified_order(HUMAN, groups, np.random.default_rng(0))]
    assert np.count_nonzero(np.diff(order)) == 19
