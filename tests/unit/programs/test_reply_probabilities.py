"""Probabilities reach the steps of a judge by every way to a model, or the reason why not."""

import asyncio
from dataclasses import replace
from math import log
from typing import ClassVar

import dspy
import loopback
import pytest

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.program import (
    ProbabilitiesOf,
    PromptRequest,
    probabilities_in,
    refusal_of,
)
from judgesmith.programs.lm import ModelAnswer, ModelError, TokenLogprob, lm_client_of, model
from judgesmith.signatures import Judgement, RatedItem
from judgesmith.signatures.judgement import Assessment

ITEM = RatedItem(source="Ann left Rome.", response="Ann left.")
HEADER = "[[ ## score ## ]]\n"
END = "\n\n[[ ## completed ## ]]\n"
TOKENS = [
    {HEADER: 0.0},
    {"70": log(0.5), "80": log(0.3), " 70": log(0.1), "The": log(0.1)},
    {END: 0.0},
]
SCORED = {"answer": f"{HEADER}70{END}"}
EXPECTED = {"70": pytest.approx(0.6 / 0.9), "80": pytest.approx(0.3 / 0.9)}
WANTED = ProbabilitiesOf(field="score", answers=("60", "70", "80"), top=4)


class Asking(ActiveCritic):
    """Asks for a grade, with the probabilities of three answers, and keeps what came back."""

    replies: ClassVar = []

    def steps(self, *, source, response, context=None):
        texts = {"source": source, "context": context, "response": response}
        reply = yield PromptRequest(predictor="grade", inputs=texts, probabilities=WANTED)
        self.replies.append(reply)
        return Judgement.unscored(reply.cause.text if reply.cause else "kept")


def by_template(judge, lm):
    score_batch(judge, [ITEM], lm=lm)


def by_forward(judge, lm):
    with dspy.context(lm=lm):
        judge(source=ITEM.source, response=ITEM.response)


def by_aforward(judge, lm):
    async def run():
        with dspy.context(lm=lm):
            await judge.acall(source=ITEM.source, response=ITEM.response)
        await lm_client_of(lm).aclose()

    asyncio.run(run())


@pytest.fixture(params=[by_template, by_forward, by_aforward])
def reply_of(request):
    """Return what a model replies, by one way to it after another."""

    def reply(lm):
        Asking.replies.clear()
        request.param(Asking(variant="vanilla"), lm)
        (found,) = Asking.replies
        return found

    return reply


@pytest.fixture(scope="module")
def running():
    with loopback.serving(answer=SCORED["answer"]) as server:
        yield server


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def lm(server):
    made = model("openai/m", api_base=server.url, ledger=None)
    yield made
    lm_client_of(made).engine.close()


class TestServers:
    def test_one_with_log_probabilities(self, server, lm, reply_of):
        server.script({**SCORED, "tokens": TOKENS, "contains": '"top_logprobs":4'})
        reply = reply_of(lm)
        found = reply.probabilities["score"]
        assert {answer: p for answer, p in found.values.items() if p} == EXPECTED
        assert (found.mode, found.mass) == ("probabilities", pytest.approx(0.9))
        assert reply.fields["score"] == 70
        assert "logprobs" not in reply.fields

    def test_one_that_passes_over_the_wish(self, lm, reply_of):
        reply = reply_of(lm)
        assert reply.fields["score"] == 70
        assert reply.probabilities["score"].mode == "none"
        assert reply.probabilities["score"].reason == "the endpoint gave no log-probabilities"

    def test_one_that_refuses_is_asked_without_and_not_again(self, server, lm, reply_of):
        said = '{"error": {"message": "This model does not support logprobs."}}'
        server.script({"contains": "logprobs", "status": 400, "body": said})
        for n_requests in (2, 3):
            reply = reply_of(lm)
            assert reply.fields["score"] == 70
            reason = reply.probabilities["score"].reason
            assert reason.startswith("the endpoint refuses log-probabilities: openai/m")
            assert "does not support logprobs" in reason
            assert server.counts()["requests"] == n_requests

    def test_any_other_refusal_is_one(self, server, lm):
        server.script({"status": 400, "body": '{"error": {"message": "bad words"}}'})
        with pytest.raises(ModelError, match="bad words"):
            by_forward(Asking(variant="vanilla"), lm)
        (found,) = score_batch(Asking(variant="vanilla"), [ITEM], lm=lm)
        assert "bad words" in found.problem
        assert server.counts()["requests"] == 2

    def test_nothing_is_asked_for_that_is_not_wanted(self, server, lm):
        score_batch(ActiveCritic(variant="vanilla"), [ITEM], lm=lm)
        assert "logprobs" not in server.counts()["recent"][0]["body"]

    def test_a_model_may_be_made_to_give_another_number(self, server, reply_of):
        lm = model("openai/m", api_base=server.url, ledger=None, logprobs=True, top_logprobs=2)
        reply_of(lm)
        assert server.counts()["recent"][0]["body"]["top_logprobs"] == 2
        lm_client_of(lm).engine.close()


def test_both_ways_ask_one_question_and_the_ledger_keeps_its_probabilities(server, tmp_path):
    server.script({**SCORED, "tokens": TOKENS, "contains": "top_logprobs"})
    lm = model("openai/m", api_base=server.url, ledger=tmp_path / "ledger.sqlite")
    Asking.replies.clear()
    for way in (by_template, by_forward, by_template):
        way(Asking(variant="vanilla"), lm)
    assert server.counts()["requests"] == 1
    first, *others = Asking.replies
    assert first.probabilities["score"].mode == "probabilities"
    assert not first.recorded
    assert all(one == replace(first, recorded=True) for one in others)
    score_batch(ActiveCritic(variant="vanilla"), [ITEM], lm=lm)
    assert server.counts()["requests"] == 2  # without log-probabilities it is another question
    lm_client_of(lm).engine.close()


def test_the_offline_model_gives_them(reply_of):
    reply = reply_of(model("offline", ledger=None))
    found = reply.probabilities["score"]
    assert found.mode in ("probabilities", "none")
    assert reply == reply_of(model("offline", ledger=None))


def test_a_model_that_is_not_ours_shows_them_through_dspy(server):
    server.script({**SCORED, "tokens": TOKENS, "contains": "top_logprobs"})
    lm = dspy.LM("openai/m", api_base=server.url, api_key="x", cache=False)
    for way in (by_forward, by_template):
        Asking.replies.clear()
        way(Asking(variant="vanilla"), lm)
        (reply,) = Asking.replies
        found = reply.probabilities["score"].values
        assert {answer: p for answer, p in found.items() if p} == EXPECTED


def test_a_model_that_is_not_ours_and_has_none():
    lm = dspy.utils.DummyLM([{"score": "70"}])
    Asking.replies.clear()
    by_forward(Asking(variant="vanilla"), lm)
    found = Asking.replies[0].probabilities["score"]
    assert found.reason == "the model gives no log-probabilities"


class TestInAnAnswer:
    def answer(self, *tokens, text=None):
        return ModelAnswer(text=text or "".join(t.token for t in tokens), logprobs=tokens)

    def score(self, written="70"):
        return TokenLogprob(written, log(0.8), ((written, log(0.8)), ("60", log(0.2))))

    def found(self, answer, **fields):
        return probabilities_in(answer, WANTED, fields)["score"]

    def test_tokens_may_hold_more_than_the_text_at_its_end(self):
        tokens = (TokenLogprob(HEADER, 0.0), self.score(), TokenLogprob("<|eot|>", 0.0))
        assert self.found(self.answer(*tokens, text=f"{HEADER}70"), score=70).mass == 1

    def test_odd_tokens_elsewhere_do_no_harm(self):
        words = (
            "[[ ## explanation ## ]]\nNice \N{PARTY POPPER} and more and more of it, really.\n\n"
        )
        odd = words.replace("\N{PARTY POPPER}", "\ufffd\ufffd")
        tokens = (TokenLogprob(odd, 0.0), TokenLogprob(HEADER, 0.0), self.score())
        found = self.found(self.answer(*tokens, text=f"{words}{HEADER}70"), score=70)
        assert found.values["70"] == pytest.approx(0.8)

    def test_tokens_that_do_not_spell_the_answer_are_not_used(self):
        tokens = (TokenLogprob("▁score", 0.0), self.score("▁70"))
        found = self.found(self.answer(*tokens, text=f"{HEADER}70"), score=70)
        assert found.reason == "the tokens that came with the answer do not spell it"

    def test_an_answer_between_two_points_is_not_weighed(self):
        tokens = (TokenLogprob(HEADER, 0.0), self.score("70.5"))
        found = self.found(self.answer(*tokens), score=70.5)
        assert found.reason == "the answer '70.5' is none of those that are weighed"

    def test_an_answer_in_other_words_is_not_weighed(self):
        tokens = (TokenLogprob(HEADER, 0.0), self.score("seventy"))
        found = self.found(self.answer(*tokens), score=70)
        assert found.reason.startswith("it cannot be told where")

    def test_what_the_engine_dropped_is_the_reason(self):
        dropped = ("config.logprobs dropped: this provider has none",)
        found = self.found(ModelAnswer(text=f"{HEADER}70", adaptations=dropped), score=70)
        assert found.reason == (
            "the endpoint gave no log-probabilities "
            "(config.logprobs dropped: this provider has none)"
        )

    def test_every_record_has_its_own(self):
        wanted = ProbabilitiesOf(
            field="assessments", answers=("60", "70", "80"), records=("wit", "pun", "rest")
        )
        tokens = (
            TokenLogprob('[[ ## assessments ## ]]\n[{"criterion": "pun", "score": ', 0.0),
            self.score(),
            TokenLogprob('}, {"criterion": "wit", "score": ', 0.0),
            TokenLogprob("80", log(0.9), (("80", log(0.9)), ("70", log(0.1)))),
            TokenLogprob("}]", 0.0),
        )
        read = [
            Assessment(criterion=c, explanation="", score=s) for c, s in (("pun", 70), ("Wit", 80))
        ]
        found = probabilities_in(self.answer(*tokens), wanted, {"assessments": read})
        assert found["pun"].values["60"] == pytest.approx(0.2)
        assert found["wit"].values["70"] == pytest.approx(0.1)
        assert found["rest"].reason == "there is no answer to be weighed"


@pytest.mark.parametrize(
    ("status", "said", "refused"),
    [
        (400, "Unknown parameter: top_logprobs", True),
        (422, "log_probs: extra fields not permitted", True),
        (None, "config.logprobs cannot be carried", True),
        (500, "logprobs failed", False),
        (400, "unknown parameter: seed", False),
    ],
)
def test_refusals_are_known_by_what_they_speak_of(status, said, refused):
    assert (refusal_of(ModelError(said, status=status)) is not None) == refused


class TestAJudgeAtAServer:
    """Weighed where the server gives log-probabilities; elsewhere stated, with the reason."""

    def judged(self, lm):
        judge = ActiveCritic(variant="vanilla", weighting="probabilities")
        (found,) = score_batch(judge, [ITEM], lm=lm)
        with dspy.context(lm=lm):
            same = judge(source=ITEM.source, response=ITEM.response)
        assert (same.score, same.weighting) == (found.score, dict(found.weighting))
        return found.score, found.weighting["overall"]

    def test_with_log_probabilities(self, server, lm):
        server.script({**SCORED, "tokens": TOKENS, "contains": '"top_logprobs":20'})
        score, how = self.judged(lm)
        assert score == pytest.approx((0.6 * 70 + 0.3 * 80) / 0.9)
        assert (how.mode, how.stated, how.mass) == ("probabilities", 70, pytest.approx(0.9))

    def test_without(self, lm):
        score, how = self.judged(lm)
        assert (score, how.mode) == (70, "stated")
        assert how.reason == "the endpoint gave no log-probabilities"

    @pytest.mark.no_cover
    def test_refused(self, server, lm):
        said = '{"error": {"message": "logprobs are not supported"}}'
        server.script({"contains": "logprobs", "status": 400, "body": said})
        score, how = self.judged(lm)
        assert (score, how.mode) == (70, "stated")
        assert how.reason.startswith("the endpoint refuses log-probabilities")
