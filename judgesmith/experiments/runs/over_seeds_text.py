"""Rankings by means over seeds as text, for tables of every kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgesmith.experiments.runs.over_seeds import SeedsBlock, SeedsLine, Spread

SEEDS_HEADER = (
    *("judge", "optimizer", "model", "mean Q", "sd", "lowest", "highest", "seeds"),
    *("Q minus the first", "sd"),
)

SEEDS_COLUMNS = ("n_seeds", "q_sd", "difference_sd")
"""Further columns where there are several seeds; ``seed`` is ``mean`` in lines over them."""

SEEDS_READING = (
    "Over seeds: the mean of Q over seeds and its standard deviation, and that of differences to "
    "the first at the same seed. Seeds draw other parts of the same rows, so the spread says how "
    "much hangs on the draw, not how sure a mean is of other texts."
)


def seeds_title(block: SeedsBlock) -> str:
    """Return what is ranked over seeds, in words."""
    return f"{block.data}: {block.target}, {block.level} level, over {len(block.seeds)} seeds"


def seeds_cells(block: SeedsBlock) -> list[list[str]]:
    """Return the lines of a block over seeds as texts, in the order of ``SEEDS_HEADER``."""
    return [_over_seeds(line) for line in block.lines]


def seeds_columns(blocks: Sequence[SeedsBlock]) -> Iterator[dict[str, str | int | float | None]]:
    """Yield each line by the names of its columns in CSV."""
    for block in blocks:
        for rank, line in enumerate(block.lines, 1):
            gain = line.difference
            yield {
                "data": block.data,
                "target": block.target,
                "seed": "mean",
                "level": block.level,
                "rank": rank,
                "judge": line.judge,
                "optimizer": line.optimizer,
                "model": line.model,
                "q": line.q.mean,
                "difference": None if gain is None else gain.mean,
                "n_seeds": line.q.n_seeds,
                "q_sd": line.q.sd,
                "difference_sd": None if gain is None else gain.sd,
            }


def _over_seeds(line: SeedsLine) -> list[str]:
    q, gain = line.q, line.difference
    without = f", {q.n_undefined} undefined" if q.n_undefined else ""
    return [
        line.judge,
        line.optimizer or "-",
        line.model or "-",
        *(_points(one) for one in (q.mean, q.sd, q.low, q.high)),
        f"{q.n_seeds}{without}",
        *(["", ""] if gain is None else _gained(gain)),
    ]


def _gained(gain: Spread) -> list[str]:
    return ["-" if gain.mean is None else f"{gain.mean:+.3f}", _points(gain.sd)]


def _points(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
