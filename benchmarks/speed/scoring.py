"""What judging costs on top of the lexical features, and whether it stays flat and linear.

Three questions in one run. How many milliseconds does a judged item take above its bare
features, offline, with 0 and 8 demonstrations? How does the time per row change from a short to
a long file? How much memory does the long file take?
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from benchmarks.harness import ROOT, Row, benchmark
from judgesmith import ActiveCritic, ActiveCriticConfig, RatedItem, iter_scores, model, score_batch
from judgesmith.programs.features import lexical_features
from judgesmith.signatures import Demonstration

WORDS = (
    "the council bridge river opened closed report winter market school people train early "
    "night new small large road repair season member plan cost water field garden north south "
    "letter morning number second house light paper glass stone table window answer"
)


def texts(n: int, *, salt: int) -> Iterator[RatedItem]:
    """Yield ``n`` items: a source of 350 words for every 16 responses of 60."""
    for number in range(n):
        group = number // 16
        source = _words(350, group * 7919 + salt)
        yield RatedItem(
            source_id=str(group), source=source, response=_words(60, number * 104729 + salt)
        )


def overhead(n: int, n_demonstrations: int) -> tuple[float, float]:
    """Return milliseconds per item for bare features and for a judgement."""
    shown = tuple(
        Demonstration(
            inputs={"source": item.source, "context": None, "response": item.response},
            outputs={"score": 10 * place},
        )
        for place, item in enumerate(texts(n_demonstrations, salt=-1))
    )
    protocol = ActiveCriticConfig(demonstrations={"overall": shown} if shown else {})
    lm = model("offline", ledger=None)
    judge = ActiveCritic(protocol)
    score_batch(judge, list(texts(32, salt=5)), lm=lm)
    bare, judged = [], []
    for round_number in range(3):
        items = list(texts(n, salt=1000 + round_number))
        began = time.perf_counter()
        for item in items:
            lexical_features(item.source, item.context, item.response)
        bare.append(time.perf_counter() - began)
        items = list(texts(n, salt=2000 + round_number))
        began = time.perf_counter()
        score_batch(judge, items, lm=lm)
        judged.append(time.perf_counter() - began)
    return 1000 * min(bare) / n, 1000 * min(judged) / n


def stream(n: int) -> dict[str, float]:
    """Judge ``n`` rows one after the other and return seconds and megabytes at most."""
    with tempfile.TemporaryDirectory() as folder:
        lm = model("offline", ledger=Path(folder) / "ledger.sqlite")
        began = time.perf_counter()
        n_scored = sum(
            one.score is not None for _, one in iter_scores(ActiveCritic(), texts(n, salt=0), lm=lm)
        )
        seconds = time.perf_counter() - began
    assert n_scored == n
    # Kilobytes on Linux, bytes on macOS.
    unit = 1024 if sys.platform == "darwin" else 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit / 1024
    return {"seconds": seconds, "megabytes": peak}


def _words(n: int, seed: int) -> str:
    known = WORDS.split()
    words = []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2**31
        words.append(known[(seed >> 8) % len(known)])
        if seed % 13 == 0:
            words[-1] = words[-1].capitalize() + "."
    return " ".join(words)


STREAM = "import json; from benchmarks.speed.scoring import stream; print(json.dumps(stream({})))"


@benchmark(
    quick={"rows": 10, "items": 10},
    formats={"features": ".2f", "judged": ".2f", "above the features": ".2f"}
    | {"seconds": ".0f", "ms per row": ".2f", "MB at most": ".0f"},
)
def scoring(
    *,
    rows: Annotated[int, "rows of the long file"] = 200_000,
    items: Annotated[int, "with and without demonstrations"] = 800,
) -> Iterator[Row]:
    """What judging costs on top of the lexical features, and whether it stays flat and linear."""
    for n_demonstrations in (0, 8):
        bare, judged = overhead(items, n_demonstrations)
        row = {"ms per item, demonstrations": n_demonstrations, "features": bare, "judged": judged}
        yield row | {"above the features": judged - bare}
    # Each length in a process of its own, so that the peak of memory is its own.
    for n in (rows // 10, rows):
        command = [sys.executable, "-c", STREAM.format(n)]
        done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        found = json.loads(done.stdout)
        row = {"rows": n, "seconds": found["seconds"], "ms per row": 1000 * found["seconds"] / n}
        yield row | {"MB at most": found["megabytes"]}
