"""What a discernment test found: by kind of change, over all, and what is wrong with the judge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judgesmith.experiments.version_weights import VersionWeights
from judgesmith.experiments.weak_spots import WeakPair
from judgesmith.metrics.perturbations import Discernment, PerturbationDiscernment
from judgesmith.signatures.perturbation import Perturbation

NOTICED = 1.0
"""A D of so much is a p-value of .05."""

FEWEST_PAIRS = 5
"""With fewer scored pairs no judge can show that it notices anything."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KindFound:
    """What one kind of change showed.

    Attributes
    ----------
    kind : Perturbation
        The change.
    found : PerturbationDiscernment
        Its tests and its D.
    n_versions : int
        Texts that could be changed.
    skipped : dict of str to int
        Why others could not, with how many.
    n_unscored : int
        Pairs in which a metric lacks a score on either side.
    lower : dict of str to float
        Share of scored pairs in which the version scores lower, by metric; nan without a pair.
    """

    kind: Perturbation
    found: PerturbationDiscernment
    n_versions: int
    skipped: Mapping[str, int]
    n_unscored: int
    lower: Mapping[str, float]

    @property
    def tested(self) -> bool:
        """Whether there are pairs enough to notice anything by."""
        return max(test.n_pairs for test in self.found.tests) >= FEWEST_PAIRS

    @property
    def scored_lower(self) -> bool:
        """Whether versions score lower, with a combined p-value of at most .05."""
        return self.tested and self.found.score.value >= NOTICED

    @property
    def scored_higher(self) -> bool:
        """Whether versions score higher, with a combined p-value of at most .05."""
        return self.tested and self.found.prefers_damage

    @property
    def raised(self) -> tuple[str, ...]:
        """Metrics on which versions score higher, each with a p-value of at most .05."""
        return tuple(
            test.metric for test in self.found.tests if test.log_p_opposite <= math.log(0.05)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is None."""
        kind = self.kind
        found = self.found.to_dict()
        tests = [
            {**test, "lower": _number(self.lower[test["metric"]])} for test in found.pop("tests")
        ]
        return {
            **found,
            "kind": kind.kind,
            "degree": kind.degree,
            "method": kind.method,
            "lowers": kind.lowers,
            "tests": tests,
            "versions": self.n_versions,
            "skipped": dict(self.skipped),
            "unscored": self.n_unscored,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Discerned:
    """How well a judge discerns damaged texts, on one set.

    Attributes
    ----------
    label, name : str
        The judge, and the set.
    metrics : tuple of str
        What of the judge was tested.
    damage : Discernment or None
        Over all kinds that make texts worse and were tested; None where there are none.
    kinds : tuple of KindFound
        All kinds in the order of the set, controls included.
    weights : VersionWeights
        Which metric should notice which change.
    weakest : tuple of WeakPair
        Pairs of the kinds that were noticed least, and of controls that were punished.
    n_originals, n_texts : int
        Different originals, and different texts that were judged.
    problems : dict of str to int
        Why texts have no score, with how many.
    lower : dict of str to float
        Share of all scored pairs of damaging kinds in which the version scores lower, by metric;
        nan without a pair.
    """

    label: str
    name: str
    metrics: tuple[str, ...]
    damage: Discernment | None
    kinds: tuple[KindFound, ...]
    weights: VersionWeights
    weakest: tuple[WeakPair, ...]
    n_originals: int
    n_texts: int
    problems: Mapping[str, int] = field(default_factory=dict)
    lower: Mapping[str, float] = field(default_factory=dict)

    @property
    def damaging(self) -> tuple[KindFound, ...]:
        """The kinds that make texts worse."""
        return tuple(one for one in self.kinds if one.kind.lowers)

    @property
    def controls(self) -> tuple[KindFound, ...]:
        """The kinds that do not."""
        return tuple(one for one in self.kinds if not one.kind.lowers)

    @property
    def untested(self) -> tuple[str, ...]:
        """Names of kinds, controls included, with too few scored pairs to notice anything by."""
        return tuple(one.kind.name for one in self.kinds if not one.tested)

    @property
    def preferred(self) -> tuple[str, ...]:
        """Names of damaging kinds whose versions score higher than their originals."""
        return tuple(
            one.kind.name for one in self.damaging if one.scored_higher and not one.scored_lower
        )

    @property
    def mixed(self) -> Mapping[str, tuple[str, ...]]:
        """Damaging kinds that lower some metrics and raise others, with those that are raised."""
        return {
            one.kind.name: one.raised
            for one in self.damaging
            if one.scored_higher and one.scored_lower
        }

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Names of controls whose versions score lower than their originals."""
        return tuple(one.kind.name for one in self.controls if one.scored_lower)

    @property
    def favoured(self) -> tuple[str, ...]:
        """Names of controls whose versions score higher than their originals."""
        return tuple(one.kind.name for one in self.controls if one.scored_higher)

    @property
    def misunderstood(self) -> tuple[str, ...]:
        """Names of damaging kinds that are noticed, but not under the metrics that should."""
        return tuple(
            one.kind.name
            for one in self.damaging
            if one.found.expert_score is not None
            and one.scored_lower
            and one.found.expert_score.value < NOTICED
        )

    @property
    def lowest(self) -> float:
        """The lowest D of a damaging kind; nan where none is defined."""
        return math.nan if self.damage is None else self.damage.lowest.value

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is None."""
        overall = {} if self.damage is None else self.damage.to_dict()
        alarms = self.false_alarms
        parts = ("lowest", "average", "expert_lowest", "expert_average")
        return {
            "judge": self.label,
            "data": self.name,
            "metrics": list(self.metrics),
            "form": overall.get("form"),
            "weights": self.weights.said,
            "originals": self.n_originals,
            "texts": self.n_texts,
            "problems": dict(self.problems),
            **{part: overall.get(part) for part in parts},
            "lower": {name: _number(share) for name, share in self.lower.items()},
            "perturbations": [one.to_dict() for one in self.damaging],
            "controls": [one.to_dict() for one in self.controls],
            "false_alarms": {
                "n": len(self.controls),
                "share": len(alarms) / len(self.controls) if self.controls else None,
                "names": list(alarms),
            },
            "prefers_damage": list(self.preferred),
            "mixed": {name: list(raised) for name, raised in self.mixed.items()},
            "favours": list(self.favoured),
            "misunderstood": list(self.misunderstood),
            "untested": list(self.untested),
            "weakest": [one.to_dict() for one in self.weakest],
        }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
