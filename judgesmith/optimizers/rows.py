"""Rated rows as optimizers work on them: aligned columns, parts of them, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.optimizers.table import (
    SCORE,
    Changed,
    FloatArray,
    JudgedTable,
    Labels,
    judged_table,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rated rows as an optimizer works on them.

    Attributes
    ----------
    items : tuple of RatedItem
        The texts.
    human : array, shape (n,), in points of ``scale``
        What people said; nan in all rows where nobody rated any.
    groups, systems : array, shape (n,)
        Rows that belong together; who responded.
    scale : Scale
        What people rated on.
    criteria : dict of str to array, shape (n,), from 0 to 100
        What people said of single criteria, by folded name; nan where nobody did.
    percent_of_max : bool
        How scores are shown to a model: as a share of the highest, or of the whole range.
    kinds : tuple of Perturbation
        Ways in which texts were changed, where objectives look at changed versions.
    versions : tuple of tuple of (RatedItem or None)
        The changed versions of each row, by kind; empty where there are no kinds.
    examples : tuple of dspy.Example, or empty
        What the rows were made from, for metrics of DSPy's kind.
    """

    items: tuple[RatedItem, ...]
    human: FloatArray
    groups: Labels
    systems: Labels
    scale: Scale
    criteria: Mapping[str, FloatArray] = field(default_factory=dict)
    percent_of_max: bool = False
    kinds: tuple[Perturbation, ...] = ()
    versions: tuple[tuple[RatedItem | None, ...], ...] = ()
    examples: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Refuse versions that are not those of the rows."""
        n = len(self.items) if self.kinds else 0
        if len(self.versions) != n or any(len(one) != len(self.kinds) for one in self.versions):
            raise InputError(
                f"versions are one per row and kind, {n} rows of {len(self.kinds)}; got "
                f"{len(self.versions)} rows."
            )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.items)

    def take(self, indices: Sequence[int] | np.ndarray) -> Rows:
        """Return the rows at ``indices``, in that order."""
        chosen = np.asarray(indices, dtype=int)
        return replace(
            self,
            items=tuple(self.items[i] for i in chosen),
            human=self.human[chosen],
            groups=self.groups[chosen],
            systems=self.systems[chosen],
            criteria={name: points[chosen] for name, points in self.criteria.items()},
            versions=tuple(self.versions[i] for i in chosen) if self.versions else (),
            examples=tuple(self.examples[i] for i in chosen) if self.examples else (),
        )

    @property
    def is_rated(self) -> bool:
        """Whether people rated these rows; True where there are none."""
        return not len(self) or not bool(np.isnan(self.human).all())

    @property
    def levels(self) -> FloatArray:
        """What people said, to draw parts that span its range; all alike where nobody rated."""
        return self.human if self.is_rated else np.zeros(len(self))

    @property
    def texts(self) -> tuple[RatedItem, ...]:
        """Everything there is to judge: the rows, then their changed versions, row by row."""
        changed = (one for several in self.versions for one in several if one is not None)
        return (*self.items, *changed)

    @property
    def versioned(self) -> NDArray[np.bool_]:
        """Which versions there are, shape (n, n_kinds)."""
        there = [[one is not None for one in several] for several in self.versions]
        return np.asarray(there, dtype=bool).reshape(len(self.versions), len(self.kinds))

    def without_versions(self) -> Rows:
        """Return the rows by themselves."""
        return replace(self, kinds=(), versions=()) if self.kinds else self

    def of_kinds(self, kinds: Iterable[Perturbation]) -> Rows:
        """Return the rows with the versions of these kinds alone, as far as they have them."""
        wanted = set(kinds)
        places = [place for place, kind in enumerate(self.kinds) if kind in wanted]
        if not places:
            return self.without_versions()
        return replace(
            self,
            kinds=tuple(self.kinds[place] for place in places),
            versions=tuple(tuple(several[place] for place in places) for several in self.versions),
        )

    def at(self, judgements: Sequence[Judgement], places: Iterable[int]) -> list[Judgement]:
        """Return, of judgements of ``texts``, those of the texts of the rows at ``places``.

        They are aligned with the ``texts`` of these rows.
        """
        chosen = list(places)
        own = [judgements[place] for place in chosen]
        if len(judgements) == len(self):
            return own
        ends = np.cumsum([len(self), *self.versioned.sum(axis=1).tolist()])
        return own + [one for p in chosen for one in judgements[ends[p] : ends[p + 1]]]

    def without(self, keys: Iterable[str]) -> Rows:
        """Return the rows whose texts are none of ``keys``."""
        left_out = frozenset(keys)
        kept = [i for i, item in enumerate(self.items) if item.key not in left_out]
        return self.take(kept)

    def said(self, target: str) -> FloatArray:
        """Return what people said of a target: ``score``, or a criterion by its name.

        Raises
        ------
        ValueError
            If nobody scored the criterion.
        """
        if target == SCORE or not self.is_rated:
            return self.human
        if folded(target) not in self.criteria:
            known = ", ".join(self.criteria) or "none"
            raise InputError(f"nobody scored the criterion {target}; there is {known}.")
        return self.criteria[folded(target)]

    def refuse_constant(self, targets: Sequence[str] = (SCORE,)) -> None:
        """Refuse rows that nothing can be chosen by.

        Raises
        ------
        ValueError
            If all scores on a target are equal: then no judge agrees better than another.
        """
        for target in targets if self.is_rated else ():
            said = self.said(target)
            said = said[~np.isnan(said)]
            if not said.size or np.ptp(said) == 0:
                on = "" if target == SCORE else f" on {target}"
                value = f"are {said[0]:g}" if said.size else "are missing"
                n_said = said.size or len(self)
                raise InputError(
                    f"all {n_said} scores{on} to choose by {value}: agreement with a "
                    "constant is undefined. Rate more rows, or take another target."
                )

    def judged(
        self,
        judgements: Sequence[Judgement],
        targets: Sequence[str] = (SCORE,),
        *,
        judge_scale: Scale,
        usd: Sequence[float] = (),
    ) -> JudgedTable:
        """Return the table of these rows under ``judgements``, one part per target.

        Parameters
        ----------
        judgements : sequence of Judgement
            Of every row, or of all ``texts``: then the table knows of changed versions, too.
        targets : sequence of str
            What is compared with people.
        judge_scale : Scale
            What the judge's own score is points of.
        usd : sequence of float
            What each judgement of a row costs, where that is known.

        Raises
        ------
        ValueError
            If there is not one judgement per row, or per text.
        """
        n = len(self)
        if len(judgements) not in (n, len(self.texts)):
            raise InputError(
                f"judgements are one per row or per text, {n} or {len(self.texts)}; got "
                f"{len(judgements)}."
            )
        changed = None
        if self.kinds and len(judgements) == len(self.texts):
            changed = Changed(kinds=self.kinds, versioned=self.versioned, judgements=judgements[n:])
        parts = {
            one: judged_table(
                judgements[:n],
                self.said(one),
                sources=self.groups,
                systems=self.systems,
                target=one,
                scale=self.scale if one == SCORE else PERCENT,
                judge_scale=judge_scale,
                usd=usd[:n],
                changed=changed,
                is_rated=self.is_rated,
                examples=self.examples,
            )
            for one in targets
        }
        return parts[targets[0]] if len(parts) == 1 else JudgedTable.of_parts(parts)

    def as_people_said(
        self, targets: Sequence[str] = (SCORE,), *, criteria: Iterable[str] = ()
    ) -> JudgedTable:
        """Return the table of a judge that says what people said, by one free call per row.

        It gives a point less to every version that is worse, and each of ``criteria`` a score.
        """
        n = len(self)
        nothing = Judgement(
            score=0.0, calls=("",), criteria={name: CriterionScore(score=50.0) for name in criteria}
        )
        empty = self.judged(
            [nothing] * len(self.texts), targets, judge_scale=self.scale, usd=[0.0] * n
        )
        said = empty.human if empty.is_rated else np.zeros(empty.n)
        damaged = None
        if empty.versioned is not None:
            worse = said[:, None] - [float(kind.lowers) for kind in self.kinds]
            damaged = np.where(empty.versioned, worse, np.nan)
        return empty.predicting(said, damaged, judge_scale=empty.scale)

    def percent(self) -> FloatArray:
        """Return what people said on 0 to 100, as the model is shown it."""
        if self.percent_of_max:
            return np.asarray([self.scale.percent_of_max(points) for points in self.human])
        return np.asarray([100 * self.scale.fraction(points) for points in self.human])
