"""How often intervals of corrected pass rates hold the truth.

Sources of one row, or of five whose labels and verdicts are alike (ICC 0.3 of the labels, and of
the judge's errors in either class). A cell is a true rate, a TPR, a TNR, m labelled rows and N
scored ones; the labelled rows are a random part of the same population, or a set in which half is
positive, as test sets often are. As the sources of a cell are of few kinds, how many there are of
each kind is drawn, for all draws of the cell at once; on one draw of every cell the result is
checked against the public functions.

A draw on which the rate is refused has no interval: coverage is that of the others, and ``refused``
the share of refused draws. ``unadjusted`` is the coverage of the delta method without added trials
and design effects. A cell counts as refused where more than half of its draws are: a judge that
cannot be told from chance there passes only by luck, and luck biases what it is corrected by.

The second benchmark sets other packages beside it, in so few cells that their bootstrap ends.
"""

import importlib
import importlib.util
import itertools
from collections.abc import Iterator
from statistics import NormalDist
from typing import Annotated

import numpy as np
from scipy.special import betaln, comb, stdtrit

from benchmarks.harness import NotRun, Row, benchmark
from judgesmith.metrics.records import FEWEST_GROUPS
from judgesmith.metrics.systems import prediction_powered_mean
from judgesmith.metrics.systems.means import _solve
from judgesmith.metrics.verdicts import corrected_rates
from judgesmith.metrics.verdicts.rates import RoganGladen, ShareSums

THETAS = (0.05, 0.2, 0.5, 0.8, 0.95)
RIGHT = (0.6, 0.75, 0.9, 0.97)
LABELLED = (50, 100, 200)
SCORED = (200, 1000)
SIZES = (1, 5)
ICC = 0.3
Z = NormalDist().inv_cdf(0.975)
LEAST = 0.93
PACKAGES = ("judgy", "truescore")
"""Set beside ours where they are installed."""
_BLOCK = 50_000


def chances(n: int, p: float) -> np.ndarray:
    """Return the probabilities of 0 to n successes among rows of one source."""
    k = np.arange(n + 1)
    if n < 2:
        return np.array([1 - p, p])[: n + 1] if n else np.ones(1)
    a, b = p * (1 - ICC) / ICC, (1 - p) * (1 - ICC) / ICC
    return comb(n, k) * np.exp(betaln(k + a, n - k + b) - betaln(a, b))


def kinds(size: int, theta: float, tpr: float, tnr: float) -> tuple[np.ndarray, np.ndarray]:
    """Return kinds of sources, as (positive, passed, negative, passed), and their probabilities."""
    found, likely = [], []
    for k, of_label in enumerate(chances(size, theta)):
        passed, slipped = chances(k, tpr), chances(size - k, 1 - tnr)
        for a, b in itertools.product(range(k + 1), range(size - k + 1)):
            found.append((k, a, size - k, b))
            likely.append(of_label * passed[a] * slipped[b])
    return np.array(found, dtype=float), np.array(likely)


def sums(counts: np.ndarray, rows: np.ndarray, yes: np.ndarray) -> ShareSums:
    """Return the sums over sources, of which there are ``counts`` of each kind."""
    return ShareSums(
        rows=counts @ rows,
        yes=counts @ yes,
        rows_rows=counts @ rows**2,
        yes_rows=counts @ (yes * rows),
        yes_yes=counts @ yes**2,
        n_sources=counts @ (rows > 0).astype(float),
    )


def unadjusted(judged: ShareSums, positive: ShareSums, negative: ShareSums) -> tuple:
    """Return the ends of the delta method's plain interval."""
    p, tpr, tnr = judged.share, positive.share, negative.share
    with np.errstate(all="ignore"):
        j = tpr + tnr - 1
        theta = (p + tnr - 1) / j
        spread = p * (1 - p) / judged.rows + theta**2 * tpr * (1 - tpr) / positive.rows
        spread += (1 - theta) ** 2 * tnr * (1 - tnr) / negative.rows
        error = np.sqrt(spread) / j
    return theta - Z * error, theta + Z * error


def powered(labelled: np.ndarray, scored: np.ndarray, of: np.ndarray, size: int) -> np.ndarray:
    """Return the ends of the prediction-powered intervals of all draws, shape (n_draws, 2)."""
    # What a source of each kind adds, in the order of the package's sums.
    positive, passed = of[:, 0], of[:, 1] + of[:, 3]
    both = np.zeros(len(of))
    vectors = np.concatenate(
        [
            np.stack([both + size, both, positive, passed, both], axis=1),
            np.array([[0, size, 0, 0, one] for one in range(size + 1)], dtype=float),
        ]
    )
    squares = np.concatenate(
        [
            np.stack([passed, of[:, 1]], axis=1),
            np.stack([np.arange(size + 1.0), np.zeros(size + 1)], axis=1),
        ]
    )
    by_passed = (passed[:, None] == np.arange(size + 1)).astype(float)
    counts = np.concatenate([labelled, scored @ by_passed], axis=1)
    outer = vectors[:, :, None] * vectors[:, None, :]
    is_labelled = np.arange(len(vectors)) < len(of)
    found = []
    for block in np.array_split(counts, max(1, counts.size // _BLOCK)):
        whole = block @ vectors, block @ squares, np.einsum("dt,tij->dij", block, outer)
        value = solved(*whole)
        draw, kind = np.nonzero(block)
        parts = (
            each[draw] - own[kind]
            for each, own in zip(whole, (vectors, squares, outer), strict=True)
        )
        gaps = block[draw, kind] * (solved(*parts) - value[draw]) ** 2
        spreads, freedoms = [], []
        for own in (is_labelled, ~is_labelled):
            n = block[:, own].sum(axis=1)
            spread = np.bincount(draw, weights=gaps * own[kind], minlength=len(block))
            spreads.append(spread * (n - 1) / n)
            freedoms.append(n - 1)
        total = sum(spreads)
        with np.errstate(all="ignore"):
            freedom = total**2 / sum(one**2 / n for one, n in zip(spreads, freedoms, strict=True))
            reach = np.where(total > 1e-20, stdtrit(freedom, 0.975) * np.sqrt(total), np.nan)
        found.append(np.stack([value - reach, value + reach], axis=1))
    return np.concatenate(found)


def solved(linear: np.ndarray, squares: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return corrected means of sets of sources."""
    _, means = _solve(linear[:, None], squares[:, None], products, np.ones(1), None)
    return means[:, 0]


def rows_of(counts: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return labels, verdicts and sources of the rows of one draw."""
    human, judge, sources = [], [], []
    for source, (k, a, n, b) in enumerate(np.repeat(of, counts.astype(int), axis=0).astype(int)):
        human += [1] * k + [0] * n
        judge += [1] * a + [0] * (k - a) + [1] * b + [0] * (n - b)
        sources += [source] * (k + n)
    return np.array(human, dtype=float), np.array(judge, dtype=float), np.array(sources)


def checked(
    found: RoganGladen, ends: np.ndarray | None, labelled: np.ndarray, scored: np.ndarray, of: tuple
) -> None:
    """Hold the first draw of a cell against what users call."""
    human, judge, sources = rows_of(labelled[0], of[0])
    _, verdicts, others = rows_of(scored[0], of[1])
    (one,) = corrected_rates(
        np.concatenate([human, np.full(len(verdicts), np.nan)]),
        np.concatenate([judge, verdicts]),
        sources=np.concatenate([sources, others + len(human)]),
        n_resamples=20,
    ).systems
    ours = [found.value[0], found.low[0], found.high[0]]
    theirs = [one.corrected.value, one.corrected.low, one.corrected.high]
    assert np.allclose(ours, theirs, equal_nan=True), (ours, theirs)
    if ends is not None and not np.isnan(one.powered.low):
        mean = prediction_powered_mean(
            human, judge, verdicts, sources=sources, sources_unlabelled=others + len(human)
        ).estimate
        assert np.allclose(ends[0], (mean.low, mean.high), equal_nan=True), (ends[0], mean)


def held(low: np.ndarray, high: np.ndarray, truth: float, given: np.ndarray) -> float:
    """Return the share of the given intervals that hold the truth, nan without any."""
    with np.errstate(invalid="ignore"):
        inside = (low <= truth) & (high >= truth)
    return float(inside[given].mean()) if given.any() else float("nan")


def cell(
    rng: np.random.Generator,
    draws: int,
    how: str,
    size: int,
    theta: float,
    tpr: float,
    tnr: float,
    m: int,
    n: int,
) -> Row:
    """Return the row of one cell."""
    of, likely = kinds(size, theta, tpr, tnr)
    apart = kinds(size, 0.5, tpr, tnr) if how != "at random" else (of, likely)
    scored = rng.multinomial(n // size, likely, size=draws).astype(float)
    labelled = rng.multinomial(m // size, apart[1], size=draws).astype(float)
    judged = sums(scored, of[:, 0] + of[:, 2], of[:, 1] + of[:, 3])
    positive = sums(labelled, of[:, 0], of[:, 1])
    negative = sums(labelled, of[:, 2], of[:, 2] - of[:, 3])
    found = RoganGladen.of(judged, positive, negative, 0.95)
    ends = powered(labelled, scored, of, size) if how == "at random" else None
    if ends is not None:
        ends[np.minimum(positive.n_sources, negative.n_sources) < FEWEST_GROUPS] = np.nan
    checked(found, ends, labelled, scored, (of, of))
    given = found.is_given
    row: Row = {
        "labelled": how,
        "rows a source": size,
        "rate": theta,
        "TPR": tpr,
        "TNR": tnr,
        "m": m,
        "N": n,
        "refused": 1 - given.mean(),
        "coverage": held(found.low, found.high, theta, given),
        "unadjusted": held(*unadjusted(judged, positive, negative), theta, given),
        "length": float((found.high - found.low)[given].mean()) if given.any() else None,
    }
    if ends is not None:
        has = ~np.isnan(ends[:, 0])
        clipped = np.clip(ends[has], 0, 1)
        row |= {
            "PPI++": held(ends[:, 0], ends[:, 1], theta, has),
            "PPI++ refused": 1 - has.mean(),
            "PPI++ length": float((clipped[:, 1] - clipped[:, 0]).mean()) if has.any() else None,
        }
    return row


FORMATS = dict.fromkeys(
    ("refused", "coverage", "unadjusted", "PPI++", "PPI++ refused", "least", "PPI++ least"), ".1%"
) | {"rate": ".2f", "TPR": ".2f", "TNR": ".2f", "length": ".2f", "PPI++ length": ".2f"}


@benchmark(
    quick={"draws": 50, "thetas": (0.5,), "right": (0.6, 0.9), "labelled": (50,)}, formats=FORMATS
)
def pass_rate_coverage(
    *,
    draws: int = 4000,
    seed: int = 0,
    thetas: Annotated[tuple[float, ...], "true pass rates"] = THETAS,
    right: Annotated[tuple[float, ...], "TPR and TNR, each with each"] = RIGHT,
    labelled: Annotated[tuple[int, ...], "numbers of labelled rows"] = LABELLED,
) -> Iterator[Row]:
    """How often intervals of corrected pass rates hold the truth."""
    rng = np.random.default_rng(seed)
    for how in ("at random", "half of each"):
        rows = []
        for size, theta, tpr, tnr, m, n in itertools.product(
            SIZES, thetas, right, right, labelled, SCORED
        ):
            rows.append(cell(rng, draws, how, size, theta, tpr, tnr, m, n))
            yield rows[-1]
        for size in SIZES:
            own = [one for one in rows if one["rows a source"] == size]
            yield summary(how, size, own)


def summary(how: str, size: int, rows: list[Row]) -> Row:
    """Return how many cells of a kind keep what the interval promises."""
    open_cells = [one for one in rows if one["refused"] <= 0.5]
    shut = [one for one in rows if one["refused"] > 0.5]
    low = [one for one in open_cells if not one["coverage"] >= LEAST]
    has_powered = how == "at random"
    powered_open = [one for one in rows if one.get("PPI++ refused", 1) <= 0.5]
    powered_low = [one for one in powered_open if not one["PPI++"] >= LEAST]
    return {
        "labelled": how,
        "rows a source": size,
        "cells": len(rows),
        "cells refused": len(shut),
        "least": min((one["coverage"] for one in open_cells), default=None),
        f"cells below {LEAST:.0%}": len(low),
        "of refused cells": sum(one["coverage"] < LEAST for one in shut),
        "PPI++ cells refused": len(rows) - len(powered_open) if has_powered else None,
        "PPI++ least": min((one["PPI++"] for one in powered_open), default=None),
        f"PPI++ cells below {LEAST:.0%}": len(powered_low) if has_powered else None,
    }


CASES = (
    (0.05, 0.9, 0.9, 100, 1),
    (0.2, 0.75, 0.9, 100, 1),
    (0.5, 0.9, 0.75, 50, 1),
    (0.8, 0.9, 0.75, 100, 1),
    (0.8, 0.97, 0.6, 200, 1),
    (0.95, 0.97, 0.97, 200, 1),
    (0.5, 0.9, 0.9, 100, 5),
    (0.8, 0.9, 0.9, 200, 5),
)


def of_others(
    human: np.ndarray,
    judge: np.ndarray,
    verdicts: np.ndarray,
    clusters: np.ndarray,
    bootstraps: int,
) -> dict[str, tuple[float, float]]:
    """Return the intervals of other packages, nan where they refuse."""
    judgy, truescore = map(importlib.import_module, PACKAGES)
    everything = np.concatenate([judge, verdicts]).astype(int)
    given = everything, human.astype(int), np.arange(len(human))
    calls = {
        "judgy": lambda: judgy.estimate_success_rate(human, judge, verdicts, bootstraps)[1:],
        "truescore": lambda: truescore.rogan_gladen_estimate(*given),
        "truescore PPI++": lambda: truescore.ppi_estimate(*given, clusters=clusters),
    }
    found = {}
    for name, call in calls.items():
        try:
            its = call()
            found[name] = its if isinstance(its, tuple) else (its.low, its.high)
        except (ValueError, RuntimeError):
            found[name] = (np.nan, np.nan)
    return found


@benchmark(
    quick={"draws": 5, "bootstraps": 30},
    formats=dict.fromkeys(("corrected", "bootstrap", "PPI++", "judgy", "truescore"), ".1%")
    | {"rate": ".2f", "TPR": ".2f", "TNR": ".2f", "truescore PPI++": ".1%"},
)
def pass_rate_packages(*, draws: int = 1000, bootstraps: int = 400, seed: int = 0) -> Iterator[Row]:
    """How often other packages' intervals of pass rates hold the truth, on the same draws.

    1,000 scored rows each; the share of draws on which each gives an interval that holds the truth.
    """
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise NotRun(f"install judgy and truescore; there is no {package}")
    for theta, tpr, tnr, m, size in CASES:
        rng = np.random.default_rng(seed)
        np.random.seed(seed)  # noqa: NPY002 - judgy draws from this state
        of, likely = kinds(size, theta, tpr, tnr)
        inside: dict[str, list[float]] = {}
        for _ in range(draws):
            human, judge, sources = rows_of(rng.multinomial(m // size, likely), of)
            _, verdicts, others = rows_of(rng.multinomial(1000 // size, likely), of)
            others = others + len(human)
            everything = np.concatenate([judge, verdicts])
            clusters = np.concatenate([sources, others])
            (one,) = corrected_rates(
                np.concatenate([human, np.full(len(verdicts), np.nan)]),
                everything,
                sources=clusters,
                n_resamples=bootstraps,
                seed=rng,
            ).systems
            found = {
                "corrected": (one.corrected.low, one.corrected.high),
                "bootstrap": (one.bootstrap.low, one.bootstrap.high),
                "PPI++": (one.powered.low, one.powered.high),
            }
            found |= of_others(human, judge, verdicts, clusters, bootstraps)
            for name, (low, high) in found.items():
                is_held = float(low <= theta <= high)
                inside.setdefault(name, []).append(np.nan if np.isnan(low) else is_held)
        row: Row = {"rate": theta, "TPR": tpr, "TNR": tnr, "m": m, "rows a source": size}
        for name, several in inside.items():
            row[name] = float(np.nanmean(several)) if not np.isnan(several).all() else None
        none = {name: int(np.isnan(several).sum()) for name, several in inside.items()}
        row["none"] = ", ".join(f"{name} {n}" for name, n in none.items() if n) or "–"
        yield row
