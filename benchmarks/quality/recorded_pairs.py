"""What recorded comparisons and scores say: agreement, both orders, strengths, ties.

ChatGPT choosing between SummEval summaries in both orders, two judges on PandaLM's test set, scores
with a tolerance chosen on half of the sources, and ChatGPT's ratings on neighbouring human means.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Row, benchmark, records
from judgesmith.metrics import Estimate, kendall, preference_agreement, tie_aware_accuracy_interval
from judgesmith.metrics.pairs import (
    adjacent_accuracy,
    bradley_terry,
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
GAPS = ((0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0))
"""Above which and up to which gap of mean ratings; the first is no gap at all."""


def compared() -> tuple[np.ndarray, ...]:
    """Return criteria, sources and pairs, then what was said in both orders, and means."""
    pairs: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in records("recorded/summeval_h2h_chatgpt"):
        pair = pairs.setdefault((row["criterion"], row["source_id"], row["system_id"]), {})
        pair["swapped" if "swapped" in row["judge"] else "given"] = row["scores"][0]
        pair["first"], pair["second"] = row["human_means"]
    said = (
        np.array([pair[name] for pair in pairs.values()], dtype=float)
        for name in ("given", "swapped", "first", "second")
    )
    return *(np.array(part) for part in zip(*pairs, strict=True)), *said


def other(found: Estimate) -> tuple[float, float, float]:
    """Return the share that an estimate leaves."""
    return 1 - found.value, 1 - found.high, 1 - found.low


@benchmark(quick={})
def order_bias() -> Iterator[Row]:
    """How often a recorded judge changes its mind when two texts change places.

    The share of pairs on which the orders disagree, and of preferences that go to the text shown
    first, by the gap between people's mean ratings; criteria are pooled unless named.
    """
    criteria, sources, _, given, swapped, first, second = compared()
    gaps = np.abs(first - second)
    people = preferences_from_scores(first, second)

    def row(name: str, chosen: np.ndarray) -> Row:
        orders = order_consistency(given[chosen], swapped[chosen], sources=sources[chosen])
        decided = chosen & (people != 0.5)
        both = decided & (given == swapped)
        one, agreed = (
            preference_agreement(people[kept], given[kept], sources=sources[kept]).accuracy
            if kept.any()
            else None
            for kept in (decided, both)
        )
        return {
            "pairs": name,
            "n": int(chosen.sum()),
            "orders disagree": other(orders.consistent),
            "winner changes": orders.flipped,
            "first place wins": orders.first_place,
            "as people, one order": one,
            "as people, where both orders agree": agreed,
        }

    for low, high in GAPS:
        name = "gap 0" if high == 0 else f"gap {low:g} to {high:g}"
        yield row(name, gaps == 0 if high == 0 else (gaps > low + 1e-9) & (gaps <= high + 1e-9))
    for criterion in sorted(set(criteria.tolist())):
        yield row(criterion, criteria == criterion)
    yield row("all", np.ones(len(gaps), dtype=bool))


def head_to_head() -> Iterator[Row]:
    """Yield agreement and order consistency of comparisons of SummEval summaries."""
    criteria, every_source, names, *said = compared()
    strengths: list[Row] = []
    for criterion in sorted(set(criteria.tolist())):
        own = criteria == criterion
        sources = every_source[own]
        first, second = zip(*(name.split("|") for name in names[own].tolist()), strict=True)
        given, swapped, *means = (each[own] for each in said)
        people = preferences_from_scores(*means)
        orders = order_consistency(given, swapped, sources=sources)
        both = majority_preference(np.stack([given, swapped], axis=1))
        row: Row = {
            "SummEval, gpt-3.5-turbo-0301": criterion,
            "consistent": orders.consistent,
            "flipped": orders.flipped,
            "first place": orders.first_place,
        }
        for name, answers in (("one order", given), ("both orders", both)):
            found = preference_agreement(people, answers, sources=sources)
            row[f"{name} agrees"] = found.accuracy
            row[f"{name}, where people decide"] = found.accuracy_decided
        yield row
        judge, humans = (
            bradley_terry(preferred, first=first, second=second, sources=sources).strengths
            for preferred in (both, people)
        )
        tau = kendall(humans, judge)
        strengths.append({"strengths of 12 systems": criterion, "Kendall with people's": tau})
    yield from strengths


def pandalm() -> Iterator[Row]:
    """Yield agreement of two judges on PandaLM's test set."""
    raters = {row["source_id"]: row["human"]["preferred"] for row in records("pandalm")[::2]}
    systems = {row["source_id"]: row["model_pair"].split("_") for row in records("pandalm")}
    rows = records("recorded/pandalm_judges")
    for judge in sorted({row["judge"] for row in rows}):
        own = {row["source_id"]: row["scores"] for row in rows if row["judge"] == judge}
        given = np.array([scores[0] for scores in own.values()], dtype=float)
        people = majority_preference([raters[pair] for pair in own])
        found = preference_agreement(people, given)
        counted = preference_agreement(people, np.where(np.isnan(given), 0.5, given))
        row: Row = {
            "PandaLM, majority of three": judge,
            "agrees": found.accuracy,
            "where people decide": found.accuracy_decided,
            "unreadable": found.n_unscored,
            "those as ties": f"{counted.accuracy.value:.4f}",
        }
        first, second = zip(*(systems[pair] for pair in own), strict=True)
        fits = [bradley_terry(each, first=first, second=second) for each in (given, people)]
        for name, fit in zip(("judge", "people"), fits, strict=True):
            won = fit.win_probability("llama-7b", "bloom-7b")
            row[f"llama-7b beats bloom-7b, {name}"] = won
        yield row


def tolerances() -> Iterator[Row]:
    """Yield accuracy with and without a tolerance on the half of the sources not used for it."""
    for dataset, file, judge, criterion, target in CALIBRATED:
        people = {
            (row["source_id"], row["system_id"]): np.mean(row["human"][target])
            for row in records(dataset)
        }
        own = [
            row
            for row in records(f"recorded/{file}")
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
        yield {
            "tolerance chosen on half of the sources": f"{judge} on {dataset} {target}",
            "tolerance": chosen.tolerance,
            "there": chosen.chosen_accuracy,
            "without": chosen.untied_accuracy,
            "on the rest": tied,
            "on the rest, without": plain,
            "one score for all": flat.value,
        }


def neighbours() -> Iterator[Row]:
    """Yield adjacent accuracy of the mean of twenty samples."""
    people = {(row["source_id"], row["system_id"]): row["human"] for row in records("topical_chat")}
    rows = records("recorded/topical_chat_chatgpt_20samples")
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
        yield {
            "neighbours in Topical-Chat": criterion,
            "mean of 20": mean,
            "tied": mean.tied,
            "one sample": one,
            "one sample, tied": one.tied,
        }


@benchmark(quick={}, formats={"tied": ".0%", "one sample, tied": ".0%"})
def recorded_pairs() -> Iterator[Row]:
    """What recorded comparisons and scores say: agreement, both orders, strengths, ties."""
    yield from head_to_head()
    yield from pandalm()
    yield from tolerances()
    yield from neighbours()
