"""A judge behaves as DSPy users expect of a module, and is one value all the same."""

import json

import dspy
import pytest
from dspy.utils.callback import BaseCallback

from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig, Rubric

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
