"""Files of scores: their rows, their formats, and which item each row belongs to.

JSON Lines hold a row as it is. Tables hold what is nested in it as JSON, and an empty cell where
there is nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from judgesmith.data.formats.opening import open_rows
from judgesmith.data.formats.raw import RawRows, Row
from judgesmith.data.items import DataSet
from judgesmith.data.labels import is_undecided
from judgesmith.data.problems import DataError, Problem, nothing_in, shown_value
from judgesmith.data.sheets.cells import as_written, cell_of
from judgesmith.errors import InputError, file_faults
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement, Reason
from judgesmith.signatures.scale import Scale

Key = tuple[str, str]
"""Source and system of an item."""

Placed = tuple[str, Mapping[str, Any]]
"""A row of the file, and where it stands."""

Criteria = Mapping[str, CriterionScore]

Samples = tuple[float, ...]
"""Every answer behind a score, in order; nan where one could not be read."""

Given = tuple[float, Cause | None, Criteria, Samples]
"""A row's score or why it is missing, its scores on criteria, and the answers behind it."""

BETWEEN = "|"
"""What stands between the systems of a comparison."""

NO_ANSWER = Cause(Reason.UNREADABLE, "the recorded judge gave no readable score")

LABEL_ALONE = Cause(Reason.OTHER, "the row has a label and no score")


def key_of(row: Mapping[str, Any]) -> Key:
    """Return whose row it is."""
    return str(row.get("source_id") or ""), str(row.get("system_id") or "")


def pair_in(row: Mapping[str, Any], wanted: Container[Key]) -> tuple[Key, Key] | None:
    """Return the two items of a comparison, whose system is ``a|b``; None for any other row."""
    source, system = key_of(row)
    if (source, system) in wanted:
        return None
    names = system.split(BETWEEN)
    for n in range(1, len(names)):
        first, second = BETWEEN.join(names[:n]), BETWEEN.join(names[n:])
        if (source, first) in wanted and (source, second) in wanted:
            return (source, first), (source, second)
    return None


def named_key(key: Key) -> str:
    """Return source and system, as a message names them."""
    return (
        ", ".join(shown_value(one) for one in key if one) or "a row without source_id and system_id"
    )


def same_kind(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two rows are by one judge and on one criterion."""
    return all(row.get(field) == other.get(field) for field in ("judge", "criterion"))


def names_in(rows: Sequence[Placed], field: str) -> list[str]:
    """Return the judges or the criteria of all rows, in order."""
    return sorted({str(row[field]) for _, row in rows if row.get(field) is not None})


def only_one(
    rows: list[Placed], field: str, wanted: str | None, *, where: str, hint: str
) -> list[Placed]:
    """Return the rows of one judge or criterion; files that name none hold but one."""
    names = names_in(rows, field)
    if wanted is None and len(names) <= 1:
        return rows
    if wanted in names:
        return [(place, row) for place, row in rows if str(row.get(field)) == wanted]
    if not names and field == "criterion":
        return rows
    expected = (
        f"one of {', '.join(names)} (say which with {hint})" if names else f"no {field} to be named"
    )
    came = shown_value(wanted)
    raise DataError.of(where=where, field=field, expected=expected, came=came)


def given_in(where: str, row: Mapping[str, Any]) -> Given | Problem:
    """Return what a row gives, or what is wrong with it."""
    try:
        value, cause = value_in(row)
        samples = samples_in(row)
    except ValueError as fault:
        expected = "a number, or null with a problem"
        return Problem(where=where, field="score", expected=expected, came=str(fault))
    try:
        return value, cause, criteria_in(row), samples
    except ValueError as fault:
        expected = "a score for each criterion, a number or null"
        return Problem(where=where, field="criteria", expected=expected, came=str(fault))


def value_in(row: Mapping[str, Any]) -> tuple[float, Cause | None]:
    """Return a row's score or why it is missing; refuse anything else."""
    if "scores" in row:
        given = row["scores"]
        if not isinstance(given, list):
            raise InputError(shown_value(given))
        numbers = [number_in(one) for one in given if one is not None]
        if not numbers:
            return math.nan, NO_ANSWER
        return float(np.mean(numbers)), None
    if "score" not in row and "label" in row:
        return math.nan, LABEL_ALONE
    if "score" not in row:
        raise InputError(f"a row with {', '.join(row)}")
    if row["score"] is None or row["score"] == "":
        why = str(row.get("problem") or "unscored, without a reason")
        return math.nan, Cause(Reason.read(row.get("reason")), why)
    return number_in(row["score"]), None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLabel:
    """What a row of a file says beside its score: a label, its probabilities, the judge's words."""

    where: str = field(compare=False)
    label: Any = None
    probability: Mapping[str, float] = field(default_factory=dict)
    explanation: str = field(default="", compare=False)

    @property
    def is_given(self) -> bool:
        return self.label is not None and self.label != ""

    def beside(self, judgement: Judgement, scale: Scale) -> Judgement:
        """Return the judgement with what the row says of the labels on a scale."""
        if not self.is_given:
            return judgement.model_copy(update={"explanation": self.explanation})
        if is_undecided(self.label):
            return Judgement.unscored(
                f"the judge says {str(self.label).strip().casefold()}",
                reason=Reason.LEFT_TO_PEOPLE,
                explanation=self.explanation,
            )
        label = scale.label(self.label)
        if label is None:
            expected = f"one of the labels {', '.join(scale.labels)}, or unsure or n/a"
            came = shown_value(self.label)
            raise DataError.of(where=self.where, field="label", expected=expected, came=came)
        certain = scale.read(label) if scale.ordered else float(label == scale.positive)
        return Judgement(
            score=certain if judgement.score is None else judgement.score,
            explanation=self.explanation,
            criteria=judgement.criteria,
            label=label,
            probability={name: self.probability[name] for name in scale.labels}
            if self.probability.keys() >= {*scale.labels}
            else {},
        )


def recorded_label(where: str, row: Mapping[str, Any]) -> RecordedLabel | Problem:
    """Return what a row says beside its score, or what is wrong with it."""
    given = row.get("probability")
    try:
        shares = (
            {str(k): number_in(one) for k, one in given.items()}
            if isinstance(given, Mapping)
            else {}
        )
    except ValueError as fault:
        expected = "a number from 0 to 1 for each label"
        return Problem(where=where, field="probability", expected=expected, came=str(fault))
    return RecordedLabel(
        where=where,
        label=row.get("label"),
        probability=shares,
        explanation=str(row.get("explanation") or ""),
    )


def recorded_judgement(value: float, cause: Cause | None, criteria: Criteria) -> Judgement:
    if cause is not None:
        return Judgement.unscored(cause, criteria=criteria)
    return Judgement(score=value, criteria=criteria)


def samples_in(row: Mapping[str, Any]) -> Samples:
    """Return the answers that a row lists, or its score as the only one."""
    if "scores" not in row:
        return (value_in(row)[0],)
    return tuple(math.nan if one is None else number_in(one) for one in row["scores"])


def criteria_in(row: Mapping[str, Any]) -> Criteria:
    """Return what ``score`` wrote of each criterion; rows from elsewhere mean something else."""
    given = row.get("criteria")
    if not row.get("run") or not isinstance(given, Mapping):
        return {}
    found = {}
    for name, one in given.items():
        if not isinstance(one, Mapping) or "score" not in one:
            raise InputError(f"{shown_value(one)} for {shown_value(name)}")
        points = None if one["score"] is None else number_in(one["score"])
        # The words matter only where they say why there is no score.
        words = str(one.get("explanation") or "") if points is None else ""
        found[str(name)] = CriterionScore(score=points, explanation=words)
    return found


def target_in(rows: Sequence[Placed]) -> str | None:
    """Return what the judge of all rows was compiled for; None where they do not say one thing."""
    first = rows[0][1].get("target")
    same = all(row.get("run") and row.get("target") == first for _, row in rows)
    return first if same and isinstance(first, str) else None


def number_in(given: object) -> float:
    """Return a finite number, also from a cell of a table."""
    try:
        number = math.nan if isinstance(given, bool) else float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(shown_value(given))
    return number


TEXT, NUMBER, COUNT, FLAG, NESTED = "text", "number", "count", "flag", "nested"

COLUMNS: Mapping[str, str] = {
    "source_id": TEXT,
    "system_id": TEXT,
    "key": TEXT,
    "score": NUMBER,
    "explanation": TEXT,
    "criteria": NESTED,
    "errors": NESTED,
    "problem": TEXT,
    "reason": TEXT,
    "weighting": NESTED,
    "notes": NESTED,
    "low": NUMBER,
    "high": NUMBER,
    "abstained": FLAG,
    "doubt": NUMBER,
    "uncalibrated": NUMBER,
    "members": NESTED,
    "voice": TEXT,
    "disagreement": NUMBER,
    "annotations": NESTED,
    "outliers": NESTED,
    "support": NESTED,
    "merged_by": TEXT,
    "n_dropped": COUNT,
    "judge": TEXT,
    "target": TEXT,
    "run": TEXT,
}
"""What each column of a table of scores holds; the same columns for every judge."""

LABELS: Mapping[str, str] = {"label": TEXT, "probability": NESTED}
"""Columns after the score where judges give labels."""


def score_columns(*, labels: bool) -> dict[str, str]:
    """Return the columns of a table of scores, and what they hold."""
    found: dict[str, str] = {}
    for name, kind in COLUMNS.items():
        found |= {name: kind, **(LABELS if labels and name == "score" else {})}
    return found


PLACES: Mapping[str, str] = {"row": COUNT, "file": TEXT}
"""Columns before the others where rows stand in the order in which they were finished."""

RECORD = "scores.json"
"""What stands beside the files of a folder of scores, and names them."""

_ALWAYS = ("source_id", "system_id", "score", "explanation", "problem")
_TABLES = (".csv", ".parquet")


def field_of(kind: str, value: Any) -> Any:
    """Return what a table holds of a field: None for nothing, JSON for what is nested."""
    if value is None:
        return None
    if kind == NUMBER:
        return float(value)
    if kind in (COUNT, FLAG):
        return value
    text = json.dumps(value, ensure_ascii=False) if kind == NESTED else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def sheet_cell(kind: str, field: Any) -> Any:
    r"""Return a field as a cell of a CSV file, which a spreadsheet does not compute."""
    if not isinstance(field, str):
        return field
    if kind == NESTED:
        field = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in field)
    return cell_of(field, longest=None)


def open_scores(path: str | Path) -> RawRows:
    """Return the rows of a file of scores, those of tables as JSON Lines would hold them."""
    if (Path(path) / RECORD).is_file():
        return _of_folder(Path(path))
    raw = open_rows(path)
    if Path(path).suffix.lower() in _TABLES:
        from_sheet = Path(path).suffix.lower() == ".csv"
        raw.rows = _decoded(raw.rows, from_sheet=from_sheet)
    return raw


def _of_folder(folder: Path) -> RawRows:
    raw = RawRows(name=folder.name, unit="line")

    def rows() -> Iterator[Row]:
        for one in _files_of(folder):
            inner = open_scores(one)
            # Places are told while the rows go by.
            raw.name, raw.unit = f"{folder.name}/{inner.name}", inner.unit
            yield from inner.rows
            raw.found += inner.found
        raw.name = folder.name

    raw.rows = rows()
    return raw


@file_faults()
def _files_of(folder: Path) -> list[Path]:
    place = folder / RECORD
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
        names = [Path(one["output"]).name for one in record["files"]]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise DataError.of(
            where=str(place),
            field="file",
            expected="the record of a folder of scores",
            came="something else (name the files in the folder themselves)",
        ) from fault
    return [folder / one for one in names]


def _decoded(rows: Iterator[Row], *, from_sheet: bool) -> Iterator[Row]:
    for number, row in rows:
        if not (row.get("run") and row.get("key")):
            yield number, row
        elif from_sheet:
            yield number, decoded({name: as_written(cell) for name, cell in row.items()})
        else:
            yield number, decoded(row)


def decoded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table as the row that it was made of."""
    found: dict[str, Any] = {}
    for name, cell in row.items():
        kind = {**PLACES, **LABELS, **COLUMNS}.get(name)
        value = cell if kind is None else _value(kind, cell)
        if value is not None or name in _ALWAYS:
            found[name] = value
    for name in ("source_id", "system_id", "explanation"):
        if name in found and found[name] is None:
            found[name] = ""
    return found


def _value(kind: str, cell: Any) -> Any:
    """Return what a cell holds; a cell that holds something else is returned as it is."""
    if cell is None or cell == "":
        return None
    if not isinstance(cell, str):
        return None if isinstance(cell, float) and math.isnan(cell) else cell
    try:
        if kind == NESTED:
            return json.loads(cell)
        if kind == NUMBER:
            return float(cell)
        if kind == COUNT:
            return int(cell)
    except (ValueError, RecursionError):
        return cell
    return {"True": True, "False": False}.get(cell, cell) if kind == FLAG else cell


Said = TypeVar("Said")


def placed_rows(path: str | Path) -> tuple[str, list[Placed]]:
    """Return the name of a file and its rows, each with where it stands."""
    raw = open_scores(path)
    rows: list[Placed] = [(raw.where(number), row) for number, row in raw.rows]
    if raw.problems:
        raise DataError(raw.problems)
    if not rows:
        raise nothing_in(raw.name)
    return raw.name, rows


def keys_of(dataset: DataSet) -> list[Key]:
    """Return source and system of every item."""
    return [(item.source_id, item.system_id) for item in dataset]


def matched(
    rows: Sequence[Placed],
    dataset: DataSet,
    read: Callable[[str, Mapping[str, Any]], Said | Problem],
) -> list[Said | None]:
    """Return what is read from each item's row: by source and system, in order, of equal texts."""
    wanted = keys_of(dataset)
    n_wanted = Counter(wanted)
    problems: list[Problem] = []
    texts: dict[Key, list[str]] = defaultdict(list)
    for item, key in zip(dataset, wanted, strict=True):
        texts[key].append(item.key)
    found: dict[Key, list[Said]] = defaultdict(list)
    for where, row in rows:
        key = key_of(row)
        given = read(where, row)
        if isinstance(given, Problem):
            problems.append(given)
            continue
        if row.get("pair") and given in found[key]:
            continue  # one side of several pairs, said again with each of them
        found[key].append(given)
        if len(found[key]) > n_wanted[key]:
            n = f"{n_wanted[key]} scores" if n_wanted[key] > 1 else "one score"
            problems.append(
                Problem(
                    where=where,
                    field="source_id, system_id",
                    expected=f"{n} for {named_key(key)}",
                    came="one more",
                )
            )
        elif _of_other_texts(row, texts[key][len(found[key]) - 1]):
            expected = f"a score of the texts that {named_key(key)} has in {dataset.name}"
            came = "a score of other texts (score these, or name the set that was scored)"
            problems.append(Problem(where=where, field="key", expected=expected, came=came))
    if problems:
        raise DataError(problems)
    in_order = {key: iter(given) for key, given in found.items()}
    return [next(in_order.get(key, iter(())), None) for key in wanted]


def _of_other_texts(row: Mapping[str, Any], key: str) -> bool:
    """Say whether ``score`` gave this row to other texts; rows from elsewhere do not tell."""
    return bool(row.get("run") and row.get("key")) and row["key"] != key


def nothing_in_common(name: str, rows: Sequence[Placed], dataset: DataSet) -> Problem:
    """Return why no row of a file of scores belongs to any item of the set."""
    wanted = keys_of(dataset)
    sources = {source for source, _ in wanted if source}
    same = next((key for _, row in rows if (key := key_of(row))[0] in sources), None)
    if same is None:
        expected = f"ids that occur in {dataset.name} (score the same file that you evaluate on)"
        came = f"none that does, the first {named_key(key_of(rows[0][1]))}"
        return Problem(where=name, field="source_id, system_id", expected=expected, came=came)
    systems = sorted({system for source, system in wanted if source == same[0]})
    theirs = shown_value(", ".join(filter(None, systems))) if any(systems) else "none"
    return Problem(
        where=name,
        field="system_id",
        expected=f"systems that occur in {dataset.name}, where {shown_value(same[0])} has {theirs} "
        "(source ids match, systems do not: give score and evaluate the same --map)",
        came=shown_value(same[1] or None),
    )


def stated_reason(judgement: Judgement) -> str | None:
    """Return why a score that was to be weighed is as the model stated it; None without one."""
    reasons = (one.reason for one in judgement.weighting.values() if one.mode == "stated")
    return next(reasons, None)


def stated_notes(judgements: Iterable[Judgement]) -> Iterator[str]:
    """Yield a sentence about scores that are not weighed, and one about those by samples."""
    n, reasons, drawn = 0, Counter[str](), Counter[str]()
    for one in judgements:
        n += 1
        if (reason := stated_reason(one)) is not None:
            reasons[reason] += 1
        if (reason := sampled_reason(one)) is not None:
            drawn[reason] += 1
    yield from stated_text(reasons, n)
    yield from sampled_text(drawn, n)


def other_models(judgements: Iterable[Judgement]) -> Iterator[str]:
    """Yield a sentence for every model that was asked instead of the judge's own."""
    notes = (note for one in judgements for note in one.notes)
    yield from dict.fromkeys(note.text for note in notes if note.kind == "another model")


def sampled_reason(judgement: Judgement) -> str | None:
    """Return how many samples a score of a judgement rests on, and why; None where none does."""
    drawn = (one for one in judgement.weighting.values() if one.mode == "samples")
    return next((f"n = {one.n}: {one.reason}" for one in drawn), None)


def sampled_text(reasons: Mapping[str, int], n_rows: int) -> Iterator[str]:
    """Yield a sentence about rows whose scores rest on samples, if there are any."""
    n = sum(reasons.values())
    if n:
        most = max(reasons, key=lambda reason: reasons[reason])
        yield (
            f"on {n} of {n_rows} rows scores rest on several sampled answers, not on "
            f"probabilities; on {reasons[most]} of them with {most}. Few samples are a coarse "
            "stand-in: for comparisons with texts some 1000 are said to come within a point of "
            "what probabilities give."
        )


def stated_text(reasons: Mapping[str, int], n_rows: int) -> Iterator[str]:
    """Yield a sentence about rows with scores that are not weighed, if there are any."""
    n = sum(reasons.values())
    if n:
        most = max(reasons, key=lambda reason: reasons[reason])
        yield (
            f"on {n} of {n_rows} rows a score is the one that the model stated, not the mean by "
            f"probabilities that the judge asks for; on {reasons[most]} of them because {most}."
        )
