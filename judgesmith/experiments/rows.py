"""From one plain row to the fields of a rated item, with everything odd written down."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from judgesmith.experiments.columns import KNOWN_NAMES, ColumnMap
from judgesmith.experiments.formats import RawRows
from judgesmith.experiments.problems import Problem, shown
from judgesmith.experiments.ratings import expected_rating, rating_points
from judgesmith.experiments.scales import GivenScales, StatedScales
from judgesmith.signatures.items import source_hash
from judgesmith.signatures.scale import Scale

RATED_FIELDS = ("human", "scale")
"""Where rows in the canonical form keep ratings and their scales."""

_TEXTS = ("source", "response", "context")


class TextReader:
    """Reads ids and texts of rows, never ratings.

    Parameters
    ----------
    columns : ColumnMap
        Where each field is; complete.
    raw : RawRows
        Where the rows come from; takes the problems.
    ignored : iterable of str
        Columns that are kept out of ``extra`` beside those that are read.
    """

    def __init__(self, columns: ColumnMap, raw: RawRows, *, ignored: Iterable[str] = ()) -> None:
        self._raw = raw
        self._column = {name: (columns.fields.get(name) or (None,))[0] for name in KNOWN_NAMES}
        self._references = columns.fields.get("references", ())
        self._read = {*columns.columns, *ignored}
        self._odd: dict[tuple[str, str], tuple[int, str]] = {}

    def fields(self, number: int, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments of ``RatedItem``, all but ratings and scales."""
        found: dict[str, Any] = {name: self._text(number, row, name) for name in _TEXTS}
        found["context"] = found["context"] or None
        found["references"] = self._reference_texts(number, row)
        found["system_id"] = self._id(number, row, "system_id")
        found["source_id"] = self._id(number, row, "source_id") or source_hash(
            found["source"], found["response"]
        )
        found["extra"] = {name: value for name, value in row.items() if name not in self._read}
        return found

    @property
    def notes(self) -> list[str]:
        """Return what was read otherwise than it stood there, so far."""
        sentences = {
            "missing": "{field}: missing in {n} (first at {first}), read as an empty text.",
            "spelled": "{field}: not a text in {n} (first at {first}), read as spelled there.",
            "hashed": "{field}: missing in {n} (first at {first}), a hash of the text instead.",
        }
        return [
            sentences[kind].format(field=name, n=f"{n} row{'s' * (n > 1)}", first=first)
            for (name, kind), (n, first) in self._odd.items()
        ]

    def _note(self, number: int, name: str, kind: str) -> None:
        n, first = self._odd.get((name, kind), (0, self._raw.where(number)))
        self._odd[name, kind] = (n + 1, first)

    def _unicode(self, number: int, column: str, text: str) -> str:
        """Return ``text`` if it can be stored and sent; JSON can spell texts that cannot."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            came = f"half a surrogate pair at position {error.start + 1}"
            self._raw.problem(number, at=column, expected="Unicode text", came=came)
        return text

    def _text(self, number: int, row: Mapping[str, Any], name: str) -> str:
        column = self._column[name]
        if column is None:
            return ""
        value = row.get(column)
        if isinstance(value, str):
            return self._unicode(number, column, value)
        if name == "response" and column not in row:
            self._raw.problem(number, at=column, expected="a text to judge", came="no such field")
        elif _is_missing(value):
            if name != "context":
                self._note(number, name, "missing")
        elif isinstance(value, bool | int | float):
            self._note(number, name, "spelled")
            return json.dumps(value)
        else:
            self._raw.problem(number, at=column, expected="a text", came=shown(value))
        return ""

    def _id(self, number: int, row: Mapping[str, Any], name: str) -> str:
        column = self._column[name]
        if column is None:
            return ""
        value = row.get(column)
        if isinstance(value, str) and value:
            return self._unicode(number, column, value)
        if value == "" or _is_missing(value):
            if name == "source_id":
                self._note(number, name, "hashed")
        elif _is_number(value) and math.isfinite(value):
            # Table libraries turn a column of whole numbers with a gap into 3.0, 4.0, …
            return str(int(value)) if value == int(value) else str(value)
        else:
            self._raw.problem(number, at=column, expected="an id", came=shown(value))
        return ""

    def _reference_texts(self, number: int, row: Mapping[str, Any]) -> tuple[str, ...]:
        texts: list[str] = []
        for column in self._references:
            value = row.get(column)
            for text in value if isinstance(value, list | tuple) else [value]:
                if isinstance(text, str):
                    texts += [self._unicode(number, column, text)] if text else []
                elif not _is_missing(text):
                    came = shown(text)
                    self._raw.problem(number, at=column, expected="texts", came=came)
        return tuple(texts)


class RatingReader:
    """Reads ratings of rows once all scales are known.

    Parameters
    ----------
    columns : ColumnMap
        Where the ratings are; without criteria they are read from ``human``.
    scales : GivenScales
        What the user said.
    raw : RawRows
        Where the rows come from; takes the problems.
    """

    def __init__(self, columns: ColumnMap, scales: GivenScales, raw: RawRows) -> None:
        self._criteria = columns.criteria
        self._given = scales
        self._stated = StatedScales()
        self._raw = raw
        self._n_blank = 0
        self._unscaled: dict[str, list[float]] = {}
        self._named: dict[str, None] = {}

    def answers(self, number: int, row: Mapping[str, Any]) -> dict[str, dict[str, list[Any]]]:
        """Return what stands in the row, unread, by criterion and by cell; note its scales."""
        if self._criteria:
            found = {
                name: {column: _listed(row.get(column)) for column in columns}
                for name, columns in self._criteria.items()
            }
        else:
            found = {
                str(name): {f"human.{name}": _listed(value)}
                for name, value in self._mapping(number, row, "human").items()
            }
        self._named.update(dict.fromkeys(found))
        stated = row.get("scale")
        if isinstance(stated, list | tuple) and all(map(_is_number, stated)):
            stated = dict.fromkeys(found, stated)
        elif self._criteria and not isinstance(stated, Mapping):
            stated = {}
        else:
            stated = self._mapping(number, row, "scale")
        for name, value in stated.items():
            if value is not None:
                problem = self._stated.state(str(name), value, where=self._raw.where(number))
                if problem:
                    self._raw.found.append((number, problem))
        return found

    def points(
        self, number: int, answers: Mapping[str, Mapping[str, list[Any]]]
    ) -> tuple[dict[str, tuple[float, ...]], dict[str, Scale]]:
        """Return ratings and scales by criterion; what is no rating becomes a problem."""
        human: dict[str, tuple[float, ...]] = {}
        scales: dict[str, Scale] = {}
        for name, given in answers.items():
            scale = self._given.of(name, self._stated.by_criterion.get(name))
            if scale is not None:
                scales[name] = scale
            read: list[float] = []
            for cell, answers_in_it in given.items():
                wrong = []
                for answer in answers_in_it:
                    if answer is None or (isinstance(answer, str) and not answer.strip()):
                        self._n_blank += 1
                        continue
                    try:
                        read.append(rating_points(answer, scale))
                    except ValueError:
                        wrong.append(answer)
                if wrong:
                    expected = expected_rating(scale)
                    came = _some(wrong)
                    self._raw.problem(number, at=cell, expected=expected, came=came)
            human[name] = tuple(read)
            if scale is None and read:
                self._unscaled.setdefault(name, []).extend((min(read), max(read)))
        return human, scales

    @property
    def scale_problems(self) -> list[Problem]:
        """Return what is wrong with the scales: none for rated criteria, some for no criterion."""
        return [*self._missing(), *self._strangers()]

    def _missing(self) -> Iterator[Problem]:
        """Yield one problem for all rated criteria whose scale nobody said."""
        if not self._unscaled:
            return
        several = len(self._unscaled) > 1
        said = "NAME=LOW..HIGH for each" if several else f"{next(iter(self._unscaled))}=LOW..HIGH"
        if not self._given.by_criterion:
            said = "LOW..HIGH for all" if several else "LOW..HIGH"
        ends = [
            f"{min(ends):g} to {max(ends):g}" + f" ({name})" * several
            for name, ends in self._unscaled.items()
        ]
        yield Problem(
            where=self._raw.name,
            field=", ".join(self._unscaled),
            expected=f"a scale (say --scale {said} with the ends of the rating form)",
            came=f"none; the ratings go from {', '.join(ends)}",
        )

    def _strangers(self) -> Iterator[Problem]:
        """Yield a problem for each given scale of a criterion that is not in the data."""
        names = list(dict.fromkeys([*self._named, *self._stated.by_criterion]))
        for name in self._given.by_criterion:
            if name not in names:
                close = difflib.get_close_matches(name, names, n=1)
                yield Problem(
                    where=self._raw.name,
                    field="--scale",
                    expected=f"one of the criteria {', '.join(names) or '(none)'}",
                    came=f"{name!r}" + (f"; did you mean {close[0]!r}?" if close else ""),
                )

    @property
    def notes(self) -> list[str]:
        """Return what was left blank and which stated scales were overruled."""
        notes = []
        if self._n_blank:
            blank = "rating is" if self._n_blank == 1 else "ratings are"
            notes.append(f"{self._n_blank} {blank} blank and left out.")
        for name, scale in self._stated.by_criterion.items():
            said = self._given.of(name, scale)
            if said != scale:
                notes.append(f"the scale of {name} is {said} as given, not {scale} as in the rows.")
            elif self._given.default not in (None, scale):
                notes.append(
                    f"the scale of {name} is {scale} as in the rows; to overrule them with "
                    f"{self._given.default}, name it: {name}={self._given.default}."
                )
        return notes

    def _mapping(self, number: int, row: Mapping[str, Any], name: str) -> Mapping[Any, Any]:
        value = row.get(name)
        mapping = as_mapping(value)
        if mapping is not None:
            return mapping
        if not _is_missing(value) and value != "":
            content = "[ratings]" if name == "human" else "[lowest, highest]"
            hint = " (or say --map score=human)" if name == "human" else ""
            expected = f"{{criterion: {content}}}{hint}"
            self._raw.problem(number, at=name, expected=expected, came=shown(value))
        return {}


def as_mapping(value: Any) -> Mapping[Any, Any] | None:
    """Return the mapping that a cell holds, also as JSON or as pairs; None where it holds none.

    Examples
    --------
    >>> as_mapping('{"clear": [4]}'), as_mapping([("clear", 4)]), as_mapping("clear")
    ({'clear': [4]}, {'clear': 4}, None)
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        # A table has no other way to hold the canonical form than JSON in a cell.
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list) and all(isinstance(v, tuple) and len(v) == 2 for v in value):
        with contextlib.suppress(TypeError):
            return dict(value)  # how Parquet hands out maps
    return None


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _some(wrong: list[Any]) -> str:
    """Return the first few values of a cell as a message shows them."""
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return ", ".join(map(shown, wrong[:3])) + more


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
