"""Searches with several objectives: dominance and the Pareto front."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from optimizing import examples, lm_of, number
from tables import LIKERT, judged

from judgesmith.optimizers import (
    NoElimination,
    PredictionTable,
    ProtocolSearch,
    RacingRule,
    parse_objective,
)
from judgesmith.optimizers.objectives.combining import ParetoFront
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.search.racing import (
    DominanceRule,
    FrontSearch,
    FrontStage,
    OutOfBudget,
    front_elimination,
    stratified_order,
)
from judgesmith.optimizers.space.candidates import check_models, with_models
from judgesmith.optimizers.space.proposing import Proposer, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import Budget, LMClient, ModelError, Price
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.space import Choice, Option, Space

# front search

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
    assert best is racing.best.candidate
    assert racing.best.picked == {"way": "b"}


def test_beaten_contenders_are_not_judged_to_the_end_and_unbeaten_ones_are():
    racing = search(batch=1)
    racing.run(Simulated({}))
    rows = {one.picked.get("way"): one.n_rows for one in racing.trials.values()}
    assert all(rows[one] == N for one in ("a", "b", "c"))
    assert racing.n_judged < 7 * N


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


@for_each("rows", [0, 99, 100, 250, 400])
def test_a_budget_that_ends_leaves_the_front_until_then(rows):
    left = [rows]
    racing = search(rows_left=left)
    start = Simulated({}, rows_left=left)
    best = racing.run(start)
    assert not racing.complete
    if rows < N:
        assert (best, racing.members, racing.best) == (start, [], None)
    else:
        assert racing.best.candidate is best
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


# pareto


def front(values, violations=None):
    values = np.asarray(values, dtype=float)
    names = tuple(f"f{k}" for k in range(values.shape[1]))
    missed = None if violations is None else np.asarray(violations, dtype=float)
    return ParetoFront(names=names, values=values, violations=missed)


points = st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=15)


@pytest.mark.no_cover
@given(points)
def test_on_the_front_are_those_that_nobody_beats(values):
    def beats(a, b):
        return a != b and all(x >= y for x, y in zip(a, b, strict=True))

    expected = [k for k, one in enumerate(values) if not any(beats(other, one) for other in values)]
    found = front(values)
    assert list(found.places) == expected
    assert found.knee in expected


@pytest.mark.no_cover
@given(points, st.floats(0.01, 100), st.floats(-10, 10))
def test_units_do_not_move_the_front_nor_its_knee(values, stretch, shift):
    values = np.asarray(values, dtype=float)
    other = values * [1, 2.0 ** round(np.log2(stretch)), 1] + [0, 0, float(round(shift))]
    assert front(values).places == front(other).places
    assert front(values).knee == front(other).knee


def test_on_a_quarter_of_a_circle_the_knee_is_in_the_middle():
    angles = np.linspace(0, np.pi / 2, 9)
    assert front(np.stack([np.sin(angles), 10 * np.cos(angles)], axis=1)).knee == 4


def test_the_knee_is_farthest_from_the_line_between_the_ends():
    values = np.array([[0.0, 1.0], [0.3, 0.95], [0.5, 0.9], [0.8, 0.4], [1.0, 0.0]])
    line = (values[-1] - values[0]) / np.linalg.norm(values[-1] - values[0])
    away = values - values[0]
    distance = np.abs(away[:, 0] * line[1] - away[:, 1] * line[0])
    assert front(values).knee == int(np.argmax(distance)) == 2


def test_undefined_values_are_never_on_the_front():
    found = front([[np.nan, 9], [1, 1], [0, 2]])
    assert found.places == (1, 2)
    empty = front([[np.nan, 9]])
    assert (empty.places, empty.knee) == ((), None)


def test_who_misses_a_condition_is_beaten_by_who_misses_less():
    values = [[9, 9], [1, 1], [0, 2], [0, 0]]
    assert front(values, [0.1, 0, 0, 0]).places == (1, 2)
    assert front(values, [0.1, 0.3, 0.2, 0.2]).places == (0,)


def test_it_is_made_of_objectives_and_tables():
    people = [1, 2, 3, 4, 5]
    tables = [
        judged([0, 30, 50, 70, 100], people, scale=LIKERT, n_calls=(4,) * 5),
        judged([0, 50, 30, 70, 100], people, scale=LIKERT, n_calls=(1,) * 5),
        judged([0, 50, 30, 70, 90], people, scale=LIKERT, n_calls=(2,) * 5),
        judged([40, 50, 60, 70, 80], people, scale=LIKERT, n_calls=(1,) * 5),
    ]
    q, calls = parse_objective("q"), parse_objective("-calls")
    assert ParetoFront.of([q, calls], tables).places == (3,)
    exact = parse_objective("q; kappa >= .8")
    found = ParetoFront.of([exact, calls], tables)
    assert found.places == (0, 1)
    assert found.names == ("q", "-calls")
    saved = json.loads(json.dumps(found.to_dict()))
    assert saved["objectives"] == ["q", "-calls"]
    assert [one["candidate"] for one in saved["front"]] == [0, 1]
    assert saved["knee"] in (0, 1)


# dominating

N_DOMINATING = 60
HUMAN_DOMINATING = np.random.default_rng(0).integers(1, 6, N_DOMINATING).astype(float)


def table(noise, n_calls, seed=1, n_rows=N_DOMINATING):
    rng = np.random.default_rng(seed)
    said = 20 * HUMAN_DOMINATING + 20 * noise * rng.normal(size=N_DOMINATING)
    return judged(said[:n_rows], HUMAN_DOMINATING[:n_rows], n_calls=(n_calls,) * n_rows)


def staying(members, contenders, text="q, -calls", *, meets=None, n_looks=4, risk=0.2):
    look = FrontStage(
        members=members,
        meets=meets or [True] * len(members),
        contenders=contenders,
        objectives=parse_objectives(text),
        n_looks=n_looks,
        rng=np.random.default_rng(0),
    )
    return list(DominanceRule(risk)(look))


def test_who_is_surely_worse_on_all_objectives_goes_and_others_stay():
    assert staying([table(0.2, 2)], [table(3.0, 2), table(3.0, 3)]) == []
    assert staying([table(0.2, 2)], [table(9.0, 1)]) == [0]
    assert staying([table(0.5, 2)], [table(0.1, 9), table(0.55, 3, seed=2)]) == [0, 1]
    assert staying([table(0.5, 2)], [table(0.5, 3), table(0.5, 2)]) == [1]
    members = [table(0.2, 9), table(4.0, 1)]
    assert staying(members, [table(2.0, 3)]) == [0]
    assert staying([*members, table(0.2, 3)], [table(2.0, 3)]) == []


def test_undefined_and_unscored_contenders_go():
    flat = judged([50.0] * N_DOMINATING, HUMAN_DOMINATING, n_calls=(1,) * N_DOMINATING)
    silent = judged([np.nan] * 40 + list(range(20)), HUMAN_DOMINATING, n_calls=(1,) * N_DOMINATING)
    assert staying([table(0.2, 2)], [flat, silent]) == []


def test_conditions_count_before_aims():
    assert staying([table(0.2, 9)], [table(9.0, 1)], "q, -calls; pearson >= .8") == []
    assert staying([table(0.2, 9)], [table(0.3, 1)], "q, -calls; pearson >= .8") == [0]
    text = "q, -calls; calls <= 1"
    assert staying([table(0.2, 3)], [table(3.0, 3)], text, meets=[False]) == [0]
    assert staying([table(0.2, 3)], [table(3.0, 4)], text, meets=[False]) == []


@pytest.mark.no_cover
def test_who_is_as_good_as_a_member_goes_by_mistake_as_rarely_as_is_said():
    gone = 0
    for seed in range(50):
        pair = [table(1.0, 2, seed=2 * seed + k) for k in range(2)]
        gone += not staying([pair[0]], [pair[1]], n_looks=2, risk=0.2)
    assert gone / 50 <= 0.2 + 3 * (0.2 * 0.8 / 50) ** 0.5


# several objectives

TABLE = judged([10, 50, 90], [1, 3, 5], n_calls=(1, 2, 3))


def test_conditions_hold_for_every_objective():
    several = parse_objectives("q, -calls; scored >= .95")
    assert [str(one) for one in several.each] == ["q; scored >= 0.95", "-calls; scored >= 0.95"]
    assert several.violation(TABLE) == 0
    assert parse_objectives("q, -calls; calls <= 1").violation(TABLE) == 1


def test_scores_are_aggregated_by_the_first_objective_that_looks_at_them():
    assert str(parse_objectives("-calls, pearson, q").leading) == "pearson"
    assert str(parse_objectives("-calls, q; scored >= .9").leading) == "q; scored >= 0.9"
    assert str(parse_objectives("-calls, -2*calls").leading) == "-calls"


@for_each(
    ("text", "exact"),
    [
        ("-calls", True),
        ("-2*calls; calls <= 3", True),
        ("-calls; scored >= .9", False),
        ("scored", False),
        ("q - .1*calls", False),
    ],
)
def test_what_is_counted_is_exact(text, exact):
    assert parse_objective(text).is_effort == exact


# competing models

Q = parse_objective("q")
HUMAN_COMPETING_MODELS = {one["response"]: one["score"] for one in examples(range(60))}


def knows(noise):
    """Return a rule that answers as people did, but for some noise."""

    def rule(user, shown, system):
        people = next(score for text, score in HUMAN_COMPETING_MODELS.items() if text in user)
        return round((1 - noise) * 25 * (people - 1) + noise * number(user))

    return rule


def named(name, rule, *, ledger, run="run", price=(1, 1), **budget):
    engine = lm_of(rule)._engine_spec.client.engine
    engine.endpoint = name
    stack = LMClient(
        engine, ledger=ledger, price=Price(*price), run_id=run, budget=Budget(**budget)
    )
    return ClientLM.over(stack, name, recipe={})


@pytest.fixture
def models(tmp_path):
    def made(**budget):
        ledger = ResponseCache(tmp_path / "ledger.sqlite")
        rules = {"own/cheap": (0.9, 1), "other/good": (0.0, 100), "other/bad": (1.0, 100)}
        return {
            name: named(name, knows(noise), ledger=ledger, price=(usd, usd), **budget)
            for name, (noise, usd) in rules.items()
        }

    return made


def search_competing_models(models, objective="q", **settings):
    own, *others = models
    nothing_else = Space(choices=[Choice(name="variant", options=[Option(id="vanilla")])])
    given = {"n_trials": 6, "batch": 3, "space": nothing_else, "n_demonstrations": 0, **settings}
    rest = {name: models[name] for name in others}
    return ProtocolSearch(objective, lm=models[own], models=rest, **given)


def compiled(optimizer):
    return optimizer.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))


@pytest.mark.no_cover
def test_the_better_model_is_found_and_the_judge_belongs_to_it(models):
    optimizer = search_competing_models(models())
    compiled(optimizer)
    assert str(optimizer.lm_.model) == "other/good"
    assert {one.picked.get("model") for one in optimizer.trials_} == {
        None,
        "other/good",
        "other/bad",
    }
    assert optimizer.front_ == ()


def test_where_dollars_count_the_front_holds_both_and_not_the_bad_one(models):
    optimizer = search_competing_models(models(), "q, -usd")
    compiled(optimizer)
    found = {str(one.lm.model): one for one in optimizer.front_}
    assert set(found) == {"own/cheap", "other/good"}
    assert found["other/good"].values["q"].value == pytest.approx(3.0)
    assert found["own/cheap"].values["-usd"].value == pytest.approx(-2e-6)
    assert found["other/good"].values["-usd"].value == pytest.approx(-2e-4)
    assert sum(one.is_knee for one in optimizer.front_) == 1


@pytest.mark.no_cover
def test_a_model_that_nobody_can_read_loses_and_the_search_goes_on(models):
    made = models()
    made["other/bad"]._engine_spec.client.engine.rule = lambda *question: "as you like"
    optimizer = search_competing_models(made, elimination=NoElimination())
    compiled(optimizer)
    assert str(optimizer.lm_.model) == "other/good"
    (bad,) = [one for one in optimizer.trials_ if one.picked.get("model") == "other/bad"]
    assert bad.share_scored == 0
    alone = {"other/bad": models()["other/bad"]}  # what it said is on record
    with pytest.raises(ModelError, match="judgements in a row have no score"):
        compiled(search_competing_models(alone))


@pytest.mark.parametrize("max_calls", [30, 70])
def test_all_models_share_one_budget(models, max_calls):
    made = models(max_calls=max_calls)
    optimizer = search_competing_models(made)
    compiled(optimizer)
    stacks = [one._engine_spec.client for one in made.values()]
    assert sum(one.usage.calls for one in stacks) <= max_calls
    assert {one.spent.calls for one in stacks} == {max_calls}
    assert not optimizer.complete_


@pytest.mark.no_cover
def test_every_model_has_answers_of_its_own_and_a_second_search_asks_none(models):
    compiled(search_competing_models(models()))
    again = models()
    compiled(search_competing_models(again))
    assert sum(one._engine_spec.client.engine.asked for one in again.values()) == 0


def test_the_model_is_the_first_choice_and_the_own_one_its_default():
    space = with_models(Space(choices=[]), "offline", ["openai/a:b@1"])
    assert space.complete({}) == {"model": "offline"}
    assert with_models(Space(choices=[]), "offline", []).choices == ()


def test_models_that_cannot_compete_are_refused(models, tmp_path):
    made = models()
    own = made["own/cheap"]
    with pytest.raises(ValueError, match="own/cheap competes with itself"):
        check_models(own, {"own/cheap": own}, parse_objective("q"))
    unpriced = {"x/y": lm_of(knows(0.0))}
    check_models(own, unpriced, parse_objectives("q, -calls"))
    with pytest.raises(ValueError, match="q, -usd needs to know what answers of x/y cost"):
        check_models(own, unpriced, parse_objectives("q, -usd"))


def test_dollars_are_left_out_where_they_tell_nobody_apart():
    assert str(parse_objective("-usd").without("usd", Q)) == "q"
    assert str(parse_objective("pearson - usd").without("usd", Q)) == "pearson"
    assert str(parse_objective("q; usd <= 1").without("usd", Q)) == "q"
    assert str(parse_objective("q; usd <= 1; scored >= .9").without("usd", Q)) == "q; scored >= 0.9"
