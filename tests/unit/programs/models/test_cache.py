"""The response cache: storage, identity, commits and pruning."""

import asyncio
import gc
import io
import json
import os
import sqlite3
import stat
import threading
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.lm import (
    Budget,
    BudgetSpent,
    CacheError,
    ClientModel,
    LMClient,
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    ResponseCache,
    SamplingSettings,
    client_model,
    records,
    request_identity,
    sampling,
)
from judgesmith.programs.lm.cache import admin
from judgesmith.programs.lm.cache import store as ledger_file
from judgesmith.programs.lm.cache.admin import cache_stats, export, exported, prune
from judgesmith.programs.lm.cache.records import (
    Claim,
    Granted,
    Settle,
    Withdraw,
    check_file,
    connect,
)
from judgesmith.programs.lm.cache.store import GroupCommit
from judgesmith.programs.lm.factory import cache_only_model
from judgesmith.programs.lm.records import sample_number

# ledger

ANSWER = ModelAnswer(text="7", input_tokens=10, output_tokens=1)


def claim(ledger, identity=b"a" * 16, *, run="run", tokens=100, usd=1.0, **budget):
    return Claim(
        identity=identity,
        run=ledger.run(run),
        budget=Budget(**budget),
        tokens=tokens,
        usd=usd,
        seconds=1.0,
    )


def settle(ledger, claimed, granted, answer=ANSWER):
    return Settle(
        claim=claimed,
        intent=granted.intent,
        model=ledger.model("m", "e"),
        answer=answer,
        tokens=11,
        usd=0.5,
        seconds=2.0,
    )


def keep(ledger, identity, answer=ANSWER):
    claimed = claim(ledger, identity)
    return ledger.perform(settle(ledger, claimed, ledger.perform(claimed), answer))


def test_there_is_one_ledger_per_path(path, tmp_path):
    assert ResponseCache(path) is ResponseCache(str(path))
    assert ResponseCache(path) is not ResponseCache(tmp_path / "other.sqlite")


def test_only_the_owner_can_read_the_files(path):
    path.parent.mkdir(parents=True)
    path.touch(mode=0o644)
    ledger = ResponseCache(path)
    keep(ledger, bytes(16))
    names = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    suffixes = ("", "-wal", "-shm", "-owners")
    assert names == {f"ledger.sqlite{suffix}": 0o600 for suffix in suffixes}


@pytest.mark.no_cover
def test_a_forgotten_ledger_is_closed(path):
    ledger = ResponseCache(path)
    keep(ledger, bytes(16))
    del ledger
    gc.collect()
    assert not path.with_name("ledger.sqlite-wal").exists()


# -- files that cannot be used -------------------------------------------------------------


def refusal(path):
    with pytest.raises(CacheError) as caught:
        ResponseCache(path).lookup(bytes(16))
    assert str(path) in str(caught.value)
    return str(caught.value)


def notes(path):
    path.write_text("not a database at all, only some notes" * 50)


def somebody_elses(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (id)")
    connection.close()


def of_another_schema(path):
    ledger = ResponseCache(path)
    keep(ledger, bytes(16))
    ledger.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()


def damaged(path):
    ledger = ResponseCache(path)
    for number in range(50):
        keep(ledger, bytes([number]) * 16, ModelAnswer(text="x" * 2000))
    ledger.close()
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (notes, "not an SQLite database"),
        (somebody_elses, "not a Judgesmith ledger"),
        (of_another_schema, "cache schema 99"),
        (damaged, "damaged"),
    ],
)
def test_a_file_that_cannot_be_a_cache_is_refused_and_left_alone(tmp_path, make, said):
    path = tmp_path / "ledger.sqlite"
    make(path)
    before = path.read_bytes()
    assert said in refusal(path)
    assert path.read_bytes() == before


def test_a_place_where_no_file_can_be_is_refused(tmp_path):
    (tmp_path / "file").touch()
    assert "cannot" in refusal(tmp_path)
    assert "cannot open the cache" in refusal(tmp_path / "file" / "ledger.sqlite")


def test_a_read_only_folder_is_refused(path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert "Permission denied" in refusal(path)


def test_a_full_disk_is_said_to_be_full_and_what_was_there_stays(path):
    ledger = ResponseCache(path)
    keep(ledger, b"a" * 16)
    n_pages = ledger.query("PRAGMA page_count")[0][0]
    ledger.query(f"PRAGMA max_page_count={n_pages + 2}")
    with pytest.raises(CacheError, match="no space left"):
        keep(ledger, b"b" * 16, ModelAnswer(text="x" * 100_000))
    assert ledger.lookup(b"a" * 16) is not None


# -- other writers -------------------------------------------------------------------------


def test_a_writer_waits_for_another(path):
    ledger = ResponseCache(path)
    ledger.run("run")
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    thread = threading.Thread(target=lambda: (time.sleep(0.1), other.execute("COMMIT")))
    thread.start()
    assert isinstance(ledger.perform(claim(ledger)), Granted)
    thread.join()
    other.close()


def test_a_writer_does_not_wait_for_ever(path, monkeypatch):
    ledger = ResponseCache(path)
    claimed = claim(ledger)
    monkeypatch.setattr(ledger_file, "PATIENCE", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(CacheError, match="another process"):
        ledger.perform(claimed)
    other.close()


def test_a_look_at_whether_it_can_be_a_ledger_makes_and_changes_nothing(tmp_path):
    place = tmp_path / "new" / "ledger.sqlite"
    ResponseCache(place).check()
    assert list(tmp_path.iterdir()) == []
    ledger = ResponseCache(place)
    keep(ledger, b"a" * 16)
    # Another process would look at it while it is open, and after that: with a log and without.
    check_file(place)
    ledger.check()
    ledger.close()
    before = {one.name: one.read_bytes() for one in place.parent.iterdir()}
    check_file(place)
    ResponseCache(place).check()
    assert {one.name: one.read_bytes() for one in place.parent.iterdir()} == before


def test_a_ledger_that_was_killed_while_it_was_young_may_be_one(tmp_path):
    source, young = tmp_path / "source.sqlite", tmp_path / "young.sqlite"
    ledger = ResponseCache(source)
    keep(ledger, b"a" * 16)
    for end in ("", "-wal"):
        young.with_name(young.name + end).write_bytes(
            source.with_name(source.name + end).read_bytes()
        )
    check_file(young)
    (tmp_path / "empty.sqlite").write_bytes(b"")
    check_file(tmp_path / "empty.sqlite")
    with sqlite3.connect(source, isolation_level=None) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        check_file(source)
    busy.close()


# group commit

CLAIM = Claim(identity=bytes(16), run=1, budget=Budget(), tokens=1, usd=0.0, seconds=0.0)
OTHER = Withdraw(claim=CLAIM, intent=1)


class Ledger:
    def __init__(self, *, busy=0, fault=None):
        self.busy = busy
        self.fault = fault
        self.batches = []

    def apply(self, writes):
        if self.busy:
            self.busy -= 1
            busy = sqlite3.OperationalError("database is locked")
            busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise busy
        if self.fault:
            raise self.fault
        self.batches.append(list(writes))
        return list(range(len(writes)))


def committed(ledger, n, **options):
    async def run():
        commit = GroupCommit(ledger, asyncio.get_running_loop(), **options)
        return await asyncio.gather(*[commit.submit(CLAIM) for _ in range(n)])

    return asyncio.run(run())


def test_writes_submitted_together_are_committed_together():
    ledger = Ledger()
    assert committed(ledger, 5) == [0, 1, 2, 3, 4]
    assert len(ledger.batches) == 1


def test_a_busy_file_is_tried_again():
    ledger = Ledger(busy=3)
    assert committed(ledger, 2) == [0, 1]
    assert len(ledger.batches) == 1


def test_a_file_that_stays_busy_is_an_error():
    with pytest.raises(CacheError, match="does not release"):
        committed(Ledger(busy=1000), 1, patience=0.01)


def test_a_failed_commit_fails_everyone_in_it():
    async def run():
        commit = GroupCommit(Ledger(fault=CacheError("no")), asyncio.get_running_loop())
        futures = [commit.submit(CLAIM) for _ in range(3)]
        return await asyncio.gather(*futures, return_exceptions=True)

    assert [type(one) for one in asyncio.run(run())] == [CacheError] * 3


def test_a_refusal_reaches_only_the_one_refused():
    class Half(Ledger):
        def apply(self, writes):
            refusal = BudgetSpent("no", ceiling="max_calls", calls=1, tokens=0, usd=0, minutes=0)
            return [1, refusal]

    async def run():
        commit = GroupCommit(Half(), asyncio.get_running_loop())
        futures = [commit.submit(CLAIM) for _ in range(2)]
        return await asyncio.gather(*futures, return_exceptions=True)

    granted, refused = asyncio.run(run())
    assert granted == 1
    assert isinstance(refused, BudgetSpent)


def test_a_cancelled_claim_is_not_made_and_any_other_write_is():
    ledger = Ledger()

    async def run():
        commit = GroupCommit(ledger, asyncio.get_running_loop())
        for write in (CLAIM, OTHER):
            commit.submit(write).cancel()
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert ledger.batches == [[OTHER]]


# housekeeping


@pytest.fixture
def filled(stack, ask, path, server):
    server.script({"logprobs": {"7": -0.5}, "contains": "item 0"})
    made = stack()
    for n in range(3):
        made.complete_sync(ask(f"item {n}", logprobs=1))
    made.complete_sync(ask("item 0", name="openai/other"))
    return ResponseCache(path)


def test_stats_say_what_is_there(filled, server, path):
    stats = cache_stats(filled)
    assert (stats.answers, stats.calls, stats.path) == (4, 4, str(path))
    assert [(one.model, one.answers, one.endpoint) for one in stats.models] == [
        ("openai/m", 3, server.url),
        ("openai/other", 1, server.url),
    ]
    assert stats.models[0].input_tokens > 0
    assert stats.size_bytes > 4096


def test_pruning_by_model_and_age_leaves_the_others_and_what_was_spent(filled):
    later = time.time() + 2 * 86400
    assert prune(filled, older_than_days=1) == 0
    assert prune(filled, model="openai/other") == 1
    assert (cache_stats(filled).answers, cache_stats(filled).calls) == (3, 4)
    assert prune(filled, older_than_days=1, model="openai/other", now=later) == 0
    assert prune(filled, older_than_days=1, now=later) == 3


@pytest.mark.parametrize("portion", [1, 2, 3])
def test_pruning_in_portions_finds_all_and_nothing_else(filled, monkeypatch, portion):
    monkeypatch.setattr(admin, "_PORTION", portion)
    assert prune(filled, model="openai/m") == 3
    assert [one.model for one in cache_stats(filled).models] == ["openai/other"]
    assert prune(filled, model="openai/m") == 0


def test_pruning_needs_a_condition(filled):
    with pytest.raises(ValueError, match="say what to prune"):
        prune(filled)


def test_an_export_holds_every_answer_as_json_lines(filled):
    out = io.StringIO()
    assert export(filled, out) == 4
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [row["text"] for row in rows] == ["7"] * 4
    assert rows[0]["logprobs"][0]["top"] == [["7", -0.5]]
    assert rows == list(exported(filled))


@pytest.mark.parametrize("look", [cache_stats, lambda one: prune(one, model="m"), export])
def test_a_ledger_that_is_not_there_is_not_made(path, look):
    with pytest.raises(CacheError, match="no cache at"):
        look(ResponseCache(path)) if look is not export else export(
            ResponseCache(path), io.StringIO()
        )
    assert not path.exists()


# identity

anything = st.text(st.characters(codec=None), max_size=20)
turns = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), anything), max_size=3)


def asked(turns, user, **fields):
    prefix = Prefix([Message(role, text) for role, text in turns])
    return ModelRequest(model="p/m", prefix=prefix, user=user, **fields)


@pytest.mark.no_cover
@given(turns, anything, turns, anything)
def test_two_requests_share_an_identity_only_if_they_are_the_same(a, first, b, second):
    same = request_identity(asked(a, first), "e") == request_identity(asked(b, second), "e")
    assert same == ((a, first) == (b, second))


CHANGES = [
    {"sample": 1},
    {"settings": SamplingSettings(temperature=0.5)},
    {"settings": SamplingSettings(temperature=None)},
    {"settings": SamplingSettings(max_tokens=5)},
    {"settings": SamplingSettings(top_p=0.5)},
    {"settings": SamplingSettings(stop=("a", "b"))},
    {"settings": SamplingSettings(stop=("ab",))},
    {"settings": SamplingSettings(seed=0)},
    {"settings": SamplingSettings(logprobs=0)},
    {"settings": SamplingSettings(extra=(("top_k", "1"),))},
    {"original": object()},
]


def test_everything_that_can_change_an_answer_changes_the_identity():
    identities = {request_identity(asked([], "x", **change), "e") for change in [{}, *CHANGES]}
    identities.add(request_identity(asked([], "x"), "elsewhere"))
    other = ModelRequest(model="p/n", prefix=Prefix(), user="x")
    identities.add(request_identity(other, "e"))
    assert len(identities) == len(CHANGES) + 3


def test_a_whole_number_and_its_float_are_the_same_setting():
    whole = asked([], "x", settings=SamplingSettings(temperature=1))
    assert request_identity(whole, "e2") == request_identity(
        asked([], "x", settings=SamplingSettings(temperature=1.0)), "e2"
    )


def test_the_identity_is_stable_across_releases():
    # Changing this value makes every ledger in the world worthless; see SCHEMA_VERSION.
    request = asked([("user", "a"), ("assistant", "b")], "c")
    assert request_identity(request, "e").hex() == "21ed64b9197534770ffe2d58b4675bec"


def test_demonstrations_are_hashed_once_and_not_for_every_request(monkeypatch):
    request = asked([("user", "x" * 2000), ("assistant", "y" * 2000)] * 64, "z" * 500)
    hashed, framed = [], records.framed
    monkeypatch.setattr(records, "framed", lambda *part: hashed.append(part) or framed(*part))
    request_identity(request, "e")
    assert hashed == [("user", "z" * 500)]


def test_the_sample_number_ends_with_its_block():
    with sampling(sample=1):
        with sampling(2):
            assert sample_number.get() == 2
        assert sample_number.get() == 1
    assert sample_number.get() == 0
    with pytest.raises(ValueError, match="got -1"), sampling(-1):
        pass


# looking


class Echo:
    endpoint = "echo"

    def answer(self, request):
        return ModelAnswer(text=request.user, input_tokens=1, output_tokens=1, seconds=0.25)


def question(text):
    return ModelRequest(model="echo", prefix=Prefix(), user=text)


def test_what_is_on_record_is_found_and_nothing_else_is_asked(tmp_path):
    stack = LMClient(Echo(), ledger=ResponseCache(tmp_path / "ledger.sqlite"))
    stack.complete_sync(question("first"))
    lm = ClientModel(model="echo", client=stack, temperature=0.0, max_tokens=None, recipe={})
    looked = cache_only_model(lm).client
    assert looked.complete_sync(question("first")).from_cache
    with pytest.raises(BudgetSpent, match="not cached"):
        looked.complete_sync(question("second"))
    assert (stack.spent.calls, looked.usage.calls, looked.usage.hits) == (1, 0, 1)
    stack.ledger.close()


def test_a_stack_tells_what_each_answer_took_and_how_many_places_there_are():
    stack = LMClient(Echo())
    heard = []
    stack.on_answer(heard.append)
    stack.complete_sync(question("one"))
    stack.on_answer(None)
    stack.complete_sync(question("two"))
    assert heard == [0.25]
    assert stack.places is None
    at_a_server = client_model("openai/m", ledger=None, api_base="http://localhost:1/v1")
    assert at_a_server.client.places == 32


def test_a_ledger_that_another_process_makes_meanwhile_is_no_other_database(tmp_path, monkeypatch):
    path = tmp_path / "ledger.sqlite"
    opened = []

    class Looking(sqlite3.Connection):
        def execute(self, statement, *given):
            if statement == "PRAGMA user_version" and not opened:
                opened.append(self)
                with suppress(sqlite3.OperationalError):  # it may be told to wait
                    connect(path).close()
            return super().execute(statement, *given)

    open_one = sqlite3.connect

    def looking(*where, **named):
        return open_one(*where, factory=sqlite3.Connection if opened else Looking, **named)

    monkeypatch.setattr(sqlite3, "connect", looking)
    connect(path).close()
    assert opened
    monkeypatch.undo()
    check_file(path)
