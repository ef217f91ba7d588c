"""Ways to choose rows: at random, where the judge is unsure, or all over its scores.

A strategy puts candidates in the order in which it would have them rated. What is taken of that
order is ``diverse``: no source twice and no near copy while there are others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from judgesmith.experiments.suggesting.candidates import Candidates, FloatArray
from judgesmith.experiments.suggesting.marks import RANDOM

DEFAULT = "stratified"
"""What lost on none of the sets that ``benchmarks/suggesting.py`` was first run on."""

Strategy = Callable[[Candidates, int, np.random.Generator], list[int]]
"""Returns all candidates in order, given how many will be rated."""

_ALIKE = 0.8
_WORD = re.compile(r"\w+")


def at_random(candidates: Candidates, n: int, rng: np.random.Generator) -> list[int]:
    """Return the rows in random order."""
    return [int(place) for place in rng.permutation(len(candidates))]


def by_disagreement(candidates: Candidates, n: int, rng: np.random.Generator) -> list[int]:
    """Return the rows that the judge is least sure of first; ties in random order."""
    order = np.lexsort((rng.permutation(len(candidates)), -candidates.doubt))
    return [int(place) for place in order]


def by_coverage(candidates: Candidates, n: int, rng: np.random.Generator) -> list[int]:
    """Return rows from all over the range of scores: one from each part of it in turn.

    The range from the lowest to the highest score is cut into ``n`` parts of equal width, so that
    rare scores are as likely to be rated as usual ones. Within a part the order is random.
    """
    return _in_turn(_parts(candidates.scores, n), rng.permutation(len(candidates)), rng)


def by_stratum(candidates: Candidates, n: int, rng: np.random.Generator) -> list[int]:
    """Return rows from all over the range of scores, the least sure of each part first."""
    ranks = np.empty(len(candidates), dtype=np.intp)
    ranks[by_disagreement(candidates, n, rng)] = np.arange(len(candidates))
    return _in_turn(_parts(candidates.scores, n), ranks, rng)


STRATEGIES: Mapping[str, Strategy] = {
    "stratified": by_stratum,
    "coverage": by_coverage,
    "disagreement": by_disagreement,
    RANDOM: at_random,
}
"""All strategies by name."""


def diverse(
    candidates: Candidates,
    order: Sequence[int],
    n: int,
    *,
    taken: Iterable[int] = (),
    known: Collection[int] = (),
) -> list[int]:
    """Return the first ``n`` rows of an order, without a source twice and without near copies.

    Where too few are left, rows of sources that are in already are taken, and copies last of all.

    Parameters
    ----------
    candidates : Candidates
        The rows.
    order : sequence of int
        Of rows, as a strategy returns it.
    n : int
        How many are wanted; fewer come back where there are fewer.
    taken : iterable of int
        Rows that were chosen before, which these must differ from, too.
    known : collection of int
        Sources of which some row is rated, or was shown to the judge: they are in already.

    Examples
    --------
    >>> from judgesmith.signatures import RatedItem
    >>> texts = ["a b c d", "A b c d", "w x y z", "k l m n"]
    >>> rows = Candidates(
    ...     items=tuple(RatedItem(response=text) for text in texts), scores=np.arange(4.0),
    ...     doubt=np.zeros(4), sources=np.array([0, 1, 2, 2]),
    ... )
    >>> diverse(rows, [0, 1, 2, 3], 2), diverse(rows, [0, 1, 2, 3], 4)
    ([0, 2], [0, 2, 3, 1])
    """
    before = set(taken)
    chosen: list[int] = []
    left = [place for place in order if place not in before]
    for once, apart in ((True, True), (False, True), (False, False)):
        sources = {int(candidates.sources[place]) for place in (*before, *chosen)}.union(known)
        words = [_words(candidates, place) for place in (*before, *chosen)]
        later = []
        for place in left:
            if len(chosen) == n:
                return chosen
            source, own = int(candidates.sources[place]), _words(candidates, place)
            if (once and source in sources) or (apart and any(_alike(own, one) for one in words)):
                later.append(place)
                continue
            chosen.append(place)
            sources.add(source)
            words.append(own)
        left = later
    return chosen


def _parts(scores: FloatArray, n: int) -> list[int]:
    """Return which of ``n`` equally wide parts of their range scores lie in."""
    width = float(np.ptp(scores))
    if width == 0:
        return [0] * len(scores)
    cells = np.floor((scores - scores.min()) / width * n)
    return [int(cell) for cell in np.minimum(cells, n - 1)]


def _in_turn(
    parts: Sequence[int], ranks: Sequence[int] | np.ndarray, rng: np.random.Generator
) -> list[int]:
    """Return places part by part in turn, the lowest rank of each part first."""
    rows: dict[int, list[int]] = {}
    for place in np.argsort(np.asarray(ranks), kind="stable").tolist():
        rows.setdefault(parts[place], []).append(place)
    turns = [rows[part] for part in sorted(rows)]
    order: list[int] = []
    for turn in range(max(map(len, turns), default=0)):
        of_turn = [one[turn] for one in turns if turn < len(one)]
        order += [of_turn[place] for place in rng.permutation(len(of_turn))]
    return order


def _words(candidates: Candidates, place: int) -> frozenset[str]:
    """Return the distinct words of a response, or the response where it has none."""
    text = candidates.items[place].response.casefold()
    return frozenset(_WORD.findall(text)) or frozenset((text,))


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Say whether two texts share most of their words."""
    return len(first & second) >= _ALIKE * len(first | second)
