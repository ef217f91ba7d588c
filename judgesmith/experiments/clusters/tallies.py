"""What workers asked and spent, summed over all of them and over all their lives."""

from __future__ import annotations

from judgesmith.experiments.clusters.worker import Done
from judgesmith.programs.judging.rows import summed
from judgesmith.programs.lm import Usage


class Tallies:
    """Sums over workers, each of which says what it has had so far with every piece.

    What a worker that was lost asked after the last piece that it brought back is not in it; the
    ledger, which the budget goes by, has it.

    Attributes
    ----------
    adaptations : tuple of str
        Settings that were dropped or sent another way, each said once.
    """

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
