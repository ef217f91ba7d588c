"""What an objective looks at: every prediction of a judge beside what people said."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.results.base import Result
from judgesmith.signatures.judgement import Cause, Judgement, Reason
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

FloatArray = NDArray[np.float64]
Labels = NDArray[np.generic]

Scales = Scale | Mapping[str, Scale] | None  # of all rows, or by target; None where unknown

SCORE = "score"  # the target of a judge's own score; other targets are criteria by name


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictionTable(Result):
    """Aligned columns, one row per judged item and target.

    Attributes
    ----------
    predicted : array, shape (n,), in points of the judge's scale
        nan where an item is unscored.
    human : array, shape (n,), in points of the human scale
        What people said; never nan, or nan in all rows without ratings.
    sources, systems : array, shape (n,)
        Labels of what was answered and of who answered.
    problems : tuple of (Cause or None)
        Why a row is unscored, code and sentence; None where it is scored.
    targets : tuple of str, or empty
        What each row is about where there are several targets: ``score`` or a criterion.
    n_calls, usd : tuple of numbers, or empty
        Calls to a model and dollars behind each row's judgement, cached or not; empty if unknown.
    scale, judge_scale : Scale, dict of str to Scale, or None
        What people rated on, and what the judge answered on; by target where targets differ. None
        where unknown: objectives in points and levels, such as ``kappa``, are refused then.
    kinds : tuple of Perturbation, or empty
        Ways in which texts were changed, where changed versions were judged, too.
    damaged, versioned : array, shape (n, n_kinds), or None
        Predictions on the changed versions of each row, nan where one is unscored, or missing; and
        where there is such a version.
    examples, judgements : tuple of dspy.Example, tuple of Judgement, or empty
        What the rows were made from, and what the judge said; only metrics of DSPy's kind read
        them.
    threshold : float or None
        The share of the judge's scale from which on a score means that the row is good; None where
        people gave ratings, or the judge says no more than a score.
    evidence : float
        How many times as many rows these stand for: a part of the rows in a race stands for all.

    Examples
    --------
    >>> table = PredictionTable(
    ...     predicted=np.array([80.0, np.nan]), human=np.array([4.0, 2.0]),
    ...     sources=np.array([0, 1]), systems=np.array(["a", "a"]),
    ...     problems=(None, Cause(Reason.CUT_OFF, "it was cut off")),
    ... )
    >>> table.n, table.n_unscored
    (2, 1)
    """

    predicted: FloatArray
    human: FloatArray
    sources: Labels
    systems: Labels
    problems: tuple[Cause | None, ...] = ()
    targets: tuple[str, ...] = ()
    n_calls: tuple[int, ...] = ()
    usd: tuple[float, ...] = ()
    scale: Scales = None
    judge_scale: Scales = None
    kinds: tuple[Perturbation, ...] = ()
    damaged: FloatArray | None = None
    versioned: NDArray[np.bool_] | None = None
    examples: tuple[Any, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    evidence: float = 1.0

    def _rows(self) -> Iterator[dict[str, Any]]:
        columns = (self.sources, self.systems, self.human, self.predicted)
        names = ("source", "system", "human", "predicted")
        for values in zip(*(one.tolist() for one in columns), strict=True):
            yield dict(zip(names, values, strict=True))

    threshold: float | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.predicted), len(self.human), len(self.sources), len(self.systems)}
        if len(lengths) != 1:
            raise InputError(f"columns must be of one length; got {sorted(lengths)}.")
        for name in _TUPLES:
            given = getattr(self, name)
            if given and len(given) != self.n:
                raise InputError(f"{name} are none or one per row; got {len(given)}, not {self.n}.")
        for column in (self.damaged, self.versioned):
            if column is not None and column.shape != (self.n, len(self.kinds)):
                raise InputError(
                    f"versions are one row per row and one column per kind, {self.n} by "
                    f"{len(self.kinds)}; got shape {column.shape}."
                )

    def __len__(self) -> int:
        """Return how many rows there are, scored or not."""
        return self.n

    @property
    def n(self) -> int:
        """Rows, scored or not."""
        return len(self.predicted)

    @property
    def n_unscored(self) -> int:
        """Rows without a score."""
        return int(np.isnan(self.predicted).sum())

    @property
    def share_scored(self) -> float:
        """Fraction of rows with a score; 1 for a table without rows."""
        return 1.0 - self.n_unscored / self.n if self.n else 1.0

    @property
    def least_scored(self) -> float:
        """The smallest fraction with a score: of all targets, and of rows and their versions."""
        return min(min(part.share_scored, part.share_versions_scored) for part in self.parts)

    @property
    def share_versions_scored(self) -> float:
        """Fraction of the changed versions with a score; 1 for a table without versions."""
        if self.damaged is None or self.versioned is None or not self.versioned.any():
            return 1.0
        return 1.0 - float(np.isnan(self.damaged[self.versioned]).mean())

    @property
    def is_rated(self) -> bool:
        """Whether people rated these rows; True for a table without rows."""
        return not self.n or not bool(np.isnan(self.human).all())

    def predicting(
        self,
        predicted: FloatArray,
        damaged: FloatArray | None = None,
        *,
        judge_scale: Scales = None,
    ) -> PredictionTable:
        """Return the same rows with other predictions, and ``damaged`` those on their versions."""
        kept = damaged is not None
        return replace(
            self,
            predicted=predicted,
            problems=(),
            judge_scale=judge_scale,
            kinds=self.kinds if kept else (),
            damaged=damaged,
            versioned=self.versioned if kept else None,
            threshold=None,
        )

    def of_kinds(self, kinds: Iterable[Perturbation]) -> PredictionTable:
        """Return the table with the versions of these kinds alone, as far as it has them."""
        wanted = set(kinds)
        places = [place for place, kind in enumerate(self.kinds) if kind in wanted]
        return replace(
            self,
            kinds=tuple(self.kinds[place] for place in places),
            damaged=None if self.damaged is None else self.damaged[:, places],
            versioned=None if self.versioned is None else self.versioned[:, places],
        )

    def standing_for(self, n_rows: float) -> PredictionTable:
        """Return the table as a part of ``n_rows`` rows: only D grows with the number of rows."""
        if self.damaged is None or not self.n:
            return self
        return replace(self, evidence=n_rows / self.n_rows)

    @property
    def n_rows(self) -> float:
        """Rows of each target, on average."""
        return self.n / len(set(self.targets) or {""})

    def part(self, indices: NDArray[np.intp]) -> PredictionTable:
        """Return the rows at ``indices``, standing for all rows of this table."""
        return self.take(indices).standing_for(self.n_rows * self.evidence)

    def take(self, indices: NDArray[np.intp]) -> PredictionTable:
        """Return the rows at ``indices``, in that order."""
        given = {name: column for name in _TUPLES if (column := getattr(self, name))}
        places = indices.tolist() if given else []
        taken: dict[str, Any] = {
            name: tuple(map(column.__getitem__, places)) for name, column in given.items()
        }
        for name in _ARRAYS:
            if (column := getattr(self, name)) is not None:
                taken[name] = column[indices]
        return replace(self, **taken)

    @property
    def parts(self) -> list[PredictionTable]:
        """The table of each target, in the order of their first rows."""
        if not self.targets:
            return [self]
        return [
            replace(
                self.take(places),
                targets=(),
                scale=scale_of_target(self.scale, name),
                judge_scale=scale_of_target(self.judge_scale, name),
            )
            for name, places in self.places.items()
        ]

    @property
    def places(self) -> dict[str, NDArray[np.intp]]:
        """Where the rows of each target are, in the order of their first rows."""
        labels = np.asarray(self.targets or ("",) * self.n)
        return {one: np.flatnonzero(labels == one) for one in dict.fromkeys(self.targets or ("",))}

    @classmethod
    def of_parts(cls, parts: Mapping[str, PredictionTable]) -> PredictionTable:
        """Return one table of several targets' tables, by target."""
        tables = list(parts.values())
        columns: dict[str, Any] = {}
        for name in _TUPLES:
            given = [getattr(one, name) for one in tables]
            if all(len(own) == one.n for own, one in zip(given, tables, strict=True)):
                columns[name] = tuple(itertools.chain(*given))
        for name in _ARRAYS:
            given = [getattr(one, name) for one in tables]
            if all(own is not None for own in given):
                columns[name] = np.concatenate(given)
        columns["targets"] = tuple(name for name, one in parts.items() for _ in range(one.n))
        return cls(
            **columns,
            scale=_by_target({name: one.scale for name, one in parts.items()}),
            judge_scale=_by_target({name: one.judge_scale for name, one in parts.items()}),
            kinds=tables[0].kinds if "damaged" in columns else (),
            threshold=tables[0].threshold,
        )


_TUPLES = ("problems", "targets", "n_calls", "usd", "examples", "judgements")
_ARRAYS = ("predicted", "human", "sources", "systems", "damaged", "versioned")


def prediction_table(
    judgements: Sequence[Judgement],
    human: FloatArray,
    *,
    sources: Labels,
    systems: Labels,
    target: str = SCORE,
    scale: Scale | None = None,
    judge_scale: Scale | None = None,
    usd: Sequence[float] = (),
    kinds: Sequence[Perturbation] = (),
    versioned: NDArray[np.bool_] | None = None,
    is_rated: bool = True,
    examples: Sequence[Any] = (),
    threshold: float | None = None,
) -> PredictionTable:
    """Return the table of judgements of rows, then of their versions, on one target."""
    n = len(human)
    verdicts = judgements if target == SCORE else on_criterion(judgements, target)
    damaged = None
    if versioned is not None:
        damaged = np.full(versioned.shape, np.nan)
        damaged[versioned] = _points(verdicts[n:])
    table = PredictionTable(
        predicted=_points(verdicts[:n]),
        human=human,
        sources=sources,
        systems=systems,
        problems=tuple(one.cause for one in verdicts[:n]),
        n_calls=tuple(len(one.calls) for one in judgements[:n]),
        usd=tuple(usd),
        scale=scale,
        judge_scale=judge_scale if target == SCORE else PERCENT,
        kinds=tuple(kinds) if versioned is not None else (),
        damaged=damaged,
        versioned=versioned,
        examples=tuple(examples),
        judgements=tuple(judgements[:n]),
        threshold=threshold,
    )
    rated = ~np.isnan(human)
    return table if rated.all() or not is_rated else table.take(np.flatnonzero(rated))


def scale_of_target(given: Scales, name: str) -> Scale | None:
    return given.get(name) if isinstance(given, Mapping) else given


def _by_target(scales: Mapping[str, Scales]) -> Scales:
    """Return the scale of all targets, or their known scales by name."""
    first, *others = scales.values()
    if all(one == first for one in others):
        return first
    return {name: one for name, one in scales.items() if isinstance(one, Scale)}


def _points(judgements: Iterable[Judgement]) -> FloatArray:
    return np.asarray([one.score for one in judgements], float)  # None is nan


def on_criterion(judgements: Iterable[Judgement], name: str) -> list[Judgement]:
    """Return the verdicts on one criterion alone, from 0 to 100, or why there are none."""
    own = folded(name)
    found = []
    for judgement in judgements:
        scores = [one for key, one in judgement.criteria.items() if folded(key) == own]
        if scores and scores[0].score is not None:
            one = scores[0]
            found.append(Judgement(score=one.score, explanation=one.explanation))
            continue
        why = scores[0].problem if scores else ""
        problem = why or judgement.problem or f"the judge gave no score on {name}"
        reason = judgement.reason or (Reason.UNREADABLE if why else Reason.OTHER)
        found.append(Judgement.unscored(problem, reason=reason))
    return found
