"""What is held back for a request: never less than it comes to, where that can be known."""

import asyncio

import loopback_faults
import pytest

from judgesmith.programs.lm import BudgetSpent, ModelAnswer, Retry

# Texts of which a token is about a word, half a word, a character, and a third of a character.
TEXTS = {
    "English": "The quick brown fox jumps over the lazy dog. " * 5,
    "German": "Donaudampfschifffahrtsgesellschaftskapitän " * 5,
    "Chinese": "敏捷的棕色狐狸跳过了懒狗。" * 8,
    "emoji": "🦊🐶" * 20,
}


@pytest.fixture(scope="module")
def running_server():
    with loopback_faults.serving() as server:
        yield server


def together(stack, requests):
    async def run():
        try:
            return await asyncio.gather(
                *[stack.complete(one) for one in requests], return_exceptions=True
            )
        finally:
            await stack.aclose()

    return asyncio.run(run())


def spent_at(server):
    return sum(server.tokens().values())


@pytest.mark.no_cover
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_tokenizer_passes_the_ceiling_even_with_one_token_a_byte(stack, ask, server, text):
    server.script({"counting": {"input": 1.0, "output": 400}})
    made = stack(max_tokens=20_000)
    requests = [ask(f"{n} {text}", max_tokens=300) for n in range(200)]
    outcomes = together(made, requests)
    assert spent_at(server) == made.spent.tokens <= 20_000
    assert spent_at(server) > 20_000 - 2 * 1100
    assert {type(one) for one in outcomes} == {ModelAnswer, BudgetSpent}


def test_texts_of_many_languages_do_not_pass_it_together(stack, ask, server):
    server.script({"counting": {"input": 1.0, "output": 400}})
    made = stack(price=(1000, 4000), max_usd=20.0)
    texts = list(TEXTS.values())
    # The short ones teach a ratio that the long ones would not keep to.
    requests = [ask(f"{n} {texts[n // 50]}", max_tokens=300) for n in range(200)]
    together(made, requests)
    tokens = server.tokens()
    assert (tokens["input"] * 1000 + tokens["output"] * 4000) / 1e6 == pytest.approx(made.spent.usd)
    assert 15.0 < made.spent.usd <= 20.0


@pytest.mark.parametrize("prices", [{}, {"price": (1000, 1000)}])
def test_while_nobody_knows_how_long_answers_are_one_goes_ahead(stack, ask, server, prices):
    server.script({"answer": "word " * 4000, "latency": 0.02})
    made = stack(**({"max_usd": 20.0} if prices else {"max_tokens": 20_000}), **prices)
    outcomes = together(made, [ask(f"item {n}") for n in range(32)])
    assert 5_000 < made.spent.tokens <= 20_000
    assert server.counts()["most_in_flight"] <= 2
    assert isinstance(outcomes[0], ModelAnswer)


def test_if_that_one_fails_another_goes_ahead(stack, ask, server):
    server.script({"contains": "item 0", "status": 400})
    made = stack(max_tokens=50_000)
    outcomes = together(made, [ask(f"item {n}") for n in range(9)])
    assert [isinstance(one, ModelAnswer) for one in outcomes] == [False] + [True] * 8


def test_a_server_that_counts_more_than_there_can_be_is_believed_the_next_time(stack, ask, server):
    server.script({"counting": {"input": 9.0, "output": 1}})
    made = stack(max_tokens=50_000)
    outcomes = together(made, [ask("first " * 100, max_tokens=9)])
    outcomes += together(made, [ask(f"{n} " * 300, max_tokens=9) for n in range(100)])
    assert made.spent.tokens == spent_at(server) <= 50_000
    assert sum(isinstance(one, ModelAnswer) for one in outcomes) > 4


def test_what_never_came_back_stays_charged_as_held_back(stack, ask, server):
    server.script({"counting": {"input": 1.0, "output": 300}})
    server.script({"fault": "half_closed", "times": 1})
    made = stack(max_tokens=5_000, retry=Retry(attempts=2, first=0.001))
    together(made, [ask("text " * 40, max_tokens=300)])
    assert spent_at(server) <= made.spent.tokens <= 5_000
    assert server.counts()["requests"] == 2


def test_a_pause_that_outlasts_the_time_left_is_not_begun(stack, ask, server):
    server.script({"status": 429, "retry_after": "500"})
    made = stack(max_minutes=5)
    with pytest.raises(BudgetSpent) as caught:
        made.complete_sync(ask())
    assert caught.value.ceiling == "max_minutes"
    assert (server.counts()["requests"], made.spent.minutes < 1) == (1, True)


CEILINGS = {"max_calls": 60, "max_tokens": 30_000, "max_usd": 60.0}


def in_dollars(tokens):
    return (tokens["input"] * 1000 + tokens["output"] * 4000) / 1e6


def passed(server, name, ceiling):
    """Say whether the server saw more than the ceiling."""
    seen = {
        "max_calls": server.counts()["requests"],
        "max_tokens": spent_at(server),
        "max_usd": in_dollars(server.tokens()),
    }
    return seen[name] > ceiling + 1e-9


@pytest.mark.no_cover
@pytest.mark.parametrize("name", CEILINGS)
def test_growing_budgets_of_one_run_are_never_passed_and_all_is_kept(stack, ask, server, name):
    server.script({"counting": {"input": 1.0, "output": 300}})
    plan = {"seed": 1, "share": 0.2, "kinds": ["half_closed", "garbage", "http_503"]}
    server.script({"plan": plan})
    requests = [ask(f"item-{n} of a hundred", max_tokens=300) for n in range(100)]
    retry = Retry(attempts=4, first=0.001)
    bought = set()
    for turn in range(1, 11):
        ceiling = CEILINGS[name] * turn // 10
        made = stack(run_id="run", price=(1000, 4000), retry=retry, **{name: ceiling})
        outcomes = together(made, requests)
        assert not passed(server, name, ceiling)
        answered = {n for n, one in enumerate(outcomes) if isinstance(one, ModelAnswer)}
        assert answered >= bought
        bought = answered
        assert len(bought) == server.counts()["answered"]
        if name == "max_calls":
            assert server.counts()["requests"] == made.spent.calls == ceiling
    assert server.counts()["answered_again"] == 0
    assert len(bought) > 20


UNDER_A_CEILING = """
import asyncio, sys
from judgesmith.programs.lm import ModelRequest, Prefix, SamplingSettings, model, lm_client_of

ledger, url, name, ceiling = sys.argv[1:5]
stack = lm_client_of(
    model(
        "openai/m", ledger=ledger, api_base=url, run_id="run", price=(1000, 4000),
        **{name: float(ceiling) if name == "max_usd" else int(ceiling)},
    )
)

async def run():
    print("ready", flush=True)
    sys.stdin.readline()
    settings = SamplingSettings(max_tokens=300)
    requests = [
        ModelRequest(model="openai/m", prefix=Prefix(), user=f"item {n}", settings=settings)
        for n in range(200)
    ]
    found = await asyncio.gather(*map(stack.complete, requests), return_exceptions=True)
    await stack.aclose()
    print(sum(not isinstance(one, Exception) for one in found), flush=True)

asyncio.run(run())
"""


@pytest.mark.no_cover
@pytest.mark.parametrize("name", CEILINGS)
def test_two_processes_on_one_ledger_keep_to_one_ceiling_together(in_process, path, server, name):
    server.script({"counting": {"input": 1.0, "output": 300, "latency": 0.02}})
    both = [in_process(UNDER_A_CEILING, path, server.url, name, CEILINGS[name]) for _ in "ab"]
    for process in both:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    answered = []
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        answered.append(int(out))
    assert not passed(server, name, CEILINGS[name])
    counts = server.counts()
    assert counts["answered_again"] == 0
    assert max(answered) <= counts["requests"] == counts["answered"] >= 20
    if name == "max_calls":
        assert counts["requests"] == CEILINGS[name]
