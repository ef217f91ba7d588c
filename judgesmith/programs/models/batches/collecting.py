"""One round of requests taken down: each once, written to files of a size that is allowed."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from judgesmith.errors import file_faults
from judgesmith.programs.models.batches.stack import BatchStack
from judgesmith.programs.models.batches.state import Asked
from judgesmith.programs.models.request import ModelRequest

if TYPE_CHECKING:
    from judgesmith.programs.models.batches.desk import BatchDesk


class Collection:
    """The requests of a round, in the order of the items.

    Parameters
    ----------
    desk : BatchDesk
        Whose round it is.
    n_calls : int or None
        What one item takes at most. Under a ceiling on calls only as many items are begun as can
        be finished; None takes all down.

    Attributes
    ----------
    n_requests : int
        Requests taken down.
    """

    def __init__(self, desk: BatchDesk, n_calls: int | None) -> None:
        self._desk = desk
        self._state = desk.state
        self._n_calls = n_calls
        self._item: dict[bytes, tuple[BatchStack, ModelRequest]] = {}
        self._n_items = 0
        self._open: dict[tuple[str, str], _File] = {}
        self._scouts: dict[str, tuple[BatchStack, bytes]] = {}
        self._parts: list[int] = []
        self._used = 0
        first = next(iter(desk.stacks.values()))
        ceiling = first.budget.max_calls
        self._left = None if ceiling is None else ceiling - first.spent.calls
        rows = first.kept.query("SELECT coalesce(max(id), 0) FROM intents")
        self._since = int(rows[0][0])
        self.n_requests = 0

    def add(self, stack: BatchStack, identity: bytes, request: ModelRequest) -> None:
        """Take down a request of the item under way, unless it is taken down already."""
        if identity not in self._item and not self._state.has(identity):
            self._item[identity] = (stack, request)

    def next_item(self) -> None:
        """Write what the item asked that was under way; another one begins."""
        place, self._n_items = self._n_items, self._n_items + 1
        item, self._item = self._item, {}
        if not item or not self._fits(place, len(item)):
            return
        for identity, (stack, request) in item.items():
            if stack.may_go(identity, request):
                self._scouts.setdefault(stack.engine.model, (stack, identity))
                self._write(stack, identity, request)

    def close(self) -> None:
        """Close the files."""
        for stack, identity in self._scouts.values():
            stack.came_back(identity)
        for file in self._open.values():
            file.stream.close()

    @file_faults()
    def discard(self) -> None:
        """Remove the files."""
        for part in self._parts:
            self._desk.place_of(part, draft=True).unlink(missing_ok=True)

    def _fits(self, place: int, n_requests: int) -> bool:
        """Say whether the calls that are left see an item through, besides those before it."""
        if self._left is None or self._n_calls is None:
            return True
        if self._left <= 0:
            return False
        begun = self._desk.begun
        asked = begun.get(place, 0)
        cost = max(n_requests, self._n_calls - asked)
        if self._used and self._used + cost > self._left:
            return False
        self._used += cost
        begun[place] = asked + n_requests
        return True

    def _write(self, stack: BatchStack, identity: bytes, request: ModelRequest) -> None:
        line, path, changed = stack.engine.line(identity, request)
        file = self._file(stack.engine.model, path, len(line))
        tokens, usd = stack.most(request)
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
        limits = self._desk.limits
        file = self._open.get((model, path))
        full = file is not None and (
            file.n_requests >= limits.requests or file.n_bytes + n_bytes > limits.n_bytes
        )
        if file is None or full:
            if file is not None:
                file.stream.close()
            part = self._state.new_part(model, path, since=self._since)
            self._parts.append(part)
            place = self._desk.place_of(part, draft=True)
            file = self._open[model, path] = _File(part, self._desk.draft(place))
        return file


class _File:
    """A file that is being written."""

    def __init__(self, part: int, stream: IO[bytes]) -> None:
        self.part = part
        self.stream = stream
        self.n_requests = self.n_bytes = 0
