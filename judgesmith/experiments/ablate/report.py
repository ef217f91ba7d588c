"""What an ablation found, all judges held against the same ratings, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.experiments.ablate.rows import (
    BLOCKS,
    FULL,
    PEOPLES,
    Block,
    PlannedRow,
)
from judgesmith.experiments.compile.searching import number_text
from judgesmith.experiments.runs.folder import Made
from judgesmith.experiments.runs.heldout import table_of_rows
from judgesmith.experiments.tables import Table, interval_cell, markdown_cell
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.correlation import Statistic, agreement_difference
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.base import OFFLINE
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.results.base import Result
from judgesmith.signatures import Rubric
from judgesmith.signatures.rubric import folded

if TYPE_CHECKING:
    import pandas as pd

CORRELATIONS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")

Tables = Mapping[tuple[Block, str], PredictionTable]
"""The rows held out as every judge scores them, by block and name."""

EXPLAINED = {FULL: "fine-without-explanations", "coarse": "coarse-without-explanations"}
"""Rows with explanations, and the same without."""

SIDES = {"inferred": FULL, "inferred without task": "without-task", "people's": PEOPLES}
"""Where criteria come from, and the row that was judged by them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplanationEffect:
    """What a variant gains by explaining itself, on the same rows."""

    block: Block
    variant: str
    gains: Mapping[Statistic, PairedEstimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionSides:
    """One criterion, and what it means to whom."""

    name: str
    definitions: Mapping[str, str]


def row_difference(
    first: PredictionTable, second: PredictionTable, statistic: Statistic, *, seed: int
) -> PairedEstimate:
    """Return how much better ``first`` agrees, with the same resamples for every comparison."""
    return agreement_difference(
        first.human,
        first.predicted,
        second.predicted,
        sources=first.sources,
        systems=first.systems,
        statistic=statistic,
        level="dataset",
        seed=np.random.default_rng([seed, 13]),
    )


def explanation_effects(tables: Tables, *, seed: int) -> tuple[ExplanationEffect, ...]:
    """Return what explanations do to each variant that was judged with and without them."""
    return tuple(
        ExplanationEffect(
            block=block,
            variant=variant,
            gains={
                name: row_difference(tables[block, variant], tables[block, bare], name, seed=seed)
                for name in CORRELATIONS
            },
        )
        for block in BLOCKS
        for variant, bare in EXPLAINED.items()
        if {(block, variant), (block, bare)} <= set(tables)
    )


def criteria_side_by_side(rubrics: Mapping[str, Rubric]) -> tuple[CriterionSides, ...]:
    """Return the criteria of all sides, aligned by name in any case."""
    names: dict[str, str] = {}
    definitions: dict[str, dict[str, str]] = {}
    for side, rubric in rubrics.items():
        for criterion in rubric.criteria:
            own = folded(criterion.name)
            names.setdefault(own, criterion.name)
            definitions.setdefault(own, {})[side] = criterion.definition
    return tuple(CriterionSides(name=names[own], definitions=definitions[own]) for own in names)


def equal_rows(tables: Tables) -> tuple[tuple[Block, tuple[str, ...]], ...]:
    """Return, by block, the rows whose judges score every row held out alike, but for rounding."""
    groups: dict[tuple[Block, bytes], list[str]] = {}
    for (block, name), table in tables.items():
        scores = np.round(table.predicted, 9).tobytes()
        groups.setdefault((block, scores), []).append(name)
    return tuple((block, tuple(names)) for (block, _), names in groups.items() if len(names) > 1)


def plain_effects(effects: Iterable[ExplanationEffect]) -> list[dict[str, Any]]:
    return [
        {
            "block": one.block,
            "variant": one.variant,
            **{name: gain.to_dict() for name, gain in one.gains.items()},
        }
        for one in effects
    ]


def plain_criteria(
    criteria: Sequence[CriterionSides], sides: Iterable[str]
) -> list[dict[str, str | None]]:
    """Return criteria ready for JSON, with None where a side does not have one."""
    names = list(sides)
    return [
        {"name": one.name, **{side: one.definitions.get(side) for side in names}}
        for one in criteria
    ]


STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall", "q")
_UNDEFINED = float("nan")

CALLS = ("block", "row", "new", "recorded")
"""What is told of each row's calls."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AblationRow:
    """One judge of the table."""

    block: Block
    name: str
    saved: SavedJudge
    heldout: PredictionTable
    # in Q to ``fine`` of the same block and rows; None for itself
    difference: PairedEstimate | None
    new: int | None  # requests that it took; None for models that do not count
    recorded: int | None  # those that were cached, likewise

    @property
    def agreement(self) -> dict[Statistic, Estimate]:
        """Agreement on the rows held out, over the whole set."""
        return {name: self._reported("heldout", name) for name in STATISTICS}

    @property
    def chosen_by(self) -> Estimate:
        """Q on the validation rows."""
        return self._reported("selection", "q")

    @property
    def optimism(self) -> float:
        """How much higher that is than Q on the rows held out."""
        return self.chosen_by.value - self.agreement["q"].value

    @property
    def n_criteria(self) -> int:
        """Criteria that the judge is told of."""
        protocol = self.saved.protocol
        return 0 if not protocol.tells_rubric else len(protocol.rubric.criteria)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the calls, ready for JSON."""
        return {
            "block": self.block,
            "row": self.name,
            **{name: estimate.to_dict() for name, estimate in self.agreement.items()},
            "difference": None if self.difference is None else self.difference.to_dict(),
            "selection": self.chosen_by.to_dict(),
            "optimism": None if self.optimism != self.optimism else self.optimism,
            "unscored": 1.0 - self.heldout.share_scored,
            "n_criteria": self.n_criteria,
            "judge": self.saved.fingerprint,
        }

    def _reported(self, part: str, statistic: Statistic) -> Estimate:
        found = self.saved.agreement.plain[part]["dataset"][statistic]
        known = {one.name: found[one.name] for one in fields(Estimate) if one.name in found}
        values: dict[str, Any] = {
            name: _UNDEFINED if value is None else value for name, value in known.items()
        }
        return Estimate(**values)


@dataclass(frozen=True, kw_only=True, eq=False)
class AblationTable(Result, report="judgesmith.cli.experiment.ablate:report"):
    """What each part of the method is worth on these ratings.

    Attributes
    ----------
    data, target, model, run : str
        What was judged, what people rated, who judged, and the fingerprint of all settings.
    rows : tuple of AblationRow
        Those that are finished, in their fixed order.
    left_out : dict of str to str
        Rows that cannot be made, as ``name`` or ``block/name``, and why.
    unfinished : tuple of str
        Rows, as ``block/name``, that the budget did not reach; the same run again resumes.
    effects : tuple of ExplanationEffect
        What explanations do.
    criteria : tuple of CriterionSides
        Inferred criteria beside those inferred without a task and people's.
    equal : tuple of (str, tuple of str)
        By block, rows whose judges score alike.
    """

    data: str
    target: str
    model: str
    run: str
    rows: tuple[AblationRow, ...]
    left_out: Mapping[str, str]
    unfinished: tuple[str, ...]
    effects: tuple[ExplanationEffect, ...]
    criteria: tuple[CriterionSides, ...]
    equal: tuple[tuple[Block, tuple[str, ...]], ...]

    @property
    def complete(self) -> bool:
        """Whether the budget reached every row."""
        return not self.unfinished

    @property
    def sides(self) -> tuple[str, ...]:
        """Whose criteria there are to compare."""
        names = {row.name for row in self.rows}
        return tuple(side for side, name in SIDES.items() if name in names)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the calls, ready for JSON: a function of data and settings."""
        return {
            "data": self.data,
            "target": self.target,
            "model": self.model,
            "run": self.run,
            "complete": self.complete,
            "rows": [row.to_dict() for row in self.rows],
            "left_out": dict(self.left_out),
            "unfinished": list(self.unfinished),
            "explanations": plain_effects(self.effects),
            "criteria": plain_criteria(self.criteria, self.sides),
            "equal": [{"block": block, "rows": list(names)} for block, names in self.equal],
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return one line per row, in plain columns; undefined is missing."""
        import pandas as pd

        return pd.DataFrame([flat_row(row) for row in self.rows], columns=COLUMNS)

    def to_markdown(self) -> str:
        """Return the table and what it tells as text."""
        return "\n".join(_lines(self)) + "\n"

    def calls(self) -> list[dict[str, Any]]:
        """Return what each row took: new requests, and cached responses; None if not counted."""
        return [
            dict(zip(CALLS, (row.block, row.name, row.new, row.recorded), strict=True))
            for row in self.rows
        ]


def table_of(
    finished: Mapping[tuple[Block, str], tuple[SavedJudge, Made]],
    plan: Sequence[PlannedRow],
    *,
    data: str,
    target: str,
    model: str,
    run: str,
    seed: int,
    left_out: Mapping[str, str],
) -> AblationTable:
    tables = {}
    for place, (_, made) in finished.items():
        one = table_of_rows(made.scores)
        # Sources are resampled in the order of their names, as when a judge is compiled.
        tables[place] = replace(one, sources=one.sources.astype(str))

    def to_fine(place: tuple[Block, str]) -> PairedEstimate | None:
        full = (place[0], FULL)
        if place == full or full not in tables:
            return None
        return row_difference(tables[place], tables[full], "q", seed=seed)

    rows = tuple(
        AblationRow(
            block=place[0],
            name=place[1],
            saved=saved,
            heldout=tables[place],
            difference=to_fine(place),
            new=made.usage["calls"],
            recorded=made.usage["recorded"],
        )
        for place, (saved, made) in finished.items()
    )
    rubrics = {
        side: next(row.saved.protocol.rubric for row in rows if row.name == name)
        for side, name in SIDES.items()
        if any(row.name == name for row in rows)
    }
    return AblationTable(
        data=data,
        target=target,
        model=model,
        run=run,
        rows=rows,
        left_out=left_out,
        unfinished=tuple(
            f"{row.block}/{row.name}"
            for row in plan
            if (row.block, row.name) not in finished and f"{row.block}/{row.name}" not in left_out
        ),
        effects=explanation_effects(tables, seed=seed),
        criteria=criteria_side_by_side(rubrics),
        equal=equal_rows(tables),
    )


TITLES: Mapping[Block, str] = {
    "paper": "As in the paper",
    "learned": "With learned weights",
}

HEADER = ("row", "Pearson", "Spearman", "Kendall", "Q", f"Q minus {FULL}")
CHOSEN_HEADER = ("row", "Q validation", "Q held out", "optimism", "unscored", "criteria")

COLUMNS = [
    *("block", "row", "pearson", "spearman", "kendall", "q", "q_low", "q_high"),
    *("difference", "difference_low", "difference_high", "p_value"),
    *("selection_q", "optimism", "unscored", "n_criteria", "judge"),
]


def table_rows(table: AblationTable, block: Block) -> list[list[str]]:
    """Return the cells of one block under ``HEADER``."""
    return [
        [
            row.name,
            *(
                number_text(row.agreement[name].value)
                for name in ("pearson", "spearman", "kendall")
            ),
            interval_cell(row.agreement["q"]),
            "" if row.difference is None else interval_cell(row.difference, signed=True),
        ]
        for row in table.rows
        if row.block == block
    ]


def chosen_rows_of(table: AblationTable, block: Block) -> list[list[str]]:
    """Return the cells of one block under ``CHOSEN_HEADER``."""
    return [
        [
            row.name,
            number_text(row.chosen_by.value),
            number_text(row.agreement["q"].value),
            number_text(row.optimism, "+.3f"),
            f"{1.0 - row.heldout.share_scored:.1%}",
            str(row.n_criteria),
        ]
        for row in table.rows
        if row.block == block
    ]


def effect_rows(table: AblationTable) -> list[list[str]]:
    """Return what explanations do, a line per block and variant."""
    return [
        [
            f"{one.variant}, {TITLES[one.block].lower()}",
            *(interval_cell(gain, signed=True) for gain in one.gains.values()),
        ]
        for one in table.effects
    ]


def sentences(table: AblationTable) -> Iterator[str]:
    """Yield what a reader should know of the table, beside its numbers."""
    if not table.complete:
        yield (
            f"incomplete: the budget is spent, and {len(table.unfinished)} rows are not made, the "
            f"first {table.unfinished[0]}; the same command with a larger budget continues."
        )
    for name, why in table.left_out.items():
        yield f"{name} is left out: {why}"
    for block, names in table.equal:
        yield f"{TITLES[block].lower()}, {_listed(names)} score every row held out alike."
    own = [
        row.name
        for row in table.rows
        if row.block == "learned" and row.saved.protocol.aggregation.kind == "overall"
    ]
    if own:
        yield (
            f"{TITLES['learned'].lower()}, nothing was better than the judge's own score beyond "
            f"luck, and it stays, in {_listed(own)}."
        )
    if table.model == OFFLINE:
        yield (
            "the offline model does not read the task, and explains scores that it has already: "
            "rows that leave only these out can differ by their demonstrations and by the criteria "
            "inferred for them, and by nothing else."
        )


def flat_row(row: AblationRow) -> dict[str, Any]:
    """Return a row as plain values under ``COLUMNS``; nan is undefined."""
    agreement, paired = row.agreement, row.difference
    nan = float("nan")
    return {
        "block": row.block,
        "row": row.name,
        **{name: estimate.value for name, estimate in agreement.items()},
        "q_low": agreement["q"].low,
        "q_high": agreement["q"].high,
        "difference": nan if paired is None else paired.value,
        "difference_low": nan if paired is None else paired.low,
        "difference_high": nan if paired is None else paired.high,
        "p_value": nan if paired is None else paired.p_value,
        "selection_q": row.chosen_by.value,
        "optimism": row.optimism,
        "unscored": 1.0 - row.heldout.share_scored,
        "n_criteria": row.n_criteria,
        "judge": row.saved.fingerprint,
    }


def _lines(table: AblationTable) -> Iterator[str]:
    yield "# What each part of the method is worth"
    yield ""
    target, data, model = (markdown_cell(one) for one in (table.target, table.data, table.model))
    yield f"Ratings of `{target}` in `{data}`, judged by the model"
    yield f"`{model}`. Agreement on the rows held out, over the whole set; brackets"
    yield f"are intervals over sources. Run `{table.run}`."
    yield ""
    for sentence in sentences(table):
        yield f"- {markdown_cell(sentence)}"
    for block in BLOCKS:
        if rows := table_rows(table, block):
            yield from _section(TITLES[block], HEADER, rows)
            yield from _section("", CHOSEN_HEADER, chosen_rows_of(table, block))
    if table.effects:
        header = ("Gain by explanations", "Pearson", "Spearman", "Kendall")
        yield from _section("What explanations do", header, effect_rows(table))
    if table.criteria:
        rows = [
            [
                markdown_cell(one.name),
                *(markdown_cell(one.definitions.get(side, "")) for side in table.sides),
            ]
            for one in table.criteria
        ]
        yield from _section("Criteria side by side", ("criterion", *table.sides), rows)


def _section(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    if title:
        yield f"## {title}"
        yield ""
    yield from Table(header=header, rows=rows).markdown()


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
