"""What decides a panel, and the rows it is made from: none that a member has seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, Literal, TypedDict

import numpy as np
from pydantic import ConfigDict, Field

from judgesmith.data.items import DataSet, check_dataset
from judgesmith.data.targets import Targets, nobody_said, targets_of
from judgesmith.errors import InputError
from judgesmith.experiments.compile.settings import UNRATED, CompileSettings
from judgesmith.experiments.compile.split import rows_to_fit
from judgesmith.experiments.compile.versions import (
    ChosenVersions,
    chosen_versions,
    original_places,
    refuse_too_few_versions,
    refuse_unchanged,
)
from judgesmith.experiments.monitor.recheck_rule import MOST_ITEMS
from judgesmith.optimizers.fitting.cross_validation import FEWEST_ROWS, FEWEST_SOURCES
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.rows import Rows, split_by_source
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedPanel
from judgesmith.signatures.aggregation import Middle, OutlierRule, PanelRules, PanelWeights
from judgesmith.signatures.items import Aggregate, RatedItem
from judgesmith.signatures.plain_data import SettingsModel, fingerprint_of
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

BY_RULE = "rule"
"""Stands for a supervisor where errors are merged without a model."""


class PanelSettings(SettingsModel):
    """The settings that define a panel, next to members and data.

    Parameters
    ----------
    target : str
        What people rated; empty takes what all members were made for.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How several raters become one value.
    objective : str
        What is made as large as possible.
    holdout : float
        Share of the sources that no member has seen, kept for the report.
    n_rounds : int
        See ``PanelSelection``.
    seed : int
        Random seed.
    texts : bool
        Whether a few judged texts are kept.
    score : {"learned", "mean", "median"}
        What the members' scores become: what ``PanelSelection`` finds, or the mean or median of
        all, each as a share of its scale, which needs no ratings.
    supervisor : str
        Who makes one list of the members' errors: the model of that name, ``rule`` without a
        model; an empty name merges no list.
    outliers : {"auto", "deviation", "median", "none"}
        Whose errors are left out of that list; see ``PanelRules``.
    subsets : bool
        Whether the agreement of every subset of the members is told.
    task, kinds, holdout_kinds, versions
        Changed versions of texts, where the objective looks at them: see ``CompileSettings``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str = ""
    aggregate: Aggregate = "mean"
    objective: str = "q"
    holdout: float = Field(default=0.3, ge=0.0, lt=1.0)
    n_rounds: int = Field(default=20, ge=1)
    seed: int = 0
    texts: bool = True
    score: Literal["learned", "mean", "median"] = "learned"
    supervisor: str = ""
    outliers: OutlierRule = "auto"
    subsets: bool = False
    task: str | None = None
    kinds: tuple[str, ...] = ()
    holdout_kinds: tuple[str, ...] = ()
    versions: int = Field(default=1, ge=0)

    @property
    def for_versions(self) -> CompileSettings:
        """What decides which changed versions of texts there are, as ``compile`` has it."""
        own = ("objective", "seed", "task", "kinds", "holdout_kinds", "versions")
        return CompileSettings.model_validate({name: getattr(self, name) for name in own})

    @property
    def needing_ratings(self) -> str | None:
        """What of the settings cannot be had without ratings; None where nothing is."""
        if self.target:
            return f"the target {self.target}"
        by_people = bool(parse_objectives(self.objective).rated_terms)
        if by_people and self.score == "learned":
            return f"learning weights (by {self.objective})"
        if self.subsets:
            return "telling the agreement of subsets"
        asked = by_people and "objective" in self.model_fields_set
        return f"the objective {self.objective}" if asked else None

    @property
    def middle(self) -> Middle:
        """What of the scores is taken where no weights are learned."""
        return "median" if self.score == "median" else "mean"

    @property
    def merging(self) -> dict[str, Any]:
        """What a ``SavedPanel`` has of how errors become one list: ``rules``, ``supervisor``."""
        from judgesmith.programs.artifacts.saved_ensembles import SavedSupervisor
        from judgesmith.programs.families.ensemble.judges import Supervisor

        if not self.supervisor:
            return {}
        rules = PanelRules(outliers=self.outliers)
        if self.supervisor == BY_RULE:
            return {"rules": rules}
        return {"rules": rules, "supervisor": SavedSupervisor.of(Supervisor(), self.supervisor)}

    def fingerprint(
        self, members: Mapping[str, AnySaved], dataset: DataSet, asked: str = ""
    ) -> str:
        """Return twelve hex digits that change when members, data or any setting does.

        ``asked`` says which models are asked and where, if not those that members were made with.
        """
        held = {name: one.fingerprint for name, one in members.items()}
        whole = [self.model_dump(mode="json"), held, dataset.digest, version("judgesmith")]
        whole += [asked] if asked else []
        return fingerprint_of(whole)


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelParts:
    """The rows of a panel, none of which a member has seen."""

    target: str
    human_scale: Scale
    n_unrated: int
    selection: Rows | None = None  # to learn weights from; None: too few or not needed
    heldout: Rows | None = None
    texts: tuple[RatedItem, ...] = ()
    versions: ChosenVersions | None = None  # None where the objective looks at none
    n_rated: int = 0
    n_known: int = 0
    is_rated: bool = False

    @property
    def items(self) -> tuple[RatedItem, ...]:
        """Everything that the members judge."""
        rows = [one for one in (self.selection, self.heldout) if one is not None]
        return (*(item for one in rows for item in one.texts), *self.texts)


def panel_parts(
    members: Mapping[str, AnySaved], dataset: DataSet, settings: PanelSettings
) -> PanelParts:
    """Return the rows to learn weights from and to report on."""
    check_dataset(dataset)
    if len(members) < 2:
        raise InputError(f"a panel has two judges or more; got {', '.join(members) or 'none'}.")
    known_as: dict[str, str] = {}
    for name, one in members.items():
        other = known_as.setdefault(one.fingerprint, name)
        if other != name:
            raise InputError(
                f"{other} and {name} are the same judge (fingerprint {one.fingerprint}), and would "
                "count twice.",
                hint="name each once.",
            )
    known = frozenset[str]().union(*(one.seen_keys for one in members.values()))
    rated = bool(dataset.criteria)
    if not rated and (what := settings.needing_ratings) is not None:
        raise InputError(
            f"{what} needs ratings, and {dataset.name} has none: its {len(dataset)} items are "
            "unrated.",
            hint="say --map score=COLUMN if a column holds ratings, or leave that out; "
            "--score mean and --score median by themselves need none, nor does --objective d_avg.",
        )
    targets = _targets(members, dataset, settings) if rated else _made_for(members, dataset)
    changed = chosen_versions(dataset, settings.for_versions)
    originals = np.arange(len(dataset)) if changed is None else original_places(dataset)
    unseen = np.flatnonzero(_unseen(dataset, known))
    places = np.intersect1d(unseen, originals)
    if rated:
        places = np.intersect1d(places, targets.rated)
    n_known = len(np.setdiff1d(targets.rated if rated else originals, unseen))
    facts: _Facts = {
        "target": targets.name,
        "human_scale": targets.scale,
        "n_unrated": len(originals) - len(np.intersect1d(targets.rated, originals)),
        "n_rated": len(places) if rated else 0,
        "n_known": n_known,
        "is_rated": rated,
    }
    if not rated and changed is None:
        return PanelParts(**facts, texts=_texts(dataset, settings, known))
    groups = dataset.groups[places]
    split = None
    if len(np.unique(groups)) > 1:
        split = split_by_source(
            groups,
            targets.values[places] if rated else np.zeros(len(places)),
            holdout=settings.holdout,
            rng=np.random.default_rng([settings.seed, 15]),
        )
    n = 0 if split is None else len(split.tuning)
    n_sources = 0 if split is None else len(np.unique(groups[split.tuning]))
    if split is None or n < FEWEST_ROWS or n_sources < FEWEST_SOURCES:
        if settings.needing_ratings is None and changed is None:
            return PanelParts(**facts, texts=_texts(dataset, settings, known))
        raise _too_few(settings, n, n_sources, n_known, rated=rated)
    if not rated:  # then scores are shares of the members' scales
        targets = replace(targets, scale=PERCENT)
    selection = _rows(dataset, targets, places[split.tuning], changed)
    if changed is not None:
        refuse_unchanged(selection, changed)
        if settings.score == "learned":
            refuse_too_few_versions(selection, settings.objective)
    selection.refuse_constant(("score",))
    held, heldout = places[split.heldout], None
    if len(held):
        reported = None if changed is None else replace(changed, seen=selection.kinds)
        heldout = _rows(dataset, targets, held, reported, unseen=True)
    return PanelParts(**facts, selection=selection, heldout=heldout, versions=changed)


def _too_few(
    settings: PanelSettings, n: int, n_sources: int, n_known: int, *, rated: bool
) -> InputError:
    what = "weights need" if settings.score == "learned" else "to tell how judges agree takes"
    kind = "rated rows" if rated else "rows"
    return InputError(
        f"{what} {FEWEST_ROWS} {kind} of {FEWEST_SOURCES} sources that no judge of the panel was "
        f"made from, beside those held out; there are {n} of {n_sources}, and {n_known} rows are "
        "of sources that one was made from.",
        hint=f"give other {kind}, or judges compiled from the same ones, as those with one --seed "
        "are.",
    )


def _targets(members: Mapping[str, AnySaved], dataset: DataSet, settings: PanelSettings) -> Targets:
    """Return what people said of what the members were made for, or of what is named."""
    made_for = {folded(one.target): one.target for one in members.values()}
    if not settings.target and len(made_for) > 1:
        raise InputError(
            f"the judges were made for {', '.join(made_for.values())}.",
            hint="say which ratings the panel is to agree with.",
        )
    name = settings.target or next(iter(made_for.values()))
    return targets_of(dataset, name, settings.aggregate)


def _made_for(members: Mapping[str, AnySaved], dataset: DataSet) -> Targets:
    """Return what the members were made for but no rating covers."""
    names = {folded(one.target): one.target for one in members.values()}
    scales = {one.human_scale for one in members.values()}
    alike = len(names) == 1 and len(scales) == 1
    return nobody_said(
        len(dataset),
        name=next(iter(names.values())) if alike else UNRATED,
        scale=scales.pop() if alike else PERCENT,
    )


def _rows(
    dataset: DataSet,
    targets: Targets,
    places: np.ndarray,
    changed: ChosenVersions | None,
    *,
    unseen: bool = False,
) -> Rows:
    """Return the rows at ``places``, with changed versions where the objective looks at them."""
    if changed is None:
        return rows_to_fit(dataset, targets, places)
    found = rows_to_fit(dataset, targets, places, changed.of(places.tolist(), unseen=unseen))
    return changed.enough(found)


def _unseen(dataset: DataSet, known: frozenset[str]) -> np.ndarray:
    """Return which rows are of sources that no member has seen."""
    seen = np.asarray([item.key in known for item in dataset], dtype=bool)
    return ~np.isin(dataset.groups, dataset.groups[seen])


def panel_to_learn(
    members: Mapping[str, AnySaved], parts: PanelParts, settings: PanelSettings
) -> SavedPanel:
    """Return the panel before its weights are learned: all members count alike."""
    scales = {name: one.scale for name, one in members.items()}
    return SavedPanel(
        members=members,
        weights=PanelWeights.equal(scales, settings.middle),
        target=parts.target,
        human_scale=parts.human_scale,
        **settings.merging,
    )


class _Facts(TypedDict):
    target: str
    human_scale: Scale
    n_unrated: int
    n_rated: int
    n_known: int
    is_rated: bool


def _texts(
    dataset: DataSet, settings: PanelSettings, known: frozenset[str]
) -> tuple[RatedItem, ...]:
    """Return a few rows of sources that no member has seen, where texts are kept."""
    places = np.intersect1d(np.flatnonzero(_unseen(dataset, known)), original_places(dataset))
    rng = np.random.default_rng([settings.seed, 16])
    n = min(MOST_ITEMS, len(places)) if settings.texts else 0
    return tuple(dataset[i] for i in np.sort(rng.choice(places, n, replace=False)).tolist())
