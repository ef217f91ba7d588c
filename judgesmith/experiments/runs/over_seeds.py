"""What the rankings of several seeds say together: means, and how far the seeds are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.metrics.correlation import Level
from judgesmith.metrics.records import plain

if TYPE_CHECKING:
    from judgesmith.experiments.runs.leaderboard import Block, Line

_Way = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A number as it came out by several seeds; all None where no seed defines it.

    Attributes
    ----------
    mean : float or None
        Over the seeds that define it.
    sd : float or None
        Its standard deviation over these, by n - 1; None where there is one.
    low, high : float or None
        The lowest and the highest of them.
    n_seeds : int
        How many define it.
    n_undefined : int
        Seeds left out: undefined there, or without a result.
    """

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n_seeds: int
    n_undefined: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsLine:
    """A judge made in one way, over all seeds.

    Attributes
    ----------
    judge : str
    optimizer, model : str or None
        What was run.
    q : Spread
        Its Q on the rows held out, which each seed draws anew.
    difference : Spread or None
        Its Q minus that of the first at the same seed; None for the first itself.
    """

    judge: str
    optimizer: str | None
    model: str | None
    q: Spread
    difference: Spread | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "judge": self.judge,
            "optimizer": self.optimizer,
            "model": self.model,
            "q": self.q.to_dict(),
            "difference": None if self.difference is None else self.difference.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsBlock:
    """The ranking by means over seeds, on one target of one set, at one level.

    Attributes
    ----------
    data, target, level
        What is ranked by.
    seeds : tuple of int
        All there are.
    lines : tuple of SeedsLine
        Highest mean first; those without one last.
    """

    data: str
    target: str
    level: Level
    seeds: tuple[int, ...]
    lines: tuple[SeedsLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "data": self.data,
            "target": self.target,
            "level": self.level,
            "seeds": list(self.seeds),
            "cells": [line.to_dict() for line in self.lines],
        }


def spread(values: Sequence[float]) -> Spread:
    """Return the mean and spread of one number over seeds; not finite is undefined.

    Examples
    --------
    >>> spread([1.0, 2.0, float("nan")])
    Spread(mean=1.5, sd=0.7071067811865476, low=1.0, high=2.0, n_seeds=2, n_undefined=1)
    """
    known = np.asarray([one for one in values if np.isfinite(one)], dtype=float)
    some = len(known) > 0
    return Spread(
        mean=float(known.mean()) if some else None,
        sd=float(known.std(ddof=1)) if len(known) > 1 else None,
        low=plain(float(known.min())) if some else None,
        high=plain(float(known.max())) if some else None,
        n_seeds=len(known),
        n_undefined=len(values) - len(known),
    )


def over_seeds(blocks: Sequence[Block]) -> tuple[SeedsBlock, ...]:
    """Return a ranking by means for each set, target and level that several seeds ranked.

    Parameters
    ----------
    blocks : sequence of Block
        Rankings by seed.

    Returns
    -------
    tuple of SeedsBlock
        In the order of their first rankings. Seeds draw other halves of the same rows, so the
        spread over them tells how much hangs on the draw, and not how sure a mean is.
    """
    groups: dict[tuple[str, str, Level], list[Block]] = {}
    for block in blocks:
        groups.setdefault((block.data, block.target, block.level), []).append(block)
    return tuple(_of_group(*where, own) for where, own in groups.items() if len(own) > 1)


def _of_group(data: str, target: str, level: Level, blocks: Sequence[Block]) -> SeedsBlock:
    by_seed = {block.seed: {_way(line): line.value for line in block.lines} for block in blocks}
    values: dict[_Way, list[float]] = {}
    for way in dict.fromkeys(_way(line) for block in blocks for line in block.lines):
        values[way] = [found.get(way, np.nan) for found in by_seed.values()]
    found = {way: spread(own) for way, own in values.items()}
    best, *others = sorted(values, key=lambda way: -_or_least(found[way].mean))
    lines = [
        _line(best, found, None),
        *(_line(one, found, _apart(values, one, best)) for one in others),
    ]
    return SeedsBlock(
        data=data, target=target, level=level, seeds=tuple(by_seed), lines=tuple(lines)
    )


def _line(way: _Way, found: Mapping[_Way, Spread], difference: Spread | None) -> SeedsLine:
    judge, optimizer, model = way
    return SeedsLine(
        judge=judge, optimizer=optimizer, model=model, q=found[way], difference=difference
    )


def _apart(values: Mapping[_Way, Sequence[float]], way: _Way, best: _Way) -> Spread:
    pairs = zip(values[way], values[best], strict=True)
    both = [
        (own, first) if np.isfinite([own, first]).all() else (np.nan, 0.0) for own, first in pairs
    ]
    return spread([own - first for own, first in both])


def _way(line: Line) -> _Way:
    return line.cell.judge, line.cell.optimizer, line.cell.model


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value
