"""Scoring by batches: what the judge would ask is taken down and answered, round by round.

A judge is run over all items as in ordinary scoring, from the cached responses; what it asks
that has no answer is taken down instead of sent. When a round takes nothing down any more, the
rows can be written by ordinary scoring, which finds everything in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.judging.runner import iter_scores, judges_sources
from judgesmith.programs.lm import AnyModel
from judgesmith.programs.lm.batches import BatchCoordinator
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.programs.lm.waiting import BLOCKING, driven
from judgesmith.signatures import RatedItem

_FIRST_LOOK = 1.0  # seconds
_GROWTH = 1.5
_ELSEWHERE = 0.25  # seconds until it is looked again what another process was answered


def answer_in_batches(
    judge: AnySaved,
    read: Callable[[], Iterator[RatedItem]],
    coordinator: BatchCoordinator,
    *,
    lm: AnyModel,
    poll: float = 60.0,
    watch: Callable[[str], None] | None = None,
) -> tuple[Path, ...]:
    """Have everything answered that a judge asks about some items, as far as the budget goes."""
    if not poll > 0:
        raise InputError(f"poll must be above zero seconds; got {poll:g}.")
    tell = watch or (lambda words: None)
    with STOPPING.attended():
        coordinator.pick_up()
        while True:
            if coordinator.folder is None:
                _wait(coordinator, poll, tell)
            elif left := coordinator.read_folder():
                return tuple(left)
            n_requests = _taken_down(judge, read(), coordinator, lm)
            if not n_requests:
                return ()
            tell(f"sending {n_requests} requests")
            if coordinator.send():
                continue
            if not coordinator.n_elsewhere:
                return ()
            driven(BLOCKING.sleep(_ELSEWHERE))


def _taken_down(
    judge: AnySaved, items: Iterator[RatedItem], coordinator: BatchCoordinator, lm: AnyModel
) -> int:
    """Take down what a judge asks next about each item; return how many requests these are."""
    together = judges_sources(judge)
    with coordinator.collecting(None if together else calls_per_item(judge)) as round_:

        def one_by_one() -> Iterator[RatedItem]:
            for item in items:
                round_.next_item()  # the one before it has asked all it can
                yield item

        # One at a time: nothing is waited for, and the requests of an item stay together.
        for _ in iter_scores(judge, one_by_one(), lm=lm, concurrency=1):
            if together:
                round_.next_item()
        round_.next_item()
        return round_.n_requests


def _wait(coordinator: BatchCoordinator, poll: float, tell: Callable[[str], None]) -> None:
    """Wait until all batches under way are over and read."""
    distance = min(_FIRST_LOOK, poll)
    while n_waiting := coordinator.look():
        tell(f"waiting for {n_waiting} {'batch' if n_waiting == 1 else 'batches'}")
        driven(BLOCKING.sleep(distance))
        distance = min(poll, _GROWTH * distance)
