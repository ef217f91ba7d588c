"""Which demonstrations are shown, as choices of a space: how many, which, with what, in what order.

Unlike other choices these depend on the rows that may be shown, and on every other choice about
the judge: the same rows are worded anew for each configuration.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from judgesmith.optimizers.drawing import Pool, Shown
from judgesmith.optimizers.splitting import FloatArray, IntArray
from judgesmith.programs.features import lexical_features
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.space import Choice, Option, Picked

NUMBERS = (3, 0, 1, 2, 5, 8)
"""How many demonstrations compete; the first is what Active-Critic shows."""

N, CHOSEN, DRAW, RUNS, ORDER = (
    *("demonstrations", "demonstrations.chosen", "demonstrations.draw"),
    *("demonstrations.runs", "demonstrations.order"),
)
NAMES = (N, CHOSEN, DRAW, RUNS, ORDER)

NEAREST = "nearest"
"""The id of the option that shows each text those rows that are most like it."""

POOL = 64
"""Rows among which the nearest are looked for, by default."""

OnlyIf = Mapping[str, tuple[str, ...]]
NOT_DECIDED: OnlyIf = MappingProxyType({})


def demonstration_choices(
    n_rows: int, *, most: int, n_draws: int, with_runs_if: OnlyIf | None = NOT_DECIDED
) -> tuple[Choice, ...]:
    """Return the choices about demonstrations from a pool of rows.

    Parameters
    ----------
    n_rows : int
        Rows that may be shown; without any there is nothing to choose.
    most : int
        Demonstrations per prompt at most.
    n_draws : int
        How many sets of each kind compete.
    with_runs_if : dict of str to tuple of str, or None
        Under which other choices a judge's own runs can be shown; None where they never can.

    Examples
    --------
    >>> [one.ids for one in demonstration_choices(40, most=3, n_draws=2)][:2]
    [('3', '0', '1', '2'), ('stratified', 'random', 'diverse', 'nearest')]
    """
    limit = min(n_rows, most)
    usual = tuple(n for n in NUMBERS if n <= limit)
    numbers = tuple(str(n) for n in (usual if limit in usual else (*usual, limit)))
    some = tuple(n for n in numbers if n != "0")
    if not some:
        return ()
    several = tuple(n for n in some if n != "1")
    # The nearest of no more rows than are shown anyway would always be the same ones.
    ways = (*_WAYS, NEAREST) if n_rows > limit else tuple(_WAYS)
    drawn: OnlyIf = {CHOSEN: tuple(_WAYS)} if NEAREST in ways else {}
    found = [
        _choice(N, numbers),
        _choice(CHOSEN, ways, some),
        _choice(DRAW, tuple(map(str, range(n_draws))), some, drawn),
    ]
    if with_runs_if is not None:
        found.append(_choice(RUNS, ("some", "none", "all"), some, {**with_runs_if, **drawn}))
    if several:
        found.append(_choice(ORDER, ("drawn", "rising", "falling"), several, drawn))
    return tuple(found)


def _choice(
    name: str, ids: tuple[str, ...], n_shown: tuple[str, ...] = (), only_if: OnlyIf = NOT_DECIDED
) -> Choice:
    options = tuple(Option(id=one) for one in ids)
    return Choice(
        name=name, options=options, only_if={**only_if, N: n_shown} if n_shown else only_if
    )


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws the demonstrations that a configuration names; the same ones every time.

    Attributes
    ----------
    pool : Pool
        The rows, with the runs that may be shown.
    seed : int
        Of everything that is drawn.
    n_pool : int
        Among how many rows the nearest to a text are looked for.
    """

    pool: Pool
    seed: int
    n_pool: int = POOL

    def shown(self, protocol: ActiveCriticConfig, picked: Picked) -> Shown:
        """Return the demonstrations of a configuration, by question."""
        n = int(picked.get(N, "0"))
        if n == 0:
            return {}
        # What is not chosen is as it usually is: a search may leave any of these choices out.
        chosen = picked.get(CHOSEN, next(iter(_WAYS)))
        if chosen == NEAREST:
            return self._to_look_in(protocol)
        rng = np.random.default_rng([self.seed, 2, int(picked.get(DRAW, "0")), n])
        rows = _WAYS[chosen](self.pool, n, rng)
        runs = np.asarray(sorted(self.pool.runs), dtype=np.intp)
        n_runs = int(rng.integers(1, n + 1))
        n_runs = {"none": 0, "all": n}.get(picked.get(RUNS, "none"), n_runs)
        with_runs = rng.permutation(np.intersect1d(rows, runs))[:n_runs]
        human = self.pool.rows.human[rows]
        order = picked.get(ORDER, "drawn")
        if order != "drawn":
            rows = rows[np.argsort(human if order == "rising" else -human, kind="stable")]
        return self.pool.shown(protocol, rows.tolist(), with_runs.tolist())

    def _to_look_in(self, protocol: ActiveCriticConfig) -> Shown:
        """Return the rows among which the nearest are looked for, spread over the scores."""
        rng = np.random.default_rng([self.seed, 3])
        n = min(self.n_pool, len(self.pool.rows))
        rows = np.sort(_stratified(self.pool, n, rng))
        return self.pool.shown(protocol, rows.tolist(), ())


def _at_random(pool: Pool, n: int, rng: np.random.Generator) -> IntArray:
    return rng.permutation(len(pool.rows))[:n]


def _stratified(pool: Pool, n: int, rng: np.random.Generator) -> IntArray:
    """Draw one row from each of ``n`` stretches of the human scores, in random order."""
    mixed = rng.permutation(len(pool.rows))
    ordered = mixed[np.argsort(pool.rows.human[mixed], kind="stable")]
    edges = np.linspace(0, len(ordered), n + 1).astype(np.intp)
    drawn = [ordered[rng.integers(a, b)] for a, b in itertools.pairwise(edges)]
    return rng.permutation(np.asarray(drawn, dtype=np.intp))


def _diverse(pool: Pool, n: int, rng: np.random.Generator) -> IntArray:
    """Draw a row, then always the one that is least like all drawn so far, by lexical features."""
    points = _standardised_features(pool)
    drawn = [int(rng.integers(len(points)))]
    nearest = np.full(len(points), np.inf)
    while len(drawn) < n:
        nearest = np.minimum(nearest, np.sum((points - points[drawn[-1]]) ** 2, axis=1))
        nearest[drawn] = -1.0
        drawn.append(int(np.argmax(nearest)))
    return np.asarray(drawn, dtype=np.intp)


def _standardised_features(pool: Pool) -> FloatArray:
    rows = [
        lexical_features(item.source, item.context, item.response).values
        for item in pool.rows.items
    ]
    values = np.asarray(rows, dtype=float)
    spread = values.std(axis=0)
    standardised: FloatArray = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return standardised


_WAYS: dict[str, Callable[[Pool, int, np.random.Generator], IntArray]] = {
    "stratified": _stratified,
    "random": _at_random,
    "diverse": _diverse,
}
