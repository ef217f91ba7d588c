"""How long it takes to change texts by rule, in every way there is.

``python benchmarks/perturbing.py [N]`` changes N texts (10,000) of the length of SummEval's
references in all ways, in a process per core, and prints seconds and texts per second.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from random import Random

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


def main(n: int = 10_000) -> None:
    """Print how long it takes."""
    items = texts(n)
    donors = Donors(items[:1000])
    cores = os.cpu_count() or 1
    parts = [items[core::cores] for core in range(cores)]
    mean = sum(len(item.response) for item in items) / n
    began = time.perf_counter()
    with ProcessPoolExecutor(cores) as pool:
        n_versions = sum(pool.map(changed, parts, repeat(donors)))
    seconds = time.perf_counter() - began
    used = os.times().children_user + os.times().children_system
    print(
        f"{n} texts of {mean:.0f} characters x {len(PERTURBATIONS)} changes: {n_versions} versions "
        f"in {seconds:.1f} s by {cores} processes ({used:.1f} s of CPU), {n / seconds:.0f} texts/s"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
