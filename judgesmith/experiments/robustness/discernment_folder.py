"""A discernment test on disk and in words: the report, the texts, what was said of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.experiments.robustness.discerning import FEWEST_PAIRS, NOTICED, Discerned, KindFound
from judgesmith.experiments.robustness.perturbed_rows import rows_of
from judgesmith.experiments.robustness.perturbed_scores import VersionScores
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.experiments.run_folders import check_folder, json_object_in, json_text
from judgesmith.metrics import Estimate
from judgesmith.metrics.perturbations import PerturbationDiscernment
from judgesmith.programs.artifacts.record import as_loaded
from judgesmith.programs.judging.rows import score_row
from judgesmith.signatures.plain_data import fingerprint_of, json_line

REPORT, SCORES, VERSIONS = "report.json", "scores.jsonl", "versions.jsonl"
FILES = (REPORT, SCORES, VERSIONS)


def save_discerned(
    folder: Path,
    found: Discerned,
    scores: VersionScores,
    perturbed: PerturbedSet,
    *,
    marks: Mapping[str, Any],
) -> None:
    """Write a test to ``folder``, in place of an earlier one: all of it, or nothing."""
    with draft_beside(folder, folder=True) as draft:
        report = {**marks, **found.to_dict()}
        write_synced(draft / REPORT, json_text(report))
        lines = (json_line({**row, **marks}) for row in _rows(scores, perturbed))
        write_synced(draft / SCORES, "".join(lines))
        texts = (json_line(as_loaded(row)) for row in rows_of(perturbed))
        write_synced(draft / VERSIONS, "".join(texts))
        put(draft, folder)


def check_discerned(folder: Path, run: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but a test, or another run's test without ``force``."""
    report = json_object_in(folder / REPORT)
    stated = report if report is not None and "run" in report else None
    check_folder(folder, run, stated=stated, files=FILES, what="a test", force=force)


def discernment_run(*parts: object) -> str:
    """Return twelve hex digits that tell a run from others by what it is made of."""
    return fingerprint_of([str(one) for one in parts])


def _rows(scores: VersionScores, perturbed: PerturbedSet) -> Iterator[dict[str, Any]]:
    """Yield a row per original and then its versions, none twice."""
    known = set()
    for place, original in enumerate(perturbed.originals):
        said = (row[place] for row in scores.of_versions)
        names = (kind.name for kind in perturbed.kinds)
        versions = (row[place] for row in perturbed.versions)
        own = [(original, scores.of_originals[place], None)]
        for item, judgement, name in (*own, *zip(versions, said, names, strict=True)):
            if item is None or judgement is None:
                continue
            row = {**score_row(item, judgement), "perturbation": name}
            named = (row["source_id"], row["system_id"], row["key"])
            if named not in known:
                known.add(named)
                yield row


LEVELS = ("character", "word", "sentence")


def d_value_text(value: float) -> str:
    """Return a D to two decimals, or to one where it is 10 or more."""
    if math.isnan(value):
        return "undefined"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def d_text(estimate: Estimate | None) -> str:
    """Return a D with its interval; nothing if undefined."""
    if estimate is None:
        return ""
    if math.isnan(estimate.value) or math.isnan(estimate.low):
        return d_value_text(estimate.value)
    value, low, high = map(d_value_text, (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def verdict_text(one: KindFound) -> str:
    """Return in a few words how a judge takes a kind of change."""
    if not one.tested:
        return "too few texts"
    if one.kind.lowers:
        if one.scored_higher:
            return "mixed" if one.scored_lower else "prefers damage"
        word = "detected" if one.scored_lower else "missed"
    else:
        word = "favoured" if one.scored_higher else "unchanged"
        word = "false alarm" if one.scored_lower else word
    few = one.found.too_few and one.scored_lower
    return f"{word}, too few" if few else word


def kind_rows(kinds: Sequence[KindFound], *, experts: bool) -> list[list[str]]:
    """Return one row per kind of change under its level, which is a row of one cell."""
    rows = []
    for level in LEVELS:
        own = [one for one in kinds if one.kind.level == level]
        rows += [[f"{level}s"]] if own else []
        for one in own:
            found = one.found
            needed = found.items_needed
            rows.append(
                [
                    one.kind.name,
                    verdict_text(one),
                    str(one.n_versions),
                    d_text(found.score),
                    *([d_text(found.expert_score)] if experts else []),
                    str(needed.n) if needed.n else f"over {needed.limit}",
                ]
            )
    return rows


def kind_header(*, experts: bool) -> list[str]:
    """Return the names of the columns of ``kind_rows``."""
    more = ["D, experts"] if experts else []
    return ["change", "verdict", "pairs", "D", *more, "needs"]


def matrix_rows(found: Discerned) -> list[list[str]]:
    """Return one row per kind: D by metric, and the share of pairs whose version scores lower."""
    overall = [f"{share:4.0%}" if share == share else "undefined" for share in found.lower.values()]
    rows = [["all damage", *overall]] if found.damaging else []
    return rows + [
        [one.kind.name, *(_cell(one, name) for name in found.metrics)]
        for one in (*found.damaging, *found.controls)
    ]


def metric_score(found: PerturbationDiscernment, metric: str) -> float:
    """Return the D of one metric alone; nan without a scored pair."""
    log_p = next(test.log_p for test in found.tests if test.metric == metric)
    return log_p / math.log(0.05) + 0.0


def _cell(one: KindFound, metric: str) -> str:
    value, share = metric_score(one.found, metric), one.lower[metric]
    return d_value_text(value) if math.isnan(value) else f"{d_value_text(value)} {share:4.0%}"


def conclusions(found: Discerned) -> list[str]:
    """Return what a reader should know of a judge, in sentences."""
    said = []
    unnoticed = [
        one.kind.name
        for one in found.damaging
        if one.tested and not (one.scored_lower or one.scored_higher)
    ]
    if found.preferred:
        said.append(
            f"the judge prefers damage: {', '.join(found.preferred)} "
            f"{_verb(found.preferred, 'scores', 'score')} higher than the originals."
        )
    if found.mixed:
        raised = [f"{name} ({', '.join(metrics)})" for name, metrics in found.mixed.items()]
        said.append(f"detected by some criteria and preferred by others: {', '.join(raised)}.")
    if unnoticed:
        said.append(
            f"missed (D below {NOTICED:g} on these {found.n_originals} originals): "
            f"{', '.join(unnoticed)}."
        )
    if found.misunderstood:
        said.append(f"detected, but not by the expected metrics: {', '.join(found.misunderstood)}.")
    if found.false_alarms:
        said.append(
            f"false alarms: {', '.join(found.false_alarms)} "
            f"{_verb(found.false_alarms, 'lowers scores, and harms', 'lower scores, and harm')} "
            "no text."
        )
    if found.favoured:
        said.append(
            f"{', '.join(found.favoured)} "
            f"{_verb(found.favoured, 'raises scores, and improves', 'raise scores, and improve')} "
            "no text."
        )
    if found.untested:
        said.append(
            f"fewer than {FEWEST_PAIRS} scored pairs, excluded from the lowest and the average D: "
            f"{', '.join(found.untested)}."
        )
    n_unscored = sum(one.n_unscored for one in found.kinds)
    if n_unscored:
        n_pairs = sum(one.n_versions for one in found.kinds)
        said.append(f"{n_unscored} of {n_pairs} pairs lack a score on a metric, and count nowhere.")
    skipped = {one.kind.name: sum(one.skipped.values()) for one in found.kinds}
    short = [f"{name} {n}" for name, n in skipped.items() if n]
    if short:
        said.append(f"originals without a version: {', '.join(short)}.")
    if found.weights.by_name or len(found.metrics) > 1:
        said.append(f"expert weights: {found.weights.said}.")
    return said


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several
