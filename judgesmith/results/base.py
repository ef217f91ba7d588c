"""What every result has: one line, a report, a picture in notebooks, a table, and plots."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from markupsafe import Markup

from judgesmith.errors import InputError, did_you_mean
from judgesmith.front_door import Guessed, at
from judgesmith.results.charts import Charts, forest

if TYPE_CHECKING:
    import pandas as pd

_LINE = 300
"""Characters of one line."""
_HTML = 2000
"""Bytes of what a notebook shows of a result."""
_ROWS, _COLUMNS = 5, 5
_OF_ESTIMATES = ("name", "value", "low", "high", "n")
Item = TypeVar("Item")
ByLevel = TypeVar("ByLevel", bound=Mapping[Any, Mapping[Any, Any]])
_PLAIN = (str, bool, numbers.Number, type(None))


def one_line(text: str, room: int = _LINE) -> str:
    """Return a text on one line of at most ``room`` characters, with nothing unprintable."""
    line = " ".join(text[: 4 * room].split())
    line = "".join(one if one.isprintable() else "\ufffd" for one in line)
    return line if len(line) <= room and len(text) <= 4 * room else f"{line[: room - 1]}…"


class Listed(tuple[Item, ...]):
    """A tuple that is shown on one line, with its length where it holds more than a few."""

    __slots__ = ()

    def __repr__(self) -> str:
        if len(self) <= _ROWS:
            return one_line(super().__repr__())
        return one_line(f"{len(self)}: ({', '.join(map(repr, self[:_ROWS]))}, …)")


class Keyed(dict[str, Item]):
    """A dict that is shown on one line, and that tells which names it has where one is missing.

    ``also`` is found by name as well, and not listed.
    """

    also: Mapping[str, Item] = MappingProxyType({})

    @classmethod
    def of(cls, report: ByLevel) -> ByLevel:
        """Return a report by level, of such dicts."""
        return cast(ByLevel, cls({level: cls(row) for level, row in report.items()}))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = f"; its items are {', '.join(map(repr, self))}, in brackets" if self else ""
            raise AttributeError(f"a report has no attribute {name!r}{hint}.", name=name)

    def __missing__(self, name: str) -> Item:
        if name in self.also:
            return self.also[name]
        inside = [at for at, one in self.items() if isinstance(one, Keyed)
                  and name in {**one, **one.also}]  # fmt: skip
        hint = f"[{inside[-1]!r}][{name!r}] is." if inside else did_you_mean(name, self)
        known = ", ".join(map(str, [*self, *self.also]))
        raise KeyError(f"there is no {name!r}; {hint or f'there are {known}.'}")

    def __repr__(self) -> str:
        return one_line(super().__repr__())


class Result(Guessed):
    """Base of results that people look at.

    A class says where its terminal report is printed (``report="module:function"``) and what its
    table and picture show first (``shows``: beginnings of the names of its estimates).
    """

    __slots__ = ()
    _report: ClassVar[str] = ""
    _shows: ClassVar[tuple[str, ...]] = ("",)

    def __init_subclass__(
        cls, report: str | None = None, shows: tuple[str, ...] | None = None, **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        if report is not None:
            cls._report = report
        if shows is not None:
            cls._shows = shows
        if "__repr__" not in cls.__dict__ and cls.__repr__ is Result.__repr__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # a dataclass keeps it

    if not TYPE_CHECKING:

        def __getitem__(self, key: object) -> Any:
            self._guess("[]", TypeError, f"has no [{key!r}]")
            raise TypeError(f"{type(self).__name__} is not subscriptable.")

    def __repr__(self) -> str:
        return one_line(f"{type(self).__name__}({self._headline()})")

    def __str__(self) -> str:
        if self._report:
            return self._printed()
        table = self.to_pandas()
        rows = table.head(20).to_string(index=False)
        return f"{self!r}\n{rows}" if len(table) > 1 else repr(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return a ``DataFrame``: a row for each estimate, or what the result is a list of."""
        import pandas as pd

        return pd.DataFrame(list(self._rows()))

    def plot(self, kind: str | None = None, *, ax: Any = None) -> Any:
        """Draw a chart with Matplotlib and return its axes.

        ``kind`` is a name that ``charts`` has, by default the first; ``ax`` are axes to draw on.
        """
        charts = self.charts()
        name = next(iter(charts), None) if kind is None else kind
        if name not in charts:
            raise InputError(
                f"kind: {type(self).__name__} has the plots {', '.join(charts) or 'none'}; "
                f"got {kind!r}."
            )
        return charts[name]().draw(ax)

    def charts(self) -> Charts:
        """Return what can be drawn of the result, by name; the first is shown in notebooks."""
        found = self._shown_estimates()
        names = [row["name"] for row, _ in found]
        places = {name.rpartition(".")[0] for name in names}
        shared = places.pop() if len(places) == 1 else ""
        ends = [name[len(shared) :].removeprefix(".") for name in names]
        shown = {name: one for name, (_, one) in zip(ends, found, strict=True)}
        title = f"{type(self).__name__}{shared and f': {shared}'}"
        return {"forest": lambda: forest(shown, title=title)} if shown else {}

    def _repr_html_(self) -> str:
        rows = [
            {name: row[name] for name in _OF_ESTIMATES if name in row}
            for row, _ in self._shown_estimates()
        ] or list(islice(self._rows(), _ROWS))
        words = [one_line(self._headline())]
        pictures = [chart().svg() for chart in list(self.charts().values())[:1]]
        found = Markup("")
        for n, with_picture in ((_ROWS, True), (2, True), (0, True), (_ROWS, False), (0, False)):
            found = Markup("<div><b>{}</b>{}{}</div>").format(
                words[0], _table(rows[:n]), Markup("").join(pictures if with_picture else [])
            )
            if len(found.encode()) <= _HTML:
                break
        return str(found)

    def _headline(self) -> str:
        """Return the first sentence of the report, or the fields."""
        if self._report:
            first = self._printed().split("\n\n")[0].split("\nNext: ")[0]
            return " ".join(first.split()).lstrip("✓✗! ")
        own = fields(cast(Any, self))
        return ", ".join(
            f"{one.name}={one_line(repr(getattr(self, one.name)), 120)}" for one in own if one.repr
        )

    def _printed(self) -> str:
        return str(at("judgesmith.cli.shared.printing:printed")(at(self._report), self))

    def _rows(self) -> Iterator[dict[str, Any]]:
        found = [row for row, _ in estimates(self)]
        own = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        yield from found or [
            {
                name: one if isinstance(one, _PLAIN) else one_line(str(one), 120)
                for name, one in own.items()
            }
        ]

    def _shown_estimates(self) -> list[tuple[dict[str, Any], Any]]:
        known = [(row, one) for row, one in estimates(self) if math.isfinite(one.value)]
        first = [(row, one) for row, one in known if row["name"].startswith(self._shows)]
        chosen = sorted(first, key=lambda one: self._place(one[0]["name"]))
        return (chosen or known)[:_ROWS]

    def _place(self, name: str) -> int:
        return next(place for place, one in enumerate(self._shows) if name.startswith(one))


def estimates(found: Any, name: str = "") -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield all estimates in a result: a row, named by its place, and the estimate."""
    if is_dataclass(found) and not isinstance(found, type):
        own = {one.name: getattr(found, one.name) for one in fields(found)}
        if {"value", "low", "high"} <= own.keys():
            shown = found.reported() if hasattr(found, "reported") else found
            numeric = {key: getattr(shown, key) for key, one in own.items()
                       if isinstance(one, numbers.Number)}  # fmt: skip
            yield {"name": name or "value", **numeric}, shown
            return
    elif isinstance(found, Mapping):
        own = {str(key): one for key, one in found.items()}
    elif isinstance(found, list | tuple) and len(found) <= 1000:
        own = {str(getattr(one, "name", place)): one for place, one in enumerate(found)}
    else:
        return
    for key, one in own.items():
        yield from estimates(one, f"{name}.{key}" if name else key)


def _table(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Return the first columns of a few rows; nothing without any."""
    if not rows:
        return Markup("")
    names = list(rows[0])[:_COLUMNS]
    cell = Markup("<td>{}</td>")
    head = Markup("").join(Markup("<th>{}</th>").format(one_line(name, 20)) for name in names)
    lines = (Markup("").join(cell.format(_cell(row.get(name))) for name in names) for row in rows)
    body = Markup("").join(Markup("<tr>{}</tr>").format(line) for line in lines)
    return Markup("<table><tr>{}</tr>{}</table>").format(head, body)


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else one_line(str(value), 40)
