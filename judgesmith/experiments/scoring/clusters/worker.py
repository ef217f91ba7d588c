"""One worker of a cluster, and what all workers spent over all their lives."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from judgesmith.errors import InputError, JudgesmithError
from judgesmith.experiments.scoring.clusters.connecting import own_address
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe
from judgesmith.programs.judging.executors import Executor, calls_per_item
from judgesmith.programs.judging.rows import summed, usage_of
from judgesmith.programs.judging.runner import OneByOne, beginning, read_rate_of
from judgesmith.programs.lm import (
    BudgetSpent,
    CacheError,
    ClientModel,
    ModelError,
    Usage,
    lm_client_of,
)
from judgesmith.programs.lm.limits import STOPPING, Stopped
from judgesmith.signatures.items import RatedItem, item_to_judge
from judgesmith.signatures.judgement import Judgement

ENOUGH_REFUSED = 20
"""Failed requests without one answer after which it is the set-up, as in one process."""


NEW = "new"
"""The kind of fault of a worker that has no judge yet."""


@dataclass(frozen=True, slots=True)
class RowText:
    """What is judged of a row, and nothing else of it: ids, ratings and other fields stay."""

    source: str
    context: str | None
    response: str
    references: tuple[str, ...]

    @classmethod
    def of(cls, item: RatedItem) -> RowText:
        return cls(item.source, item.context, item.response, item.references)

    @property
    def item(self) -> RatedItem:
        return item_to_judge(self.source, self.response, self.context, self.references)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFault:
    """Why a worker went no further, in a form that every process can read."""

    kind: str
    message: str
    status: int | None = None

    @classmethod
    def of(cls, fault: BaseException) -> RowFault:
        if isinstance(fault, ModelError):
            return cls(kind="model", message=str(fault), status=fault.status)
        if isinstance(fault, CacheError):
            return cls(kind="ledger", message=str(fault))
        if isinstance(fault, Stopped):
            return cls(kind="stopped", message=str(fault))
        if isinstance(fault, JudgesmithError):
            return cls(kind="worker", message=str(fault))
        raise fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of a piece of rows."""

    judgements: tuple[Judgement, ...]
    fault: RowFault | None
    life: str
    usage: Usage | None
    adaptations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """A worker that is there: where, and why it cannot work if it cannot."""

    node: str
    process: int
    fault: RowFault | None


class Worker:
    """Judges rows of several pieces side by side; Ray starts it again if its process dies."""

    def __init__(self, *, concurrency: int, n_workers: int, home: str | None) -> None:
        self._life = uuid.uuid4().hex
        self._n_workers = n_workers
        self._home = home
        self._models: tuple[ClientModel, ...] = ()
        self._busy = self._n_answered = self._n_refused = 0
        self._places = asyncio.Semaphore(concurrency)
        self._moved = asyncio.Event()
        self._node = own_address()
        self._fault: RowFault | None = RowFault(kind=NEW, message="the judge is not set yet.")

    async def ready(self, recipe: JudgeRecipe) -> Presence:
        """Take a judge, if none is set, and report where this is, and whether it can work.

        The recipe is no argument of the constructor: Ray would have to keep it, whatever its
        size, for as long as the worker may have to be started again.
        """
        if self._fault is not None:
            self._fault = self._opened(recipe)
        return Presence(node=self._node, process=os.getpid(), fault=self._fault)

    def _opened(self, recipe: JudgeRecipe) -> RowFault | None:
        """Make the judge and its models; return why that cannot be."""
        try:
            if self._home is not None and self._node != self._home:
                raise InputError(elsewhere(self._node, self._home))
            judge, lm, self._models = recipe.made()
            self._work = OneByOne(Executor.of(judge, lm), read_rate_of(lm))
            self._may_begin = beginning(self._n_workers * calls_per_item(judge), lm)
        except JudgesmithError as fault:
            return RowFault.of(fault)
        return None

    async def stop(self) -> None:
        """Begin nothing any more; what is under way is finished."""
        with STOPPING.attended():
            STOPPING.request()

    async def judged(self, texts: Sequence[RowText]) -> Done:
        """Return the judgements of a piece of rows, in order."""
        if self._fault is not None:
            return self._done([], self._fault)
        found = await asyncio.gather(*map(self._judged, texts), return_exceptions=True)
        judgements: list[Judgement] = []
        for one in found:
            if isinstance(one, BaseException):
                return self._done(judgements, RowFault.of(one))
            judgements.append(one)
        return self._done(judgements, None)

    async def _judged(self, text: RowText) -> Judgement:
        async with self._places:
            while not self._may_begin(self._busy):
                self._moved.clear()
                await self._moved.wait()
            STOPPING.check()
            self._busy += 1
            try:
                judgement = await self._work.done(text.item)
                self._n_answered += 1
            except (BudgetSpent, ModelError) as fault:
                judgement = self._work.failed(text.item, fault)
                self._n_refused += isinstance(fault, ModelError)
                refused = self._n_answered == 0 and self._n_refused >= ENOUGH_REFUSED
                if refused and isinstance(fault, ModelError):
                    raise
            finally:
                self._busy -= 1
                self._moved.set()
        return judgement

    def _done(self, judgements: Sequence[Judgement], fault: RowFault | None) -> Done:
        clients = [client for one in self._models if (client := lm_client_of(one)) is not None]
        notes = (note for client in clients for note in client.adaptations)
        return Done(
            judgements=tuple(judgements),
            fault=fault,
            life=self._life,
            usage=usage_of(*self._models),
            adaptations=tuple(dict.fromkeys(notes)),
        )


def elsewhere(node: str, home: str) -> str:
    """Return why a worker on another machine cannot use a ledger that is a file on this one."""
    return (
        f"the ledger is a file on {home}, and the cluster has a node at {node}; give all of them "
        "one ledger (--ledger postgresql://…), or leave --address out to use this machine alone."
    )


class Tallies:
    """Sums over workers; what a lost one asked after its last piece is in the ledger alone."""

    def __init__(self) -> None:
        self._by_life: dict[str, Usage] = {}
        self._adaptations: dict[str, None] = {}

    def add(self, done: Done) -> None:
        """Take in what a worker says; pieces of one life may come in any order."""
        self._adaptations.update(dict.fromkeys(done.adaptations))
        if done.usage is None:
            return
        known = self._by_life.get(done.life)
        if known is None or _n(done.usage) >= _n(known):
            self._by_life[done.life] = done.usage

    @property
    def adaptations(self) -> tuple[str, ...]:
        """Settings that were dropped or sent another way, each said once."""
        return tuple(self._adaptations)

    @property
    def usage(self) -> Usage:
        """What went through all models of all workers."""
        return summed(list(self._by_life.values()))


def _n(usage: Usage) -> int:
    return usage.calls + usage.hits
