"""What optimizers tried, and whether the best is better than the start by more than luck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.predictions import FloatArray, PredictionTable
from judgesmith.optimizers.rows import folds_by_source

ENOUGH_SCORED = 0.95  # a candidate that scores fewer of the rows ranks below all that reach it


def rank_of(value: float, share_scored: float) -> tuple[bool, float]:
    """Return what is larger for the better of two: scores enough rows, then the objective."""
    return (share_scored >= ENOUGH_SCORED, -math.inf if math.isnan(value) else value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One candidate that an optimizer tried, and how well it did.

    Attributes
    ----------
    number, name : int, str
        In the order of the search, 0 is mostly the student; or of a way to combine scores.
    value, values : float, dict of str to float
        The objective; each of several by name. nan where undefined or not judged.
    n_rows, share_scored : int, float
        Rows judged, and the fraction of these, and of their changed versions, with a score.
    problem : str
        Why the candidate was not judged; empty where it was.
    picked : dict of str to str
        Its configuration: an option by choice.
    against, parent : int or None
        Number of the trial that it was raced against, or of which a text was rewritten.
    violation : float
        By how much it misses the conditions of several objectives.
    n_demonstrations, n_bootstrapped, keys : int, int, tuple of str
        Demonstrations per prompt at most, runs of a judge among these, and the rows shown.
    instructions : tuple of str
        Names of the questions with another instruction than the student's.
    changed, text, before, after : str, str, float, float
        The text that was rewritten, the rewrite, and the objective on the rows that it was learned
        from, of the parent and of the rewrite.
    behind, standard_error, optimism : float
        How far a way lies behind the best, how sure that is, and how much larger the objective was
        on the rows that were fitted on.
    allowed, n_members : bool, int
        Whether a way may be taken; judges with a weight.

    Examples
    --------
    >>> few, many = (TrialRecord(value=2.0, share_scored=one) for one in (0.9, 1.0))
    >>> many.rank > few.rank
    True
    """

    number: int = 0
    name: str = ""
    value: float = math.nan
    n_rows: int = 0
    share_scored: float = 0.0
    problem: str = ""
    picked: Mapping[str, str] = field(default_factory=dict)
    against: int | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    violation: float = 0.0
    n_demonstrations: int = 0
    n_bootstrapped: int = 0
    keys: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    parent: int | None = None
    changed: str = ""
    text: str = ""
    before: float = math.nan
    after: float = math.nan
    behind: float = math.nan
    standard_error: float = math.nan
    optimism: float = 0.0
    allowed: bool = True
    n_members: int = 0

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Larger is better: scores enough rows, the objective, then fewer demonstrations."""
        return (*rank_of(self.value, self.share_scored), -self.n_demonstrations)


N_FLIPS = 9_999  # random patterns of signs; the smallest p-value is one in 10,000

LEARNED = 2
"""By what p-values are multiplied where candidates were proposed by what others came to on the rows
of the test: such searches are wrong up to twice as often (benchmark ``adaptive_confirmation``)."""

MOST_BLOCKS = 20  # in which sources are left out of a comparison, to see how much it moves
Rank = tuple[Any, ...]  # larger for the better of two: see ``rank_of``


def without_nan(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if one != one else one for name, one in record.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationResult:
    number: int
    chosen: float
    chosen_before: float
    standard_error: float
    p_value: float
    n_compared: int
    n_rows: int
    passed: bool

    @property
    def gain(self) -> float:
        return self.chosen - self.chosen_before

    def to_dict(self) -> dict[str, Any]:
        gone = dict.fromkeys(("value", "before", "crossed", "optimism"))
        return without_nan({**asdict(self), "gain": self.gain}) | gone


@dataclass(frozen=True, slots=True)
class ImprovementTest:
    """The test by which the best of many candidates replaces what an optimizer started from.

    A sign-flip test of the maximum over candidates. Each candidate's gain falls into shares of
    blocks of sources (jackknife pseudo-values), whose signs are flipped at random, of all
    candidates alike; the p-value of a candidate is how often the largest gain of all, in standard
    errors, then reaches its own. The best with a p-value of at most ``level`` is taken.

    Parameters
    ----------
    level : float
        Largest chance that a start is replaced where no candidate is better; above 0, below 1.

    References
    ----------
    Westfall and Young (1993), "Resampling-Based Multiple Testing", for the maximum over candidates.
    Miller (1974), "The Jackknife: A Review", Biometrika 61, for pseudo-values.

    Examples
    --------
    >>> ImprovementTest(level=0.01)
    ImprovementTest(level=0.01)
    """

    level: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"level is a chance between 0 and 1; got {self.level}.")

    def best(
        self,
        objective: Objective,
        compared: Mapping[int, tuple[PredictionTable, PredictionTable]],
        ranks: Mapping[int, Rank],
        *,
        start: int = 0,
        learned: bool = False,
        seed: Seed,
    ) -> ConfirmationResult | None:
        """Return the best candidate that passes, or else the best one; None where none ranks above.

        Where the start has no value, or leaves too many rows unscored, a candidate that ranks
        above it needs no test: that is not luck.

        Parameters
        ----------
        objective, start, learned, seed
            What is maximized, the number of the start, whether candidates were proposed by what
            others came to on these rows, and what draws blocks and signs.
        compared : dict of int to (PredictionTable, PredictionTable)
            What every candidate and the start say of the rows that the candidate was judged on.
        ranks : dict of int to tuple
            Of the start, and of those candidates that may be taken.
        """
        rng = generator(seed)
        others = {number: pair for number, pair in compared.items() if number != start}
        if not others:
            return None
        sources = max((before.sources for _, before in others.values()), key=len)
        blocks = source_blocks(sources, rng=rng)
        return self.decided(
            {n: shares_of_gain(objective, *pair, blocks=blocks) for n, pair in others.items()},
            ranks,
            {n: tuple(map(objective.value, pair)) for n, pair in others.items()},
            {n: pair[0].parts[0].n for n, pair in others.items()},
            start=start,
            learned=learned,
            seed=rng,
        )

    def decided(
        self,
        shares: Mapping[int, FloatArray],
        ranks: Mapping[int, Rank],
        values: Mapping[int, tuple[float, ...]],
        n_rows: Mapping[int, int],
        *,
        start: int = 0,
        learned: bool = False,
        seed: Seed,
    ) -> ConfirmationResult | None:
        """Return the same from the shares of each gain, and the ``values`` of both on its rows."""
        rng = generator(seed)
        own = ranks[start]
        above = [number for number, rank in ranks.items() if rank > own]
        above.sort(key=lambda number: ranks[number], reverse=True)
        if not above:
            return None
        tested = family_p_values(list(shares.values()), rng=rng)
        counted = np.minimum(1.0, np.asarray(tested) * (LEARNED if learned else 1))
        p_values = dict(zip(shares, counted.tolist(), strict=True))
        untested = {n for n in above if own[1] == -math.inf or ranks[n][0] > own[0]}
        passed = [n for n in above if n in untested or p_values[n] <= self.level]
        shown = (passed or above)[0]
        return ConfirmationResult(
            number=shown,
            chosen=values[shown][0],
            chosen_before=values[shown][1],
            standard_error=standard_error(shares[shown]),
            p_value=math.nan if shown in untested else p_values[shown],
            n_compared=len(shares),
            n_rows=n_rows[shown],
            passed=bool(passed),
        )


def check_confirm(given: object) -> None:
    if not isinstance(given, ImprovementTest | None):
        raise TypeError(
            f"confirm is a rule such as ImprovementTest(level=0.05), or None; got {given!r:.80}."
        )


def select_trial(
    rule: ImprovementTest | None,
    objective: Objective,
    compared: Mapping[int, tuple[PredictionTable, PredictionTable]],
    ranks: Mapping[int, Rank],
    *,
    start: int = 0,
    learned: bool = False,
    seed: int,
) -> tuple[int, ConfirmationResult | None]:
    """Return the number of the trial to take, the start included, and how it was confirmed."""
    if start not in ranks:
        return start, None
    if rule is not None:
        rng = np.random.default_rng([seed, 6])
        found = rule.best(objective, compared, ranks, start=start, learned=learned, seed=rng)
        return (start if found is None or not found.passed else found.number), found
    best = max(sorted(ranks, key=lambda number: number != start), key=lambda number: ranks[number])
    if best == start:
        return start, None
    table, before = compared[best]
    return best, ConfirmationResult(
        number=best,
        chosen=objective.value(table),
        chosen_before=objective.value(before),
        standard_error=math.nan,
        p_value=math.nan,
        n_compared=sum(number != start for number in compared),
        n_rows=table.parts[0].n,
        passed=True,
    )


def source_blocks(sources: Any, *, rng: np.random.Generator) -> dict[Any, int]:
    names = sources.tolist()
    n_sources = len(set(names))
    if n_sources < 2:
        return dict.fromkeys(names, 0)
    folds = folds_by_source(sources, min(MOST_BLOCKS, n_sources), rng=rng)
    return dict(zip(names, folds.tolist(), strict=True))


def shares_of_gain(
    objective: Objective,
    table: PredictionTable,
    start: PredictionTable,
    *,
    blocks: Mapping[Any, int],
) -> FloatArray:
    """Return each block's share in how much better a table is than the start's, on shared rows."""
    both = np.flatnonzero(~(np.isnan(table.predicted) | np.isnan(start.predicted)))
    table, start = table.part(both), start.part(both)
    own = np.asarray([blocks[one] for one in table.sources.tolist()], dtype=np.intp)

    present = np.unique(own)
    kept = [np.flatnonzero(own != block) for block in present]
    kept += [np.arange(len(own))] if len(own) else []
    found, before = (
        np.asarray(objective.values([one.part(rows) for rows in kept])) for one in (table, start)
    )
    gains = found - before
    shares = np.zeros(max(blocks.values(), default=0) + 1)
    shares[present] = pseudo_values(gains[-1] if len(own) else math.nan, gains[:-1])
    known = len(present) > 1 and np.isfinite(shares).all()
    return shares if known else np.full_like(shares, np.nan)


def pseudo_values(whole: float, without: FloatArray) -> FloatArray:
    """Return the jackknife's pseudo-values of a number, from its values without each block."""
    n = len(without)
    return n * whole - (n - 1) * without


def standard_error(shares: FloatArray) -> float:
    given = shares[shares != 0]
    if len(given) < 2:
        return math.nan if len(given) else 0.0
    return float(np.std(given, ddof=1) / math.sqrt(len(given)))


def family_p_values(shares: Sequence[FloatArray], *, rng: np.random.Generator) -> list[float]:
    """Return the one-sided p-value of every candidate, family-wise over all of them."""
    columns = np.stack(shares, axis=1)
    sizes = np.sqrt(np.sum(columns**2, axis=0))
    defined = np.isfinite(sizes)
    # A candidate that says what the start says has no gain to be tested.
    scaled = columns[:, defined] / np.where(sizes[defined] > 0, sizes[defined], 1.0)
    signs = rng.choice((-1.0, 1.0), size=(N_FLIPS, len(columns)))
    found = np.full(len(shares), math.nan)
    if defined.any():
        largest = np.sort((signs @ scaled).max(axis=1))
        # Sums of the same numbers differ in their last digits from order to order.
        reached = N_FLIPS - np.searchsorted(largest, scaled.sum(axis=0) - 1e-9)
        found[defined] = (1 + reached) / (1 + N_FLIPS)
    return found.tolist()
