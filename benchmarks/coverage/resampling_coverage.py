"""How often intervals hold the truth, and how often tests reject, by what is drawn or swapped.

Sources and systems with effects of their own; people see them with noise, a judge with noise and
with a bias towards each source and each system. The first table draws what the interval draws:
other sources for the same systems, other systems on the same sources, both, or rows that are all
independent. Truths are known, or taken from very many of what is drawn. The second compares two
judges at a nominal 5 %: equally good ones, without and with biases towards systems (redrawn each
time, so that on all systems neither is better), and a better one.
"""

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, benchmark
from judgesmith.metrics import permutation_test
from judgesmith.metrics.comparing import williams_test
from judgesmith.metrics.correlation import agreement, agreement_difference, agreement_interval

N_SOURCES, N_SYSTEMS, N_RESAMPLES = 40, 16, 500
LEVELS = ("system", "sample", "dataset")
STATISTICS = ("pearson", "kendall")
# Standard deviations: of sources and systems, of the judge's biases towards them, and of noise.
SOURCE, SYSTEM, SOURCE_BIAS, SYSTEM_BIAS, PEOPLE, JUDGE = 0.7, 1.0, 0.5, 0.6, 0.5, 1.0

Grid = tuple[np.ndarray, np.ndarray]

TESTS = ("inputs", "systems", "both", "interval", "interval both", "williams")


def effects(rng: np.random.Generator, n_sources: int, n_systems: int) -> dict[str, np.ndarray]:
    """Return what sources and systems are like, and how a judge is biased towards them."""
    return {
        "source": SOURCE * rng.normal(size=(n_sources, 1)),
        "source_bias": SOURCE_BIAS * rng.normal(size=(n_sources, 1)),
        "system": SYSTEM * rng.normal(size=n_systems),
        "system_bias": SYSTEM_BIAS * rng.normal(size=n_systems),
    }


def seen(rng: np.random.Generator, given: dict[str, np.ndarray]) -> Grid:
    """Return what the judge and what people say, sources by systems."""
    true = given["source"] + given["system"]
    true = true + rng.normal(size=true.shape)
    judge = true + given["source_bias"] + given["system_bias"] + JUDGE * rng.normal(size=true.shape)
    return judge, true + PEOPLE * rng.normal(size=true.shape)


def drawn(rng: np.random.Generator, resample: str, fixed: dict[str, np.ndarray], n: int) -> Grid:
    """Return scores with ``n`` times as many of what is drawn, which is new; the rest is fixed."""
    if resample == "items":
        judge, people = seen(
            rng,
            effects(rng, n * N_SOURCES * N_SYSTEMS, 1)
            | dict.fromkeys(("system", "system_bias"), 0.0),
        )
        # A source and a system of its own for every row.
        own = SYSTEM * rng.normal(size=judge.shape)
        own_bias = SYSTEM_BIAS * rng.normal(size=judge.shape)
        return judge + own + own_bias, people + own
    sources = N_SOURCES if resample == "systems" else n * N_SOURCES
    systems = N_SYSTEMS if resample == "sources" else n * N_SYSTEMS
    new = effects(rng, sources, systems)
    kept = {"sources": "system", "systems": "source"}.get(resample, "none")
    return seen(rng, new | {name: each for name, each in fixed.items() if name.startswith(kept)})


def labelled(grid: Grid) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Return the scores in one row each, and their labels."""
    sources, systems = (each.ravel() for each in np.indices(grid[0].shape))
    return [each.ravel() for each in grid], {"sources": sources, "systems": systems}


def truth(
    resample: str, statistic: str, level: str, fixed: dict[str, np.ndarray], size: int
) -> float:
    """Return the agreement among all that might be drawn."""
    if resample == "sources" or (resample == "systems" and level != "sample"):
        grid = drawn(np.random.default_rng(9), resample, fixed, size)
        scores, labels = labelled(grid)
        return agreement(*scores[::-1], **labels, statistic=statistic, level=level).value
    # Normal scores: Pearson's correlation from variances, Kendall's from Pearson's.
    shared = {"system": SYSTEM**2, "sample": SYSTEM**2 + 1}.get(level, SYSTEM**2 + 1 + SOURCE**2)
    one, other = shared + SYSTEM_BIAS**2, shared
    if level != "system":
        one, other = one + JUDGE**2, other + PEOPLE**2
    if level == "dataset":
        one += SOURCE_BIAS**2
    r = shared / math.sqrt(one * other)
    return r if statistic == "pearson" else 2 / math.pi * math.asin(r)


@benchmark(
    quick={"repetitions": 1, "true_size": 10},
    formats=dict.fromkeys(("percentile", "bca", *TESTS), ".0%") | {"truth": ".2f"},
)
def resampling_coverage(*, repetitions: int = 400, true_size: int = 1000) -> Iterator[Row]:
    """How often intervals hold the truth, and how often tests reject, by what is drawn."""
    yield from coverage(repetitions, true_size)
    yield from rejections(repetitions)


def coverage(repetitions: int, true_size: int) -> Iterator[Row]:
    """Yield the rows of the first table."""
    fixed = effects(np.random.default_rng(3), N_SOURCES, N_SYSTEMS)
    cases = [
        (resample, level, statistic)
        for resample in ("sources", "systems", "both")
        for level in LEVELS
        for statistic in STATISTICS
    ]
    for resample, level, statistic in [
        *cases,
        *(("items", "dataset", statistic) for statistic in STATISTICS),
    ]:
        true = truth(resample, statistic, level, fixed, true_size)
        rng = np.random.default_rng(1)
        held = dict.fromkeys(("percentile", "bca"), 0)
        for _ in range(repetitions):
            scores, labels = labelled(drawn(rng, resample, fixed, 1))
            for method in held:
                found = agreement_interval(
                    *scores[::-1],
                    **labels,
                    statistic=statistic,
                    level=level,
                    seed=rng,
                    n_resamples=N_RESAMPLES,
                    resample=resample,
                    method=method,
                )
                held[method] += found.low <= true <= found.high
        shares = {method: count / repetitions for method, count in held.items()}
        yield {"drawn": resample, "level": level, "statistic": statistic, "truth": true} | shares


def judges(rng: np.random.Generator, bias: float, noise: float) -> list[np.ndarray]:
    """Return people and two judges, sources by systems; the second judge has its own noise."""
    people = seen(rng, effects(rng, N_SOURCES, N_SYSTEMS))[1]
    return [
        people,
        *(
            people + bias * rng.normal(size=N_SYSTEMS) + each * rng.normal(size=people.shape)
            for each in (1.0, noise)
        ),
    ]


def rejections(repetitions: int) -> Iterator[Row]:
    """Yield the rows of the second table."""
    cases = {"equal": (0.0, 1.0), "equal, biased": (0.5, 1.0), "better": (0.0, 1.3)}
    for level in LEVELS:
        for name, (bias, noise) in cases.items():
            rng = np.random.default_rng(2)
            low = np.zeros(len(TESTS))
            for _ in range(repetitions):
                grid = judges(rng, bias, noise)
                scores, labels = labelled(grid)
                given = labels | {"statistic": "pearson", "level": level, "seed": rng}
                p = [
                    permutation_test(*scores, **given, swap=swap, n_permutations=399).p_value
                    for swap in TESTS[:3]
                ]
                p += [
                    agreement_difference(
                        *scores, **given, n_resamples=399, resample=resample
                    ).p_value
                    for resample in ("sources", "both")
                ]
                flat = [each.mean(axis=0) for each in grid] if level == "system" else scores
                p.append(williams_test(*flat).p_value if level != "sample" else math.nan)
                low += np.less_equal(p, 0.05)
            shares = np.where(
                [level == "sample" and each == "williams" for each in TESTS], np.nan, low
            )
            yield {"level": level, "judges": name} | dict(
                zip(TESTS, shares / repetitions, strict=True)
            )
