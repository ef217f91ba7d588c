"""How often ``recheck`` alarms where nothing changed, and how often where something did.

Items are even over the scale's middle four fifths. A score is what an item is worth, changed in the
way of the column where it is one of now, plus noise in the way of the row. Cells are the shares
of runs in which the default rule says that the judge drifted.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Row, benchmark
from judgesmith.experiments.monitor.recheck_rule import RecheckSettings, recheck_of
from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.signatures import Judgement, Scale

Points = npt.NDArray[np.float64]
SCALE = Scale(low=0, high=100)

NOISES: dict[str, Callable[[np.random.Generator, Points], Points]] = {
    "none": lambda rng, worth: worth,
    "normal, sd 5": lambda rng, worth: worth + rng.normal(0, 5, len(worth)),
    "normal, sd 10": lambda rng, worth: worth + rng.normal(0, 10, len(worth)),
    "normal, sd 20": lambda rng, worth: worth + rng.normal(0, 20, len(worth)),
    "t with 2 degrees of freedom, times 5": lambda rng, worth: (
        worth + 5 * rng.standard_t(2, len(worth))
    ),
    "steps of 25": lambda rng, worth: np.round((worth + rng.normal(0, 8, len(worth))) / 25) * 25,
    "1 of 20 wild": lambda rng, worth: np.where(
        rng.random(len(worth)) < 0.05, rng.uniform(0, 100, len(worth)), worth
    ),
}
CHANGES: dict[str, Callable[[np.random.Generator, Points], Points]] = {
    "none": lambda rng, worth: worth,
    "+5, as tolerated": lambda rng, worth: worth + 5,
    "+10": lambda rng, worth: worth + 10,
    "+15": lambda rng, worth: worth + 15,
    "0.4 of the distance to 50": lambda rng, worth: 50 + 0.4 * (worth - 50),
    "3 of 10 unscored": lambda rng, worth: np.where(rng.random(len(worth)) < 0.3, np.nan, worth),
}


def judgements(points: Points) -> list[Judgement]:
    """Return scores as judgements."""
    return [
        Judgement(score=one) if np.isfinite(one) else Judgement.unscored("none")
        for one in points.tolist()
    ]


def alarms(
    noise: str, change: str, *, n_items: int, settings: RecheckSettings, n_runs: int
) -> float:
    """Return the share of runs that alarm."""
    rng = np.random.default_rng(0)
    worth = np.linspace(10, 90, n_items)
    n = 0
    for _ in range(n_runs):
        golden = [
            GoldenItem(source="s", response="r", judgement=one)
            for one in judgements(NOISES[noise](rng, worth))
        ]
        again = [
            judgements(CHANGES[change](rng, NOISES[noise](rng, worth)))
            if "unscored" in change
            else judgements(NOISES[noise](rng, CHANGES[change](rng, worth)))
            for _ in range(settings.samples)
        ]
        n += recheck_of(golden, again, settings, scale=SCALE).drifted
    return n / n_runs


@benchmark(quick={"runs": 2})
def rechecking(*, runs: int = 2000, items: int = 20, samples: int = 3) -> Iterator[Row]:
    """How often ``recheck`` alarms where nothing changed, and how often where something did."""
    given = {"n_items": items, "settings": RecheckSettings(samples=samples), "n_runs": runs}
    for noise in NOISES:
        yield {"noise": noise} | {change: alarms(noise, change, **given) for change in CHANGES}
