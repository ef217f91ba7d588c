"""How long it takes to change texts by rule, in every way there is.

Texts of the length of SummEval's
references in all ways, in a process per core, and prints seconds and texts per second.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from random import Random
from typing import Annotated

from benchmarks.harness import Row, benchmark
from judgesmith.programs.perturbing import PERTURBATIONS, Donors, perturb
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbed

NAMES = "Townsend Merson Burnley England Italy Manchester Turin Tottenham Roy Hodgson"
WORDS = (
    "the a of and to in that was is for on he said with his has it not be after at have from but "
    "match goal report week team won years found city people police new first told made under"
)
"""Words of which sentences are made, with about the lengths of words in news."""


def texts(n: int, *, seed: int = 0) -> list[RatedItem]:
    """Return items whose responses have four sentences of about 15 words: about 340 characters."""
    rng = Random(seed)
    names = NAMES.split()
    words = [*WORDS.split(), "presumably", "afterwards", "government", "performance"]

    def sentence() -> str:
        chosen = [rng.choice(words) for _ in range(13)] + [
            rng.choice(names),
            str(rng.randrange(99)),
        ]
        rng.shuffle(chosen)
        return f"{chosen[0].capitalize()} {' '.join(chosen[1:])}."

    def article() -> str:
        return " ".join(sentence() for _ in range(25))

    return [
        RatedItem(
            source_id=str(place),
            system_id="reference",
            source=article(),
            response=" ".join(sentence() for _ in range(4)),
        )
        for place in range(n)
    ]


def changed(items: list[RatedItem], donors: Donors) -> int:
    """Change all items in all ways, and return how many versions there are."""
    ways = tuple(PERTURBATIONS.values())
    made = (perturb(item, way, donors=donors, seed=0) for item in items for way in ways)
    return sum(isinstance(one, Perturbed) for one in made)


@benchmark(
    quick={"n": 4}, formats=dict.fromkeys(("seconds", "s of CPU"), ".1f") | {"texts/s": ".0f"}
)
def perturbing(*, n: Annotated[int, "texts"] = 10_000) -> Iterator[Row]:
    """How long it takes to change texts by rule, in every way there is."""
    items = texts(n)
    donors = Donors(items[:1000])
    cores = os.cpu_count() or 1
    parts = [items[core::cores] for core in range(cores)]
    began, before = time.perf_counter(), os.times()
    with ProcessPoolExecutor(cores) as pool:
        n_versions = sum(pool.map(changed, parts, repeat(donors)))
    seconds, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system
    yield {
        "texts": n,
        "characters": round(sum(len(item.response) for item in items) / n),
        "changes": len(PERTURBATIONS),
        "versions": n_versions,
        "processes": cores,
        "seconds": seconds,
        "s of CPU": used - before.children_user - before.children_system,
        "texts/s": n / seconds,
    }
