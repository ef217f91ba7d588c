"""Rated items and where they came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from judgesmith.results.base import Listed, Result
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

DEFINITIONS = "definitions"
"""The field in which rows may say what their criteria mean, as {criterion: text}."""
PROVENANCE = "provenance"
"""The field in which a row of a built benchmark says how its text came to be."""


@dataclass(frozen=True, kw_only=True)
class DataSet(Result):
    """Items in the order of their file, and what a reader should know of how they were read.

    Parameters
    ----------
    name : str
        The file's name without its endings, or what else the rows came from.
    items : tuple of RatedItem
        In order.
    notes : tuple of str
        What was assumed, converted or left blank, in sentences for people.
    places : tuple of int
        Number of each item's row among those of its file, from 1 and without a header, however
        many lines rows take; empty when there is no file.

    Examples
    --------
    >>> items = (RatedItem(source="a", response="b", source_id="1"),) * 2
    >>> data = DataSet(name="toy", items=items)
    >>> len(data), data.groups.tolist()
    (2, [0, 0])
    """

    name: str
    items: tuple[RatedItem, ...]
    notes: tuple[str, ...] = ()
    places: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", Listed(self.items))
        object.__setattr__(self, "places", Listed(self.places))

    def _headline(self) -> str:
        n, rated = len({one.source_id for one in self.items}), ", ".join(self.criteria) or "unrated"
        return f"{self.name}: {len(self.items)} rows of {n} sources; {rated}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for item in self.items:
            plain = item.model_dump(include={"source_id", "system_id", "source", "response"})
            yield plain | {f"human.{name}": list(given) for name, given in item.human.items()}

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.items)

    def __iter__(self) -> Iterator[RatedItem]:
        """Go through the items in order."""
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> RatedItem: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[RatedItem, ...]: ...

    def __getitem__(self, index: int | slice) -> RatedItem | tuple[RatedItem, ...]:
        """Return one item, or several."""
        return self.items[index]

    @cached_property
    def criteria(self) -> tuple[str, ...]:
        """Criteria that at least one item is rated on, in the order they first appear."""
        return tuple(dict.fromkeys(c for item in self.items for c, r in item.human.items() if r))

    @cached_property
    def scales(self) -> Mapping[str, Scale]:
        """The rating form by criterion, also of unrated criteria."""
        return {name: scale for item in self.items for name, scale in item.scale.items()}

    @cached_property
    def n_unrated(self) -> int:
        """How many items carry no rating at all."""
        return sum(not any(item.human.values()) for item in self.items)

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """One number per item, equal for items that must stay together in any split.

        Items belong together when they share a source id or, whatever their ids, the same
        source text (empty texts say nothing); numbered from 0 by first appearance.
        """
        return grouped(self.items)

    @cached_property
    def digest(self) -> str:
        """Thirty-two hex digits that change with any id, text, rating or scale, or their order.

        So they do with the definitions of criteria that rows state, and with raters' words.
        """
        state = hashlib.blake2b(digest_size=16)
        for item in self.items:
            row = [*item.ids, item.references]
            rated = {c: [r, str(item.scale.get(c))] for c, r in item.human.items()}
            stated = item.extra.get(DEFINITIONS)
            more: list[object] = [] if stated is None else [repr(stated)]
            more += [item.rationale] if item.rationale else []
            state.update(json.dumps([*row, rated, *more], sort_keys=True).encode())
        return state.hexdigest()

    def subset(self, indices: Iterable[int]) -> DataSet:
        """Return the items at ``indices``, in that order, under the same name."""
        chosen = [int(index) for index in indices]
        places = [self.places[index] for index in chosen] if self.places else ()
        return replace(
            self,
            items=tuple(self.items[index] for index in chosen),
            places=tuple(places),
        )


def check_dataset(given: object) -> None:
    """Refuse what is no data set, such as the path of one."""
    if not isinstance(given, DataSet):
        example = f"judgesmith.read({given!r})" if isinstance(given, str) else "judgesmith.read(…)"
        said = f"expected a DataSet; got {type(given).__name__}. Read it first: {example}."
        if not isinstance(given, str):
            said += " Arrays of scores are for judgesmith.metrics, such as pearson_difference."
        raise TypeError(said)


def grouped(items: Iterable[RatedItem]) -> NDArray[np.intp]:
    """Return one group number per item: shared source ids and shared source texts join."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    own: list[tuple[str, str]] = []
    for position, item in enumerate(items):
        by_text = ("text", item.source) if item.source.strip() else None
        by_id = ("id", item.source_id) if item.source_id else None
        first = by_id or by_text or ("row", str(position))
        if by_id and by_text:
            parent[root(by_text)] = root(by_id)
        own.append(first)
    numbers: dict[tuple[str, str], int] = {}
    codes = [numbers.setdefault(root(node), len(numbers)) for node in own]
    return np.asarray(codes, dtype=np.intp)
