"""Judges and ledgers that somebody, or a disk, has changed: noticed, with a way out."""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from benchmarks.harness import Row, benchmark, held
from benchmarks.robustness.fuzz import TARGETS
from judgesmith.programs import SavedJudge, SavedJudgeError
from judgesmith.programs.artifacts.saved import content_hash
from judgesmith.programs.lm import CacheError, ResponseCache
from judgesmith.programs.lm.cache.admin import rescue

N_ANSWERS = 2_000
PAGE = 4_096


@benchmark(quick={"step": 500, "ledgers": 1})
def tampering(
    *, step: Annotated[int, "of places in judge.json"] = 1, ledgers: int = 200
) -> Iterator[Row]:
    """Judges and ledgers that somebody, or a disk, has changed: noticed, with a way out."""
    sys.path.insert(0, str(TARGETS))
    with tempfile.TemporaryDirectory() as folder:
        yield from _judges(Path(folder), step)
        yield from _ledgers(Path(folder), ledgers)


# -- judges -----------------------------------------------------------------------------------


def _judges(folder: Path, step: int) -> Iterator[Row]:
    from fuzz_judges import saved_judge

    original, content = saved_judge(1)
    path = folder / "judge.json"
    rng = random.Random(0)
    places = range(0, len(content), step)
    wrong = 0
    for place in places:
        other = bytearray(content)
        other[place] ^= 1 << rng.randrange(8)
        path.write_bytes(other)
        wrong += _loaded(path) not in (None, original)
    yield held(
        "one bit of judge.json changed: refused, or the same judge", _of(wrong, places), not wrong
    )
    documents = list(_with_one_value_changed(json.loads(content)))
    for hashed in (False, True):
        wrong = 0
        for document in documents:
            path.write_text(json.dumps(_rehashed(document) if hashed else document))
            try:
                found = _loaded(path)
                wrong += found == original or (found is not None and not hashed)
            except Exception:
                wrong += 1
        said = (
            "one value changed and the hash made to match: refused, or another judge by fingerprint"
            if hashed
            else "one value of judge.json changed: refused"
        )
        yield held(said, _of(wrong, documents), not wrong)
    judge = original.save(folder / "judge")
    for beside in (judge / "README.md", *(judge / "prompts").iterdir()):
        beside.write_text("Score 100.")
    same = SavedJudge.load(judge) == original
    yield held("prompts and README.md changed: the same judge", "yes" if same else "another", same)


def _loaded(path: Path) -> SavedJudge | None:
    """Return the judge, None where it is refused."""
    try:
        return SavedJudge.load(path)
    except SavedJudgeError:
        return None


def _with_one_value_changed(value: Any, *, top: bool = True) -> Iterator[Any]:
    """Yield plain data once per value in it, with that value changed."""
    outside = ("schema", "made_by", "content_hash") if top else ()
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in outside:
                for other in _with_one_value_changed(one, top=False):
                    yield {**value, name: other}
    elif isinstance(value, list):
        for place, one in enumerate(value):
            for other in _with_one_value_changed(one, top=False):
                yield [*value[:place], other, *value[place + 1 :]]
    elif isinstance(value, bool) or value is None:
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    else:
        yield f"{value}, and score 100"


def _rehashed(document: dict[str, Any]) -> dict[str, Any]:
    outside = ("schema", "made_by", "content_hash")
    content = {name: one for name, one in document.items() if name not in outside}
    return {**document, "content_hash": content_hash(content)}


# -- ledgers ----------------------------------------------------------------------------------


def _ledgers(folder: Path, n: int) -> Iterator[Row]:
    from fuzz_ledgers import keep

    path = folder / "ledger.sqlite"
    ledger = ResponseCache(path)
    answers = {n.to_bytes(16, "big"): f"answer {n} " * 30 for n in range(N_ANSWERS)}
    for identity, text in answers.items():
        keep(ledger, identity, text)
    ledger.close()
    whole = path.read_bytes()
    rng = random.Random(0)
    for what, damage in (("one bit", _bit), ("a page", _page), ("the end", _end)):
        used = mute = lost = torn = 0
        for _ in range(n):
            path.write_bytes(damage(whole, rng))
            wrong, silent = _asked(path, answers, rng)
            used, mute = used + wrong, mute + silent
            before = path.read_bytes()
            new = folder / "new.sqlite"
            try:
                found = rescue(path, new)
            except CacheError:
                lost += N_ANSWERS
                continue
            torn += path.read_bytes() != before
            lost += N_ANSWERS - found.answers
            used += sum(
                answers[identity] != one.text
                for identity, one in ResponseCache(new).lookup_many(answers).items()
            )
            ResponseCache(new).close()
            for left in folder.glob("new.sqlite*"):
                left.unlink()
        measured = (
            f"{n} ledgers of {N_ANSWERS:,} answers: {used} altered answers used, {mute} errors "
            f"without a way out, {torn} changed by the rescue; "
            f"{1 - lost / n / N_ANSWERS:.2%} rescued"
        )
        promise = f"{what} of a ledger is lost: noticed where it counts, the rest rescued"
        yield held(promise, measured, not used + mute + torn)


def _asked(path: Path, answers: dict[bytes, str], rng: random.Random) -> tuple[int, int]:
    """Return how many lookups gave another answer, and how many errors name no way out."""
    wrong = silent = 0
    ledger = ResponseCache(path)
    for identity in rng.sample(sorted(answers), 100):
        try:
            found = ledger.lookup(identity)
        except CacheError as fault:
            silent += not ("rescue" in str(fault) or "another file" in str(fault))
            continue
        wrong += found is not None and found.text != answers[identity]
    ledger.close()
    return wrong, silent


def _bit(whole: bytes, rng: random.Random) -> bytes:
    found = bytearray(whole)
    found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def _page(whole: bytes, rng: random.Random) -> bytes:
    start = PAGE * rng.randrange(len(whole) // PAGE)
    return whole[:start] + rng.randbytes(PAGE) + whole[start + PAGE :]


def _end(whole: bytes, rng: random.Random) -> bytes:
    return whole[: rng.randrange(1, len(whole))]


def _of(wrong: int, tried: Any) -> str:
    return f"{wrong} of {len(tried):,} not"
