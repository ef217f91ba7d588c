"""What the audits say of recorded judges on SummEval.

Needs a folder with ``summeval.jsonl.gz``, ``recorded/summeval_likert_llms.jsonl.gz`` and
``recorded/summeval_h2h_chatgpt.jsonl.gz``.

    python benchmarks/audits.py --data "$JUDGESMITH_DATA"
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from judgesmith.metrics import Estimate, length_bias
from judgesmith.metrics.audits import group_gaps, position_bias, scale_use

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
JUDGES = ("gpt-4-0314 rts", "gpt-3.5-turbo-0301 rts")


def records(path: Path) -> Iterator[dict]:
    """Yield the rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def shown(found: Estimate) -> str:
    """Return an estimate as text."""
    return f"{found.value:6.3f} [{found.low:6.3f}, {found.high:6.3f}]"


def main() -> None:
    """Audit and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of rated data")
    folder = parser.parse_args().data
    rng = np.random.default_rng(0)
    rated = {
        (row["source_id"], row["system_id"]): row for row in records(folder / "summeval.jsonl.gz")
    }
    scores: dict = {}
    for row in records(folder / "recorded" / "summeval_likert_llms.jsonl.gz"):
        key = row["source_id"], row["system_id"]
        kind = row["judge"], row["criterion"]
        scores.setdefault(kind, {})[key] = np.array(row["scores"], dtype=float)[0]
    for criterion in CRITERIA:
        for judge in JUDGES:
            given = scores[judge, criterion]
            sources = [source for source, _ in given]
            predicted = np.array(list(given.values()))
            human = np.array([np.mean(rated[key]["human"][criterion]) for key in given])
            one = np.array([rated[key]["human"][criterion][0] for key in given])
            words = [len(rated[key]["response"].split()) for key in given]
            print(f"\n{judge}, {criterion}")
            length = length_bias(human, predicted, words, sources=sources, rng=rng)
            print("  length: slope        ", shown(length.slope))
            print("          rank slope   ", shown(length.rank_slope))
            print("          correlation  ", shown(length.correlation))
            print("          of people    ", shown(length.human_correlation))
            for name, each in (("judge", predicted), ("one rater", one)):
                use = scale_use(each, levels=range(1, 6), sources=sources)
                ties, within = use.tied_pairs.value, use.tied_pairs_within.value
                print(
                    f"  scale, {name:9}: most used {use.most_used:g} in"
                    f" {use.most_used_share.value:.2f}, ties {ties:.2f} (within sources"
                    f" {within:.2f}), entropy {use.entropy.value:.2f},"
                    f" ceiling {use.ceiling_share.value:.2f}"
                )
            groups = [source.split("-")[0] for source in sources]
            gaps = group_gaps(human, predicted, groups, sources=sources, rng=rng)
            print(f"  newspapers: largest gap {shown(gaps.largest)}, p = {gaps.p_value:.2f}")
    answers: dict = {}
    for row in records(folder / "recorded" / "summeval_h2h_chatgpt.jsonl.gz"):
        kind = row["criterion"], row["judge"].endswith("order swapped")
        answers.setdefault(kind, {})[row["source_id"], row["system_id"]] = row["scores"][0]
    for criterion in CRITERIA:
        in_order, swapped = answers[criterion, False], answers[criterion, True]
        place = position_bias(
            list(in_order.values()),
            [swapped[key] for key in in_order],
            sources=[source for source, _ in in_order],
            rng=rng,
        )
        print(f"\ngpt-3.5-turbo-0301 head-to-head, {criterion}")
        print("  position: bias         ", shown(place.bias))
        print("            of changed   ", shown(place.among_inconsistent))
        print("            changed      ", shown(place.inconsistent))


if __name__ == "__main__":
    main()
