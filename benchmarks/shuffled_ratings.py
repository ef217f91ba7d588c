"""How often a compilation changes the judge, and claims a gain, where there is nothing to learn.

Every run makes 100 texts with ratings that follow their length, their words and chance, and then
shuffles the ratings, so that no judge can agree with them but by chance. The vanilla judge of the
offline model is compiled on 70 % of the sources and reported on the others. A run adopts a change
where the judge does not come back as it was: at most 5 % of runs, and at most 9 of 100 are to be
expected of such a rule. It claims a gain where the paired difference in Q on the rows held out is
clearly above zero: that is when the command line does not say that these rows do not show one.

    python benchmarks/shuffled_ratings.py --runs 100
    python benchmarks/shuffled_ratings.py --kept  # the ratings as they are: there is something
    python benchmarks/shuffled_ratings.py --unconfirmed  # as with --without confirmation

Printed are, per optimizer, runs that adopted a change, runs that claimed a gain, and a loss, the
mean gain, and the mean of Q on the rows chosen by, less that on the rows held out. The offline
model writes and reads no instructions: of ``reflective`` and ``balanced`` it shows what the weights
do, and of DSPy's optimizers what demonstrations and weights do.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from judgesmith.data import DataSet
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig, RatedItem, Scale

WAYS = ("random", "protocol", "reflective", "balanced", "miprov2", "simba")
LIKERT = Scale(low=1, high=5)
WORDS = (
    *("bridge", "council", "river", "market", "teacher", "winter", "letter", "station"),
    *("harbour", "garden", "budget", "storm", "report", "village", "engine", "mayor"),
    *("ticket", "museum", "concert", "bakery", "forest", "signal", "library", "ferry"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one compilation.

    Attributes
    ----------
    gain : float
        Of Q on the rows held out.
    claimed, lost : bool
        Whether that is clearly above zero, or below.
    optimism : float
        Q on the rows chosen by less Q on the rows held out.
    same : bool
        Whether the judge came back as it was.
    """

    gain: float
    claimed: bool
    lost: bool
    optimism: float
    same: bool


def synthetic_set(n_rows: int, seed: int, *, shuffled: bool) -> DataSet:
    """Return rated texts, two per source, with ratings in their place or in any order."""
    rng = np.random.default_rng([seed, 0])
    texts, quality = [], []
    for _ in range(n_rows // 2):
        topic = rng.choice(WORDS, size=6, replace=False).tolist()
        source = ". ".join(f"The {one} and the {other} are here" for one, other in pairs(topic))
        for _ in range(2):
            n_told = int(rng.integers(1, 6))
            told = [one if rng.random() < 0.7 else str(rng.choice(WORDS)) for one in topic[:n_told]]
            response = " ".join(f"It speaks of the {one}." for one in told)
            texts.append((source, response))
            quality.append(len(set(told) & set(topic)) - len(set(told) - set(topic)))
    noisy = np.asarray(quality) + rng.normal(0, 1.5, len(quality))
    points = np.clip(np.round(3 + noisy - noisy.mean()), 1, 5)
    if shuffled:
        points = rng.permutation(points)
    items = tuple(
        RatedItem(
            source_id=str(place // 2),
            source=source,
            response=response,
            human={"overall": (float(points[place]),)},
            scale={"overall": LIKERT},
        )
        for place, (source, response) in enumerate(texts)
    )
    return DataSet(name=f"shuffled-{seed}", items=items)


def pairs(words: list[str]) -> list[tuple[str, str]]:
    """Return neighbours, two by two."""
    return list(zip(words[::2], words[1::2], strict=True))


def compiled(way: str, seed: int, given: argparse.Namespace) -> Run:
    """Compile the judge once."""
    warnings.simplefilter("ignore")
    data = synthetic_set(given.rows, seed, shuffled=not given.kept)
    # Answers of few kinds can be balanced.
    answers = {"answers": LIKERT} if way == "balanced" else {}
    own: dict[str, Any] = {"n_trials": given.trials} if way == "protocol" else {}
    if given.unconfirmed:
        own["confirm"] = None
    protocol = ActiveCriticConfig(variant="vanilla", **answers)
    settings = CompileSettings(optimizer=way, protocol=protocol, seed=seed, **own)
    found = compile_judge(data, settings, lm=model(ledger=None))
    gain = found.objective.gain
    return Run(
        gain=gain.value,
        claimed=gain.is_clear and gain.low > 0,
        lost=gain.is_clear and gain.high < 0,
        optimism=found.objective.optimism,
        same=found.saved.protocol == settings.protocol,
    )


def row(way: str, runs: list[Run]) -> str:
    """Return one line of the table."""
    cells = (
        way,
        len(runs),
        sum(not one.same for one in runs),
        sum(one.claimed for one in runs),
        sum(one.lost for one in runs),
        f"{fmean(one.gain for one in runs):+.3f}",
        f"{fmean(one.optimism for one in runs):+.3f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="seeds, from 0")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rows", type=int, default=100, help="rated texts per run")
    parser.add_argument("--trials", type=int, default=30, help="of a search of the protocol")
    parser.add_argument("--optimizers", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--kept", action="store_true", help="do not shuffle the ratings")
    parser.add_argument("--unconfirmed", action="store_true", help="take the best as it is")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    heads = ("optimizer", "runs", "adopted", "claimed", "losses", "mean gain", "optimism")
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |", flush=True)
    seeds = range(given.first, given.first + given.runs)
    with ProcessPoolExecutor(given.processes) as pool:
        for way in given.optimizers:
            jobs = [pool.submit(compiled, way, seed, given) for seed in seeds]
            print(row(way, [job.result() for job in jobs]), flush=True)


if __name__ == "__main__":
    main()
