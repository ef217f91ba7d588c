"""How likely a given text is: which tokens count, and what a server's refusal means."""

import json

import pytest

from judgesmith.programs.lm import (
    ContextWindowExceeded,
    ModelError,
    ModelRequest,
    Prefix,
    TransientModelError,
    request_identity,
)
from judgesmith.programs.lm.engines import TextScoring, continuation_tokens
from judgesmith.programs.lm.errors import speaks_of_one_item

ASKED = ModelRequest(model="openai/m", prefix=Prefix(), user="A b", continuation=" c d")


class Reply:
    """What a transport gives back, whichever request it gets."""

    def __init__(self, status, body, headers=()):
        self.status, self.body, self.headers = status, body, dict(headers)

    def stream(self, request):
        self.sent = request
        return self

    def header(self, name):
        return self.headers.get(name)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        return None

    def __iter__(self):
        return iter([self.body.encode()])


def scored(status, body, headers=(), request=ASKED):
    reply = Reply(status, body if isinstance(body, str) else json.dumps(body), headers)
    return TextScoring("openai/m", "http://here/v1", "k").scored_sync(reply, request), reply


def completion(tokens, values):
    return {"choices": [{"logprobs": {"tokens": tokens, "token_logprobs": values}}]}


def refused(status, message, headers=()):
    with pytest.raises(ModelError) as fault:
        scored(status, {"error": {"message": message}}, headers)
    return fault.value


class TestTokens:
    def numbers(self, tokens, values, prompt="A b", continuation=" c d"):
        found = continuation_tokens(tokens, values, prompt=prompt, continuation=continuation)
        return None if found is None else [one.logprob for one in found]

    def test_of_the_continuation_alone_count(self):
        assert self.numbers(["A", " b", " c", " d"], [None, -1, -2, -3]) == [-2, -3]

    def test_one_that_begins_in_the_prompt_counts_too(self):
        assert self.numbers(["A", " b c", " d"], [None, -1, -2]) == [-1, -2]

    def test_what_was_generated_after_it_does_not(self):
        assert self.numbers(["A b", " c d", " e"], [None, -2, -9]) == [-2]

    def test_one_without_a_number_leaves_the_text_without_any(self):
        assert self.numbers(["A", " b", " c", " d"], [None, -1, -2]) is None
        assert self.numbers(["A", " b", " c", " d"], [None, -1, None, -3]) is None

    def test_no_number_is_too_large_or_too_small(self):
        assert self.numbers(["A b", " c", " d"], [None, -(10**400), 10**400]) == [-9999, 0]

    def test_a_mark_of_the_beginning_is_passed_over(self):
        assert self.numbers(["<s>", "A b", " c d"], [None, -1, -2]) == [-2]

    def test_a_number_that_no_probability_has_is_put_right(self):
        assert self.numbers(["A b", " c", " d"], [None, float("-inf"), 0.001]) == [-9999, 0]

    @pytest.mark.parametrize(
        ("tokens", "values"),
        [
            (["A b", " c", " e"], [None, -1, -2]),
            ([" so"], [-1]),
            (["A b", " c", " d"], [None, -1, None]),
            (["A b", " c", " d"], [None, -1, float("nan")]),
        ],
    )
    def test_those_that_spell_another_text_or_lack_a_number_are_none(self, tokens, values):
        assert self.numbers(tokens, values) is None


class TestAServer:
    def test_is_asked_to_echo(self):
        answer, reply = scored(200, completion(["A b", " c d"], [None, -0.5]))
        assert [one.logprob for one in answer.logprobs] == [-0.5]
        body = json.loads(reply.sent.body)
        assert (body["prompt"], body["echo"], body["model"]) == ("A b c d", True, "m")
        assert reply.sent.url == "http://here/v1/completions"

    @pytest.mark.parametrize(
        ("status", "message"),
        [
            (404, "not found"),
            (405, "method not allowed"),
            (400, "echo is not supported"),
            (422, "logprobs: extra inputs are not permitted"),
        ],
    )
    def test_that_has_no_such_call_is_a_fault_of_the_set_up(self, status, message):
        fault = refused(status, message)
        assert message in str(fault)
        assert "gives no log-probabilities of a text" in str(fault)
        assert not speaks_of_one_item(fault)

    def test_that_is_busy_is_asked_again(self):
        fault = refused(429, "slow down", {"Retry-After": "2"})
        assert isinstance(fault, TransientModelError)
        assert fault.retry_after == 2
        assert isinstance(refused(503, "later"), TransientModelError)

    def test_whose_window_is_too_short_says_so(self):
        assert isinstance(refused(400, "maximum context length is 10"), ContextWindowExceeded)

    def test_that_refuses_the_key_says_so(self):
        assert "check the key" in str(refused(401, "no"))

    @pytest.mark.parametrize("body", ["", "[]", "{}", '{"choices": []}', "[" * 100_000])
    def test_whose_reply_is_none_is_asked_again(self, body):
        with pytest.raises(TransientModelError, match="no completion"):
            scored(200, body)

    def test_whose_tokens_cut_characters_gives_no_numbers_for_this_text(self):
        cut = ModelRequest(model="openai/m", prefix=Prefix(), user="A", continuation="é")
        answer, _ = scored(200, completion(["A", "\ufffd", "\ufffd"], [None, -1, -2]), request=cut)
        assert answer.logprobs is None


def test_a_text_after_a_prompt_is_another_request_than_the_prompt():
    plain = ModelRequest(model="m", prefix=Prefix(), user="A b c d")
    several = [ASKED, plain, ModelRequest(model="m", prefix=Prefix(), user="A b", continuation="")]
    assert len({request_identity(one, "here") for one in several}) == 3
