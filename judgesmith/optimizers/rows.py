"""Rated rows as examples, and their parts: no two share a source."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray
from judgesmith.optimizers.predictions import SCORE, Labels, PredictionTable, prediction_table
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import dspy

IntArray = NDArray[np.intp]
POOL_SHARE = 0.2
ROWS_PER_DEMONSTRATION = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    tuning: IntArray
    heldout: IntArray


def n_held_out(n_sources: int, *, holdout: float = 0.3) -> int:
    """Return how many of two sources or more are held out."""
    return min(max(round(holdout * n_sources), 1), n_sources - 1)


def split_by_source(
    groups: ArrayLike,
    values: ArrayLike,
    *,
    holdout: float = 0.3,
    rng: np.random.Generator,
    rows: bool = False,
) -> Split:
    """Return a part to tune on and a part that nothing is learned from."""
    if not 0 <= holdout < 1:
        raise InputError(f"holdout is a share of sources from 0 to below 1; got {holdout}.")
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    everything = np.arange(len(codes), dtype=np.intp)
    if holdout == 0:
        return Split(tuning=everything, heldout=everything[:0])
    codes = everything if rows else codes
    n_groups = len(np.unique(codes))
    if n_groups < 2:
        raise InputError(
            f"there is {n_groups} source; holding some out needs at least 2.",
            hint="give more sources, or "
            "hold nothing out (holdout 0) and report on other data, or hold out rows of the same "
            "source (split rows), which flatters the judge.",
        )
    n_held = n_held_out(n_groups, holdout=holdout)
    levels = np.zeros(len(codes)) if rows else _vector(values, len(codes))
    held = np.isin(codes, _drawn(codes, levels, n_held, rng))
    return Split(tuning=np.flatnonzero(~held), heldout=np.flatnonzero(held))


def pool_and_selection(
    groups: ArrayLike,
    values: ArrayLike,
    *,
    n_demonstrations: int,
    rng: np.random.Generator,
    withheld: ArrayLike = (),
) -> tuple[IntArray, IntArray]:
    """Return demonstration rows and, of other sources and all ``withheld``, validation rows."""
    if n_demonstrations < 0:
        raise InputError(f"n_demonstrations must be zero or more; got {n_demonstrations}.")
    labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    levels = _vector(values, len(labels))
    tuning = np.flatnonzero(np.isfinite(levels))
    if n_demonstrations == 0:
        return tuning[:0], tuning
    codes = labels[tuning]
    names, sizes = np.unique(codes, return_counts=True)
    if len(names) < 2:
        raise InputError(
            "demonstrations and their validation rows must not share a source; got "
            f"{len(tuning)} rated {'row' if len(tuning) == 1 else 'rows'} of {len(names)} source "
            "to learn from.",
            hint="ask for no demonstrations (--demonstrations 0), or rate texts of more sources.",
        )
    offered = np.setdiff1d(names, labels[np.isin(np.asarray(groups), withheld)])
    if not len(offered):
        raise InputError(
            "every rated source has a row that is never to be a demonstration.",
            hint="ask for no demonstrations (--demonstrations 0), or mark fewer rows.",
        )
    most = min(len(names) // 2, len(offered))
    share = min(max(round(POOL_SHARE * len(names)), 1), most)
    needed = ROWS_PER_DEMONSTRATION * n_demonstrations
    # How many sources give enough rows depends on which are drawn: begin with the number
    # that would do on average, so that the strata cover nearly all of the pool.
    start = min(max(share, math.floor(needed / sizes.mean())), most)
    open_to = np.isin(codes, offered)
    pool = list(_drawn(codes[open_to], levels[tuning][open_to], start, rng))
    size_of = dict(zip(names.tolist(), sizes.tolist(), strict=True))
    rest = rng.permutation(np.setdiff1d(offered, pool)).tolist()
    n_rows = sum(size_of[name] for name in pool)
    while n_rows < needed and len(pool) < most:
        pool.append(rest.pop())
        n_rows += size_of[pool[-1]]
    inside = np.isin(codes, pool)
    return tuning[inside], tuning[~inside]


def folds_by_source(groups: ArrayLike, k: int, *, rng: np.random.Generator) -> IntArray:
    """Return a fold number per row, equal for rows of one group, with folds of like size."""
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    if not 2 <= k <= len(names):
        raise InputError(f"{len(names)} sources make 2 to {len(names)} folds; asked for {k}.")
    sizes = np.bincount(codes)
    order = rng.permutation(len(names))
    fold_of = np.empty(len(names), dtype=np.intp)
    filled = np.zeros(k)
    # Large groups first, each into the fold with the fewest rows so far.
    for name in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[name] = np.argmin(filled)
        filled[fold_of[name]] += sizes[name]
    return fold_of[codes]


def _vector(values: ArrayLike, n_rows: int) -> FloatArray:
    vector = np.asarray(values, dtype=float)
    if vector.shape != (n_rows,):
        raise InputError(f"expected one value per row, {n_rows}; got shape {vector.shape}.")
    return vector


def _drawn(
    groups: IntArray, levels: FloatArray, n_drawn: int, rng: np.random.Generator
) -> IntArray:
    names, codes = np.unique(groups, return_inverse=True)
    n = len(names)
    rated = np.isfinite(levels)
    counts = np.bincount(codes[rated], minlength=n)
    sums = np.bincount(codes[rated], weights=levels[rated], minlength=n)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
    # Ties, and groups without any value (they come last), are in random order.
    order = np.lexsort((rng.permutation(n), means))
    few = min(n_drawn, n - n_drawn)
    edges = np.floor(np.arange(few + 1) * n / max(few, 1)).astype(np.intp)
    one_each = [order[rng.integers(a, b)] for a, b in itertools.pairwise(edges)]
    chosen = np.zeros(n, dtype=bool)
    chosen[one_each] = True
    return names[chosen if few == n_drawn else ~chosen]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
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
    rationale: tuple[Mapping[str, str], ...] = ()

    def __post_init__(self) -> None:
        n = len(self.items) if self.kinds else 0
        if len(self.versions) != n or any(len(one) != len(self.kinds) for one in self.versions):
            raise InputError(
                f"versions are one per row and kind, {n} rows of {len(self.kinds)}; got "
                f"{len(self.versions)} rows."
            )

    def __len__(self) -> int:
        return len(self.items)

    def take(self, indices: Sequence[int] | np.ndarray) -> Rows:
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
            rationale=tuple(self.rationale[i] for i in chosen) if self.rationale else (),
        )

    @property
    def is_rated(self) -> bool:
        """Whether people rated these rows; True where there are none."""
        return not len(self) or not bool(np.isnan(self.human).all())

    @property
    def levels(self) -> FloatArray:
        """What people said, to draw parts that span its range; all alike without ratings."""
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
        return replace(self, kinds=(), versions=()) if self.kinds else self

    def of_kinds(self, kinds: Iterable[Perturbation]) -> Rows:
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
        chosen = list(places)
        own = [judgements[place] for place in chosen]
        if len(judgements) == len(self):
            return own
        ends = np.cumsum([len(self), *self.versioned.sum(axis=1).tolist()])
        return own + [one for p in chosen for one in judgements[ends[p] : ends[p + 1]]]

    def without(self, keys: Iterable[str]) -> Rows:
        left_out = frozenset(keys)
        kept = [i for i, item in enumerate(self.items) if item.key not in left_out]
        return self.take(kept)

    def words(self, row: int, target: str = SCORE) -> str:
        """Return a rater's words of why a row is rated as it is; empty without any."""
        return self.rationale[row].get(folded(target), "") if self.rationale else ""

    def said(self, target: str) -> FloatArray:
        if target == SCORE or not self.is_rated:
            return self.human
        if folded(target) not in self.criteria:
            known = ", ".join(self.criteria) or "none"
            raise InputError(f"no score on the criterion {target}; there is {known}.")
        return self.criteria[folded(target)]

    def of_table(self, targets: Sequence[str]) -> IntArray:
        """Return the row behind every row of the table of these targets."""
        return np.concatenate([np.flatnonzero(~np.isnan(self.said(one))) for one in targets])

    def refuse_constant(self, targets: Sequence[str] = (SCORE,)) -> None:
        for target in targets if self.is_rated else ():
            said = self.said(target)
            said = said[~np.isnan(said)]
            if not said.size or np.ptp(said) == 0:
                on = "" if target == SCORE else f" on {target}"
                value = f"{said[0]:g}" if said.size else "missing"
                raise InputError(
                    f"all {said.size or len(self)} validation scores{on} are {value}: agreement "
                    "with a constant is undefined.",
                    hint="rate more rows, or take another target.",
                )

    def judged(
        self,
        judgements: Sequence[Judgement],
        targets: Sequence[str] = (SCORE,),
        *,
        judge_scale: Scale,
        usd: Sequence[float] = (),
        threshold: float | None = None,
    ) -> PredictionTable:
        n = len(self)
        if len(judgements) not in (n, len(self.texts)):
            raise InputError(
                f"judgements are one per row or per text, {n} or {len(self.texts)}; got "
                f"{len(judgements)}."
            )
        with_versions = self.kinds and len(judgements) == len(self.texts)
        parts = {
            one: prediction_table(
                judgements,
                self.said(one),
                sources=self.groups,
                systems=self.systems,
                target=one,
                scale=self.scale if one == SCORE else PERCENT,
                judge_scale=judge_scale,
                usd=usd[:n],
                kinds=self.kinds,
                versioned=self.versioned if with_versions else None,
                is_rated=self.is_rated,
                examples=self.examples,
                threshold=threshold,
            )
            for one in targets
        }
        return parts[targets[0]] if len(parts) == 1 else PredictionTable.of_parts(parts)

    def as_people_said(
        self, targets: Sequence[str] = (SCORE,), *, criteria: Iterable[str] = ()
    ) -> PredictionTable:
        """Return the table of a judge that says what people said, by one free call per row."""
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
        if self.percent_of_max:
            return np.asarray([self.scale.percent_of_max(points) for points in self.human])
        return np.asarray([100 * self.scale.fraction(points) for points in self.human])


Versions = Sequence[tuple[Perturbation, RatedItem | None]]  # of one row; None if one is missing


def rated_example(
    item: RatedItem,
    score: float,
    scale: Scale,
    *,
    group: int | str,
    criteria: Mapping[str, float] | None = None,
    versions: Versions = (),
    rationale: Mapping[str, str] | None = None,
) -> dspy.Example:
    """Return one rated row as a DSPy example.

    Parameters
    ----------
    item, score, scale : RatedItem, float, Scale
        The texts, and what people said in points of the scale; nan without ratings.
    group : int or str
        Equal for rows that must stay together, such as those of one source.
    criteria : dict of str to float or None
        What people said of single criteria, from 0 (worst) to 100 (best).
    versions : sequence of (Perturbation, RatedItem or None)
        Changed versions of the row, where an objective looks at them; the same kinds in all rows.
    rationale : dict of str to str, or None
        A rater's words of why, by criterion, of the whole under ``score``: demonstrations and
        rewrites show them, so give them of rows to learn from alone.

    Examples
    --------
    >>> item = RatedItem(source="2 + 2?", response="4", source_id="sum")
    >>> rated_example(item, 5, Scale(low=1, high=5), group="sum").inputs().keys()
    ['source', 'context', 'response']
    """
    import dspy

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
    if rationale:
        example.rationale = dict(rationale)
    return example.with_inputs("source", "context", "response")


def rows_from(
    examples: Sequence[dspy.Example], scale: Scale | None = None, *, percent_of_max: bool = False
) -> Rows:
    if not examples:
        raise InputError("no rated items to learn from.", hint="give a non-empty trainset.")
    read = [_item_of(example, place) for place, example in enumerate(examples)]
    items = tuple(item for item, _ in read)
    human = np.asarray([score for _, score in read])
    criteria = [_criteria_of(example, place) for place, example in enumerate(examples)]
    versions = [tuple(example.get("versions") or ()) for example in examples]
    scale = _scale_of(examples, scale)
    if percent_of_max:
        scale.percent_of_max(scale.high)  # refused here, before anything is asked
    kinds = _kinds_of(versions)
    words = [_words_of(example) for example in examples]
    if np.isnan(human).any() and not (np.isnan(human).all() and kinds):
        raise InputError("a score is nan.", hint="leave unrated items out.")
    return Rows(
        items=items,
        human=human,
        groups=np.asarray([item.source_id for item in items]),
        systems=np.asarray([item.system_id for item in items]),
        scale=scale,
        criteria=_columns(criteria),
        percent_of_max=percent_of_max,
        kinds=kinds,
        versions=tuple(
            tuple(one for _, one in several) or (None,) * len(kinds)
            for several in versions
            if kinds
        ),
        examples=tuple(examples),
        rationale=tuple(words) if any(words) else (),
    )


def _words_of(example: dspy.Example) -> dict[str, str]:
    given = example.get("rationale")
    return {folded(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}


def _item_of(example: dspy.Example, place: int) -> tuple[RatedItem, float]:
    import dspy

    if not isinstance(example, dspy.Example):
        raise InputError(
            f"example {place} is a {type(example).__name__}; expected a dspy.Example.",
            hint="make examples of rated items by judgesmith.optimizers.rated_example.",
        )
    for name in ("response", "score"):
        if example.get(name) is None:
            raise InputError(f"example {place} has no {name}; every rated example needs one.")
    source = example.get("source") or ""
    item = RatedItem(
        source_id=str(example.get("group", example.get("source_id", source))),
        system_id=str(example.get("system_id") or ""),
        source=source,
        context=example.get("context"),
        response=example["response"],
        references=tuple(example.get("references") or ()),
    )
    try:
        return item, float(example["score"])
    except (TypeError, ValueError):
        raise InputError(
            f"example {place}: expected a number as score; got {example['score']!r}."
        ) from None


def _scale_of(examples: Sequence[dspy.Example], scale: Scale | None) -> Scale:
    given = (scale or example.get("scale") for example in examples)
    scales = {own if own is None else Scale.model_validate(own): None for own in given}
    known = [one for one in scales if one is not None]
    if len(scales) != 1 or not known:
        found = ", ".join("none" if one is None else str(one) for one in scales)
        raise InputError(
            f"expected one scale for all scores; got {found}.",
            hint="give scale=Scale(…) to the optimizer, or to each example.",
        )
    if not known[0].higher_is_better:
        raise InputError("the scores count faults; turn their sign, so that more is better.")
    return known[0]


def _kinds_of(versions: Sequence[Versions]) -> tuple[Perturbation, ...]:
    kinds = {tuple(kind for kind, _ in several) for several in versions if several}
    if len(kinds) > 1:
        raise InputError(
            "examples with versions have the same kinds in one order.",
            hint="give None where one has none of a kind.",
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
    names = dict.fromkeys(name for one in said for name in one)
    return {name: np.asarray([one.get(name, np.nan) for one in said], float) for name in names}
