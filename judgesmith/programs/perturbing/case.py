"""What a rule is given to change, what it hands back, and how it draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final, TypeVar

from judgesmith.programs.perturbing.catalogue import Amount, wanted
from judgesmith.programs.perturbing.donors import Donors
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.perturbation import Skipped
from judgesmith.signatures.rated import RatedItem

T = TypeVar("T")

Change = tuple[int, int, str]
"""Start and end of a span of the original, and what stands in its place."""

Found = list[Change] | Skipped
"""What a rule hands back: changes that do not overlap, in any order, or why there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One text to be changed in one way.

    Attributes
    ----------
    item : RatedItem
        Whose response is changed.
    passage : Passage
        The response and where its parts are.
    amount : int or Every
        How much is changed.
    rng : Random
        All draws come from it.
    donors : Donors or None
        Texts of other sources, where there are any.
    """

    item: RatedItem
    passage: Passage
    amount: Amount
    rng: Random
    donors: Donors | None = None

    def wanted(self, n_places: int) -> int:
        """Return how many of ``n_places`` the amount asks for, which may be more than there are.

        Examples
        --------
        >>> from judgesmith.programs.perturbing.catalogue import Every
        >>> case = Case(
        ...     item=RatedItem(response=""),
        ...     passage=Passage(""),
        ...     amount=Every(step=2, at_least=2),
        ...     rng=Random(0),
        ... )
        >>> [case.wanted(n) for n in (1, 3, 5)]
        [2, 2, 3]
        """
        return wanted(self.amount, n_places)


def drawn_order(n: int, rng: Random) -> Iterator[int]:
    """Yield the numbers below ``n`` in random order, at no more cost than is taken.

    Examples
    --------
    >>> sorted(drawn_order(4, Random(0)))
    [0, 1, 2, 3]
    """
    moved: dict[int, int] = {}
    for last in range(n - 1, -1, -1):
        place = rng.randrange(last + 1)
        yield moved.get(place, place)
        moved[place] = moved.get(last, last)


def drawn(things: Sequence[T], k: int, rng: Random) -> list[T]:
    """Return ``k`` of the things in random order, or all if there are fewer.

    Examples
    --------
    >>> sorted(drawn("abc", 5, Random(0)))
    ['a', 'b', 'c']
    """
    return [things[place] for place in islice(drawn_order(len(things), rng), k)]


NOT_ENGLISH: Final = Skipped(reason="not in English, whose words alone the rules know")
"""Why rules that know English words leave a text alone."""


def too_few(n: int, what: str, one: str = "") -> Skipped:
    """Return the reason that a text has fewer than ``n`` places of some sort.

    Parameters
    ----------
    n : int
        How many there should be.
    what : str
        What they are called.
    one : str
        What one of them is called, if that is more than ``what`` without its last letter.

    Examples
    --------
    >>> too_few(2, "words").reason, too_few(1, "words").reason
    ('fewer than 2 words', 'no word')
    """
    return Skipped(reason=fewer_than(n, what, one))


def fewer_than(n: int, what: str, one: str = "") -> str:
    """Return in words that there are fewer than ``n`` of something: none, where ``n`` is 1."""
    return f"fewer than {n} {what}" if n > 1 else f"no {one or what.removesuffix('s')}"
