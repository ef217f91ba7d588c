import numpy as np
import pytest
from tables import Told

from judgesmith.optimizers import Agreement, KeepAll
from judgesmith.optimizers.confirmed_search import ConfirmedSearch
from judgesmith.optimizers.confirming import Confirm
from judgesmith.optimizers.proposing import Proposer, tpe
from judgesmith.optimizers.racing_search import stratified_order
from judgesmith.optimizers.studies import study_of
from judgesmith.signatures.space import Choice, Option, Space

N = 150
HUMAN = np.random.default_rng(0).normal(size=N)
NOISE = (3.0, 2.5, 2.0, 1.5, 1.0, 0.5)
RULE = Confirm()


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
        everything = np.arange(N)
        aside = everything[:0]
        if rule is not None:
            aside = rule.set_aside(everything, HUMAN, rng=np.random.default_rng(0))
        raced = np.setdiff1d(everything, aside)
        order = stratified_order(HUMAN[raced], raced, np.random.default_rng(0))

        def make(picked):
            place = int(picked["judge"])
            self.made.append(Simulated(noises[place], [draw, 1 + place], self.rows_left))
            return self.made[-1]

        self.search = ConfirmedSearch(
            proposer=Proposer(
                study=study_of(None, "simulated"),
                space=Space(choices=[Choice(name="judge", options=options)]),
                sampler=tpe,
                seed=0,
                first=[{"judge": str(place)} for place in range(len(noises))],
            ),
            make=make,
            objective=Agreement("q"),
            order=raced[order],
            rule=rule,
            aside=aside,
            **{
                "elimination": KeepAll(),
                "n_trials": len(noises),
                "batch": 2,
                "seed": 0,
                **settings,
            },
        )
        self.start = Simulated(4.0, [draw, 98], self.rows_left)
        self.found = self.search.run(self.start)


def test_leaders_are_judged_on_rows_that_no_race_has_seen():
    one = Searching()
    aside = set(one.search.aside.tolist())
    assert len(aside) == 50
    assert not aside & set(one.search.order.tolist())
    leaders = {confirmation.number for confirmation in one.search.confirmations}
    for number, candidate in enumerate(one.made, start=1):
        assert bool(aside & candidate.asked) == (number in leaders)


def test_the_last_leader_that_passes_is_taken():
    one = Searching()
    last = one.search.confirmations[-1]
    assert last.passed
    assert one.search.taken == last.number == 6
    assert one.found is one.made[5]


def test_who_is_not_confirmed_does_not_replace_the_start():
    one = Searching([4.0] * 6, rule=Confirm(errors=4))
    assert one.search.confirmations
    assert not any(confirmation.passed for confirmation in one.search.confirmations)
    assert one.found is one.start
    assert one.search.taken == 0


@pytest.mark.no_cover
def test_where_nobody_is_better_luck_is_mostly_found_out():
    lucky = [Searching([4.0] * 10, draw=draw, rule=None).search.taken for draw in range(10)]
    taken = [Searching([4.0] * 10, draw=draw).search.taken for draw in range(10)]
    assert lucky.count(0) <= 3
    assert taken.count(0) >= 6


def test_the_best_in_the_race_is_taken_without_a_rule():
    one = Searching([2.5] * 6, rule=None)
    values = {number: trial.value for number, trial in one.search.trials.items()}
    assert one.search.taken == max(values, key=values.get) != 0
    assert not one.search.confirmations


@pytest.mark.no_cover
def test_what_is_confirmed_does_not_change_the_race():
    ruled = Searching(rule=Confirm(errors=100))
    lenient = Searching(rule=Confirm(errors=0))
    assert ruled.search.trials == lenient.search.trials


@pytest.mark.no_cover
def test_where_no_rows_are_set_aside_the_choice_is_crossed():
    one = Searching(rule=Confirm(share=0))
    (confirmation,) = one.search.confirmations
    assert confirmation.crossed
    assert confirmation.n_rows == N
    assert one.search.taken == 6


@pytest.mark.no_cover
@pytest.mark.parametrize("share", [0, 1 / 3])
@pytest.mark.parametrize("rows", [0, 60, 100, 250, 330, 400, 500, 720, 800])
def test_a_budget_that_ends_leaves_one_that_has_passed_or_the_start(rows, share):
    one = Searching(rows=rows, rule=Confirm(share=share))
    assert not one.search.complete
    passed = {confirmation.number for confirmation in one.search.confirmations}
    if one.search.taken:
        assert one.search.taken in passed
        assert one.found is one.made[one.search.taken - 1]
    else:
        assert one.found is one.start


def test_a_budget_that_ends_while_a_leader_is_confirmed_leaves_the_one_before():
    whole = Searching(rule=Confirm(errors=0))
    first, *_, last = whole.search.confirmations
    n_before = 100 * 7 + 50 * len(whole.search.confirmations)
    cut = Searching(rows=n_before, rule=Confirm(errors=0))
    assert cut.search.confirmations[0] == first
    assert last not in cut.search.confirmations
    assert cut.search.taken == cut.search.confirmations[-1].number


def test_rows_that_were_judged_are_counted():
    one = Searching()
    assert one.search.n_judged == 10**6 - one.rows_left[0]
