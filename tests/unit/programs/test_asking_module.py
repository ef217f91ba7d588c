"""Questions reach the model that DSPy has at hand, and come back whatever it answers."""

import asyncio

import dspy
import pytest
from dspy.utils.callback import BaseCallback

from judgesmith.programs import score_batch
from judgesmith.programs.lm import lm_client_of, model


@pytest.fixture
def texts(item):
    return {"source": item.source, "context": item.context, "response": item.response}


def judged(judge, texts, lm=None):
    with dspy.context(lm=lm):
        return judge(**texts)


def test_the_current_model_is_asked(judge_of, scripted, good, texts):
    lm, engine = scripted(good)
    found = judged(judge_of(), texts, lm)
    assert (found.score, found.explanation, found.problem) == (70, "It is fine.", None)
    assert [one.score for one in found.criteria.values()] == [60, 80]
    assert len(engine.requests) == len(found.calls) == 2


def test_without_a_model_the_offline_model_answers(judge_of, texts):
    found = judged(judge_of(), texts)
    again = judged(judge_of(), texts, model("offline", ledger=None))
    assert found.score is not None
    assert (found.score, found.calls) == (again.score, again.calls)


@pytest.mark.parametrize("variant", ["vanilla", "coarse", "fine"])
def test_waiting_or_not_gives_the_same(variant, judge_of, scripted, good, texts):
    judge = judge_of(variant, shown="a")
    lm, _ = scripted(good)

    async def ask():
        with dspy.context(lm=lm):
            return await judge.acall(**texts)

    assert asyncio.run(ask()).toDict() == judged(judge, texts, lm).toDict()


def test_waiting_ends_unscored_with_the_same_reason(judge_of, scripted, texts):
    judge = judge_of()
    lm, _ = scripted(lambda request: "no fields")

    async def ask():
        with dspy.context(lm=lm):
            return await judge.acall(**texts)

    found = asyncio.run(ask())
    assert found.problem == judged(judge, texts, lm).problem
    assert found.problem.endswith("could not be read: the answer lacks the field assessments.")


def test_a_model_of_one_predictor_is_its_own(judge_of, scripted, good, texts, item):
    judge = judge_of()
    mine, my_engine = scripted(good)
    other, other_engine = scripted(good)
    judge.overall.lm = mine
    judged(judge, texts, other)
    assert (len(my_engine.requests), len(other_engine.requests)) == (1, 1)
    score_batch(judge, [item], lm=other)
    assert (len(my_engine.requests), len(other_engine.requests)) == (2, 2)


def test_settings_of_one_predictor_hold_on_both_ways(judge_of, scripted, good, texts, item):
    judge = judge_of("vanilla")
    judge.grade.update_config(top_p=0.25)
    lm, engine = scripted(good)
    judged(judge, texts, lm)
    score_batch(judge, [item], lm=lm)
    assert [request.settings.top_p for request in engine.requests] == [0.25, 0.25]


def test_callbacks_see_the_module_its_predictors_and_the_model(judge_of, scripted, good, texts):
    seen = []

    class Watch(BaseCallback):
        def on_module_start(self, call_id, instance, inputs):
            seen.append(type(instance).__name__)

        def on_lm_start(self, call_id, instance, inputs):
            seen.append("model")

    lm, _ = scripted(good)
    with dspy.context(callbacks=[Watch()]):
        judged(judge_of(), texts, lm)
    assert seen == ["ActiveCritic", "Predict", "model", "Predict", "model"]


def test_a_text_beyond_the_window_is_unscored_whoevers_model_it_is(judge_of, texts, item):
    class Small:
        def complete(self, request):
            raise dspy.lm15.ContextLengthError("too many tokens")

    lm = dspy.LM("foreign/small", engine=Small(), cache=False, num_retries=0)
    found = judged(judge_of("vanilla"), texts, lm)
    assert found.score is None
    assert found.problem.startswith("the texts are longer than the model reads")
    assert score_batch(judge_of("vanilla"), [item], lm=lm)[0].problem == found.problem


def test_calls_are_what_the_ledger_knows(judge_of, texts, tmp_path):
    lm = model("offline", ledger=tmp_path / "ledger.sqlite")
    found = judged(judge_of(shown="a"), texts, lm)
    ledger = lm_client_of(lm)._store
    kept = [ledger.lookup(bytes.fromhex(call)) for call in found.calls]
    assert len(kept) == 2
    assert all(answer is not None for answer in kept)
    ledger.close()
