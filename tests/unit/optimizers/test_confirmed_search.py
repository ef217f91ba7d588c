import math

import numpy as np
import pytest
from tables import Told

from judgesmith.optimizers import Agreement, NoElimination, RacingRule
from judgesmith.optimizers.search.confirmation import ImprovementTest
from judgesmith.optimizers.search.racing import stratified_order
from judgesmith.optimizers.search.screening import ConfirmedSearch
from judgesmith.optimizers.space.proposing import Proposer, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.signatures.space import Choice, Option, Space

N = 150
HUMAN = np.random.default_rng(0).normal(size=N)
NOISE = (3.0, 2.5, 2.0, 1.5, 1.0, 0.5)
RULE = ImprovementTest()


class Simulated(Told):
    """Says what people said, with noise; may be told how many rows are left for all."""

    def __init__(self, noise, seed, rows_left):
        own = np.random.default_rng(seed).normal(size=N)
        super().__init__(HUMAN + noise * own, HUMAN, rows_left)


class Searching:
    """A search among judges of some noise, from a noisy one."""

    def __init__(self, noises=NOISE, *, rows=10**6, rule=RULE, draw=0, **settings):
        self.rows_left = [rows]
        self.made = []
        options = [Option(id=str(place)) for place in range(len(noises))]
        order = stratified_order(HUMAN, np.arange(N), np.random.default_rng(0))

        def make(picked):
            place = int(picked["judge"])
            self.made.append(Simulated(noises[place], [draw, 1 + place], self.rows_left))
            return self.made[-1]

        self.search = ConfirmedSearch(
            proposer=Proposer(
                study=open_storage(None).study("simulated"),
                space=Space(choices=[Choice(name="judge", options=options)]),
                sampler=tpe,
                seed=0,
                first=[{"judge": str(place)} for place in range(len(noises))],
            ),
            make=make,
            objective=Agreement("q"),
            order=order,
            rule=rule,
            **{
                "elimination": NoElimination(),
                "n_trials": len(noises),
                "batch": 2,
                "seed": 0,
                **settings,
            },
        )
        self.start = Simulated(4.0, [draw, 98], self.rows_left)
        self.found = self.search.run(self.start)


def test_the_best_is_taken_and_nothing_is_asked_for_that():
    one = Searching()
    assert one.search.taken == one.search.confirmation.number == 6
    assert one.search.confirmation.passed
    assert one.search.confirmation.n_compared == 6
    assert one.found is one.made[5]
    assert 10**6 - one.rows_left[0] == one.search.n_judged


def test_who_is_not_confirmed_does_not_replace_the_start():
    one = Searching([4.0] * 6, rule=ImprovementTest(level=0.001))
    assert not one.search.confirmation.passed
    assert one.found is one.start
    assert one.search.taken == 0


def test_who_fell_behind_is_held_against_the_start_on_as_many_rows():
    one = Searching([4.0, 0.5, *[5.0] * 10], elimination=RacingRule(), batch=4)
    rows = {trial.n_rows for trial in one.search.trials.values()}
    assert min(rows) < N
    assert one.search.taken == 2
    assert one.search.confirmation.n_compared == 12
    assert one.search.confirmation.n_rows == N


@pytest.mark.no_cover
def test_where_nobody_is_better_luck_is_found_out():
    lucky = [Searching([4.0] * 10, draw=draw, rule=None).search.taken for draw in range(8)]
    taken = [Searching([4.0] * 10, draw=draw).search.taken for draw in range(8)]
    assert lucky.count(0) <= 3
    assert taken.count(0) >= 7


def test_the_best_in_the_race_is_taken_without_a_rule():
    one = Searching([2.5] * 6, rule=None)
    values = {number: trial.value for number, trial in one.search.trials.items()}
    assert one.search.taken == max(values, key=values.get) != 0
    assert math.isnan(one.search.confirmation.p_value)


@pytest.mark.no_cover
def test_what_is_confirmed_does_not_change_the_race():
    assert (
        Searching(rule=ImprovementTest(level=1e-9)).search.trials
        == Searching(rule=None).search.trials
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("rows", [0, 60, 100, 250, 330, 400, 500, 720, 800])
def test_a_budget_that_ends_leaves_one_that_has_passed_or_the_start(rows):
    one = Searching(rows=rows)
    assert not one.search.complete
    found = one.search.confirmation
    if one.search.taken:
        assert found.passed
        assert found.n_compared == len(one.search.trials) - 1
        assert one.found is one.made[one.search.taken - 1]
    else:
        assert one.found is one.start
