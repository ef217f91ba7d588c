"""Calls are sampled as the protocol says, as far as the model takes it; settings are made once."""

import dspy
import pytest

from judgesmith.programs.judging.executors import CallSettings, call_config, probability_config
from judgesmith.programs.judging.program import ProbabilitiesOf
from judgesmith.programs.lm import model
from judgesmith.signatures.config import Sampling

FEW = ProbabilitiesOf(field="better", answers=("first", "second"), top=5)
MANY = ProbabilitiesOf(field="score", answers=tuple(map(str, range(101))))


def test_settings_are_those_of_the_protocol():
    protocol = Sampling(temperature=0.5, max_tokens=64)
    lm = model("offline", ledger=None)
    assert call_config(protocol, lm) == {"temperature": 0.5, "max_tokens": 64}
    assert call_config(Sampling(), lm) == {"temperature": 0.0}


def test_a_model_that_refuses_a_temperature_is_sent_none():
    for lm in (model("openai/gpt-5", ledger=None), dspy.LM("openai/o3")):
        assert call_config(Sampling(), lm) == {}
        assert call_config(Sampling(max_tokens=99), lm) == {"max_completion_tokens": 99}
    for lm in (model("openai/gpt-4o-mini", ledger=None), dspy.LM("openai/gpt-4o-mini")):
        assert call_config(Sampling(), lm) == {"temperature": 0.0}


def test_a_model_that_was_made_without_a_temperature_is_sent_none():
    lm = model("openai/gpt-4o-mini", ledger=None, temperature=None)
    assert call_config(Sampling(), lm) == {}


def test_alternatives_are_asked_for_where_probabilities_are_wanted_alone():
    lm = model("openai/gpt-4o-mini", ledger=None)
    assert probability_config(None, lm) == {}
    assert probability_config(MANY, lm) == {"logprobs": True, "top_logprobs": 20}
    lm = model("openai/gpt-4o-mini", ledger=None, top_logprobs=7)
    assert probability_config(MANY, lm) == {"logprobs": True, "top_logprobs": 7}


def test_a_model_that_is_a_function_is_asked_for_all_answers():
    lm = model("offline", ledger=None)
    assert probability_config(MANY, lm)["top_logprobs"] == 101
    assert probability_config(FEW, lm)["top_logprobs"] == 5


@pytest.mark.parametrize("wanted", [None, FEW, MANY])
@pytest.mark.parametrize("temperature", [None, 0.7])
def test_settings_are_made_once_for_each_kind_of_call(temperature, wanted):
    settings = CallSettings(Sampling(temperature=0.2), model("offline", ledger=None))
    found = settings.of(temperature, wanted)
    assert found.temperature == (0.2 if temperature is None else temperature)
    assert found.logprobs == {None: None, FEW: 5, MANY: 101}[wanted]
    assert settings.of(temperature, wanted) is found


def test_later_changes_of_the_model_do_not_reach_the_settings_that_are_known():
    lm = model("openai/gpt-4o-mini", ledger=None)
    settings = CallSettings(Sampling(temperature=0.2, max_tokens=64), lm)
    lm.kwargs["temperature"] = None
    assert (settings.of(None).temperature, settings.of(None).max_tokens) == (0.2, 64)
