"""The client: cache, retries, limits and budget in one stack."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
from looping import for_each

from judgesmith.errors import InputError
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.dspy_executor import DSPyExecutor
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.lm import (
    BudgetSpent,
    CacheError,
    ClientModel,
    Message,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Prefix,
    Price,
    Retry,
    TransientModelError,
    accounts,
    client,
    client_model,
    lm_client_of,
    model,
    request_settings,
)
from judgesmith.programs.lm.cache import records
from judgesmith.programs.lm.waiting import Suspending
from judgesmith.signatures import RatedItem

# stack

QUICK = Retry(attempts=4, first=0.001)


def together(stack, requests, *, outcomes=False):
    """Ask for all requests at once in one event loop."""

    async def run():
        try:
            return await asyncio.gather(
                *[stack.complete(one) for one in requests], return_exceptions=outcomes
            )
        finally:
            if hasattr(stack.engine, "aclose"):
                await stack.engine.aclose()

    return asyncio.run(run())


def one_by_one(stack, requests):
    return [stack.complete_sync(one) for one in requests]


def in_threads(stack, requests):
    with ThreadPoolExecutor(32) as pool:
        return list(pool.map(stack.complete_sync, requests))


WAYS = pytest.mark.parametrize("way", [together, one_by_one, in_threads])


# -- the ledger ----------------------------------------------------------------------------


def test_another_round_asks_anew_and_the_same_one_finds_its_answers(stack, ask, server):
    one, request = stack(), ask("item")
    one.complete_sync(request)
    for n_asked, number in ((2, 1), (3, 2), (3, 1)):
        with one.in_round(number):
            assert together(one, [request, request])[0].text == together(one, [request])[0].text
        assert server.counts()["requests"] == n_asked
    one.complete_sync(request)
    assert server.counts()["requests"] == 3


def test_a_round_is_that_of_who_asks_for_it_alone(stack, ask, server):
    one, request = stack(), ask("item")
    one.complete_sync(request)
    with one.in_round(1), ThreadPoolExecutor(1) as pool:
        assert pool.submit(one.complete_sync, request).result().from_cache
        with one.in_round(2):
            assert not one.complete_sync(request).from_cache
        assert not together(one, [request])[0].from_cache
        assert stack().complete_sync(request).from_cache


@WAYS
def test_no_committed_answer_is_asked_for_again(stack, ask, server, way):
    requests = [ask(f"item {n}") for n in range(20)]
    first = way(stack(), requests)
    again = together(stack(), requests)
    assert server.counts()["requests"] == 20
    assert [replace(one, from_cache=True) for one in first] == again
    assert not any(one.from_cache for one in first)


@WAYS
def test_identical_requests_in_flight_are_asked_once(stack, ask, server, way):
    server.script({"latency": 0.05})
    made = stack()
    answers = way(made, [ask("the same")] * 20)
    assert server.counts()["requests"] == 1
    assert {one.text for one in answers} == {"7"}
    assert sum(not one.from_cache for one in answers) == 1
    assert (made.usage.calls, made.usage.hits) == (1, 19)


def test_threads_and_coroutines_share_what_is_in_flight(stack, ask, server):
    server.script({"latency": 0.2})
    made = stack()
    thread = threading.Thread(target=made.complete_sync, args=(ask("the same"),))
    thread.start()
    together(made, [ask("the same")] * 5)
    thread.join()
    assert server.counts()["requests"] == 1


def test_samples_settings_and_servers_are_kept_apart(stack, ask, server):
    requests = [ask(), ask(sample=1), ask(temperature=1.0), ask(seed=0)]
    together(stack(), requests)
    localhost = stack(api_base=server.url.replace("127.0.0.1", "localhost"))
    together(localhost, requests[:1])
    assert server.counts()["requests"] == 5


def test_without_a_ledger_nothing_is_remembered_but_flights_are_shared(stack, ask, server):
    made = stack(ledger=None)
    together(made, [ask()] * 5)
    together(made, [ask()])
    assert server.counts()["requests"] == 2
    assert made.lookup(ask()) is None
    assert made.spent.calls == 2


def test_answers_can_be_looked_up_without_asking(stack, ask, server):
    made = stack()
    made.complete_sync(ask("a"))
    assert made.lookup(ask("a")).text == "7"
    assert [one and one.text for one in made.lookup_many([ask("b"), ask("a")])] == [None, "7"]
    assert server.counts()["requests"] == 1
    assert made.usage.calls == 1


def test_an_answer_that_cannot_be_kept_is_not_used(stack, ask, path):
    made = stack()
    made.complete_sync(ask("first"))
    n_pages = made.ledger.query("PRAGMA page_count")[0][0]
    made.ledger.query(f"PRAGMA max_page_count={n_pages}")
    used = []
    with pytest.raises(CacheError, match="no space left"):
        used.extend(made.complete_sync(ask(f"item {n}")) for n in range(1000))
    assert made.ledger.query("SELECT count(*) FROM answers")[0][0] == 1 + len(used)


def test_neither_keys_nor_prompts_are_in_the_files(stack, ask, server, path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123")
    stack().complete_sync(ask("a private question"))
    assert server.counts()["recent"][0]["authorization"] == "Bearer sk-very-secret-0123"
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"very-secret" not in written
    assert b"private question" not in written


# -- cancellation --------------------------------------------------------------------------


def test_a_cancelled_request_is_free_to_be_asked_again(stack, ask, server):
    server.script({"held": True, "times": 1})
    made = stack()

    async def run():
        impatient = asyncio.ensure_future(made.complete(ask()))
        while not server.counts()["requests"]:
            await asyncio.sleep(0.01)
        patient = asyncio.ensure_future(made.complete(ask()))
        await asyncio.sleep(0)
        impatient.cancel()
        answer = await patient
        await made.engine.aclose()
        return answer

    assert asyncio.run(run()).text == "7"
    assert server.counts()["requests"] == 2
    assert made.ledger.query("SELECT count(*) FROM flights")[0][0] == 0
    assert made.spent.calls == 2


def test_a_request_cancelled_at_any_moment_leaves_the_accounts_straight(stack, ask, server):
    made = stack()

    async def run():
        for n in range(60):
            task = asyncio.ensure_future(made.complete(ask(f"item {n}")))
            for _ in range(n % 12):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.05)
        await made.engine.aclose()

    asyncio.run(run())
    assert made.ledger.query("SELECT count(*) FROM flights")[0][0] == 0
    assert made.spent.calls == made.ledger.query("SELECT count(*) FROM intents")[0][0]
    assert made.spent.calls == made.usage.calls >= server.counts()["requests"]


# -- the budget ----------------------------------------------------------------------------


@WAYS
def test_max_calls_is_never_exceeded(stack, ask, server, way):
    server.script({"latency": 0.01})
    made = stack(max_calls=7)
    with pytest.raises(BudgetSpent) as caught:
        way(made, [ask(f"item {n}") for n in range(60)])
    time.sleep(0.1)
    assert server.counts()["requests"] <= 7
    assert caught.value.ceiling == "max_calls"
    assert made.spent.calls == 7


def test_answers_on_record_cost_nothing(stack, ask, server):
    requests = [ask(f"item {n}") for n in range(5)]
    together(stack(), requests)
    made = stack(max_calls=0, max_tokens=0, max_usd=0.0)
    together(made, requests)
    assert made.usage.hits == 5
    with pytest.raises(BudgetSpent):
        made.complete_sync(ask("new"))


def test_a_failed_attempt_counts(stack, ask, server):
    server.script({"status": 500, "times": 2})
    made = stack(retry=QUICK, max_calls=2)
    with pytest.raises(BudgetSpent):
        made.complete_sync(ask())
    assert server.counts()["requests"] == 2
    assert (made.usage.calls, made.usage.retries) == (2, 1)


def test_the_same_run_continues_its_budget_and_another_does_not(stack, ask, server):
    together(stack(run_id="r", max_calls=5), [ask(f"item {n}") for n in range(3)])
    again = stack(run_id="r", max_calls=5)
    outcomes = together(again, [ask(f"more {n}") for n in range(5)], outcomes=True)
    assert sum(isinstance(one, ModelAnswer) for one in outcomes) == 2
    stack(max_calls=5).complete_sync(ask("other"))
    assert server.counts()["requests"] == 6


def test_tokens_are_charged_as_counted_and_reserved_as_feared(stack, ask, server):
    made = stack(max_tokens=2000)
    requests = [ask(f"item {n}", max_tokens=900) for n in range(100)]
    outcomes = together(made, requests, outcomes=True)
    spent = made.spent
    usage = made.usage
    assert spent.tokens == usage.input_tokens + usage.output_tokens <= 2000
    # Ten at a time would not fit if each kept what it reserved.
    assert sum(isinstance(one, ModelAnswer) for one in outcomes) >= 10
    assert {one.ceiling for one in outcomes if isinstance(one, BudgetSpent)} == {"max_tokens"}


def test_dollars_are_charged_at_the_price(stack, ask):
    made = stack(price=(1e4, 2e4), max_usd=3.0)
    outcomes = together(made, [ask(f"item {n}", max_tokens=10) for n in range(20)], outcomes=True)
    usage = made.usage
    expected = (usage.input_tokens * 1e4 + usage.output_tokens * 2e4) / 1e6
    assert usage.cost_usd == pytest.approx(expected) == pytest.approx(made.spent.usd)
    assert usage.cost_usd <= 3.0
    assert any(isinstance(one, BudgetSpent) for one in outcomes)


def test_a_ceiling_in_dollars_needs_a_price(stack):
    with pytest.raises(ValueError, match="--price IN,OUT"):
        stack(api_base="http://somewhere.example/v1", max_usd=1.0)


def test_an_unknown_price_is_none_and_not_zero(stack, ask, server):
    made = stack(api_base=server.url)
    assert made.usage.cost_usd == 0.0
    assert stack(api_base="http://somewhere.example/v1").usage.cost_usd is None


def test_nothing_is_sent_when_time_is_up(stack, ask, server, monkeypatch):
    made = stack(max_minutes=2)
    made.complete_sync(ask("a"))
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 121)
    monkeypatch.setattr(accounts, "time", later)
    with pytest.raises(BudgetSpent) as caught:
        made.complete_sync(ask("b"))
    assert caught.value.ceiling == "max_minutes"
    assert server.counts()["requests"] == 1


# -- limits, faults, retries ---------------------------------------------------------------


def test_only_a_reply_that_says_it_is_an_error_costs_nothing(stack, ask, server):
    charged = {}
    for status, fault in ((503, {"status": 503, "times": 4}), (200, {"body": "<html>no</html>"})):
        server.script(fault)
        made = stack(retry=QUICK, price=Price(1.0, 1.0))
        with pytest.raises(TransientModelError):
            made.complete_sync(ask(f"item {status}"))
        charged[status] = (made.spent.calls, made.spent.tokens > 0, made.spent.usd > 0)
    assert charged == {503: (4, False, False), 200: (4, True, True)}


def test_a_reply_that_is_no_json_is_told_by_how_it_begins_and_its_status_once(stack, ask, server):
    server.script({"body": "<html>one moment</html>"})
    with pytest.raises(TransientModelError, match=r"is not JSON\. Body starts: '<html>") as caught:
        stack(retry=QUICK).complete_sync(ask())
    assert str(caught.value).count("HTTP 200") == 1
    assert "char 0" not in str(caught.value)


def test_a_refused_key_is_not_quoted(stack, ask, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "my-own-key-123")
    server.script({"status": 401, "body": '{"error": {"message": "bad key my-own-key-123"}}'})
    with pytest.raises(ModelError) as caught:
        stack().complete_sync(ask())
    seen = caught.value
    assert "my-own-key" not in str(seen)
    assert seen.__cause__ is None
    assert seen.__suppress_context__


def test_the_server_says_how_long_to_wait(stack, ask, server):
    from email.utils import formatdate

    # A date has whole seconds, so it is 1 to 2 seconds ahead.
    after = formatdate(time.time() + 2, usegmt=True)
    server.script({"status": 429, "retry_after": after, "times": 1})
    began = time.monotonic()
    stack(retry=QUICK).complete_sync(ask())
    assert time.monotonic() - began >= 0.3


def test_one_request_told_to_wait_holds_the_others_back(stack, ask, server):
    server.script({"status": 429, "retry_after": "0.4", "times": 1})
    made = stack(retry=QUICK, rpm=60_000)
    before, began = made.places, time.monotonic()

    async def run():
        first = asyncio.ensure_future(made.complete(ask("first")))
        while made.places == before:
            await asyncio.sleep(0.005)
        await made.complete(ask("second"))
        waited = time.monotonic() - began
        await first
        await made.engine.aclose()
        return waited

    assert asyncio.run(run()) >= 0.4


def test_a_pause_that_one_process_is_told_holds_for_the_others_of_its_run(stack, ask, server):
    server.script({"status": 429, "retry_after": "0.4", "times": 1})
    told, other = (stack(retry=QUICK, rpm=60_000, run_id="run") for _ in range(2))
    began = time.monotonic()

    async def run():
        first = asyncio.ensure_future(told.complete(ask("first")))
        while not told.ledger.query("SELECT count(*) FROM turns WHERE closed_until > 0")[0][0]:
            await asyncio.sleep(0.01)
        await other.complete(ask("second"))
        waited = time.monotonic() - began
        await first
        await asyncio.gather(told.engine.aclose(), other.engine.aclose())
        return waited

    assert asyncio.run(run()) >= 0.4


@pytest.fixture
def short_queue(monkeypatch):
    """Have places under the limits taken shortly before they are up."""
    for module in (client, records):
        monkeypatch.setattr(module, "AHEAD", 0.1)


@pytest.mark.parametrize(
    ("way", "options"), [(together, {}), (in_threads, {"ledger": None})], ids=["kept", "not kept"]
)
def test_who_is_told_to_come_again_keeps_to_the_rate(stack, ask, way, options, short_queue):
    made = stack(rpm=600, **options)
    began = time.monotonic()
    way(made, [ask(f"item {n}") for n in range(7)])
    assert time.monotonic() - began >= 0.6


def test_a_run_that_goes_on_waits_for_no_place_of_one_that_was_killed(stack, ask, short_queue):
    killed = stack(rpm=2, run_id="run")  # each place is half a minute after the one before

    async def cut_short():
        tasks = [asyncio.ensure_future(killed.complete(ask(f"item {n}"))) for n in range(30)]
        await tasks[0]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await killed.aclose()

    asyncio.run(cut_short())
    # A wait that would outlast the run is refused.
    resumed = stack(rpm=600, run_id="run", max_minutes=0.4)
    assert resumed.complete_sync(ask("item 29")).text == "7"


def test_a_wait_that_would_outlast_the_run_is_not_begun(stack, ask, monkeypatch):
    waits = []

    async def noted(waiting, seconds):
        waits.append(seconds)
        await asyncio.sleep(0.001)

    monkeypatch.setattr(Suspending, "sleep", noted)
    made = stack(rpm=1, max_minutes=0.9)
    outcomes = together(made, [ask("a"), ask("b")], outcomes=True)
    assert max(waits, default=0) < 1  # the wait would take a minute
    assert [type(one) for one in outcomes] == [ModelAnswer, BudgetSpent]


# -- what comes back -----------------------------------------------------------------------


def test_settings_that_the_engine_dropped_are_said(stack, ask, server):
    request = ask(extra=(("top_k", "5"),))
    for _ in range(2):
        asked = stack()
        assert "config.top_k dropped" in asked.complete_sync(request).adaptations[0]
        asked.complete_sync(request)
        assert len(asked.adaptations) == 1
    assert "top_k" not in server.counts()["recent"][0]["body"]


def test_lone_surrogates_are_sent_replaced_and_said(stack, server):
    odd = ModelRequest(
        model="openai/m",
        prefix=Prefix(
            [Message("system", "s\udc00"), Message("user", "b"), Message("assistant", "c")]
        ),
        user="a\ud800b",
    )
    answer = stack().complete_sync(odd)
    assert answer.adaptations == (
        "text substituted: lone surrogates, which no server accepts, were sent as U+FFFD",
    )
    sent = [one["content"] for one in server.counts()["recent"][0]["body"]["messages"]]
    assert sent == ["s\ufffd", "b", "c", "a\ufffdb"]


# -- engines that only compute -------------------------------------------------------------


class Pure:
    endpoint = "pure"

    def __init__(self):
        self.n_answers = 0

    def answer(self, request):
        self.n_answers += 1
        return ModelAnswer(text=request.user.upper(), input_tokens=3, output_tokens=1)


# handle

NAMES = ["openai/gpt-4o", "openai/gpt-5", "openai/gpt-5-chat", "openai/o3-mini", "ollama/llama3"]
ITEMS = [RatedItem(source="The bridge opened on Monday.", response="It opened Monday.")]


@for_each("name", NAMES)
@for_each("temperature", [0.0, 0.5, 1.0, None])
@for_each("ceiling", [None, 5, 20000])
def test_it_keeps_the_settings_that_dspy_keeps(name, temperature, ceiling):
    settings = {"temperature": temperature, "max_output_tokens": ceiling}
    light = client_model(name, ledger=None, **settings)
    whole = model(name, ledger=None, **settings)
    assert dict(light.kwargs) == whole.kwargs
    assert request_settings(light) == request_settings(whole)


@pytest.mark.parametrize("make", [model, client_model])
@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("max_usdd", "max_usd"),
        ("max_call", "max_calls"),
        ("temprature", "temperature"),
        ("max_ouput_tokens", "max_output_tokens"),
        ("Ledger", "ledger"),
    ],
)
def test_a_misspelt_argument_is_refused_and_opens_nothing(make, misspelt, meant, tmp_path):
    with pytest.raises(InputError, match=misspelt) as caught:
        make("openai/gpt-4o", ledger=tmp_path / "ledger.sqlite", **{misspelt: 1})
    assert caught.value.hint == f"did you mean {meant}?"
    assert not list(tmp_path.iterdir())


PROVIDERS = (
    *("max_completion_tokens", "max_input_tokens", "max_new_tokens", "max_tool_calls"),
    *("min_tokens", "itpm", "otpm", "stream_timeout", "top_p", "seed"),
)
"""The nearest of the settings that LiteLLM, OpenAI and vLLM take to those of our own."""


@for_each("setting", PROVIDERS)
def test_a_setting_of_a_provider_is_no_misspelt_argument(setting):
    made = client_model("openai/gpt-4o", ledger=None, **{setting: 1})
    assert made.kwargs[setting] == 1


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


def test_a_judge_that_only_dspy_can_ask_is_given_dspys_model():
    judge = ActiveCritic(variant="vanilla")
    judge.grade.config["temperature"] = 0.0
    executor = Executor.of(judge, client_model("offline", ledger=None))
    assert isinstance(executor, DSPyExecutor)
    assert score_batch(executor, ITEMS)[0].score is not None


def test_what_is_no_model_of_ours_has_no_stack():
    assert lm_client_of(ClientModel) is None


def test_a_budget_of_128_in_flight_is_used_up_exactly(stack, ask, server):
    server.script({"latency": 0.02})
    outcomes = together(stack(max_calls=50), [ask(f"item {n}") for n in range(128)], outcomes=True)
    assert sum(isinstance(one, ModelAnswer) for one in outcomes) == 50
    assert sum(isinstance(one, BudgetSpent) for one in outcomes) == 78
    assert server.counts()["requests"] == 50


def test_a_fault_is_not_remembered(stack, ask, server):
    server.script({"status": 400, "times": 1})
    made = stack()
    with pytest.raises(ModelError):
        made.complete_sync(ask())
    assert made.complete_sync(ask()).text == "7"
