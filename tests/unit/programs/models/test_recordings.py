"""Recordings of answers, and repair of a damaged cache."""

import gzip
import json
import random
import sqlite3
import stat

import pytest

from judgesmith.programs.lm import (
    Budget,
    BudgetSpent,
    CacheError,
    LMClient,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Prefix,
    ResponseCache,
    Spent,
    TokenLogprob,
    TransientModelError,
)
from judgesmith.programs.lm.cache.admin import exported, rescue
from judgesmith.programs.lm.cache.recordings import (
    Failure,
    NotRecorded,
    Recording,
    play_recording,
    replaying,
    save_recording,
)
from judgesmith.programs.lm.cache.records import (
    Claim,
    Granted,
    Settle,
    SqliteDatabase,
    Withdraw,
    connect,
)
from judgesmith.programs.lm.errors import ContextWindowExceeded
from judgesmith.programs.lm.limits import Retry

# cassettes

ANSWERS = (
    ModelAnswer(text="plain", input_tokens=3, output_tokens=1, seconds=0.5),
    ModelAnswer(text="half \ud800 a pair\n", finish_reason="length", input_tokens=None),
    ModelAnswer(text="é", logprobs=(TokenLogprob("é", -0.25, (("é", -0.25), ("e", -2.0))),)),
    ModelAnswer(text="", adaptations=("no temperature.",), original='{"tool": 1}'),
)
FAILED = json.dumps(
    {"identity": "0" * 32, "model": "a/b", "endpoint": "", "kind": "budget", "message": "spent"}
    | {"status": None, "ceiling": "calls", "spent": [1, 2, float("nan"), 4]}
)


class Told:
    """An engine with something to say."""

    endpoint = "http://somewhere"

    def __init__(self):
        self.asked = 0

    async def complete(self, request):
        return self.complete_sync(request)

    def complete_sync(self, request):
        self.asked += 1
        return ANSWERS[int(request.user)]

    async def aclose(self):
        pass

    def close(self):
        pass


def asked(n, sample=0):
    return ModelRequest(model="a/b", prefix=Prefix(), user=str(n), sample=sample)


@pytest.fixture
def ledger(tmp_path):
    """A ledger with every kind of answer."""
    stack = LMClient(Told(), ledger=ResponseCache(tmp_path / "own.sqlite"))
    for n in range(len(ANSWERS)):
        stack.complete_sync(asked(n))
    return stack.ledger


@pytest.mark.parametrize("name", ["one.jsonl", "one.jsonl.gz"])
def test_a_cassette_plays_every_answer_and_sends_nothing(name, ledger, tmp_path):
    cassette = tmp_path / name
    assert save_recording(ledger, cassette) == len(ANSWERS)
    assert stat.S_IMODE(cassette.stat().st_mode) == 0o600
    other = ResponseCache(tmp_path / "other.sqlite")
    assert play_recording(cassette, other).answers == len(ANSWERS)
    engine = Told()
    stack = LMClient(replaying(engine), ledger=other)
    for n, told in enumerate(ANSWERS):
        found = stack.complete_sync(asked(n))
        for field in ("text", "finish_reason", "input_tokens", "output_tokens", "logprobs"):
            assert getattr(found, field) == getattr(told, field)
        assert (found.adaptations, found.original) == (told.adaptations, told.original)
    assert engine.asked == 0
    assert (stack.usage.calls, stack.usage.hits, stack.spent.calls) == (0, len(ANSWERS), 0)
    again = tmp_path / f"again-{name}"
    save_recording(other, again)
    assert again.read_bytes() == cassette.read_bytes()


def test_what_is_missing_is_named(ledger, tmp_path):
    stack = LMClient(replaying(Told()), ledger=ledger)
    with pytest.raises(ModelError, match=r"request [0-9a-f]{32} to a/b .sample 7., which ends '2'"):
        stack.complete_sync(asked(2, sample=7))


def test_answers_on_record_stay_as_they_are(ledger, tmp_path):
    cassette = tmp_path / "one.jsonl"
    save_recording(ledger, cassette)
    text = cassette.read_text().replace('"text":"plain"', '"text":"other"')
    cassette.write_text(text)
    play_recording(cassette, ledger)
    stack = LMClient(replaying(Told()), ledger=ledger)
    assert stack.complete_sync(asked(0)).text == "plain"


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda lines: lines[1:],
        lambda lines: lines[:-1],
        lambda lines: [],
        lambda lines: [lines[0], "[" * 100_000, *lines[2:]],
        lambda lines: [lines[0], json.dumps({"identity": "zz"}), *lines[2:]],
        lambda lines: [lines[0].replace("cassette 1", "cassette 9"), *lines[1:]],
        lambda lines: [line.replace('"input_tokens":3', '"input_tokens":"3"') for line in lines],
        lambda lines: [line.replace('"input_tokens":3', '"input_tokens":-3') for line in lines],
        lambda lines: [
            line.replace('"input_tokens":3', f'"input_tokens":{9**30}') for line in lines
        ],
        lambda lines: [json.dumps({**json.loads(lines[0]), "failures": 1}), *lines[1:], "5"],
        lambda lines: [json.dumps({**json.loads(lines[0]), "failures": 1}), *lines[1:], FAILED],
    ],
)
def test_what_is_no_cassette_is_refused(spoilt, ledger, tmp_path):
    cassette = tmp_path / "one.jsonl"
    save_recording(ledger, cassette)
    cassette.write_text("\n".join(spoilt(cassette.read_text().splitlines())))
    with pytest.raises(ValueError, match="not a recording, or changed since it was recorded"):
        play_recording(cassette, ResponseCache(tmp_path / "other.sqlite"))


def test_a_file_that_is_not_packed_or_cut_off_is_refused(ledger, tmp_path):
    cassette = tmp_path / "one.jsonl.gz"
    cassette.write_text("plain")
    with pytest.raises(ValueError, match="not packed, but its name says so"):
        play_recording(cassette, ledger)
    cassette.write_bytes(gzip.compress(b"x" * 5000)[:-12])
    with pytest.raises(ValueError, match="not a recording"):
        play_recording(cassette, ledger)


def test_a_ledger_that_is_not_there_has_no_cassette(tmp_path):
    with pytest.raises(CacheError, match="there is no cache"):
        save_recording(ResponseCache(tmp_path / "none.sqlite"), tmp_path / "one.jsonl")


# What a run was told is told again: answers by their identity, failures in their own words.

FAULTS = {
    "refused": ModelError("m: no (HTTP 400)", status=400),
    "passing": TransientModelError("m: busy \ud800 (HTTP 503)", status=503),
    "too long": ContextWindowExceeded("m: too long"),
}


class Faulty:
    """An engine that answers some requests, and refuses those that are called like a fault."""

    endpoint = "http://somewhere"

    async def complete(self, request):
        return self.complete_sync(request)

    def complete_sync(self, request):
        if request.user in FAULTS:
            raise FAULTS[request.user]
        return ModelAnswer(text=request.user, input_tokens=1, output_tokens=1)

    async def aclose(self):
        pass

    def close(self):
        pass


def asked_taping(user):
    return ModelRequest(model="a/b", prefix=Prefix(), user=user)


@pytest.fixture
def stack(tmp_path):
    """A stack that notes what it is told, beside answers of another run."""
    ledger = ResponseCache(tmp_path / "own.sqlite")
    LMClient(Faulty(), ledger=ledger).complete_sync(asked_taping("another run"))
    budget = Budget(max_calls=5)
    once = Retry(attempts=1)
    return LMClient(Faulty(), ledger=ledger, budget=budget, retry=once, recording=Recording())


def played(stack, tmp_path, **how):
    """Record what a stack was told, and return one that plays it."""
    cassette = tmp_path / "one.jsonl"
    save_recording(stack.ledger, cassette, recording=stack.recording, **how)
    ledger = ResponseCache(tmp_path / "other.sqlite")
    recording = play_recording(cassette, ledger).recording
    return LMClient(replaying(Faulty()), ledger=ledger, recording=recording)


def told(stack, user):
    try:
        return stack.complete_sync(asked_taping(user)).text
    except (ModelError, BudgetSpent) as fault:
        return type(fault), str(fault), vars(fault)


def test_every_answer_and_every_failure_comes_again(stack, tmp_path):
    users = ["one", *FAULTS, "two", "beyond the budget"]
    first = [told(stack, user) for user in users]
    assert [one if isinstance(one, str) else one[0] for one in first] == [
        *("one", ModelError, TransientModelError, ContextWindowExceeded, "two", BudgetSpent)
    ]
    again = played(stack, tmp_path, whole=False)
    assert [told(again, user) for user in users] == first
    assert (again.usage.calls, again.spent.calls) == (0, 0)
    with pytest.raises(NotRecorded, match="ends 'another run'"):
        again.complete_sync(asked_taping("another run"))


def test_answers_of_other_runs_are_on_a_whole_cassette(stack, tmp_path):
    told(stack, "one")
    again = played(stack, tmp_path)
    assert [told(again, user) for user in ("one", "another run")] == ["one", "another run"]


def test_what_was_looked_up_is_noted(stack, tmp_path):
    assert [
        one and one.text
        for one in stack.lookup_many([asked_taping("another run"), asked_taping("new")])
    ] == ["another run", None]
    assert told(played(stack, tmp_path, whole=False), "another run") == "another run"


def test_a_request_that_was_answered_in_the_end_is_answered(stack, tmp_path, monkeypatch):
    monkeypatch.setitem(FAULTS, "at first", ModelError("m: no (HTTP 400)", status=400))
    assert told(stack, "at first")[0] is ModelError
    monkeypatch.delitem(FAULTS, "at first")
    assert told(stack, "at first") == "at first"
    assert stack.recording.failures == {}
    assert told(played(stack, tmp_path, whole=False), "at first") == "at first"


def test_what_is_no_failure_is_refused():
    for kind, spent in (("odd", ()), ("budget", ()), ("refused", (1, 2, 3, 4))):
        with pytest.raises(ValueError, match="no failure of a request"):
            Failure(model="a", endpoint="b", kind=kind, message="c", spent=spent)


# Damage to a ledger is noticed, said with a way out, and costs no more than what it hit.

N = 400


def text_of(number):
    return f"answer {number} " * 20


def keep(ledger, number):
    claim = Claim(
        identity=number.to_bytes(16, "big"),
        run=ledger.run("a run"),
        budget=Budget(),
        tokens=9,
        usd=0.5,
        seconds=1.0,
    )
    granted = ledger.perform(claim)
    settled = Settle(
        claim=claim,
        intent=granted.intent,
        model=ledger.model("openai/m", "e"),
        answer=ModelAnswer(text=text_of(number), input_tokens=7, output_tokens=2),
        tokens=9,
        usd=0.5,
        seconds=1.0,
    )
    ledger.perform(settled)


@pytest.fixture
def whole(tmp_path):
    """A ledger with answers, closed."""
    ledger = ResponseCache(tmp_path / "old.sqlite")
    for number in range(N):
        keep(ledger, number)
    ledger.close()
    return ledger.path


def answers(path):
    """Return the texts on record by number."""
    ledger = ResponseCache(path)
    found = {int(row["identity"], 16): row["text"] for row in exported(ledger)}
    ledger.close()
    return found


def altered(path, old, new):
    """Change bytes of a file where they stand."""
    content = path.read_bytes()
    assert content.count(old) >= 1
    path.write_bytes(content.replace(old, new, 1))


def test_an_altered_answer_is_never_used(whole):
    altered(whole, b"answer 123 answer 123", b"answer 999 answer 123")
    ledger = ResponseCache(whole)
    assert ledger.lookup((122).to_bytes(16, "big")).text == text_of(122)
    way_out = f"is damaged .*'judgesmith cache rescue --ledger {whole} -o NEW'"
    with pytest.raises(CacheError, match=way_out):
        ledger.lookup((123).to_bytes(16, "big"))
    with pytest.raises(CacheError, match=way_out):
        ledger.lookup_many([(123).to_bytes(16, "big")])
    with pytest.raises(CacheError, match=way_out):
        list(exported(ledger))
    with pytest.raises(CacheError, match=way_out):
        keep(ledger, 123)


def test_an_answer_under_another_identity_is_never_used(whole):
    connection = sqlite3.connect(whole)
    first, second = ((n).to_bytes(16, "big") for n in (7, 8))
    connection.execute("UPDATE answers SET identity = ? WHERE identity = ?", (bytes(15), first))
    connection.execute("UPDATE answers SET identity = ? WHERE identity = ?", (first, second))
    connection.commit()
    connection.close()
    with pytest.raises(CacheError, match="is damaged"):
        ResponseCache(whole).lookup(first)


def test_what_is_sound_is_taken_over_and_the_damaged_file_stays(whole, tmp_path):
    altered(whole, b"answer 123 answer 123", b"answer 999 answer 123")
    before = whole.read_bytes()
    found = rescue(whole, tmp_path / "new.sqlite")
    assert (found.answers, found.altered) == (N - 1, 1)
    assert answers(tmp_path / "new.sqlite") == {n: text_of(n) for n in range(N) if n != 123}
    assert whole.read_bytes() == before
    assert ResponseCache(tmp_path / "new.sqlite").spent("a run").usd == pytest.approx(0.5 * N)
    assert (tmp_path / "new.sqlite").stat().st_mode & 0o077 == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_broken_page_costs_its_own_answers_alone(whole, tmp_path):
    content = bytearray(whole.read_bytes())
    place = content.index(b"answer 200 answer 200")
    page = place - place % 4096
    content[page : page + 4096] = random.Random(0).randbytes(4096)
    whole.write_bytes(content)
    with pytest.raises(CacheError, match="cache rescue"):
        list(exported(ResponseCache(whole)))
    found = rescue(whole, tmp_path / "new.sqlite")
    assert N - 30 < found.answers < N
    kept = answers(tmp_path / "new.sqlite")
    assert len(kept) == found.answers
    assert all(text == text_of(number) for number, text in kept.items())


def test_a_file_that_was_cut_short_gives_what_came_before(whole, tmp_path):
    content = whole.read_bytes()
    whole.write_bytes(content[: len(content) * 2 // 3])
    found = rescue(whole, tmp_path / "new.sqlite")
    assert N // 3 < found.answers < N
    assert all(text == text_of(n) for n, text in answers(tmp_path / "new.sqlite").items())


@pytest.mark.parametrize(
    "content", [b"", b"no database at all", b"SQLite format 3\x00" + bytes(99)]
)
def test_nothing_to_rescue_says_so_and_leaves_nothing(tmp_path, content):
    (tmp_path / "old.sqlite").write_bytes(content)
    with pytest.raises(CacheError, match=r"old\.sqlite"):
        rescue(tmp_path / "old.sqlite", tmp_path / "new.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["old.sqlite"]


def test_a_file_in_the_way_is_not_touched(whole, tmp_path):
    (tmp_path / "new.sqlite").write_text("mine")
    with pytest.raises(CacheError, match="is there already"):
        rescue(whole, tmp_path / "new.sqlite")
    assert (tmp_path / "new.sqlite").read_text() == "mine"
    with pytest.raises(CacheError, match="there is no cache"):
        rescue(tmp_path / "missing.sqlite", tmp_path / "other.sqlite")


def test_a_ledger_of_the_first_schema_is_brought_up_and_keeps_its_answers(whole):
    connection = sqlite3.connect(whole)
    connection.execute("ALTER TABLE answers DROP COLUMN checksum")
    connection.execute("DROP TABLE turns")
    connection.execute("DROP TABLE unfinished")
    connection.execute("PRAGMA user_version=1")
    connection.commit()
    connection.close()
    ledger = ResponseCache(whole)
    assert ledger.lookup(bytes(16)).text == text_of(0)
    keep(ledger, N)
    assert ledger.lookup(N.to_bytes(16, "big")).text == text_of(N)
    assert ledger.query("PRAGMA user_version") == [(4,)]
    assert ledger.query("SELECT count(*) FROM turns") == [(0,)]
    assert ledger.query("SELECT count(*) FROM answers WHERE checksum IS NULL") == [(N,)]


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(12))
def test_wherever_a_file_was_cut_nothing_else_than_kept_answers_comes_out(whole, tmp_path, seed):
    content = whole.read_bytes()
    whole.write_bytes(content[: random.Random(seed).randrange(1, len(content))])
    try:
        rescue(whole, tmp_path / "new.sqlite")
    except CacheError as fault:
        assert "another file" in str(fault)  # noqa: PT017 - it may also be readable
    else:
        kept = answers(tmp_path / "new.sqlite")
        assert all(text == text_of(number) for number, text in kept.items())


def test_a_lost_log_takes_the_last_answers_and_no_others(tmp_path):
    ledger = ResponseCache(tmp_path / "old.sqlite")
    for number in range(20):
        keep(ledger, number)
        if number == 9:
            ledger.close()
    content = ledger.path.read_bytes()
    ledger.close()
    (tmp_path / "copy.sqlite").write_bytes(content)
    assert answers(tmp_path / "copy.sqlite") == {n: text_of(n) for n in range(10)}


def test_a_copy_made_while_it_was_written_holds_no_answer_that_was_not_given(tmp_path):
    ledger = ResponseCache(tmp_path / "old.sqlite")
    for number in range(60):
        if number == 40:
            early = ledger.path.read_bytes()
            ledger.query("PRAGMA wal_checkpoint(TRUNCATE)")
        keep(ledger, number)
    (tmp_path / "copy.sqlite").write_bytes(early)
    log = ledger.path.with_name("old.sqlite-wal").read_bytes()
    (tmp_path / "copy.sqlite-wal").write_bytes(log)
    ledger.close()
    copy = ResponseCache(tmp_path / "copy.sqlite")
    for number in range(60):
        try:
            found = copy.lookup(number.to_bytes(16, "big"))
        except CacheError as fault:
            assert "rescue" in str(fault)  # noqa: PT017 - it may also be readable
        else:
            assert found is None or found.text == text_of(number)
    copy.close()


def test_a_ledger_that_cannot_be_written_says_what_to_do(whole):
    ledger = ResponseCache(whole)
    ledger.query("PRAGMA query_only=ON")
    with pytest.raises(CacheError, match=r"cannot be written .*; make file and folder writable"):
        keep(ledger, N)
    assert ledger.lookup(bytes(16)).text == text_of(0)


# ledger book

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
