"""Rated rows as DSPy examples, and back: what optimizers are given and what they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import dspy
import numpy as np

from judgesmith.optimizers.table import SCORE, FloatArray, JudgedTable, Labels, judged_table
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale


def rated_example(
    item: RatedItem,
    score: float,
    scale: Scale,
    *,
    group: int | str,
    criteria: Mapping[str, float] | None = None,
) -> dspy.Example:
    """Return one rated row as a DSPy example.

    Parameters
    ----------
    item : RatedItem
        The texts.
    score : float
        What people said, in points of ``scale``.
    group : int or str
        Equal for rows that must stay together, such as those of one source.
    criteria : dict of str to float or None
        What people said of single criteria, from 0 (worst) to 100 (best).

    Examples
    --------
    >>> item = RatedItem(source="2 + 2?", response="4", source_id="sum")
    >>> rated_example(item, 5, Scale(low=1, high=5), group="sum").inputs().keys()
    ['source', 'context', 'response']
    """
    example = dspy.Example(
        source=item.source,
        context=item.context,
        response=item.response,
        score=float(score),
        scale=scale,
        group=group,
        system_id=item.system_id,
        criteria=dict(criteria or {}),
        references=item.references,
    )
    return example.with_inputs("source", "context", "response")


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rated rows as an optimizer works on them.

    Attributes
    ----------
    items : tuple of RatedItem
        The texts.
    human : array, shape (n,), in points of ``scale``
        What people said.
    groups, systems : array, shape (n,)
        Rows that belong together; who responded.
    scale : Scale
        What people rated on.
    criteria : dict of str to array, shape (n,), from 0 to 100
        What people said of single criteria, by folded name; nan where nobody did.
    percent_of_max : bool
        How scores are shown to a model: as a share of the highest, or of the whole range.
    """

    items: tuple[RatedItem, ...]
    human: FloatArray
    groups: Labels
    systems: Labels
    scale: Scale
    criteria: Mapping[str, FloatArray] = field(default_factory=dict)
    percent_of_max: bool = False

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
        )

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
        if target == SCORE:
            return self.human
        if folded(target) not in self.criteria:
            known = ", ".join(self.criteria) or "none"
            raise ValueError(f"nobody scored the criterion {target}; there is {known}.")
        return self.criteria[folded(target)]

    def refuse_constant(self, targets: Sequence[str] = (SCORE,)) -> None:
        """Refuse rows that nothing can be chosen by.

        Raises
        ------
        ValueError
            If all scores on a target are equal: then no judge agrees better than another.
        """
        for target in targets:
            said = self.said(target)
            said = said[~np.isnan(said)]
            if not said.size or np.ptp(said) == 0:
                on = "" if target == SCORE else f" on {target}"
                value = f"are {said[0]:g}" if said.size else "are missing"
                n_said = said.size or len(self)
                raise ValueError(
                    f"all {n_said} scores{on} to choose by {value}: agreement with a "
                    "constant is undefined. Rate more rows, or take another target."
                )

    def judged(
        self,
        judgements: Sequence[Judgement],
        targets: Sequence[str] = (SCORE,),
        *,
        usd: Sequence[float] = (),
    ) -> JudgedTable:
        """Return the table of these rows under ``judgements``, one part per target.

        ``usd`` is what each judgement costs, where that is known.
        """
        parts = {
            one: judged_table(
                judgements,
                self.said(one),
                sources=self.groups,
                systems=self.systems,
                target=one,
                scale=self.scale if one == SCORE else PERCENT,
                usd=usd,
            )
            for one in targets
        }
        return parts[targets[0]] if len(parts) == 1 else JudgedTable.of_parts(parts)

    def as_people_said(self, targets: Sequence[str] = (SCORE,)) -> JudgedTable:
        """Return the table of a judge that says what people said, by one free call per row."""
        n = len(self)
        empty = self.judged([Judgement(score=0.0, calls=("",))] * n, targets, usd=[0.0] * n)
        return empty.predicting(empty.human)

    def percent(self) -> FloatArray:
        """Return what people said on 0 to 100, as the model is shown it."""
        if self.percent_of_max:
            return np.asarray([self.scale.percent_of_max(points) for points in self.human])
        return np.asarray([100 * self.scale.fraction(points) for points in self.human])


def rows_of(
    examples: Sequence[dspy.Example],
    scale: Scale | None = None,
    *,
    percent_of_max: bool = False,
) -> Rows:
    """Return rated rows from DSPy examples.

    Parameters
    ----------
    examples : sequence of dspy.Example
        With ``response`` and ``score``, and where there are any ``source``, ``context``,
        ``group`` (else ``source_id``, else the source's text), ``system_id``, ``scale``,
        ``references`` and ``criteria`` (what people said of single criteria, 0 to 100, by name).
    scale : Scale or None
        What the scores are measured in; None reads it from the examples.
    percent_of_max : bool
        See ``Rows``.

    Raises
    ------
    ValueError
        If there are no examples, one lacks a field, a criterion's score lies outside 0..100, the
        scale is unknown or differs, or it has no percent of its maximum where that is wanted.
    """
    if not examples:
        raise ValueError("no rated items to learn from; give a non-empty trainset.")
    items, human, groups, systems, criteria = [], [], [], [], []
    scales: dict[Scale | None, int] = {}
    for place, example in enumerate(examples):
        for name in ("response", "score"):
            if example.get(name) is None:
                raise ValueError(f"example {place} has no {name}; every rated example needs one.")
        source = example.get("source") or ""
        group = example.get("group", example.get("source_id", source))
        system = str(example.get("system_id") or "")
        items.append(
            RatedItem(
                source_id=str(group),
                system_id=system,
                source=source,
                context=example.get("context"),
                response=example["response"],
                references=tuple(example.get("references") or ()),
            )
        )
        human.append(float(example["score"]))
        groups.append(str(group))
        systems.append(system)
        criteria.append(_criteria_of(example, place))
        own = scale or example.get("scale")
        scales.setdefault(own if own is None else Scale.model_validate(own), place)
    if len(scales) != 1 or None in scales:
        found = ", ".join("none" if one is None else str(one) for one in scales)
        raise ValueError(f"expected one scale for all scores; got {found}. Give scale=Scale(…).")
    if not all(one is None or one.higher_is_better for one in scales):
        raise ValueError("the scores count faults; turn their sign, so that more is better.")
    (known,) = (one for one in scales if one is not None)
    if percent_of_max:
        known.percent_of_max(known.high)  # refused here, before anything is asked
    values = np.asarray(human)
    if np.isnan(values).any():
        raise ValueError("a score is nan; leave unrated items out.")
    return Rows(
        items=tuple(items),
        human=values,
        groups=np.asarray(groups),
        systems=np.asarray(systems),
        scale=known,
        criteria=_columns(criteria),
        percent_of_max=percent_of_max,
    )


def _criteria_of(example: dspy.Example, place: int) -> dict[str, float]:
    """Return what was said of single criteria by folded name, where anything was."""
    given = example.get("criteria") or {}
    if not isinstance(given, Mapping):
        raise ValueError(
            f"example {place}: criteria are points by name, such as {{'fluency': 75}}; got "
            f"{given!r}."
        )
    said = {folded(name): float(points) for name, points in given.items() if points is not None}
    for name, points in said.items():
        if not (np.isnan(points) or points in PERCENT):
            raise ValueError(f"example {place}: {name} is {points:g}, outside {PERCENT}.")
    return said


def _columns(said: Sequence[Mapping[str, float]]) -> dict[str, FloatArray]:
    """Return one array per criterion from what was said of each row."""
    names = dict.fromkeys(name for one in said for name in one)
    return {name: np.asarray([one.get(name, np.nan) for one in said], float) for name in names}
