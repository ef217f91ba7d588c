"""The client as a DSPy language model, and every fault of a server through it."""

import asyncio
import json
import pickle
import traceback
from datetime import date
from urllib.parse import quote

import dspy
import pytest
from dspy import lm15
from looping import for_each

import judgesmith
from judgesmith.programs.lm import (
    BudgetSpent,
    CacheError,
    ContextWindowExceeded,
    Message,
    ModelError,
    ModelRequest,
    Prefix,
    Price,
    Retry,
    TransientModelError,
    lm_client_of,
    model,
    price_of,
    prices_date,
    request_settings,
    sampling,
)
from judgesmith.programs.lm.dspy_lm import seen_by_dspy
from judgesmith.programs.lm.errors import public_address, redacted
from judgesmith.programs.lm.records import framed

# dspy lm

ANSWER = "[[ ## answer ## ]]\n7\n\n[[ ## completed ## ]]"


class Ask(dspy.Signature):
    """Answer the question."""

    question: str = dspy.InputField()
    answer: int = dspy.OutputField()


@pytest.fixture
def adapter():
    return dspy.ChatAdapter(use_json_adapter_fallback=False)


@pytest.fixture
def make_lm(server, path):
    server.script({"answer": ANSWER, "contains": "question"})
    made = []

    def make(name="openai/m", **options):
        options.setdefault("ledger", path)
        made.append(model(name, api_base=server.url, **options))
        return made[-1]

    yield make
    for one in made:
        lm_client_of(one).engine.close()


@pytest.fixture
def predict(adapter):
    """Run a predictor on a model."""

    def run(lm, question="2 + 5?", *, demos=(), **config):
        program = dspy.Predict(Ask)
        program.demos = list(demos)
        with dspy.context(lm=lm, adapter=adapter):
            return program(question=question, config=config)

    return run


def test_sync_and_async_share_answers(make_lm, predict, server, adapter):
    lm = make_lm()
    assert predict(lm).answer == 7

    async def later():
        with dspy.context(lm=lm, adapter=adapter):
            return await dspy.Predict(Ask).acall(question="2 + 5?")

    assert asyncio.run(later()).answer == 7
    assert server.counts()["requests"] == 1


@pytest.mark.parametrize("n_demos", [0, 2])
@pytest.mark.parametrize(
    "config",
    [
        {},
        {"temperature": 0.7, "max_tokens": 50},
        {"logprobs": True, "top_logprobs": 3},
        {"stop": ["x"], "seed": 0, "top_p": 0.5},
        {"presence_penalty": 0.5, "frequency_penalty": 0.0},
    ],
)
def test_the_way_through_dspy_and_the_way_around_it_have_one_identity(
    make_lm, predict, server, adapter, n_demos, config
):
    lm = make_lm(max_output_tokens=64)
    demos = [dspy.Example(question=f"{n} + 1?", answer=n + 1) for n in range(n_demos)]
    predict(lm, "é \U0001f600\n[[ ## x ## ]]", demos=demos, **config)
    rendered = adapter.format(Ask, demos, {"question": "é \U0001f600\n[[ ## x ## ]]"})
    *before, last = [Message(one["role"], one["content"]) for one in rendered]
    request = ModelRequest(
        model="openai/m",
        prefix=Prefix(before),
        user=last.text,
        settings=request_settings(lm, **config),
    )
    assert lm_client_of(lm).lookup(request) is not None
    assert server.counts()["recent"][0]["body"]["messages"] == rendered


def test_dspy_keeps_neither_cache_nor_retries_of_its_own(make_lm):
    lm = make_lm()
    assert (lm.cache, lm.num_retries) == (False, 0)


def test_samples_rollouts_and_candidates_are_different_answers(make_lm, predict, server):
    lm = make_lm(temperature=1.0)
    predict(lm)
    with sampling(1):
        predict(lm)
    predict(lm, rollout_id=0)
    predict(lm.copy(rollout_id=1))
    assert server.counts()["requests"] == 4
    # The first two of these are the samples 0 and 1 from above.
    assert len(predict(lm, n=4).completions.answer) == 4
    assert server.counts()["requests"] == 6


def test_candidates_asked_in_parallel_coroutines_do_not_mix(make_lm, server, adapter):
    lm = make_lm(temperature=1.0)

    async def run():
        with dspy.context(lm=lm, adapter=adapter):
            program = dspy.Predict(Ask)
            await asyncio.gather(
                *[program.acall(question=f"{n}?", config={"n": 3}) for n in range(5)]
            )
        await lm_client_of(lm).engine.aclose()

    asyncio.run(run())
    samples = lm_client_of(lm).ledger.query("SELECT count(*) FROM answers")[0][0]
    assert samples == server.counts()["requests"] == 15


def test_usage_and_history_work_and_hits_use_nothing(make_lm, predict):
    lm = make_lm()
    with dspy.context(track_usage=True):
        first, second = predict(lm), predict(lm)
    assert first.get_lm_usage()["openai/m"]["prompt_tokens"] > 0
    assert not second.get_lm_usage()
    assert lm.history[0]["usage"]["completion_tokens"] > 0
    assert [entry["outputs"] for entry in lm.history[:2]] == [[ANSWER]] * 2


def test_log_probabilities_reach_the_prediction_also_from_the_ledger(make_lm, predict, server):
    server.reset()
    server.script({"answer": ANSWER, "logprobs": {"7": -0.1, "8": -2.4}})
    lm = make_lm()
    for _ in range(2):
        found = predict(lm, logprobs=True, top_logprobs=2).logprobs["content"][0]
        assert found["logprob"] == -0.1
        assert [one["token"] for one in found["top_logprobs"]] == ["7", "8"]


def test_adaptations_reach_the_history_also_from_the_ledger(make_lm, predict):
    lm = make_lm()
    for _ in range(2):
        predict(lm, top_k=5)
        assert lm.history[-1]["adaptations"][0].field == "config.top_k"


@pytest.mark.parametrize(
    ("behaviour", "expected", "seen_by_dspy"),
    [
        ({"status": 401}, ModelError, dspy.LMError),
        ({"status": 503}, TransientModelError, dspy.LMError),
        (
            {"status": 400, "body": '{"error": {"message": "prompt is too long"}}'},
            ContextWindowExceeded,
            dspy.ContextWindowExceededError,
        ),
    ],
)
def test_faults_are_ours_and_dspys_at_once(make_lm, server, behaviour, expected, seen_by_dspy):
    server.reset()
    server.script(behaviour)
    lm = make_lm(retry=Retry(attempts=1))
    with pytest.raises(expected) as caught:
        lm("hello")
    assert isinstance(caught.value, seen_by_dspy)
    assert caught.value.status == behaviour["status"]
    with pytest.raises(expected):
        asyncio.run(lm.acall("hello"))


def test_a_spent_budget_and_a_broken_ledger_pass_through_dspy(make_lm, predict, tmp_path):
    with pytest.raises(BudgetSpent) as caught:
        predict(make_lm(max_calls=0))
    assert (caught.value.ceiling, caught.value.calls) == ("max_calls", 0)
    with pytest.raises(CacheError, match="cannot"):
        predict(make_lm(ledger=tmp_path))


def test_requests_with_tools_are_kept_too(make_lm, server):
    lm = make_lm()
    call = {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "1",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 1}'},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }
    server.reset()
    server.script({"body": json.dumps(call)})

    def request(name):
        tool = lm15.FunctionTool(name=name, parameters={"type": "object", "properties": {}})
        message = lm15.Message.user("add")
        return lm15.Request(model="openai/m", messages=(message,), tools=(tool,))

    for _ in range(2):
        answer = lm(request=request("add"))
        assert answer.tool_calls[0].input == {"a": 1}
        assert answer.finish_reason == "tool_call"
    assert server.counts()["requests"] == 1
    assert server.counts()["recent"][0]["body"]["tools"][0]["function"]["name"] == "add"
    lm(request=request("subtract"))
    assert server.counts()["requests"] == 2


def test_text_that_looks_like_the_json_of_a_request_is_another_request(make_lm):
    from judgesmith.programs.lm.dspy_lm import request_from_dspy

    part = lm15.Message.user(lm15.ImagePart(data="eA==", media_type="image/png"))
    odd = request_from_dspy(lm15.Request(model="openai/m", messages=(part,)), sample=0)
    plain = ModelRequest(model="openai/m", prefix=Prefix(), user=odd.user, settings=odd.settings)
    stack = lm_client_of(make_lm())
    assert stack.identity(odd) != stack.identity(plain)


def test_a_saved_program_asks_the_same_model_again(make_lm, predict, adapter, server, tmp_path):
    lm = make_lm(price="1,2", max_calls=50)
    program = dspy.Predict(Ask)
    program.lm = lm
    predict(lm)
    program.save(tmp_path / "program.json")
    saved = (tmp_path / "program.json").read_text()
    assert "max_calls" not in saved
    loaded = dspy.Predict(Ask)
    loaded.load(tmp_path / "program.json", allow_unsafe_lm_state=True)
    stack = lm_client_of(loaded.lm)
    assert loaded.lm._async_engine_spec.client is stack
    with dspy.context(adapter=adapter):
        assert loaded(question="2 + 5?").answer == 7
    assert stack.usage.hits == 1
    assert stack.price == lm_client_of(lm).price
    assert stack.endpoint == server.url
    assert stack.budget.max_calls is None


def test_no_secret_of_the_address_is_saved():
    lm = model("openai/m", ledger=None, api_base="http://me:secret@localhost:1/v1?key=abc")
    state = json.dumps(lm.dump_state())
    assert "secret" not in state
    assert "abc" not in state
    assert "http://localhost:1/v1" in state


def test_copies_share_the_stack(make_lm):
    import cloudpickle

    lm = make_lm()
    program = dspy.Predict(Ask)
    program.lm = lm
    assert lm_client_of(program.deepcopy().lm) is lm_client_of(lm)
    assert lm_client_of(lm.copy(temperature=0.5)) is lm_client_of(lm)
    assert (
        lm_client_of(cloudpickle.loads(cloudpickle.dumps(lm))).endpoint == lm_client_of(lm).endpoint
    )


def test_an_error_that_passes_through_dspy_has_the_name_that_users_catch():
    lm = model("openai/m", api_base="http://localhost:9/v1", ledger=None, max_calls=0)
    with pytest.raises(judgesmith.JudgesmithError) as caught:
        dspy.Predict("question -> answer")(question="2 + 2?", lm=lm)
    fault = caught.value
    assert isinstance(fault, BudgetSpent)
    assert isinstance(fault, dspy.LMError)
    said = "".join(traceback.format_exception_only(fault))
    assert said.startswith(f"{BudgetSpent.__module__}.BudgetSpent: ")
    again = pickle.loads(pickle.dumps(fault))
    assert (type(again), str(again), again.ceiling) == (BudgetSpent, str(fault), "max_calls")
    for ours in (judgesmith.InputError, ModelError):
        seen = seen_by_dspy(ours("no such thing."))
        assert (type(seen).__name__, isinstance(seen, ours)) == (ours.__name__, True)
        assert type(seen).__module__ == ours.__module__


# request


def test_a_system_message_anywhere_but_first_is_refused():
    with pytest.raises(ValueError, match="message 1 of 2"):
        Prefix([Message("user", "a"), Message("system", "b")])


def test_prefixes_are_equal_when_their_messages_are_and_survive_pickling():
    prefix = Prefix([Message("system", "a"), Message("user", "b")])
    assert pickle.loads(pickle.dumps(prefix)) == prefix
    assert len({prefix, Prefix(prefix.messages)}) == 1
    assert prefix != Prefix([Message("system", "ab")])


def test_the_framing_of_messages_cannot_be_imitated_by_their_text():
    assert framed("user", "a") + framed("user", "b") != framed("user", "a" + "user 1\nb")
    assert framed("user", "\ud800") != framed("user", "\udfff")


# redaction


@for_each(
    "secret",
    [
        "sk-proj-abcdef0123456789",
        "sk-abc***def",
        "Bearer abcdef0123456789",
        "AIzaSyA0123456789abcdef",
        "gsk_0123456789abcdef",
        "AKIA0123456789ABCDEF",
        "Basic dXNlcjpwYXNzd29yZA==",
        "me:secretword@",
        "?access_token=0123456789abcdef",
        "&X-Amz-Signature=0123456789abcdef",
        "x-api-key: 0123456789abcdef",
        '"api-key": "0123456789abcdef',
    ],
)
def test_what_looks_like_a_key_is_taken_out(secret):
    host = "h" if secret.endswith("@") else ""
    shown = redacted(f"refused {secret}{host} (HTTP 401)")
    assert "[key]" in shown
    assert secret[-5:-1] not in shown


def test_the_key_of_the_environment_is_taken_out_whatever_it_looks_like(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plainwords")
    assert redacted("you sent plainwords") == "you sent [key]"


def test_a_key_of_the_environment_is_taken_out_however_it_is_spelled(monkeypatch):
    key = "plain words, with a/slash and more of them"
    monkeypatch.setenv("SOME_API_KEY", key)
    assert redacted(f"you sent {quote(key)}") == "you sent [key]"
    assert redacted(f"you sent {quote(key, safe='')} as {key}") == "you sent [key] as [key]"


def test_a_key_of_the_environment_that_is_no_text_is_taken_out_too(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plain\udcffwords")
    assert redacted("you sent plain\udcffwords") == "you sent [key]"
    assert redacted("you sent plain%FFwords to h") == "you sent [key] to h"


def test_a_part_of_a_long_key_is_taken_out(monkeypatch):
    key = "0123456789/abcdefghijklmnopqrstu"
    monkeypatch.setenv("SOME_API_KEY", key)
    assert redacted(f"you sent {key[:15]}****") == "you sent [key]"
    assert redacted(f"it ends in {key[-12:]}") == "it ends in [key]"


@pytest.mark.no_cover
@pytest.mark.parametrize("filling", ["a", "a:", ":", "a:a@", "?", "&a=", "sk-", " ", "basic "])
def test_long_runs_of_anything_take_no_time(filling, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "a" * 30 + "b" * 30)
    assert isinstance(redacted(filling * 200_000), str)


def test_addresses_lose_user_password_and_query():
    assert public_address("http://u:p@[::1]:80/v1/?api_key=x#y") == "http://[::1]:80/v1"
    assert public_address("u:p@h:80/v1?key=x") == "h:80/v1"
    assert redacted("http://u:pw@h/v1?key=abc&x=1") == "http://[key]@h/v1?[key]&x=1"


def test_ordinary_text_stays():
    assert redacted("the sky is blue; risk-averse task-force") == (
        "the sky is blue; risk-averse task-force"
    )
    for text in (
        "user@example.com at 12:30",
        "a basic understanding",
        "http://h:80/v1?n=1",
        "a: b",
    ):
        assert redacted(text) == text


# prices


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
