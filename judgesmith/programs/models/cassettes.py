"""Cassettes: all that a run was told in one file, which plays in place of the models."""

import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import InputError, file_faults
from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.ledger_book import Book
from judgesmith.programs.models.ledger_writes import ANSWER_COLUMNS, Pen, unpacked
from judgesmith.programs.models.request import ModelAnswer, TokenLogprob
from judgesmith.programs.models.taping import Failure, Tape

FORMAT = "judgesmith cassette 1"
_PORTION = 1000
_MOST = 2**63  # what a ledger can hold

_Row = tuple[bytes, str, str, ModelAnswer]
"""Identity, model, endpoint, answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a cassette holds.

    Attributes
    ----------
    answers : int
        How many it put on record.
    tape : Tape
        For stacks that are to be told of the same failures.
    """

    answers: int
    tape: Tape


@file_faults()
def record_cassette(
    ledger: Ledger, output: Path, *, tape: Tape | None = None, whole: bool = True
) -> int:
    """Write every answer of a ledger to a file, and return how many there are.

    Parameters
    ----------
    ledger : Ledger
        What a run has asked, or several.
    output : Path
        JSON Lines, packed where the name ends in ``.gz``. It appears whole or not at all, only its
        owner can read it, and it holds nothing of the hour: equal answers make equal bytes.
    tape : Tape or None
        What the stacks of a run noted: the requests that failed are written, too.
    whole : bool
        Whether answers of other runs are written, or those alone that the tape notes.

    Raises
    ------
    LedgerError
        If there is no such ledger, or an answer in it is damaged.
    """
    if not ledger.exists():
        raise LedgerError(f"there is no ledger at {ledger.name}; nothing was asked that it holds.")
    tape = tape or Tape()
    rows = _rows_of(ledger, "") if whole else list(_chosen(ledger, sorted(tape.answered)))
    answered = {identity for identity, *_ in rows}
    failures = {one: tape.failures[one] for one in tape.failures if one not in answered}
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


def _chosen(ledger: Ledger, identities: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(identities), _PORTION):
        portion = identities[start : start + _PORTION]
        marks = ", ".join("?" * len(portion))
        yield from _rows_of(ledger, f"WHERE a.identity IN ({marks})", portion)


def _rows_of(ledger: Ledger, condition: str, values: Sequence[bytes] = ()) -> list[tuple[Any, ...]]:
    return ledger.query(
        "SELECT a.identity, m.model, m.endpoint, "  # noqa: S608
        + ", ".join(f"a.{name}" for name in ANSWER_COLUMNS.split(", "))
        + f" FROM answers a JOIN models m ON m.id = a.model {condition} ORDER BY a.identity",
        values,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """A cassette that was read whole.

    Attributes
    ----------
    rows : list of tuple
        Its answers, each with its identity, model and endpoint.
    failures : dict of bytes to Failure
        The requests that failed.
    """

    rows: list[_Row]
    failures: dict[bytes, Failure]

    def play(self, ledger: Ledger) -> Played:
        """Put every answer on record; those that are on record already stay as they are."""
        for start in range(0, len(self.rows), _PORTION):
            portion = self.rows[start : start + _PORTION]
            numbers = [ledger.model(model, endpoint) for _, model, endpoint, _ in portion]
            kept = [(row[0], number, row[3]) for row, number in zip(portion, numbers, strict=True)]
            ledger.perform(_Play(answers=kept))
        return Played(answers=len(self.rows), tape=Tape(self.failures))


def play_cassette(cassette: Path, ledger: Ledger) -> Played:
    """Put every answer of a cassette on record, and return how many there are, and the failures.

    Answers that are on record already stay as they are.

    Raises
    ------
    ValueError
        If the file is no cassette, or a line of it was changed.
    OSError
        If it cannot be read.
    """
    return read_cassette(cassette).play(ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Play:
    """Put answers on record that no request of this ledger's runs was sent for."""

    answers: Sequence[tuple[bytes, int, ModelAnswer]]

    def apply(self, book: Book, pen: Pen) -> None:
        """Insert what is not there."""
        for identity, model, answer in self.answers:
            book.keep(identity, 0, model, answer)


def _plain(row: _Row) -> dict[str, Any]:
    identity, model, endpoint, answer = row
    told: dict[str, Any] = {
        "identity": identity.hex(),
        "model": model,
        "endpoint": endpoint,
        "text": answer.text,
        "finish_reason": answer.finish_reason,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
    }
    if answer.logprobs is not None:
        told["logprobs"] = [[one.token, one.logprob, one.top] for one in answer.logprobs]
    if answer.adaptations:
        told["adaptations"] = answer.adaptations
    if answer.original is not None:
        told["original"] = answer.original
    return told


@file_faults()
def read_cassette(cassette: Path) -> Cassette:
    """Return what a cassette holds.

    Raises
    ------
    ValueError
        If the file is no cassette, or a line of it was changed.
    OSError
        If it cannot be read.
    """
    try:
        with _read(cassette) as file:
            head = json.loads(file.readline())
            if head["format"] != FORMAT:
                raise InputError(head["format"])
            told = [json.loads(line) for line in file]
            rows = [_row(one) for one in told[: head["answers"]]]
            failures = dict(_failure(one) for one in told[head["answers"] :])
            if (len(rows), len(failures)) != (head["answers"], head.get("failures", 0)):
                raise InputError(f"{len(rows)} answers")
    except (ValueError, TypeError, KeyError, EOFError, RecursionError, zlib.error) as fault:
        raise InputError(
            f"{cassette}: no cassette, or not as it was recorded; record it again."
        ) from fault
    except gzip.BadGzipFile as fault:
        raise InputError(
            f"{cassette}: not packed, but its name says so; name it .jsonl."
        ) from fault
    return Cassette(rows=rows, failures=failures)


def _failure(told: dict[str, Any]) -> tuple[bytes, Failure]:
    identity, status = bytes.fromhex(told["identity"]), _count(told["status"])
    spent = tuple(float(one) for one in told["spent"])
    if not all(map(math.isfinite, spent)):
        raise InputError(spent)
    words = {name: str(told[name]) for name in told if name not in ("identity", "status", "spent")}
    return identity, Failure(spent=spent, status=status, **words)


def _row(told: dict[str, Any]) -> _Row:
    logprobs = None
    if "logprobs" in told:
        logprobs = tuple(
            TokenLogprob(token, float(value), tuple((str(a), float(b)) for a, b in top))
            for token, value, top in told["logprobs"]
        )
    answer = ModelAnswer(
        text=str(told["text"]),
        finish_reason=str(told["finish_reason"]),
        input_tokens=_count(told["input_tokens"]),
        output_tokens=_count(told["output_tokens"]),
        logprobs=logprobs,
        adaptations=tuple(map(str, told.get("adaptations", ()))),
        original=told.get("original"),
    )
    return bytes.fromhex(told["identity"]), str(told["model"]), str(told["endpoint"]), answer


def _count(told: object) -> int | None:
    if told is None or (type(told) is int and 0 <= told < _MOST):
        return told
    raise InputError(told)


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


@contextmanager
def _read(path: Path) -> Iterator[IO[str]]:
    packed_up = path.suffix == ".gz"
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if packed_up
        else path.open(encoding="utf-8") as file
    ):
        yield file
