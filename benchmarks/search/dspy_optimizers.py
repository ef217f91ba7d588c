"""DSPy's own optimizers and ours on the same judge, the same rows and the same offline model.

The judge is a vanilla one, a single question per text. About 400 rows are there to learn from and
100 to choose by, drawn by source; all others, up to 1,000, are held out (small sets are shared out
in the same manner: see ``drawn``). DSPy's optimizers get what their users would write: examples
with whole points from 0 to 100, and one minus the share of the range that an answer is off as the
score of an item. Where they want a model to write instructions, a stand-in answers a fixed
sentence: the offline model reads no instructions, so that no sentence could gain anything, and the
calls count. Ours get the same rows, and Q as their objective.

Every run is one line of a results file, and runs that are there are not done again.

The tables are held-out Q by set and calls, means over seeds; and by how much Q of each of ours is
larger than that of each of DSPy's, with a 95 % interval that draws the sources held out anew within
every seed and averages over seeds; in the last rows, over the sets as well. What other ratings to
learn from would do is in the seeds, not in the interval.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import logging
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

import dspy
import numpy as np

from benchmarks.harness import Row, benchmark, kept
from benchmarks.harness import rated as data_set
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.optimizers import (
    Agreement,
    PredictionTable,
    ProtocolSearch,
    RandomDemonstrationSearch,
    SuccessiveHalving,
    parse_objective,
    rated_example,
)
from judgesmith.optimizers.objectives.base import numbered_sources
from judgesmith.optimizers.objectives.combining import WeightedSum
from judgesmith.optimizers.rows import rows_from
from judgesmith.optimizers.space.demonstrations import CHOSEN, DRAW, ORDER, N
from judgesmith.programs import ActiveCritic, Judge, score_batch
from judgesmith.programs.lm import LMClient, ModelAnswer, lm_client_of, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.space import Space

SETS = ["summeval", "topical_chat", "sfres", "wiki_da"]
N_TRAIN, N_VALID, N_HELD = 400, 100, 1000
CEILING = 490
"""A third of the calls of DSPy's random search: what ours may ask."""

RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class Task:
    """The rows of one set and seed, as both sides want them."""

    train: list[dspy.Example]
    valid: list[dspy.Example]
    held: list[dspy.Example]

    @staticmethod
    def plain(examples: list[dspy.Example]) -> list[dspy.Example]:
        """Return examples as a user of DSPy would write them for this judge."""
        return [
            dspy.Example(
                source=one.source,
                context=one.context,
                response=one.response,
                score=round(100 * one.scale.fraction(one.score)),
            ).with_inputs("source", "context", "response")
            for one in examples
        ]


@functools.cache
def rated(name: str) -> tuple[dspy.Example, ...]:
    """Return the rated rows of a set."""
    data = data_set(name)
    whole = chosen_targets(data, CompileSettings()).whole
    return tuple(
        rated_example(data[i], whole.values[i], whole.scale, group=int(data.groups[i]))
        for i in whole.rated.tolist()
    )


@functools.cache
def drawn(name: str, seed: int) -> Task:
    """Return the rows of a set: whole sources to learn from, to choose by, and held out.

    Sets with fewer than 1,000 rows give 45 % to learn from; all give 100 rows to choose by.
    """
    examples = rated(name)
    n_train = min(N_TRAIN, round(0.45 * len(examples)))
    known = np.unique([one.group for one in examples])
    groups = np.random.default_rng([seed, 20]).permutation(known)
    parts: list[list[dspy.Example]] = [[], [], []]
    for group in groups.tolist():
        part = 0 if len(parts[0]) < n_train else 1 if len(parts[1]) < N_VALID else 2
        parts[part] += [one for one in examples if one.group == group]
    return Task(train=parts[0][:n_train], valid=parts[1][:N_VALID], held=parts[2][:N_HELD])


def metric(example: dspy.Example, answer: Any, *_: Any) -> float:
    """Return the score of one item, as it is usually written."""
    return 0.0 if answer.score is None else 1.0 - abs(answer.score - example.score) / 100.0


class StandIn:
    """Answers any question of DSPy's with one sentence per field."""

    endpoint = "stand-in"
    sentence = "Grade the overall quality of the response as careful readers would."

    def answer(self, request: Any) -> ModelAnswer:
        """Answer in the layout that is asked for."""
        told = "\n".join(one.text for one in request.prefix.messages) + request.user
        asked = told.rpartition("Respond with")[2]
        names = re.findall(r"\[\[ ## (\w+) ## \]\]", asked)
        if names:
            fields = [f"[[ ## {name} ## ]]\n{self.sentence}" for name in names[:-1]]
            text = "\n\n".join([*fields, "[[ ## completed ## ]]"])
        else:
            text = json.dumps(dict.fromkeys(re.findall(r"`(\w+)`", asked), self.sentence))
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def stand_in() -> dspy.LM:
    """Return the stand-in as a model of DSPy."""
    return ClientLM.over(LMClient(StandIn(), ledger=None), "stand-in", recipe={})


@contextlib.contextmanager
def silence() -> Any:
    """Keep DSPy from printing."""
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


def theirs(make: Callable[[dspy.LM, int], Any]) -> Callable[..., tuple[Judge, int]]:
    """Return what runs an optimizer of DSPy's."""

    def run(task: Task, seed: int) -> tuple[Judge, int]:
        task_lm, writer = model(ledger=None), stand_in()
        random.seed(seed)
        train = Task.plain(task.train)
        random.Random(seed).shuffle(train)
        with silence(), dspy.context(lm=task_lm, num_threads=1):
            best = make(writer, seed).compile(
                ActiveCritic(variant="vanilla"), trainset=train, valset=Task.plain(task.valid)
            )
        calls = lm_client_of(task_lm).usage.calls + lm_client_of(writer).usage.calls
        return ActiveCritic(best.protocol), calls

    return run


def ours(make: Callable[[dspy.LM, int], Any], ceiling: int | None) -> Callable[..., Any]:
    """Return what runs an optimizer of ours, under a ceiling on calls."""

    def run(task: Task, seed: int) -> tuple[Judge, int]:
        lm = model(ledger=None, max_calls=ceiling)
        best = make(lm, seed).compile(
            ActiveCritic(variant="vanilla"), trainset=task.train, valset=task.valid
        )
        return best, lm_client_of(lm).usage.calls

    return run


def sets_of(n: int, *, n_demo_sets: int) -> Space:
    """Return the space of sets of ``n`` demonstrations of a vanilla judge, and nothing else."""
    options = {N: [str(n)], CHOSEN: ["random", "stratified"], DRAW: map(str, range(n_demo_sets))}
    options[ORDER] = ["drawn"]
    return Space.model_validate(
        {
            "choices": [
                {"name": name, "options": [{"id": one} for one in ids]}
                for name, ids in options.items()
            ]
        }
    )


DEMOS = {"max_bootstrapped_demos": 4, "max_labeled_demos": 16}
OF_DSPY = {
    "RandomSearch(11)": theirs(
        lambda writer, seed: dspy.BootstrapFewShotWithRandomSearch(
            metric, num_candidate_programs=11, num_threads=1, **DEMOS
        )
    ),
    "MIPROv2 light": theirs(
        lambda writer, seed: dspy.MIPROv2(
            metric, prompt_model=writer, auto="light", seed=seed + 1, num_threads=1
        )
    ),
    "GEPA light": theirs(
        lambda writer, seed: dspy.GEPA(
            metric, reflection_lm=writer, auto="light", seed=seed, num_threads=1
        )
    ),
}
OURS = {
    "demonstrations, 3": ours(
        lambda lm, seed: RandomDemonstrationSearch(lm=lm, seed=seed, confirm=None), ceiling=CEILING
    ),
    "demonstrations, 16": ours(
        lambda lm, seed: RandomDemonstrationSearch(
            lm=lm, seed=seed, n_demonstrations=16, confirm=None
        ),
        ceiling=CEILING,
    ),
    "protocol, same question": ours(
        lambda lm, seed: ProtocolSearch(
            lm=lm,
            seed=seed,
            n_trials=100,
            n_demonstrations=16,
            fixed=("variant", "samples"),
            confirm=None,
        ),
        ceiling=CEILING,
    ),
    "sets by halving": ours(
        lambda lm, seed: ProtocolSearch(
            lm=lm,
            seed=seed,
            space=sets_of(16, n_demo_sets=6),
            n_trials=9,
            batch=9,
            n_demonstrations=16,
            elimination=SuccessiveHalving(),
            confirm=None,
        ),
        ceiling=CEILING,
    ),
    "protocol, no examples": ours(
        lambda lm, seed: ProtocolSearch(
            lm=lm,
            seed=seed,
            n_trials=100,
            n_demonstrations=0,
            fixed=("samples",),
            confirm=None,
        ),
        ceiling=CEILING,
    ),
}
WAYS = {"baseline": lambda task, seed: (ActiveCritic(variant="vanilla"), 0), **OF_DSPY, **OURS}


def result(name: str, seed: int, way: str) -> dict[str, Any]:
    """Return one run, with what its judge says of the rows held out, ready for JSON."""
    task = drawn(name, seed)
    started = time.perf_counter()
    judge, calls = WAYS[way](task, seed)
    seconds = round(time.perf_counter() - started, 1)
    held = rows_from(task.held)
    judgements = score_batch(judge, held.items, lm=model(ledger=None))
    table = held.judged(judgements, judge_scale=judge.scale)
    shown = max((len(several) for several in judge.protocol.demonstrations.values()), default=0)
    return {
        "rows": [len(task.train), len(task.valid), len(task.held)],
        "q": parse_objective("q").value(table),
        "calls": calls,
        "shown": shown,
        "variant": judge.protocol.variant,
        "seconds": seconds,
        "unscored": table.n_unscored,
        "scores": [None if np.isnan(one) else round(one, 4) for one in table.predicted.tolist()],
    }


def drawn_anew(run: dict[str, Any]) -> np.ndarray:
    """Return Q of a run's judge on the rows held out, then on resamples of their sources.

    Equal sets and seeds draw equal sources, so that two judges can be compared draw by draw.
    """
    rows = rows_from(drawn(run["set"], run["seed"]).held)
    table = PredictionTable(
        predicted=np.asarray(run["scores"], float),
        human=rows.human,
        sources=rows.groups,
        systems=rows.systems,
    )
    sources, n_sources = numbered_sources(rows.groups)
    rng = np.random.default_rng([run["seed"], 21, *run["set"].encode()])
    counts = rng.multinomial(n_sources, np.full(n_sources, 1 / n_sources), size=RESAMPLES)
    found = WeightedSum(((1.0, Agreement("q")),)).counted(table, sources, n_sources)
    return np.append(found.value, found.of_counts(counts.astype(float)))


def difference(first: list[np.ndarray], second: list[np.ndarray]) -> np.ndarray:
    """Return by how much one way is better, meaned over seeds, then on resamples."""
    return np.mean([one - other for one, other in zip(first, second, strict=True)], axis=0)


def written(apart: np.ndarray) -> tuple[float, float, float]:
    """Return a difference with its interval."""
    low, high = np.nanquantile(apart[1:], [0.025, 0.975])
    return apart[0], low, high


@benchmark(
    quick={"sets": ("topical_chat",), "seeds": 1, "ways": ("baseline",)},
    formats={f"less {way}": "+.3f" for way in OF_DSPY}
    | {"calls": ",.0f", "shown": ".1f", "seconds": ".1f"},
)
def dspy_optimizers(
    *,
    sets: tuple[str, ...] = tuple(SETS),
    ways: tuple[str, ...] = tuple(WAYS),
    seeds: Annotated[int, "how many, from 0"] = 5,
    results: Annotated[str | None, "file of runs that are not done again"] = None,
) -> Iterator[Row]:
    """DSPy's own optimizers and ours on the same judge, the same rows and the same model."""
    done: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, seed, way in itertools.product(sets, range(seeds), ways):
        key = {"set": name, "seed": seed, "way": way}
        found = kept(results, key, lambda key=key: result(*key.values()))
        done.setdefault((name, way), []).append(found)
    for way in ways:
        row: Row = {"optimizer": way}
        row |= {name: fmean(one["q"] for one in done[name, way]) for name in sets}
        runs = [one for name in sets for one in done[name, way]]
        yield row | {key: fmean(one[key] for one in runs) for key in ("calls", "shown", "seconds")}
    others = [way for way in ways if way in OF_DSPY]
    over: dict[str, list[list[np.ndarray]]] = {way: [] for way in ways if way in OURS}
    for name in sets:
        every = {way: [drawn_anew(one) for one in done[name, way]] for way in ways}
        for way, of_sets in over.items():
            of_sets.append([difference(every[way], every[other]) for other in others])
            yield _over(name, way, others, of_sets[-1])
    for way, of_sets in over.items():
        yield _over("mean", way, others, np.mean(of_sets, axis=0))


def _over(name: str, way: str, others: list[str], found: Any) -> Row:
    """Return by how much one way is better than each of DSPy's."""
    more = {f"less {other}": written(one) for other, one in zip(others, found, strict=True)}
    return {"set": name, "ours": way} | more
