"""Engines and their wire format, and how connections break."""

import asyncio
import json
import os
import sys

import dspy
import lm15
import pytest
from dspy._vendor.lm15 import registry as dspys_registry
from dspy._vendor.lm15 import router as dspys_router
from lm15 import registry, router
from lm15.transports import StdlibTransport
from looping import for_each

from judgesmith.programs.judging.program import refusal_of
from judgesmith.programs.lm import (
    Budget,
    ContextWindowExceeded,
    Message,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Prefix,
    Price,
    ResponseCache,
    SamplingSettings,
    TokenLogprob,
    TransientModelError,
    engine_for,
    lm_client_of,
    model,
    request_identity,
    request_settings,
)
from judgesmith.programs.lm.dspy_lm import answer_to_dspy, request_from_dspy, request_to_dspy
from judgesmith.programs.lm.engines import (
    LiteLLMEngine,
    NativeEngine,
    TextScoring,
    continuation_tokens,
    native_route,
)
from judgesmith.programs.lm.errors import speaks_of_one_item
from judgesmith.programs.lm.lm15_bridge import (
    _MARK,
    answer_from_lm15,
    as_dict,
    error_from_lm15,
    plain_answer,
    request_to_lm15,
    settings_from_config,
)

# wire

SHOWN = Prefix(
    [Message("system", 'Rate "it".\n'), Message("user", "é \U0001f600"), Message("assistant", "7")]
)
TEXTS = ["plain", '"quoted" \\ and\nlines\t\x00', "é \U0001f600 \u202e \u2028", "</script>", " "]


def asked(user, prefix=SHOWN, **settings):
    return ModelRequest(
        model="openai/m", prefix=prefix, user=user, settings=SamplingSettings(**settings)
    )


def both_ways(engine, request):
    """Have a request answered by the event loop's way and by that of threads."""

    async def run():
        try:
            return await engine.complete(request)
        finally:
            await engine.aclose()

    found = []
    for way in (lambda: asyncio.run(run()), lambda: engine.complete_sync(request)):
        try:
            found.append(way())
        except ModelError as fault:
            found.append((type(fault), str(fault), fault.status, getattr(fault, "retry_after", 0)))
    engine.close()
    return found


@pytest.mark.parametrize("prefix", [Prefix(), SHOWN], ids=["alone", "shown"])
def test_the_bytes_are_those_that_the_client_lays_out(server, prefix):
    engine = NativeEngine("openai/m", api_base=server.url)
    for text in TEXTS:
        for settings in ({}, {"temperature": None, "max_tokens": 5, "stop": ("a",), "seed": 1}):
            both_ways(engine, asked(text, prefix, **settings))
    counts = server.counts()
    assert counts["requests"] == 2 * counts["distinct"] == 4 * len(TEXTS)


def reply(choice=None, **rest):
    message = {"role": "assistant", "content": "70"}
    return {"id": "1", "model": "m", "choices": [choice or {"message": message}], **rest}


def said(finish_reason="stop", **message):
    return {"message": {"content": "70", **message}, "finish_reason": finish_reason}


REPLIES = {
    "plain": reply(said()),
    "cut off": reply(said("length")),
    "filtered": reply(said("content_filter")),
    "another reason": reply(said("because")),
    "no reason": reply(said(None)),
    "empty": reply(said(content="")),
    "nothing": reply(said(content=None)),
    "parts": reply(said(content=[{"type": "text", "text": "70"}])),
    "thought": reply(said(reasoning_content="so")),
    "refused": reply(said(content=None, refusal="no")),
    "called": reply(
        said("tool_calls", tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "{}"}}])
    ),
    "counted": reply(
        said(), usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 20}
    ),
    "counted in part": reply(said(), usage={"prompt_tokens": 9}),
    "counted badly": reply(said(), usage={"prompt_tokens": "9", "completion_tokens": -2}),
    "counted beyond": reply(said(), usage={"prompt_tokens": 10**12, "completion_tokens": 1}),
    "two choices": {**reply(said()), "choices": [said(), said()]},
    "no choice": {**reply(), "choices": []},
    "no message": reply({"text": "70"}),
    "an error": {"error": {"message": "bad moment"}},
    "a list": [1, 2],
    "with probabilities": reply(
        {**said(), "logprobs": {"content": [{"token": "70", "logprob": -0.5, "top_logprobs": []}]}}
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_as_the_client_reads_it(server, name):
    server.script({"body": json.dumps(REPLIES[name])})
    first, second = both_ways(NativeEngine("openai/m", api_base=server.url), asked("a"))
    assert first == second


@pytest.mark.parametrize(
    "behaviour",
    [
        {"body": "<html>"},
        {"body": ""},
        {"status": 429, "retry_after": 7},
        {"status": 400, "body": '{"error": {"message": "maximum context length is 9 tokens"}}'},
        {"status": 401},
        {"status": 503, "body": "down"},
        {"disconnect": True},
    ],
    ids=["page", "empty", "429", "too long", "401", "503", "lost"],
)
def test_a_fault_is_the_one_that_the_client_tells(server, behaviour):
    server.script(behaviour)
    first, second = both_ways(NativeEngine("openai/m", api_base=server.url), asked("a"))
    assert first == second
    assert isinstance(first, tuple)


def test_only_what_the_client_reads_alike_is_read_here(server):
    client = lm15.LMRouter(
        lm15.RouterConfig(transport=StdlibTransport(), base_urls={"vllm": server.url})
    ).lm("vllm:m")
    sent, _ = request_to_lm15(asked("a"), "m")
    read_here = []
    for name, body in REPLIES.items():
        found = plain_answer(json.dumps(body).encode())
        if found is not None:
            server.reset()
            server.script({"body": json.dumps(body)})
            assert answer_from_lm15(client.complete(sent)) == found
            read_here.append(name)
    assert read_here == [
        "plain",
        "cut off",
        "empty",
        "counted",
        "counted in part",
        "counted beyond",
    ]


def test_what_cannot_be_sent_as_it_is_goes_through_the_client(server):
    engine = NativeEngine("openai/m", api_base=server.url)
    for request in (
        asked("lone \ud800"),
        asked("a", logprobs=3),
        asked("a", Prefix([]), top_p=0.5),
    ):
        first, second = both_ways(engine, request)
        assert first == second


def test_a_text_shown_before_is_never_taken_for_the_place_of_the_user(server):
    engine = NativeEngine("openai/m", api_base=server.url)
    for shown in (_MARK, json.dumps(_MARK), f'"{_MARK}"'):
        both_ways(engine, asked("a", Prefix([Message("user", shown), Message("assistant", "7")])))
    assert server.counts() == {**server.counts(), "requests": 6, "distinct": 3}


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 70\r\n\r\n"
HALF = b'{"choices": [{"message": {"content": "70"},'
REST = b' "finish_reason": "stop"}]}'


@pytest.mark.parametrize("logprobs", [None, 1], ids=["wire", "client"])
def test_an_attempt_fails_after_silence_and_not_for_taking_its_time(logprobs):
    served, now = [], [0.0]  # the loop's clock stands still unless the server moves it

    async def slowly(reader, writer):
        await reader.read(10_000)
        served.append(asyncio.current_task())
        for piece in (HEAD, HALF, REST[:9], REST[9:]) if len(served) > 1 else (HEAD, HALF):
            now[0] += 0.32
            writer.write(piece)
            for _ in range(99):  # it is read by then
                await asyncio.sleep(0)
        if len(served) == 1:
            now[0] += 1.2
        await reader.read()
        writer.close()
        await writer.wait_closed()

    async def run():
        asyncio.get_running_loop().time = lambda: now[0]
        async with await asyncio.start_server(slowly, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            engine = NativeEngine("openai/m", api_base=f"http://127.0.0.1:{port}/v1", timeout=1.2)
            with pytest.raises(TransientModelError, match=r"no bytes for 1\.2"):
                await engine.complete(asked("a", logprobs=logprobs))
            # The connection of the one that was given up is not asked again.
            answer = await engine.complete(asked("a", logprobs=logprobs))
            await engine.aclose()
            await asyncio.wait(served)
        return answer.text

    assert asyncio.run(run()) == "70"
    assert len(served) == 2


# native


def test_a_missing_key_is_named_and_nothing_else_asked_for(ask, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    engine = NativeEngine("openai/m")
    for call in (engine.complete_sync, lambda request: asyncio.run(engine.complete(request))):
        with pytest.raises(ModelError, match="set OPENAI_API_KEY in the environment"):
            call(ask())


@pytest.mark.no_cover
def test_more_than_a_hundred_are_in_flight_at_once(ask, server):
    server.script({"together": 128})
    engine = NativeEngine("openai/m", api_base=server.url)

    async def run():
        await asyncio.gather(*[engine.complete(ask(f"{n}")) for n in range(128)])
        await engine.aclose()

    asyncio.run(run())
    assert server.counts()["most_in_flight"] == 128


def test_a_provider_that_the_client_does_not_know_is_refused():
    with pytest.raises(ValueError, match="anthropic"):
        NativeEngine("mistral/m")


# litellm engine


@pytest.fixture
def engine(server, monkeypatch):
    # Any provider will do that LiteLLM reaches at an address of ours.
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("MISTRAL_API_KEY", "my-own-key-123")
    return LiteLLMEngine("mistral/mistral-small-latest", api_base=server.url)


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:ResourceWarning")
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


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:ResourceWarning")
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


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:ResourceWarning")
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


# The client and DSPy's copy of it are of other versions: what ours rests on is alike in both.

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


@for_each("options", OPTIONS)
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


@for_each("kind", [one for one in KINDS if hasattr(lm15, one)])
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


def test_log_probabilities_pass_both_ways():
    given = (TokenLogprob("7", -0.5, (("7", -0.5), ("8", -1.0))),)
    response = answer_to_dspy(ModelAnswer(text="7", logprobs=given), "m")
    assert answer_from_lm15(response).logprobs == given


# faces


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


# How likely a given text is: which tokens count, and what a server's refusal means.

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


@for_each(
    ("tokens", "values", "counted"),
    [
        (["A", " b", " c", " d"], [None, -1, -2, -3], [-2, -3]),
        (["A", " b c", " d"], [None, -1, -2], [-1, -2]),  # one that begins in the prompt
        (["A b", " c d", " e"], [None, -2, -9], [-2]),  # what was generated after it
        (["<s>", "A b", " c d"], [None, -1, -2], [-2]),
        (["A b", " c", " d"], [None, -(10**400), 10**400], [-9999, 0]),
        (["A b", " c", " d"], [None, float("-inf"), 0.001], [-9999, 0]),
        (["A", " b", " c", " d"], [None, -1, -2], None),
        (["A", " b", " c", " d"], [None, -1, None, -3], None),
        (["A b", " c", " e"], [None, -1, -2], None),
        ([" so"], [-1], None),
        (["A b", " c", " d"], [None, -1, None], None),
        (["A b", " c", " d"], [None, -1, float("nan")], None),
    ],
)
def test_the_tokens_of_the_continuation_count_where_all_have_a_number(tokens, values, counted):
    found = continuation_tokens(tokens, values, prompt="A b", continuation=" c d")
    assert (found and [one.logprob for one in found]) == counted


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

    @for_each("body", ["", "[]", "{}", '{"choices": []}', "[" * 100_000])
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
