"""What a report reads from the folder of a run, checked where it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from judgesmith.signatures.judgement import ErrorSpan


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Estimated(_Value):
    """A number with its interval; all None where it is undefined.

    ``n`` counts rows and ``n_groups`` sources.
    """

    value: FiniteFloat | None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    n: int = 0
    n_groups: int = 0


class BoardLine(_Value):
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


class BoardBlock(_Value):
    """A ranking by one level, on one target of one set."""

    data: str
    target: str
    seed: int
    level: str
    cells: tuple[BoardLine, ...]


class SeedsSpread(_Value):
    """A number over seeds; None where no seed, or one alone for ``sd``, defines it."""

    mean: FiniteFloat | None
    sd: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    n_seeds: int
    n_undefined: int


class SeedsBoardLine(_Value):
    """A judge made in one way in a ranking over seeds."""

    judge: str
    optimizer: str | None
    model: str | None
    q: SeedsSpread
    difference: SeedsSpread | None


class SeedsBoard(_Value):
    """A ranking by means over seeds, by one level, on one target of one set."""

    data: str
    target: str
    level: str
    seeds: tuple[int, ...]
    cells: tuple[SeedsBoardLine, ...]


class Board(_Value):
    """All rankings of a run."""

    name: str
    run: str
    blocks: tuple[BoardBlock, ...]
    over_seeds: tuple[SeedsBoard, ...] = ()
    failed: Mapping[str, str]
    unfinished: Mapping[str, str]


class CellNames(_Value):
    """What was run in a cell. Its id is the name of a folder and leads nowhere else."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=200)]
    data: str
    target: str
    judge: str
    optimizer: str | None
    model: str | None
    seed: int


class RunNames(_Value):
    """What ``run.json`` says."""

    run: str
    name: str
    version: str
    versions: tuple[str, ...] = ()
    cells: tuple[CellNames, ...]


_Levels = Mapping[str, Mapping[str, Estimated]]


class ByCriterion(_Value):
    """Agreement by criterion, of the judge as it was and as it is."""

    uncompiled: Mapping[str, _Levels] | None = None
    heldout: Mapping[str, _Levels] | None = None


class Agreements(_Value):
    """How a judge agrees with people, by level and statistic, where that is known."""

    uncompiled: _Levels | None = None
    selection: _Levels | None = None
    heldout: _Levels | None = None
    criteria: ByCriterion | None = None


class ScaleUse(_Value):
    """How a scale is used: shares of rows, and of pairs of rows."""

    most_used_share: Estimated | None = None
    floor_share: Estimated | None = None
    ceiling_share: Estimated | None = None
    tied_pairs: Estimated | None = None


class LengthBias(_Value):
    """What length has to do with scores, of the judge and of people."""

    correlation: Estimated | None = None
    human_correlation: Estimated | None = None
    reliability: FiniteFloat | None = None


class LevelCounts(_Value):
    """How often each pair of levels was given: people's by row, the judge's by column."""

    levels: tuple[FiniteFloat, ...]
    counts: tuple[tuple[int, ...], ...]


class Besides(_Value):
    """What correlations do not tell of a judge."""

    pairs: Mapping[str, Estimated] = Field(default_factory=dict)
    kappa: Mapping[str, Estimated] = Field(default_factory=dict)
    confusion: LevelCounts | None = None
    scale_use: Mapping[str, ScaleUse] = Field(default_factory=dict)
    length_bias: LengthBias | None = None


class Counts(_Value):
    """Rows of a cell, by their use."""

    train: int = 0
    select: int = 0
    heldout: int
    unscored: int
    unrated: int = 0


class OnOneCriterion(_Value):
    """One perspective on one criterion: kappa with the right ratings, or neighbours in order."""

    kappa: Estimated | None = None
    accuracy: Estimated | None = None


class SeenFrom(_Value):
    """A judge from one perspective, or why there is nothing to see."""

    problem: str = ""
    criteria: Mapping[str, OnOneCriterion] = Field(default_factory=dict)
    mean: Estimated | None = None
    left_out: Mapping[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class CellResult(_Value):
    """What a cell came to."""

    target: str
    human_scale: str
    scale: tuple[FiniteFloat, FiniteFloat] | None
    rows: Counts
    problems: Mapping[str, int]
    agreement: Agreements
    besides: Besides | None = None
    perspectives: Mapping[str, SeenFrom] = Field(default_factory=dict)
    judge: str
    model: str | None
    notes: tuple[str, ...]


class OnCriterion(_Value):
    """A score on one criterion, and why."""

    score: FiniteFloat | None = None
    explanation: str = ""


class ReportRow(_Value):
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


class Trial(_Value):
    """A configuration that a search tried, as its judge keeps it."""

    stage: str = ""
    number: int
    picked: Mapping[str, object] = Field(default_factory=dict)
    value: FiniteFloat | None
    n_rows: int | None = None


class Mattered(_Value):
    """What told the judges of a search apart by one objective: shares by choice."""

    objective: str = "the objective"
    shares: Mapping[str, FiniteFloat]
