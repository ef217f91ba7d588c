"""A judge as a DSPy module and as one value; its settings of calls, and what it costs."""

import json
import math

import dspy
import pytest
from dspy.utils.callback import BaseCallback
from looping import for_each
from optimizing import Engine

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.executors import BoundModel, call_config, probability_config
from judgesmith.programs.judging.program import ProbabilitiesOf
from judgesmith.programs.judging.rows import knows_costs, usd_of
from judgesmith.programs.lm import LMClient, ModelAnswer, Price, model
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import Judgement, RatedItem, Rubric
from judgesmith.signatures.config import Sampling

TASKLESS = Rubric(criteria={"brevity": "Is it short?"})
FIELDS = {
    *("score", "explanation", "criteria", "errors", "problem", "reason", "raw"),
    *("weighting", "calls", "notes", "protocol", "label", "probability"),
}


@pytest.fixture
def texts(item):
    return {"source": item.source, "context": item.context, "response": item.response}


def judged(judge, texts, lm=None):
    with dspy.context(lm=lm):
        return judge(**texts)


class TestJudging:
    def test_a_verdict_has_the_same_fields_whatever_comes(self, judge_of, scripted, good, texts):
        for script in (good, lambda request: "nothing"):
            lm, _ = scripted(script)
            assert set(judged(judge_of(), texts, lm).keys()) == FIELDS

    def test_only_text_is_judged(self, judge_of):
        with pytest.raises(TypeError, match="response must be a text; got NoneType"):
            judge_of()(source="a", response=None)


class TestAsOneValue:
    def test_it_reflects_what_is_done_to_predictors(self, judge_of):
        judge = judge_of()
        assert judge.protocol.instructions == {}
        judge.overall.signature = judge.overall.signature.with_instructions("Just score.")
        judge.overall.demos = [dspy.Example(source="s", response="r", score=5, note="x")]
        protocol = judge.protocol
        assert protocol.instructions == {"overall": "Just score."}
        (shown,) = protocol.demonstrations["overall"]
        assert (dict(shown.inputs), dict(shown.outputs)) == (
            {"source": "s", "response": "r"},
            {"score": 5},
        )
        other = judge.with_protocol(protocol.model_copy(update={"samples": 3}))
        assert other.protocol.instructions == {"overall": "Just score."}
        assert other.overall.signature.instructions == "Just score."
        assert "Just score." in other.templates()["overall"].turns[0].text

    def test_another_protocol_makes_another_judge(self, judge_of, scripted, good):
        judge = judge_of()
        lm, _ = scripted(good)
        judge.set_lm(lm)
        judge.overall.update_config(top_p=0.5)
        watch = BaseCallback()
        judge.callbacks.append(watch)
        before = judge.protocol
        other = judge.with_protocol(before.model_copy(update={"samples": 3}))
        assert (judge.protocol, other.protocol.samples) == (before, 3)
        assert other.overall.lm is lm
        assert other.overall.config == {"top_p": 0.5}
        assert other.callbacks == [watch]
        vanilla = judge.with_protocol(before.model_copy(update={"variant": "vanilla"}))
        assert vanilla.grade.lm is lm

    def test_every_verdict_names_the_protocol_it_came_from(self, judge_of, texts):
        judge = judge_of("vanilla")
        assert judged(judge, texts).protocol == judge.protocol.fingerprint


class TestAsAModule:
    def test_a_copy_is_equal_and_apart(self, judge_of):
        judge = judge_of(shown="a", samples=2)
        copy, reset = judge.deepcopy(), judge.reset_copy()
        assert copy.protocol == judge.protocol
        assert reset.protocol == judge.protocol.model_copy(update={"demonstrations": {}})
        copy.overall.demos.clear()
        assert "overall" in judge.protocol.demonstrations

    @pytest.mark.parametrize("variant", ["vanilla", "coarse", "fine"])
    def test_saving_and_loading_dspys_way_keeps_the_whole_protocol(
        self, variant, judge_of, tmp_path
    ):
        predictor = {"vanilla": "grade", "coarse": "rate", "fine": "overall"}[variant]
        told = {predictor: "Be strict."}
        judge = judge_of(variant, shown="a", samples=2, temperature=0.3, instructions=told)
        judge.save(tmp_path / "judge.json")
        other = ActiveCritic(variant=variant)
        other.load(tmp_path / "judge.json")
        assert other.protocol == judge.protocol == other.deepcopy().protocol
        assert other.templates() == judge.templates()

    def test_neither_key_nor_address_is_saved(self, judge_of, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key")
        judge = judge_of()
        judge.set_lm(model("openai/m", ledger=None, api_base="http://user:secret@localhost:1/v1"))
        judge.save(tmp_path / "judge.json")
        text = (tmp_path / "judge.json").read_text()
        assert "sk-planted-key" not in text
        assert "secret" not in text

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda state: state.pop("protocol"), "the state has no protocol"),
            (lambda state: state["protocol"].update(judge="panel"), "of the kind panel"),
            (lambda state: state["protocol"].update(samples=0), "samples"),
            (lambda state: state["overall"].pop("signature"), "signature"),
            (lambda state: state.pop("assess"), "this judge asks assess, overall; the state is"),
        ],
    )
    def test_a_state_of_something_else_is_refused_and_changes_nothing(
        self, judge_of, tmp_path, change, said
    ):
        path = tmp_path / "judge.json"
        judge_of(shown="a").save(path)
        state = json.loads(path.read_text())
        change(state)
        path.write_text(json.dumps(state))
        judge = judge_of(samples=2)
        before = judge.dump_state()
        with pytest.raises((ValueError, KeyError), match=said):
            judge.load(path)
        assert judge.dump_state() == before

    @pytest.mark.no_cover
    @pytest.mark.parametrize("variant", ["coarse", "fine"])
    @pytest.mark.parametrize(
        "change", [{"explain": "after"}, {"explain": "none"}, {"rubric": TASKLESS}]
    )
    def test_a_loaded_state_brings_its_questions_with_all_their_fields(
        self, variant, change, judge_of, tmp_path
    ):
        plain, changed = judge_of(variant), judge_of(variant, shown="a", **change)
        for mine, saved in ((plain, changed), (changed, plain)):
            saved.save(tmp_path / "judge.json")
            judge = ActiveCritic(mine.protocol)
            judge.load(tmp_path / "judge.json")
            assert judge.protocol == saved.protocol
            assert judge.templates() == saved.templates()
            assert ActiveCritic(judge.protocol).templates() == saved.templates()

    @pytest.mark.parametrize(
        ("choices", "asks"),
        [
            ({"variant": "vanilla"}, "grade"),
            ({"variant": "coarse"}, "rate"),
            ({"overall": "mean"}, "assess"),
            ({"criteria_calls": "separate"}, "assess_1, assess_2, overall"),
        ],
    )
    def test_a_state_of_another_variant_is_refused_both_ways(self, choices, asks, judge_of):
        fine, other = judge_of(shown="a"), judge_of(shown="a", **choices)
        before = fine.dump_state(), other.dump_state()
        said = f"this judge asks assess, overall; the state is of one that asks {asks}"
        with pytest.raises(ValueError, match=said):
            fine.load_state(before[1])
        said = f"this judge asks {asks}; the state is of one that asks assess, overall"
        with pytest.raises(ValueError, match=said):
            other.load_state(before[0])
        assert (fine.dump_state(), other.dump_state()) == before

    def test_a_state_whose_protocol_asks_something_else_is_refused(self, judge_of):
        judge = judge_of()
        state = judge.dump_state()
        state["protocol"]["overall"] = "mean"
        with pytest.raises(ValueError, match=r"the state is of one that asks assess\. Load it"):
            judge.load_state(state)
        assert judge.protocol.overall == "asked"


# Calls are sampled as the protocol says, as far as the model takes it; settings are made once.

FEW = ProbabilitiesOf(field="better", answers=("first", "second"), top=5)
MANY = ProbabilitiesOf(field="score", answers=tuple(map(str, range(101))))


@for_each(
    ("lm", "plain", "short"),
    [
        (model("offline", ledger=None), {"temperature": 0.0}, {"max_tokens": 64}),
        (dspy.LM("openai/gpt-4o-mini"), {"temperature": 0.0}, {"max_tokens": 64}),
        (model("openai/gpt-5", ledger=None), {}, {"max_completion_tokens": 64}),
        (dspy.LM("openai/o3"), {}, {"max_completion_tokens": 64}),
        (model("openai/gpt-4o-mini", ledger=None, temperature=None), {}, {"max_tokens": 64}),
    ],
)
def test_settings_are_those_of_the_protocol_as_far_as_the_model_takes_them(lm, plain, short):
    assert call_config(Sampling(), lm) == plain
    warm = {"temperature": 0.5} if plain else {}
    assert call_config(Sampling(temperature=0.5, max_tokens=64), lm) == {**warm, **short}


@for_each(
    ("name", "options", "wanted", "top"),
    [
        ("openai/gpt-4o-mini", {}, None, None),
        ("openai/gpt-4o-mini", {}, MANY, 20),
        ("openai/gpt-4o-mini", {"top_logprobs": 7}, MANY, 7),
        ("offline", {}, MANY, 101),
        ("offline", {}, FEW, 5),
    ],
)
def test_alternatives_are_asked_for_where_probabilities_are_wanted(name, options, wanted, top):
    found = probability_config(wanted, model(name, ledger=None, **options))
    assert found == ({} if top is None else {"logprobs": True, "top_logprobs": top})


@for_each("wanted", [None, FEW, MANY])
@for_each("temperature", [None, 0.7])
def test_settings_are_made_once_for_each_kind_of_call(temperature, wanted):
    settings = BoundModel(model("offline", ledger=None), Sampling(temperature=0.2))
    found = settings.settings(temperature, wanted)
    assert found.temperature == (0.2 if temperature is None else temperature)
    assert found.logprobs == {None: None, FEW: 5, MANY: 101}[wanted]
    assert settings.settings(temperature, wanted) is found


def test_later_changes_of_the_model_do_not_reach_the_settings_that_are_known():
    lm = model("openai/gpt-4o-mini", ledger=None)
    settings = BoundModel(lm, Sampling(temperature=0.2, max_tokens=64))
    lm.kwargs["temperature"] = None
    assert (settings.settings(None).temperature, settings.settings(None).max_tokens) == (0.2, 64)


# A judgement costs what its calls cost, or nobody knows.

PRICE = Price(1.0, 10.0)
ITEMS = [RatedItem(source="The bridge opened.", response=f"It opened {k}.") for k in range(3)]


def lm_of(folder, *, price=PRICE, answer=None):
    engine = Engine(lambda user, shown, system: 50)
    if answer is not None:
        engine.answer = lambda request: answer
    return ClientLM.over(
        LMClient(engine, ledger=ResponseCache(folder / "ledger.sqlite"), price=price),
        "scripted",
        recipe={},
    )


@pytest.mark.parametrize(("samples", "usd"), [(1, 11e-6), (2, 22e-6)])
def test_a_judgement_costs_what_its_answers_do_also_when_they_are_on_record(tmp_path, samples, usd):
    judge = ActiveCritic(variant="vanilla", samples=samples, temperature=0.7)
    for _ in range(2):
        lm = lm_of(tmp_path)
        assert usd_of(score_batch(judge, ITEMS, lm=lm), lm) == pytest.approx((usd,) * 3)


def test_what_the_server_did_not_count_is_undefined(tmp_path):
    text = "[[ ## score ## ]]\n50\n\n[[ ## completed ## ]]"
    lm = lm_of(tmp_path, answer=ModelAnswer(text=text, input_tokens=1, output_tokens=None))
    found = score_batch(ActiveCritic(variant="vanilla"), ITEMS, lm=lm)
    assert all(math.isnan(usd) for usd in usd_of(found, lm))


def test_free_models_need_no_ledger_and_unpriced_ones_cost_nobody_knows_what(tmp_path):
    free = model("offline", ledger=None)
    assert usd_of([Judgement(score=1.0, calls=("00",))], free) == (0.0,)
    unpriced = lm_of(tmp_path, price=None)
    assert not knows_costs(unpriced)
    assert usd_of([Judgement(score=1.0, calls=("00",))], unpriced) == ()
