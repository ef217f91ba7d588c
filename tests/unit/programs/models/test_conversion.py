"""The client and DSPy's copy of it are of other versions: what ours rests on is alike in both."""

import dspy
import lm15
import pytest
from dspy._vendor.lm15 import registry as dspys_registry
from dspy._vendor.lm15 import router as dspys_router
from lm15 import registry, router

from judgesmith.programs.lm import Message, ModelAnswer, ModelRequest, Prefix, TokenLogprob
from judgesmith.programs.lm.dspy_lm import answer_to_dspy, request_from_dspy, request_to_dspy
from judgesmith.programs.lm.engines import native_route
from judgesmith.programs.lm.lm15_bridge import (
    answer_from_lm15,
    as_dict,
    error_from_lm15,
    request_to_lm15,
    settings_from_config,
)

OPTIONS = [
    {},
    {"temperature": 0.3, "max_tokens": 5},
    {"max_completion_tokens": 9},
    {"logprobs": True, "top_logprobs": 5},
    {"seed": 3, "top_p": 0.2, "stop": ["a", "b"]},
    {"response_format": {"type": "json_object"}},
    {"reasoning_effort": "low"},
    {"frequency_penalty": 1, "presence_penalty": 0.5, "top_k": 4},
    {"service_tier": "flex", "verbosity": "low", "user": "u", "logit_bias": {"1": 2}},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_both_read_the_same_settings_out_of_a_call(options):
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}], **options}
    ours = settings_from_config(lm15.request_from_openai_chat(body).config)
    assert ours == settings_from_config(dspy.lm15.request_from_openai_chat(body).config)


def test_providers_live_at_the_same_addresses():
    def address(one):
        return one.access.base_url or one.adapter.__dataclass_fields__["base_url"].default

    for name, provider in dspys_router.LITELLM_PROVIDER_PREFIXES.items():
        assert router.LITELLM_PROVIDER_PREFIXES[name] == provider
        assert address(registry.lookup(provider)) == address(dspys_registry.lookup(provider))


def test_what_is_on_record_under_litellms_name_is_still_asked_there():
    for name in ("azure/m", "together_ai/m", "fireworks_ai/m", "deepinfra/m"):
        assert not native_route(name)


KINDS = [
    "AuthError",
    "BillingError",
    "ContextLengthError",
    "InvalidRequestError",
    "RateLimitError",
    "ServerError",
    "TimeoutError",
    "UnsupportedModelError",
]


@pytest.mark.parametrize("kind", [one for one in KINDS if hasattr(lm15, one)])
def test_errors_of_both_become_the_same_of_ours(kind):
    faults = [
        error_from_lm15(getattr(client, kind)("said", status=429), "openai/m", "http://host")
        for client in (lm15, dspy.lm15)
    ]
    assert [type(one) for one in faults[:1]] == [type(one) for one in faults[1:]]
    assert str(faults[0]) == str(faults[1])


def test_an_error_of_no_client_is_not_taken_for_one_that_passes():
    assert type(error_from_lm15(TimeoutError("late"), "m", "e")).__name__ == "ModelError"


def test_a_request_is_the_same_for_both():
    asked = ModelRequest(
        model="openai/m",
        prefix=Prefix(
            [Message("system", "Rate."), Message("user", "a"), Message("assistant", "1")]
        ),
        user="b \ud800",
    )
    ours, changed = request_to_lm15(asked, "m")
    theirs, changed_too = request_to_dspy(asked, "m")
    assert as_dict(ours) == as_dict(theirs)
    assert changed == changed_too != ()
    again = request_from_dspy(theirs, sample=2)
    assert (again.prefix, again.user, again.sample) == (asked.prefix, "b \ufffd", 2)


def test_a_request_with_a_picture_reaches_the_client_whole():
    picture = dspy.lm15.ImagePart(url="http://host/a.png", media_type="image/png")
    asked = dspy.lm15.Request(
        model="openai/m",
        messages=(dspy.lm15.Message(role="user", parts=(dspy.lm15.TextPart("what?"), picture)),),
    )
    sent, _ = request_to_lm15(request_from_dspy(asked, sample=0), "openai/m")
    assert isinstance(sent, lm15.Request)
    assert as_dict(sent) == as_dict(asked)


def test_an_answer_that_is_more_than_text_passes_through_the_record_to_dspy():
    parts = (lm15.TextPart("so"), lm15.ToolCallPart(id="1", name="f", input={"a": 1}))
    response = lm15.Response(
        id=None,
        model="m",
        message=lm15.Message(role="assistant", parts=parts),
        finish_reason="tool_call",
        usage=lm15.Usage(input_tokens=1, output_tokens=2),
    )
    handed_on = answer_to_dspy(answer_from_lm15(response), "m")
    assert isinstance(handed_on, dspy.lm15.Response)
    assert as_dict(handed_on)["message"] == as_dict(response)["message"]


def test_log_probabilities_pass_both_ways():
    given = (TokenLogprob("7", -0.5, (("7", -0.5), ("8", -1.0))),)
    response = answer_to_dspy(ModelAnswer(text="7", logprobs=given), "m")
    assert answer_from_lm15(response).logprobs == given
