"""What scores and inputs are like now, compared with what they were like before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgesmith.data.problems import DataError, Problem, nothing_in, shown_value
from judgesmith.data.reading import ColumnsGiven, ItemStream, stream_items
from judgesmith.data.scores import Placed, given_in, open_scores
from judgesmith.experiments.monitor.snapshot import (
    NO,
    SCORE,
    SCORED,
    VERDICT,
    Numbers,
    Shares,
    Snapshot,
    SnapshotRow,
    is_score,
    labels_of,
    numbers_of,
    row_of_score,
    snapshot_of,
)
from judgesmith.metrics import holm
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.metrics.comparing import distribution_shift, share_shift
from judgesmith.metrics.records import Record
from judgesmith.programs.artifacts.record import SavedJudgeError, SavedRecord
from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedComposite
from judgesmith.results.base import Result
from judgesmith.signatures import RatedItem
from judgesmith.signatures.aggregation import Calibration

ALPHA = 0.05
"""The chance of any false finding at all, over everything that is compared."""

RARE = 0.01
"""A script or language below this share, before and now, is not looked at by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Record):
    """How far one thing has moved."""

    what: str
    kind: str
    unit: str
    before: float
    now: float
    effect: float
    low: float
    high: float
    p_value: float
    drifted: bool = False
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport(Result, report="judgesmith.cli.trust.drift:report"):
    """What has moved.

    Attributes
    ----------
    before, now : Snapshot
        What was compared.
    shifts : tuple of Shift
        Everything, scores first.
    unknown : tuple of str
        What is in one of both alone, and cannot be compared.
    """

    before: Snapshot
    now: Snapshot
    shifts: tuple[Shift, ...]
    unknown: tuple[str, ...]

    def _rows(self) -> Iterator[dict[str, Any]]:
        yield from map(asdict, self.shifts)

    @property
    def drifted(self) -> tuple[Shift, ...]:
        """What has drifted."""
        return tuple(one for one in self.shifts if one.drifted)

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return {
            "drifted": bool(self.drifted),
            "rows": {"before": self.before.rows, "now": self.now.rows},
            "unscored": {"before": self.before.unscored, "now": self.now.unscored},
            "shifts": [one.to_dict() for one in self.shifts],
            "unknown": list(self.unknown),
        }


def drift_between(
    before: Snapshot, now: Snapshot, *, tolerance: float = 0.1, share_tolerance: float = 0.05
) -> DriftReport:
    """Return what has moved.

    A thing has drifted if its effect is larger than the tolerance, and its p-value, adjusted for
    everything that is compared, below .05. So a large set does not drift by trifles, and a small
    one not by chance.

    Parameters
    ----------
    before, now : Snapshot
        What scores and inputs were like, and are.
    tolerance : float, from 0 to 1
        For numbers, as a distance between distributions: .1 is a shift by a quarter of a standard
        deviation, .2 by half of one.
    share_tolerance : float, from 0 to 1
        For shares: of rows without a score, of scripts and of languages.

    Examples
    --------
    >>> from judgesmith.experiments.monitor.snapshot import SnapshotRow, snapshot_of
    >>> def rows(shift):
    ...     found = [SnapshotRow(source=str(i), numbers={"score": i % 50 + shift}, labels={})
    ...              for i in range(200)]
    ...     return snapshot_of(found)
    >>> [one.drifted for one in drift_between(rows(0), rows(2)).shifts]
    [False]
    >>> [(one.what, round(one.effect, 1)) for one in drift_between(rows(0), rows(15)).drifted]
    [('score', 0.3)]
    """
    unknown = sorted(
        {*before.numbers, *before.labels} ^ {*now.numbers, *now.labels},
        key=lambda name: (not is_score(name), name),
    )
    shifts = [
        _of_numbers(name, before.numbers[name], now.numbers[name])
        for name in sorted(set(before.numbers) & set(now.numbers), key=_order)
    ]
    for name in sorted(set(before.labels) & set(now.labels), key=_order):
        shifts += _of_labels(name, before.labels[name], now.labels[name])
    adjusted = holm([one.p_value for one in shifts])
    limits = {"distance": tolerance, "share": share_tolerance}
    found = [
        _judged(one, float(p), limits[one.unit]) for one, p in zip(shifts, adjusted, strict=True)
    ]
    found.sort(key=lambda one: one.kind != "scores")
    return DriftReport(before=before, now=now, shifts=tuple(found), unknown=tuple(unknown))


def reference_distribution(judge: SavedRecord) -> Snapshot | Any:
    """Return what scores and inputs were like when a judge was made; None where it does not say.

    Of a panel, which says nothing itself, the inputs of its first member; of a calibrated judge
    also its scores, unless it leaves texts to people.

    Parameters
    ----------
    judge : saved judge
        Of any kind.

    Raises
    ------
    SavedJudgeError
        If what it says cannot be read.
    """
    if judge.reference:
        return read_snapshot(judge.reference)
    if isinstance(judge, SavedCalibrated):
        found = reference_distribution(judge.members["judge"])
        return None if found is None else _calibrated(found, judge.calibration)
    if isinstance(judge, SavedComposite):
        known = (reference_distribution(one) for one in judge.members.values())
        return next((one.without_scores() for one in known if one is not None), None)
    return None


def _calibrated(found: Snapshot, calibration: Calibration) -> Snapshot:
    """Return what the scores of a judge are like once they are calibrated."""
    scores = found.numbers.get(SCORE)
    if scores is None or calibration.abstention is not None:
        return found.without_scores()
    points = tuple(calibration.apply(one) for one in scores.points)
    mapped = scores.model_copy(update={"points": points})
    return found.model_copy(update={"numbers": {**found.numbers, SCORE: mapped}})


def read_snapshot(plain: Mapping[str, Any]) -> Snapshot:
    """Return what a judge says of when it was made."""
    try:
        return Snapshot.model_validate(plain)
    except ValidationError:
        raise SavedJudgeError(
            "what the judge says of the texts it was made with cannot be read.",
            hint="compile it again, or compare with other scores, by --against.",
        ) from None


def _order(name: str) -> tuple[bool, str]:
    return not (is_score(name) or name in (SCORED, VERDICT)), name


def _of_numbers(name: str, before: Numbers, now: Numbers) -> Shift:
    found = distribution_shift(
        before.points, now.points, n_before=before.effective, n_now=now.effective
    )
    return Shift(
        what=name,
        kind="scores" if is_score(name) else "inputs",
        unit="distance",
        before=found.before,
        now=found.now,
        effect=found.distance,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
    )


def _of_labels(name: str, before: Shares, now: Shares) -> Iterator[Shift]:
    """Yield the shifts of labels that are not rare; of two labels one says all."""
    labels = [
        label
        for label in dict.fromkeys((*before.shares, *now.shares))
        if max(before.shares.get(label, 0.0), now.shares.get(label, 0.0)) >= RARE
    ]
    if name == SCORED:
        labels = [NO]
    elif len(labels) == 2:
        labels = labels[1:]
    for label in labels:
        found = share_shift(
            before.shares.get(label, 0.0),
            now.shares.get(label, 0.0),
            n_before=before.effective,
            n_now=now.effective,
        )
        yield Shift(
            what="without a score" if name == SCORED else f"{name} {label}",
            kind="scores" if name in (SCORED, VERDICT) else "inputs",
            unit="share",
            before=found.before,
            now=found.now,
            effect=found.difference,
            low=found.low,
            high=found.high,
            p_value=found.p_value,
            new=name != SCORED and label not in before.shares,
        )


def _judged(one: Shift, p_value: float, limit: float) -> Shift:
    drifted = p_value < ALPHA and abs(one.effect) > limit
    return replace(one, p_value=p_value, drifted=drifted)


SAMPLE = 5000
"""Rows that are looked at, drawn at random of more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredRows:
    """What the scores in a file are like."""

    snapshot: Snapshot
    notes: tuple[str, ...] = ()


def load_scores(
    scores: str | Path,
    *,
    judge: str,
    inputs: str | Path | None = None,
    columns: ColumnsGiven = None,
    seed: Seed,
) -> GatheredRows:
    """Return what the scores in a file are like, and the texts that they are of.

    Parameters
    ----------
    scores : str or Path
        Rows that ``score`` wrote.
    judge : str
        Fingerprint of the judge that gave them. Rows that name none may be anybody's, and a note
        says so.
    inputs : str, Path or None
        What was scored, in the same order; None looks at scores alone.
    columns : ColumnMap, mapping, str or None
        Which columns of ``inputs`` hold what.
    seed : int or numpy.random.Generator
        Draws the rows that are looked at.

    Raises
    ------
    DataError
        If a row cannot be read, or is another judge's; if the inputs are not those that were
        scored.
    FileNotFoundError
        If there is no such file.
    """
    rng = generator(seed)
    raw = open_scores(scores)
    items = None if inputs is None else stream_items(inputs, columns=columns)
    kept: list[SnapshotRow] = []
    n = n_unscored = n_nameless = 0
    placed = ((raw.where(number), row) for number, row in raw.rows)
    for one, item in _beside(placed, items, raw.name):
        where, row = one
        given = given_in(where, row)
        if isinstance(given, Problem):
            raise DataError([given])
        whose = row.get("judge")
        if whose is not None and whose != judge:
            expected = f"scores of the judge {judge}"
            raise DataError.of(
                where=where, field="judge", expected=expected, came=shown_value(whose)
            )
        value, _, criteria, _ = given
        n_nameless += whose is None
        n_unscored += math.isnan(value)
        n += 1
        place = len(kept) if n <= SAMPLE else int(rng.integers(n))
        if place >= SAMPLE:
            continue
        points = None if math.isnan(value) else value
        source = str(row.get("source_id") or "") or (item.source_id if item else "") or str(n)
        said = str(row.get("label") or "") or None
        numbers, labels = row_of_score(
            points, {name: found.score for name, found in criteria.items()}, said
        )
        if item is not None:
            numbers, labels = numbers | numbers_of(item), labels | labels_of(item)
        measured = SnapshotRow(source=source, numbers=numbers, labels=labels)
        kept[place : place + 1] = [measured]
    if raw.problems:
        raise DataError(raw.problems)
    if not n:
        raise nothing_in(raw.name)
    notes = [] if items is None else list(items.notes)
    if n_nameless:
        notes.append(f"{n_nameless} of {n} rows do not say which judge scored them.")
    if n > SAMPLE:
        notes.append(f"{SAMPLE} rows were looked at, drawn at random from {n}.")
    return GatheredRows(
        snapshot=snapshot_of(kept, n_rows=n, n_unscored=n_unscored), notes=tuple(notes)
    )


def _beside(
    rows: Iterator[Placed], items: ItemStream | None, name: str
) -> Iterator[tuple[Placed, RatedItem | None]]:
    """Yield rows with what they are scores of, as long as these are the same texts."""
    if items is None:
        yield from ((one, None) for one in rows)
        return
    where = name
    for one in rows:
        where, row = one
        item = next(items, None)
        if item is None:
            raise _other_inputs(where, items.name, "a row more than there are texts")
        if row.get("key") not in (None, item.key):
            raise _other_inputs(where, items.name, "a score of other texts")
        yield one, item
    if next(chain(items), None) is not None:
        raise _other_inputs(where, items.name, "the last row, and texts without a score after it")


def _other_inputs(where: str, name: str, came: str) -> DataError:
    expected = f"a score for each text of {name}, in order (name the file that was scored)"
    return DataError.of(where=where, field="key", expected=expected, came=came)
