import asyncio
import json

import lm15
import pytest
from lm15.transports import StdlibTransport

from judgesmith.programs.lm import (
    Message,
    ModelError,
    ModelRequest,
    Prefix,
    SamplingSettings,
    TransientModelError,
)
from judgesmith.programs.lm.engines import NativeEngine
from judgesmith.programs.lm.lm15_bridge import (
    _MARK,
    answer_from_lm15,
    plain_answer,
    request_to_lm15,
)

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
    served = []

    async def slowly(reader, writer):
        await reader.read(10_000)
        served.append(asyncio.current_task())
        for piece in (HEAD, HALF, REST[:9], REST[9:]) if len(served) > 1 else (HEAD, HALF):
            await asyncio.sleep(0.32)
            writer.write(piece)
        await reader.read()
        writer.close()
        await writer.wait_closed()

    async def run():
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
