"""What an ablation found: a judge per row, all held against the same ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.ablation_analyses import (
    SIDES,
    CriterionSides,
    ExplanationEffect,
    criteria_side_by_side,
    difference,
    equal_rows,
    explanation_effects,
    plain_criteria,
    plain_effects,
)
from judgesmith.experiments.ablation_folder import FinishedRow, RowCalls
from judgesmith.experiments.ablation_rows import FULL, Block, PlannedRow
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.correlation import Statistic
from judgesmith.optimizers import PredictionTable
from judgesmith.programs.artifacts.saved import SavedJudge

if TYPE_CHECKING:
    import pandas as pd

STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall", "q")
_UNDEFINED = float("nan")

CALLS = ("block", "row", "new", "recorded")
"""What is told of each row's calls."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AblationRow:
    """One judge of the table.

    Attributes
    ----------
    block, name : str
        Where it stands.
    saved : SavedJudge
        The judge.
    heldout : PredictionTable
        Its scores of the rows held out, beside what people said.
    difference : PairedEstimate or None
        Its Q minus that of ``fine`` in the same block, on the same rows; None for ``fine`` itself
        and where that is not in the table.
    calls : RowCalls or None
        What it took; None for models that do not count.
    """

    block: Block
    name: str
    saved: SavedJudge
    heldout: PredictionTable
    difference: PairedEstimate | None
    calls: RowCalls | None

    @property
    def agreement(self) -> dict[Statistic, Estimate]:
        """Agreement on the rows held out, over the whole set."""
        return {name: self._reported("heldout", name) for name in STATISTICS}

    @property
    def chosen_by(self) -> Estimate:
        """Q on the rows that the judge was chosen by."""
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
        known = {one.name: found[one.name] for one in fields(Estimate)}
        values: dict[str, Any] = {
            name: _UNDEFINED if value is None else value for name, value in known.items()
        }
        return Estimate(**values)


@dataclass(frozen=True, kw_only=True, eq=False)
class AblationTable:
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
        Rows, as ``block/name``, that the budget did not reach; the same run again goes on.
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

    def to_frame(self) -> pd.DataFrame:
        """Return one line per row, in plain columns; undefined is missing."""
        import pandas as pd

        from judgesmith.experiments.ablation_text import COLUMNS, flat_row

        return pd.DataFrame([flat_row(row) for row in self.rows], columns=COLUMNS)

    def to_markdown(self) -> str:
        """Return the table and what it tells as text."""
        from judgesmith.experiments.ablation_text import markdown

        return markdown(self)

    def calls(self) -> list[dict[str, Any]]:
        """Return what each row took: new requests, and answers on record; None if not counted."""
        counts = [
            (None, None) if row.calls is None else (row.calls.new, row.calls.recorded)
            for row in self.rows
        ]
        return [
            dict(zip(CALLS, (row.block, row.name, *count), strict=True))
            for row, count in zip(self.rows, counts, strict=True)
        ]


def table_of(
    finished: Mapping[tuple[Block, str], tuple[FinishedRow, PredictionTable]],
    plan: Sequence[PlannedRow],
    *,
    data: str,
    target: str,
    model: str,
    run: str,
    seed: int,
    left_out: Mapping[str, str],
) -> AblationTable:
    """Return the table of the rows that are finished, and what can be told from them."""
    tables = {place: table for place, (_, table) in finished.items()}

    def to_fine(place: tuple[Block, str]) -> PairedEstimate | None:
        full = (place[0], FULL)
        if place == full or full not in tables:
            return None
        return difference(tables[place], tables[full], "q", seed=seed)

    rows = tuple(
        AblationRow(
            block=place[0],
            name=place[1],
            saved=row.saved,
            heldout=table,
            difference=to_fine(place),
            calls=row.calls,
        )
        for place, (row, table) in finished.items()
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
