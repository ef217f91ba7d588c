"""Which cells of a run notice damaged texts: the lowest and the average D of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesmith.experiments.runs.cell_result import Estimated, Value
from judgesmith.experiments.specs import Cell
from judgesmith.experiments.tables import Table, interval_cell


class DiscernmentLine(Value):
    """A cell and its D on the rows held out, also by experts' weights where there are any.

    ``weakest`` is the change with the lowest.
    """

    cell: str
    judge: str
    optimizer: str | None
    model: str | None
    d_min: Estimated
    d_avg: Estimated
    d_min_ew: Estimated | None = None
    d_avg_ew: Estimated | None = None
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
    overall = held["overall"]
    own = {name: Estimated(**overall[name]) for name in DISCERNMENTS if name in overall}
    return DiscernmentLine(
        cell=cell.id,
        judge=cell.judge,
        optimizer=cell.optimizer,
        model=cell.model,
        weakest=min(known, key=known.__getitem__, default=""),
        **own,
    )


DISCERNMENTS = ("d_min", "d_avg", "d_min_ew", "d_avg_ew")


DISCERNMENT_READING = (
    "D says how surely changed texts score lower than their originals, on rows held out: 1 is p of "
    ".05, and it grows with the number of originals, n."
)

DISCERNMENT_COLUMNS = tuple(
    f"{name}{end}" for name in DISCERNMENTS for end in ("", "_low", "_high")
)
_HEADERS = ("lowest D", "average D", "lowest, experts", "average, experts")


def discernment_title(block: DiscernmentBlock) -> str:
    return f"{block.data}: {block.target}, changed texts, seed {block.seed}"


def discernment_tables(blocks: Sequence[DiscernmentBlock]) -> Iterator[Table]:
    """Yield a table of each set, target and seed."""
    for block in blocks:
        told = [
            (name, header)
            for name, header in zip(DISCERNMENTS, _HEADERS, strict=True)
            if any(getattr(line, name) is not None for line in block.cells)
        ]
        header = ["judge", "optimizer", "model", *(one for _, one in told), "n", "least detected"]
        rows = [_cells(line, [name for name, _ in told]) for line in block.cells]
        yield Table(title=discernment_title(block), header=header, rows=rows)


def _cells(line: DiscernmentLine, names: Sequence[str]) -> list[str]:
    found = [getattr(line, name) for name in names]
    cells = ["-" if one is None else interval_cell(one) for one in found]
    own = [line.judge, line.optimizer or "-", line.model or "-"]
    return [*own, *cells, str(line.d_min.n), line.weakest]


def discernment_columns(blocks: Sequence[DiscernmentBlock]) -> Iterator[dict[str, Any]]:
    """Yield each line by the names of its columns in CSV."""
    for block in blocks:
        for rank, line in enumerate(block.cells, 1):
            found = block.model_dump(exclude={"cells"}) | {"rank": rank, "n": line.d_min.n}
            found |= {name: getattr(line, name) for name in ("cell", "judge", "optimizer", "model")}
            for name in DISCERNMENTS:
                if (one := getattr(line, name)) is not None:
                    found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
            yield found
