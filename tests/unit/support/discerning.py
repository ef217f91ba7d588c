"""Sets of changed texts and judges of known sensitivities, for tests of discernment."""

import numpy as np

from judgesmith.experiments.robustness.perturbed_scores import VersionScores
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.signatures import CriterionScore, Judgement, RatedItem
from judgesmith.signatures.perturbation import Perturbation

TYPOS = Perturbation(kind="character_typos", level="character", degree="minor")
ENTITIES = Perturbation(kind="fictional_entities", level="word", degree="minor", method="model")
ORDER = Perturbation(kind="reordering", level="sentence", degree="minor")
PADDING = Perturbation(kind="padding", level="character", lowers=False)


def texts(n, *kinds, without=(), skipped=None):
    """Return ``n`` originals with a version of each kind; ``without`` has (kind, place)s."""
    originals = [
        RatedItem(source_id=str(i), system_id="o", source=f"source {i}", response=f"Text {i}.")
        for i in range(n)
    ]
    versions = tuple(
        tuple(
            None
            if (kind.name, i) in without
            else one.model_copy(
                update={
                    "system_id": f"o+{kind.name}",
                    "response": f"{one.response} {kind.name}",
                    "extra": {"perturbation": kind.name, "edits": [[0, 0, "SECRET"]]},
                }
            )
            for i, one in enumerate(originals)
        )
        for kind in kinds
    )
    return PerturbedSet(
        name="toy",
        originals=tuple(originals),
        kinds=kinds,
        versions=versions,
        skipped=dict(skipped or {}),
    )


def scored(originals, versions, metrics=("fluency",), label="planted"):
    """Return what a judge with these scores says: (n, metrics) and (kinds, n, metrics)."""

    def verdict(row):
        if row is None:
            return None
        criteria = {
            name: CriterionScore(
                score=None if np.isnan(one) else float(one), explanation=f"{name} is {one:g}"
            )
            for name, one in zip(metrics, np.atleast_1d(row), strict=True)
        }
        given = [one.score for one in criteria.values() if one.score is not None]
        if not given:
            return Judgement.unscored("cut off", criteria=criteria)
        return Judgement(score=float(np.mean(given)), criteria=criteria)

    return VersionScores(
        label=label,
        metrics=tuple(metrics),
        whole=False,
        of_originals=tuple(map(verdict, originals)),
        of_versions=tuple(tuple(map(verdict, rows)) for rows in versions),
    )


def planted(texts, losses, *, metrics=("fluency",), noise=5.0, seed=0):
    """Return a judge whose versions of each kind lose so many points on average."""
    rng = np.random.default_rng(seed)
    n, m = len(texts.originals), len(metrics)
    originals = 60 + 10 * rng.standard_normal((n, m))
    versions = [
        originals - losses[kind.name] + noise * rng.standard_normal((n, m)) for kind in texts.kinds
    ]
    rows = [
        [None if item is None else row for item, row in zip(own, values, strict=True)]
        for own, values in zip(texts.versions, versions, strict=True)
    ]
    return scored(originals, rows, metrics)
