"""Whether a judge detects that texts got worse, and leaves alone those that did not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.experiments.robustness.perturbed_scores import VersionScores
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.experiments.robustness.version_weights import VersionWeights
from judgesmith.metrics import discernment, holm
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.metrics.perturbations import Discernment, PerturbationDiscernment
from judgesmith.results.base import Result
from judgesmith.signatures import Judgement, RatedItem
from judgesmith.signatures.perturbation import Perturbation

AROUND, LENGTH = 24, 120
"""Characters that are shown before a change, and in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakPair:
    """An original and a version that the judge scored otherwise than it should."""

    perturbation: str
    source_id: str
    system_id: str
    metric: str
    before: float
    after: float
    original: str
    version: str
    said_of_original: str
    said_of_version: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def weak_pairs(
    scores: VersionScores,
    kind: int,
    name: str,
    originals: Sequence[RatedItem],
    versions: Sequence[RatedItem | None],
    *,
    lowers: bool,
    weights: Mapping[str, float] | None = None,
    n: int = 2,
) -> list[WeakPair]:
    """Return the pairs of one kind of change that tell most against the judge, worst first."""
    gains = scores.versions[kind] - scores.originals
    shares = np.array([1.0 if weights is None else weights[one] for one in scores.metrics])
    against = _weighted(gains, shares) * (1 if lowers else -1)
    against[~((against >= 0) if lowers else (against > 0))] = -np.inf
    order = [i for i in np.argsort(-against, kind="stable").tolist() if np.isfinite(against[i])]
    found = []
    for place in order[:n]:
        version = versions[place]
        assert version is not None  # what has a score has a text
        # The metric that should have noticed, and by which it is most wrong.
        wrong = np.where(np.isnan(gains[place]) | (shares == 0), -np.inf, gains[place])
        if not lowers:
            wrong = np.where(np.isfinite(wrong), -wrong, -np.inf)
        column = int(np.argmax(wrong))
        metric = scores.metrics[column]
        before, after = first_difference(originals[place].response, version.response)
        judged = scores.of_versions[kind][place]
        assert judged is not None
        found.append(
            WeakPair(
                perturbation=name,
                source_id=originals[place].source_id,
                system_id=originals[place].system_id,
                metric=metric,
                before=float(scores.originals[place, column]),
                after=float(scores.versions[kind, place, column]),
                original=before,
                version=after,
                said_of_original=_words(scores.of_originals[place], metric),
                said_of_version=_words(judged, metric),
            )
        )
    return found


def _weighted(gains: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean gain of each pair over the metrics that count; nan where none is scored."""
    counted = np.where(np.isnan(gains), 0.0, shares)
    total = counted.sum(axis=1)
    mean = (counted * np.nan_to_num(gains)).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)


def first_difference(original: str, version: str) -> tuple[str, str]:
    """Return both texts around the place where they first differ, cut."""
    pairs = enumerate(zip(original, version, strict=False))
    shorter = min(len(original), len(version))
    first = next((place for place, (one, other) in pairs if one != other), shorter)
    start = max(0, first - AROUND)
    return _cut(original, start), _cut(version, start)


def _cut(text: str, start: int) -> str:
    part = text[start : start + LENGTH]
    return f"{'…' if start else ''}{part}{'…' if start + LENGTH < len(text) else ''}"


def _words(judgement: Judgement, metric: str) -> str:
    """Return what a judge said on a metric, or of the whole where it said nothing on that."""
    own = judgement.criteria.get(metric)
    return (own.explanation if own is not None else "") or judgement.explanation


NOTICED = 1.0
"""A D of so much is a p-value of .05."""

FEWEST_PAIRS = 5
"""With fewer scored pairs no judge can show that it detects anything."""


@dataclass(frozen=True, kw_only=True, eq=False)
class KindFound:
    """What one kind of change showed."""

    kind: Perturbation
    found: PerturbationDiscernment
    n_versions: int
    skipped: Mapping[str, int]
    n_unscored: int
    lower: Mapping[str, float]  # share of pairs whose version scores lower, by metric

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
class Discerned(Result, report="judgesmith.cli.trust.discern:report"):
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
    def holm(self) -> Mapping[str, float]:
        """P-values that versions score lower, adjusted by Holm's method for all tested kinds."""
        tested = [one for one in self.kinds if one.tested]
        found = holm([0.05**one.found.score.value for one in tested])
        names = (one.kind.name for one in tested)
        return {name: p for name, p in zip(names, found.tolist(), strict=True) if p == p}

    @property
    def lowest(self) -> float:
        """The lowest D of a damaging kind; nan where none is defined."""
        return math.nan if self.damage is None else self.damage.lowest.value

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is None."""
        overall = {} if self.damage is None else self.damage.to_dict()
        alarms, adjusted = self.false_alarms, self.holm
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
            **{
                part: [one.to_dict() | {"p_holm": adjusted.get(one.kind.name)} for one in kinds]
                for part, kinds in (("perturbations", self.damaging), ("controls", self.controls))
            },
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


WEAKEST, PAIRS = 3, 2
"""How many kinds of change are shown by pairs, and how many pairs of each."""

_DUST = 1e-12  # of either score; the noise of averaging is no difference


def discern(
    scores: VersionScores,
    perturbed: PerturbedSet,
    *,
    weights: VersionWeights | None = None,
    form: Literal["normalised", "printed"] = "normalised",
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> Discerned:
    """Return how well a judge discerns, from its scores of originals and versions.

    Parameters
    ----------
    scores : VersionScores
        From ``score_perturbed`` or ``recorded_versions``.
    perturbed : PerturbedSet
        What was judged.
    weights : VersionWeights or None
        Expert weights; None knows of none.
    form : {"normalised", "printed"}
        Of the harmonic mean over metrics; see :func:`judgesmith.metrics.discernment`.
    seed : int or numpy.random.Generator
        Draws the intervals.
    n_resamples : int
        How many for each.

    Raises
    ------
    ValueError
        If there is no original or no kind of change, or as for ``judgesmith.metrics.discernment``.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> from judgesmith.experiments import score_perturbed, perturb_texts
    >>> from judgesmith.experiments.robustness.perturbing import PerturbationConfig
    >>> from judgesmith.programs import ActiveCritic
    >>> changes = PerturbationConfig(kinds=("character_typos", "case_loss"))
    >>> versions = perturb_texts(read_items("sample").items[:12], changes, name="answers")
    >>> scores = score_perturbed(ActiveCritic(), versions)
    >>> found = discern(scores, versions, seed=0, n_resamples=100)
    >>> [one.kind.name for one in found.damaging if one.scored_lower]
    ['character_typos/minor', 'case_loss']
    """
    rng = generator(seed)
    if not perturbed.originals or not perturbed.kinds:
        raise InputError(
            f"need an original and a change of it; got {len(perturbed.originals)} originals and "
            f"{len(perturbed.kinds)} kinds of change."
        )
    weights = weights or VersionWeights()
    seed = int(rng.integers(2**63))
    found, damage = _tested(
        scores, perturbed, weights, form=form, seed=seed, n_resamples=n_resamples
    )
    kinds_found = tuple(
        _kind_found(scores, perturbed, place, found[place]) for place in range(len(perturbed.kinds))
    )
    return Discerned(
        label=scores.label,
        name=perturbed.name,
        metrics=scores.metrics,
        damage=damage,
        kinds=kinds_found,
        weights=weights,
        weakest=tuple(_weakest(scores, perturbed, kinds_found, weights)),
        n_originals=len({(one.source_id, one.key) for one in perturbed.originals}),
        n_texts=scores.n_texts,
        problems=scores.problems,
        lower=_lower(scores, [one.lowers for one in perturbed.kinds]),
    )


def _tested(
    scores: VersionScores,
    perturbed: PerturbedSet,
    weights: VersionWeights,
    *,
    form: Literal["normalised", "printed"],
    seed: int,
    n_resamples: int,
) -> tuple[dict[int, PerturbationDiscernment], Discernment | None]:
    """Return what is known of each kind, and of all that lower and have pairs enough together."""
    found: dict[int, PerturbationDiscernment] = {}
    damage = None
    enough = _has_enough(scores)
    parts = [(lowers, own) for lowers in (True, False) for own in (True, False)]
    for lowers, own in parts:
        places = [
            place
            for place, kind in enumerate(perturbed.kinds)
            if kind.lowers is lowers and enough[place] == own
        ]
        if not places:
            continue
        kinds = [perturbed.kinds[place] for place in places]
        shares = {
            one.name: weights.by_name[one.name] for one in kinds if one.name in weights.by_name
        }
        tested = discernment(
            scores.originals,
            scores.versions[places],
            perturbations=[one.name for one in kinds],
            levels=[one.level for one in kinds],
            metrics=scores.metrics,
            weights=shares or None,
            form=form,
            # The same resamples whatever other kinds there are.
            seed=np.random.default_rng(seed),
            n_resamples=n_resamples,
        )
        damage = tested if lowers and own else damage
        found |= dict(zip(places, tested.perturbations, strict=True))
    return found, damage


def _has_enough(scores: VersionScores) -> NDArray[np.bool_]:
    """Say of each kind whether some metric has pairs enough."""
    n_pairs = np.count_nonzero(~np.isnan(scores.versions - scores.originals), axis=1)
    return np.asarray(n_pairs.max(axis=1) >= FEWEST_PAIRS)


def _kind_found(
    scores: VersionScores, perturbed: PerturbedSet, place: int, found: PerturbationDiscernment
) -> KindFound:
    kind = perturbed.kinds[place]
    changed = np.array([one is not None for one in perturbed.versions[place]])
    versions = scores.versions[place]
    unscored = np.isnan(versions - scores.originals).any(axis=1) & changed
    return KindFound(
        kind=kind,
        found=found,
        n_versions=int(changed.sum()),
        skipped=dict(perturbed.skipped.get(kind.name, {})),
        n_unscored=int(unscored.sum()),
        lower={
            name: _share_lower(versions[:, column], scores.originals[:, column])
            for column, name in enumerate(scores.metrics)
        },
    )


def _lower(scores: VersionScores, damaging: Sequence[bool]) -> dict[str, float]:
    """Return the share of pairs of damaging kinds whose version scores lower, by metric."""
    versions = scores.versions[np.asarray(damaging, dtype=bool)]
    return {
        name: _share_lower(versions[:, :, column], scores.originals[:, column])
        for column, name in enumerate(scores.metrics)
    }


def _share_lower(versions: NDArray[np.float64], originals: NDArray[np.float64]) -> float:
    originals = np.broadcast_to(originals, versions.shape)
    scored = ~np.isnan(versions - originals)
    if not scored.any():
        return math.nan
    dust = _DUST * np.maximum(np.abs(versions), np.abs(originals))
    return float(np.mean((originals - versions > dust)[scored]))


def _weakest(
    scores: VersionScores,
    perturbed: PerturbedSet,
    found: Sequence[KindFound],
    weights: VersionWeights,
) -> list[WeakPair]:
    """Return pairs of the damaging kinds with the lowest D, then of punished controls."""
    defined = [i for i, one in enumerate(found) if one.tested]
    damaging = sorted(
        (i for i in defined if found[i].kind.lowers), key=lambda i: found[i].found.score.value
    )
    punished = [i for i in defined if not found[i].kind.lowers and found[i].scored_lower]
    pairs = []
    for place in [*damaging[:WEAKEST], *punished]:
        kind = found[place].kind
        pairs += weak_pairs(
            scores,
            place,
            kind.name,
            perturbed.originals,
            perturbed.versions[place],
            lowers=kind.lowers,
            weights=weights.by_name.get(kind.name),
            n=PAIRS,
        )
    return pairs
