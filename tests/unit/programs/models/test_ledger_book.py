import pytest

from judgesmith.programs.lm import (
    Budget,
    BudgetSpent,
    CacheError,
    ModelAnswer,
    ResponseCache,
    Spent,
)
from judgesmith.programs.lm.cache.records import (
    Claim,
    Granted,
    Settle,
    SqliteDatabase,
    Withdraw,
    connect,
)

ANSWER = ModelAnswer(text="7", input_tokens=10, output_tokens=1)


def claims(ledger, n, run="run", **budget):
    return [
        Claim(
            identity=b"%16d" % number,
            run=ledger.run(run),
            budget=Budget(**budget),
            tokens=100,
            usd=0.1,
            seconds=float(number),
        )
        for number in range(n)
    ]


def outcomes_and_sums(path, *, together):
    """Claim eight requests where the budget has room for five, and end some of them."""
    ledger = ResponseCache(path)
    asked = claims(ledger, 8, max_calls=5)

    def applied(writes):
        each = [writes] if together else [[one] for one in writes]
        return [outcome for some in each for outcome in ledger.apply(some)]

    found = applied(asked)
    granted = [one.intent for one in found if isinstance(one, Granted)]
    settled = Settle(
        claim=asked[0],
        intent=granted[0],
        model=ledger.model("m", "e"),
        answer=ANSWER,
        tokens=11,
        usd=0.03,
        seconds=9.0,
    )
    applied([settled, Withdraw(claim=asked[1], intent=granted[1]), asked[7], asked[6]])
    spent, other = ledger.spent("run"), ledger.spent("another run")
    rows = ledger.query("SELECT count(*) FROM flights")[0][0]
    ledger.close()
    return [str(one) for one in found], spent, other, rows


def test_writes_of_one_transaction_are_charged_as_they_would_be_one_by_one(tmp_path):
    together = outcomes_and_sums(tmp_path / "a.sqlite", together=True)
    assert together == outcomes_and_sums(tmp_path / "b.sqlite", together=False)
    found, spent, other, n_flights = together
    assert [one.startswith("Granted") for one in found] == [True] * 5 + [False] * 3
    assert (spent.calls, spent.tokens, n_flights) == (5, 411, 4)
    assert spent.usd == pytest.approx(0.43)
    assert other == Spent()


def test_a_refusal_sees_what_the_same_transaction_has_charged(tmp_path):
    ledger = ResponseCache(tmp_path / "ledger.sqlite")
    first, second = ledger.apply(claims(ledger, 2, max_tokens=150))
    assert isinstance(first, Granted)
    assert isinstance(second, BudgetSpent)
    assert second.tokens == ledger.spent("run").tokens == 100
    ledger.close()


def test_nothing_is_charged_by_a_transaction_that_fails(tmp_path):
    ledger = ResponseCache(tmp_path / "ledger.sqlite")

    class Broken:
        def apply(self, book, pen):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        ledger.apply([*claims(ledger, 2), Broken()])
    assert ledger.spent("run") == Spent()
    assert ledger.query("SELECT count(*) FROM intents") == [(0,)]
    ledger.close()


def test_sums_that_are_no_numbers_are_said_to_be_damage(tmp_path):
    ledger = ResponseCache(tmp_path / "ledger.sqlite")
    asked = claims(ledger, 1)
    ledger.query("UPDATE runs SET tokens = 'many'")
    with pytest.raises(CacheError, match="damaged"):
        ledger.apply(asked)
    ledger.close()


def test_a_run_was_at_work_for_as_long_as_the_longest_of_its_processes(tmp_path):
    ledger = ResponseCache(tmp_path / "ledger.sqlite")
    asked = claims(ledger, 61)
    granted = [ledger.perform(one) for one in (asked[60], asked[6])]
    assert ledger.spent("run").minutes == 1.0
    ledger.perform(Withdraw(claim=asked[6], intent=granted[1].intent))
    assert ledger.spent("run").minutes == 1.0
    ledger.close()


def test_who_answers_late_lets_go_of_no_request_that_another_has_taken_over(tmp_path):
    connection = connect(tmp_path / "ledger.sqlite")
    book = SqliteDatabase(connection)
    book.hold(bytes(16), 2)
    book.let_go(bytes(16), 1)
    assert book.holder(bytes(16)) == 2
    book.let_go(bytes(16), 2)
    assert book.holder(bytes(16)) is None
    connection.close()
