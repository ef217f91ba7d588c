"""Judging on a cluster: pieces of rows go to workers, and judgements come back in order.

Ray starts workers, keeps them alive and moves what they are told; a row is asked about and read
as in one process. Which worker judges a row, and how often one is lost, changes no judgement:
answers are on the ledger before they are used, and a piece without a judgement is given to
another worker, which finds there what the lost one had been answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.scoring.clusters.connecting import (
    ClusterError,
    connected_ray,
    nodes_elsewhere,
    own_address,
    said_by_ray,
)
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe, in_environment
from judgesmith.experiments.scoring.clusters.worker import (
    NEW,
    Done,
    Presence,
    RowFault,
    RowText,
    Tallies,
    Worker,
    elsewhere,
)
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.runner import CONCURRENCY, judges_sources
from judgesmith.programs.lm import AnyModel, CacheError, ModelError, lm_client_of
from judgesmith.programs.lm.limits import STOPPING, Stopped
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

_PIECE = 64  # rows sent to a worker at a time at most
_MOST_LOSSES = 20  # workers that one piece may lose before it is taken for what kills them
_AHEAD = 4  # how many times what is under way may be finished but not yet handed out
_LOOK = 0.2  # seconds between two looks at whether the end was asked for


@dataclass(eq=False)
class _Piece:
    """Rows that travel together."""

    items: list[RatedItem]
    done: Done | None = None
    n_losses: int = 0


@dataclass(eq=False)
class _Hand:
    """A worker as the driver sees it."""

    actor: Any
    room: int = 0
    waiting: Any = None  # Ray's answer to whether it is there; None once it is
    presence: Presence | None = None


class RayJudging:
    """Judges items on the workers of a cluster; called like ``iter_scores`` with all else bound.

    Get one from ``ray_judging``.

    Attributes
    ----------
    tallies : Tallies
        What workers asked and spent, and which settings they sent another way.
    """

    def __init__(
        self,
        ray: ModuleType,
        recipe: JudgeRecipe,
        *,
        n_workers: int,
        concurrency: int,
        home: str | None,
    ) -> None:
        self._ray = ray
        self._size = max(1, min(_PIECE, concurrency))
        # While one piece ends, the rows of others keep all places of a worker in use.
        self._room = 1 + -(-2 * concurrency // self._size)
        self._given = {"concurrency": concurrency, "n_workers": n_workers, "home": home}
        self._recipe = ray.put(recipe)
        self._n_started = 0
        self.tallies = Tallies()
        self._hands = [_Hand(None) for _ in range(n_workers)]
        for hand in self._hands:
            self._start(hand)

    @property
    def workers(self) -> tuple[Presence, ...]:
        """The workers that are there, as far as they said so."""
        return tuple(one.presence for one in self._hands if one.presence is not None)

    def __call__(self, items: Iterable[RatedItem]) -> Iterator[tuple[RatedItem, Judgement]]:
        """Yield items with their judgements, in order, reading only as far ahead as needed.

        Raises
        ------
        ModelError, CacheError, Stopped
            As for ``iter_scores``.
        ClusterError
            If workers cannot work where they are, or the same rows end one after another.
        """
        under_way: dict[Any, tuple[_Hand, _Piece]] = {}
        try:
            with STOPPING.attended():
                yield from self._each(iter(items), under_way)
        finally:
            for ref in under_way:
                with suppress(self._ray.exceptions.RayError):
                    self._ray.cancel(ref)

    def close(self) -> None:
        """End the workers."""
        for hand in self._hands:
            with suppress(self._ray.exceptions.RayError):
                self._ray.kill(hand.actor)

    def _each(
        self, items: Iterator[RatedItem], under_way: dict[Any, tuple[_Hand, _Piece]]
    ) -> Iterator[tuple[RatedItem, Judgement]]:
        in_order: deque[_Piece] = deque()
        again: deque[_Piece] = deque()
        exhausted = told = False
        most = _AHEAD * self._room * len(self._hands)
        while True:
            for hand in self._hands:
                while hand.room and not STOPPING.requested:
                    piece = again.popleft() if again else None
                    if piece is None and not exhausted and len(in_order) < most:
                        piece = self._next(items)
                        exhausted = piece is None
                        if piece is not None:
                            in_order.append(piece)
                    if piece is None:
                        break
                    hand.room -= 1
                    texts = [RowText.of(item) for item in piece.items]
                    under_way[hand.actor.judged.remote(texts)] = hand, piece
            while in_order and (done := in_order[0].done) is not None:
                piece = in_order.popleft()
                yield from zip(piece.items, done.judgements, strict=False)
                if done.fault is not None:
                    raise fault_of(done.fault)
            if not in_order and (exhausted or STOPPING.requested):
                if not exhausted:
                    STOPPING.check()
                return
            if STOPPING.requested and not told:
                told = True
                for hand in self._hands:
                    hand.actor.stop.remote()
            if STOPPING.requested and not under_way:
                STOPPING.check()
            self._take(under_way, again)

    def _next(self, items: Iterator[RatedItem]) -> _Piece | None:
        """Return the next rows; None where there are no more."""
        found: list[RatedItem] = []
        for item in items:
            found.append(item)
            if len(found) == self._size:
                break
        return _Piece(found) if found else None

    def _take(self, under_way: dict[Any, tuple[_Hand, _Piece]], again: deque[_Piece]) -> None:
        """Wait until a worker says something, or is lost, and take it in."""
        waiting = {hand.waiting: hand for hand in self._hands if hand.waiting is not None}
        refs = [*under_way, *waiting]
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=_LOOK)
        if ready and len(refs) > 1:
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in ready:
            if ref in waiting:
                self._arrived(waiting[ref])
                continue
            hand, piece = under_way.pop(ref)
            done = self._done(ref, hand, piece)
            if done is None:
                again.append(piece)
                continue
            piece.done = done
            hand.room += hand.waiting is None
            self.tallies.add(done)

    def _done(self, ref: Any, hand: _Hand, piece: _Piece) -> Done | None:
        """Return what became of a piece; None where its worker was lost."""
        try:
            done: Done = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError:
            raise  # a fault of ours, with where it came from
        except self._ray.exceptions.RayError as fault:
            self._lost(hand, piece, fault)
            return None
        if done.fault is None or done.fault.kind != NEW:
            return done
        if hand.waiting is None:
            self._await(hand)
        return None

    def _arrived(self, hand: _Hand) -> None:
        """Take in that a worker is there, or is not to come back."""
        try:
            presence: Presence = self._ray.get(hand.waiting)
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as fault:
            if self._n_started >= _MOST_LOSSES * len(self._hands):
                raise ClusterError(f"workers end as they begin: {said_by_ray(fault)}") from None
            self._start(hand)
            return
        if presence.fault is not None:
            raise fault_of(presence.fault, node=presence.node)
        hand.waiting, hand.room, hand.presence = None, self._room, presence

    def _start(self, hand: _Hand) -> None:
        """Start a worker, which Ray starts again by itself wherever there is room."""
        self._n_started += 1
        kind = self._ray.remote(Worker)
        hand.actor = kind.options(num_cpus=1, max_restarts=-1).remote(**self._given)
        self._await(hand)

    def _await(self, hand: _Hand) -> None:
        hand.room, hand.presence = 0, None
        hand.waiting = hand.actor.ready.options(max_task_retries=-1).remote(self._recipe)

    def _lost(self, hand: _Hand, piece: _Piece, fault: Exception) -> None:
        """Note that a worker was lost, and with it a piece that another one gets."""
        piece.n_losses += 1
        if piece.n_losses > _MOST_LOSSES:
            item = piece.items[0]
            raise ClusterError(
                f"{piece.n_losses} workers ended over the same {len(piece.items)} rows, the first "
                f"of which is {item.source_id or item.key!r}: {said_by_ray(fault)}.",
                hint="give workers more memory, or score these rows without --engine ray.",
            )
        if hand.waiting is None:
            self._await(hand)


def fault_of(fault: RowFault, *, node: str | None = None) -> Exception:
    """Return a worker's fault as what one process would have raised."""
    if fault.kind == "model":
        return ModelError(fault.message, status=fault.status)
    if fault.kind == "ledger":
        return CacheError(fault.message)
    if fault.kind == "stopped":
        return Stopped(fault.message)
    return ClusterError(fault.message if node is None else f"the worker at {node}: {fault.message}")


def refuse_unfit(judge: AnySaved, *, workers: int | None, concurrency: int) -> None:
    for name, number in (("workers", workers), ("concurrency", concurrency)):
        if number is not None and number < 1:
            raise InputError(f"{name} must be 1 or more; got {number}.")
    if judges_sources(judge):
        raise InputError(
            "the judge compares all responses to a source with each other, and workers are given "
            "rows in pieces.",
            hint="leave --engine ray out, which reads all rows first.",
        )


@contextmanager
def ray_judging(
    judge: AnySaved,
    lm: AnyModel | None = None,
    *,
    address: str | None = None,
    workers: int | None = None,
    concurrency: int = CONCURRENCY,
) -> Iterator[RayJudging]:
    """Return a block in which items are judged by workers on a cluster.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        Bound to its models, where it has several.
    lm : dspy.LM, ClientModel or None
        The model; None takes DSPy's current one, or the offline model. Workers make it again, with
        keys from the environment of their own machine.
    address : str or None
        Of the cluster: ``HOST:PORT``, ``auto``, ``ray://HOST:PORT``; None or ``local`` has one of
        this machine's own for the block. A process that is connected already stays so.
    workers : int or None
        Processes that judge; None takes one for each processor of the cluster.
    concurrency : int
        Requests that each worker has under way at once.

    Yields
    ------
    RayJudging
        Called with items, it yields them with their judgements, in order.

    Raises
    ------
    ValueError
        If ``workers`` or ``concurrency`` is below 1, the judge compares responses to a source, or
        the models cannot be made again elsewhere.
    ImportError
        If Ray is not installed.
    ClusterError
        If there is no cluster, or it has nodes that cannot reach the ledger.
    """
    refuse_unfit(judge, workers=workers, concurrency=concurrency)
    judge, lm = with_own_models(judge, lm)
    recipe = JudgeRecipe.of(judge, lm)
    client = lm_client_of(lm)
    ledger = None if client is None else client.ledger
    with in_environment(ledger), connected_ray(address, n_workers=workers) as ray:
        home = own_address() if recipe.is_of_one_machine else None
        if home is not None and (others := nodes_elsewhere(ray, home)):
            raise ClusterError(elsewhere(others[0], home))
        n_workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        judging = RayJudging(
            ray,
            recipe,
            n_workers=n_workers,
            concurrency=concurrency,
            home=home,
        )
        try:
            yield judging
        finally:
            judging.close()
