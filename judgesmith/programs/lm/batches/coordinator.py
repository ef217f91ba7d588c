"""Where requests are put down for batches, and what becomes of them from file to answer."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from judgesmith.errors import InputError, file_faults
from judgesmith.programs.lm.batches.client import (
    BatchClient,
    BatchService,
    is_whole,
    lines_of,
    private,
)
from judgesmith.programs.lm.batches.state import (
    Asked,
    BatchState,
    Part,
    SettleOnce,
    Together,
    WithdrawOnce,
)
from judgesmith.programs.lm.cache.records import Granted
from judgesmith.programs.lm.errors import (
    BudgetSpent,
    ModelError,
    TransientModelError,
    redacted,
    speaks_of_one_item,
)
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.programs.lm.records import ModelAnswer, ModelRequest


class Collection:
    """The requests of a round, in the order of the items."""

    def __init__(self, coordinator: BatchCoordinator, n_calls: int | None) -> None:
        self._coordinator = coordinator
        self._state = coordinator.state
        self._n_calls = n_calls
        self._item: dict[bytes, tuple[BatchClient, ModelRequest]] = {}
        self._n_items = 0
        self._open: dict[tuple[str, str], _File] = {}
        self._scouts: dict[str, tuple[BatchClient, bytes]] = {}
        self._parts: list[int] = []
        self._used = 0
        first = next(iter(coordinator.clients.values()))
        ceiling = first.budget.max_calls
        self._left = None if ceiling is None else ceiling - first.spent.calls
        rows = first.kept.query("SELECT coalesce(max(id), 0) FROM intents")
        self._since = int(rows[0][0])
        self.n_requests = 0

    def add(self, client: BatchClient, identity: bytes, request: ModelRequest) -> None:
        if identity not in self._item and not self._state.has(identity):
            self._item[identity] = (client, request)

    def next_item(self) -> None:
        """Write what the item asked that was under way; another one begins."""
        place, self._n_items = self._n_items, self._n_items + 1
        item, self._item = self._item, {}
        if not item or not self._fits(place, len(item)):
            return
        for identity, (client, request) in item.items():
            if client.reservations.may_go(identity, request):
                self._scouts.setdefault(client.engine.model, (client, identity))
                self._write(client, identity, request)

    def close(self) -> None:
        for client, identity in self._scouts.values():
            client.reservations.came_back(identity)
        for file in self._open.values():
            file.stream.close()

    @file_faults()
    def discard(self) -> None:
        for part in self._parts:
            self._coordinator.place_of(part, draft=True).unlink(missing_ok=True)

    def _fits(self, place: int, n_requests: int) -> bool:
        """Return whether the calls that are left suffice for an item after those before it."""
        if self._left is None or self._n_calls is None:
            return True
        if self._left <= 0:
            return False
        begun = self._coordinator.begun
        asked = begun.get(place, 0)
        cost = max(n_requests, self._n_calls - asked)
        if self._used and self._used + cost > self._left:
            return False
        self._used += cost
        begun[place] = asked + n_requests
        return True

    def _write(self, client: BatchClient, identity: bytes, request: ModelRequest) -> None:
        line, path, changed = client.engine.line(identity, request)
        file = self._file(client.engine.model, path, len(line))
        tokens, usd = client.reservations.most(request)
        self._state.add(
            Asked(
                identity=identity,
                part=file.part,
                tokens=tokens,
                usd=usd,
                characters=request.n_characters,
                changed=changed,
            )
        )
        file.stream.write(line)
        file.n_requests += 1
        file.n_bytes += len(line)
        self.n_requests += 1

    def _file(self, model: str, path: str, n_bytes: int) -> _File:
        limits = self._coordinator.limits
        file = self._open.get((model, path))
        full = file is not None and (
            file.n_requests >= limits.requests or file.n_bytes + n_bytes > limits.n_bytes
        )
        if file is None or full:
            if file is not None:
                file.stream.close()
            part = self._state.new_part(model, path, since=self._since)
            self._parts.append(part)
            place = self._coordinator.place_of(part, draft=True)
            file = self._open[model, path] = _File(part, self._coordinator.draft(place))
        return file


class _File:
    """A file that is being written."""

    def __init__(self, part: int, stream: IO[bytes]) -> None:
        self.part = part
        self.stream = stream
        self.n_requests = self.n_bytes = 0


_NEVER_RAN = ("batch_expired", "batch_cancelled")
_QUOTED = 200


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a line says of a request, and how that is settled."""

    asked: Asked
    write: SettleOnce | WithdrawOnce
    answer: ModelAnswer | None
    fault: ModelError | None


class BatchReader:
    """Reads lines and caches their answers."""

    def __init__(self, coordinator: BatchCoordinator) -> None:
        self._coordinator = coordinator
        self._state = coordinator.state
        self._models = {one.number: one.model for one in coordinator.state.parts()}
        self._of_set_up: ModelError | None = None
        self.n_answered = 0

    def check(self) -> None:
        if self._of_set_up is not None:
            raise self._of_set_up

    @file_faults()
    def read_once(self, place: Path) -> None:
        """Read a file unless the same was read before."""
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()
        if not self._state.was_read(digest):
            if not is_whole(place):
                raise InputError(
                    f"{place} ends amid a line, so that it may not be all there is.",
                    hint="wait until "
                    "it is copied, or copy it again, and give the same command again.",
                )
            self.read(place)
            self._state.read(digest)

    def read(self, place: Path) -> None:
        for lines in lines_of(place):
            found: dict[bytes, _Outcome] = {}
            for line in lines:
                outcome = self._outcome(line)
                if outcome is not None:
                    found.setdefault(outcome.asked.identity, outcome)
            self._settle(list(found.values()))

    def _settle(self, found: list[_Outcome]) -> None:
        if not found:
            return
        client = next(iter(self._coordinator.clients.values()))
        client.kept.perform(Together(tuple(one.write for one in found)))
        with self._state.together():
            self._state.remove(one.asked.identity for one in found)
            for one in found:
                if one.fault is None:
                    continue
                if speaks_of_one_item(one.fault):
                    self._state.failed(one.asked.identity, one.fault)
                else:
                    self._of_set_up = self._of_set_up or one.fault
        for one in found:
            if one.answer is not None:
                self.n_answered += 1
                self._client(one.asked).answered(one.asked, one.answer)

    def _outcome(self, line: bytes) -> _Outcome | None:
        """Return what a line says, None where it says nothing of a request under way."""
        try:
            told = json.loads(line)
            identity = bytes.fromhex(told["custom_id"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return None
        if "response" not in told and "error" not in told:
            return None  # such as a copy of the request
        asked = self._state.asked(identity)
        if asked is None or asked.intent is None:
            return None
        client = self._client(asked)
        response, error = told.get("response"), told.get("error")
        if isinstance(response, Mapping):
            return self._answered(client, asked, response)
        said = error if isinstance(error, Mapping) else {}
        words = redacted(str(said.get("message") or said.get("code") or "no reply"))[:_QUOTED]
        fault = TransientModelError(f"{client.engine.model} at {client.engine.endpoint}: {words}")
        if said.get("code") in _NEVER_RAN:
            return _Outcome(asked, client.withdrawal(asked, asked.intent), None, fault)
        return _Outcome(asked, client.settlement(asked, None, free=True), None, fault)

    def _answered(self, client: BatchClient, asked: Asked, response: Mapping[str, Any]) -> _Outcome:
        status, body = response.get("status_code"), response.get("body")
        if isinstance(status, int) and status >= 400:
            refusal = client.engine.refusal(status, body)
            return _Outcome(asked, client.settlement(asked, None, free=True), None, refusal)
        try:
            answer = client.engine.answer(body if isinstance(body, Mapping) else {}, asked.changed)
        except ModelError as fault:
            return _Outcome(asked, client.settlement(asked, None), None, fault)
        return _Outcome(asked, client.settlement(asked, answer), answer, None)

    def _client(self, asked: Asked) -> BatchClient:
        return self._coordinator.clients[self._models[asked.part]]


_OVER = frozenset({"completed", "failed", "expired", "cancelled"})
_NEVER_SENT = frozenset({"failed", "expired", "cancelled"})
_QUOTED_FAULTS = 300
_LOOKS = 10  # for a batch that the server does not know, until somebody is asked


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one file of requests holds at most.

    OpenAI takes 50,000 requests and 200 MB. A file is sent from memory, which is why it stays
    below.
    """

    requests: int = 50_000
    n_bytes: int = 100_000_000


class BatchCoordinator:
    """Takes requests down, has them answered in batches, and caches the answers.

    Parameters
    ----------
    output : path
        Where the rows will be; ``OUTPUT.batch`` next to it has the state of the batches.
    run : str
        Whose batches they are; ``FileExistsError`` if there are those of another run.
    folder : path or None
        Where request files are written and answered files are read, for somebody else to submit;
        None submits them.
    limits : BatchLimits
        The size of files.
    """

    def __init__(
        self,
        output: Path,
        *,
        run: str,
        folder: Path | None = None,
        limits: BatchLimits | None = None,
    ) -> None:
        self.folder = folder
        self.limits = limits or BatchLimits()
        self.clients: dict[str, BatchClient] = {}
        self.state = BatchState(output.with_name(f"{output.name}.batch"), run=run)
        self._beside = output
        self._collection: Collection | None = None
        self._services: dict[str, BatchService] = {}
        self._n_answered = 0
        self._n_missed: Counter[int] = Counter()
        self.n_elsewhere = 0
        self.begun: dict[int, int] = {}

    # -- taking down -----------------------------------------------------------------------

    def ask(self, client: BatchClient, identity: bytes, request: ModelRequest) -> Exception:
        """Return why there is no answer to a request, having taken it down if one may come."""
        fault = self.state.fault(identity)
        if fault is not None:
            return fault
        if self._collection is None:
            return client.refuse(request)
        self._collection.add(client, identity, request)
        return BudgetSpent("its answer is still to come.")

    @contextmanager
    def collecting(self, n_calls: int | None) -> Iterator[Collection]:
        """Return a block in which requests are taken down, all of them or none.

        ``n_calls`` is what one item takes at most: a budget is spent on items that it can finish.
        """
        with self.state.together():
            self._collection = Collection(self, n_calls)
            try:
                yield self._collection
            except BaseException:
                self._collection.discard()
                raise
            finally:
                self._collection.close()
                self._collection = None

    def place_of(self, number: int, *, draft: bool = False) -> Path:
        """Return where the requests of a part are written."""
        ending = ".part" if draft else ""
        if self.folder is not None:
            return self.folder / f"requests-{number:04}.jsonl{ending}"
        return self._beside.with_name(f".{self._beside.name}.{number:04}.jsonl{ending}")

    @file_faults()
    def draft(self, place: Path) -> IO[bytes]:
        """Return a new file of requests, open to its owner only unless somebody else submits it."""
        return private(place) if self.folder is None else place.open("wb")

    # -- on the way ------------------------------------------------------------------------

    @file_faults()
    def send(self) -> int:
        """Send what was taken down as far as the budget allows; return how many requests went.

        Requests that another process has asked, or is asking at the moment, are left to it;
        ``n_elsewhere`` says how many these are.
        """
        n_sent = self.n_elsewhere = 0
        for part in self.state.parts("collected"):
            STOPPING.check()
            n = self._reserve(part)
            if not n:
                self._forget(part)
                continue
            n_sent += n
            if self.folder is not None:
                self.place_of(part.number, draft=True).replace(self.place_of(part.number))
                self.state.move(part.number, "written")
                continue
            service = self._service(part.model)
            file = service.upload(self.place_of(part.number, draft=True))
            self.state.move(part.number, "submitting", file=file)
            batch = service.submit(file, part.path, self._mark(part))
            self.state.move(part.number, "submitted", batch=batch)
            self.place_of(part.number, draft=True).unlink(missing_ok=True)
        return n_sent

    def check(self) -> None:
        """Refuse to mix batches and files of one run."""
        wrong = "written" if self.folder is None else "submitted"
        if self.state.parts(wrong):
            other = "--batch-files FOLDER" if self.folder is None else "--batch"
            raise InputError(
                f"requests of this run are {wrong} already.",
                hint=f"use {other}, as before, until they are answered.",
            )

    def pick_up(self) -> None:
        """Resume where an earlier process was stopped, wherever that was."""
        self.check()
        for part in self.state.parts("submitting"):
            batch = self._service(part.model).find(self._mark(part))
            if batch is not None:
                self.state.move(part.number, "submitted", batch=batch)
            else:
                self._give_back(part)
        for part in self.state.parts("collected"):
            self._give_back(part)

    def look(self) -> int:
        """Read the batches that are over; return how many are not.

        A batch that the server does not know may be another account's, or known to other machines
        only. It is paid all the same: its requests are never asked again before somebody has said
        so.
        """
        n_waiting = 0
        lost = []
        for part in self.state.parts("submitted"):
            over = self._looked_at(part)
            n_missed = self._n_missed[part.number] + 1 if over is None else 0
            self._n_missed[part.number] = n_missed
            if n_missed >= _LOOKS:
                lost.append(part)
            else:
                n_waiting += not over
        if lost and not n_waiting:
            raise self._lost(lost)
        return n_waiting

    def _looked_at(self, part: Part) -> bool | None:
        """Return whether a batch is over, and read; None where its answers cannot be found."""
        service = self._service(part.model)
        assert part.batch is not None
        try:
            told = service.look(part.batch)
        except ModelError as fault:
            if fault.status != 404:
                raise
            return None
        if told["status"] not in _OVER:
            return False
        return self._read(part, service, told) or None

    def _lost(self, parts: Sequence[Part]) -> ModelError:
        engine = self.clients[parts[0].model].engine
        n = sum(self.state.count(one.number) for one in parts)
        names = ", ".join(str(one.batch) for one in parts[:3]) + (", …" if len(parts) > 3 else "")
        return ModelError(
            f"{engine.model} at {engine.endpoint}: the server does not know {names}, or what came "
            f"of it (HTTP 404, {_LOOKS} times). With the key and the address that the batch was "
            "submitted with, give the same command again. Should it be gone for good, remove "
            f"{self.state.place}: then its {n} requests are asked, and paid, once more.",
            status=404,
        )

    @file_faults()
    def read_folder(self) -> list[Path]:
        """Read the answered files in the folder; return the request files without any answer."""
        assert self.folder is not None
        waiting = self.state.parts("written")
        before = {one.number: self.state.count(one.number) for one in waiting}
        reader = BatchReader(self)
        ours = {self.place_of(one.number) for one in waiting}
        for place in sorted(self.folder.glob("*.jsonl")):
            if place in ours or place.name.startswith("requests-"):
                continue
            reader.read_once(place)
        left = []
        for part in waiting:
            if self.state.count(part.number) == before[part.number]:
                left.append(self.place_of(part.number))
                continue
            self._close(part, "completed", {})
        reader.check()
        return left

    # -- the end of a part -----------------------------------------------------------------

    @file_faults()
    def _read(self, part: Part, service: BatchService, told: Mapping[str, Any]) -> bool:
        """Read what came of a batch and close its part; False where the server has no such file."""
        reader = BatchReader(self)
        for key in ("output_file_id", "error_file_id"):
            file = told.get(key)
            if not isinstance(file, str) or not file:
                continue
            place = self.place_of(part.number, draft=True).with_suffix(".answers")
            try:
                service.fetch(file, place)
                reader.read(place)
            except ModelError as fault:
                if fault.status != 404:
                    raise
                return False
            finally:
                place.unlink(missing_ok=True)
        self._n_answered += reader.n_answered
        self._close(part, str(told["status"]), told)
        reader.check()
        return True

    def _close(self, part: Part, status: str, told: Mapping[str, Any]) -> None:
        """Settle the requests of a part that nothing was said of, and forget it."""
        client = self.clients[part.model]
        fault = self._unanswered(part, status, told)
        # A queue that is full says nothing about a request, as long as others are answered.
        counts = not (_is_full(told) and self._n_answered)
        for some in self.state.of_part(part.number):
            writes: list[Any] = []
            for one in some:
                assert one.intent is not None
                withdrawn = status in _NEVER_SENT
                writes.append(
                    client.withdrawal(one, one.intent)
                    if withdrawn
                    else client.settlement(one, None)
                )
            client.kept.perform(Together(tuple(writes)))
            with self.state.together():
                for one in some:
                    if counts:
                        self.state.failed(one.identity, fault)
                self.state.remove(one.identity for one in some)
        self._forget(part)

    def _unanswered(self, part: Part, status: str, told: Mapping[str, Any]) -> TransientModelError:
        engine = self.clients[part.model].engine
        said = redacted(" ".join(_errors(told).split()))[:_QUOTED_FAULTS]
        why = f"the batch {part.batch or part.number} is {status}"
        if status == "completed":
            why = "the answered batch has no line for this request"
        shown = f"{engine.model} at {engine.endpoint}: {why}{': ' if said else ''}{said}"
        return TransientModelError(shown)

    # -- reserving -------------------------------------------------------------------------

    def _reserve(self, part: Part) -> int:
        """Claim the requests of a part in order; keep those that the budget allows."""
        client = self.clients[part.model]
        n_granted, n_before = 0, self.state.count(part.number)
        for some in self.state.of_part(part.number):
            outcomes = client.kept.perform(Together(tuple(client.claim(one) for one in some)))
            granted, others = [], []
            for one, outcome in zip(some, outcomes, strict=True):
                if isinstance(outcome, Granted):
                    granted.append((outcome.intent, one.identity))
                    client.meter.sent(again=False)
                else:
                    others.append(one.identity)
                    self.n_elsewhere += not isinstance(outcome, BudgetSpent)
            with self.state.together():
                self.state.granted(granted)
                self.state.remove(others)
            n_granted += len(granted)
        if 0 < n_granted < n_before:
            self._keep_lines(part)
        return n_granted

    @file_faults()
    def _keep_lines(self, part: Part) -> None:
        """Take the requests out of a file that were not granted."""
        place = self.place_of(part.number, draft=True)
        kept = place.with_suffix(".kept")
        with place.open("rb") as whole, self.draft(kept) as file:
            for line in whole:
                identity = bytes.fromhex(line[len('{"custom_id": "') :][:32].decode())
                if self.state.asked(identity) is not None:
                    file.write(line)
        kept.replace(place)

    def _give_back(self, part: Part) -> None:
        """Take back what was claimed for a part that was never submitted."""
        client = self.clients[part.model]
        run = client.kept.run(client.run_id)
        rows = client.kept.query(
            "SELECT identity, id FROM intents WHERE run = ? AND id > ? ORDER BY id DESC",
            (run, part.since),
        )
        intents = dict(rows)  # the first of each, since others may have asked it later
        for some in self.state.of_part(part.number):
            writes = [
                client.withdrawal(one, intents[one.identity])
                for one in some
                if one.identity in intents
            ]
            if writes:
                client.kept.perform(Together(tuple(writes)))
        self._forget(part)

    @file_faults()
    def _forget(self, part: Part) -> None:
        self.state.drop(part.number)
        for draft in (True, False):
            with suppress(FileNotFoundError):
                self.place_of(part.number, draft=draft).unlink()

    def _mark(self, part: Part) -> dict[str, str]:
        return {"judgesmith_run": self.state.token, "judgesmith_part": str(part.number)}

    def _service(self, model: str) -> BatchService:
        if model not in self._services:
            client = self.clients[model]
            self._services[model] = BatchService(client.engine, client.retry)
        return self._services[model]

    def finished(self) -> None:
        """Remove the state: its content is in the cache and in the rows."""
        self.state.finished()

    def close(self) -> None:
        """Let go of connections and state, which stays, or is removed where there is nothing."""
        for client in self.clients.values():
            client.engine.close()
        self.state.close()


def _errors(told: Mapping[str, Any]) -> str:
    errors = told.get("errors")
    listed = errors.get("data") if isinstance(errors, Mapping) else None
    first = listed[0] if isinstance(listed, list) and listed else None
    return str(first.get("message") or first.get("code")) if isinstance(first, Mapping) else ""


def _is_full(told: Mapping[str, Any]) -> bool:
    return "token_limit_exceeded" in str(told.get("errors"))[:2000]
