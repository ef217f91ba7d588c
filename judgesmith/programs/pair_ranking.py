"""Ranking texts by comparisons: a merge sort that follows uncertain ones both ways, or all pairs.

Which two texts are compared is the caller's to carry out; here it is decided which, in what order,
and what ranking follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import log

from judgesmith.programs.judging import AnySteps
from judgesmith.programs.preference import Preference
from judgesmith.programs.together import together

Compare = Callable[[int, int], AnySteps[Preference]]
"""Takes the places of two texts, the lower one first, and returns the steps of comparing them."""

_LEAST = 1e-6  # probability of an answer that a model calls impossible
_EVEN = 1e-9  # how far from one half rounding may put a comparison that is even


class Unanswered(Exception):  # noqa: N818 - says what happened
    """A comparison that the ranking needs has no answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons of the texts to one source, each carried out once.

    Attributes
    ----------
    compare : callable
        Carries one out.
    made : dict of (int, int) to Preference
        Those that were, by the places of the two texts, the lower one first.
    """

    compare: Compare
    made: dict[tuple[int, int], Preference] = field(default_factory=dict)

    def all_of(self, pairs: set[tuple[int, int]]) -> AnySteps[None]:
        """Carry out those of the comparisons that were not, all at once."""
        wanted = sorted({_ordered(pair) for pair in pairs} - set(self.made))
        found = yield from together([self.compare(*pair) for pair in wanted])
        self.made.update(zip(wanted, found, strict=True))

    def chance(self, one: int, other: int) -> float:
        """Return the probability that ``one`` is better than ``other``.

        Raises
        ------
        Unanswered
            If the comparison has no answer.
        """
        found = self.made[_ordered((one, other))]
        if found.probability is None:
            raise Unanswered(str(found.problem))
        return found.probability if one < other else 1 - found.probability


def _ordered(pair: tuple[int, int]) -> tuple[int, int]:
    one, other = pair
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, slots=True)
class _Path:
    """A merge under way: what it has put in order, what is left of both runs, what it followed."""

    merged: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    total: float = 0.0
    n: int = 0

    @property
    def heads(self) -> tuple[int, int] | None:
        """The two texts to compare next; None where one run is used up."""
        return (self.first[0], self.second[0]) if self.first and self.second else None

    @property
    def likelihood(self) -> float:
        """The mean logarithm of the probabilities of the answers that it follows.

        Not their sum: a path that goes wrong may use up one run early, and would be preferred for
        having followed fewer.
        """
        return self.total / self.n if self.n else 0.0

    def further(self, comparisons: Comparisons, doubt: float) -> list[_Path]:
        """Return the path with its next text; both ways where the comparison is uncertain."""
        if self.heads is None:
            rest = self.first or self.second
            merged = (*self.merged, rest[0])
            return [_Path(merged, self.first[1:], self.second[1:], self.total, self.n)]
        chance = comparisons.chance(*self.heads)
        ways = []
        if chance >= 0.5 - doubt:
            merged = (*self.merged, self.first[0])
            total = self.total + log(max(chance, _LEAST))
            ways.append(_Path(merged, self.first[1:], self.second, total, self.n + 1))
        if chance <= 0.5 + doubt:
            merged = (*self.merged, self.second[0])
            total = self.total + log(max(1 - chance, _LEAST))
            ways.append(_Path(merged, self.first, self.second[1:], total, self.n + 1))
        return ways


def merge_ranked(
    places: tuple[int, ...], comparisons: Comparisons, *, beam: int, doubt: float
) -> AnySteps[tuple[int, ...]]:
    """Return texts from best to worst, by a merge sort with a beam of rankings in every merge.

    A comparison whose probability is at most ``doubt`` from one half is followed both ways; of the
    rankings under way the ``beam`` likeliest are kept, and the likeliest one at the end. How likely
    one is: the geometric mean of the probabilities of the answers that it follows (ours).

    Parameters
    ----------
    places : tuple of int
        The texts, in an order that does not depend on that of the rows.
    comparisons : Comparisons
        Carries them out, and holds those that were.
    beam : int
        Rankings kept; with 1 this is a merge sort.
    doubt : float
        From 0 to 0.5.

    Raises
    ------
    Unanswered
        If a comparison that is needed has no answer.

    References
    ----------
    Liu et al. (2024), "Aligning with Human Judgement: The Role of Pairwise Preference in Large
    Language Model Evaluators", COLM. arXiv:2403.16950.
    """
    if len(places) < 2:
        return places
    middle = len(places) // 2
    halves = (places[:middle], places[middle:])
    first, second = yield from together(
        [merge_ranked(half, comparisons, beam=beam, doubt=doubt) for half in halves]
    )
    uncertain = doubt if beam > 1 else 0.0
    paths = [_Path((), first, second)]
    for _ in places:
        yield from comparisons.all_of({path.heads for path in paths if path.heads is not None})
        further = [way for path in paths for way in path.further(comparisons, uncertain)]
        # Equally likely ones stand in the order of the texts, which is that of their contents.
        further.sort(key=lambda path: (-round(path.likelihood, 12), path.merged))
        paths = further[:beam]
    return paths[0].merged


def shared_ranks(order: tuple[int, ...], comparisons: Comparisons) -> dict[int, float]:
    """Return the rank of each text, 1 for the best; neighbours that are even share theirs.

    Neighbours in a merged order have been compared, whichever way the merge went.

    Parameters
    ----------
    order : tuple of int
        From best to worst.
    comparisons : Comparisons
        What is known.

    Examples
    --------
    >>> from judgesmith.programs.preference import OneOrder
    >>> even = OneOrder(probability=0.5, stated=0.5)
    >>> known = Comparisons(compare=None, made={(0, 1): Preference(given=even, swapped=even)})
    >>> shared_ranks((1, 0), known)
    {1: 1.5, 0: 1.5}
    """
    groups: list[list[int]] = []
    for place in order:
        if groups and abs(comparisons.chance(groups[-1][-1], place) - 0.5) <= _EVEN:
            groups[-1].append(place)
        else:
            groups.append([place])
    ranks: dict[int, float] = {}
    above = 0
    for group in groups:
        ranks |= dict.fromkeys(group, above + (len(group) + 1) / 2)
        above += len(group)
    return ranks


def win_rates(n: int, comparisons: Comparisons) -> Mapping[int, float | str]:
    """Return the mean probability of each of ``n`` texts to be better than another one.

    That needs all ``n (n - 1) / 2`` comparisons; a text of which one has no answer gets the reason.
    """
    found: dict[int, float | str] = {}
    for place in range(n):
        others = [other for other in range(n) if other != place]
        try:
            chances = [comparisons.chance(place, other) for other in others]
        except Unanswered as fault:
            found[place] = str(fault)
            continue
        found[place] = sum(chances) / len(chances)
    return found


def every_pair(n: int) -> set[tuple[int, int]]:
    """Return all pairs of ``n`` places."""
    return set(combinations(range(n), 2))


def most_merge_comparisons(n: int) -> int:
    """Return how many comparisons a merge sort of ``n`` texts needs at most, with a beam of 1.

    Examples
    --------
    >>> [most_merge_comparisons(n) for n in (1, 2, 3, 4, 16)]
    [0, 1, 3, 5, 49]
    """
    rounds = (n - 1).bit_length() if n > 1 else 0
    return n * rounds - (1 << rounds) + 1
