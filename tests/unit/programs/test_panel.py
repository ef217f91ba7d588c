import asyncio

import dspy
import pytest
from asgi import Caller
from dspy.utils.exceptions import LMTransportError
from optimizing import Engine, lm_of, number

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.ensemble.judges import Panel, judgement_of
from judgesmith.programs.families.ensemble.members import PanelJudgement, panel_judgement
from judgesmith.programs.lm import Budget, LMClient, ModelError, TransientModelError, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.serving import app
from judgesmith.signatures import CriterionScore, Judgement, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.items import RatedItem

ITEMS = [RatedItem(source=f"Question {k}?", response=f"Answer {k}.") for k in range(12)]


def vanilla(rule=None):
    judge = ActiveCritic(variant="vanilla")
    if rule is not None:
        judge.set_lm(lm_of(rule))
    return judge


def always(score):
    return lambda user, shown, system: score


def failing(fault):
    """Return a judge whose model always raises ``fault``."""

    class Failing(Engine):
        def answer(self, request):
            raise fault

    judge = ActiveCritic(variant="vanilla")
    judge.set_lm(ClientLM.over(LMClient(Failing(None), budget=Budget()), "failing", recipe={}))
    return judge


def weights(**by_member):
    n = len(by_member)
    return PanelWeights(
        members=tuple(by_member),
        centers=(0,) * n,
        spreads=(1,) * n,
        weights=tuple(by_member.values()),
        slope=1,
        intercept=0,
        scale=Scale(low=0, high=100),
    )


def test_members_with_models_of_their_own_are_averaged():
    panel = Panel({"a": vanilla(always(80)), "b": vanilla(always(40))})
    found = score_batch(panel, ITEMS)
    assert [one.score for one in found] == pytest.approx([60] * len(ITEMS))
    assert found[0].members == {"a": 80, "b": 40}
    assert found[0].disagreement == pytest.approx(20)


def test_a_call_and_many_items_give_the_same_judgements():
    panel = Panel({"a": ActiveCritic(), "b": vanilla()}, weights(a=1, b=2))
    item = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
    (many,) = score_batch(panel, [item])
    texts = {"source": item.source, "response": item.response}
    once = panel(**texts)
    awaited = asyncio.run(panel.acall(**texts))
    assert judgement_of(once) == judgement_of(awaited) == many
    assert once.protocol == panel.fingerprint
    assert isinstance(many, PanelJudgement)


def test_members_without_weight_are_not_asked():
    asked = []
    idle = vanilla(lambda user, shown, system: asked.append(user) or 1)
    panel = Panel({"a": vanilla(always(30)), "b": idle}, weights(a=1, b=0))
    assert score_batch(panel, ITEMS)[0].score == 30
    assert asked == []
    assert panel.calls_per_item == 1


def test_criteria_and_explanation_are_those_of_the_heaviest_member_with_a_score():
    panel = Panel({"a": ActiveCritic(), "b": ActiveCritic()}, weights(a=1, b=3))
    said = {
        "a": Judgement(score=10, explanation="a says", criteria={"x": CriterionScore(score=1)}),
        "b": Judgement(score=50, explanation="b says", criteria={"y": CriterionScore(score=5)}),
    }
    found = panel.combined(said)
    assert (found.score, found.voice, found.explanation, list(found.criteria)) == (
        40,
        "b",
        "b says",
        ["y"],
    )
    found = panel.combined({**said, "b": Judgement.unscored("cut off")})
    assert (found.score, found.voice, list(found.criteria)) == (10, "a", ["x"])


def test_without_any_score_the_panel_says_why_each_member_has_none():
    panel = Panel({"a": vanilla(), "b": vanilla()})
    found = panel.combined(
        {"a": Judgement.unscored("cut off"), "b": Judgement.unscored("filtered")}
    )
    assert found.score is None
    assert found.problem == "no member of the panel gave a score: a: cut off; b: filtered"


def test_an_answer_that_cannot_be_read_leaves_the_mean():
    panel = Panel({"a": vanilla(always(80)), "b": vanilla(always("no idea"))})
    found = score_batch(panel, ITEMS[:3])
    assert [one.score for one in found] == [80] * 3
    assert found[0].members == {"a": 80, "b": None}


def test_a_model_that_cannot_be_reached_leaves_the_mean():
    fault = TransientModelError("busy", status=503)
    found = score_batch(Panel({"a": vanilla(always(80)), "b": failing(fault)}), ITEMS[:2])
    assert [one.score for one in found] == [80, 80]


class Away:
    """The engine of a model of others that is away."""

    def complete(self, request):
        raise LMTransportError("no connection")


class AsyncAway(Away):
    """The same without blocking."""

    async def complete(self, request):
        raise LMTransportError("no connection")


@pytest.mark.parametrize("away", ["ours", "theirs"])
def test_a_member_that_cannot_be_reached_leaves_every_way_to_ask_the_same_judgement(away):
    if away == "ours":
        dead = failing(TransientModelError("busy", status=503))
    else:
        dead = vanilla()
        dead.set_lm(
            dspy.LM("theirs/m", engine=Away(), async_engine=AsyncAway(), cache=False, num_retries=0)
        )
    panel = Panel({"a": vanilla(always(80)), "b": dead})
    item = ITEMS[0]
    texts = {"source": item.source, "response": item.response}
    (many,) = score_batch(panel, [item])
    assert (many.score, many.members, many.problem) == (80, {"a": 80, "b": None}, None)
    assert judgement_of(panel(**texts)) == many
    assert judgement_of(asyncio.run(panel.acall(**texts))) == many
    with Caller(app({"panel": panel})) as served:
        row = served.post("/v1/judges/panel/judge", texts).json
    assert (row["score"], row["members"]) == (80, {"a": 80, "b": None})


@pytest.mark.parametrize(
    "fault", [TransientModelError("busy"), ModelError("wrong key", status=401)]
)
def test_a_call_of_which_no_member_can_be_asked_raises_as_that_of_one_judge_does(fault):
    texts = {"source": "s", "response": "r"}
    panel = Panel({"a": failing(fault), "b": failing(fault)})
    for judge in (panel, failing(fault)):
        with pytest.raises(ModelError, match=str(fault)):
            judge(**texts)
        with pytest.raises(ModelError, match=str(fault)):
            asyncio.run(judge.acall(**texts))


def test_a_wrong_key_ends_the_run_as_it_does_for_one_judge():
    panel = Panel({"a": vanilla(always(80)), "b": failing(ModelError("wrong key", status=401))})
    with pytest.raises(ModelError, match="wrong key"):
        score_batch(panel, ITEMS[:2])
    texts = {"source": ITEMS[0].source, "response": ITEMS[0].response}
    with pytest.raises(ModelError, match="wrong key"):
        panel(**texts)
    with pytest.raises(ModelError, match="wrong key"):
        asyncio.run(panel.acall(**texts))


def test_a_spent_budget_leaves_the_whole_item_unasked():
    lm = model("offline", ledger=None, max_calls=7)
    found = score_batch(Panel({"a": vanilla(), "b": ActiveCritic()}), ITEMS, lm=lm)
    assert [one.score is not None for one in found] == [True] * 2 + [False] * 10
    assert "not asked" in found[-1].problem


def test_a_panel_may_hold_panels():
    inner = Panel({"a": vanilla(always(20)), "b": vanilla(always(40))})
    outer = Panel({"inner": inner, "c": vanilla(always(90))})
    assert score_batch(outer, ITEMS[:1])[0].score == pytest.approx(60)
    assert outer.calls_per_item == 3


def test_every_question_shows_among_the_named_predictors():
    panel = Panel({"a": ActiveCritic(), "b": vanilla()})
    assert len(panel.named_predictors()) == 3


def test_state_goes_out_and_in():
    panel = Panel({"a": ActiveCritic(), "b": vanilla()}, weights(a=1, b=3))
    other = Panel({"a": ActiveCritic(), "b": vanilla()})
    other.load_state(panel.dump_state())
    assert other.weights == panel.weights
    assert other.fingerprint == panel.fingerprint
    with pytest.raises(ValueError, match="the state has the members a, b; this judge has c"):
        Panel({"c": vanilla()}).load_state(panel.dump_state())


def test_a_copy_with_other_weights_shares_nothing_with_the_first():
    panel = Panel({"a": vanilla(always(80)), "b": vanilla(always(40))})
    other = panel.with_weights(weights(a=0, b=1))
    assert score_batch(other, ITEMS[:1])[0].score == 40
    assert score_batch(panel, ITEMS[:1])[0].score == pytest.approx(60)
    assert other.members["a"] is not panel.members["a"]
    assert other.fingerprint != panel.fingerprint


def test_members_on_scales_of_their_own_count_as_shares_of_them():
    learned = PanelWeights.equal({"a": Scale(low=1, high=5), "b": Scale(low=0, high=100)})
    assert learned.apply({"a": 5, "b": 0}) == 50


def test_refuses_what_is_no_judge_and_weights_of_others():
    with pytest.raises(TypeError, match="a must be a judge; got Predict"):
        Panel({"a": dspy.Predict("source -> score")})
    with pytest.raises(ValueError, match="needs at least one member"):
        Panel({})
    with pytest.raises(ValueError, match="the weights are of a; the panel has b"):
        Panel({"b": vanilla()}, weights(a=1))


def test_the_same_answers_whatever_the_concurrency():
    panel = Panel({"a": vanilla(lambda user, shown, system: number(user)), "b": ActiveCritic()})
    assert score_batch(panel, ITEMS, concurrency=1) == score_batch(panel, ITEMS, concurrency=8)


def test_a_panel_says_how_its_members_scores_came_about():
    how = {"overall": {"mode": "stated", "stated": 50, "reason": "the endpoint gave none"}}
    weights = PanelWeights.equal(dict.fromkeys("ab", Scale(low=0, high=100)))
    said = {"a": Judgement(score=50, weighting=how), "b": Judgement(score=60)}
    found = panel_judgement(said, weights)
    assert found.weighting["a/overall"].reason == "the endpoint gave none"
    assert len(found.weighting) == 1


def test_members_have_names():
    with pytest.raises(
        TypeError, match=r"members must be a dict of judges by name, .* got list\. Give every"
    ):
        Panel([vanilla()])
