"""Budgets: accounts of a run, and reservations for requests."""

import asyncio

import loopback_faults
import pytest

from judgesmith.programs.lm import Budget, BudgetSpent, ModelAnswer, Price, Retry, Spent
from judgesmith.programs.lm.accounts import NoCache, RunAccount
from judgesmith.programs.lm.budget import UsageMeter, check
from judgesmith.programs.lm.cache.records import Settle

# A run's accounts: it begins with its first claim, and goes on where it was left.

NAME = bytes(16)


@pytest.fixture
def store():
    return NoCache()


def after(seconds, store, budget=None):
    """Return accounts of a run that has been at work for so long, in another process."""
    claim = RunAccount(store, "run", Budget(), None).claim(NAME, tokens=10, usd=0.0)
    outcome = store.perform(claim)
    store.perform(
        Settle(
            claim=claim,
            intent=outcome.intent,
            model=0,
            answer=ModelAnswer(text="a"),
            tokens=7,
            usd=0.5,
            seconds=seconds,
        )
    )
    return RunAccount(store, "run", budget or Budget(), Price(1.0, 1.0))


def test_a_run_goes_on_with_what_it_spent_and_how_long_it_took(store):
    accounts = after(120.0, store)
    assert (accounts.spent.calls, accounts.spent.tokens, accounts.spent.usd) == (1, 7, 0.5)
    accounts.claim(NAME, tokens=1, usd=0.0)
    assert 120.0 <= accounts.seconds < 180.0


def test_no_pause_is_begun_that_would_end_after_the_time_is_up(store):
    accounts = after(60.0, store, Budget(max_minutes=2))
    accounts.claim(NAME, tokens=1, usd=0.0)
    accounts.check_time(30.0)
    with pytest.raises(BudgetSpent) as refusal:
        accounts.check_time(61.0)
    assert refusal.value.ceiling == "max_minutes"


def test_a_claim_holds_the_budget_and_what_is_held_back(store):
    budget = Budget(max_tokens=100)
    claim = RunAccount(store, "run", budget, None).claim(NAME, tokens=40, usd=0.25)
    assert (claim.identity, claim.tokens, claim.usd, claim.budget) == (NAME, 40, 0.25, budget)


# budget


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_usd", "max_minutes"])
def test_a_negative_or_undefined_ceiling_is_refused(name):
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match=name):
            Budget(**{name: wrong})


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(max_calls=3), Spent(calls=3)),
        (Budget(max_tokens=100), Spent(tokens=60)),
        (Budget(max_usd=1.0), Spent(usd=0.6)),
        (Budget(max_minutes=5), Spent(minutes=5.0)),
    ],
)
def test_the_ceiling_in_the_way_is_named_with_what_was_spent(budget, spent):
    with pytest.raises(BudgetSpent) as caught:
        check(budget, spent, tokens=50, usd=0.5)
    assert getattr(budget, caught.value.ceiling) is not None
    assert (caught.value.calls, caught.value.tokens) == (spent.calls, spent.tokens)
    assert (caught.value.usd, caught.value.minutes) == (spent.usd, spent.minutes)


def test_a_request_that_just_fits_is_let_through():
    budget = Budget(max_calls=3, max_tokens=100, max_usd=1.0, max_minutes=5)
    check(budget, Spent(calls=2, tokens=50, usd=0.5, minutes=4.9), tokens=50, usd=0.5)


def test_the_estimate_of_tokens_follows_what_servers_count():
    meter = UsageMeter(priced=True)
    before = meter.estimated_input(10_000)
    for _ in range(50):
        meter.answered(1000, ModelAnswer(text="x", input_tokens=1000, output_tokens=9), usd=0.1)
    assert before == 2500 * 1.25 + 32
    assert 9_000 < (meter.estimated_input(10_000) - 32) / 1.25 <= 10_000
    assert meter.usage.cost_usd == pytest.approx(5.0)


def test_an_answer_without_a_ceiling_is_expected_to_be_as_long_as_the_longest():
    meter = UsageMeter(priced=False)
    meter.answered(10, ModelAnswer(text="x", output_tokens=3000), usd=0.0)
    assert meter.estimated_output(None) == 3000
    assert meter.estimated_output(64) == 64
    assert meter.usage.cost_usd is None


# What is held back for a request: never less than it comes to, where that can be known.

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
from judgesmith.programs.lm import ModelRequest, Prefix, SamplingSettings, client_model

ledger, url, name, ceiling = sys.argv[1:5]
stack = client_model(
    "openai/m", ledger=ledger, api_base=url, run_id="run", price=(1000, 4000),
    **{name: float(ceiling)},
).client

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
@pytest.mark.parametrize("name", list(CEILINGS)[-1:])
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


@pytest.mark.parametrize(
    "budget", [Budget(max_calls=3), Budget(max_tokens=9), Budget(max_usd=1), Budget(max_minutes=5)]
)
def test_refusals_at_one_ceiling_read_the_same_whatever_was_spent(budget):
    said = set()
    for spent in (7, 8.5):
        with pytest.raises(BudgetSpent) as caught:
            check(budget, Spent(calls=spent, tokens=spent, usd=spent, minutes=spent), tokens=5)
        said.add(str(caught.value))
    assert len(said) == 1


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
