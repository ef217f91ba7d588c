"""Damage to a ledger is noticed, said with a way out, and costs no more than what it hit."""

import random
import sqlite3

import pytest

from judgesmith.programs.lm import Budget, CacheError, ModelAnswer, ResponseCache
from judgesmith.programs.lm.cache.admin import exported, prune, rescue
from judgesmith.programs.lm.cache.records import Claim, Settle

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


def test_numbers_that_are_missing_are_no_damage(whole, tmp_path):
    connection = sqlite3.connect(whole)
    connection.execute("DELETE FROM answers WHERE id BETWEEN 50 AND 350")
    connection.commit()
    connection.close()
    assert rescue(whole, tmp_path / "new.sqlite").answers == N - 301


def test_the_new_ledger_goes_on_as_the_old_one_did(whole, tmp_path):
    rescue(whole, tmp_path / "new.sqlite")
    ledger = ResponseCache(tmp_path / "new.sqlite")
    keep(ledger, N)
    assert len(answers(ledger.path)) == N + 1
    assert prune(ledger, model="openai/m") == N + 1


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
