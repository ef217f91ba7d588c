"""Searches on simulated models behind HTTP: expected gain, calls and harm, ours beside DSPy's.

Each run learns from 75 to 350 rated rows of one set with one simulated model, served on loopback.
Gains are of the *expected* Q of the judge that is found, on new texts with the ratings of drawn
ones, over the judge that the search started from: ours from the default judge, DSPy's from a
program that asks one question. Judges of both are compared by their expected Q, too.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import fmean
from typing import Annotated, Any

import dspy
import numpy as np

from benchmarks.harness import Row, benchmark, kept, seeds_of
from benchmarks.simulated_endpoint.effects import Arrangement
from benchmarks.simulated_endpoint.runs import SETS, Task
from benchmarks.simulated_endpoint.serving import served, simulated_lm
from judgesmith.metrics import q
from judgesmith.optimizers import EffectSearch, RandomDemonstrationSearch
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import lm_client_of, model

HARM = 0.03


class Grade(dspy.Signature):
    """Grade the quality of the response to the source."""

    source: str = dspy.InputField()
    response: str = dspy.InputField()
    score: int = dspy.OutputField(desc="a whole number from 0 (of no use) to 100 (perfect)")


def metric(example: dspy.Example, answer: Any, *_: Any) -> float:
    """Return the score of one answer as it is usually written."""
    try:
        return 1.0 - abs(float(answer.score) - example.score) / 100.0
    except (AttributeError, TypeError, ValueError):
        return 0.0


DEMOS = {"max_bootstrapped_demos": 4, "max_labeled_demos": 4}
OF_DSPY: Mapping[str, Callable[[dspy.LM, int], Any]] = {
    "DSPy RandomSearch": lambda lm, seed: dspy.BootstrapFewShotWithRandomSearch(
        metric, num_candidate_programs=8, num_threads=1, **DEMOS
    ),
    "DSPy MIPROv2 light": lambda lm, seed: dspy.MIPROv2(
        metric, prompt_model=lm, auto="light", seed=seed + 1, num_threads=1
    ),
    "DSPy GEPA light": lambda lm, seed: dspy.GEPA(
        metric, reflection_lm=lm, auto="light", seed=seed, num_threads=1
    ),
}
OURS: Mapping[str, Callable[..., EffectSearch | RandomDemonstrationSearch]] = {
    "light": partial(EffectSearch, effort="light"),
    "medium": partial(EffectSearch, effort="medium"),
    "heavy": partial(EffectSearch, effort="heavy"),
    "light, 4 calls an item": partial(EffectSearch, effort="light", calls_per_item=4),
    "medium, 4 calls an item": partial(EffectSearch, effort="medium", calls_per_item=4),
    "heavy, 4 calls an item": partial(EffectSearch, effort="heavy", calls_per_item=4),
    "random, 11 sets": partial(RandomDemonstrationSearch, n_demonstrations=3, n_trials=11),
}


@contextlib.contextmanager
def asked(task: Task, *, http: bool) -> Iterator[dspy.LM]:
    """Yield the simulated model, over HTTP or in this process; its answers are the same."""
    if not http:
        yield simulated_lm(task.world)
        return
    with served(task.world) as address:
        yield model("openai/simulated", api_base=address, ledger=None)


def ours(task: Task, way: str, seed: int, *, http: bool) -> dict[str, Any]:
    """Run a search of ours."""
    with asked(task, http=http) as lm:
        search = OURS[way](lm=lm, seed=seed)
        judge = search.compile(ActiveCritic(), trainset=task.examples)
        client = lm_client_of(lm)
        calls = 0 if client is None else client.usage.calls
    before = task.expected(ActiveCritic())
    by_effects = isinstance(search, EffectSearch)
    stays = search.views_ == (0,) if by_effects else not search.taken_
    after = before if stays else task.expected(judge)
    low, high = (np.nan, np.nan)
    if by_effects and search.gain_ is not None:
        low, high = search.gain_.low, search.gain_.high
    return {
        "before": before,
        "after": after,
        "calls": calls,
        "most": search.n_calls_at_most_ if by_effects else calls,
        "learning": len(task.examples),
        "changed": not stays,
        "covered": bool(low <= after - before <= high) if low == low else None,
    }


def theirs(task: Task, way: str, seed: int, *, http: bool) -> dict[str, Any]:
    """Run an optimizer of DSPy's, with what its users write."""
    examples = [
        dspy.Example(
            source=one.source,
            response=one.response,
            score=round(100 * one.scale.fraction(one.score)),
        ).with_inputs("source", "response")
        for one in task.examples
    ]
    random.Random(seed).shuffle(examples)
    random.seed(seed)
    start = dspy.ChainOfThought(Grade)
    with asked(task, http=http) as lm, _quiet():
        with dspy.context(lm=lm, num_threads=1, max_errors=10_000):
            half = len(examples) // 2
            found = OF_DSPY[way](lm, seed).compile(
                start, trainset=examples[:half], valset=examples[half:]
            )
        client = lm_client_of(lm)
        calls = 0 if client is None else client.usage.calls
        before, after = expected_of_program(task, start), expected_of_program(task, found)
    return {
        "before": before,
        "after": after,
        "calls": calls,
        "most": calls,
        "learning": len(examples),
        "changed": True,
        "covered": None,
    }


def expected_of_program(task: Task, program: Any) -> float:
    """Return Q of a program of DSPy's on the new texts, without HTTP."""
    scores = []
    with dspy.context(lm=simulated_lm(task.world)):
        for item in task.fresh:
            try:
                scores.append(float(program(source=item.source, response=item.response).score))
            except Exception:
                scores.append(np.nan)
    column = np.asarray(scores)
    scored = ~np.isnan(column)
    return float(q(task.human[scored], column[scored]))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


def result(key: Mapping[str, Any], *, http: bool) -> dict[str, Any]:
    """Return one run, ready for JSON."""
    seed, way = key["seed"], key["way"]
    task = Task.drawn(
        key["set"],
        seed,
        is_null=key["null"],
        n_fresh=key["fresh"],
        effects=key.get("effects", "published"),
    )
    started = time.perf_counter()
    found = (theirs if way in OF_DSPY else ours)(task, way, seed, http=http)
    return {**found, "seconds": round(time.perf_counter() - started, 1)}


@benchmark(
    quick={"sets": ("topical_chat",), "seeds": "0", "ways": ("light",), "fresh": 50}
    | {"http": False},
    formats=dict.fromkeys(("gain", "cross-fitted gain covers"), "+.3f")
    | dict.fromkeys(("calls", "runs"), ".0f")
    | dict.fromkeys(("times the baseline", "share of estimate"), ".2f")
    | dict.fromkeys(("harm", "changed", "covered"), ".0%"),
)
def search(
    *,
    sets: tuple[str, ...] = SETS,
    ways: tuple[str, ...] = (*OURS, *OF_DSPY),
    seeds: Annotated[str, "of the models"] = "100-109",
    null: Annotated[bool, "models to which no prompt matters"] = False,
    effects: Annotated[Arrangement, "of options: as published, or given to others"] = "published",
    fresh: Annotated[int, "new texts that judges are compared on"] = 5000,
    http: Annotated[bool, "or in this process, with the same answers"] = True,
    results: Annotated[str | None, "file of runs that are not done again"] = None,
) -> Iterator[Row]:
    """Expected gain, calls and harm of searches on simulated models, ours beside DSPy's."""
    keys = list(itertools.product(seeds_of(seeds), sets))
    for way in ways:
        runs = []
        for seed, name in keys:
            key = {"set": name, "seed": seed, "way": way, "null": null, "fresh": fresh}
            key |= {} if effects == "published" else {"effects": effects}
            runs.append(kept(results, key, lambda key=key: result(key, http=http)))
        yield summary(way, runs)


def summary(way: str, runs: list[dict[str, Any]]) -> Row:
    """Return the row of one search."""
    gains = [one["after"] - one["before"] for one in runs]
    error = 1.96 * float(np.std(gains, ddof=1)) / len(gains) ** 0.5 if len(gains) > 1 else np.nan
    mean = fmean(gains)
    covered = [one["covered"] for one in runs if one["covered"] is not None and one["changed"]]
    return {
        "search": way,
        "runs": len(runs),
        "start Q": fmean(one["before"] for one in runs),
        "gain": (mean, mean - error, mean + error),
        "reached Q": fmean(one["after"] for one in runs),
        "calls": fmean(one["calls"] for one in runs),
        "times the baseline": fmean(
            one["calls"] / (one["learning"] * (1 if way in OF_DSPY else 2)) for one in runs
        ),
        "share of estimate": max(one["calls"] / one["most"] for one in runs),
        "harm": fmean(gain < -HARM for gain in gains),
        "changed": fmean(one["changed"] for one in runs),
        "covered": fmean(covered) if covered else None,
    }
