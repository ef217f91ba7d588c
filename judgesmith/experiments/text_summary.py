"""What the texts of a set look like: lengths, empty ones, and the same text met twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from judgesmith.experiments.dataset import DataSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Characters of one kind of text, over the items that have it."""

    n: int
    shortest: int
    median: float
    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSummary:
    """Numbers on the texts of a set.

    Parameters
    ----------
    lengths : dict of str to Lengths
        Of ``source``, ``context``, ``response`` and ``references``, where there are any.
    empty_responses, empty_sources : int
        Items whose text is empty or blank.
    repeated_items : int
        Items with source, context and response of an earlier item.
    rated_differently : int
        Items with the texts of an earlier item and other ratings.
    shared_responses : int
        Different responses that were given to several sources.
    items_with_shared_response : int
        Items with such a response. Parts that share no source still share these.
    sources_with_several_ids : int
        Different source texts that stand under several source ids.
    """

    lengths: dict[str, Lengths]
    empty_responses: int
    empty_sources: int
    repeated_items: int
    rated_differently: int
    shared_responses: int
    items_with_shared_response: int
    sources_with_several_ids: int

    def rows(self) -> list[list[str]]:
        """Return rows of name and value for a table."""
        rows = [
            [f"{name}, characters", f"{one.shortest} to {one.longest}, median {one.median:g}"]
            for name, one in self.lengths.items()
        ]
        rows.append(["empty responses", str(self.empty_responses)])
        rows.append(["repeated items", str(self.repeated_items)])
        shared = f"{self.shared_responses} ({self.items_with_shared_response} items)"
        rows.append(["responses given to several sources", shared])
        return rows


def text_summary(dataset: DataSet) -> TextSummary:
    """Return the numbers on a set's texts.

    Examples
    --------
    >>> from judgesmith.signatures.items import RatedItem
    >>> pairs = [("a", "yes"), ("b", "yes"), ("c", "")]
    >>> items = [RatedItem(source=source, response=response) for source, response in pairs]
    >>> found = text_summary(DataSet(name="toy", items=tuple(items)))
    >>> found.empty_responses, found.shared_responses, found.items_with_shared_response
    (1, 1, 2)
    """
    first_with: dict[str, int] = {}
    repeated = differently = 0
    groups_of: defaultdict[str, set[int]] = defaultdict(set)
    ids_of: defaultdict[str, set[str]] = defaultdict(set)
    n_with: Counter[str] = Counter()
    for index, (item, group) in enumerate(zip(dataset, dataset.groups.tolist(), strict=True)):
        earlier = first_with.setdefault(item.key, index)
        if earlier != index:
            repeated += 1
            differently += item.human != dataset[earlier].human
        if item.response.strip():
            groups_of[item.response].add(group)
            n_with[item.response] += 1
        if item.source.strip():
            ids_of[item.source].add(item.source_id)
    shared = [response for response, groups in groups_of.items() if len(groups) > 1]
    texts = {
        "source": [len(item.source) for item in dataset if item.source],
        "context": [len(item.context) for item in dataset if item.context],
        "response": [len(item.response) for item in dataset],
        "references": [len(text) for item in dataset for text in item.references],
    }
    return TextSummary(
        lengths={name: _lengths(sizes) for name, sizes in texts.items() if sizes},
        empty_responses=sum(not item.response.strip() for item in dataset),
        empty_sources=sum(not item.source.strip() for item in dataset),
        repeated_items=repeated,
        rated_differently=differently,
        shared_responses=len(shared),
        items_with_shared_response=sum(n_with[response] for response in shared),
        sources_with_several_ids=sum(len(ids) > 1 for ids in ids_of.values()),
    )


def _lengths(sizes: list[int]) -> Lengths:
    return Lengths(
        n=len(sizes), shortest=min(sizes), median=float(np.median(sizes)), longest=max(sizes)
    )
