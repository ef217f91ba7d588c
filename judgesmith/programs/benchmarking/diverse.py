"""Texts that differ from each other as much as may be, chosen from many."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.errors import InputError
from judgesmith.programs.features.words import Text

Grams = frozenset[tuple[str, ...]]


def diverse(texts: Sequence[str], k: int) -> tuple[int, ...]:
    """Return which texts to keep so that those most alike are as little alike as may be.

    The first is kept; then, again and again, the text whose nearest one among those kept is
    farthest away. Two texts are as far apart as 1 minus their ``overlap``.

    Parameters
    ----------
    texts : sequence of str
        The best first: of texts equally far away the earlier one is kept.
    k : int
        How many, zero or more.

    Returns
    -------
    tuple of int
        Their places, in the order in which they were chosen; all where there are no more than
        ``k``.

    Raises
    ------
    ValueError
        If ``k`` is negative.

    Notes
    -----
    The distance is a metric, so that the nearest two of those kept are at least half as far apart
    as those of the best choice (of any ``k`` texts, where the first is free, too).

    References
    ----------
    Gonzalez (1985), "Clustering to minimize the maximum intercluster distance", Theoretical
    Computer Science 38; Levandowsky and Winter (1971), "Distance between sets", Nature 234.

    Examples
    --------
    >>> diverse(["the red bridge", "the red bridges", "a green boat", "the red bridge too"], 3)
    (0, 2, 1)
    """
    if k < 0:
        raise InputError(f"keep zero texts or more; got {k}.")
    grams = [grams_of(text) for text in texts]
    kept: list[int] = []
    distance = [float("inf")] * len(grams)
    while len(kept) < min(k, len(grams)):
        chosen = max(range(len(grams)), key=distance.__getitem__)
        kept.append(chosen)
        for place, one in enumerate(grams):
            distance[place] = min(distance[place], 1 - _shared(grams[chosen], one))
        distance[chosen] = -1.0
    return tuple(kept)


def overlap(first: str, second: str) -> float:
    """Return how much two texts have in common.

    Parameters
    ----------
    first, second : str
        In any script; case and punctuation play no part.

    Returns
    -------
    float
        The share of all words and pairs of neighbouring words in either text that both have, each
        counted once: from 0 to 1. Texts without words have all in common with each other.

    Examples
    --------
    >>> overlap("Ann left Rome.", "Ann left Bonn.")
    0.42857142857142855
    >>> overlap("", "Ann left Rome.")
    0.0
    """
    return _shared(grams_of(first), grams_of(second))


def grams_of(text: str) -> Grams:
    """Return the words of a text and its pairs of neighbouring words."""
    read = Text(text)
    return frozenset((word,) for word in read.words) | read.bigrams


def _shared(first: Grams, second: Grams) -> float:
    either = len(first | second)
    return len(first & second) / either if either else 1.0
