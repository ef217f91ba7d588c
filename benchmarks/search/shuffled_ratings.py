"""How often a compilation changes the judge, and claims a gain, where there is nothing to learn.

Every run makes 100 texts (40 for DSPy's optimizers, which take longest) with ratings that follow
their length, their words and chance, and then shuffles the ratings, so that no judge can agree with
them but by chance. The vanilla judge of the offline model is compiled on 70 % of the sources and
reported on the others. A run adopts a change where the compiled judge's prompt differs from its
start: at most 5 % of runs, and at most 9 of 100 are to be expected of a test at that level;
``effects`` replaces its start where the chance of no gain is at most 20 %. Weights move, without a
test, as far as their gain is more than its standard error. A run claims a gain where the paired
difference in Q on the rows held out is clearly above zero: that is when the command line does not
say that these rows do not show one.

The columns are, per optimizer, runs that adopted a change, runs whose weights moved, runs that
claimed a gain, and a loss, the mean gain, and the mean of Q on the rows chosen by, less that on the
rows held out. The offline model writes and reads no instructions: of ``reflective`` and
``balanced`` it shows what the weights do, and of DSPy's optimizers what demonstrations and weights
do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

import numpy as np

from benchmarks.harness import Row, benchmark, spread
from judgesmith.data import DataSet
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig, Aggregation, RatedItem, Scale

WAYS = ("effects", "random", "protocol", "reflective", "balanced", "miprov2", "simba")
AT_MOST = {"miprov2": 40, "simba": 40}
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
    same, weighed : bool
        Whether the prompt came back as it was, and whether weights moved the score.
    """

    gain: float
    claimed: bool
    lost: bool
    optimism: float
    same: bool
    weighed: bool


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


def compiled(way: str, seed: int, rows: int, trials: int, is_kept: bool, is_confirmed: bool) -> Run:
    """Compile the judge once."""
    data = synthetic_set(rows, seed, shuffled=not is_kept)
    # Answers of few kinds can be balanced.
    answers = {"answers": LIKERT} if way == "balanced" else {}
    own: dict[str, Any] = {"n_trials": trials} if way == "protocol" else {}
    if not is_confirmed:
        own["confirm"] = None
    protocol = ActiveCriticConfig(variant="vanilla", **answers)
    settings = CompileSettings(optimizer=way, protocol=protocol, seed=seed, **own)
    found = compile_judge(data, settings, lm=model(ledger=None))
    gain = found.objective.gain
    bare = found.saved.protocol.model_copy(update={"aggregation": Aggregation()})
    return Run(
        gain=gain.value,
        claimed=gain.is_clear and gain.low > 0,
        lost=gain.is_clear and gain.high < 0,
        optimism=found.objective.optimism,
        same=bare == settings.protocol,
        weighed=found.saved.protocol.aggregation != Aggregation(),
    )


@benchmark(
    quick={"runs": 1, "rows": 40, "trials": 2, "optimizers": ("random",)},
    formats={"mean gain": "+.3f", "optimism": "+.3f"},
)
def shuffled_ratings(
    *,
    runs: Annotated[int, "seeds, one after the other"] = 100,
    first: Annotated[int, "the first seed"] = 0,
    rows: Annotated[int, "rated texts per run, at most 40 for DSPy's optimizers"] = 100,
    trials: Annotated[int, "of a search of the protocol"] = 30,
    optimizers: tuple[str, ...] = WAYS,
    kept: Annotated[bool, "do not shuffle the ratings"] = False,
    unconfirmed: Annotated[bool, "take the best as it is"] = False,
    processes: int = 1,
) -> Iterator[Row]:
    """How often a compilation changes the judge, and claims a gain, where there is no signal."""
    jobs = [
        (way, seed, min(rows, AT_MOST.get(way, rows)), trials, kept, not unconfirmed)
        for way in optimizers
        for seed in range(first, first + runs)
    ]
    every = spread(compiled, jobs, processes)
    for way in optimizers:
        found = [next(every) for _ in range(runs)]
        yield {
            "optimizer": way,
            "texts": min(rows, AT_MOST.get(way, rows)),
            "runs": runs,
            "adopted": sum(not one.same for one in found),
            "weights moved": sum(one.weighed for one in found),
            "claimed": sum(one.claimed for one in found),
            "losses": sum(one.lost for one in found),
            "mean gain": fmean(one.gain for one in found),
            "optimism": fmean(one.optimism for one in found),
        }
