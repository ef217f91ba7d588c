import asyncio

import pytest

from judgesmith.programs.lm import ModelError
from judgesmith.programs.lm.engines import NativeEngine


def test_a_missing_key_is_named_and_nothing_else_asked_for(ask, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    engine = NativeEngine("openai/m")
    for call in (engine.complete_sync, lambda request: asyncio.run(engine.complete(request))):
        with pytest.raises(ModelError, match="set OPENAI_API_KEY in the environment"):
            call(ask())


def test_a_server_without_keys_needs_none(ask, server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("openai/m", "hosted_vllm/m"):
        engine = NativeEngine(name, api_base=server.url)
        assert engine.complete_sync(ask(name=name)).text == "7"
        engine.close()


def test_reasoning_models_are_sent_no_temperature_and_it_is_said(ask, server):
    engine = NativeEngine("openai/gpt-5-mini", api_base=server.url)
    answer = engine.complete_sync(ask(temperature=0.0, max_tokens=64))
    engine.close()
    sent = server.counts()["recent"][0]["body"]
    assert "temperature" not in sent
    assert sent["max_completion_tokens"] == 64
    assert answer.adaptations[0].startswith("config.temperature dropped")


@pytest.mark.no_cover
def test_more_than_a_hundred_are_in_flight_at_once(ask, server):
    server.script({"latency": 1.0})
    engine = NativeEngine("openai/m", api_base=server.url)

    async def run():
        await asyncio.gather(*[engine.complete(ask(f"{n}")) for n in range(128)])
        await engine.aclose()

    asyncio.run(run())
    assert server.counts()["most_in_flight"] == 128


def test_each_event_loop_has_connections_of_its_own(ask, server):
    engine = NativeEngine("openai/m", api_base=server.url)

    async def run():
        answer = await engine.complete(ask())
        await engine.aclose()
        return answer.text

    assert [asyncio.run(run()) for _ in range(3)] == ["7"] * 3


def test_a_server_that_does_not_answer_is_a_passing_fault(ask, server):
    from judgesmith.programs.lm import TransientModelError

    server.script({"latency": 2.0})
    engine = NativeEngine("openai/m", api_base=server.url, timeout=0.1)
    with pytest.raises(TransientModelError):
        engine.complete_sync(ask())
    engine.close()
    nobody = NativeEngine("openai/m", api_base="http://127.0.0.1:9/v1")
    with pytest.raises(TransientModelError):
        nobody.complete_sync(ask())
    nobody.close()


def test_a_provider_that_the_client_does_not_know_is_refused():
    with pytest.raises(ValueError, match="anthropic"):
        NativeEngine("mistral/m")
