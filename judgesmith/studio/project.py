"""A project folder: its file, its rows by number and key, its ratings and its judges."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from judgesmith.data import DataError, DataSet, read_many
from judgesmith.data.columns import OVERALL
from judgesmith.data.labels import told_apart
from judgesmith.data.sheets.ratings import DEMONSTRATION, RANDOM, SELECTION, SUGGESTED_BY
from judgesmith.drafts import draft_beside, put, put_text
from judgesmith.errors import InputError, MissingFileError
from judgesmith.signatures import RatedItem, Rubric, Scale
from judgesmith.studio.project_file import PROJECT, ProjectFile, read_project
from judgesmith.studio.store import ADJUDICATED, FILE, Store, StoredRating, labels_version

_INDEX = Path(".judgesmith") / "studio.sqlite"
_FORM = 1
# Of five rows one goes to two raters.
_ROOM = """NOT EXISTS (
  SELECT 1 FROM ratings r WHERE r.key = d.key AND r.rater = ? AND r.state != 'open')
AND (SELECT COUNT(DISTINCT rater) FROM ratings r WHERE r.key = d.key AND r.state != 'open')
  <= (d.rank % 5 = 0)"""
_SUGGESTED = """SELECT d.key, q.chosen_by, q.chance FROM queue q
JOIN data.items d ON d.key = q.key WHERE"""
_OTHERS = """SELECT d.key, 'random', NULL FROM data.items d
WHERE NOT d.rated AND d.key NOT IN (SELECT key FROM queue) AND"""
_JUDGE = re.compile(r"v([1-9][0-9]*)")
_VERDICTS = "fail|pass"


@dataclass(frozen=True, kw_only=True)
class ExportedRatings:
    """Rated rows as data, and how many ratings were left out, by why."""

    rows: list[dict[str, Any]]
    n_stale: int


class Project:
    """A folder with ``judgesmith.yaml``, whose rows people rate and judges are compiled from.

    The data files are read and never changed. Ratings are in ``ratings.sqlite``, judges in
    ``judges/v1``, ``judges/v2``, …, what each was made from in ``runs/``.

    Parameters
    ----------
    folder : str or Path
        The folder.
    on_index : callable or None
        Called before all rows are read to be indexed: at the first opening, and where the project
        file or the data changed. It takes 15 seconds for 100,000 rows.

    Raises
    ------
    OSError
        If there is no project file, or the folder cannot be written.
    ValueError
        If the project file names no data, or cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "judgesmith.yaml").write_text("data: sample-verdicts")
    >>> project = Project(folder)
    >>> len(project), list(project.criteria), project.judges
    (100, ['overall'], [])
    """

    def __init__(self, folder: str | Path, *, on_index: Callable[[], None] | None = None) -> None:
        self.folder = Path(folder)
        place = self.folder / PROJECT
        if not place.is_file():
            raise MissingFileError(
                f"has no {PROJECT}.",
                at=self.folder,
                hint="write one there: judgesmith init DATA.",
            )
        self.file: ProjectFile = read_project(place, named=True)
        if not self.file.data:
            raise InputError("names no data.", at=place, hint="add a line: data: FILE.")
        self.store = Store(self.folder / FILE)
        self._index = self._indexed(on_index)
        self.store.attach(str(self._index))

    def __len__(self) -> int:
        """Return the number of rows with texts of their own."""
        return int(self.store.query("SELECT COUNT(*) FROM data.items")[0][0])

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def read(self) -> DataSet:
        """Return the rows of the project as ``read_items`` reads them."""
        file, scale = self.file, self.file.scale
        read: dict[str, Any] = {"columns": file.map, **file.reading}
        if isinstance(scale, dict):
            # Scales by name are refused where no rating has the name; rows may be unrated.
            try:
                plain = read_many(file.data, **read)
            except DataError:
                pass
            else:
                if not plain.criteria:
                    return plain
        return read_many(file.data, scale=scale, **read)

    def _indexed(self, on_index: Callable[[], None] | None) -> Path:
        """Return the index of the rows, made anew where the project file or the data changed."""
        place = self.folder / _INDEX
        mark = self._mark()
        try:
            with sqlite3.connect(place) as db:
                if db.execute("SELECT mark FROM about").fetchone() == (mark,):
                    return place
        except sqlite3.Error:
            pass
        place.parent.mkdir(exist_ok=True)
        if on_index is not None:
            on_index()
        dataset = self.read()
        with draft_beside(place) as draft:
            db = sqlite3.connect(draft)
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("CREATE TABLE about (mark TEXT, criteria TEXT, name TEXT)")
            db.execute(
                "CREATE TABLE items (place INTEGER PRIMARY KEY, key TEXT UNIQUE, rank INTEGER, "
                "rated INTEGER, item TEXT)"
            )
            db.executemany(
                "INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?)", _indexed_rows(dataset)
            )
            db.execute("CREATE INDEX by_rank ON items (rank) WHERE NOT rated")
            scales = {name: scale.model_dump(mode="json") for name, scale in self._scales(dataset)}
            db.execute(
                "INSERT INTO about VALUES (?, ?, ?)", (mark, json.dumps(scales), dataset.name)
            )
            db.commit()
            db.close()
            put(draft, place)
        return place

    def _mark(self) -> str:
        """Return what changes when the project file or a data file does."""
        found: list[object] = [_FORM, self.file.path.read_text(encoding="utf-8")]
        for name in self.file.data:
            if Path(name).exists():
                about = Path(name).stat()
                found += [name, about.st_size, about.st_mtime_ns]
        return hashlib.blake2b(repr(found).encode(), digest_size=16).hexdigest()

    def _scales(self, dataset: DataSet) -> Iterator[tuple[str, Scale]]:
        """Yield the criteria that are labelled: as the project file, else the data has them."""
        given, positive = self.file.scale, self.file.reading.get("positive")
        if isinstance(given, dict):
            for name, scale in given.items():
                yield name, told_apart(Scale.parse(scale), positive)
        elif dataset.scales:
            yield from dataset.scales.items()
        else:
            yield OVERALL, told_apart(Scale.parse(given or _VERDICTS), positive)

    @cached_property
    def criteria(self) -> dict[str, Scale]:
        """What is labelled, with its scale."""
        text = self.store.query("SELECT criteria FROM data.about")[0][0]
        return {name: Scale.model_validate(one) for name, one in json.loads(text).items()}

    def item(self, key: str) -> RatedItem:
        """Return the row with these texts, as ``RatedItem.key`` names them.

        Raises
        ------
        ValueError
            If the data has no such row.
        """
        found = self.store.query("SELECT item FROM data.items WHERE key = ?", key)
        if not found:
            raise InputError("the data has no such row.", hint="reload the page.")
        return RatedItem.model_validate_json(found[0][0])

    @property
    def first_item(self) -> RatedItem:
        """The first row of the data."""
        found = self.store.query("SELECT item FROM data.items ORDER BY place LIMIT 1")
        return RatedItem.model_validate_json(found[0][0])

    def next_rows(self, rater: str, *, n: int = 20) -> list[tuple[str, str, float | None]]:
        """Return the rows that a rater is to label next: key, how it was chosen, its chance.

        Suggested rows come first, then all others in one random order. A row that another rater
        has labelled is left out, but for one of five, which two raters label.
        """
        found = self.store.query(f"{_SUGGESTED} {_ROOM} ORDER BY q.place LIMIT ?", rater, n)
        if len(found) < n:
            rest = f"{_OTHERS} {_ROOM} ORDER BY d.rank LIMIT ?"
            found += self.store.query(rest, rater, n - len(found))
        return [(str(key), str(by), chance) for key, by, chance in found]

    def chosen_by(self, key: str) -> tuple[str, float | None]:
        """Return how a row came to be labelled, and with what probability if that is known."""
        found = self.store.query("SELECT chosen_by, chance FROM queue WHERE key = ?", key)
        return found[0] if found else (RANDOM, None)

    def again(self, rater: str) -> str | None:
        """Return the row that a rater labelled longest ago and has not seen again."""
        found = self.store.query(
            "SELECT key FROM ratings r WHERE rater = ? AND state = 'value' AND NOT EXISTS ("
            "SELECT 1 FROM history h WHERE h.rater = r.rater AND h.key = r.key AND "
            "h.action = 'again') AND key IN (SELECT key FROM data.items) ORDER BY at LIMIT 1",
            rater,
        )
        return str(found[0][0]) if found else None

    @property
    def judges(self) -> list[int]:
        """The numbers of the judges there are, in order."""
        folders = (self.folder / "judges").glob("v*")
        numbers = [_JUDGE.fullmatch(one.name) for one in folders if one.is_dir()]
        return sorted(int(one[1]) for one in numbers if one)

    def judge_folder(self, number: int) -> Path:
        """Return the folder of judge ``vN``."""
        return self.folder / "judges" / f"v{number}"

    def run_folder(self, number: int) -> Path:
        """Return the folder of what judge ``vN`` was made from."""
        return self.folder / "runs" / f"v{number}"

    @property
    def rubric(self) -> Rubric | None:
        """The rubric that was edited last; None where none was."""
        found = self.store.rubrics()
        return Rubric.from_yaml(found[0][3]) if found else None

    def stale(self) -> list[StoredRating]:
        """Return ratings whose label or number the present scale of their criterion has not."""
        return [
            one
            for one in self.store.ratings()
            if one.state == "value" and not self._is_read(one.criterion, one.value)
        ]

    def _is_read(self, criterion: str, value: str | None) -> bool:
        scale = self.criteria.get(criterion)
        if scale is None:
            return False
        try:
            scale.read(value)
        except ValueError:
            return False
        return True

    def export(self) -> ExportedRatings:
        """Return every row that has ratings, as rows of data for ``compile``.

        Each has the ratings of the data and those of the store, with raters, their words, and how
        the row was chosen. What was adjudicated stands in place of the raters' own words. A row
        that is marked as a demonstration counts as chosen: compile learns from it, and does not
        hold it out; a row that is marked never to be one says so in ``demonstration``. Values that
        the scale has no longer are left out, and counted.
        """
        by_key: dict[str, list[StoredRating]] = {}
        for one in self.store.ratings():
            by_key.setdefault(one.key, []).append(one)
        n_random, n_rows = self._drawn()
        marks = self.store.marks()
        n_stale = 0
        rows = []
        rated = "SELECT item FROM data.items WHERE rated OR key IN (SELECT key FROM ratings)"
        for (text,) in self.store.query(f"{rated} ORDER BY place"):
            item = RatedItem.model_validate_json(text)
            given = by_key.get(item.key, [])
            kept = [one for one in given if self._counts(one)]
            n_stale += sum(
                one.state == "value" and not self._is_read(one.criterion, one.value)
                for one in given
            )
            row = self._row(item, kept)
            if row is None:
                continue
            if kept:
                first = kept[0]
                row[SUGGESTED_BY] = first.chosen_by
                if first.chosen_by == RANDOM:
                    row[SELECTION] = first.chance or n_random / n_rows
            mark = marks.get(item.key, ("", ""))[0]
            if mark == "demonstration":
                row[SUGGESTED_BY] = "demonstration"
                row.pop(SELECTION, None)
            if mark == "never":
                row[DEMONSTRATION] = mark
            rows.append(row)
        return ExportedRatings(rows=rows, n_stale=n_stale)

    def _drawn(self) -> tuple[int, int]:
        """Return how many rows were drawn at random to be labelled, and from how many."""
        n = self.store.query(
            "SELECT COUNT(DISTINCT key) FROM ratings WHERE chosen_by = ? AND chance IS NULL", RANDOM
        )[0][0]
        of = self.store.query("SELECT COUNT(*) FROM data.items WHERE NOT rated")[0][0]
        return int(n), max(int(of), int(n), 1)

    def _counts(self, one: StoredRating) -> bool:
        if one.state in ("unsure", "n/a"):
            return one.criterion in self.criteria and self.criteria[one.criterion].is_verdict
        return one.state == "value" and self._is_read(one.criterion, one.value)

    def _row(self, item: RatedItem, given: Sequence[StoredRating]) -> dict[str, Any] | None:
        """Return a row with all its ratings; None where none counts."""
        human: dict[str, list[str]] = {}
        raters: dict[str, list[str]] = {}
        words: dict[str, list[str | None]] = {}
        for name, scale in {**item.scale, **self.criteria}.items():
            own = [one for one in given if one.criterion == name]
            decided = [one for one in own if one.rater == ADJUDICATED]
            if not decided:
                points = item.human.get(name, ())
                human[name] = [rating_text(one, scale) for one in points]
                raters[name] = list(item.raters.get(name, ("",) * len(points)))
                words[name] = list(item.rationale.get(name, (None,) * len(points)))
            for one in decided or own:
                human.setdefault(name, []).append(one.value or one.state)
                raters.setdefault(name, []).append(one.rater)
                words.setdefault(name, []).append(one.rationale or None)
        rated = {name: values for name, values in human.items() if values}
        if not rated:
            return None
        plain = item.model_dump(
            mode="json", include={"source_id", "system_id", "source", "context", "response"}
        )
        row: dict[str, Any] = {
            **plain,
            "references": list(item.references),
            "human": rated,
            "scale": {
                name: (self.criteria.get(name) or item.scale[name]).model_dump(mode="json")
                for name in rated
            },
            "raters": {name: raters[name] for name in rated},
        }
        said = {name: words[name] for name in rated if any(words[name])}
        return {**row, "rationale": said} if said else row

    def write_export(self, place: Path) -> ExportedRatings:
        """Write ``export`` as JSON Lines, and return it."""
        found = self.export()
        put_text(place, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found.rows))
        return found

    def summary(self) -> list[dict[str, Any]]:
        """Return what each rater did: rows, by value, skipped, and how steady the rater is."""
        counts: dict[str, dict[str, Any]] = {}
        for rater, state, value, n in self.store.query(
            "SELECT rater, state, value, COUNT(*) FROM ratings WHERE state != 'open' "
            "GROUP BY rater, state, value"
        ):
            one = counts.setdefault(rater, {"rater": rater, "rows": 0, "skipped": 0, "values": {}})
            if state == "skipped":
                one["skipped"] += n
            else:
                one["values"][value or state] = one["values"].get(value or state, 0) + n
        for rater, n in self.store.query(
            "SELECT rater, COUNT(DISTINCT key) FROM ratings WHERE state NOT IN ('open', 'skipped') "
            "GROUP BY rater"
        ):
            counts[rater]["rows"] = n
        for rater, one in counts.items():
            one["same_again"], one["seen_again"] = self.store.consistency(rater)
        return [counts[name] for name in sorted(counts)]

    def check_value(self, criterion: str, value: str | None) -> str:
        """Return the version of a criterion's scale; refuse a value that is not on it.

        Raises
        ------
        ValueError
            If there is no such criterion, or no such value.
        """
        if criterion not in self.criteria:
            names = ", ".join(self.criteria)
            raise InputError(f"the criteria are {names}; got {criterion[:80]!r}.")
        if value is not None and not self._is_read(criterion, value):
            scale = self.criteria[criterion]
            raise InputError(f"expected a value of {scale}; got {value[:80]!r}.")
        return labels_version(self.criteria[criterion])


def _indexed_rows(dataset: DataSet) -> Iterable[tuple[int, str, int, int, str]]:
    for place, item in enumerate(dataset):
        key = item.key
        digest = hashlib.blake2b(key.encode(), digest_size=6).digest()
        rated = any(item.human.values())
        yield place, key, int.from_bytes(digest), int(rated), item.model_dump_json()


def rating_text(points: float, scale: Scale) -> str:
    """Return points as a label, or as the shortest number."""
    if scale.labels:
        return scale.labels[int(points - scale.low)]
    return repr(float(points)).removesuffix(".0")


def possible_answers(scale: Scale) -> list[str]:
    """Return what can be chosen on a scale: its labels, or up to eleven whole points."""
    if scale.labels:
        return list(scale.labels)
    low, high = int(scale.low), int(scale.high)
    step = max(1, -(-(high - low) // 10))
    return [str(one) for one in range(low, high + 1, step)]


def values_by_key(ratings: Iterable[StoredRating]) -> Mapping[tuple[str, str], list[StoredRating]]:
    """Return ratings with a value by row and criterion."""
    found: dict[tuple[str, str], list[StoredRating]] = {}
    for one in ratings:
        if one.state == "value":
            found.setdefault((one.key, one.criterion), []).append(one)
    return found
