from datetime import date

import pytest

from judgesmith.programs.lm import Price, price_of, prices_date


def test_a_dated_name_has_the_price_of_the_undated_one():
    assert price_of("openai/gpt-4o-mini-2024-07-18") == price_of("openai/gpt-4o-mini")
    assert price_of("anthropic/claude-haiku-4-5-20251001") == price_of("anthropic/claude-haiku-4-5")


def test_a_newer_model_is_not_priced_like_an_older_one():
    assert price_of("anthropic/claude-opus-4-99") is None
    assert price_of("openai/gpt-4o-mini-audio") is None


@pytest.mark.parametrize("model", ["offline", "ollama/llama3", "hosted_vllm/anything"])
def test_local_models_cost_nothing(model):
    assert price_of(model) == Price(0.0, 0.0)


def test_the_table_is_dated():
    assert date.fromisoformat(prices_date()).year >= 2026


@pytest.mark.parametrize("text", ["1", "1,2,3", "a,b", ""])
def test_a_price_that_is_not_two_numbers_is_refused(text):
    with pytest.raises(ValueError, match="two numbers"):
        Price.parse(text)


def test_a_price_below_zero_is_refused():
    with pytest.raises(ValueError, match="zero or more"):
        Price(-1.0, 0.0)
