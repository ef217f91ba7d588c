"""How often prediction-powered intervals hold the truth, and how long they are.

Sources with effects of their own; people rate some rows, a judge scores all. One line per case:
the share of repetitions in which the 95 % interval held the truth, with the judge and without it,
and how long the one is for each point of the other.

The second benchmark rates a quarter of SummEval at random and shows half the length of both
intervals, averaged over draws (and systems, and pairs of neighbouring systems), where both are
defined.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, benchmark, records
from judgesmith.metrics.systems import prediction_powered_mean, system_difference, system_means

SIZES = ((6, 60), (10, 100), (20, 200), (50, 500), (50, 10))
NOISE = {"useless": np.inf, "fair": 1.0, "good": 0.3}
SHAPES = ("one row each", "three rows each, rated together", "three rows each, one rated")
LIKENESS = 0.7
TRUTH = 3.0


def scores(rng: np.random.Generator, sources: np.ndarray, noise: float) -> tuple[np.ndarray, ...]:
    """Return what the judge and people say of rows, on five points."""
    effects = LIKENESS * rng.normal(size=sources.max() + 1)
    true = effects[sources] + np.sqrt(1 - LIKENESS**2) * rng.normal(size=len(sources))
    people = np.clip(np.round(TRUTH + true + 0.5 * rng.normal(size=len(sources))), 1, 5)
    seen = 0.0 * true if np.isinf(noise) else true
    judge = TRUTH + 0.5 + seen + min(noise, 1.0) * rng.normal(size=len(sources))
    return np.clip(np.round(judge), 1, 5), people


def rated_rows(n_rated: int, n_unrated: int, shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Return sources of rows, and which rows are rated."""
    if shape == "one row each":
        sources = np.arange(n_rated + n_unrated)
        return sources, sources < n_rated
    sources = np.repeat(np.arange(n_rated + n_unrated), 3)
    if shape.endswith("together"):
        return sources, sources < n_rated
    sources = np.repeat(np.arange(n_rated), 3)
    return sources, np.arange(len(sources)) % 3 == 0


def mean_case(rng: np.random.Generator, n: int, others: int, noise: float, shape: str) -> tuple:
    """Return both intervals of a mean, minus the truth."""
    sources, rated = rated_rows(n, others, shape)
    judge, people = scores(rng, sources, noise)
    found = prediction_powered_mean(
        people[rated],
        judge[rated],
        judge[~rated],
        sources=sources[rated],
        sources_unlabelled=sources[~rated],
    )
    return found.estimate, found.classical, TRUTH


def difference_case(
    rng: np.random.Generator, n: int, others: int, noise: float, shape: str
) -> tuple:
    """Return both intervals of the difference of two systems of which one is as good."""
    sources = np.tile(np.arange(n + others), 2)
    systems = np.repeat([0, 1], n + others)
    judge, people = scores(rng, sources, noise)
    rated = sources < n
    if shape == "rated apart":
        rated = np.where(systems == 0, sources < n, (sources >= n) & (sources < 2 * n))
    found = system_difference(
        np.where(rated, people, np.nan), judge, first=0, second=1, systems=systems, sources=sources
    )
    return found.estimate, found.classical, 0.0


def recorded(criterion: str) -> tuple[np.ndarray, ...]:
    """Return scores of gpt-4 and of people on SummEval, systems and sources."""
    rated = {(row["source_id"], row["system_id"]): row for row in records("summeval")}
    rows = []
    for row in records("recorded/summeval_likert_llms"):
        if (row["judge"], row["criterion"]) == ("gpt-4-0314 rts", criterion):
            key = row["source_id"], row["system_id"]
            score = np.array(row["scores"], dtype=float)[0]
            rows.append((score, np.mean(rated[key]["human"][criterion]), *key))
    judge, human, sources, systems = map(np.array, zip(*rows, strict=True))
    return judge, human, systems, sources


@benchmark(quick={"repetitions": 1})
def prediction_powered_summeval(*, repetitions: int = 40) -> Iterator[Row]:
    """How long prediction-powered intervals are where a quarter of SummEval is rated.

    Half the length with ratings alone, and with the judge; in how many draws there is none.
    """
    rows: dict[tuple[str, str], Row] = {}
    for criterion in ("coherence", "consistency", "fluency", "relevance"):
        judge, human, systems, sources = recorded(criterion)
        names = list(dict.fromkeys(systems))
        for by in ("25 sources of 100", "25% of rows"):
            rng = np.random.default_rng(1)
            found: dict[str, list] = {
                "all 12 systems": [],
                "one system": [],
                "a difference of two": [],
            }
            for _ in range(repetitions):
                if by == "25 sources of 100":
                    rated = np.isin(sources, rng.permutation(np.unique(sources))[:25])
                else:
                    rated = rng.random(len(human)) < 0.25
                some = np.where(rated, human, np.nan)
                given = {"systems": systems, "sources": sources}
                everything = {"systems": np.zeros(len(human)), "sources": sources}
                found["all 12 systems"] += system_means(some, judge, **everything)
                found["one system"] += system_means(some, judge, **given)
                found["a difference of two"] += [
                    system_difference(some, judge, first=first, second=second, **given)
                    for first, second in itertools.pairwise(names)
                ]
            for what, each in found.items():
                half = np.array(
                    [
                        [(kind.high - kind.low) / 2 for kind in (one.classical, one.estimate)]
                        for one in each
                    ]
                )
                undefined = np.isnan(half).any(axis=1)
                alone, powered = half[~undefined].mean(axis=0)
                row = rows.setdefault((by, what), {"rated": by, "mean of": what})
                row[criterion] = f"{alone:.3f} → {powered:.3f}"
                row[f"undefined, {criterion}"] = f"{undefined.mean():.0%}"
    yield from rows.values()


@benchmark(quick={"repetitions": 2}, formats={"length": ".2f", "powered": ".0%", "ratings": ".0%"})
def prediction_powered(*, repetitions: int = 2000) -> Iterator[Row]:
    """How often prediction-powered intervals hold the truth, and how long they are."""
    cases = [("mean", mean_case, shape) for shape in SHAPES]
    cases += [("difference", difference_case, shape) for shape in ("rated on both", "rated apart")]
    for (what, case, shape), (n, others), name in itertools.product(cases, SIZES, NOISE):
        if shape == "three rows each, one rated":
            if others < n:
                continue
            others = 0
        rng = np.random.default_rng(1)
        held, length = np.zeros(2), np.zeros(2)
        for _ in range(repetitions):
            *both, truth = case(rng, n, others, NOISE[name], shape)
            held += [one.low <= truth <= one.high for one in both]
            length += [np.nan_to_num(one.high - one.low) for one in both]
        held /= repetitions
        yield {
            "what": what,
            "rows": shape,
            "rated": n,
            "others": others,
            "judge": name,
            "powered": held[0],
            "ratings": held[1],
            "length": length[0] / length[1],
        }
