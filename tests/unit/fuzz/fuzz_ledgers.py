"""A damaged ledger: the answers that were kept, or ``CacheError``; never an altered answer."""

import functools
import io
import json

from draws import Draws, mutated
from places import scratch

from judgesmith.programs.lm import Budget, CacheError, ModelAnswer, ResponseCache
from judgesmith.programs.lm.cache.admin import cache_stats, export
from judgesmith.programs.lm.cache.records import Claim, Settle

N = 30


def keep(ledger: ResponseCache, identity: bytes, text: str) -> None:
    claim = Claim(
        identity=identity, run=ledger.run("run"), budget=Budget(), tokens=9, usd=0.0, seconds=0.0
    )
    granted = ledger.perform(claim)
    model = ledger.model("openai/m", "http://127.0.0.1:1/v1")
    answer = ModelAnswer(text=text, input_tokens=7, output_tokens=2, adaptations=("one",))
    ledger.perform(
        Settle(
            claim=claim,
            intent=granted.intent,
            model=model,
            answer=answer,
            tokens=9,
            usd=0.0,
            seconds=0.0,
        )
    )


@functools.cache
def _files() -> tuple[tuple[bytes, bytes], ...]:
    """Return file and write-ahead log of a ledger: at its end, and in the middle of its life."""
    path = scratch() / "whole.sqlite"
    log = path.with_name("whole.sqlite-wal")
    ledger = ResponseCache(path)
    found = []
    for n, (identity, text) in enumerate(_answers().items(), start=1):
        keep(ledger, identity, text)
        if n == N // 2:
            ledger.close()
    found.append((path.read_bytes(), log.read_bytes()))
    ledger.close()
    found.append((path.read_bytes(), b""))
    return tuple(found)


@functools.cache
def _answers() -> dict[bytes, str]:
    return {bytes([n]) * 16: f"answer {n} " * (1 + 60 * (n % 7 == 0)) for n in range(N)}


def fuzz_one(data: bytes) -> None:
    """Open one ledger with a few faults, read all of it, ask for more."""
    draws = Draws(data)
    whole, log = draws.of(_files())
    kind = draws.below(8)
    if kind == 7:
        whole, log = draws.blob(255), draws.blob(50)
    elif kind > 4 and log:
        log = mutated(draws, log)
    else:
        whole = mutated(draws, whole)
    path = scratch() / "damaged.sqlite"
    # The files stay the same ones: a lock file is kept open for every one that was ever used.
    path.write_bytes(whole)
    path.with_name("damaged.sqlite-wal").write_bytes(log)
    path.with_name("damaged.sqlite-shm").unlink(missing_ok=True)
    ledger = ResponseCache(path)
    try:
        _read(ledger)
    finally:
        ledger.close()


def _read(ledger: ResponseCache) -> None:
    answers = _answers()
    for identity, text in answers.items():
        try:
            found = ledger.lookup(identity)
        except CacheError as fault:
            _way_out(fault)
            continue
        assert found is None or found.text == text
    try:
        several = ledger.lookup_many(answers)
        assert all(answers[identity] == one.text for identity, one in several.items())
        out = io.StringIO()
        export(ledger, out)
        rows = [json.loads(line) for line in out.getvalue().splitlines()]
        assert all(answers[bytes.fromhex(row["identity"])] == row["text"] for row in rows)
        cache_stats(ledger)
    except CacheError as fault:
        _way_out(fault)
    try:
        keep(ledger, b"x" * 16, "new")
        assert ledger.lookup(b"x" * 16).text == "new"
    except CacheError as fault:
        _way_out(fault)


def _way_out(fault: CacheError) -> None:
    assert "damaged.sqlite" in str(fault)
    said = str(fault)
    assert any(word in said for word in ("choose", "name another", "rescue", "use the version"))
