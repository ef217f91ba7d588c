"""What compiling does with 40 rated rows: how often it harms, on six rated sets, offline.

For each set, 40 rated rows are drawn 20 times; ``compile_judge`` gets them with its defaults, holds
30 % of their sources out, infers a rubric from the rest and tunes on it. The judge it returns and
the uncompiled one, which has the general rubric, then score all other rows of the set. Columns are
Q (Pearson + Spearman + Kendall's tau-b over these rows): of the uncompiled judge, the mean and the
worst change, the share of draws that lost more than .05, and what was compiled. By ``default`` the
inferred rubric competes with the general one; ``inferred`` takes it in any case, ``given`` never.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal

import numpy as np

from benchmarks.harness import Row, benchmark, rated, spread
from benchmarks.search.stages import TARGETS
from judgesmith.data import targets_of
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.metrics import q
from judgesmith.programs import ActiveCritic, score_batch

N_LABELS = 40
HARM = 0.05
LOST, WON = f"lost more than {HARM}", f"won more than {HARM}"


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One compilation from few labels.

    Attributes
    ----------
    before, after : float
        Q of the uncompiled and of the compiled judge on all other rows.
    kind : str
        What came back.
    seconds : float
        Of compiling.
    """

    before: float
    after: float
    kind: str
    seconds: float


def drawn(name: str, seed: int, sampling: str, criteria: str, n_sources: int | None) -> Draw:
    """Compile from ``N_LABELS`` rows and score the others."""
    data = rated(name, n_sources)
    targets = targets_of(data, TARGETS[name])
    rng = np.random.default_rng([seed, N_LABELS])
    order = rng.permutation(targets.rated)
    if sampling == "sources":
        # Whole sources in random order, as somebody would label them.
        groups = data.groups[order]
        first = {group: place for place, group in reversed(list(enumerate(groups.tolist())))}
        order = order[np.argsort([first[group] for group in groups.tolist()], kind="stable")]
    labelled, others = np.sort(order[:N_LABELS]), np.sort(order[N_LABELS:])
    start = time.perf_counter()
    settings = CompileSettings(
        target=TARGETS[name], seed=seed, criteria=None if criteria == "default" else criteria
    )
    found = compile_judge(data.subset(labelled.tolist()), settings)
    seconds = time.perf_counter() - start
    items = [data[place] for place in others.tolist()]
    after, before = (
        q(targets.values[others], [one.score for one in score_batch(judge, items)])
        for judge in (found.saved, ActiveCritic(settings.protocol))
    )
    protocol = found.saved.protocol
    kind = "with" if protocol.demonstrations else "without"
    kind = f"{protocol.aggregation.kind} {kind} demonstrations"
    return Draw(before=before, after=after, kind=kind, seconds=seconds)


def row_of(name: str, rubric: str, draws: list[Draw]) -> Row:
    """Return the row of a set and a way to get its rubric."""
    change = np.asarray([one.after - one.before for one in draws])
    kinds = Counter(one.kind for one in draws).most_common()
    return {
        "set": name,
        "rubric": rubric,
        "uncompiled": np.mean([one.before for one in draws]),
        "mean change": change.mean(),
        "worst": change.min(),
        LOST: np.mean(change < -HARM),
        WON: np.mean(change > HARM),
        "came back": "; ".join(f"{count} {kind}" for kind, count in kinds),
        "seconds": np.mean([one.seconds for one in draws]),
    }


@benchmark(
    quick={"draws": 1, "sets": ("topical_chat",), "criteria": ("default",), "sources": 12},
    formats={"mean change": "+.3f", "worst": "+.3f", LOST: ".0%", WON: ".0%", "seconds": ".1f"},
)
def few_labels(
    *,
    draws: int = 20,
    sampling: Literal["sources", "rows"] = "sources",
    criteria: tuple[Literal["default", "inferred", "given"], ...] = ("default", "inferred"),
    sets: tuple[str, ...] = tuple(TARGETS),
    processes: int = 1,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """What compiling does with 40 rated rows: how often it harms, on six rated sets, offline."""
    cases = list(product(sets, criteria))
    jobs = [(name, n, sampling, rubric, sources) for name, rubric in cases for n in range(draws)]
    found = spread(drawn, jobs, processes)
    for name, rubric in cases:
        yield row_of(name, rubric, [next(found) for _ in range(draws)])
