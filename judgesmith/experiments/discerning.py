"""Whether a judge notices that texts got worse, and leaves alone those that did not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.experiments.discerned import FEWEST_PAIRS, Discerned, KindFound
from judgesmith.experiments.perturbed_set import PerturbedSet
from judgesmith.experiments.version_scores import VersionScores
from judgesmith.experiments.version_weights import VersionWeights
from judgesmith.experiments.weak_spots import WeakPair, weak_pairs
from judgesmith.metrics import discernment
from judgesmith.metrics.perturbations import PerturbationDiscernment

WEAKEST, PAIRS = 3, 2
"""How many kinds of change are shown by pairs, and how many pairs of each."""

_DUST = 1e-12  # of either score; the noise of averaging is no difference


def discern(
    scores: VersionScores,
    perturbed: PerturbedSet,
    *,
    weights: VersionWeights | None = None,
    form: Literal["normalised", "printed"] = "normalised",
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Discerned:
    """Return how well a judge discerns, from its scores of originals and versions.

    Parameters
    ----------
    scores : VersionScores
        From ``judged_versions`` or ``recorded_versions``.
    perturbed : PerturbedSet
        What was judged.
    weights : VersionWeights or None
        Expert weights; None knows of none.
    form : {"normalised", "printed"}
        Of the harmonic mean over metrics; see :func:`judgesmith.metrics.discernment`.
    rng : Generator
        Draws the intervals.
    n_resamples : int
        How many for each.

    Raises
    ------
    ValueError
        If there is no original or no kind of change, or as for ``judgesmith.metrics.discernment``.

    Examples
    --------
    >>> from judgesmith.experiments import judged_versions, perturb_texts, read_items
    >>> from judgesmith.experiments.perturbing import Changes
    >>> from judgesmith.programs import ActiveCritic
    >>> changes = Changes(kinds=("character_typos", "case_loss"))
    >>> versions = perturb_texts(read_items("sample").items[:12], changes, name="answers")
    >>> scores = judged_versions(ActiveCritic(), versions)
    >>> found = discern(scores, versions, rng=np.random.default_rng(0), n_resamples=100)
    >>> [one.kind.name for one in found.damaging if one.scored_lower]
    ['character_typos/minor']
    """
    if not perturbed.originals or not perturbed.kinds:
        raise InputError(
            f"need an original and a change of it; got {len(perturbed.originals)} originals and "
            f"{len(perturbed.kinds)} kinds of change."
        )
    weights = weights or VersionWeights()
    seed = int(rng.integers(2**63))
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
            rng=np.random.default_rng(seed),
            n_resamples=n_resamples,
        )
        damage = tested if lowers and own else damage
        found |= dict(zip(places, tested.perturbations, strict=True))
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
