"""How often a 95 % interval over texts holds the truth, for shares of yes and for alpha.

Answers about a text (for alpha: about an explanation) are yes with a chance of its own, drawn from
a beta distribution, so that the true share and Krippendorff's true alpha are known. There is no
interval of alpha where no two raters of a row gave the rarer answer.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.coverage.holding import SHARES, where
from benchmarks.harness import Row, benchmark
from judgesmith.metrics import Estimate
from judgesmith.metrics.ratings import krippendorff_alpha_interval
from judgesmith.metrics.resampling import share_interval

N_RATERS = 3


def chances(rng: np.random.Generator, n: int, share: float, likeness: float) -> np.ndarray:
    """Return chances of yes whose mean is ``share``; two answers by one correlate so much."""
    spread = (1 - likeness) / likeness
    return rng.beta(share * spread, (1 - share) * spread, size=n)


def of_share(
    rng: np.random.Generator, n_items: int, size: int, share: float, likeness: float
) -> Estimate:
    """Return the share of yes among answers that are alike within texts."""
    items = np.repeat(np.arange(n_items), size)
    yes = rng.random(len(items)) < chances(rng, n_items, share, likeness)[items]
    return share_interval(yes, sources=items)


def of_alpha(
    rng: np.random.Generator, n_items: int, size: int, share: float, likeness: float
) -> Estimate:
    """Return the alpha of three raters of ``size`` explanations per text."""
    own = chances(rng, n_items * size, share, likeness)
    table = (rng.random((len(own), N_RATERS)) < own[:, None]).astype(float)
    items = np.repeat(np.arange(n_items), size)
    return krippendorff_alpha_interval(table, sources=items, measurement="nominal")


CASES: tuple[tuple[str, Callable[..., Estimate], tuple, tuple, tuple], ...] = (
    ("share", of_share, (1, 3, 21), (0.75, 0.9, 0.95, 0.99), (0.05, 0.3)),
    ("alpha", of_alpha, (1, 7), (0.75, 0.9, 0.95, 0.99), (0.01, 0.3, 0.65)),
)


@benchmark(
    quick={"repetitions": 1},
    formats={"share": "g", "likeness": "g"} | SHARES | {"rarer answers": ".0f"},
)
def answer_coverage(*, repetitions: int = 1000) -> Iterator[Row]:
    """How often a 95 % interval over texts holds the truth, for shares of yes and for alpha."""
    for name, measure, *given in CASES:
        for n_items, size, share, likeness in itertools.product((15, 50, 150), *given):
            rng = np.random.default_rng(0)
            found = [measure(rng, n_items, size, share, likeness) for _ in range(repetitions)]
            each = size * (1 if name == "share" else N_RATERS)
            yield {
                "number": name,
                "texts": n_items,
                "answers each": each,
                "share": share,
                "likeness": likeness,
                "rarer answers": (1 - share) * n_items * each,
                **where(found, share if name == "share" else likeness),
            }
