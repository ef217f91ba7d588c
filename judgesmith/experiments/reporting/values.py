"""What a report reads from the folder of a run, checked where it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, FiniteFloat

from judgesmith.experiments.runs.cell_result import Estimated, Value
from judgesmith.signatures.judgement import ErrorSpan


class BoardLine(Value):
    """A cell in a ranking, as ``leaderboard.json`` has it."""

    cell: str
    judge: str
    optimizer: str | None
    model: str | None
    q: Estimated
    n_systems: int | None = None
    unscored: FiniteFloat
    calls_per_item: FiniteFloat | None
    usd_per_item: FiniteFloat | None
    difference: Estimated | None
    p_holm: FiniteFloat | None


class BoardBlock(Value):
    """A ranking by one level, on one target of one set."""

    data: str
    target: str
    seed: int
    level: str
    cells: tuple[BoardLine, ...]


class SeedsSpread(Value):
    """A number over seeds; None where no seed, or one alone for ``sd``, defines it."""

    mean: FiniteFloat | None
    sd: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    n_seeds: int
    n_undefined: int


class SeedsBoardLine(Value):
    """A judge made in one way in a ranking over seeds."""

    judge: str
    optimizer: str | None
    model: str | None
    q: SeedsSpread
    difference: SeedsSpread | None


class SeedsBoard(Value):
    """A ranking by means over seeds, by one level, on one target of one set."""

    data: str
    target: str
    level: str
    seeds: tuple[int, ...]
    cells: tuple[SeedsBoardLine, ...]


class Board(Value):
    """All rankings of a run."""

    name: str
    run: str
    blocks: tuple[BoardBlock, ...]
    over_seeds: tuple[SeedsBoard, ...] = ()
    failed: Mapping[str, str]
    unfinished: Mapping[str, str]


class CellNames(Value):
    """What was run in a cell. Its id is the name of a folder and leads nowhere else."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=200)]
    data: str
    target: str
    judge: str
    optimizer: str | None
    model: str | None
    seed: int


class RunNames(Value):
    """What ``run.json`` says."""

    run: str
    name: str
    version: str
    versions: tuple[str, ...] = ()
    cells: tuple[CellNames, ...]


class OnCriterion(Value):
    """A score on one criterion, and why."""

    score: FiniteFloat | None = None
    explanation: str = ""


class ReportRow(Value):
    """A row held out: what a judge and people said of it."""

    source_id: str = ""
    system_id: str = ""
    key: str = ""
    item: int
    group: int
    human: FiniteFloat | None
    score: FiniteFloat | None
    problem: str | None = None
    explanation: str = ""
    criteria: Mapping[str, OnCriterion] = Field(default_factory=dict)
    errors: tuple[ErrorSpan, ...] = ()


class Trial(Value):
    """A configuration that a search tried, as its judge keeps it."""

    stage: str = ""
    number: int
    picked: Mapping[str, object] = Field(default_factory=dict)
    value: FiniteFloat | None
    n_rows: int | None = None


class Mattered(Value):
    """What told the judges of a search apart by one objective: shares by choice."""

    objective: str = "the objective"
    shares: Mapping[str, FiniteFloat]
