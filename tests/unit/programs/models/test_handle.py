import pytest

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.dspy_executor import DSPyExecutor
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.lm import (
    ClientModel,
    ResponseCache,
    client_model,
    lm_client_of,
    model,
    request_settings,
)
from judgesmith.signatures import RatedItem

NAMES = ["openai/gpt-4o", "openai/gpt-5", "openai/gpt-5-chat", "openai/o3-mini", "ollama/llama3"]
ITEMS = [RatedItem(source="The bridge opened on Monday.", response="It opened Monday.")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0, None])
@pytest.mark.parametrize("ceiling", [None, 5, 20000])
def test_it_keeps_the_settings_that_dspy_keeps(name, temperature, ceiling):
    settings = {"temperature": temperature, "max_output_tokens": ceiling}
    light = client_model(name, ledger=None, **settings)
    whole = model(name, ledger=None, **settings)
    assert dict(light.kwargs) == whole.kwargs
    assert request_settings(light) == request_settings(whole)


@pytest.mark.parametrize("temperature", [0.0, 0.5, None])
@pytest.mark.parametrize("ceiling", [500, 20000])
def test_the_ceiling_on_answers_reaches_reasoning_models(server, temperature, ceiling):
    settings = {"temperature": temperature, "max_output_tokens": ceiling}
    asked = {"name": "openai/gpt-5-mini", "ledger": None, "api_base": server.url}
    model(**asked, **settings)("2 + 2?")
    score_batch(ActiveCritic(variant="vanilla"), ITEMS, lm=client_model(**asked, **settings))
    sent = [one["body"] for one in server.counts()["recent"]]
    assert len(sent) >= 2
    for body in sent:
        assert body["max_completion_tokens"] == ceiling
        assert "temperature" not in body


def test_the_model_for_dspy_is_over_the_same_stack(path):
    light = client_model("openai/m", ledger=path, max_calls=3, rpm=60)
    assert lm_client_of(light) is lm_client_of(light.dspy_lm()) is light.client
    assert light.dspy_lm(top_p=0.5).kwargs["top_p"] == 0.5


def test_a_judge_finds_what_it_was_answered_through_dspys_model(path):
    told = score_batch(ActiveCritic(), ITEMS, lm=model(ledger=path))
    light = client_model(ledger=ResponseCache(path))
    assert score_batch(ActiveCritic(), ITEMS, lm=light) == told
    assert (light.client.usage.calls, light.client.usage.hits) == (0, 2)


def test_a_judge_that_only_dspy_can_ask_is_given_dspys_model():
    judge = ActiveCritic(variant="vanilla")
    judge.grade.config["temperature"] = 0.0
    executor = Executor.of(judge, client_model("offline", ledger=None))
    assert isinstance(executor, DSPyExecutor)
    assert score_batch(executor, ITEMS)[0].score is not None


def test_what_is_no_model_of_ours_has_no_stack():
    assert lm_client_of(ClientModel) is None
