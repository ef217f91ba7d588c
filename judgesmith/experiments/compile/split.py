"""The rows of one compilation: training, validation and test rows, which share no source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.definitions import unprintable
from judgesmith.data.items import DataSet
from judgesmith.data.reading import SourceGiven, as_dataset
from judgesmith.data.sheets.ratings import may_be_shown, was_chosen
from judgesmith.data.targets import Targets, targets_of
from judgesmith.errors import InputError
from judgesmith.experiments.compile.chosen_targets import ChosenTargets
from judgesmith.experiments.compile.settings import CompileSettings, threshold_rule
from judgesmith.experiments.compile.versions import (
    ChosenVersions,
    chosen_versions,
    original_places,
    refuse_too_few_versions,
    refuse_unchanged,
)
from judgesmith.metrics.verdicts.threshold import rows_to_show
from judgesmith.optimizers import rated_example
from judgesmith.optimizers.objectives.functions import check_direction
from judgesmith.optimizers.predictions import SCORE
from judgesmith.optimizers.rows import (
    IntArray,
    Rows,
    Split,
    Versions,
    pool_and_selection,
    rows_from,
    split_by_source,
)
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.runner import sources_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import shortest

if TYPE_CHECKING:
    import dspy


def check_rankable(items: Sequence[RatedItem], *, judge: str, what_for: str) -> None:
    """Refuse rows of which no two share a source, for a family that ranks within sources."""
    if not family_of(judge).ranks or any(len(group) > 1 for group in sources_of(items)):
        return
    raise InputError(
        f"{judge} ranks the responses to a source, and none of the {len(items)} {what_for} rows "
        "shares its source (id, source and context) with another.",
        hint="give several responses to each source.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The rows of one compilation, by use."""

    pool: Rows | None
    selection: Rows
    heldout: Rows | None
    heldout_places: IntArray
    n_known: int = 0
    n_chosen: int = 0
    n_versions: int = 0
    pool_places: Sequence[int] = ()
    versions: ChosenVersions | None = None  # None where the objective looks at none

    def counts(self, targets: ChosenTargets) -> dict[str, int]:
        """Return how many rows there are for what."""
        return {
            "train": 0 if self.pool is None else len(self.pool),
            "select": len(self.selection),
            "heldout": 0 if self.heldout is None else len(self.heldout),
            "unrated": targets.whole.n_unrated - self.n_versions,
        }

    @property
    def tuning(self) -> list[Rows]:
        """All rows that something is learned from."""
        return [self.selection] if self.pool is None else [self.pool, self.selection]


def first_split(
    groups: NDArray[Any], values: NDArray[Any], *, holdout: float, seed: int, rows: bool
) -> Split:
    """Return what may be learned from and what is reported on, the same for the same seed."""
    rng = np.random.default_rng([seed, 10])
    return split_by_source(groups, values, holdout=holdout, rng=rng, rows=rows)


def parts_of(
    dataset: DataSet,
    targets: ChosenTargets,
    settings: CompileSettings,
    known: frozenset[str] = frozenset(),
) -> Parts:
    """Return the rated rows for training, validation and test."""
    whole = targets.whole
    changed = chosen_versions(dataset, settings)
    originals = original_places(dataset) if changed is not None else np.arange(len(dataset))
    rated = np.intersect1d(whole.rated, originals) if targets.is_rated else originals
    groups = dataset.groups[rated]
    values = whole.values[rated] if targets.is_rated else np.zeros(len(rated))
    by_rows = settings.split_rows

    def rows(
        indices: np.ndarray, kinds: ChosenVersions | None = None, *, unseen: bool = False
    ) -> Rows | None:
        chosen = rated[indices]
        return _rows(dataset, targets, settings, chosen, kinds, unseen=unseen)

    split = first_split(groups, values, holdout=settings.holdout, seed=settings.seed, rows=by_rows)
    split, n_known = _without_known(
        split, np.asarray([dataset[i].key in known for i in rated.tolist()]), groups, rows=by_rows
    )
    split, n_chosen = _without_known(
        split, np.asarray([was_chosen(dataset[i]) for i in rated.tolist()]), groups, rows=by_rows
    )
    pool, chosen = pool_and_selection(
        groups[split.tuning],
        values[split.tuning],
        n_demonstrations=max(settings.n_to_show, n_explained(dataset, settings)),
        rng=np.random.default_rng([settings.seed, 11]),
        withheld=_never_shown(dataset, settings),
    )
    selection = rows(split.tuning[chosen], changed)
    if selection is None:
        raise InputError("no rated rows are left for validation.", hint="rate more sources.")
    if changed is not None:
        refuse_unchanged(selection, changed)
    refuse_few_labels(settings, values[split.tuning], targets, n_labelled=len(rated))
    if settings.optimizer != "none":  # here, before anything is asked
        selection.refuse_constant(targets.compared)
        refuse_too_few_versions(selection, settings.objective)
    reported = None if changed is None else replace(changed, seen=selection.kinds)
    pool_places = rated[split.tuning[pool]].tolist()
    parts = Parts(
        pool=_explained(rows(split.tuning[pool]), dataset, pool_places, whole.name, settings),
        selection=selection,
        heldout=rows(split.heldout, reported, unseen=True),
        heldout_places=rated[split.heldout],
        n_known=n_known,
        n_chosen=n_chosen,
        n_versions=len(dataset) - len(originals),
        pool_places=pool_places,
        versions=changed,
    )
    _check_parts(settings, parts, targets)
    return parts


def _never_shown(dataset: DataSet, settings: CompileSettings) -> NDArray[np.intp]:
    """Return groups with rows that are never to be demonstrations, as those of no start are."""
    hidden = [place for place, item in enumerate(dataset) if not may_be_shown(item)]
    shown = set(shown_keys(settings.protocol.demonstrations))
    if n := sum(dataset[place].key in shown for place in hidden):
        raise InputError(
            f"the judge to start from shows {n} of the rows that are never to be demonstrations.",
            hint="leave that judge out, or mark other rows.",
        )
    return dataset.groups[hidden]


def _rows(
    dataset: DataSet,
    targets: ChosenTargets,
    settings: CompileSettings,
    places: np.ndarray,
    kinds: ChosenVersions | None,
    *,
    unseen: bool,
) -> Rows | None:
    """Return rows with their ratings, and changed versions where these are asked for."""
    if not len(places):
        return None
    whole = targets.whole
    versions: list[Versions] = [()] * len(places)
    if kinds is not None:
        versions = kinds.of(places.tolist(), unseen=unseen)
    examples = [
        rated_example(
            dataset[i],
            whole.values[i],
            whole.scale,
            group=int(dataset.groups[i]),
            criteria={
                name: float(points[i])
                for name, points in targets.criteria.items()
                if not np.isnan(points[i])
            },
            versions=own,
        )
        for i, own in zip(places.tolist(), versions, strict=True)
    ]
    found = rows_from(examples, percent_of_max=settings.percent_of_max)
    return found if kinds is None else kinds.enough(found)


EXPLAINED = 10
"""For as many demonstrations there are training rows, where guidelines are read from raters' words.

A guideline must not come from a row that it is compared on."""


def n_explained(dataset: DataSet, settings: CompileSettings) -> int:
    """Return how many demonstrations' worth of training rows guidelines are to be read from."""
    reads = settings.infers_guidelines and any(item.rationale for item in dataset)
    return EXPLAINED if reads else 0


def _explained(
    pool: Rows | None,
    dataset: DataSet,
    places: Sequence[int],
    target: str,
    settings: CompileSettings,
) -> Rows | None:
    """Return training rows with the raters' words, which no other rows get."""
    length = settings.rationale_length
    words = tuple(raters_words(dataset[place], target, length) for place in places if length)
    return pool if pool is None or not any(words) else replace(pool, rationale=words)


def raters_words(item: RatedItem, target: str, length: int) -> dict[str, str]:
    """Return raters' words of one row by criterion, each on one line; ``score`` is the whole."""
    found: dict[str, str] = {}
    for name, texts in item.rationale.items():
        given = np.asarray(item.human.get(name, ()), dtype=float)
        far = np.abs(given - given.mean()) if len(given) >= len(texts) else np.zeros(len(texts))
        order = np.argsort(far[: len(texts)], kind="stable").tolist()
        lines = (_readable(texts[place] or "", length) for place in order)
        if line := next(filter(None, lines), ""):
            found[folded(name)] = line
    every = dict.fromkeys(found.values())
    whole = found.get(folded(target)) or _readable(" ".join(every), length)
    return {**found, SCORE: whole} if whole else {}


def _readable(text: str, length: int) -> str:
    line = " ".join(text.split())
    if unprintable(line) or imitates_layout(line):
        return ""
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def _check_parts(settings: CompileSettings, parts: Parts, targets: ChosenTargets) -> None:
    """Refuse an objective, or a family, that these ratings cannot tell judges apart by."""
    for objective in settings.aims.each:
        if not objective.checked_on_ratings:
            continue
        for part in (*parts.tuning, parts.heldout):
            if part is not None and not (part is parts.pool and "versions" in objective.needs):
                said = part.as_people_said(targets.compared)
                value = objective.value(said)
                if part is parts.selection:
                    check_direction(objective, said)
                if part is parts.selection and np.isnan(value):
                    raise InputError(
                        f"{objective} is undefined on the {len(part)} validation rows, even for "
                        "a judge that equals the ratings; adjacent and @sample need several "
                        "rated responses per source, @system several systems"
                        + (", discernment a changed version." if part.kinds else ".")
                    )
    for part, what_for in ((parts.selection, "validation"), (parts.heldout, "test")):
        if part is not None:
            check_rankable(part.items, judge=settings.protocol.judge, what_for=what_for)


def _without_known(
    split: Split, known: NDArray[np.bool_], groups: NDArray[np.intp], *, rows: bool
) -> tuple[Split, int]:
    """Return the split with what is known moved to the rows to tune on, and how much was."""
    seen = known if rows else np.isin(groups, groups[known])
    moved = split.heldout[seen[split.heldout]]
    if not len(moved):
        return split, 0
    return Split(
        tuning=np.sort(np.concatenate([split.tuning, moved])),
        heldout=split.heldout[~seen[split.heldout]],
    ), len(moved)


def examples_of(rows: Rows) -> list[dspy.Example]:
    """Return rows as the DSPy examples that optimizers are given."""
    return [
        rated_example(
            item,
            rows.human[place],
            rows.scale,
            group=rows.groups[place],
            criteria={
                name: float(points[place])
                for name, points in rows.criteria.items()
                if not np.isnan(points[place])
            },
            versions=tuple(zip(rows.kinds, rows.versions[place], strict=True))
            if rows.kinds
            else (),
            rationale=rows.rationale[place] if rows.rationale else None,
        )
        for place, item in enumerate(rows.items)
    ]


def unseen_places(dataset: DataSet, targets: Targets, known: frozenset[str]) -> IntArray:
    """Return the indices of rated rows with an unseen source."""
    seen = np.asarray([item.key in known for item in dataset], dtype=bool)
    rated = targets.rated
    return rated[~np.isin(dataset.groups[rated], dataset.groups[seen])]


def rows_to_fit(
    dataset: DataSet,
    targets: Targets,
    places: Sequence[int] | IntArray,
    versions: Sequence[Versions] = (),
) -> Rows:
    """Return the rated rows at ``places`` as optimizers work on them; at least one."""
    return rows_from(_examples_at(dataset, targets, list(map(int, places)), versions))


def _examples_at(
    dataset: DataSet, targets: Targets, places: Sequence[int], versions: Sequence[Versions] = ()
) -> list[dspy.Example]:
    return [
        rated_example(
            dataset[i],
            targets.values[i],
            targets.scale,
            group=int(dataset.groups[i]),
            versions=own,
        )
        for i, own in zip(places, versions or repeat((), len(places)), strict=True)
    ]


def to_examples(
    dataset: DataSet | SourceGiven, target: str = "auto", **reading: Any
) -> list[dspy.Example]:
    """Return rated rows as examples for DSPy: inputs are the texts, ``score`` is the rating.

    Parameters
    ----------
    dataset : DataSet, or what ``judgesmith.read`` reads
        Rated items.
    target : str
        The rating that is the score; ``"auto"`` takes the set's own default.
    **reading
        What ``judgesmith.read`` takes, for data that is not read yet.

    Raises
    ------
    ValueError
        If the target is unrated.

    Examples
    --------
    >>> examples = to_examples("sample")
    >>> len(examples), sorted(examples[0].inputs().keys()), examples[0].score
    (160, ['context', 'response', 'source'], 1.5)
    """
    dataset = as_dataset(dataset, "to_examples", **reading)
    targets = targets_of(dataset, target)
    return _examples_at(dataset, targets, targets.rated.tolist())


def set_aside(
    dataset: DataSet, targets: Targets, *, share: float, seed: int
) -> tuple[DataSet, DataSet]:
    """Return the rows of most sources, and those of some that are kept for later."""
    rated = targets.rated
    chosen = np.asarray([was_chosen(item) for item in dataset], dtype=bool)
    rated = rated[~np.isin(dataset.groups[rated], dataset.groups[chosen])]
    split = split_by_source(
        dataset.groups[rated],
        targets.values[rated],
        holdout=share,
        rng=np.random.default_rng([seed, 14]),
    )
    later = np.isin(dataset.groups, dataset.groups[rated[split.heldout]])
    return dataset.subset(np.flatnonzero(~later)), dataset.subset(np.flatnonzero(later))


FEWEST_OF_A_LABEL = 3
"""Rows of either label, at least, to choose a threshold by."""


def refuse_few_labels(
    settings: CompileSettings, values: NDArray[Any], targets: ChosenTargets, *, n_labelled: int
) -> None:
    """Refuse too few of a label, of those not held out, for a threshold, or to promise a floor."""
    scale = targets.whole.scale
    if not scale.is_verdict or len(scale.labels) != 2:
        return
    counts = dict(zip(scale.labels, np.bincount(values.astype(int), minlength=2), strict=True))
    needed = dict.fromkeys(scale.labels, FEWEST_OF_A_LABEL)
    why = "a threshold"
    for terms, bound in threshold_rule(settings).floors:
        for _, one in terms:
            label = {"tpr": scale.labels[1], "tnr": scale.labels[0]}.get(str(one))
            if label is not None and (n := rows_to_show(bound)) > needed[label]:
                needed[label], why = n, f"{one} >= {shortest(bound)}"
    for label, n in needed.items():
        if (there := int(counts[label])) < n:
            of_floor = n > FEWEST_OF_A_LABEL
            raise InputError(
                f"{why} takes {n} rows labelled {label!r} to learn from, and there are "
                f"{there}: {len(values)} of {n_labelled} labelled rows are not held out.",
                where="--objective" if of_floor else None,
                hint=f"label about {math.ceil((n - there) * n_labelled / len(values))} more such "
                + ("rows, or lower the floor." if of_floor else "rows."),
            )
