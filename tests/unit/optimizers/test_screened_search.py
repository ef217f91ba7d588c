import itertools

import numpy as np
import pytest
from tables import Told

from judgesmith.optimizers import Agreement, RacingRule, ScreeningStage
from judgesmith.optimizers.search.confirmation import ImprovementTest
from judgesmith.optimizers.search.racing import stratified_order
from judgesmith.optimizers.search.screening import ScreenedSearch
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.signatures.space import Choice, Option, Space

N = 300
HUMAN = np.random.default_rng(0).normal(size=N)
SPACE = Space(
    choices=[Choice(name=name, options=[Option(id=str(k)) for k in range(4)]) for name in "abcd"]
)
BEST = dict.fromkeys("abcd", "2")


class Simulated(Told):
    """Says what people said, with noise that options add to; may leave rows without a score."""

    def __init__(self, picked, rows_left, *, refusing=()):
        whole = SPACE.complete(picked)
        wrong = sum(option != "2" for option in whole.values())
        own = int.from_bytes("".join(whole.values()).encode())
        noise = np.random.default_rng(own).normal(size=N)
        said = HUMAN + (0.2 + 0.5 * wrong) * noise
        if whole["a"] in refusing:
            said[::2] = np.nan
        super().__init__(said, HUMAN, rows_left)


class Searching:
    """A search of 256 configurations from one that is wrong everywhere."""

    def __init__(
        self, *, rows=10**6, study=None, refusing=(), rule=None, n=N, start=None, **settings
    ):
        self.rows_left = [rows]
        self.made = []
        self.study = open_storage(None).study("simulated") if study is None else study

        def make(picked):
            self.made.append(Simulated(picked, self.rows_left, refusing=refusing))
            return self.made[-1]

        first = settings.pop("first", ())
        self.search = ScreenedSearch(
            proposer=Proposer(study=self.study, space=SPACE, sampler=tpe, seed=0, first=first),
            make=make,
            objective=Agreement("q"),
            order=stratified_order(HUMAN[:n], np.arange(n), np.random.default_rng(0)),
            rule=rule,
            **{"screen": ScreeningStage(), "n_trials": 60, "batch": 6, "seed": 0, **settings},
        )
        self.start = Simulated({}, self.rows_left) if start is None else start
        known = [configuration_id(SPACE.complete({}))] if start is None else []
        self.found = self.search.run(self.start, known=known)

    @property
    def taken(self):
        return self.search.trials[self.search.taken].picked


def test_the_best_of_256_is_found_with_a_tenth_of_the_rows_of_those_that_are_tried():
    one = Searching()
    assert one.taken == BEST
    assert one.search.n_judged == 10**6 - one.rows_left[0]
    assert one.search.n_judged < 0.15 * 61 * N


def test_few_go_on_and_very_few_reach_the_end():
    trials = Searching().search.trials.values()
    rows = [one.n_rows for one in trials]
    assert sorted(rows) == [15] * 48 + [60] * 10 + [N] * 3
    assert sorted(one.number for one in trials) == list(range(61))


def test_the_best_on_all_rows_is_taken():
    one = Searching()
    whole = {k: trial for k, trial in one.search.trials.items() if trial.n_rows == N}
    assert one.search.taken == max(whole, key=lambda k: whole[k].rank)


def test_the_study_is_told_of_everybody_once_the_race_is_over():
    one = Searching()
    told = {trial.user_attrs["k"]: trial.value for trial in one.study.get_trials()}
    assert sorted(told) == list(range(60))
    assert all(value is not None for value in told.values())
    for k, trial in one.search.trials.items():
        if k and trial.n_rows == N:
            assert told[k - 1] == pytest.approx(trial.value)


def test_later_proposals_are_better_than_those_by_chance():
    trials = Searching().search.trials
    right = [list(trials[k].picked.values()).count("2") for k in range(1, 61)]
    assert np.mean(right[6:]) > 1.5  # 1 by chance


def test_given_configurations_are_tried_first_and_nothing_is_tried_twice():
    first = [{"a": "1"}, {}, {"b": "3"}]
    one = Searching(first=first, n_trials=30)
    picked = [one.search.trials[k].picked for k in range(1, 31)]
    assert picked[0] == SPACE.complete({"a": "1"})
    assert picked[2] == SPACE.complete({"b": "3"})
    assert len({configuration_id(each) for each in picked}) == 30
    assert SPACE.complete({}) not in picked


@pytest.mark.parametrize("rows", [300, 340, 600, 900, 1200, 1400, 1700, 1900])
def test_a_search_that_was_ended_goes_on_to_what_it_would_have_found(rows):
    whole = Searching()
    cut = Searching(rows=rows)
    assert not cut.search.complete
    again = Searching(study=cut.study)
    assert again.search.trials == whole.search.trials
    assert again.search.taken == whole.search.taken


@pytest.mark.parametrize("rows", [0, 299, 300, 500, 1100, 1250, 1700, 2000])
def test_a_budget_that_ends_leaves_the_best_on_all_rows_until_then(rows):
    one = Searching(rows=rows)
    assert not one.search.complete
    assert one.rows_left[0] >= 0
    whole = {k: trial for k, trial in one.search.trials.items() if trial.n_rows == N}
    if not whole:
        assert one.found is one.start
    else:
        assert one.search.taken == max(whole, key=lambda k: whole[k].rank)


def test_a_budget_that_ends_after_the_screening_leaves_a_log_of_it():
    one = Searching(rows=N + 60 * 15 + 5)
    assert not one.search.complete
    assert [trial.n_rows for trial in one.search.trials.values()] == [N] + [15] * 48


def test_who_leaves_rows_without_a_score_does_not_go_on():
    one = Searching(refusing=("1", "2", "3"))
    longer = [trial for trial in one.search.trials.values() if trial.n_rows > 15]
    assert {trial.picked.get("a", "0") for trial in longer} == {"0"}
    assert one.taken == {**BEST, "a": "0"}


def test_where_everybody_leaves_rows_without_a_score_the_start_stays():
    one = Searching(refusing=("1", "2", "3"), first=[{"a": "1"}, {"a": "2"}], n_trials=2)
    assert one.search.complete
    assert one.search.taken == 0


def test_a_start_that_is_not_in_the_space_or_says_always_the_same_is_no_trouble():
    flat = Simulated({}, [10**6])
    flat.said[:] = 1.0
    one = Searching(start=flat)
    assert np.isnan(one.search.trials[0].value)
    assert 0 not in one.search.seen
    assert one.taken == BEST


def test_a_winner_is_confirmed_among_all_that_were_screened():
    one = Searching(rule=ImprovementTest())
    assert one.search.confirmation.passed
    assert one.search.confirmation.number == one.search.taken
    assert one.search.confirmation.n_compared == 60
    assert one.taken == BEST


def test_a_space_that_is_used_up_ends_the_search():
    one = Searching(n_trials=400, batch=40)
    assert len(one.search.trials) == 256
    assert one.taken == BEST


@pytest.mark.parametrize(("n", "rows"), [(9, {9}), (40, {10, 40}), (100, {10, 20, 100})])
@pytest.mark.parametrize("n_trials", [1, 2, 13])
def test_few_rows_and_few_trials_are_searched_as_well(n, rows, n_trials):
    one = Searching(n=n, n_trials=n_trials)
    assert one.search.complete
    assert {trial.n_rows for trial in one.search.trials.values()} <= rows
    assert len(one.search.trials) == n_trials + 1
    assert one.search.n_judged <= (n_trials + 1) * n


def test_batches_larger_than_all_trials_are_drawn_by_chance():
    one = Searching(n_trials=20, batch=100)
    assert len(one.search.trials) == 21
    assert one.search.complete


def test_another_elimination_than_its_own_is_not_asked():
    calls = itertools.count()

    class Never(RacingRule):
        def __call__(self, look):
            next(calls)
            return super().__call__(look)

    Searching(elimination=Never(), n_trials=15)
    assert next(calls) == 0
