"""From which score on a judge gives the positive label, and which rows it leaves to people."""

from __future__ import annotations

import math

import numpy as np

from judgesmith.metrics.calibration import certified_threshold
from judgesmith.metrics.verdicts.threshold import FLOOR_CONFIDENCE, Cuts
from judgesmith.optimizers.objectives.verdicts import ThresholdRule
from judgesmith.optimizers.predictions import FloatArray, Labels
from judgesmith.optimizers.rows import Rows
from judgesmith.programs.families.ensemble.judges import Panel
from judgesmith.programs.judging.judge import Judge
from judgesmith.signatures.aggregation import Decision
from judgesmith.signatures.scale import shortest

_SURE = f"{FLOOR_CONFIDENCE:.0%} confidence"


def threshold_of(judge: Judge | Panel) -> float | None:
    """Return the share of the scale from which on a judge gives the positive label."""
    decision = judge.protocol.aggregation.decision if isinstance(judge, Judge) else None
    if decision is None:
        return None
    labels = decision.scale.labels
    if len(labels) == 2:
        return decision.threshold
    return (labels.index(str(decision.scale.positive)) - 0.5) / (len(labels) - 1)


def with_decision(
    judge: Judge,
    rows: Rows,
    shares: FloatArray,
    rule: ThresholdRule,
    *,
    abstain: float | None = None,
    seed: int = 0,
) -> tuple[Judge, list[str]]:
    """Return a judge that gives labels, by the threshold that its scores of rows support.

    ``shares`` are scores as shares of the scale, nan where missing. ``abstain``: how many of
    the verdicts may be wrong; the others are left to people. Also returns what to say of it.
    """
    scale = rows.scale
    if len(scale.labels) > 2:
        decision = Decision(scale=scale, why="the nearest label")
        return _deciding(judge, decision), []
    scored = ~np.isnan(shares)
    good, share, sources = rows.human[scored] == 1, shares[scored], rows.groups[scored]
    least, met = rule.threshold(share, good, sources, scale)
    threshold = min(max(least, 0.0), math.nextafter(1.0, 2.0))
    aims = " + ".join(str(one) for _, one in rule.terms)
    floors = [(one, bound) for terms, bound in rule.floors for _, one in terms]
    why = "; ".join([aims, *(f"{one} >= {shortest(bound)}" for one, bound in floors)])
    notes = []
    if not met:
        notes.append(
            f"no threshold is shown to have {why.partition('; ')[2]} ({_SURE}) on the "
            f"{len(share)} rows learned from; the one that comes nearest was taken."
        )
    band = None
    if abstain is not None:
        wrong = ((share >= threshold) != good).astype(float)
        rng = np.random.default_rng([seed, 13])
        band, note = _band(share, wrong, sources, threshold, most=abstain, rng=rng)
        notes.append(note)
    decision = Decision(scale=scale, threshold=threshold, abstain=band, why=why)
    return _deciding(judge, decision), notes


SHOWN = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Shares of bad rows stopped, of which a trade-off tells the thresholds."""


def trade_off(rows: Rows, shares: FloatArray) -> tuple[tuple[float, float, float], ...]:
    """Return thresholds, the share of bad rows that each stops, and of good ones that it passes."""
    scored = ~np.isnan(shares)
    cuts = Cuts.of(shares[scored], rows.human[scored] == 1, rows.groups[scored])
    if len(rows.scale.labels) > 2 or not cuts.tells_apart:
        return ()
    passes, stops = cuts.rate(good=True), cuts.rate(good=False)
    places = dict.fromkeys(int(np.argmax(stops >= one)) for one in SHOWN)
    ends = np.clip(cuts.thresholds, 0.0, 1.0)
    return tuple((float(ends[k]), float(stops[k]), float(passes[k])) for k in places)


def _deciding(judge: Judge, decision: Decision) -> Judge:
    aggregation = judge.protocol.aggregation.model_copy(update={"decision": decision})
    return judge.with_protocol(judge.protocol.model_copy(update={"aggregation": aggregation}))


def _band(
    share: FloatArray,
    wrong: FloatArray,
    sources: Labels,
    threshold: float,
    *,
    most: float,
    rng: np.random.Generator,
) -> tuple[tuple[float, float] | None, str]:
    """Return which scores are left to people, so that few of the other verdicts are wrong."""
    room = np.where(share >= threshold, 1 - threshold, threshold)
    certainty = np.abs(share - threshold) / np.where(room > 0, room, 1.0)
    found = certified_threshold(
        wrong,
        certainty=certainty,
        max_risk=most,
        largest_loss=1.0,
        sources=sources.tolist(),
        n_candidates=5,
        seed=rng,
        confidence=FLOOR_CONFIDENCE,
    )
    promised = f"at most {most:.0%} of the verdicts that it gives are wrong ({_SURE})"
    if found.threshold == -math.inf:
        return None, f"the judge gives a verdict on every row: {promised}."
    if found.threshold == math.inf:
        return None, (
            f"the judge was saved without abstention: on {found.n} rows no part of the "
            f"verdicts is shown to be wrong in at most {most:.0%}; label more rows, or allow more."
        )
    low = threshold - found.threshold * threshold
    high = math.nextafter(threshold + found.threshold * (1 - threshold), 2.0)
    return (low, high), (
        f"scores from {low:.2f} to {high:.2f} are left to human raters, "
        f"{1 - found.coverage:.0%} of the "
        f"rows learned from: {promised}."
    )
