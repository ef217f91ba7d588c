"""A paper's tables with the numbers of a run beside them, and why some of them do not compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

from pydantic import FiniteFloat

from judgesmith.experiments.runs.cell_result import Value
from judgesmith.experiments.runs.discernment_table import DISCERNMENTS
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.experiments.specs.published import (
    PublishedPaper,
    PublishedRow,
    PublishedSet,
    PublishedTable,
)
from judgesmith.experiments.tables import Table

_SIGNS = {
    "pearson": "r",
    "spearman": "ρ",
    "kendall": "τ",
    "global": "κ",
    "local": "accuracy",
    "d_min": "D min",
    "d_avg": "D avg",
    "d_min_ew": "D min, experts",
    "d_avg_ew": "D avg, experts",
}
THIS_RUN = "(this run)"

_Results = Mapping[str, Mapping[str, Any]]


class BesideNumber(Value):
    """One statistic as it was published, and as it came out here."""

    published: FiniteFloat | str | None
    ours: FiniteFloat | None


class BesideLine(Value):
    """A judge of a paper on one set, beside a judge of the run."""

    table: str
    about: str
    judge: str
    published_model: str
    data: str
    ours: str | None
    optimizer: str | None = None
    model: str | None = None
    n_seeds: int = 0
    numbers: Mapping[str, BesideNumber]
    differs: str  # why the numbers do not compare

    @property
    def compares(self) -> bool:
        """Whether there is a number of either."""
        return any(None not in (one.published, one.ours) for one in self.numbers.values())


def paper_lines(
    paper: PublishedPaper, spec: Spec, cells: Sequence[Cell], results: _Results
) -> tuple[BesideLine, ...]:
    """Return every published number with ours; ``results`` has the cells that are finished."""
    return tuple(
        line
        for table in paper.tables
        for name in table.sets
        for line in _Beside(table, name, spec, cells, results).lines()
    )


class _Beside:
    """One set of a table, held beside the cells of a run."""

    def __init__(
        self,
        table: PublishedTable,
        name: str,
        spec: Spec,
        cells: Sequence[Cell],
        results: _Results,
    ) -> None:
        self.table, self.name, self.spec = table, name, spec
        self.results = results
        self.set: PublishedSet = table.sets[name]
        self.place = list(table.sets).index(name)
        targets = self.set.targets
        self.cells = [one for one in cells if one.data == self.set.data and (one.target in targets)]

    def lines(self) -> Iterator[BesideLine]:
        matched: set[tuple[str | None, str | None]] = set()
        for judge, row in self.table.rows.items():
            ours = self.set.ours or row.ours
            why = row.why or self.set.why or self._missing(ours)
            wanted = row.model or (judge if self.table.by_model else self.table.model)
            ways = {} if why else self._ways(ours)
            if self.table.by_model:
                ways = {way: own for way, own in ways.items() if self._is(wanted, way[1])}
                matched |= ways.keys()
                why = why or ("" if ways else f"no model of this run is {wanted}")
            if not ways:
                yield self._line(judge, row, wanted, ours=None, differs=why)
            for way, own in ways.items():
                yield self._held(judge, row, wanted, ours, way, own)
        rest = {} if not self.table.by_model else self._ways(self.set.ours)
        for way, own in rest.items():
            if way not in matched:
                yield self._held(THIS_RUN, None, "", self.set.ours, way, own)

    def _missing(self, ours: str | None) -> str:
        """Return why the run has nothing of this kind; nothing where it has."""
        if self.set.data not in self.spec.data:
            return f"the specification has no set {self.set.data}"
        if self.set.data in self.spec.absent:
            return f"there is no {self.spec.data[self.set.data].path} yet"
        if ours is None:
            return "no judge of this run is of this kind"
        if ours not in self.spec.judges:
            return f"the specification has no judge {ours}"
        if not any(one.judge == ours for one in self.cells):
            return "the specification leaves it out"
        return ""

    def _ways(self, ours: str | None) -> dict[tuple[str | None, str | None], list[Cell]]:
        found: dict[tuple[str | None, str | None], list[Cell]] = {}
        for one in self.cells:
            if one.judge == ours:
                found.setdefault((one.optimizer, one.model), []).append(one)
        return found

    def _is(self, wanted: str, entry: str | None) -> bool:
        """Say whether a model of the run is the one that was published, as names tell."""
        own = entry if entry is None else self.spec.model_name(entry)
        return bool(own) and _plain(wanted) in _plain(str(own))

    def _held(
        self,
        judge: str,
        row: PublishedRow | None,
        wanted: str,
        ours: str | None,
        way: tuple[str | None, str | None],
        cells: Sequence[Cell],
    ) -> BesideLine:
        n_seeds = len({one.seed for one in cells})
        n_missing = sum(one.id not in self.results for one in cells)
        values: dict[str, float | None] = {}
        for statistic in self.table.statistics_of(self.name):
            own = [self._value(one, statistic) for one in cells]
            known = [one for one in own if one is not None]
            values[statistic] = fmean(known) if known and len(known) == len(own) else None
        differs = [self.set.note] if self.set.note else []
        if wanted and not self._is(wanted, way[1]):
            differs.insert(0, "another model")
        if n_missing:
            differs = [f"{n_missing} of {len(cells)} cells are not finished"]
        elif all(one is None for one in values.values()):
            differs = ["undefined here"]
        return self._line(
            judge,
            row,
            wanted,
            ours=ours,
            differs="; ".join(differs),
            values=values,
            optimizer=way[0],
            model=None if way[1] is None else self.spec.model_name(way[1]),
            n_seeds=n_seeds,
        )

    def _line(
        self,
        judge: str,
        row: PublishedRow | None,
        wanted: str,
        *,
        ours: str | None,
        differs: str,
        values: Mapping[str, float | None] | None = None,
        **way: Any,
    ) -> BesideLine:
        statistics = self.table.statistics_of(self.name)
        published = [None] * len(statistics) if row is None else row.values[self.place]
        return BesideLine(
            table=self.table.source,
            about=self.table.about,
            judge=judge,
            published_model=wanted,
            data=self.name,
            ours=ours,
            differs=differs,
            numbers={
                name: BesideNumber(published=one, ours=(values or {}).get(name))
                for name, one in zip(statistics, published, strict=True)
            },
            **way,
        )

    def _value(self, cell: Cell, statistic: str) -> float | None:
        """Return what a cell came to on one statistic; None where that is undefined."""
        result = self.results.get(cell.id)
        if result is None:
            return None
        agreement = result["agreement"]
        if statistic in ("global", "local"):
            return _at(result, "perspectives", statistic, "mean", "value")
        if statistic in DISCERNMENTS:
            seen = ("discernment", "seen", "heldout", "overall")
            return _at(agreement, *seen, statistic, "value")
        level = self.set.level or self.table.level
        if not self.set.criteria:
            return _at(agreement, "heldout", level, statistic, "value")
        by_name = [
            _at(agreement, "criteria", "heldout", name, level, statistic, "value")
            for name in self.set.criteria
        ]
        known = [one for one in by_name if one is not None]
        return fmean(known) if len(known) == len(by_name) else None


def _at(found: Any, *names: str) -> float | None:
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return None if found is None else float(found)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


PAPER_READING = (
    "Published numbers stand beside those of this run: 'published / here'. The last column says "
    "why numbers do not compare, or what stands between them; - is not published or not known."
)


def paper_tables(lines: Sequence[BesideLine]) -> Iterator[Table]:
    """Yield each table of the paper with ours, in the paper's order."""
    for source, own in groupby(lines, key=lambda line: line.table):
        rows = list(own)
        names = list(dict.fromkeys(name for line in rows for name in line.numbers))
        header = ["judge", "set", *(_SIGNS[name] for name in names), "ours", "model", "differs"]
        title = f"{source}: {rows[0].about}" if rows[0].about else source
        yield Table(title=title, header=header, rows=[_cells(line, names) for line in rows])


def _cells(line: BesideLine, names: Sequence[str]) -> list[str]:
    numbers = [line.numbers.get(name) for name in names]
    ours = [one for one in (line.ours, line.optimizer) if one and one != "none"]
    return [
        line.judge,
        line.data,
        *(
            "" if one is None else f"{_shown(one.published)} / {_shown(one.ours)}"
            for one in numbers
        ),
        " ".join(ours) or "-",
        line.model or "-",
        line.differs,
    ]


def _shown(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:.3f}"
