"""Which cells of a run notice damaged texts: the lowest and the average D of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesmith.experiments.runs.cell_result import Estimated, Value
from judgesmith.experiments.specs import Cell
from judgesmith.experiments.tables import Table, interval_cell


class DiscernmentLine(Value):
    """A cell and its D on the rows held out; ``weakest`` is the change with the lowest."""

    cell: str
    judge: str
    optimizer: str | None
    model: str | None
    d_min: Estimated
    d_avg: Estimated
    weakest: str

    @property
    def value(self) -> float:
        """The lowest D, below any other where it is undefined."""
        return -1.0 if self.d_min.value is None else self.d_min.value


class DiscernmentBlock(Value):
    """Cells of one set, target and seed by their lowest D."""

    data: str
    target: str
    seed: int
    cells: tuple[DiscernmentLine, ...]


def discernment_blocks(
    cells: Sequence[Cell], results: Mapping[str, Mapping[str, Any] | None]
) -> tuple[DiscernmentBlock, ...]:
    """Return the finished cells of each set, target and seed whose objective reads versions."""
    groups: dict[tuple[str, str, int], list[DiscernmentLine]] = {}
    for cell in cells:
        found = ((results.get(cell.id) or {}).get("agreement") or {}).get("discernment") or {}
        if (held := (found.get("seen") or {}).get("heldout")) is not None:
            line = _line(cell, held)
            groups.setdefault((cell.data, cell.target, cell.seed), []).append(line)
    return tuple(
        DiscernmentBlock(
            data=data,
            target=target,
            seed=seed,
            cells=tuple(sorted(lines, key=lambda line: -line.value)),
        )
        for (data, target, seed), lines in groups.items()
    )


def _line(cell: Cell, held: Mapping[str, Any]) -> DiscernmentLine:
    known = {name: one["value"] for name, one in held["kinds"].items() if one["value"] is not None}
    own = {name: Estimated(**held["overall"][name]) for name in ("d_min", "d_avg")}
    return DiscernmentLine(
        cell=cell.id,
        judge=cell.judge,
        optimizer=cell.optimizer,
        model=cell.model,
        weakest=min(known, key=known.__getitem__, default=""),
        **own,
    )


DISCERNMENT_READING = (
    "D says how surely changed texts score lower than their originals, on rows held out: 1 is p of "
    ".05, and it grows with the number of originals, n."
)

DISCERNMENT_COLUMNS = ("d_min", "d_min_low", "d_min_high", "d_avg", "d_avg_low", "d_avg_high")
DISCERNMENT_HEADER = (
    *("judge", "optimizer", "model", "lowest D", "average D", "n", "least detected"),
)


def discernment_title(block: DiscernmentBlock) -> str:
    return f"{block.data}: {block.target}, changed texts, seed {block.seed}"


def discernment_cells(line: DiscernmentLine) -> list[str]:
    """Return a line as texts, in the order of ``DISCERNMENT_HEADER``."""
    names = [line.judge, line.optimizer or "-", line.model or "-"]
    return [*names, *map(interval_cell, (line.d_min, line.d_avg)), str(line.d_min.n), line.weakest]


def discernment_tables(blocks: Sequence[DiscernmentBlock]) -> Iterator[Table]:
    """Yield a table of each set, target and seed."""
    for block in blocks:
        rows = list(map(discernment_cells, block.cells))
        yield Table(title=discernment_title(block), header=DISCERNMENT_HEADER, rows=rows)


def discernment_columns(blocks: Sequence[DiscernmentBlock]) -> Iterator[dict[str, Any]]:
    """Yield each line by the names of its columns in CSV."""
    for block in blocks:
        for rank, line in enumerate(block.cells, 1):
            found = block.model_dump(exclude={"cells"}) | {"rank": rank, "n": line.d_min.n}
            found |= {name: getattr(line, name) for name in ("cell", "judge", "optimizer", "model")}
            for name in ("d_min", "d_avg"):
                one = getattr(line, name)
                found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            yield found
