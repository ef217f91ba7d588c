"""How often a 95 % interval over texts holds the truth, for shares of yes and for alpha.

Answers about a text (for alpha: about an explanation) are yes with a chance of its own, drawn from
a beta distribution, so that the true share and Krippendorff's true alpha are known. One line per
case, with the share of repetitions in which the interval held the truth, lay below it and lay
above it; those without an interval (alpha, where no two raters of a row gave the rarer answer) are
counted apart.

    python benchmarks/answer_coverage.py --repetitions 1000
"""

import argparse
import itertools
from collections.abc import Callable

import numpy as np

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


def line(found: list[Estimate], truth: float) -> str:
    """Return where the intervals lay."""
    given = [one for one in found if not np.isnan(one.low)]
    if not given:
        return f"{'':8} {'':6} {'':6} {len(found):5}"
    below = np.mean([one.high < truth for one in given])
    above = np.mean([one.low > truth for one in given])
    none = len(found) - len(given)
    return f"{1 - below - above:8.3f} {below:6.3f} {above:6.3f} {none:5}"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    options = parser.parse_args()
    cases: list[tuple[str, Callable[..., Estimate], tuple, tuple, tuple]] = [
        ("share", of_share, (1, 3, 21), (0.75, 0.9, 0.95, 0.99), (0.05, 0.3)),
        ("alpha", of_alpha, (1, 7), (0.75, 0.9, 0.95, 0.99), (0.01, 0.3, 0.65)),
    ]
    print(
        "number  texts  answers each  share  likeness  rarer answers  coverage  below  above  none"
    )
    for name, measure, sizes, shares, alike in cases:
        for n_items, size, share, likeness in itertools.product(
            (15, 50, 150), sizes, shares, alike
        ):
            rng = np.random.default_rng(0)
            found = [
                measure(rng, n_items, size, share, likeness) for _ in range(options.repetitions)
            ]
            each = size * (1 if name == "share" else N_RATERS)
            rarer = (1 - share) * n_items * each
            truth = share if name == "share" else likeness
            print(
                f"{name:6} {n_items:6} {each:13} {share:6} {likeness:9} {rarer:14.0f}  "
                f"{line(found, truth)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
