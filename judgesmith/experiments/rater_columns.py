"""Whose rating each one is: whether the n-th rating of every item is one person's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.dataset import DataSet

RATERS = "raters"
"""The field in which rows may name who rated, one name for each rating, in order."""

Who = Literal["named", "unnamed", "varying", "uneven", "none"]

Names = Sequence[tuple[str, ...] | None]
"""The raters of each item, None where its row does not name them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterTable:
    """The ratings of items with several, and what their columns are.

    Attributes
    ----------
    ratings : array, shape (n_items, n_columns)
        nan where a rating is missing.
    items : array of int, shape (n_items,)
        Places of these items among all.
    who : {"named", "unnamed", "varying", "uneven", "none"}
        What a column is: a person, by the rows' own word (``named``); perhaps a person, as all
        items have as many ratings and no row says whose (``unnamed``); none, as other people
        rated other items (``varying``) or numbers of ratings differ (``uneven``). ``none`` where
        no item has several.
    """

    ratings: NDArray[np.float64]
    items: NDArray[np.intp]
    who: Who

    @property
    def may_be_people(self) -> bool:
        """Whether columns are people, or may be."""
        return self.who in ("named", "unnamed")


def rater_table(ratings: Sequence[Sequence[float]], names: Names | None = None) -> RaterTable:
    """Return the ratings of all items with two or more.

    Parameters
    ----------
    ratings : sequence of sequence of float, one per item
        In the order of ``names``, where there are any.
    names : sequence of (tuple of str or None), one per item
        Who gave them. They count where they name one rater for each rating, of every such item.

    Examples
    --------
    >>> said, names = [(1, 2), (4, 5), (3,)], [("ana", "bo"), ("bo", "ana"), ("ana",)]
    >>> found = rater_table(said, names)
    >>> found.ratings.tolist(), found.items.tolist(), found.who
    ([[1.0, 2.0], [5.0, 4.0]], [0, 1], 'named')
    >>> rater_table(said).who
    'unnamed'
    """
    items = [place for place, one in enumerate(ratings) if len(one) > 1]
    several = [ratings[place] for place in items]
    who: Who = "none"
    if several:
        who = "unnamed" if len({*map(len, several)}) == 1 else "uneven"
    whose = [None if names is None else names[place] for place in items]
    named = [
        one
        for one, said in zip(whose, several, strict=True)
        if one is not None and len(one) == len(said)
    ]
    if several and len(named) == len(several):
        who = "varying"
        if len({frozenset(one) for one in named}) == 1:
            who = "named"
            several = [
                [value for _, value in sorted(zip(one, said, strict=True))]
                for one, said in zip(named, several, strict=True)
            ]
    columns = itertools.zip_longest(*several, fillvalue=float("nan"))
    table = np.asarray(list(columns), dtype=float).T if several else np.empty((0, 0))
    return RaterTable(ratings=table, items=np.asarray(items, dtype=np.intp), who=who)


def rater_names(dataset: DataSet) -> list[tuple[str, ...] | None]:
    """Return who rated each item, as its row says; None where it does not, or names one twice.

    Examples
    --------
    >>> from judgesmith.signatures.items import RatedItem
    >>> rows = [{"raters": ["ana", 7]}, {"raters": ["ana", "ana"]}, {}]
    >>> items = tuple(RatedItem(response="r", extra=row) for row in rows)
    >>> rater_names(DataSet(name="toy", items=items))
    [('ana', '7'), None, None]
    """
    return [_names(item.extra.get(RATERS)) for item in dataset]


def _names(given: object) -> tuple[str, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    if not all(isinstance(one, str | int) for one in given):
        return None
    names = tuple(map(str, given))
    return names if len(set(names)) == len(names) else None
