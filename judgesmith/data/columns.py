"""Which column of a table holds what: said by the user, or recognised by a common name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judgesmith.data.problems import DataError, Problem
from judgesmith.errors import InputError

_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"\s*')

Pairs = list[tuple[str, list[str]]]


def read_pairs(text: str) -> Pairs:
    """Return (name, columns) as ``source=article,score=r1+"r 2+3"`` says; quotes as in CSV."""
    pairs: Pairs = []
    start = 0
    while start <= len(text):
        name, given, place = _word(text, start, ",=")
        if not given or text[place : place + 1] != "=":
            part = text[start:].partition(",")[0].strip()
            more = "; give names that hold a comma or + in double quotes." if start else "."
            raise InputError(
                "a column map is written NAME=COLUMN,…, as in response=summary,score=rating; "
                f"got {part!r}{more}"
            )
        columns = []
        stop = "="
        while stop in ("=", "+"):
            column, given, place = _word(text, place + 1, ",+")
            columns += [column] if given else []
            stop = text[place : place + 1]
        pairs.append((name, columns))
        start = place + 1
    return pairs


def written_pairs(pairs: Iterable[tuple[str, Sequence[str]]]) -> str:
    r"""Return (name, columns) on one line that ``read_pairs`` reads back the same."""
    return ",".join(
        f"{_written(name, ',=')}={'+'.join(written_column(one) for one in columns)}"
        for name, columns in pairs
    )


def written_column(column: str) -> str:
    """Return a column's name as it stands in a map: in double quotes where it must."""
    return _written(column, ",+")


def pieces(column: str) -> list[str]:
    """Return what a map without quotes makes of a column's name."""
    return [piece.strip() for piece in re.split("[,+]", column)]


def _written(name: str, special: str) -> str:
    plain = name and name == name.strip() and not any(one in name for one in (*special, '"'))
    return name if plain else '"{}"'.format(name.replace('"', '""'))


def _word(text: str, start: int, stops: str) -> tuple[str, bool, int]:
    """Return the name that begins at ``start``, whether there is one, and where it ends."""
    quoted = _QUOTED.match(text, start)
    if quoted:
        end = quoted.end()
        if end == len(text) or text[end] in stops:
            return quoted[1].replace('""', '"'), True, end
    elif not text[start:].lstrip().startswith('"'):
        end = next((n for n in range(start, len(text)) if text[n] in stops), len(text))
        word = text[start:end].strip()
        return word, bool(word), end
    raise InputError(
        f"a name in double quotes ends with one, and a quote inside it is doubled; got "
        f"{text[start:].strip()!r}."
    )


OVERALL = "overall"
"""The criterion that a lone score is about."""


def criterion_named(name: str) -> str:
    """Return the criterion that a name in a map, scale or list of labels stands for."""
    return OVERALL if name in ("score", "label") else name


KNOWN_NAMES: Mapping[str, tuple[str, ...]] = {
    "source": ("source", "input", "document", "article", "prompt", "question"),
    "response": (
        "response",
        "output",
        "summary",
        "answer",
        "text",
        "system_output",
        "prediction",
    ),
    "context": ("context",),
    "references": ("references", "reference"),
    "source_id": ("source_id", "doc_id", "id"),
    "system_id": ("system_id", "system", "model"),
    "rationale": ("rationale",),
}
"""Names by which a field is recognised, in a file and in a map; its own name comes first."""

RATIONALE_OF = "rationale."
"""What stands before the criterion in the name of a field with raters' words about one."""

SCORE_NAMES = ("score", "rating", "label", "human_score", "overall")
"""Names by which one column of ratings is recognised without a map."""

_FIELDS = {name: field for field, names in KNOWN_NAMES.items() for name in names}
_IDS = ("source_id", "system_id")
_SEVERAL = ("references", "rationale")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Columns by field and by criterion.

    Parameters
    ----------
    fields : dict of str to tuple of str
        Columns of ``source``, ``response``, ``context``, ``references``, ``source_id``,
        ``system_id`` and ``rationale``, which are the raters' words (``rationale.NAME`` for one
        criterion of several). An empty tuple says that no column is to be read for the field.
    criteria : dict of str to tuple of str
        Columns of each criterion, one per rater.

    Examples
    --------
    >>> ColumnMap.parse("response=summary,score=rater1+rater2").criteria
    {'overall': ('rater1', 'rater2')}
    """

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    criteria: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> ColumnMap:
        """Return the map that ``source=article,response=summary,score=r1+r2`` writes.

        Names that hold a comma or a plus sign stand in double quotes: ``score="1+2"``.

        Raises
        ------
        ValueError
            If a part is not ``NAME=COLUMN``, a quote is not closed, or a name is given twice.
        """
        return cls.of_pairs(read_pairs(text))

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str | Sequence[str]]]) -> ColumnMap:
        """Return the map of pairs (name, columns); ``score`` and ``label`` mean ``overall``.

        Fields have any name of ``KNOWN_NAMES``; every other name is that of a criterion.

        Examples
        --------
        >>> str(ColumnMap.of_pairs([("system", "Bot"), ("answer", "Said"), ("wit", "Wit")]))
        'system_id=Bot,response=Said,wit=Wit'

        Raises
        ------
        ValueError
            If a name is given twice, or a field other than ``references`` several columns.
        """
        fields: dict[str, tuple[str, ...]] = {}
        criteria: dict[str, tuple[str, ...]] = {}
        for name, columns in pairs:
            chosen = (columns,) if isinstance(columns, str) else tuple(columns)
            known = name if name.startswith(RATIONALE_OF) else _FIELDS.get(plain_name(name))
            place = criteria if known is None else fields
            target = known or criterion_named(name)
            if target in place:
                raise InputError(
                    f"the column map says twice where {target!r} is.", hint="keep one of the two."
                )
            if place is fields and len(chosen) > 1 and not target.startswith(_SEVERAL):
                quoted = written_column("+".join(chosen))
                raise InputError(
                    f"{name} is read from one column; got {list(chosen)}.",
                    hint="give a column with + in "
                    f"its name in double quotes, as in {name}={quoted}.",
                )
            if place is criteria and not chosen:
                raise InputError(
                    f"the column map names no column for the criterion {target!r}.",
                    hint=f"write {name}=COLUMN.",
                )
            place[target] = chosen
        return cls(fields=fields, criteria=criteria)

    def items(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return every name with its columns, fields first."""
        return [*self.fields.items(), *self.criteria.items()]

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column the map names, once."""
        groups = [*self.fields.values(), *self.criteria.values()]
        return tuple(dict.fromkeys(column for group in groups for column in group))

    @property
    def of_texts(self) -> ColumnMap:
        """The same without what raters said."""
        said = (name for name in self.fields if not name.startswith("rationale"))
        return ColumnMap(fields={name: self.fields[name] for name in said})

    def __str__(self) -> str:
        """Return the map in the form that :meth:`parse` reads."""
        return written_pairs(self.items())


def column_map(given: ColumnMap | Mapping[str, str | Sequence[str]] | str | None) -> ColumnMap:
    """Return what the user said about columns, in whatever form, as one record."""
    if given is None:
        return ColumnMap()
    if isinstance(given, ColumnMap):
        return given
    if isinstance(given, str):
        return ColumnMap.parse(given)
    return ColumnMap.of_pairs(given.items())


def recognised(
    columns: Sequence[str],
    given: ColumnMap,
    *,
    where: str,
    canonical: bool = False,
    with_ratings: bool = True,
) -> tuple[ColumnMap, list[str]]:
    """Return ``given`` completed by columns with common names, and notes on what was assumed."""
    problems = _absent(columns, given, where)
    fields, criteria = dict(given.fields), dict(given.criteria)
    taken = set(given.columns)
    assumed = []
    for name, names in KNOWN_NAMES.items():
        if name in given.fields:
            continue
        found = [c for c in columns if c not in taken and plain_name(c) in names]
        if name in found and (canonical or name in _IDS):
            found = [name]
        if len(found) > 1:
            problems.append(_ambiguous(where, name, found))
        elif found:
            fields[name] = (found[0],)
            if found[0] != name:
                assumed.append(f"{name} is {found[0]!r}")
    if with_ratings and not canonical and not criteria:  # of a table that to_pandas made
        criteria = {c.removeprefix("human."): (c,) for c in columns if c.startswith("human.")}
    if with_ratings and not canonical and not criteria:
        found = [c for c in columns if c not in taken and plain_name(c) in SCORE_NAMES]
        if len(found) > 1:
            problems.append(_ambiguous(where, "score", found))
        elif found:
            criteria[OVERALL] = (found[0],)
            assumed.append(f"{OVERALL} is {found[0]!r}")
    if not fields.get("response") and not any(p.field == "response" for p in problems):
        is_pair = any({f"{one}_a", f"{one}_b"} <= set(columns) for one in ("response", "answer"))
        expected = "a column with the text to judge (say --map response=COLUMN)"
        if is_pair or {"chosen", "rejected"} <= set(columns):
            expected = "two rows for a pair, with a response and a score each, as 1 and 0"
        problems.append(
            Problem(
                where=where,
                field="response",
                expected=expected,
                came=f"the columns {', '.join(columns) or '(none)'}",
            )
        )
    if problems:
        raise DataError(problems)
    found_map = ColumnMap(fields=fields, criteria=criteria)
    notes = [f"assumed columns: {', '.join(assumed)}."] if assumed else []
    wanted = [] if "source" in fields else ["source"]
    wanted += ["score"] if with_ratings and not canonical and not criteria else []
    unread = [c for c in columns if c not in found_map.columns and c not in ("human", "scale")]
    if wanted and unread:
        flags = " or ".join(f"--map {name}=COLUMN" for name in wanted)
        notes.append(
            f"no column was recognised as {' or '.join(wanted)}; not read: {', '.join(unread)} "
            f"(say {flags} if one of them is)."
        )
    return found_map, notes


def plain_name(column: str) -> str:
    """Return a column's name in lower case with underscores, as common names are listed."""
    return re.sub(r"[\s\-]+", "_", column.strip().lower())


def _absent(columns: Sequence[str], given: ColumnMap, where: str) -> list[Problem]:
    problems = []
    taken_apart: set[str] = set()
    for column in given.columns:
        if column in columns:
            continue
        whole = next((one for one in columns if one != column and column in pieces(one)), None)
        if whole in taken_apart:
            continue  # another piece of the same name
        close = [whole] if whole else difflib.get_close_matches(column, columns, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        if close and written_column(close[0]) != close[0]:
            taken_apart.add(close[0])
            named = next(name for name, group in given.items() if column in group)
            hint += (
                " Write it in double quotes, and the map in single ones for the shell: "
                f"'{written_pairs([(named, close)])}'"
            )
        problems.append(
            Problem(
                where=where,
                field="--map",
                expected=f"one of the columns {', '.join(columns) or '(none)'}",
                came=f"{column!r}{hint}",
            )
        )
    return problems


def _ambiguous(where: str, name: str, found: Sequence[str]) -> Problem:
    return Problem(
        where=where,
        field=name,
        expected=f"one column for it (say --map {name}={found[0]}, or another)",
        came=f"{len(found)} candidates: {', '.join(found)}",
    )
