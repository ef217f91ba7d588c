"""What is wrong with a specification: every mistake, its line, and the nearest right name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judgesmith.errors import InputError
from judgesmith.experiments.problems import listed
from judgesmith.signatures.plain_data import Place

SHOWN = 30
_FEW = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One thing in a specification that cannot be.

    Attributes
    ----------
    where : str
        ``file:line``.
    field : str
        What is wrong, as the keys that lead there with dots between; empty for the whole.
    message : str
        What was expected, what came, and the nearest name that is right where one is near.
    """

    where: str
    field: str
    message: str

    def __str__(self) -> str:
        """Return the mistake on one line."""
        return ": ".join(part for part in (self.where, self.field, self.message) if part)


class SpecError(InputError):
    """A specification that cannot be run, with every reason why.

    Parameters
    ----------
    problems : sequence of Mistake
        At least one, in the order of the file.

    Attributes
    ----------
    problems : tuple of Mistake
        All of them; the message shows the first 30 and counts the rest.

    Examples
    --------
    >>> print(SpecError([Mistake(where="a.yaml:3", field="seeds", message="expected a list.")]))
    1 mistake in the specification:
      a.yaml:3: seeds: expected a list.
    """

    def __init__(self, problems: Sequence[Mistake]) -> None:
        self.problems = tuple(problems)
        named = ("mistake", "mistakes")
        super().__init__(listed(self.problems, named, "specification", SHOWN))

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[Mistake, ...]]]:
        """Keep the mistakes when the error crosses a process."""
        return type(self), (self.problems,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The file that a specification is from.

    Attributes
    ----------
    file : str
        As it was named.
    folder : str
        What paths in it are relative to.
    lines : mapping of tuple to int
        On which line what stands, from 1, by the keys that lead there.
    """

    file: str = "specification"
    folder: str = "."
    lines: Mapping[Place, int] = field(default_factory=dict, compare=False, repr=False)

    def line(self, place: Place) -> int:
        """Return the line of a value, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def mistake(self, place: Place, message: str) -> Mistake:
        """Return what is wrong at a place.

        Examples
        --------
        >>> origin = Origin(file="a.yaml", lines={(): 1, ("seeds",): 7})
        >>> str(origin.mistake(("seeds", 0), "expected a whole number; got 'x'."))
        "a.yaml:7: seeds.0: expected a whole number; got 'x'."
        """
        return Mistake(
            where=f"{self.file}:{self.line(place)}",
            field=".".join(_cut(str(part)) for part in place),
            message=message,
        )


def unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return the sentence that there is nothing of a name: the nearest one, or all there are.

    Examples
    --------
    >>> unknown_name("judge", "finne", ["fine", "coarse"])
    "there is no judge 'finne'; did you mean fine?"
    >>> unknown_name("judge", "other", ["fine", "coarse"])
    "there is no judge 'other'; there are coarse and fine."
    """
    names = [str(one) for one in known]
    there = f"there is no {what} {_cut(str(name))!r}"
    return f"{there}{meant(name, names) or f'; {all_listed(sorted(names))}.'}"


def meant(name: object, known: Iterable[str]) -> str:
    """Return the question whether a name that is near was meant; empty where none is.

    Examples
    --------
    >>> meant("Spearmann", ["pearson", "spearman"]), meant("zzz", ["pearson"])
    ('; did you mean spearman?', '')
    """
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(_cut(str(name)).casefold(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[near[0]]}?" if near else ""


def all_listed(names: Sequence[str]) -> str:
    if not names:
        return "there are none"
    if len(names) == 1:
        return f"there is {names[0]}"
    shown = names if len(names) <= _FEW else [*names[:_FEW], f"{len(names) - _FEW} more"]
    return f"there are {', '.join(shown[:-1])} and {shown[-1]}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
