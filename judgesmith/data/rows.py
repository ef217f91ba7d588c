"""From one plain row to the fields and scales of a rated item, with everything odd written down."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from pydantic import ValidationError

from judgesmith.data.columns import KNOWN_NAMES, RATIONALE_OF, ColumnMap, criterion_named
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.labels import (
    MOST_LABELS,
    ONE_PER_RATING,
    LabelsGiven,
    UnfitWordsError,
    given_labels,
    is_undecided,
    labelled_by,
    rationales_for,
    told_apart,
    unknown_labels,
)
from judgesmith.data.problems import Problem, shown_value
from judgesmith.data.targets import expected_rating, rating_points
from judgesmith.errors import InputError
from judgesmith.signatures.items import source_hash
from judgesmith.signatures.scale import Scale

MISSING_MARKERS = ("n/a", "na", "nan", "none", "null", "-", "--", "?", ".")
"""Cells that often mean a missing rating; they are read so only where the user says it."""

ScaleGiven = Scale | str | Sequence[float] | Mapping[str, Any] | None
"""A scale for all criteria, or one per criterion; texts as in ``1..5`` and ``fluency=1..5``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScales:
    """What the user said about scales."""

    default: Scale | None = None
    by_criterion: Mapping[str, Scale] = field(default_factory=dict)
    positive: str | None = None

    def of(self, criterion: str, stated: Scale | None) -> Scale | None:
        """Return the scale of a criterion, or None if it is not stated."""
        found = self.by_criterion.get(criterion) or stated or self.default
        return found and told_apart(found, self.positive)

    def beside(self, known: Mapping[str, Scale]) -> GivenScales:
        """Return the same with the scales of more criteria, where the user gave none by name."""
        return replace(self, by_criterion={**known, **self.by_criterion})

    def with_labels(self, given: LabelsGiven, positive: str | None) -> GivenScales:
        """Return the same with labels, of all criteria or by criterion."""
        by_name = {
            criterion_named(name): Scale.of_labels(*labels, positive=positive)
            for name, labels in given_labels(given).items()
        }
        default = by_name.pop("", None)
        twice = by_name.keys() & self.by_criterion.keys() or (default and self.default and {"all"})
        if twice:
            raise InputError(
                f"{', '.join(sorted(twice))}: a scale and labels are given.",
                where="--labels",
                hint="keep one of the two.",
            )
        return GivenScales(
            default=default or self.default,
            by_criterion={**self.by_criterion, **by_name},
            positive=positive,
        )


def given_scales(given: ScaleGiven | GivenScales) -> GivenScales:
    """Return what the user said about scales, in whatever form, as one record."""
    if given is None:
        return GivenScales()
    if isinstance(given, GivenScales):
        return given
    if isinstance(given, Scale):
        return GivenScales(default=given)
    if isinstance(given, Mapping) and not {"low", "high"} <= set(given):
        pairs = [(str(name), value) for name, value in given.items()]
    elif isinstance(given, str):
        # `1,5` is a range too, so that commas separate scales only where a criterion is named.
        parts = given.split(",") if "=" in given else [given]
        pairs = [_pair(part) for part in parts]
    else:
        pairs = [("", given)]
    default: Scale | None = None
    by_criterion: dict[str, Scale] = {}
    for name, value in pairs:
        try:
            scale = as_scale(value)
        except ValueError as fault:
            raise InputError(f"{fault}.") from None
        criterion = criterion_named(name)
        if criterion in by_criterion or (not criterion and default is not None):
            raise InputError(f"the scale of {criterion or 'all criteria'} is given twice.")
        if criterion:
            by_criterion[criterion] = scale
        else:
            default = scale
    return GivenScales(default=default, by_criterion=by_criterion)


def _pair(part: str) -> tuple[str, str]:
    name, equals, text = part.rpartition("=")
    if equals and not name.strip():
        raise InputError(f"a scale is written CRITERION=LOW..HIGH or LOW..HIGH; got {part!r}.")
    return name.strip(), text


def as_scale(value: Any) -> Scale:
    """Return the scale that ``[1, 5]``, ``"1..5"`` or a scale's fields state."""
    try:
        return Scale.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        reason = str(first.get("ctx", {}).get("error", first["msg"]))
        raise InputError(reason.rstrip(".")) from None


class StatedScales:
    """Scales as the rows state them: one per criterion, the same on every row."""

    def __init__(self) -> None:
        self.by_criterion: dict[str, Scale] = {}
        self._first: dict[str, str] = {}
        self._read: dict[str, Scale] = {}

    def state(self, criterion: str, value: Any, *, where: str) -> Problem | None:
        """Take one row's statement; return a problem if it is none or contradicts the first."""
        try:
            # Rows repeat themselves: each spelling is read once.
            spelling = json.dumps(value, default=repr)
            scale = self._read.get(spelling) or as_scale(value)
            self._read[spelling] = scale
        except ValueError as error:
            return Problem(
                where=where,
                field=f"scale.{criterion}",
                expected="[lowest, highest]",
                came=f"{shown_value(value)} ({error})",
            )
        known = self.by_criterion.setdefault(criterion, scale)
        first = self._first.setdefault(criterion, where)
        if known == scale:
            return None
        return Problem(
            where=where,
            field=f"scale.{criterion}",
            expected=f"{known}, as stated first ({first})",
            came=str(scale),
        )


RATED_FIELDS = ("human", "scale")
"""Where rows in the canonical form keep ratings and their scales."""

_TEXTS = ("source", "response", "context")


class TextReader:
    """Reads ids and texts of rows, never ratings."""

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
            self._raw.problem(number, at=column, expected="a text", came=shown_value(value))
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
            self._raw.problem(number, at=column, expected="an id", came=shown_value(value))
        return ""

    def _reference_texts(self, number: int, row: Mapping[str, Any]) -> tuple[str, ...]:
        texts: list[str] = []
        for column in self._references:
            value = row.get(column)
            for text in value if isinstance(value, list | tuple) else [value]:
                if isinstance(text, str):
                    texts += [self._unicode(number, column, text)] if text else []
                elif not _is_missing(text):
                    came = shown_value(text)
                    self._raw.problem(number, at=column, expected="texts", came=came)
        return tuple(texts)


_NUMBERS = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*", re.ASCII)
_COMMA = re.compile(r"\s*[-+]?\d*,\d+\s*", re.ASCII)
# 1,250 may be a thousand or one and a quarter: a column of nothing else is not guessed at.
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)


class DecimalCommas:
    """Tells where ``3,5`` is a number: by what was said, or by a column that leaves no doubt."""

    def __init__(self, raw: RawRows) -> None:
        self._sign = raw.options.decimal
        self._guesses = raw.has_texts and self._sign is None
        self._proven: set[str] = set()
        self._signs: dict[str, Counter[str]] = defaultdict(Counter)
        self._read: dict[str, None] = {}

    def see(self, column: str, values: Iterable[Any]) -> None:
        """Take note of what stands in a cell, before any is read."""
        for value in values if self._guesses else ():
            if isinstance(value, str) and "." in value and _NUMBERS.fullmatch(value):
                self._signs[column]["."] += 1
            elif isinstance(value, str) and _COMMA.fullmatch(value):
                self._signs[column][","] += 1
                self._proven |= set() if _THOUSANDS.fullmatch(value) else {column}

    def read(self, column: str, answer: Any) -> Any:
        """Return the answer with a point in place of a decimal comma."""
        if not isinstance(answer, str):
            return answer
        comma = self._sign == "," or self._has_commas(column)
        if comma and "." in answer and _NUMBERS.fullmatch(answer):
            raise InputError("a point where a comma is the decimal sign")
        if _COMMA.fullmatch(answer) and comma:
            if self._guesses:
                self._read[column] = None
            return answer.replace(",", ".")
        return answer

    def _has_commas(self, column: str) -> bool:
        signs = self._signs[column]
        return column in self._proven and signs[","] > signs["."]

    def remedy(self, column: str, wrong: Iterable[Any]) -> str:
        """Return what to do about ratings with signs that were not read."""
        texts = [one for one in wrong if isinstance(one, str)]
        if self._sign == "," and any("." in one for one in texts):
            return " with a decimal comma, as --decimal , says"
        signs = self._signs[column]
        if self._has_commas(column) and any("." in one for one in texts):
            return f" with a decimal comma, as {signs[',']} others in the column"
        if self._guesses and any(map(_COMMA.fullmatch, texts)) and signs["."] > signs[","]:
            return f" with a decimal point, as {signs['.']} others in the column"
        if self._guesses and any(map(_COMMA.fullmatch, texts)) and not self._has_commas(column):
            return " (say --decimal , if the comma is a decimal sign in the whole column)"
        if marker := next((one for one in texts if one.strip().lower() in MISSING_MARKERS), None):
            return f" (say --missing {marker.strip()} if it marks a missing rating)"
        return ""

    @property
    def notes(self) -> list[str]:
        """Return which columns were read with a decimal comma that was not named."""
        if not self._read:
            return []
        return [f"{', '.join(self._read)}: read with a decimal comma."]


class _Markers:
    """What stands for a rating that was not given, such as ``n/a``."""

    def __init__(self, markers: Sequence[str]) -> None:
        self._markers = markers
        self._numbers = {float(one): one for one in markers if _NUMBERS.fullmatch(one)}
        self._n = 0
        self._checked: set[str] = set()

    def marks(self, answer: Any) -> bool:
        if not self._markers:
            return False
        text = answer.strip() if isinstance(answer, str) else answer
        return text in self._markers or (_is_number(answer) and float(answer) in self._numbers)

    def count(self, answer: Any) -> bool:
        """Say whether an answer is a marker, and count it."""
        found = self.marks(answer)
        self._n += found
        return found

    def refuse_on(self, criterion: str, scale: Scale) -> None:
        if criterion in self._checked:
            return
        self._checked.add(criterion)
        for marker in self._markers:
            try:
                rating_points(marker, scale)
            except InputError:
                continue
            raise InputError(
                f"{shown_value(marker)} is a rating on the scale {scale} of {criterion}, and "
                "cannot mark a missing one.",
                where="--missing",
                hint="leave it out, or state another scale.",
            )

    @property
    def notes(self) -> list[str]:
        if not self._n:
            return []
        which = "1 rating is" if self._n == 1 else f"{self._n} ratings are"
        return [f"{which} marked as missing ({', '.join(self._markers)}) and left out."]


class RatingReader:
    """Reads ratings of rows once all scales are known."""

    def __init__(self, columns: ColumnMap, scales: GivenScales, raw: RawRows) -> None:
        self._criteria = columns.criteria
        self._given = scales
        self._stated = StatedScales()
        self._raw = raw
        self._missing_marks = _Markers(raw.options.missing)
        self._decimals = DecimalCommas(raw)
        self._n_blank = 0
        self._rationales = columns.fields
        self._undecided: Counter[tuple[str, str]] = Counter()
        self._words: dict[str, Counter[str | bool]] = defaultdict(Counter)
        self._numbered: set[str] = set()
        self._labelled: dict[str, Scale | None] = {}
        self._unlabelled: dict[str, str] = {}
        self._unscaled: dict[str, dict[float, list[int]]] = {}
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
        for name, cells in found.items():
            for column, values in cells.items():
                self._decimals.see(column, values)
                self._see_words(name, values)
        self._state_labels(number, row, found)
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

    def _see_words(self, name: str, values: Iterable[Any]) -> None:
        """Take note of the words that stand where ratings do, to tell whether they are labels."""
        words = self._words[name]
        for value in values if len(words) <= MOST_LABELS else ():
            if self._missing_marks.marks(value) or is_undecided(value):
                continue
            if isinstance(value, bool) or (isinstance(value, str) and any(map(str.isalpha, value))):
                words[value.strip() if isinstance(value, str) else value] += 1
            elif not _is_missing(value) and value != "":
                self._numbered.add(name)

    def _state_labels(self, number: int, row: Mapping[str, Any], found: Iterable[str]) -> None:
        """Take the labels that a row states in the field of that name."""
        labels = as_mapping(row.get("labels"))
        for name in found if labels is not None else ():
            if (given := labels.get(name) if labels else None) is None:
                continue
            try:
                several = given_labels({name: given})[name]
                ordered = row.get("ordered") is True
                value = dict(
                    Scale.of_labels(*several, positive=self._given.positive, ordered=ordered)
                )
            except ValueError as fault:
                expected = "two or more labels, one of them positive"
                came = f"{shown_value(given)} ({fault})"
                self._raw.problem(number, at=f"labels.{name}", expected=expected, came=came)
                continue
            problem = self._stated.state(name, value, where=self._raw.where(number))
            if problem:
                self._raw.found.append((number, problem))

    def _scale_of(self, name: str) -> Scale | None:
        """Return the scale of a criterion: said, stated by rows, or that of the labels in them."""
        if found := self._given.of(name, self._stated.by_criterion.get(name)):
            return found
        if name not in self._labelled:
            words = self._words[name]
            self._labelled[name] = labels = labelled_by(words, self._given.positive)
            some = 2 <= len(words) <= MOST_LABELS and name not in self._numbered
            if labels is None and some:
                self._unlabelled[name] = unknown_labels(words, self._given.positive)
        return self._labelled[name]

    def points(
        self,
        number: int,
        row: Mapping[str, Any],
        answers: Mapping[str, Mapping[str, list[Any]]],
    ) -> dict[str, Any]:
        """Return ratings, scales and raters' words by criterion; odd ratings become problems."""
        human: dict[str, tuple[float, ...]] = {}
        scales: dict[str, Scale] = {}
        beside: dict[str, dict[str, tuple[Any, ...]]] = defaultdict(dict)
        for name, given in answers.items():
            scale = self._scale_of(name)
            if name in self._unlabelled:
                continue
            if scale is not None:
                scales[name] = scale
                self._missing_marks.refuse_on(name, scale)
            read: list[float] = []
            kept: list[int] = []
            place = -1
            for cell, answers_in_it in given.items():
                wrong = []
                for answer in answers_in_it:
                    place += 1
                    if answer is None or (isinstance(answer, str) and not answer.strip()):
                        self._n_blank += 1
                        continue
                    if scale and scale.is_verdict and is_undecided(answer):
                        word = answer.strip().casefold()
                        beside["undecided"][name] = (*beside["undecided"].get(name, ()), word)
                        self._undecided[name, word] += 1
                        continue
                    if self._missing_marks.count(answer):
                        continue
                    kept.append(place)
                    try:
                        read.append(rating_points(self._decimals.read(cell, answer), scale))
                    except ValueError:
                        wrong.append(answer)
                if wrong:
                    self._refuse(number, cell, wrong, scale)
            human[name] = tuple(read)
            n = place + 1
            for part, values in (
                ("rationale", self._words_of_raters(number, row, name, list(answers), n)),
                ("raters", self._rater_names(row, name, given)),
            ):
                if len(values) == n and any(values[one] for one in kept):
                    beside[part][name] = tuple(values[one] for one in kept)
            if scale is None and read:
                rows = self._unscaled.setdefault(name, {})
                for value in read:
                    rows.setdefault(value, []).append(number)
        return {"human": human, "scale": scales, **beside}

    def _refuse(self, number: int, cell: str, wrong: list[Any], scale: Scale | None) -> None:
        """Note what stands in a cell and is no rating, and what to do about it."""
        remedy = self._decimals.remedy(cell, wrong)
        if scale is None and not remedy and any(map(_is_label, wrong)):
            remedy = (
                " (say --scale 'WORST|…|BEST' if the ratings are words in an order, or "
                "--positive LABEL if they are labels, one of them for good responses)"
            )
        expected = expected_rating(scale) + remedy
        self._raw.problem(number, at=cell, expected=expected, came=_some(wrong))

    def _words_of_raters(
        self, number: int, row: Mapping[str, Any], name: str, criteria: Sequence[str], n: int
    ) -> tuple[str | None, ...]:
        own = self._rationales.get(f"{RATIONALE_OF}{name}", ())
        columns = own or self._rationales.get("rationale", ())
        if not columns:
            return ()
        cells: Any = [row.get(one) for one in columns]
        value = cells[0] if len(cells) == 1 else cells
        value = value if (mapping := as_mapping(value)) is None else mapping
        try:
            return rationales_for(value, name, [name] if own else criteria, n)
        except UnfitWordsError as fault:
            at = "+".join(columns)
            self._raw.problem(number, at=at, expected=ONE_PER_RATING, came=fault.came)
            return ()

    def _rater_names(
        self, row: Mapping[str, Any], name: str, given: Mapping[str, Sequence[Any]]
    ) -> tuple[str, ...]:
        """Return who rated: the columns, or the names that the row gives."""
        if len(given) > 1:
            return tuple(column for column, values in given.items() for _ in values)
        said = (as_mapping(row.get("raters")) or {}).get(name)
        return tuple(map(str, said)) if isinstance(said, list | tuple) else ()

    @property
    def scale_problems(self) -> list[Problem]:
        """Return what is wrong with the scales: none for rated criteria, some for no criterion."""
        unlabelled = [
            Problem(where=self._raw.name, field=name, expected=expected, came=came)
            for name, said in self._unlabelled.items()
            for expected, _, came in [said.partition("; got ")]
        ]
        return [*unlabelled, *self._missing(), *self._strangers()]

    def _missing(self) -> Iterator[Problem]:
        """Yield one problem for all rated criteria without a stated scale."""
        if not self._unscaled:
            return
        several = len(self._unscaled) > 1
        said = "NAME=LOW..HIGH for each" if several else f"{next(iter(self._unscaled))}=LOW..HIGH"
        if not self._given.by_criterion:
            said = "LOW..HIGH for all" if several else "LOW..HIGH"
        ends = [
            f"{min(rows):g} to {max(rows):g}" + f" ({name})" * several + self._stray(rows)
            for name, rows in self._unscaled.items()
        ]
        yield Problem(
            where=self._raw.name,
            field=", ".join(self._unscaled),
            expected=f"a scale (say --scale {said}, in Python scale=, with the ends of the rating "
            "form)",
            came=f"none; the ratings go from {', '.join(ends)}",
        )

    def _stray(self, rows: Mapping[float, Sequence[int]]) -> str:
        """Return where a single rating is that is further from all others than these are apart."""
        values = sorted(rows)
        for value, others in ((values[-1], values[:-1]), (values[0], values[1:])):
            if len(others) > 2 and len(rows[value]) == 1:
                gap = min(abs(value - others[0]), abs(value - others[-1]))
                if gap > others[-1] - others[0]:
                    others_to = f"the others go from {others[0]:g} to {others[-1]:g}"
                    return f"; {value:g} is only in {self._raw.where(rows[value][0])}, {others_to}"
        return ""

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
        notes += [*self._missing_marks.notes, *self._decimals.notes]
        notes += [
            f"{name}: read as labels, {', '.join(scale.labels)}; good responses get "
            f"{scale.positive!r}."
            for name, scale in self._labelled.items()
            if scale is not None
        ]
        notes += [
            f"{name}: {n} {word!r}, counted and not learned from."
            for (name, word), n in self._undecided.items()
        ]
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
            self._raw.problem(number, at=name, expected=expected, came=shown_value(value))
        return {}


def as_mapping(value: Any) -> Mapping[Any, Any] | None:
    """Return the mapping that a cell holds, also as JSON or as pairs; None where it holds none."""
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


def _is_label(value: Any) -> bool:
    return isinstance(value, str) and value.strip().replace(" ", "").isalpha()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _some(wrong: list[Any]) -> str:
    """Return the first few values of a cell as a message shows them."""
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return ", ".join(map(shown_value, wrong[:3])) + more


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
