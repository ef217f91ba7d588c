import sys

import dspy
import pytest

from judgesmith.programs.lm import (
    Budget,
    Price,
    ResponseCache,
    SamplingSettings,
    engine_for,
    lm_client_of,
    model,
    request_settings,
)


def test_every_option_reaches_its_place(path):
    lm = model(
        "openai/gpt-4o-mini",
        ledger=path,
        max_calls=1,
        max_tokens=2,
        max_usd=3.0,
        max_minutes=4.0,
        rpm=5,
        tpm=6,
        run_id="r",
        temperature=0.3,
        max_output_tokens=7,
        top_p=0.5,
    )
    stack = lm_client_of(lm)
    assert stack.budget == Budget(max_calls=1, max_tokens=2, max_usd=3.0, max_minutes=4.0)
    assert (stack.limits.rpm, stack.limits.tpm, stack.run_id) == (5, 6, "r")
    assert stack.ledger is ResponseCache(path)
    assert stack.price == Price(0.15, 0.6)
    assert request_settings(lm) == SamplingSettings(temperature=0.3, max_tokens=7, top_p=0.5)
    assert isinstance(lm, dspy.LM)


@pytest.mark.parametrize("given", ["1,2", (1, 2), Price(1, 2)])
def test_a_price_can_be_given_in_three_ways(given):
    assert lm_client_of(model("openai/m", ledger=None, price=given)).price == Price(1, 2)


def test_a_setting_of_none_leaves_the_models_own(path):
    lm = model("openai/m", ledger=None, max_output_tokens=9)
    assert request_settings(lm, max_tokens=None).max_tokens == 9
    assert request_settings(lm, max_tokens=5, rollout_id=3, n=2).max_tokens == 5


@pytest.mark.parametrize("name", ["gpt-4o", "openai/", "/m", ""])
def test_a_name_that_is_not_a_model_is_refused(name):
    with pytest.raises(ValueError, match="provider/model"):
        model(name, ledger=None)


def test_the_route_is_chosen_and_shown(monkeypatch):
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    routes = {
        "openai/gpt-4o": "native client, https://api.openai.com/v1",
        "hosted_vllm/m": "native client, http://localhost:8000/v1",
        "anthropic/claude-haiku-4-5": "native client, https://api.anthropic.com/v1",
        "mistral/mistral-small-latest": "LiteLLM, mistral",
    }
    assert {name: engine_for(name).route for name in routes} == routes
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    assert engine_for("openai/gpt-4o").endpoint == "https://gateway.example/v1"
    assert engine_for("openai/gpt-4o", api_base="http://x:1").endpoint == "http://x:1"


def test_a_reasoning_model_can_be_had_with_the_defaults():
    assert lm_client_of(model("openai/gpt-5", ledger=None)) is not None
    assert lm_client_of(model("openai/o3", ledger=None, max_output_tokens=100)) is not None


def test_making_a_model_touches_neither_disk_nor_network_nor_litellm(path):
    had = "litellm" in sys.modules
    model("mistral/m", ledger=path)
    model("openai/m", ledger=path)
    assert not path.parent.exists()
    assert ("litellm" in sys.modules) == had


def test_any_other_model_has_no_stack():
    assert lm_client_of(dspy.utils.DummyLM([{"answer": "x"}])) is None
    assert lm_client_of(None) is None
