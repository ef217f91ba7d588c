"""Questions that do not wait for each other go out at the same time, whoever asks them."""

import asyncio
from statistics import fmean

import dspy

from judgesmith.programs import DirectJudge, score_batch
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.program import ModelReply, PromptRequest, gather
from judgesmith.programs.lm import LMClient, ModelAnswer, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import Judgement, RatedItem

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


class TwoAtOnce(DirectJudge):
    """Asks the same question twice in one round, the second time warm."""

    def steps(self, *, source, response, context=None):
        ask = PromptRequest(
            predictor="whole", inputs={"source": source, "context": context, "response": response}
        )
        warm = PromptRequest(predictor="whole", inputs=ask.inputs, sample=1, temperature=1.0)
        replies = yield (ask, warm)
        score = fmean(one.fields["score"] for one in replies)
        return Judgement(score=score, raw=score, calls=tuple(one.call for one in replies))


class Slow:
    """Answers after both questions have come, and keeps what it was asked."""

    endpoint = "slow"

    def __init__(self, answer=lambda request: "60"):
        self.asked = []
        self.under_way = self.most = 0
        self.said = answer

    async def complete(self, request):
        self.asked.append(request)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        return ModelAnswer(text=f"[[ ## score ## ]]\n{self.said(request)}")

    async def aclose(self):
        pass


def lm_over(engine, name="slow/m"):
    return ClientLM.over(LMClient(engine), name, recipe={}, temperature=0.0)


def test_both_questions_are_under_way_at_once():
    engine = Slow()
    (judgement,) = score_batch(TwoAtOnce(), [ITEM], lm=lm_over(engine))
    assert (judgement.score, engine.most) == (60, 2)
    assert [one.settings.temperature for one in engine.asked] == [0.0, 1.0]


def test_all_ways_to_ask_come_to_the_same():
    judge = TwoAtOnce()
    texts = {"source": ITEM.source, "response": ITEM.response, "context": None}
    (fast,) = score_batch(judge, [ITEM])
    slow = judge(**texts)
    with dspy.context(lm=model("offline", ledger=None)):
        waiting = asyncio.run(judge.acall(**texts))
    assert (fast.score, fast.calls) == (slow.score, slow.calls) == (waiting.score, waiting.calls)
    assert len(set(fast.calls)) == 2


def test_a_predictor_with_a_model_of_ours_is_asked_through_its_stack():
    engine, other = Slow(), Slow(lambda request: "90")
    judge = DirectJudge()
    judge.whole.lm = lm_over(other, "other/m")
    (judgement,) = score_batch(judge, [ITEM], lm=lm_over(engine))
    assert (judgement.score, len(engine.asked), len(other.asked)) == (90, 0, 1)
    assert type(Executor.of(judge, lm_over(engine))).__name__ == "ClientExecutor"
    judge.whole.config = {"temperature": 0.5}
    assert type(Executor.of(judge, lm_over(engine))).__name__ == "DSPyExecutor"


def test_courses_of_rounds_are_courses_themselves():
    def course(n):
        found = []
        for place in range(n):
            reply = yield PromptRequest(predictor=f"{n}.{place}", inputs={})
            found.append(reply.call)
        return found

    steps = gather([gather([course(2), course(1)]), course(0), course(1)])
    rounds, asked = [], next(steps)
    try:
        while True:
            rounds.append([one.predictor for one in asked])
            asked = steps.send(tuple(ModelReply(call=one.predictor) for one in asked))
    except StopIteration as end:
        found = end.value
    assert found == [[["2.0", "2.1"], ["1.0"]], [], ["1.0"]]
    assert rounds == [["2.0", "1.0", "1.0"], ["2.1"]]
