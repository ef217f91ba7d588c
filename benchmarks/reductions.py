"""What twenty answers to a question come to, on file: mean, median and mode beside each other.

``python benchmarks/reductions.py`` reads ``recorded/topical_chat_chatgpt_20samples`` below
``$JUDGESMITH_DATA``: seven forms of a prompt, four criteria. It prints, for every form, the
agreement of the mean averaged over the criteria, by how much median and mode agree better or
worse, and in how many of the criteria the interval of that difference leaves out zero.
"""

import argparse
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from judgesmith.metrics import PairedEstimate, agreement_difference
from judgesmith.programs.judging.scoring import Reduction, one_of

CRITERIA = ("naturalness", "coherence", "engagingness", "groundedness")
OTHERS: tuple[Reduction, ...] = ("median", "mode")
RECORDED = "topical_chat_chatgpt_20samples"


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def differences(
    own: list[dict[str, Any]], people: dict[tuple[str, str], Any], reduction: Reduction, level: Any
) -> Iterator[PairedEstimate]:
    """Yield, by criterion, how much better a reduction agrees than the mean."""
    for criterion in CRITERIA:
        rows = [row for row in own if row["criterion"] == criterion]
        given = [[one for one in row["scores"] if one is not None] for row in rows]
        kept = [place for place, scores in enumerate(given) if scores]
        human = [fmean(people[rows[k]["source_id"], rows[k]["system_id"]][criterion]) for k in kept]
        yield agreement_difference(
            human,
            [one_of(given[k], reduction) for k in kept],
            [one_of(given[k], "mean") for k in kept],
            sources=[rows[k]["source_id"] for k in kept],
            statistic="kendall" if level == "sample" else "pearson",
            level=level,
            rng=np.random.default_rng(0),
        )


def main() -> None:
    """Read and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("JUDGESMITH_DATA"))
    folder = parser.parse_args().data
    if folder is None:
        parser.error("give --data, or set JUDGESMITH_DATA, to the folder of rated data sets")
    people = {
        (row["source_id"], row["system_id"]): row["human"]
        for row in records(folder, "topical_chat")
    }
    rows = records(folder / "recorded", RECORDED)
    for level, called in (("dataset", "Pearson over all"), ("sample", "tau-b within dialogues")):
        print(f"{called}, mean over four criteria")
        for judge in sorted({row["judge"] for row in rows}):
            own = [row for row in rows if row["judge"] == judge]
            said = []
            for reduction in OTHERS:
                found = list(differences(own, people, reduction, level))
                plain = sum(one.low > 0 or one.high < 0 for one in found)
                gain = fmean(one.value for one in found)
                said.append(f"{reduction} {gain:+.3f} ({plain} of {len(found)})")
            mean = fmean(one.second for one in found)
            print(f"  {judge:40} mean {mean:.3f}, {', '.join(said)}")


if __name__ == "__main__":
    main()
