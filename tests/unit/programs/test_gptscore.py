"""A judge by likelihood: hand-computed scores, and endpoints that can tell or cannot."""

from math import exp

import dspy
import loopback_completions
import pytest
from scripted_steps import scripted

from judgesmith.programs import ActiveCritic, SavedJudge, load_judge, score_batch
from judgesmith.programs.families.gptscore import GPTScoreConfig, gptscore_steps
from judgesmith.programs.families.modules import GPTScoreJudge
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.lm import ModelAnswer, ModelError, TokenLogprob, lm_client_of, model
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.judgement import Cause, Reason

TWO = Rubric(task="Write a notice.", criteria={"brevity": "Is it short?", "wit": "Is it funny?"})
ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
OTHER = RatedItem(source="The bridge opened on Monday.", response="It did.")
# "It", " ", "opened", " ", "on", " ", "Monday." at a tenth of their length each: 20 letters of 7
MEAN = -2.0 / 7


def judged(protocol, *answers, response="r"):
    """Return the judgement that a judge makes of these answers, and what it asked."""
    steps = gptscore_steps(protocol, source="s", response=response)
    judgement, asked = scripted(steps, answers)
    return judgement, [one.predictor for one in asked]


def likely(*logprobs):
    return ModelReply(fields={"logprobs": logprobs})


class TestScores:
    def test_are_the_geometric_mean_of_the_tokens_probabilities(self):
        judgement, asked = judged(GPTScoreConfig(), likely(-0.1, -0.2, -0.6))
        assert judgement.score == judgement.raw == pytest.approx(100 * exp(-0.3))
        assert judgement.explanation == "mean log-probability -0.3000 of 3 tokens"
        assert asked == ["likely"]

    def test_are_the_mean_over_the_criteria(self):
        protocol = GPTScoreConfig(asks="criteria", rubric=TWO)
        judgement, asked = judged(protocol, likely(-1.0), likely(-2.0, -3.0))
        brevity, wit = (one.score for one in judgement.criteria.values())
        assert (brevity, wit) == (pytest.approx(100 * exp(-1)), pytest.approx(100 * exp(-2.5)))
        assert judgement.score == pytest.approx((brevity + wit) / 2)
        assert asked == ["likely_1", "likely_2"]

    def test_what_cannot_be_is_worth_nothing_and_is_a_number(self):
        judgement, _ = judged(GPTScoreConfig(), likely(-9999.0))
        assert judgement.score == 0

    def test_an_empty_response_has_none_and_nothing_is_asked(self):
        with pytest.raises(StopIteration) as end:
            next(gptscore_steps(GPTScoreConfig(), source="s", response=""))
        assert "no tokens" in end.value.value.problem

    def test_a_criterion_without_leaves_the_text_without_a_score(self):
        protocol = GPTScoreConfig(asks="criteria", rubric=TWO)
        lost = ModelReply(cause=Cause(Reason.TOO_LONG, "it is too long"), final=True)
        judgement, _ = judged(protocol, lost, likely(-1.0))
        assert judgement.score is None
        assert "brevity: it is too long" in judgement.problem


class TestTheJudge:
    @pytest.mark.parametrize("asks", ["overall", "criteria"])
    def test_both_ways_to_ask_give_the_same_judgement(self, asks):
        judge = GPTScoreJudge(asks=asks, rubric=TWO)
        (fast,) = score_batch(judge, [ITEM])
        slow = judge(source=ITEM.source, response=ITEM.response, context=None)
        assert fast.problem is None
        assert (fast.score, fast.calls) == (slow.score, slow.calls)

    def test_what_is_saved_is_loaded(self, tmp_path):
        judge = GPTScoreJudge(rubric=TWO)
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
        assert load_judge(tmp_path / "judge").templates() == judge.templates()
        assert score_batch(again, [ITEM]) == score_batch(judge, [ITEM])

    def test_every_configuration_of_its_space_is_a_judge(self):
        judge = GPTScoreJudge(rubric=TWO)
        found = [judge.with_choices(one).protocol for one in judge.space().configurations()]
        assert len({one.fingerprint for one in found}) == len(found) == judge.space().size

    @pytest.mark.parametrize(
        ("choices", "message"),
        [
            ({"asks": "criteria", "rubric": Rubric(task="t")}, "the rubric has none"),
            ({"samples": 3}, "samples"),
            ({"instructions": {"likely": "Write."}}, "instructions for likely"),
        ],
    )
    def test_what_makes_no_such_judge_is_refused(self, choices, message):
        with pytest.raises(ValueError, match=message):
            GPTScoreJudge(**choices)

    def test_a_protocol_of_another_family_is_refused(self):
        with pytest.raises(ValueError, match="expected a gptscore configuration"):
            GPTScoreJudge(ActiveCritic().protocol)

    def test_the_prompt_ends_where_the_response_begins(self, offline):
        lm, asked = offline
        score_batch(GPTScoreJudge(rubric=TWO), [ITEM], lm=lm)
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

    def test_a_model_that_can_is_asked_for_each_text_once(self, scripted):
        lm, engine = scripted(lambda request: "")
        engine.scores_texts = True
        engine.answer = lambda request: ModelAnswer(
            text="", logprobs=(TokenLogprob("r", -1.0), TokenLogprob("s", -2.0))
        )
        (found,) = score_batch(GPTScoreJudge(), [ITEM], lm=lm)
        assert found.score == pytest.approx(100 * exp(-1.5))


@pytest.fixture(scope="module")
def running():
    with loopback_completions.serving() as server:
        yield server


@pytest.fixture
def lm(running):
    running.reset()
    made = model("openai/m", api_base=running.url, ledger=None)
    yield made
    lm_client_of(made).engine.close()


class TestAtAServer:
    @pytest.mark.parametrize("way", ["echo", "marked"])
    def test_that_echoes_a_text_is_scored_by_its_tokens_alone(self, running, lm, way):
        running.script({"completions": way})
        first, second = score_batch(GPTScoreJudge(), [ITEM, OTHER], lm=lm)
        with dspy.context(lm=lm):
            same = GPTScoreJudge()(source=ITEM.source, response=ITEM.response)
        assert first.score == same.score == pytest.approx(100 * exp(MEAN))
        assert first.explanation == "mean log-probability -0.2857 of 7 tokens"
        assert second.score == pytest.approx(100 * exp(-0.7 / 3))
        # one about the endpoint, one for each text, and one again by the other way
        assert running.counts()["requests"] == 4

    def test_nothing_is_asked_again_that_is_on_record(self, running, tmp_path):
        running.reset()
        running.script({"completions": "echo"})
        for _ in range(2):
            lm = model("openai/m", api_base=running.url, ledger=tmp_path / "ledger.sqlite")
            (found,) = score_batch(GPTScoreJudge(), [ITEM], lm=lm)
            assert found.score == pytest.approx(100 * exp(MEAN))
        assert running.counts()["requests"] == 2

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
        self, running, lm, way, said
    ):
        running.script(way)
        with pytest.raises(ModelError, match=said) as fault:
            score_batch(GPTScoreJudge(), [ITEM, OTHER] * 5, lm=lm)
        assert "openai/m gives no log-probabilities of a text that it is shown" in str(fault.value)
        assert running.counts()["requests"] <= 1
        with pytest.raises(ModelError, match=said), dspy.context(lm=lm):
            GPTScoreJudge()(source="s", response="r")
