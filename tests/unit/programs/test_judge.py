"""Judges from the front door: families, settings, costs and cards."""

import json
import math
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import dspy
import pytest
from dspy.utils.callback import BaseCallback
from optimizing import Engine

from judgesmith.programs import ActiveCritic, DirectJudge, SavedJudge, score_batch
from judgesmith.programs.artifacts.card import (
    aggregation_text,
    agreement_text,
    judge_card,
    rubric_mark,
)
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.record import SavedEstimate
from judgesmith.programs.artifacts.saved import FrontMember, SavedJudgeError, content_hash, taken
from judgesmith.programs.families.modules import (
    ChecklistJudge,
    ExemplarJudge,
    ExplainEvalJudge,
    GEvalJudge,
    GPTScoreJudge,
    PairwiseJudge,
    PromptFormatJudge,
)
from judgesmith.programs.families.pointwise import DirectConfig
from judgesmith.programs.judging import registry
from judgesmith.programs.judging.executors import CallSettings, call_config, probability_config
from judgesmith.programs.judging.judge import chosen, own_protocol, without_untold
from judgesmith.programs.judging.program import ProbabilitiesOf
from judgesmith.programs.judging.registry import (
    JudgeFamily,
    family_of,
    known_families,
    register_family,
)
from judgesmith.programs.judging.rows import knows_costs, usd_of
from judgesmith.programs.lm import LMClient, ModelAnswer, Price, model
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import (
    ActiveCriticConfig,
    Aggregation,
    Judgement,
    RatedItem,
    Rubric,
    Scale,
)
from judgesmith.signatures.config import Sampling
from judgesmith.signatures.questions.direct import ScoreOne
from judgesmith.signatures.questions.exemplar import WriteEnd

# A judge behaves as DSPy users expect of a module, and is one value all the same.

TASKLESS = Rubric(criteria={"brevity": "Is it short?"})
FIELDS = {
    *(
        "score",
        "explanation",
        "criteria",
        "errors",
        "problem",
        "reason",
        "raw",
        "weighting",
        "calls",
    ),
    *("notes", "protocol"),
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
    def test_the_protocol_goes_in_and_comes_out(self, judge_of):
        for variant in ("vanilla", "fine"):
            judge = judge_of(
                variant,
                shown="a",
                samples=2,
                instructions={"grade" if variant == "vanilla" else "assess": "Do it."},
            )
            assert ActiveCritic(judge.protocol).protocol == judge.protocol
            again = ActiveCriticConfig.model_validate_json(judge.protocol.model_dump_json())
            assert ActiveCritic(again).templates() == judge.templates()

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
        judge = judge_of(shown="a")
        copy = judge.deepcopy()
        assert copy.protocol == judge.protocol
        copy.overall.demos.clear()
        assert "overall" in judge.protocol.demonstrations

    def test_a_reset_copy_has_no_demonstrations(self, judge_of):
        judge = judge_of(shown="a", samples=2)
        reset = judge.reset_copy()
        assert reset.protocol == judge.protocol.model_copy(update={"demonstrations": {}})

    @pytest.mark.parametrize("variant", ["vanilla", "coarse", "fine"])
    def test_saving_and_loading_dspys_way_keeps_the_whole_protocol(
        self, variant, judge_of, tmp_path
    ):
        predictor = {"vanilla": "grade", "coarse": "rate", "fine": "overall"}[variant]
        judge = judge_of(
            variant,
            shown="a",
            samples=2,
            temperature=0.3,
            instructions={predictor: "Be strict."},
        )
        judge.save(tmp_path / "judge.json")
        other = ActiveCritic(variant=variant)
        other.load(tmp_path / "judge.json")
        assert other.protocol == judge.protocol
        assert other.templates() == judge.templates()
        assert other.deepcopy().protocol == judge.protocol

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


# Families of judges are found by name, and anybody may register one.

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "judge-families.md"


@pytest.fixture(params=[one.name for one in known_families()])
def family(request):
    return family_of(request.param)


@pytest.fixture
def registered(monkeypatch):
    """Register families for one test."""
    monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
    return register_family


def own_family(**changes):
    """Return a family that was written elsewhere."""
    direct = family_of("direct")
    parts = {name: getattr(direct, name) for name in JudgeFamily.__slots__}
    return JudgeFamily(**{**parts, "name": "blunt", **changes})


class TestEveryFamily:
    def test_starts_from_a_rubric(self, family):
        rubric = Rubric(criteria={"brevity": "Is it short?"})
        judge = family.start(rubric)
        assert judge.protocol.rubric == rubric
        assert judge.protocol.judge == family.name
        assert isinstance(judge.protocol, family.protocol)

    def test_asks_the_questions_that_it_has_forms_for(self, family):
        judge = family.start()
        assert list(family.forms(judge.protocol)) == list(judge.templates())

    @pytest.mark.no_cover
    def test_can_be_saved_and_loaded(self, family, tmp_path):
        judge = family.start()
        saved = SavedJudge(
            protocol=judge.protocol,
            questions=judge.templates(),
            model="offline",
            target="overall",
            human_scale="1..5",
        )
        saved.save(tmp_path / "judge")
        again = SavedJudge.load(tmp_path / "judge")
        assert again == saved
        assert type(again.program()) is type(judge)

    def test_is_what_its_space_says_first(self, family):
        judge = family.start()
        assert judge.with_choices({}).protocol == judge.protocol

    def test_says_what_it_does_in_a_few_words(self, family):
        assert family.about
        assert not family.about.endswith(".")
        assert f"| `{family.name}` | " in PAGE.read_text(encoding="utf-8")


def test_a_name_that_nobody_has_is_refused_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"no judge is called 'dirct': there are .*; did you mean direct"
    ):
        family_of("dirct")


def test_a_name_like_no_other_is_told_all_there_are():
    with pytest.raises(ValueError, match="there are active-critic, direct"):
        family_of("?")


def test_a_family_of_ones_own_is_found_once_it_is_registered(registered):
    registered(own_family())
    registered(own_family())  # the same again is no other
    assert family_of("blunt").judge_of(DirectJudge().protocol).protocol.judge == "direct"
    with pytest.raises(ValueError, match="choose another name"):
        registered(own_family(about="something else"))


def test_how_many_calls_a_text_takes_can_be_the_familys_own_count():
    counted = own_family(calls=lambda protocol: 7)
    assert family_of("direct").calls(DirectJudge(samples=3).protocol) == 3
    assert counted.calls(DirectJudge(samples=3).protocol) == 7


def test_a_saved_judge_of_an_unknown_family_is_refused(tmp_path):
    judge = DirectJudge()
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    content = saved.model_dump(mode="json")
    content["protocol"]["judge"] = "blunt"
    document = {"schema": 1, "made_by": "x", "content_hash": content_hash(content), **content}
    place = tmp_path / "judge.json"
    place.write_text(json.dumps(document))
    with pytest.raises(SavedJudgeError, match="no judge is called 'blunt'"):
        SavedJudge.load(place)


@pytest.mark.parametrize(
    ("family", "choices", "said"),
    [
        ("pairs", {"beam": "many"}, "beam: expected a whole number; got 'many'"),
        ("direct", {"ask": "overall"}, "ask: there is no such field"),
        ("exemplar", {"levels": 1}, "levels: expected greater than or equal to 2; got 1"),
        (
            "checklist",
            {"questions": {"fluencey": ["Is it?"]}},
            "questions for 'fluencey', which is not a criterion; did you mean fluency?",
        ),
        (
            "g-eval",
            {"steps": {"fluencey": ["Read."]}},
            "steps for 'fluencey', which is not a criterion; did you mean fluency?",
        ),
    ],
)
def test_what_makes_no_judge_is_said_in_one_sentence(family, choices, said):
    with pytest.raises(ValueError) as fault:
        family_of(family).start(**choices)
    assert str(fault.value) == said


class TestInstalledFamilies:
    """Families that packages name by an entry point."""

    @pytest.fixture
    def installed(self, monkeypatch):
        """Pretend that a package names some object as a family."""

        def install(value, name="strict"):
            point = EntryPoint(name=name, value=value, group=registry.ENTRY_POINTS)
            monkeypatch.setattr(registry, "entry_points", lambda group: [point])

        monkeypatch.setattr(registry, "_FAMILIES", dict(registry._FAMILIES))
        registry._register_installed.cache_clear()
        yield install
        registry._register_installed.cache_clear()

    def test_are_found_by_name(self, installed, monkeypatch):
        own = replace(family_of("direct"), name="strict")
        monkeypatch.setattr(registry, "STRICT", own, raising=False)
        installed("judgesmith.programs.judging.registry:STRICT")
        assert family_of("strict") is own

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ("no.such.module:FAMILY", "strict cannot be imported from no.such.module:FAMILY"),
            ("judgesmith.programs.judging.registry:ACTIVE_CRITIC", "is to be a Family of judges"),
        ],
    )
    def test_that_are_none_are_named(self, installed, value, said):
        installed(value)
        assert family_of("direct").name == "direct"
        with pytest.raises(ValueError, match=said):
            family_of("strict")


def test_a_saved_judge_of_a_family_that_is_not_there_says_what_is_lacking(tmp_path):
    judge = family_of("direct").start()
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    saved.save(tmp_path / "judge")
    place = tmp_path / "judge" / "judge.json"
    plain = json.loads(place.read_text(encoding="utf-8"))
    plain["protocol"]["judge"] = "strict"
    outside = ("schema", "made_by", "content_hash")
    plain["content_hash"] = content_hash({k: v for k, v in plain.items() if k not in outside})
    place.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(SavedJudgeError, match=r"\w; install the package that brings this"):
        SavedJudge.load(tmp_path / "judge")


# What the constructors of most families share: one protocol check, questions of told fields.

EXPECTED = {
    ChecklistJudge: "a checklist configuration",
    DirectJudge: "a direct configuration",
    ExemplarJudge: "an exemplar configuration",
    ExplainEvalJudge: "an explain-eval configuration",
    PromptFormatJudge: "the configuration of a judge model",
    GEvalJudge: "a g-eval configuration",
    GPTScoreJudge: "a gptscore configuration",
    PairwiseJudge: "a pairs configuration",
}
ASKING = {
    DirectJudge: "a direct",
    ExemplarJudge: "an exemplar",
    ExplainEvalJudge: "an explain-eval",
    PromptFormatJudge: "a prometheus",
    GEvalJudge: "a g-eval",
    GPTScoreJudge: "a gptscore",
}


@pytest.mark.parametrize(("judge", "expected"), EXPECTED.items())
def test_a_protocol_of_another_family_is_refused_by_name(judge, expected):
    with pytest.raises(ValueError, match=r"^expected ") as refused:
        judge(ActiveCriticConfig())
    assert str(refused.value) == f"expected {expected}; got one of active-critic."


@pytest.mark.parametrize(("judge", "name"), ASKING.items())
def test_criteria_to_score_are_needed_or_another_question(judge, name):
    with pytest.raises(ValueError, match="needs some") as refused:
        judge(asks="criteria", rubric=Rubric(criteria={}))
    assert str(refused.value) == (
        f"{name} judge that asks for criteria needs some; the rubric has none; give it at least "
        "one under 'criteria', as name: definition, or let it ask for the whole."
    )


def test_a_judge_that_can_only_ask_about_criteria_is_not_told_to_ask_for_the_whole():
    with pytest.raises(ValueError, match="needs criteria") as refused:
        ChecklistJudge(rubric=Rubric(criteria={}))
    assert str(refused.value) == (
        "a checklist judge needs criteria to ask about; the rubric has none; give it at least one "
        "under 'criteria', as name: definition."
    )


def test_choices_go_before_what_was_given_which_stays_as_it_was():
    given = DirectConfig(samples=3, temperature=0.5)
    own = own_protocol(DirectConfig, given, {"samples": 5})
    assert (own.samples, own.temperature, given.samples) == (5, 0.5, 3)
    assert own_protocol(DirectConfig, None, {}) == DirectConfig()


@pytest.mark.no_cover
def test_features_that_nobody_counts_are_refused():
    weights = Aggregation(
        kind="linear", terms=("lexical:nonsense",), centers=(0.0,), spreads=(1.0,), weights=(1.0,)
    )
    with pytest.raises(ValueError, match="does not count: nonsense"):
        chosen(DirectConfig(), {"aggregation": weights}, kind=DirectConfig)


def test_fields_that_are_told_with_each_item_stay():
    fields = list(without_untold(ScoreOne, {"criterion": "wit: Funny?"}).input_fields)
    assert fields == ["criterion", "source", "context", "response"]
    assert "level" in without_untold(WriteEnd, {"criterion": "wit: Funny?"}).input_fields


# front


def estimate(value):
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 40}


def member(number, judge, *, model="openai/m", calls=1.0, q=1.0, knee=False, **picked):
    return FrontMember(
        number=number,
        picked=picked,
        model=model,
        calls=calls,
        values={"q": estimate(q), "-calls": {"value": -calls, "low": None, "high": None}},
        knee=knee,
        agreement={"selection": {"dataset": {"q": estimate(q)}}},
        protocol=judge.protocol,
        questions=judge.templates(),
    )


@pytest.fixture
def saved():
    fine, vanilla = ActiveCritic(), ActiveCritic(variant="vanilla")
    return SavedJudge(
        protocol=fine.protocol,
        questions=fine.templates(),
        model="openai/m",
        target="overall",
        human_scale=Scale(low=1, high=5),
        agreement={"heldout": {"dataset": {"q": estimate(1.2)}}, "gain": None},
        rows={"train": 3},
        seen={"train": ("ab",)},
        settings={"run": "0123456789ab", "complete": True},
        front=(
            member(0, vanilla, model="openai/small", q=0.5),
            member(7, fine, calls=2.0, q=1.2, knee=True, variant="fine"),
        ),
    )


def test_a_front_comes_back_from_its_folder_and_is_on_the_card(saved, tmp_path):
    folder = saved.save(tmp_path / "judge")
    again = SavedJudge.load(folder)
    assert again == saved
    assert again.fingerprint == saved.fingerprint
    card = (folder / "README.md").read_text()
    assert "| 0 | 0.500 [0.400, 0.600] | -1.000 | 1 | openai/small | baseline |" in card
    assert "| 7 (the knee, this judge) | 1.200 [1.100, 1.300] | -2.000 | 2 |" in card


def test_dollars_far_below_one_can_be_told_apart(saved):
    estimate = SavedEstimate(value=-0.000381, low=-0.00039, high=-0.00037, n=40)
    dollars = {"-usd": estimate}
    members = [one.model_copy(update={"values": dollars}) for one in saved.front]
    card = judge_card(saved.model_copy(update={"front": tuple(members)}))
    assert "| -0.000381 [-0.00039, -0.00037] |" in card


def test_a_judge_without_a_front_is_written_as_before(saved):
    alone = saved.model_copy(update={"front": ()})
    assert "front" not in alone.model_dump(mode="json")
    assert "Front" not in judge_card(alone)


def test_another_one_is_taken_whole_and_knows_no_agreement_on_rows_held_out(saved, tmp_path):
    other = taken(saved, 0)
    folder = other.save(tmp_path / "other")
    again = SavedJudge.load(folder)
    assert again.protocol.variant == "vanilla"
    assert (again.model, again.seen, again.rows) == ("openai/small", saved.seen, saved.rows)
    assert again.agreement.plain["heldout"] is None
    assert again.agreement.plain["selection"]["dataset"]["q"]["value"] == 0.5
    assert again.program().templates() == ActiveCritic(variant="vanilla").templates()
    assert "0 (this judge)" in judge_card(again)
    assert any(line.startswith("protocol.variant") for line in difference(saved, again))


def test_a_run_is_not_mistaken_for_that_of_a_judge_taken_from_it(saved):
    assert taken(saved, 0).settings["run"] == "0123456789ab, number 0"
    back = taken(taken(saved, 0), 7)
    assert back.settings["run"] == "0123456789ab, number 7"
    assert back.protocol == saved.protocol
    assert back.agreement.plain["heldout"] is None


def test_the_judge_itself_is_taken_as_it_is(saved):
    assert taken(saved, 7) is saved
    assert taken(taken(saved, 0), 0).settings["run"] == "0123456789ab, number 0"


def test_what_is_not_on_the_front_is_refused(saved):
    with pytest.raises(ValueError, match="the front holds number 0, 7; got 3"):
        taken(saved, 3)
    with pytest.raises(ValueError, match="has no front to take from"):
        taken(saved.model_copy(update={"front": ()}), 0)


def test_a_front_that_asks_what_it_cannot_read_is_refused(saved):
    whole = json.loads(json.dumps(saved.model_dump(mode="json")))
    whole["front"][0]["questions"] = whole["front"][1]["questions"]
    with pytest.raises(ValueError, match="the protocol asks grade"):
        SavedJudge.model_validate(whole)
    whole = json.loads(json.dumps(saved.model_dump(mode="json")))
    whole["front"][0]["values"] = {"q": "much"}
    with pytest.raises(ValueError, match="valid dictionary or instance of SavedEstimate"):
        SavedJudge.model_validate(whole)


def test_what_a_configuration_is_called_cannot_leave_its_line(saved):
    one = saved.front[0].model_copy(update={"picked": {"variant": "a|b\n# c\x1b[2J"}})
    card = judge_card(saved.model_copy(update={"front": (one,)}))
    assert "variant a/b\\n# c\\x1b[2J |" in card


# Calls are sampled as the protocol says, as far as the model takes it; settings are made once.

FEW = ProbabilitiesOf(field="better", answers=("first", "second"), top=5)
MANY = ProbabilitiesOf(field="score", answers=tuple(map(str, range(101))))


def test_settings_are_those_of_the_protocol():
    protocol = Sampling(temperature=0.5, max_tokens=64)
    lm = model("offline", ledger=None)
    assert call_config(protocol, lm) == {"temperature": 0.5, "max_tokens": 64}
    assert call_config(Sampling(), lm) == {"temperature": 0.0}


def test_a_model_that_refuses_a_temperature_is_sent_none():
    for lm in (model("openai/gpt-5", ledger=None), dspy.LM("openai/o3")):
        assert call_config(Sampling(), lm) == {}
        assert call_config(Sampling(max_tokens=99), lm) == {"max_completion_tokens": 99}
    for lm in (model("openai/gpt-4o-mini", ledger=None), dspy.LM("openai/gpt-4o-mini")):
        assert call_config(Sampling(), lm) == {"temperature": 0.0}


def test_a_model_that_was_made_without_a_temperature_is_sent_none():
    lm = model("openai/gpt-4o-mini", ledger=None, temperature=None)
    assert call_config(Sampling(), lm) == {}


def test_alternatives_are_asked_for_where_probabilities_are_wanted_alone():
    lm = model("openai/gpt-4o-mini", ledger=None)
    assert probability_config(None, lm) == {}
    assert probability_config(MANY, lm) == {"logprobs": True, "top_logprobs": 20}
    lm = model("openai/gpt-4o-mini", ledger=None, top_logprobs=7)
    assert probability_config(MANY, lm) == {"logprobs": True, "top_logprobs": 7}


def test_a_model_that_is_a_function_is_asked_for_all_answers():
    lm = model("offline", ledger=None)
    assert probability_config(MANY, lm)["top_logprobs"] == 101
    assert probability_config(FEW, lm)["top_logprobs"] == 5


@pytest.mark.parametrize("wanted", [None, FEW, MANY])
@pytest.mark.parametrize("temperature", [None, 0.7])
def test_settings_are_made_once_for_each_kind_of_call(temperature, wanted):
    settings = CallSettings(Sampling(temperature=0.2), model("offline", ledger=None))
    found = settings.of(temperature, wanted)
    assert found.temperature == (0.2 if temperature is None else temperature)
    assert found.logprobs == {None: None, FEW: 5, MANY: 101}[wanted]
    assert settings.of(temperature, wanted) is found


def test_later_changes_of_the_model_do_not_reach_the_settings_that_are_known():
    lm = model("openai/gpt-4o-mini", ledger=None)
    settings = CallSettings(Sampling(temperature=0.2, max_tokens=64), lm)
    lm.kwargs["temperature"] = None
    assert (settings.of(None).temperature, settings.of(None).max_tokens) == (0.2, 64)


# costs

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


def test_a_judgement_costs_what_its_answers_do_also_when_they_are_on_record(tmp_path):
    for _ in range(2):
        lm = lm_of(tmp_path)
        found = score_batch(ActiveCritic(variant="vanilla"), ITEMS, lm=lm)
        assert usd_of(found, lm) == pytest.approx((11e-6,) * 3)


def test_every_call_counts(tmp_path):
    lm = lm_of(tmp_path)
    twice = ActiveCritic(variant="vanilla", samples=2, temperature=0.7)
    assert usd_of(score_batch(twice, ITEMS, lm=lm), lm) == pytest.approx((22e-6,) * 3)


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


# The card says what a compiled judge is, and claims nothing that was not measured.


def saved_card(judge, **parts):
    given = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
    }
    return SavedJudge(**{**given, **parts})


def estimates(value):
    return {"dataset": {"q": {"value": value, "low": value - 0.1, "high": value + 0.1}}}


def test_it_names_target_scale_model_and_criteria(judge_of):
    card = judge_card(saved_card(judge_of(shown="a")))
    assert "Judges `overall`, rated by people on 1..5;\nanswers on 0..100." in card
    assert "not a language model" in card
    assert "- **fluency**: Is it well written?" in card
    assert "- demonstrations in `overall`: 2" in card


def test_agreement_stands_in_a_table_with_its_intervals(judge_of):
    agreement = {"uncompiled": estimates(1.0), "selection": None, "heldout": estimates(1.5)}
    card = judge_card(saved_card(judge_of(), agreement=agreement, rows={"train": 3, "heldout": 4}))
    assert "| level | statistic | uncompiled | heldout |" in card
    assert "| dataset | q | 1.000 [0.900, 1.100] | 1.500 [1.400, 1.600] |" in card
    assert "Rows: 3 train, 4 heldout." in card
    assert "not used to choose" in card


def test_without_held_out_rows_nothing_is_claimed_of_them(judge_of):
    card = judge_card(saved_card(judge_of(), agreement={"selection": estimates(1.0)}))
    assert "not used to choose" not in card
    assert "Rows:" not in card
    assert "No rows were kept for a report." in judge_card(saved_card(judge_of()))


@pytest.mark.parametrize(
    ("choices", "lines"),
    [
        ({}, ["- variant: fine", "- score: the model's own overall score"]),
        (
            {"criteria_calls": "separate", "overall": "mean", "explain": "after"},
            [
                "- variant: fine, every criterion in a call of its own, no overall question, "
                "explanations last",
                "- score: the mean of the criteria",
            ],
        ),
        ({"variant": "coarse", "explain": "none"}, ["- variant: coarse, no explanations"]),
        ({"variant": "vanilla"}, ["- variant: vanilla"]),
    ],
)
def test_the_variant_is_told_with_its_choices(judge_of, choices, lines):
    card = judge_card(saved_card(judge_of(**choices))).split("\n")
    assert [line for line in lines if line not in card] == []


def test_a_judge_without_a_task_says_so(judge_of, rubric):
    card = judge_card(saved_card(judge_of(rubric=rubric.model_copy(update={"task": ""}))))
    assert "- task: not described" in card


def test_text_of_several_lines_stays_in_its_place(judge_of):
    card = judge_card(saved_card(judge_of()))
    assert "- task: Judge a summary. It was written for a newspaper." in card


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (None, "undefined"),
        ({"value": None}, "undefined"),
        ({"value": 0.5, "low": None, "high": None}, "0.500"),
        ({"value": -0.5, "low": -1.0, "high": 0.25}, "-0.500 [-1.000, 0.250]"),
    ],
)
def test_an_estimate_is_shown_with_what_is_known_of_it(estimate, text):
    assert agreement_text(estimate) == text


def test_the_strongest_learned_weights_come_first():
    n = 10
    learned = Aggregation(
        kind="linear",
        terms=[f"lexical:{place}" for place in range(n)],
        centers=[0] * n,
        spreads=[1] * n,
        weights=[(-1) ** place * place for place in range(n)],
    )
    text = aggregation_text(learned)
    assert text.startswith("learned weights per standard deviation: -9.000 lexical:9, +8.000 lex")
    assert text.endswith("and 2 more")
    assert aggregation_text(Aggregation()) == "the model's own overall score"
    assert aggregation_text(Aggregation(kind="mean")) == "the mean of the criteria"


def test_criteria_that_people_rated_have_a_table_of_their_own(judge_of):
    def pearson(value):
        return {"dataset": {"pearson": {"value": value, "low": 0.0, "high": 1.0, "n": 7}}}

    agreement = {
        "criteria": {
            "uncompiled": {"flu|ency": pearson(0.25)},
            "heldout": {"flu|ency": pearson(0.5), "tone": pearson(None), "wit": None},
        }
    }
    card = judge_card(saved_card(judge_of(), agreement=agreement))
    assert "| flu/ency | 7 | 0.250 [0.000, 1.000] | 0.500 [0.000, 1.000] |" in card
    assert "| tone | 7 | undefined | undefined |" in card
    assert "| wit | 0 | undefined | undefined |" in card


def test_the_judge_it_started_from_is_named(judge_of):
    card = judge_card(saved_card(judge_of(), settings={"earlier": "0123456789ab"}))
    assert "- started from the judge with the fingerprint `0123456789ab`" in card


def test_an_inferred_rubric_says_from_what(judge_of, rubric):
    batches = [{"rows": {"a": "row 1", "b": "row 2"}}, {"rows": {"b": "row 2", "c": "row 3"}}]
    learned = {"task": {"batches": [1]}, "criteria": {"fluency": {"batches": [1, 2]}}}
    whole = rubric.model_copy(update={"provenance": {**learned, "batches": batches}})
    card = judge_card(saved_card(judge_of(), protocol=ActiveCriticConfig(rubric=whole)))
    assert "- task and criteria inferred from 3 rated rows in 2 batches" in card
    half = {"task": {"batches": [1]}, "criteria": {"fluency": "general"}, "batches": batches}
    whole = rubric.model_copy(update={"provenance": half})
    assert "- task inferred from 3" in judge_card(
        saved_card(judge_of(), protocol=ActiveCriticConfig(rubric=whole))
    )


@pytest.mark.parametrize("odd", [{"batches": 3}, {"task": {"batches": [1]}, "batches": "two"}, {}])
def test_a_rubric_that_people_wrote_says_nothing_of_it(judge_of, rubric, odd):
    whole = rubric.model_copy(update={"provenance": odd})
    card = judge_card(saved_card(judge_of(), protocol=ActiveCriticConfig(rubric=whole)))
    assert "inferred" not in card


def test_an_inferred_rubric_that_was_edited_says_so(judge_of, rubric):
    learned = {"task": {"batches": [1]}, "batches": [{"rows": {"a": "row 1"}}]}
    marked = rubric.model_copy(update={"provenance": {**learned, "mark": rubric_mark(rubric)}})
    card = judge_card(saved_card(judge_of(), protocol=ActiveCriticConfig(rubric=marked)))
    assert "task inferred from 1 rated rows in 1 batches;" in card
    edited = marked.model_copy(update={"task": "Judge something else."})
    card = judge_card(saved_card(judge_of(), protocol=ActiveCriticConfig(rubric=edited)))
    assert "task inferred from 1 rated rows in 1 batches and edited since;" in card


def test_what_the_ends_of_a_criterion_mean_is_shown(judge_of):
    ends = {"definition": "Does it help?", "worst": "of no use", "best": "all one needs"}
    rubric = Rubric(task="Judge it.", criteria={"use": ends})
    card = judge_card(saved_card(judge_of(), protocol=ActiveCriticConfig(rubric=rubric)))
    assert "- **use**: Does it help? (0 means: of no use; 100 means: all one needs)" in card


def test_how_answers_become_numbers_is_shown_where_it_is_not_usual(judge_of):
    assert "by probability" not in judge_card(saved_card(judge_of()))
    weighed = judge_of(weighting="probabilities").protocol
    card = judge_card(saved_card(judge_of(weighting="probabilities"), protocol=weighed))
    assert "- its numbers are means of all that the model might have answered" in card
    several = judge_of(samples=3, reduction="median").protocol
    card = judge_card(saved_card(judge_of(samples=3), protocol=several))
    assert "- every question is asked 3 times: the median counts" in card


def test_a_search_says_which_choices_told_judges_apart(judge_of):
    shares = {"answers": 0.61, "variant": 0.39, "odd": "none"}
    history = ({"stage": "importances", "objective": "q", "shares": shares}, {"stage": "protocol"})
    card = judge_card(saved_card(judge_of(), history=history))
    assert "apart by q, by PED-ANOVA: answers 61%, variant 39%\n" in card
