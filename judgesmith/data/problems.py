"""What is wrong with rated data: every fault, where it stands, and what was expected there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

from judgesmith.errors import InputError

SHOWN = 20
_LONGEST = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing in the data that cannot be used as it is.

    Parameters
    ----------
    where : str
        ``file:line``, or ``file, row n`` (from 1) for formats without lines.
    field : str
        The column or field, as the file names it.
    expected : str
        What would have been right, and where it helps, what to do.
    came : str
        What stands there instead.

    Examples
    --------
    >>> print(Problem(where="a.csv:3", field="score", expected="a number", came="'four'"))
    a.csv:3: score: expected a number; got 'four'
    """

    where: str
    field: str
    expected: str
    came: str

    def __str__(self) -> str:
        """Return the problem on one line."""
        return f"{self.where}: {self.field}: expected {self.expected}; got {self.came}"

    def to_dict(self) -> dict[str, str]:
        """Return the four parts by name."""
        return asdict(self)


def listed(problems: Sequence[object], named: tuple[str, str], what: str, shown_value: int) -> str:
    """Return faults on a line each below their number, those beyond ``shown`` only counted."""
    n = len(problems)
    lines = [f"{n} {named[n != 1]} in the {what}:"]
    lines += [f"  {one}" for one in problems[:shown_value]]
    if n > shown_value:
        lines.append(f"  … and {n - shown_value} more")
    return "\n".join(lines)


class DataError(InputError):
    """Data that cannot be used, with every reason why.

    Parameters
    ----------
    problems : sequence of Problem
        At least one, in the order of the file.

    Attributes
    ----------
    problems : tuple of Problem
        All of them; the message shows the first 20 and counts the rest.

    Examples
    --------
    >>> print(DataError([Problem(where="a.csv:3", field="score", expected="a number", came="'x'")]))
    1 problem in the data:
      a.csv:3: score: expected a number; got 'x'
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(listed(self.problems, ("problem", "problems"), "data", SHOWN))

    @classmethod
    def of(cls, where: str, field: str, expected: str, came: str) -> Self:
        """Return the error for one problem."""
        return cls([Problem(where=where, field=field, expected=expected, came=came)])

    def __reduce__(self) -> tuple[type[DataError], tuple[tuple[Problem, ...]]]:
        """Keep the problems when the error crosses a process."""
        return type(self), (self.problems,)


def nothing_in(name: str) -> DataError:
    """Return the error for a file, or whatever ``name`` is, that holds no rows."""
    return DataError.of(where=name, field="file", expected="at least one row", came="none")


def shown_value(value: object) -> str:
    """Return ``value`` as a message shows it: quoted, on one line, cut when long."""
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
