import asyncio
import json
import pickle
import traceback

import dspy
import pytest
from dspy import lm15

import judgesmith
from judgesmith.programs.lm import (
    BudgetSpent,
    CacheError,
    ContextWindowExceeded,
    Message,
    ModelError,
    ModelRequest,
    Prefix,
    Retry,
    TransientModelError,
    lm_client_of,
    model,
    request_settings,
    sampling,
)
from judgesmith.programs.lm.dspy_lm import seen_by_dspy

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
