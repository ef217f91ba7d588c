"""What recorded comparisons and scores say: agreement, both orders, strengths, ties.

ChatGPT choosing between SummEval summaries in both orders, two judges on PandaLM's test set, scores
with a tolerance chosen on half of the sources, and ChatGPT's ratings on neighbouring human means.

    python benchmarks/pairs_recorded.py --data $JUDGESMITH_DATA
"""

import argparse
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.metrics import (
    Estimate,
    bradley_terry,
    kendall,
    preference_agreement,
    tie_aware_accuracy_interval,
)
from judgesmith.metrics.pairs import (
    adjacent_accuracy,
    calibrate_ties,
    majority_preference,
    order_consistency,
    preferences_from_scores,
)

CALIBRATED = (
    ("topical_chat", "unieval", "UniEval", "naturalness", "naturalness"),
    ("topical_chat", "unieval", "UniEval", "groundedness", "groundedness"),
    ("opinsummeval", "opinsummeval_chatgpt", "metric:R1_F1", "any", "readability"),
    ("opinsummeval", "opinsummeval_chatgpt", "metric:R1_F1", "any", "self_coherence"),
)
Records = list[dict[str, Any]]


def records(folder: Path, name: str) -> Records:
    """Read one file."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def shown(found: Estimate) -> str:
    """Write an estimate."""
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def head_to_head(folder: Path) -> None:
    """Print agreement and order consistency of comparisons of SummEval summaries."""
    rows = records(folder / "recorded", "summeval_h2h_chatgpt")
    print("SummEval, gpt-3.5-turbo-0301, 1,100 comparisons each, in both orders")
    for criterion in sorted({row["criterion"] for row in rows}):
        pairs: dict[tuple[str, str], dict[str, Any]] = {}
        for row in rows:
            if row["criterion"] == criterion:
                pair = pairs.setdefault((row["source_id"], row["system_id"]), {})
                pair["swapped" if "swapped" in row["judge"] else "given"] = row["scores"][0]
                pair["people"] = row["human_means"]
        sources, names = zip(*pairs, strict=True)
        first, second = zip(*(name.split("|") for name in names), strict=True)
        answers = np.array([[pair["given"], pair["swapped"]] for pair in pairs.values()])
        people = preferences_from_scores(*np.array([pair["people"] for pair in pairs.values()]).T)
        orders = order_consistency(*answers.T, sources=sources)
        print(
            f"  {criterion:12} consistent {shown(orders.consistent)}  flipped "
            f"{shown(orders.flipped)}  first place {shown(orders.first_place)}"
        )
        both = majority_preference(answers)
        for name, given in (("one order", answers[:, 0]), ("both orders", both)):
            found = preference_agreement(people, given, sources=sources)
            print(
                f"    {name:11} agrees {shown(found.accuracy)}, where people decide "
                f"{shown(found.accuracy_decided)}"
            )
        judge, humans = (
            bradley_terry(preferred, first=first, second=second, sources=sources).strengths
            for preferred in (both, people)
        )
        print(f"    strengths of 12 systems: Kendall with people's {kendall(humans, judge):.3f}")


def pandalm(folder: Path) -> None:
    """Print agreement of two judges on PandaLM's test set."""
    raters = {
        row["source_id"]: row["human"]["preferred"] for row in records(folder, "pandalm")[::2]
    }
    systems = {row["source_id"]: row["model_pair"].split("_") for row in records(folder, "pandalm")}
    print("PandaLM test set, 999 comparisons, majority of three people")
    rows = records(folder / "recorded", "pandalm_judges")
    for judge in sorted({row["judge"] for row in rows}):
        own = {row["source_id"]: row["scores"] for row in rows if row["judge"] == judge}
        given = np.array([scores[0] for scores in own.values()], dtype=float)
        people = majority_preference([raters[pair] for pair in own])
        found = preference_agreement(people, given)
        counted = preference_agreement(people, np.where(np.isnan(given), 0.5, given))
        print(
            f"  {judge:14} agrees {shown(found.accuracy)}, where people decide "
            f"{shown(found.accuracy_decided)}, {found.n_unscored} unreadable; those as ties "
            f"{counted.accuracy.value:.4f}"
        )
        first, second = zip(*(systems[pair] for pair in own), strict=True)
        fits = [bradley_terry(each, first=first, second=second) for each in (given, people)]
        won = [shown(fit.win_probability("llama-7b", "bloom-7b")) for fit in fits]
        print(f"    llama-7b beats bloom-7b: judge {won[0]}, people {won[1]}")


def tolerances(folder: Path) -> None:
    """Print accuracy with and without a tolerance on the half of the sources not used for it."""
    print("Pairs within a source, tolerance chosen on every other source, reported on the rest")
    for dataset, file, judge, criterion, target in CALIBRATED:
        people = {
            (row["source_id"], row["system_id"]): np.mean(row["human"][target])
            for row in records(folder, dataset)
        }
        own = [
            row
            for row in records(folder / "recorded", file)
            if (row["dataset"], row["judge"], row["criterion"]) == (dataset, judge, criterion)
        ]
        scores = np.array([row["scores"][0] for row in own], dtype=float)
        human = np.array([people[row["source_id"], row["system_id"]] for row in own])
        sources = np.array([row["source_id"] for row in own])
        half = np.isin(sources, sorted(set(sources))[::2])
        chosen = calibrate_ties(human[half], scores[half], sources=sources[half])
        plain, tied, flat = (
            tie_aware_accuracy_interval(
                human[~half],
                judged[~half],
                sources=sources[~half],
                level="sample",
                tolerance=tolerance,
            )
            for judged, tolerance in (
                (scores, 0.0),
                (scores, chosen.tolerance),
                (np.zeros(len(scores)), 0.0),
            )
        )
        print(
            f"  {judge} on {dataset} {target}: tolerance {chosen.tolerance:.3f}, there "
            f"{chosen.chosen_accuracy:.3f} (without {chosen.untied_accuracy:.3f})\n"
            f"    on the rest {shown(tied)}, without {shown(plain)}; one score for all "
            f"{flat.value:.3f}"
        )


def neighbours(folder: Path) -> None:
    """Print adjacent accuracy of the mean of twenty samples."""
    people = {
        (row["source_id"], row["system_id"]): row["human"]
        for row in records(folder, "topical_chat")
    }
    rows = records(folder / "recorded", "topical_chat_chatgpt_20samples")
    print("Topical-Chat, gpt-3.5-turbo analyze_rate, neighbouring human means within a dialogue")
    for criterion in ("naturalness", "coherence", "engagingness", "groundedness"):
        own = [
            row
            for row in rows
            if row["judge"] == "gpt-3.5-turbo analyze_rate" and row["criterion"] == criterion
        ]
        samples = np.array([row["scores"] for row in own], dtype=float)
        human = [np.mean(people[row["source_id"], row["system_id"]][criterion]) for row in own]
        sources = [row["source_id"] for row in own]
        mean = adjacent_accuracy(human, samples, sources=sources)
        one = adjacent_accuracy(human, samples[:, 0], sources=sources)
        print(
            f"  {criterion:12} mean of 20 {shown(mean)}, {mean.tied:.0%} tied; one sample "
            f"{shown(one)}, {one.tied:.0%} tied"
        )


def main() -> None:
    """Read and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("JUDGESMITH_DATA"))
    folder = parser.parse_args().data
    if folder is None:
        parser.error("give --data, or set JUDGESMITH_DATA, to the folder of rated data sets")
    head_to_head(folder)
    pandalm(folder)
    tolerances(folder)
    neighbours(folder)


if __name__ == "__main__":
    main()
