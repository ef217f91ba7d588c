"""A run's accounts: it begins with its first claim, and goes on where it was left."""

import pytest

from judgesmith.programs.lm import Budget, BudgetSpent, ModelAnswer, Price
from judgesmith.programs.lm.accounts import NoCache, RunAccount
from judgesmith.programs.lm.cache.records import Settle

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


def test_no_time_passes_before_the_first_claim(store):
    accounts = RunAccount(store, "run", Budget(), None)
    assert accounts.seconds == 0.0
    accounts.claim(NAME, tokens=1, usd=0.0)
    assert accounts.seconds > 0.0


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
