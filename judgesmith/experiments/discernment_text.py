"""What a discernment test found, as rows of tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgesmith.experiments.discerned import FEWEST_PAIRS, NOTICED, Discerned, KindFound
from judgesmith.metrics import Estimate
from judgesmith.metrics.perturbations import PerturbationDiscernment

LEVELS = ("character", "word", "sentence")


def score_text(value: float) -> str:
    """Return a D to two decimals, or to one where it is 10 or more.

    Examples
    --------
    >>> score_text(0.9999), score_text(12.34), score_text(float("nan"))
    ('1.00', '12.3', 'undefined')
    """
    if math.isnan(value):
        return "undefined"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def estimate_text(estimate: Estimate | None) -> str:
    """Return a D with its interval; nothing where there is none to give."""
    if estimate is None:
        return ""
    if math.isnan(estimate.value) or math.isnan(estimate.low):
        return score_text(estimate.value)
    return f"{score_text(estimate.value)} [{score_text(estimate.low)}, {score_text(estimate.high)}]"


def verdict_text(one: KindFound) -> str:
    """Return in a few words how a judge takes a kind of change."""
    if not one.tested:
        return "too few texts"
    if one.kind.lowers:
        if one.scored_higher:
            return "mixed" if one.scored_lower else "prefers damage"
        word = "noticed" if one.scored_lower else "not noticed"
    else:
        word = "favoured" if one.scored_higher else "left alone"
        word = "false alarm" if one.scored_lower else word
    few = one.found.too_few and one.scored_lower
    return f"{word}, too few" if few else word


def kind_rows(kinds: Sequence[KindFound], *, experts: bool) -> list[list[str]]:
    """Return one row per kind of change under its level, which is a row of one cell.

    Columns are those of ``kind_header``; the last is how many items D of 1 takes.
    """
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
                    estimate_text(found.score),
                    *([estimate_text(found.expert_score)] if experts else []),
                    str(needed.n) if needed.n else f"over {needed.limit}",
                ]
            )
    return rows


def kind_header(*, experts: bool) -> list[str]:
    """Return the names of the columns of ``kind_rows``."""
    more = ["D, experts"] if experts else []
    return ["change", "verdict", "pairs", "D", *more, "needs"]


def matrix_rows(found: Discerned) -> list[list[str]]:
    """Return one row per kind: D by metric, and the share of pairs whose version scores lower.

    The first row has that share over the pairs of all damage.
    """
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
    return score_text(value) if math.isnan(value) else f"{score_text(value)} {share:4.0%}"


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
        said.append(f"noticed by some criteria and preferred by others: {', '.join(raised)}.")
    if unnoticed:
        said.append(
            f"not noticed (D below {NOTICED:g} on these {found.n_originals} originals): "
            f"{', '.join(unnoticed)}."
        )
    if found.misunderstood:
        said.append(
            "noticed, but not under the metrics that should notice it: "
            f"{', '.join(found.misunderstood)}."
        )
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
            f"fewer than {FEWEST_PAIRS} scored pairs, no part of the lowest and the average D: "
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
