"""How much a server takes on: places in its queue, and sizes of what it reads."""

from __future__ import annotations

from dataclasses import dataclass

from judgesmith.errors import InputError
from judgesmith.programs.running import CONCURRENCY


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingLimits:
    """What bounds a server's work and memory, whatever its clients do.

    Attributes
    ----------
    queue : int
        Items that may wait for their turn, over all requests; with 0 an item is taken only if it
        can be begun at once.
    concurrency : int
        Items judged at the same time; of a judge that compares, sources.
    max_body : int
        Bytes of one request, and of one line of a stream, which as a whole may have any length.
    max_items : int
        Items of one batch.
    max_chars : int
        Characters of each text.

    Raises
    ------
    ValueError
        If one is too small, or the largest batch would never fit into the queue.

    Examples
    --------
    >>> ServingLimits(queue=4, concurrency=2, max_items=10)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: a batch of 10 items would never fit: 4 may wait and 2 are judged at \
a time; raise the queue, or lower the items of a batch to 6.
    """

    queue: int = 256
    concurrency: int = CONCURRENCY
    max_body: int = 4 * 2**20
    max_items: int = 100
    max_chars: int = 200_000

    def __post_init__(self) -> None:
        """Reject limits that nothing could keep."""
        least = {"queue": 0, "concurrency": 1, "max_body": 1, "max_items": 1, "max_chars": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise InputError(f"{name} must be {low} or more; got {getattr(self, name)}.")
        if self.max_items > self.places:
            raise InputError(
                f"a batch of {self.max_items} items would never fit: {self.queue} may wait and "
                f"{self.concurrency} are judged at a time; raise the queue, or lower the items of "
                f"a batch to {self.places}."
            )

    @property
    def places(self) -> int:
        """Items that are accepted and not finished, at most."""
        return self.queue + self.concurrency

    @property
    def stream_places(self) -> int:
        """How many places may be taken when a stream takes one more: others come first."""
        return self.queue // 2 + self.concurrency
