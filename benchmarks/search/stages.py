"""What each stage of compiling adds to agreement with people, on six rated sets, offline.

The columns are held-out Q (Pearson + Spearman + Kendall's tau-b over all rows): the uncompiled
judge, with the better of the general and an inferred rubric, with searched demonstrations, with
learned weights on its criteria, with lexical features; all of that with what was inferred in any
case; what the same number of random demonstrations does; the paired gain of each stage over the
uncompiled judge, and what taking the inferred rubric in any case would change. A quarter of the
sources tunes, as the defaults of ``judgesmith compile --holdout .75`` say, and the others are held
out. The second table holds the inferred criteria by seed.

Values and gains are means over seeds. An interval resamples sources, the same ones for every seed
and both judges, so it says how far other texts would change the mean over these seeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, rated, seeds_of, spread
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.inferring import rubric_for
from judgesmith.experiments.compile.split import Parts, examples_of, parts_of
from judgesmith.experiments.compile.starting import better_start
from judgesmith.experiments.compile.tuning import Tuning
from judgesmith.metrics.correlation import agreement
from judgesmith.metrics.correlation.coefficients import Statistic
from judgesmith.metrics.correlation.levels import ScoredRows
from judgesmith.metrics.resampling.counted import of_counts
from judgesmith.optimizers import FitAggregation, RandomDemonstrationSearch
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.space.demonstrations import Pool, kept_runs
from judgesmith.programs import ActiveCritic, Judge, score_batch
from judgesmith.programs.judging.executors import current_lm
from judgesmith.programs.judging.runner import CONCURRENCY

TARGETS = {
    "summeval": "mean",
    "topical_chat": "overall",
    "sfres": "overall",
    "openmeva_roc": "overall",
    "qags_cnndm": "consistency",
    "wiki_da": "mean",
}
STAGES = (
    "uncompiled",
    "+ rubric",
    "+ demonstrations",
    "+ criterion weights",
    "+ lexical",
    "always inferred",
)
FINAL, ALWAYS = STAGES[-2:]
N_RANDOM = 16
N_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The held-out rows of one set and seed, and what every judge said of them.

    Attributes
    ----------
    human, sources : array, shape (n,)
        What people said; where from.
    stages : dict of str to array, shape (n,)
        Scores by stage.
    """

    human: np.ndarray
    sources: np.ndarray
    stages: Mapping[str, np.ndarray]

    def agreement(self, stage: str, statistic: Statistic) -> float:
        """Return the agreement of a stage over all held-out rows."""
        return agreement(
            self.human,
            self.stages[stage],
            sources=self.sources,
            statistic=statistic,
            level="dataset",
        ).value


@dataclass(frozen=True, kw_only=True)
class Run(HeldOut):
    """A run through all stages, and what besides is to be told of it.

    Attributes
    ----------
    random : list of array, shape (n,)
        Scores with random demonstrations, one array per set of them.
    n_shown : int
        How many demonstrations the search chose.
    rubric : str
        The inferred type of task and criteria.
    taken : bool
        Whether they were taken rather than the general ones.
    seconds : float
        Of inference, search and fits, without the judging of held-out rows.
    """

    random: Sequence[np.ndarray]
    n_shown: int
    rubric: str
    taken: bool
    seconds: float


def staged(name: str, seed: int, n_sources: int | None) -> Run:
    """Compile stage by stage and judge the held-out rows after each."""
    data = rated(name, n_sources)
    settings = CompileSettings(target=TARGETS[name], holdout=0.75, seed=seed)
    targets = chosen_targets(data, settings)
    parts = parts_of(data, targets, settings)
    assert parts.pool is not None
    assert parts.heldout is not None
    start = time.perf_counter()
    bare = ActiveCritic(settings.protocol)
    rubric = rubric_for(data, targets, settings, lm=current_lm()).rubric
    inferred = ActiveCritic(settings.protocol, rubric=rubric)
    work = Tuning(
        settings=settings,
        parts=parts,
        targets=targets.compared,
        lm=current_lm(),
        concurrency=CONCURRENCY,
        on_progress=None,
    )
    started = better_start(work, bare, inferred)
    search = RandomDemonstrationSearch(
        n_demonstrations=settings.n_demonstrations,
        n_trials=settings.n_rounds,
        seed=seed,
        confirm=work.confirm,
    )
    pool, selection = examples_of(parts.pool), examples_of(parts.selection)
    shown = search.compile(started, trainset=pool, valset=selection)
    tuning = [one for rows in parts.tuning for one in examples_of(rows)]
    weighed, lexical = (
        FitAggregation(lexical=allowed, seed=seed).compile(shown, trainset=tuning)
        for allowed in (False, True)
    )
    seconds = time.perf_counter() - start
    always = lexical
    if started is not inferred:
        always = search.compile(inferred, trainset=pool, valset=selection)
        fit = FitAggregation(lexical=True, seed=seed)
        always = fit.compile(always, trainset=tuning)
    judges = dict(zip(STAGES, (bare, started, shown, weighed, lexical, always), strict=True))
    demonstrations = shown.protocol.demonstrations.values()
    return Run(
        human=parts.heldout.human,
        sources=parts.heldout.groups.astype(int),
        stages={stage: scores(judge, parts.heldout) for stage, judge in judges.items()},
        random=[
            scores(judge, parts.heldout)
            for judge in with_random_demonstrations(started, parts, settings)
        ],
        n_shown=max((len(several) for several in demonstrations), default=0),
        rubric=f"{rubric.task_type}: {', '.join(rubric.names)}",
        taken=started is inferred,
        seconds=seconds,
    )


def with_random_demonstrations(
    judge: Judge, parts: Parts, settings: CompileSettings
) -> Iterator[Judge]:
    """Yield judges with as many demonstrations as the search shows, drawn as it draws them."""
    assert parts.pool is not None
    pool = Pool(rows=parts.pool, runs=kept_runs(parts.pool, score_batch(judge, parts.pool.items)))
    rng = np.random.default_rng([settings.seed, 20])
    n = settings.n_demonstrations
    for _ in range(N_RANDOM):
        demonstrations = pool.draw(judge.protocol, n, int(rng.integers(n + 1)), rng)
        update = {"demonstrations": demonstrations}
        yield judge.with_protocol(judge.protocol.model_copy(update=update))


def scores(judge: Judge, rows: Rows) -> np.ndarray:
    """Return the judge's scores, nan where it gave none."""
    return rows.judged(score_batch(judge, rows.items), judge_scale=judge.scale).predicted


def mean_over_seeds(
    runs: Sequence[HeldOut], stage: str, counts: np.ndarray, statistic: Statistic = "q"
) -> np.ndarray:
    """Return the mean over seeds with each source drawn ``counts`` times, by resample."""
    values = []
    for run in runs:
        scored = ~np.isnan(run.stages[stage])
        rows = ScoredRows.of(
            run.human,
            run.stages[stage],
            sources=run.sources,
            systems=None,
            level="dataset",
            scored=scored,
        )
        # One resample of the set's sources is the same for every seed.
        here, codes = np.unique(run.sources[scored], return_inverse=True)
        rows = replace(rows, sources=codes, n_sources=len(here))
        values.append(of_counts(rows, statistic, "dataset")(counts[:, here]))
    return np.mean(values, axis=0)


def gains(
    runs: Sequence[HeldOut],
    pairs: Sequence[tuple[str, str]],
    statistic: Statistic = "q",
) -> list[tuple[float, float, float]]:
    """Return the gain of each stage over another one, with its 95 % interval."""
    n_sources = 1 + max(int(run.sources.max()) for run in runs)
    rng = np.random.default_rng(0)
    present = np.unique(np.concatenate([run.sources for run in runs]))
    drawn = rng.choice(present, size=(N_RESAMPLES, len(present)))
    counts = np.asarray([np.bincount(one, minlength=n_sources) for one in drawn], dtype=float)
    resampled = {
        stage: mean_over_seeds(runs, stage, counts, statistic)
        for stage in dict.fromkeys(one for pair in pairs for one in pair)
    }
    found = []
    for stage, base in pairs:
        value = np.mean(
            [run.agreement(stage, statistic) - run.agreement(base, statistic) for run in runs]
        )
        change = resampled[stage] - resampled[base]
        low, high = np.nanquantile(change, [0.025, 0.975])
        found.append((float(value), float(low), float(high)))
    return found


def row_of(name: str, runs: Sequence[Run]) -> Row:
    """Return the row of a set."""
    later = [(stage, STAGES[0]) for stage in STAGES[1:]]
    *changes, always = gains(runs, [*later, (ALWAYS, FINAL)])
    row: Row = {"set": name}
    row |= {stage: np.mean([run.agreement(stage, "q") for run in runs]) for stage in STAGES}
    row |= {f"gain, {stage}": change for (stage, _), change in zip(later, changes, strict=True)}
    row["inferred was taken"] = f"{sum(run.taken for run in runs)} of {len(runs)}"
    row["if always inferred"] = always
    of_rows = partial(agreement, statistic="q", level="dataset")
    by_seed = [
        np.mean([of_rows(run.human, one, sources=run.sources).value for one in run.random])
        for run in runs
    ]
    row["random demonstrations"] = np.mean(by_seed)
    row["final Pearson"] = np.mean([run.agreement(FINAL, "pearson") for run in runs])
    row["final Spearman"] = np.mean([run.agreement(FINAL, "spearman") for run in runs])
    row["seconds"] = np.mean([run.seconds for run in runs])
    return row


GAINS = (*(f"gain, {stage}" for stage in STAGES[1:]), "if always inferred")


@benchmark(
    quick={"sets": ("topical_chat",), "seeds": "0", "sources": 12},
    formats=dict.fromkeys(GAINS, "+.3f") | {"seconds": ".0f"},
)
def stages(
    *,
    seeds: str = "100-104",
    sets: tuple[str, ...] = tuple(TARGETS),
    processes: int = 1,
    sources: Annotated[int | None, "of each set, or all"] = None,
) -> Iterator[Row]:
    """What each stage of compiling adds to agreement with people, on six rated sets, offline."""
    numbers = seeds_of(seeds)
    found = spread(staged, [(name, n, sources) for name in sets for n in numbers], processes)
    rubrics: list[Row] = []
    for name in sets:
        runs = [next(found) for _ in numbers]
        yield row_of(name, runs)
        rubrics += [
            {"set": name, "seed": seed, "inferred": run.rubric, "taken": run.taken}
            for seed, run in zip(numbers, runs, strict=True)
        ]
    yield from rubrics
