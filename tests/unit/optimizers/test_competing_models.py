import pytest
from optimizing import examples, lm_of, number

from judgesmith.optimizers import NoElimination, ProtocolSearch
from judgesmith.optimizers.objectives.grammar import parse_objective, parse_objectives
from judgesmith.optimizers.space.candidates import check_models, with_models
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import Budget, LMClient, ModelError, Price
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.space import Choice, Option, Space

Q = parse_objective("q")
HUMAN = {one["response"]: one["score"] for one in examples(range(60))}


def knows(noise):
    """Return a rule that answers as people did, but for some noise."""

    def rule(user, shown, system):
        people = next(score for text, score in HUMAN.items() if text in user)
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


def search(models, objective="q", **settings):
    own, *others = models
    nothing_else = Space(choices=[Choice(name="variant", options=[Option(id="vanilla")])])
    given = {"n_trials": 6, "batch": 3, "space": nothing_else, "n_demonstrations": 0, **settings}
    rest = {name: models[name] for name in others}
    return ProtocolSearch(objective, lm=models[own], models=rest, **given)


def compiled(optimizer):
    return optimizer.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))


@pytest.mark.no_cover
def test_the_better_model_is_found_and_the_judge_belongs_to_it(models):
    optimizer = search(models())
    compiled(optimizer)
    assert str(optimizer.lm_.model) == "other/good"
    assert {one.picked.get("model") for one in optimizer.trials_} == {
        None,
        "other/good",
        "other/bad",
    }
    assert optimizer.front_ == ()


def test_where_dollars_count_the_front_holds_both_and_not_the_bad_one(models):
    optimizer = search(models(), "q, -usd")
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
    optimizer = search(made, elimination=NoElimination())
    compiled(optimizer)
    assert str(optimizer.lm_.model) == "other/good"
    (bad,) = [one for one in optimizer.trials_ if one.picked.get("model") == "other/bad"]
    assert bad.share_scored == 0
    alone = {"other/bad": models()["other/bad"]}  # what it said is on record
    with pytest.raises(ModelError, match="judgements in a row have no score"):
        compiled(search(alone))


@pytest.mark.parametrize("max_calls", [30, 70])
def test_all_models_share_one_budget(models, max_calls):
    made = models(max_calls=max_calls)
    optimizer = search(made)
    compiled(optimizer)
    stacks = [one._engine_spec.client for one in made.values()]
    assert sum(one.usage.calls for one in stacks) <= max_calls
    assert {one.spent.calls for one in stacks} == {max_calls}
    assert not optimizer.complete_


@pytest.mark.no_cover
def test_every_model_has_answers_of_its_own_and_a_second_search_asks_none(models):
    compiled(search(models()))
    again = models()
    compiled(search(again))
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
