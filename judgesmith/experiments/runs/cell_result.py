"""What a cell came to, as ``result.json`` has it, written and read back by one check."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt, ValidationError

from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.evaluate.agreement import LEVELS


class Value(BaseModel):
    """What is read from a file of a run, and not changed."""

    model_config = ConfigDict(frozen=True)


class Estimated(Value, extra="allow"):
    """A number with its interval, as an estimate writes it; ``n_groups`` counts sources."""

    value: FiniteFloat | None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    confidence: FiniteFloat | None = None
    n: int = 0
    n_groups: int = 0
    n_undefined: int | None = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what was given, and nothing else."""
        return self.model_dump(exclude_unset=True)


_Levels = Mapping[str, Mapping[str, Estimated]]


class ByCriterion(Value):
    """Agreement by criterion, of the baseline and of the compiled judge."""

    uncompiled: Mapping[str, _Levels] | None = None
    heldout: Mapping[str, _Levels] | None = None


class Agreements(Value):
    """How a judge agrees with people, by level and statistic, where that is known."""

    uncompiled: _Levels | None = None
    selection: _Levels | None = None
    heldout: _Levels | None = None
    criteria: ByCriterion | None = None


class ScaleUseEstimates(Value):
    """How a scale is used: shares of rows, and of pairs of rows."""

    most_used_share: Estimated | None = None
    floor_share: Estimated | None = None
    ceiling_share: Estimated | None = None
    tied_pairs: Estimated | None = None


class LengthBiasEstimates(Value):
    """What length has to do with scores, of the judge and of people."""

    correlation: Estimated | None = None
    human_correlation: Estimated | None = None
    reliability: FiniteFloat | None = None


class LevelCounts(Value):
    """How often each pair of levels was given: people's by row, the judge's by column."""

    levels: tuple[FiniteFloat, ...]
    counts: tuple[tuple[int, ...], ...]


class CellDiagnostics(Value):
    """What correlations do not tell of a judge."""

    pairs: Mapping[str, Estimated] = Field(default_factory=dict)
    kappa: Mapping[str, Estimated] = Field(default_factory=dict)
    confusion: LevelCounts | None = None
    scale_use: Mapping[str, ScaleUseEstimates] = Field(default_factory=dict)
    length_bias: LengthBiasEstimates | None = None


class RowCounts(Value):
    """Rows of a cell, by their use."""

    train: int = 0
    select: int = 0
    heldout: NonNegativeInt
    unscored: NonNegativeInt
    unrated: int = 0


class OnOneCriterion(Value):
    """One perspective on one criterion: kappa with the right ratings, or neighbours in order."""

    kappa: Estimated | None = None
    accuracy: Estimated | None = None


class SeenFrom(Value):
    """A judge from one perspective, or why there is nothing to see."""

    problem: str = ""
    criteria: Mapping[str, OnOneCriterion] = Field(default_factory=dict)
    mean: Estimated | None = None
    left_out: Mapping[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class WrongLabel(Value):
    """A row that the judge labels otherwise than people; ``item`` is its place in the set."""

    item: int
    human: str
    judge: str
    probability: FiniteFloat | None = None
    criterion: str = ""
    guideline: str = ""


class CountedMistakes(Value):
    """How many labels are wrong that are about one criterion, or one guideline of the judge."""

    criterion: str
    guideline: str
    false_passes: int
    false_fails: int


class CellLabels(Value):
    """How labels such as pass and fail agree on the rows held out; ``said`` in a sentence."""

    said: str
    labels: tuple[str, ...]
    positive: str
    n_positive: int
    n_negative: int
    tpr: Estimated
    tnr: Estimated
    statistics: Mapping[str, Estimated]
    confusion: tuple[tuple[int, ...], ...]
    shares: Mapping[str, Mapping[str, Estimated]]
    useless: str | None = None
    wrong: tuple[WrongLabel, ...] = ()
    mistakes: tuple[CountedMistakes, ...] = ()
    note: str | None = None

    @property
    def rates(self) -> dict[str, Estimated]:
        """What rankings tell: balanced accuracy, TNR, TPR and MCC."""
        names = ("balanced_accuracy", "tnr", "tpr", "mcc")
        own = {"tnr": self.tnr, "tpr": self.tpr, **self.statistics}
        return {name: own[name] for name in names if name in own}


class PerItem(Value):
    """What a judgement took on average, where that is known."""

    calls: FiniteFloat | None
    usd: FiniteFloat | None


class CellResult(Value):
    """What a cell came to."""

    target: str
    human_scale: str
    scale: tuple[FiniteFloat, FiniteFloat] | None
    rows: RowCounts
    problems: Mapping[str, int]
    agreement: Agreements
    besides: CellDiagnostics | None = None
    labels: CellLabels | None = None
    perspectives: Mapping[str, SeenFrom] = Field(default_factory=dict)
    per_item: PerItem
    judge: str
    model: str | None
    notes: tuple[str, ...]


_LARGEST = sys.float_info.max
_NUMBERS = ("score", "human")
_OF_Q = ("value", "low", "high", "confidence", "n", "n_groups", "n_undefined")
_WHOLE = ("item", "group")
_NAMED = ("problem", "system_id")


@file_faults()
def kept_object(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise changed(place, "no JSON can be read in it") from None
    if not isinstance(found, dict):
        raise changed(place, "it holds no JSON object")
    return found


def kept_result(place: Path, *, schema: int) -> tuple[dict[str, Any], CellResult]:
    """Return a cell's ``result.json`` as it stands there, and as a record."""
    found = kept_object(place)
    if found.get("schema") != schema:
        raise changed(place, "it is no result of this version")
    try:
        # As JSON, and strictly: a text is no number, and a list may be a pair.
        whole = CellResult.model_validate_json(json.dumps(found), strict=True)
    except ValidationError as fault:
        first = ".".join(map(str, fault.errors(include_url=False)[0]["loc"]))[:200]
        raise changed(place, f"{first} was changed after it was written") from None
    if not _is_whole(found["agreement"].get("heldout")):
        raise changed(place, "agreement.heldout was changed after it was written")
    return found, whole


@file_faults()
def kept_scores(place: Path, *, n_heldout: int, n_unscored: int) -> list[dict[str, Any]]:
    try:
        with place.open(encoding="utf-8") as file:
            rows = [_row(line) for line in file]
    except UnicodeDecodeError:
        raise changed(place, "it holds no text in UTF-8") from None
    for number, row in enumerate(rows, 1):
        if not row:
            raise changed(place, f"line {number} was changed after it was written")
    if len(rows) != n_heldout:
        raise changed(place, f"it has {len(rows)} rows, and the result of its cell {n_heldout}")
    missing = sum(row["score"] is None for row in rows)
    if missing != n_unscored:
        raise changed(
            place, f"{missing} rows have no score, and {n_unscored} by the result of its cell"
        )
    return rows


def changed(place: Path, what: str) -> InputError:
    """Return the error that a file of a cell was changed, and the way out."""
    return InputError(
        f"{what}.",
        at=place,
        hint=f"remove the folder {place.parent}, and the command 'judgesmith "
        "experiment' of this run makes the cell again from the cached answers.",
    )


def _is_whole(heldout: Mapping[str, Any] | None) -> bool:
    """Say whether there is all of Q at every level, or nothing was held out that is rated."""
    if heldout is None:
        return True
    return all(set(_OF_Q) <= set(heldout.get(level, {}).get("q", ())) for level in LEVELS)


def _row(line: str) -> dict[str, Any]:
    """Return a row, empty where it lacks something that rankings and panels read."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict) or not all(name in row for name in (*_NUMBERS, *_NAMED)):
        return {}
    is_whole = all(type(row.get(name)) is int for name in _WHOLE)
    numbers = (row[name] is None or _is_number(row[name]) for name in _NUMBERS)
    return row if is_whole and all(numbers) else {}


def _is_number(value: object) -> bool:
    """Say whether a value is a number that is finite, also as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST
