"""Pass rates of systems by a judge's verdicts, corrected by the rows that people labelled."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.sheets.ratings import selection_chance
from judgesmith.data.targets import Targets
from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray, Seed
from judgesmith.metrics.verdicts import PassRates, corrected_rates
from judgesmith.results.base import Result
from judgesmith.signatures import Judgement
from judgesmith.signatures.scale import Scale

ASSUMPTIONS = {
    "judged": "the judge makes no errors",
    "corrected": "TPR and TNR are the same on labelled and on scored rows, in each system",
    "labelled": "the labelled rows are a random sample",
    "powered": "the labelled rows are a random part of the rows that are scored",
}
"""What each rate needs to be right."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RateReport(Result, report="judgesmith.cli.trust.rate:report"):
    """Pass rates of systems, and what was left out: rows, or labels, by reason."""

    target: str
    positive: str
    rates: PassRates
    left_out: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        said = {"target": self.target, "positive": self.positive, "left_out": self.left_out}
        found = self.rates.to_dict()
        ranks = self.rates.ranks.values()
        systems = [
            {**one, "ranks": list(own)} for one, own in zip(found["systems"], ranks, strict=True)
        ]
        return {**said, **found, "systems": systems, "assumptions": ASSUMPTIONS}


def positive_label(targets: Targets) -> str:
    """Return the label of good responses; refuse what is no set of two labels."""
    labels = targets.scale.labels
    if len(labels) == 2:
        return targets.scale.positive or labels[1]
    there = f"the labels {', '.join(labels)}" if labels else f"ratings on {targets.scale}"
    raise InputError(
        f"a pass rate needs two labels; {targets.name} has {there}.",
        hint="name the two, worst first: --labels fail,pass.",
    )


def verdicts_of(judgements: Iterable[Judgement], targets: Targets, scale: Scale) -> FloatArray:
    """Return 1 for a pass, by label or from the middle of the scale on, 0 for a fail, or nan."""
    positive = positive_label(targets)
    found = []
    for one in judgements:
        passes = math.nan
        if one.label is not None:
            passes = float(one.label == positive)
        elif one.score is not None:
            if not scale.low <= one.score <= scale.high:
                raise InputError(
                    f"scores must be the probability of {positive!r}, on {scale}; got "
                    f"{one.score:g}."
                )
            passes = float(scale.fraction(one.score) >= 0.5)
        found.append(passes)
    return np.array(found)


def rate_systems(
    dataset: DataSet,
    targets: Targets,
    verdicts: FloatArray,
    *,
    seen: Collection[str] = (),
    confidence: float = 0.95,
    seed: Seed = 0,
) -> RateReport:
    """Return the pass rates of all systems; refuse what the rows cannot carry."""
    positive = positive_label(targets)
    unseen = [at for at, item in enumerate(dataset) if item.key not in seen]
    left_out = {"seen": len(dataset) - len(unseen)}
    dataset, targets, verdicts = dataset.subset(unseen), targets.take(unseen), verdicts[unseen]
    human = np.where(np.isin(targets.values, (0, 1)), targets.values, np.nan)
    labelled = ~np.isnan(human)
    stated = [selection_chance(item) for item in dataset]
    chosen = labelled & np.array([one is not None and one != one for one in stated])
    unknown = math.nan if any(one is not None and one == one for one in stated) else 1.0
    chance = np.array([unknown if one is None else one for one in stated])
    left_out["chosen"] = int(chosen.sum())
    left_out["unknown"] = int((labelled & np.isnan(chance) & ~chosen).sum())
    if not np.any(labelled & ~np.isnan(chance)):
        raise InputError(
            f"no labelled row can be used: {left_out_text(left_out) or 'none is left'}.",
            hint="label rows that are drawn at random: judgesmith label suggest --with-random N.",
        )
    rates = corrected_rates(
        human,
        verdicts,
        sources=dataset.groups,
        systems=[item.system_id for item in dataset],
        selection=chance,
        confidence=confidence,
        seed=seed,
    )
    _refuse_uncorrected(rates)
    return RateReport(target=targets.name, positive=positive, rates=rates, left_out=left_out)


def left_out_text(left_out: dict[str, int]) -> str:
    why = {
        "seen": "rows that the judge was made from",
        "chosen": "labels of rows that suggest selected, not at random",
        "unknown": "labels of rows without selection_probability, which others have",
    }
    return "; ".join(f"{n} {why[name]}" for name, n in left_out.items() if n)


def _refuse_uncorrected(rates: PassRates) -> None:
    """Refuse rows on which no system's rate can be corrected."""
    problems = {one.problem: one for one in reversed(rates.systems)}
    if None in problems:
        return
    if one := problems.get("youden"):
        raise InputError(
            f"TPR + TNR - 1 of the judge is {one.youden.value:.2f} [{one.youden.low:.2f}, "
            f"{one.youden.high:.2f}] on {one.n_positive} positive and {one.n_negative} negative "
            "rows; no rate can be corrected unless its lower limit is above 0.",
            hint="label more rows, or take a better judge.",
        )
    if one := problems.get("few of a class"):
        raise InputError(
            f"there are {one.n_positive} positive and {one.n_negative} negative labelled rows with "
            f"a verdict, of {one.tpr.n_groups} and {one.tnr.n_groups} sources; TPR and TNR need 5 "
            "sources each.",
            hint="label more rows of the rarer class.",
        )
    raise InputError(
        "every row with a verdict is labelled: there are no others whose rate could be corrected.",
        hint="give unlabelled rows as DATA and the labelled ones as --labelled.",
    )
