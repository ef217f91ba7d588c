"""Rated rows as DSPy examples, and back: what optimizers are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import FloatArray
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

Versions = Sequence[tuple[Perturbation, RatedItem | None]]
"""Changed versions of one row, by kind; None where there is none of a kind."""


def rated_example(
    item: RatedItem,
    score: float,
    scale: Scale,
    *,
    group: int | str,
    criteria: Mapping[str, float] | None = None,
    versions: Versions = (),
) -> dspy.Example:
    """Return one rated row as a DSPy example.

    Parameters
    ----------
    item : RatedItem
        The texts.
    score : float
        What people said, in points of ``scale``; nan where nobody rated any row.
    group : int or str
        Equal for rows that must stay together, such as those of one source.
    criteria : dict of str to float or None
        What people said of single criteria, from 0 (worst) to 100 (best).
    versions : sequence of (Perturbation, RatedItem or None)
        Changed versions of the row, where an objective looks at them; the same kinds in all rows
        that have some.

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
    if versions:
        example.versions = tuple(versions)
    return example.with_inputs("source", "context", "response")


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
        ``references``, ``criteria`` (what people said of single criteria, 0 to 100, by name) and
        ``versions`` (see ``rated_example``). Where no example has a score, but all have versions
        and a scale, nobody rated them: ``score`` is nan then.
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
        raise InputError("no rated items to learn from; give a non-empty trainset.")
    items, human, groups, systems, criteria, versions = [], [], [], [], [], []
    scales: dict[Scale | None, int] = {}
    for place, example in enumerate(examples):
        for name in ("response", "score"):
            if example.get(name) is None:
                raise InputError(f"example {place} has no {name}; every rated example needs one.")
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
        versions.append(tuple(example.get("versions") or ()))
        own = scale or example.get("scale")
        scales.setdefault(own if own is None else Scale.model_validate(own), place)
    if len(scales) != 1 or None in scales:
        found = ", ".join("none" if one is None else str(one) for one in scales)
        raise InputError(f"expected one scale for all scores; got {found}. Give scale=Scale(…).")
    if not all(one is None or one.higher_is_better for one in scales):
        raise InputError("the scores count faults; turn their sign, so that more is better.")
    (known,) = (one for one in scales if one is not None)
    if percent_of_max:
        known.percent_of_max(known.high)  # refused here, before anything is asked
    values = np.asarray(human)
    kinds = _kinds_of(versions)
    if np.isnan(values).any() and not (np.isnan(values).all() and kinds):
        raise InputError("a score is nan; leave unrated items out.")
    return Rows(
        items=tuple(items),
        human=values,
        groups=np.asarray(groups),
        systems=np.asarray(systems),
        scale=known,
        criteria=_columns(criteria),
        percent_of_max=percent_of_max,
        kinds=kinds,
        versions=tuple(
            tuple(one for _, one in several) or (None,) * len(kinds)
            for several in versions
            if kinds
        ),
        examples=tuple(examples),
    )


def _kinds_of(versions: Sequence[Versions]) -> tuple[Perturbation, ...]:
    """Return the kinds of versions that examples have: the same in all that have some."""
    kinds = {tuple(kind for kind, _ in several) for several in versions if several}
    if len(kinds) > 1:
        raise InputError(
            "examples with versions have the same kinds in one order; give None where one has none "
            "of a kind."
        )
    return kinds.pop() if kinds else ()


def _criteria_of(example: dspy.Example, place: int) -> dict[str, float]:
    """Return what was said of single criteria by folded name, where anything was."""
    given = example.get("criteria") or {}
    if not isinstance(given, Mapping):
        raise InputError(
            f"example {place}: criteria are points by name, such as {{'fluency': 75}}; got "
            f"{given!r}."
        )
    said = {folded(name): float(points) for name, points in given.items() if points is not None}
    for name, points in said.items():
        if not (np.isnan(points) or points in PERCENT):
            raise InputError(f"example {place}: {name} is {points:g}, outside {PERCENT}.")
    return said


def _columns(said: Sequence[Mapping[str, float]]) -> dict[str, FloatArray]:
    """Return one array per criterion from what was said of each row."""
    names = dict.fromkeys(name for one in said for name in one)
    return {name: np.asarray([one.get(name, np.nan) for one in said], float) for name in names}
