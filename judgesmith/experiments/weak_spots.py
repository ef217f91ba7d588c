"""Pairs that show where a judge is weak: damage it let pass, harmless change it did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.version_scores import VersionScores
from judgesmith.signatures import Judgement, RatedItem

AROUND, LENGTH = 24, 120
"""Characters that are shown before a change, and in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakPair:
    """An original and a version that the judge scored otherwise than it should.

    Attributes
    ----------
    perturbation, source_id, system_id : str
        What was changed in which text.
    metric : str
        The metric that shows it most.
    before, after : float
        Its score of the original and of the version.
    original, version : str
        Both texts where they first differ.
    said_of_original, said_of_version : str
        The judge's words on that metric, or on the whole; empty where it gave none.
    """

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
        """Return the fields by name, ready for JSON."""
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
    """Return the pairs of one kind of change that tell most against the judge, worst first.

    Damaged versions that score no lower than their original, or versions of a control that score
    lower, by the mean over metrics.

    Parameters
    ----------
    scores : VersionScores
        What the judge said.
    kind : int
        Which row of ``scores.versions``.
    name : str
        What the change is called.
    originals, versions : sequence of RatedItem
        The texts; None where there is no version.
    lowers : bool
        Whether the change makes texts worse.
    weights : dict of str to float, or None
        Metrics that should notice the change, by share; None takes all alike.
    n : int
        How many at most.
    """
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
        before, after = differing(originals[place].response, version.response)
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


def differing(original: str, version: str) -> tuple[str, str]:
    """Return both texts around the place where they first differ, cut.

    Examples
    --------
    >>> differing("It opened on Monday.", "It opened on Sunday.")
    ('It opened on Monday.', 'It opened on Sunday.')
    >>> [len(one) for one in differing("a" * 900 + "b", "a" * 900 + "c")]
    [26, 26]
    """
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
