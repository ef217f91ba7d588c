import math

import numpy as np
import pytest

from judgesmith.optimizers import NoElimination, PredictionTable, RacingRule
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.search.racing import (
    FrontSearch,
    OutOfBudget,
    front_elimination,
    stratified_order,
)
from judgesmith.optimizers.space.proposing import Proposer, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.signatures.space import Choice, Option, Space

N = 100
HUMAN = np.random.default_rng(0).normal(size=N)
PLANTED = {"a": (0.2, 9), "b": (0.3, 4), "c": (1.2, 1), "d": (2.0, 3), "e": (1.5, 7), "f": (4.0, 2)}
"""Noise and calls by option: a, b and c are the front, b is the knee."""
SPACE = Space(choices=[Choice(name="way", options=[Option(id=one) for one in PLANTED])])


class Simulated:
    """Says what people said, with noise, at a number of calls per item."""

    def __init__(self, picked, *, rows_left=None, planted=None):
        self.noise, self.n_calls = (planted or PLANTED).get(picked.get("way"), (3.0, 5))
        rng = np.random.default_rng(1)
        self.said = HUMAN + self.noise * rng.normal(size=N)
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
            n_calls=(self.n_calls,) * len(rows),
        )


def search(text="q, -calls", *, rows_left=None, planted=None, storage=None, **settings):
    objectives = parse_objectives(text)
    given = {"n_trials": 6, "batch": 2, "seed": 0, "elimination": RacingRule(), **settings}
    elimination = given.pop("elimination")
    study = open_storage(storage).study("simulated", n_objectives=len(objectives.aims))
    return FrontSearch(
        proposer=Proposer(study=study, space=SPACE, sampler=tpe, seed=0),
        make=lambda picked: Simulated(picked, rows_left=rows_left, planted=planted),
        objective=objectives.leading,
        objectives=objectives,
        order=stratified_order(HUMAN, np.arange(N), np.random.default_rng(0)),
        elimination=elimination,
        dominance=front_elimination(elimination),
        **given,
    )


def ways(racing):
    return {one.picked.get("way", "start") for one in racing.members}


@pytest.mark.parametrize("elimination", [RacingRule(), NoElimination()], ids=["race", "keep-all"])
def test_the_front_and_its_knee_are_found(elimination):
    racing = search(elimination=elimination)
    best = racing.run(Simulated({}))
    assert ways(racing) == {"a", "b", "c"}
    assert best is racing.knee.candidate
    assert racing.knee.picked == {"way": "b"}


def test_beaten_contenders_are_not_judged_to_the_end_and_unbeaten_ones_are():
    racing = search(batch=1)
    racing.run(Simulated({}))
    rows = {one.picked.get("way"): one.n_rows for one in racing.trials.values()}
    assert all(rows[one] == N for one in ("a", "b", "c"))
    assert racing.n_judged < 7 * N


@pytest.mark.no_cover
def test_a_contender_that_is_worse_but_cheaper_stays():
    planted = dict.fromkeys(PLANTED, (0.3, 9)) | {"b": (9.0, 1)}
    racing = search(planted=planted, batch=1)
    racing.run(Simulated({}))
    assert "b" in ways(racing)
    assert next(t.n_rows for t in racing.trials.values() if t.picked == {"way": "b"}) == N


@pytest.mark.no_cover
def test_of_equals_the_first_stands_for_all():
    racing = search(planted=dict.fromkeys(PLANTED, (0.3, 2)))
    racing.run(Simulated({}))
    assert [one.number for one in racing.members] == [1]


def test_conditions_come_before_all_objectives():
    racing = search("q, -calls; calls <= 3")
    racing.run(Simulated({}))
    assert ways(racing) == {"c"}
    racing = search("q, -calls; pearson >= .84")
    racing.run(Simulated({}))
    assert ways(racing) == {"a", "b"}


def test_where_nobody_meets_the_conditions_the_smallest_violation_is_the_front():
    racing = search("q, -calls; calls <= 0")
    racing.run(Simulated({}))
    assert ways(racing) == {"c"}
    assert next(iter(racing.members)).number in racing.trials


def test_every_trial_has_all_values_and_the_study_is_told_them():
    racing = search(elimination=NoElimination())
    racing.run(Simulated({}))
    kept = [one for one in racing.proposer.study.get_trials() if "k" in one.user_attrs]
    told = {one.user_attrs["k"] + 1: one.values for one in kept}
    for k, trial in racing.trials.items():
        assert trial.values["-calls"] == -(PLANTED.get(trial.picked.get("way"), (3.0, 5))[1])
        assert trial.value == trial.values["q"]
        if k:
            assert told[k] == pytest.approx(list(trial.values.values()))


def test_a_search_that_was_interrupted_comes_to_the_same_front(tmp_path):
    def found(storage, rows):
        left = [rows]
        racing = search(rows_left=left, storage=storage)
        racing.run(Simulated({}, rows_left=left))
        return racing

    whole = found(tmp_path / "whole.journal", 10_000)
    assert not found(tmp_path / "cut.journal", 350).complete
    again = found(tmp_path / "cut.journal", 10_000)
    assert again.complete
    assert again.trials == whole.trials
    assert [one.number for one in again.members] == [one.number for one in whole.members]


@pytest.mark.parametrize("rows", [0, 99, 100, 250, 400])
def test_a_budget_that_ends_leaves_the_front_until_then(rows):
    left = [rows]
    racing = search(rows_left=left)
    start = Simulated({}, rows_left=left)
    best = racing.run(start)
    assert not racing.complete
    if rows < N:
        assert (best, racing.members, racing.knee) == (start, [], None)
    else:
        assert racing.knee.candidate is best
        assert all(racing.trials[one.number].n_rows == N for one in racing.members)


def test_who_leaves_rows_without_a_score_is_not_on_the_front():
    class Silent(Simulated):
        def table(self, rows):
            self.said = np.where(np.arange(N) % 10 == 0, np.nan, self.said)
            return super().table(rows)

    racing = search(n_trials=1)
    racing.make = lambda picked: Silent({"way": "c"})
    racing.run(Simulated({}))
    assert ways(racing) == {"start"}
    states = [one.state.name for one in racing.proposer.study.get_trials()]
    assert states == ["FAIL"]


def test_where_the_start_has_no_value_others_may_make_the_front():
    class Constant(Simulated):
        def table(self, rows):
            self.said = np.ones(N)
            return super().table(rows)

    racing = search(elimination=RacingRule())
    racing.run(Constant({}))
    assert math.isnan(racing.trials[0].value)
    assert ways(racing) == {"a", "b", "c"}


def test_two_exact_objectives_need_no_resampling():
    racing = search("-calls, q - .1*calls")
    racing.run(Simulated({}))
    assert "c" in ways(racing)


def test_the_value_of_a_trial_is_that_of_the_objective_that_looks_at_scores():
    racing = search("-calls, q", n_trials=2)
    racing.run(Simulated({}))
    assert all(one.value == one.values["q"] for one in racing.trials.values())
