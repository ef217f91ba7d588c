"""A first stage of a search: many configurations on few rows, and what to propose next.

Single values on few rows say little; what is learned from all of them together about options
(``effects``) says what to propose, and who deserves more rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.effects import Evidence, Outlook, coded
from judgesmith.optimizers.proposing import configuration_id
from judgesmith.signatures.space import Picked, Space

FEWEST_TRIALS = 6
"""With fewer values chance proposes."""

MOST_CANDIDATES = 1000
"""Configurations to choose proposals from; a larger space is drawn from."""

_NEAR = 5  # of the best so far, whose neighbours are candidates as well
_HOPE = 0.5  # standard deviations that a proposal gets for what is not known of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Everybody is judged on a small part of the rows, few on more, and very few on all.

    With 108 configurations and at least 200 rows that is about a third of the rows that full
    evaluation of 30 configurations takes; how good the choice is was simulated
    (``docs/protocol-simulation.md``).

    Parameters
    ----------
    share, share_again : float
        Of the rows, for everybody, and for those that are judged again; from above 0 to 1. On at
        least 10 rows.
    n_again, n_finalists : int
        How many are judged again, and how many of these on all rows.

    Raises
    ------
    ValueError
        If shares do not rise from above 0 to 1 at most, or there are fewer finalists than 1.

    Examples
    --------
    >>> Screen().stops(600)
    [30, 120, 600]
    >>> Screen().stops(60), Screen().stops(8)
    ([10, 12, 60], [8])
    """

    share: float = 0.05
    share_again: float = 0.2
    n_again: int = 12
    n_finalists: int = 2

    def __post_init__(self) -> None:
        """Refuse what is no screening."""
        if not 0 < self.share <= self.share_again <= 1:
            raise InputError(
                "share and share_again rise from above 0 to 1; got "
                f"{self.share} and {self.share_again}."
            )
        if not 1 <= self.n_finalists <= self.n_again:
            raise InputError(
                "n_finalists must be 1 or more, and n_again no fewer; got "
                f"{self.n_finalists} and {self.n_again}."
            )

    def stops(self, n_rows: int, fewest: int = 10) -> list[int]:
        """Return after how many rows contenders are compared, rising to all of them.

        Parameters
        ----------
        n_rows : int
            Rows to choose by.
        fewest : int
            Nobody is compared on fewer, unless there are fewer.
        """
        shares = (self.share, self.share_again)
        parts = {max(int(np.ceil(share * n_rows)), fewest) for share in shares}
        return [*sorted(part for part in parts if part < n_rows), n_rows]

    def n_staying(self, n_looks_left: int) -> int:
        """Return how many go on, by how many looks are left; 1 is that at all rows."""
        return self.n_finalists if n_looks_left <= 1 else self.n_again


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What is known of a configuration: what it may come to, by which share of the rows.

    Attributes
    ----------
    picked : dict of str to str
        The option of every choice that arises.
    value : float
        What the objective would come to on all rows; nan where undefined.
    share : float
        Of the rows that this was seen on, from above 0 to 1.
    """

    picked: Picked
    value: float
    share: float


def outlook(space: Space, seen: Collection[Screened], candidates: Sequence[Picked]) -> Outlook:
    """Return what candidates may come to, by what was seen of these and others."""
    options = {one.name: one.ids for one in space.choices}
    evidence = Evidence(
        codes=coded([one.picked for one in seen], options),
        values=np.asarray([one.value for one in seen], dtype=np.float64),
        shares=np.asarray([one.share for one in seen], dtype=np.float64),
    )
    return evidence.outlook(coded(candidates, options))


def promising(
    space: Space,
    seen: Sequence[Screened],
    known: Collection[str],
    n: int,
    *,
    rng: np.random.Generator,
) -> list[dict[str, str]]:
    """Return configurations that promise most: what they may come to, and half of how unsure it is.

    Parameters
    ----------
    space : Space
        What may be chosen.
    seen : sequence of Screened
        What to learn from; where these are few, nothing is promised.
    known : collection of str
        ``configuration_id`` of what is not to be proposed.
    n : int
        How many at most.
    rng : Generator
        Draws candidates from a large space, and breaks ties.
    """
    if len(seen) < FEWEST_TRIALS:
        return []
    candidates = [
        one for one in _candidates(space, seen, rng) if configuration_id(one) not in known
    ]
    if not candidates:
        return []
    expected = outlook(space, seen, candidates)
    promised = expected.means + _HOPE * expected.deviations
    return [candidates[place] for place in np.argsort(-promised, kind="stable")[:n]]


def _candidates(
    space: Space, seen: Sequence[Screened], rng: np.random.Generator
) -> list[dict[str, str]]:
    """Return all configurations, or random ones and those one change from the best, shuffled."""
    if space.size <= MOST_CANDIDATES:
        found = list(space.configurations())
    else:
        means = outlook(space, seen, [one.picked for one in seen]).means
        near = (
            space.complete({**seen[place].picked, choice.name: option})
            for place in np.argsort(-means, kind="stable")[:_NEAR]
            for choice in space.choices
            for option in choice.ids
        )
        far = (
            space.proposed(lambda choice: str(rng.choice(choice.ids)))
            for _ in range(MOST_CANDIDATES)
        )
        unique = {configuration_id(one): one for one in itertools.chain(near, far)}
        found = list(unique.values())
    return [found[place] for place in rng.permutation(len(found))]  # of equals, any
