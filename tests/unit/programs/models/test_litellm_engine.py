import asyncio
import os

import pytest

from judgesmith.programs.judging.program import refusal_of
from judgesmith.programs.lm import ContextWindowExceeded, ModelError, TransientModelError
from judgesmith.programs.lm.litellm_engine import LiteLLMEngine

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:ResourceWarning")


@pytest.fixture
def engine(server, monkeypatch):
    # Any provider will do that LiteLLM reaches at an address of ours.
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("MISTRAL_API_KEY", "my-own-key-123")
    return LiteLLMEngine("mistral/mistral-small-latest", api_base=server.url)


def test_it_answers_in_both_ways(engine, ask, server):
    request = ask(temperature=0.5, max_tokens=9)
    assert engine.complete_sync(request).text == "7"

    async def run():
        return await engine.complete(request)

    assert asyncio.run(run()).text == "7"
    sent = server.counts()["recent"][0]["body"]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == (
        "mistral-small-latest",
        0.5,
        9,
    )
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        ({"status": 401, "body": '{"message": "bad key my-own-key-123"}'}, ModelError),
        ({"status": 500}, TransientModelError),
        ({"status": 429}, TransientModelError),
        ({"status": 400, "body": '{"message": "prompt is too long"}'}, ContextWindowExceeded),
    ],
)
def test_its_faults_are_translated(engine, ask, server, behaviour, expected):
    server.script(behaviour)
    with pytest.raises(expected) as caught:
        engine.complete_sync(ask())
    assert caught.value.status == behaviour["status"]
    assert "my-own-key" not in str(caught.value)
    # One attempt is one request, or the budget would not hold.
    assert server.counts()["requests"] == 1


def test_log_probabilities_come_through_it_where_the_provider_has_them(engine, ask, server):
    server.script({"logprobs": {"7": -0.2, "8": -1.9}, "contains": "top_logprobs"})
    having = LiteLLMEngine("hosted_vllm/m", api_base=server.url)
    (token,) = having.complete_sync(ask(logprobs=2)).logprobs
    assert (token.token, token.top) == ("7", (("7", -0.2), ("8", -1.9)))
    assert server.counts()["recent"][0]["body"]["top_logprobs"] == 2
    assert having.complete_sync(ask()).logprobs is None
    with pytest.raises(ModelError) as caught:
        engine.complete_sync(ask(logprobs=2))
    assert "does not support parameters: ['logprobs'" in refusal_of(caught.value)
