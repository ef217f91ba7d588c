"""Judges by token probabilities or samples: G-Eval and GPTScore."""

from math import exp, log

import dspy
import loopback
import loopback_completions
import numpy as np
import pytest
from exporting import saved_judge
from looping import for_each
from scripted_steps import program_of, scripted

import judgesmith
from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs import ActiveCritic, SavedJudge, load_judge, score_batch
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, with_sampling
from judgesmith.programs.families.modules import GEvalJudge, GPTScoreJudge, PairwiseJudge
from judgesmith.programs.families.pointwise import (
    GENERAL_STEPS,
    GEvalConfig,
    GPTScoreConfig,
)
from judgesmith.programs.families.samples_apart import judged_samples
from judgesmith.programs.judging.ask_once import STEPS
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.judging.logprobs import AnswerProbabilities
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.lm import ModelError, lm_client_of, model
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.judgement import Cause, Reason

# A judge with evaluation steps: written once, the same for every text, weighed by probability.

TWO = Rubric(task="Judge a notice.", criteria={"brevity": "Is it short?", "wit": "Is it funny?"})
ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
OTHER = RatedItem(source="The bridge opened on Monday.", response="Bridge bridge.")
NONE = AnswerProbabilities.none("the endpoint gave no log-probabilities")


def judged(protocol, *answers):
    """Return the judgement that a judge makes of these answers, and what it asked."""
    steps = program_of(protocol, source="s", response="r")
    judgement, asked = scripted(steps, answers)
    return judgement, [(one.predictor, one.sample) for one in asked]


def given(score, mass=1.0, **chances):
    """Return a reply with a stated score and the probabilities of levels, as ``p3=0.5``."""
    values = {level: chances.get(f"p{level}", 0.0) for level in "12345"}
    found = AnswerProbabilities(mode="probabilities", values=values, mass=mass)
    return ModelReply(fields={"score": score}, probabilities={"score": found})


def stated(score):
    return ModelReply(fields={"score": score}, probabilities={"score": NONE})


SEVERAL = {"samples": 3, "temperature": 1}


WHOLE = GEvalConfig(asks="overall")


NO_LISTS = "the endpoint gave no log-probabilities"


LINEAR = {
    "kind": "linear",
    "terms": ["criterion:brevity"],
    "weights": [2.0],
    "centers": [0.0],
    "spreads": [100.0],
    "intercept": 1,
    "scale": "1..5",
}


def how_of(weighting):
    """Return how numbers came about: mode, samples, stated number, mass and reason."""
    return {
        name: (how.mode, how.n, how.stated, how.mass, how.reason) for name, how in weighting.items()
    }


@for_each(
    ("choices", "replies", "score", "how"),
    [
        # 3 with .3, 4 with .5, 5 with .1 of .9 listed: 3.4 / .9 points, from 1 to 5
        (
            {},
            [given(4, mass=0.9, p3=0.3 / 0.9, p4=0.5 / 0.9, p5=0.1 / 0.9)],
            100 * (3.4 / 0.9 - 1) / 4,
            ("probabilities", 0, 75, 0.9, ""),
        ),
        ({"samples": 20}, [given(3, p3=1)], 50, ("probabilities", 0, 50, 1, "")),
        (
            {"samples": 4, "temperature": 1},
            [stated(1), stated(2), stated(2), stated(4)],
            100 * (1.25 / 4),
            ("samples", 4, 31.25, 0, f"in 4 of 4 samples: {NO_LISTS}"),
        ),
        ({}, [stated(4)], 75, ("stated", 0, 75, 0, NO_LISTS)),
        # one answer with probabilities stands alone, whatever came before
        (
            {"samples": 5, "temperature": 1},
            [stated(1), given(4, mass=0.6, p4=0.5, p5=0.5), stated(2), stated(2), stated(2)],
            87.5,
            ("probabilities", 0, 75, 0.6, ""),
        ),
    ],
)
def test_the_score_of_the_whole_and_how_it_came_about(choices, replies, score, how):
    judgement, asked = judged(WHOLE.model_copy(update=choices), *replies)
    assert judgement.score == judgement.raw == pytest.approx(score)
    assert how_of(judgement.weighting) == {"overall": pytest.approx(how)}
    assert asked == [("follow", sample) for sample in range(len(replies))]


@pytest.mark.parametrize(
    ("choices", "replies", "score", "criteria", "modes", "asked"),
    [
        (
            {},
            [given(5, p5=1), given(2, p1=0.5, p2=0.5)],
            56.25,
            (100, 12.5),
            [("probabilities", 0)] * 2,
            "follow_1 follow_2",
        ),
        # only the criterion without probabilities is asked again
        (
            SEVERAL,
            [given(4, p4=1), stated(1), stated(3), stated(5)],
            62.5,
            (75, 50),
            [("probabilities", 0), ("samples", 3)],
            "follow_1 follow_2 follow_2 follow_2",
        ),
        # one with probabilities stands alone for its criterion, and in what was learned
        (
            {**SEVERAL, "aggregation": LINEAR},
            [stated(1), stated(1), given(5, p5=1), stated(3), stated(2), stated(5)],
            3,
            (100, 50),
            [("probabilities", 0), ("samples", 3)],
            "follow_1 follow_2 follow_1 follow_2 follow_1 follow_2",
        ),
    ],
    ids=["probabilities", "again", "learned"],
)
def test_the_scores_of_criteria(choices, replies, score, criteria, modes, asked):
    judgement, questions = judged(GEvalConfig(rubric=TWO, **choices), *replies)
    assert judgement.score == score
    assert tuple(one.score for one in judgement.criteria.values()) == criteria
    assert [(how.mode, how.n) for how in judgement.weighting.values()] == modes
    assert list(judgement.weighting) == ["criterion:brevity", "criterion:wit"]
    assert sorted(name for name, _ in questions) == sorted(asked.split())


def test_nothing_is_weighed_where_nothing_is_to_be():
    plain = [ModelReply(fields={"score": one}) for one in (2, 4)]
    judgement, asked = judged(WHOLE.model_copy(update={"weighting": "none", "samples": 2}), *plain)
    assert (judgement.score, dict(judgement.weighting), len(asked)) == (50, {}, 2)


def test_a_criterion_without_an_answer_leaves_the_text_without_a_score():
    broken = ModelReply(cause=Cause(Reason.UNREADABLE, "it broke off"))
    judgement, _ = judged(GEvalConfig(rubric=TWO), broken, given(3, p3=1), broken)
    assert judgement.score is None
    assert "brevity: it broke off" in judgement.problem


class TestSteps:
    def test_are_asked_for_once_for_each_criterion(self, offline):
        lm, asked = offline
        judge, problems = GEvalJudge(rubric=TWO).prepared(lm)
        assert (len(asked), problems) == (2, ())
        assert list(judge.protocol.steps) == ["brevity: Is it short?", "wit: Is it funny?"]
        assert judge.prepared(lm) == (judge, ())
        score_batch(judge, [ITEM, OTHER], lm=lm)
        assert len(asked) == 2 + 4

    def test_the_request_depends_on_task_and_criterion_alone(self, offline):
        lm, asked = offline
        for choices in ({}, {"answers": "0..100", "samples": 5, "temperature": 1}):
            GEvalJudge(rubric=TWO, **choices).prepared(lm)
        assert [one.user for one in asked[:2]] == [one.user for one in asked[2:]]
        assert asked[:2] == asked[2:]

    def test_given_ones_stay_and_stand_in_the_question(self, offline):
        lm, asked = offline
        own = GEvalJudge(rubric=TWO, steps={"brevity": ["Count.", "Compare."]})
        judge, _ = own.prepared(lm)
        assert len(asked) == 1
        assert "1. Count.\n2. Compare." in judge.templates()["follow_1"].as_text()
        assert judge.protocol.steps["brevity"] == ("Count.", "Compare.")

    def test_a_question_about_the_whole_shows_those_of_all_criteria(self):
        steps = {"brevity": ["Count."], "wit": ["Laugh."]}
        judge = GEvalJudge(rubric=TWO, asks="overall", steps=steps)
        text = judge.templates()["follow"].as_text()
        assert "For brevity:\n1. Count.\nFor wit:\n1. Laugh." in text

    @pytest.mark.parametrize("choices", [{}, {"plan": "general", "steps": {"wit": ["Laugh."]}}])
    def test_without_any_general_ones_are_shown(self, choices):
        text = GEvalJudge(rubric=TWO, **choices).templates()["follow_2"].as_text()
        assert f"1. {GENERAL_STEPS[0]}" in text
        assert "Laugh." not in text

    def test_unreadable_ones_are_asked_for_again_and_then_stood_in_for(self, scripted, answered):
        lm, engine = scripted(lambda _: answered(steps="[[ ## score ## ]] 5"))
        judge, problems = GEvalJudge(rubric=TWO).prepared(lm)
        assert len(engine.requests) == 4
        assert judge.protocol.steps == {}
        assert "brevity is judged by general steps" in problems[0]

    def test_none_are_asked_for_where_general_ones_are_shown(self, offline):
        lm, asked = offline
        judge = GEvalJudge(rubric=TWO, plan="general")
        assert judge.prepared(lm) == (judge, ())
        assert len(asked) == judge.as_if_prepared()[1] == 0

    def test_the_calls_for_them_are_known_before(self, offline):
        lm, asked = offline
        other = Rubric(criteria={"wit": "Does it make one laugh?", "brevity": "Is it short?"})
        judge = GEvalJudge(rubric=TWO, steps={"brevity": ["Count."]})
        _, n = judge.as_if_prepared([other, TWO])
        prepared, _ = judge.prepared(lm, rubrics=[other, TWO])
        assert (len(asked), prepared.as_if_prepared([other, TWO])[1]) == (n, 0) == (2, 0)

    def test_one_answer_that_cannot_be_read_is_not_the_last(self, scripted, answered):
        lm, _ = scripted(lambda request: answered(steps="1. Look." if request.sample else "\n"))
        assert STEPS.written(lm, task="", criterion="wit: Funny?") == ("Look.",)

    @for_each("text", ["", "\n \n", "x" * 601, "\n".join("abcdefghijklmn"), "<verbatim-0>"])
    def test_what_could_not_stand_in_a_question_is_refused(self, text):
        with pytest.raises(ValueError, match="step"):
            STEPS.read(text)
        with pytest.raises(ValueError, match="step"):
            GEvalConfig(steps={"wit": (text,) if text else ()})


class TestTheJudge:
    def test_what_is_saved_is_loaded_and_asks_the_same(self, tmp_path):
        judge, _ = GEvalJudge(rubric=TWO).prepared()
        saved = saved_judge(judge)
        saved.save(tmp_path / "judge")
        again = SavedJudge.load(tmp_path / "judge")
        assert again == saved
        assert load_judge(tmp_path / "judge").templates() == judge.templates()
        assert score_batch(again, [ITEM]) == score_batch(judge, [ITEM])
        card = judge_card(saved)
        for name, (first, *_) in zip(TWO.names, judge.protocol.steps.values(), strict=True):
            assert f"  - {name}:\n    1. {first}\n" in card


def test_a_step_is_one_line_of_the_card_whatever_it_says():
    step = "Look\u202e at \x1b[2J `this` | <b>that</b> \U0001f642."
    judge = GEvalJudge(rubric=TWO, steps={"brevity": [step]})
    (line,) = (one for one in judge_card(saved_judge(judge)).split("\n") if "Look" in one)
    assert line == "    1. Look\\u202e at \\x1b[2J `this` | <b>that</b> \U0001f642."


@pytest.mark.no_cover
def test_a_compiled_judge_keeps_the_lines_of_its_own_criteria_alone():
    for family, part in (("g-eval", "steps"), ("checklist", "questions")):
        settings = CompileSettings(judge=family, optimizer="none", criteria="inferred")
        protocol = compile_judge(read_items("sample").subset(range(40)), settings).saved.protocol
        kept = [key.partition(":")[0] for key in getattr(protocol, part)]
        assert sorted(kept) == sorted(protocol.rubric.names)


HEADER, END = "[[ ## score ## ]]\n", "\n\n[[ ## completed ## ]]\n"


@pytest.fixture(scope="module")
def running_g_eval():
    with loopback.serving(answer=f"{HEADER}4{END}") as server:
        yield server


class TestAtAServer:
    @pytest.fixture
    def lm(self, running_g_eval):
        running_g_eval.reset()
        made = model("openai/m", api_base=running_g_eval.url, ledger=None)
        yield made
        lm_client_of(made).engine.close()

    def judged(self, lm):
        judge = GEvalJudge(asks="overall", samples=3, temperature=1)
        (found,) = score_batch(judge, [ITEM], lm=lm)
        with dspy.context(lm=lm):
            same = judge(source=ITEM.source, response=ITEM.response)
        assert (same.score, same.weighting) == (found.score, dict(found.weighting))
        return found

    def test_with_log_probabilities_one_call_is_enough(self, running_g_eval, lm):
        tokens = [{HEADER: 0.0}, {"4": log(0.6), "5": log(0.2), "x": log(0.2)}, {END: 0.0}]
        running_g_eval.script(
            {"contains": "top_logprobs", "answer": f"{HEADER}4{END}", "tokens": tokens}
        )
        found = self.judged(lm)
        assert found.score == pytest.approx((0.6 * 75 + 0.2 * 100) / 0.8)
        assert found.weighting["overall"].mode == "probabilities"
        assert running_g_eval.counts()["requests"] == 2  # one for each way


# A judge by likelihood: hand-computed scores, and endpoints that can tell or cannot.

TWO_GPTSCORE = Rubric(
    task="Write a notice.", criteria={"brevity": "Is it short?", "wit": "Is it funny?"}
)
OTHER_GPTSCORE = RatedItem(source="The bridge opened on Monday.", response="It did.")

# "It", " ", "opened", " ", "on", " ", "Monday." at a tenth of their length each: 20 letters of 7
MEAN = -2.0 / 7


def judged_gptscore(protocol, *answers, response="r"):
    """Return the judgement that a judge makes of these answers, and what it asked."""
    steps = program_of(protocol, source="s", response=response)
    judgement, asked = scripted(steps, answers)
    return judgement, [one.predictor for one in asked]


def likely(*logprobs):
    return ModelReply(fields={"logprobs": logprobs})


class TestScoresGptscore:
    def test_are_the_geometric_mean_of_the_tokens_probabilities(self):
        judgement, asked = judged_gptscore(GPTScoreConfig(), likely(-0.1, -0.2, -0.6))
        assert judgement.score == judgement.raw == pytest.approx(100 * exp(-0.3))
        assert judgement.explanation == "mean log-probability -0.3000 of 3 tokens"
        assert asked == ["likely"]

    def test_are_the_mean_over_the_criteria(self):
        protocol = GPTScoreConfig(asks="criteria", rubric=TWO_GPTSCORE)
        judgement, asked = judged_gptscore(protocol, likely(-1.0), likely(-2.0, -3.0))
        brevity, wit = (one.score for one in judgement.criteria.values())
        assert (brevity, wit) == (pytest.approx(100 * exp(-1)), pytest.approx(100 * exp(-2.5)))
        assert judgement.score == pytest.approx((brevity + wit) / 2)
        assert asked == ["likely_1", "likely_2"]

    def test_what_cannot_be_is_worth_nothing_and_is_a_number(self):
        judgement, _ = judged_gptscore(GPTScoreConfig(), likely(-9999.0))
        assert judgement.score == 0

    def test_an_empty_response_has_none_and_nothing_is_asked(self):
        with pytest.raises(StopIteration) as end:
            next(program_of(GPTScoreConfig(), source="s", response=""))
        assert "no tokens" in end.value.value.problem

    def test_a_criterion_without_leaves_the_text_without_a_score(self):
        protocol = GPTScoreConfig(asks="criteria", rubric=TWO_GPTSCORE)
        lost = ModelReply(cause=Cause(Reason.TOO_LONG, "it is too long"), final=True)
        judgement, _ = judged_gptscore(protocol, lost, likely(-1.0))
        assert judgement.score is None
        assert "brevity: it is too long" in judgement.problem


class TestTheJudgeGptscore:
    def test_the_prompt_ends_where_the_response_begins(self, offline):
        lm, asked = offline
        score_batch(GPTScoreJudge(rubric=TWO_GPTSCORE), [ITEM], lm=lm)
        (request,) = asked
        assert request.as_prompt.endswith("\n\nThe piece itself:\n")
        assert request.continuation == ITEM.response
        assert ITEM.response not in request.as_prompt

    @pytest.mark.no_cover
    def test_hostile_texts_are_scored_between_fences(self, hostile):
        (found,) = score_batch(GPTScoreJudge(), [RatedItem(source=hostile, response=hostile)])
        assert (found.score is None) == (hostile == "" or "\ud800" in hostile)


class TestModelsThatCannotTell:
    def test_one_that_only_answers_is_refused_before_anything_is_asked(self, scripted):
        lm, engine = scripted(lambda request: "[[ ## score ## ]]\n5")
        with pytest.raises(ModelError, match=r"scripted/m gives no log-probabilities of a text"):
            score_batch(GPTScoreJudge(), [ITEM], lm=lm)
        assert engine.requests == []

    @pytest.mark.parametrize("name", ["anthropic/m", "groq/m"])
    def test_so_is_a_provider_without_such_a_call(self, name):
        lm = model(name, ledger=None)
        with pytest.raises(ModelError, match="no such call"), dspy.context(lm=lm):
            GPTScoreJudge()(source="s", response="r")

    def test_so_is_a_model_that_is_not_ours(self):
        lm = dspy.utils.DummyLM([{"score": "70"}])
        with pytest.raises(ModelError, match=r"not made by judgesmith\.model"):
            score_batch(GPTScoreJudge(), [ITEM], lm=lm)

    def test_tokens_that_do_not_spell_the_text_leave_it_unscored(self, scripted):
        lm, engine = scripted(lambda request: "")
        engine.scores_texts = True
        (found,) = score_batch(GPTScoreJudge(), [ITEM], lm=lm)
        assert found.score is None
        assert "do not spell" in found.problem


@pytest.fixture(scope="module")
def running_gptscore():
    with loopback_completions.serving() as server:
        yield server


@pytest.fixture
def lm_gptscore(running_gptscore):
    running_gptscore.reset()
    made = model("openai/m", api_base=running_gptscore.url, ledger=None)
    yield made
    lm_client_of(made).engine.close()


class TestAtAServerGptscore:
    @pytest.mark.parametrize("way", ["echo", "marked"])
    def test_that_echoes_a_text_is_scored_by_its_tokens_alone(
        self, running_gptscore, lm_gptscore, way
    ):
        running_gptscore.script({"completions": way})
        first, second = score_batch(GPTScoreJudge(), [ITEM, OTHER_GPTSCORE], lm=lm_gptscore)
        with dspy.context(lm=lm_gptscore):
            same = GPTScoreJudge()(source=ITEM.source, response=ITEM.response)
        assert first.score == same.score == pytest.approx(100 * exp(MEAN))
        assert first.explanation == "mean log-probability -0.2857 of 7 tokens"
        assert second.score == pytest.approx(100 * exp(-0.7 / 3))
        # one about the endpoint, one for each text, and one again by the other way
        assert running_gptscore.counts()["requests"] == 4

    @pytest.mark.parametrize(
        ("way", "said"),
        [
            ({"completions": "silent"}, "leaves them out"),
            ({"completions": "unechoed"}, "does not echo the prompt"),
            ({}, "no such path"),
        ],
        ids=["silent", "unechoed", "no such path"],
    )
    def test_that_cannot_is_refused_in_a_sentence_before_anything_is_judged(
        self, running_gptscore, lm_gptscore, way, said
    ):
        running_gptscore.script(way)
        with pytest.raises(ModelError, match=said) as fault:
            score_batch(GPTScoreJudge(), [ITEM, OTHER_GPTSCORE] * 5, lm=lm_gptscore)
        assert "openai/m gives no log-probabilities of a text that it is shown" in str(fault.value)
        assert running_gptscore.counts()["requests"] <= 1
        with pytest.raises(ModelError, match=said), dspy.context(lm=lm_gptscore):
            GPTScoreJudge()(source="s", response="r")


# sampled judge


@pytest.fixture(scope="module")
def data():
    return judgesmith.read("sample").subset(range(40))


@pytest.fixture(scope="module")
def saved(data):
    settings = judgesmith.CompileSettings(criteria="given", optimizer="none", holdout=0)
    return judgesmith.compile(data, settings, lm=model(ledger=None)).saved


@pytest.fixture(scope="module")
def panel(saved):
    members = {"first": saved, "second": saved}
    weights = PanelWeights.equal({name: one.scale for name, one in members.items()})
    return SavedPanel(
        members=members, weights=weights, target=saved.target, human_scale=saved.human_scale
    )


def test_more_samples_are_asked_for_and_the_judge_stays_as_it_was(saved, data):
    other = with_sampling(saved, samples=3)
    lm = model(ledger=None)
    score_batch(other, data.items[:2], lm=lm)
    assert lm_client_of(lm).usage.calls == 2 * calls_per_item(other) == 6 * calls_per_item(saved)
    assert saved.protocol.samples == 1
    assert other.questions == saved.questions
    assert other.fingerprint != saved.fingerprint


def test_members_are_asked_as_often(panel):
    other = with_sampling(panel, samples=3, temperature=0.5)
    assert {one.protocol.samples for one in other.members.values()} == {3}
    assert {one.protocol.temperature for one in other.members.values()} == {0.5}
    assert calls_per_item(other) == 3 * calls_per_item(panel)


@pytest.mark.parametrize("samples", [0, -1, 1001])
def test_impossible_samples_are_refused(saved, samples):
    with pytest.raises(ValueError, match=f"samples are from 1 to 1000; got {samples}"):
        with_sampling(saved, samples=samples)


# samples apart

ITEMS = [
    RatedItem(source="The bridge opened on Monday.", response=text)
    for text in ("It opened on Monday.", "It closed in 1987.")
]


def asking(**choices):
    return ActiveCritic(variant="vanilla", answers="1..5", temperature=1.0, **choices)


def test_samples_are_those_that_the_judge_itself_would_take(tmp_path):
    lm = judgesmith.model("offline", ledger=tmp_path / "ledger.sqlite")
    together = score_batch(asking(samples=4), ITEMS, lm=lm)
    asked = lm_client_of(lm).spent.calls
    apart = judged_samples(asking(), ITEMS, 4, lm=lm)
    assert lm_client_of(lm).spent.calls == asked == 8
    means = [np.mean([one.score for one in several]) for several in apart]
    assert means == pytest.approx([one.score for one in together])


def test_a_budget_that_runs_out_leaves_texts_without_samples_and_says_so():
    lm = judgesmith.model("offline", ledger=None, max_calls=3)
    first, second = judged_samples(asking(), ITEMS, 3, lm=lm)
    assert [one.problem for one in first] == [None] * 3
    assert all(one.problem.startswith("not asked: ") for one in second)


@pytest.mark.parametrize(
    ("judge", "n", "message"),
    [
        (asking(), 0, "samples must be 1 or more"),
        (asking(samples=2), 3, "takes 2 samples"),
        (PairwiseJudge(), 3, "ranks the responses"),
    ],
)
def test_judges_that_cannot_be_sampled_are_refused(judge, n, message):
    with pytest.raises(ValueError, match=message):
        judged_samples(judge, ITEMS, n)
