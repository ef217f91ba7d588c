"""Preferences in the form of ratings: of two texts, one is given what the other is not."""

from __future__ import annotations

from collections import defaultdict

from judgesmith.experiments.dataset import DataSet

FEWEST_PAIRS = 10
"""Fewer pairs than this may mirror each other by chance."""


def mirrored_criteria(dataset: DataSet) -> tuple[str, ...]:
    """Return the criteria on which the ratings of every source's two texts mirror each other.

    Rater by rater, the two add up to the lowest and the highest point of the scale. That is so
    where people said which of the two is better, and each text was given its half of the answer.

    Examples
    --------
    >>> from judgesmith.signatures.items import RatedItem
    >>> items = [
    ...     RatedItem(
    ...         source_id=str(n), response="r", human={"preferred": (won,)},
    ...         scale={"preferred": (0, 1)},
    ...     )
    ...     for n in range(20)
    ...     for won in (n % 2, 1 - n % 2)
    ... ]
    >>> mirrored_criteria(DataSet(name="toy", items=tuple(items)))
    ('preferred',)
    """
    found = []
    for name in dataset.criteria:
        scale = dataset.scales[name]
        by_source: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
        for item in dataset:
            if item.human.get(name):
                by_source[item.source_id].append(item.human[name])
        pairs = list(by_source.values())
        if len(pairs) < FEWEST_PAIRS or any(len(pair) != 2 for pair in pairs):
            continue
        if all(_mirrored(one, other, scale.low + scale.high) for one, other in pairs):
            found.append(name)
    return tuple(found)


def _mirrored(one: tuple[float, ...], other: tuple[float, ...], ends: float) -> bool:
    if len(one) != len(other):
        return False
    return all(abs(a + b - ends) < 1e-9 for a, b in zip(one, other, strict=True))
