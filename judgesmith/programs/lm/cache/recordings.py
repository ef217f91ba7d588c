"""What a run was fields, in one file that plays in place of the model."""

from __future__ import annotations

import gzip
import io
import json
import math
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import InputError, file_faults
from judgesmith.front_door import at
from judgesmith.programs.lm.cache.records import (
    ANSWER_COLUMNS,
    CacheDatabase,
    Pen,
    answer_with,
    detail_of,
    unpacked,
)
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.errors import (
    BudgetSpent,
    CacheError,
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.lm.records import (
    Engine,
    ModelAnswer,
    ModelRequest,
    PureEngine,
    answering,
    request_identity,
)

_KINDS: dict[str, type[ModelError]] = {
    "refused": ModelError,
    "passing": TransientModelError,
    "too long": ContextWindowExceeded,
}
_BUDGET = "budget"
Number = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a request ended that came to no answer."""

    model: str
    endpoint: str
    kind: str
    message: str
    status: int | None = None
    ceiling: str = ""
    spent: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in (*_KINDS, _BUDGET) or len(self.spent) != 4 * (self.kind == _BUDGET):
            raise InputError(f"no failure of a request is {self.kind!r} with {self.spent}.")

    @classmethod
    def of(cls, fault: ModelError | BudgetSpent, *, model: str, endpoint: str) -> Failure:
        if isinstance(fault, BudgetSpent):
            return cls(
                model=model,
                endpoint=endpoint,
                kind=_BUDGET,
                message=str(fault),
                ceiling=fault.ceiling,
                spent=(fault.calls, fault.tokens, fault.usd, fault.minutes),
            )
        kinds = (name for name, kind in reversed(_KINDS.items()) if isinstance(fault, kind))
        return cls(
            model=model,
            endpoint=endpoint,
            kind=next(kinds),
            message=str(fault),
            status=fault.status,
        )

    def raised(self) -> ModelError | BudgetSpent:
        if self.kind != _BUDGET:
            return _KINDS[self.kind](self.message, status=self.status)
        calls, tokens, usd, minutes = self.spent
        return BudgetSpent(
            self.message,
            ceiling=self.ceiling,
            calls=int(calls),
            tokens=int(tokens),
            usd=usd,
            minutes=minutes,
        )


class Recording:
    """Notes what became of every request that goes through stacks, and plays failures again."""

    def __init__(self, failures: Mapping[bytes, Failure] | None = None) -> None:
        self.answered: set[bytes] = set()
        self.failures: dict[bytes, Failure] = {}
        self.played = dict(failures or {})
        self._lock = threading.Lock()

    def add(self, *identities: bytes) -> None:
        with self._lock:
            self.answered.update(identities)
            for identity in identities:
                self.failures.pop(identity, None)

    def failed(
        self, identity: bytes, fault: ModelError | BudgetSpent, *, model: str, endpoint: str
    ) -> None:
        with self._lock:
            if identity not in self.answered:
                self.failures[identity] = Failure.of(fault, model=model, endpoint=endpoint)

    def fault(self, identity: bytes) -> ModelError | BudgetSpent | None:
        """Return what became of a request that failed when it was recorded, or None."""
        kept = self.played.get(identity)
        return None if kept is None else kept.raised()


FORMAT = "judgesmith cassette 1"
_PORTION = 1000
_MOST = 2**63  # what a ledger can hold

_Row = tuple[bytes, str, str, ModelAnswer]
"""Identity, model, endpoint, answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a recording holds."""

    answers: int
    recording: Recording


@file_faults()
def save_recording(
    ledger: ResponseCache, output: Path, *, recording: Recording | None = None, whole: bool = True
) -> int:
    """Write every answer of a cache to a file, and return how many there are."""
    if not ledger.exists():
        raise CacheError(f"there is no cache at {ledger.name}; nothing was asked that it holds.")
    recording = recording or Recording()
    rows = _rows_of(ledger, "") if whole else list(_chosen(ledger, sorted(recording.answered)))
    answered = {identity for identity, *_ in rows}
    failures = {one: recording.failures[one] for one in recording.failures if one not in answered}
    head = {"format": FORMAT, "answers": len(rows)}
    with draft_beside(output) as draft:
        draft.chmod(0o600)  # as private as the ledger itself
        with _written(draft, packed_up=output.suffix == ".gz") as file:
            file.write(_line(head | ({"failures": len(failures)} if failures else {})))
            for identity, model, endpoint, *row in rows:
                with ledger.explained():
                    answer = unpacked(identity, tuple(row))
                file.write(_line(_plain((identity, model, endpoint, answer))))
            for identity, failure in sorted(failures.items()):
                file.write(_line({"identity": identity.hex(), **asdict(failure)}))
        put(draft, output)
    return len(rows)


def _chosen(ledger: ResponseCache, identities: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(identities), _PORTION):
        portion = identities[start : start + _PORTION]
        marks = ", ".join("?" * len(portion))
        yield from _rows_of(ledger, f"WHERE a.identity IN ({marks})", portion)


def _rows_of(
    ledger: ResponseCache, condition: str, values: Sequence[bytes] = ()
) -> list[tuple[Any, ...]]:
    return ledger.query(
        "SELECT a.identity, m.model, m.endpoint, "  # noqa: S608
        + ", ".join(f"a.{name}" for name in ANSWER_COLUMNS.split(", "))
        + f" FROM answers a JOIN models m ON m.id = a.model {condition} ORDER BY a.identity",
        values,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingFile:
    """A recording that was read whole."""

    rows: list[_Row]
    failures: dict[bytes, Failure]

    def play(self, ledger: ResponseCache) -> Played:
        """Cache every answer; those that are cached already stay as they are."""
        for start in range(0, len(self.rows), _PORTION):
            portion = self.rows[start : start + _PORTION]
            numbers = [ledger.model(model, endpoint) for _, model, endpoint, _ in portion]
            kept = [(row[0], number, row[3]) for row, number in zip(portion, numbers, strict=True)]
            ledger.perform(_Play(answers=kept))
        return Played(answers=len(self.rows), recording=Recording(self.failures))


def play_recording(path: Path, ledger: ResponseCache) -> Played:
    """Cache every answer of a recording, and return how many there are, and the failures."""
    return read_recording(path).play(ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Play:
    """Cache answers that no request of this cache's runs was sent for."""

    answers: Sequence[tuple[bytes, int, ModelAnswer]]

    def apply(self, database: CacheDatabase, pen: Pen) -> None:
        for identity, model, answer in self.answers:
            database.keep(identity, 0, model, answer)


def _plain(row: _Row) -> dict[str, Any]:
    identity, model, endpoint, answer = row
    return {
        "identity": identity.hex(),
        "model": model,
        "endpoint": endpoint,
        "text": answer.text,
        "finish_reason": answer.finish_reason,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        **detail_of(answer),
    }


@file_faults()
def read_recording(path: Path) -> RecordingFile:
    try:
        packed = path.suffix == ".gz"
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if packed
            else path.open(encoding="utf-8") as file
        ):
            head = json.loads(file.readline())
            if head["format"] != FORMAT:
                raise InputError(head["format"])
            fields = [json.loads(line) for line in file]
            rows = [_row(one) for one in fields[: head["answers"]]]
            failures = dict(_failure(one) for one in fields[head["answers"] :])
            if (len(rows), len(failures)) != (head["answers"], head.get("failures", 0)):
                raise InputError(f"{len(rows)} answers")
    except (ValueError, TypeError, KeyError, EOFError, RecursionError, zlib.error) as fault:
        raise InputError(
            "not a recording, or changed since it was recorded.", at=path, hint="record it again."
        ) from fault
    except gzip.BadGzipFile as fault:
        raise InputError(
            "not packed, but its name says so.", at=path, hint="name it .jsonl."
        ) from fault
    return RecordingFile(rows=rows, failures=failures)


def _failure(fields: dict[str, Any]) -> tuple[bytes, Failure]:
    identity, status = bytes.fromhex(fields["identity"]), _count(fields["status"])
    spent = tuple(float(one) for one in fields["spent"])
    if not all(map(math.isfinite, spent)):
        raise InputError(spent)
    words = {
        name: str(fields[name]) for name in fields if name not in ("identity", "status", "spent")
    }
    return identity, Failure(spent=spent, status=status, **words)


def _row(fields: dict[str, Any]) -> _Row:
    answer = answer_with(
        fields,
        text=str(fields["text"]),
        finish_reason=str(fields["finish_reason"]),
        input_tokens=_count(fields["input_tokens"]),
        output_tokens=_count(fields["output_tokens"]),
    )
    return bytes.fromhex(fields["identity"]), str(fields["model"]), str(fields["endpoint"]), answer


def _count(fields: object) -> int | None:
    if fields is None or (type(fields) is int and 0 <= fields < _MOST):
        return fields
    raise InputError(fields)


def _line(content: dict[str, Any]) -> str:
    # Escaped, because an answer may hold lone surrogates, which no text file can.
    return json.dumps(content, separators=(",", ":")) + "\n"


@contextmanager
def _written(path: Path, *, packed_up: bool) -> Iterator[IO[str]]:
    with file_faults(path), path.open("wb") as raw:
        if not packed_up:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as file:
                yield file
            return
        # Without name and time, which would change the bytes.
        with (
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped,
            io.TextIOWrapper(zipped, encoding="utf-8", newline="\n") as file,
        ):
            yield file


_SHOWN = 100


class NotRecorded(ModelError):  # noqa: N818 - the name says what happened, like BudgetSpent
    """No model is called, and the requested response is not recorded."""


def replaying(engine: Engine | PureEngine) -> Engine | PureEngine:
    """Return an engine that stands where another does and sends nothing."""
    if isinstance(engine, PureEngine):
        offline: Any = at("judgesmith.programs.offline:OfflineEngine")

        class SilentOffline(offline):
            """The model that ships with the code, which says nothing."""

            silent = True

            def answer(self, request: ModelRequest) -> ModelAnswer:
                _refuse(request, self)

        silent: PureEngine = SilentOffline()
        return silent
    return _Silent(engine)


class _Silent:
    """Stands where an engine does that sends requests."""

    silent = True

    def __init__(self, engine: Engine) -> None:
        self.endpoint = engine.endpoint
        self.route = str(getattr(engine, "route", engine.endpoint))
        self.scores_texts = bool(getattr(engine, "scores_texts", False))

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        _refuse(request, self)

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        _refuse(request, self)

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _refuse(request: ModelRequest, engine: Engine | PureEngine) -> NoReturn:
    identity = request_identity(request, answering(engine)).hex()
    end = " ".join(request.user.split())[-_SHOWN:]
    raise NotRecorded(
        f"no recorded answer to the request {identity} to {request.model} (sample "
        f"{request.sample}), which ends {end!r}.",
        hint="record it, or ask the model.",
    )
