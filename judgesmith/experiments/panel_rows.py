"""What decides a panel, and the rows it is made from: none that a member has seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet, check_dataset
from judgesmith.experiments.ratings import Aggregate
from judgesmith.experiments.targets import Targets, targets_of
from judgesmith.experiments.unseen import rated_rows, unseen_places
from judgesmith.optimizers.aggregation import FEWEST_ROWS, FEWEST_SOURCES
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.splitting import split_by_source
from judgesmith.programs.saved_kinds import AnySaved
from judgesmith.signatures.panel_rules import OutlierRule, PanelRules
from judgesmith.signatures.rubric import folded

BY_RULE = "rule"
"""Stands for a supervisor where errors are merged without a model."""


class PanelSettings(BaseModel):
    """What decides, besides members and data, what a panel becomes.

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
        Of all that is drawn.
    texts : bool
        Whether a few judged texts are kept.
    score : {"learned", "mean", "median"}
        What the members' scores become: what ``PanelSelection`` finds, or the mean or median of
        all, each as a share of its scale.
    supervisor : str
        Who makes one list of the members' errors: the model of that name, ``rule`` without a
        model, or nobody where it is empty.
    outliers : {"auto", "deviation", "median", "none"}
        Whose errors are left out of that list; see ``PanelRules``.
    subsets : bool
        Whether the agreement of every subset of the members is told.
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

    @model_serializer(mode="wrap")
    def _as_before_where_nothing_is_new(
        self, plain: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        """Leave out what is as it was before there was a choice, so that old runs are known."""
        found: dict[str, Any] = plain(self)
        usual = {"score": "learned", "supervisor": "", "outliers": "auto", "subsets": False}
        return {k: v for k, v in found.items() if k not in usual or v != usual[k]}

    @property
    def merging(self) -> dict[str, Any]:
        """What a ``SavedPanel`` has of how errors become one list: ``rules``, ``supervisor``."""
        from judgesmith.programs.saved_supervisor import SavedSupervisor
        from judgesmith.programs.supervisor import Supervisor

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
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelParts:
    """The rows of a panel, none of which a member has seen.

    Attributes
    ----------
    targets : Targets
        What people said.
    selection : Rows
        To learn weights from.
    heldout : Rows or None
        To report on.
    n_known : int
        Rated rows that are left out because a member was made from their sources.
    """

    targets: Targets
    selection: Rows
    heldout: Rows | None
    n_known: int


def panel_parts(
    members: Mapping[str, AnySaved], dataset: DataSet, settings: PanelSettings
) -> PanelParts:
    """Return the rows to learn weights from and to report on.

    Raises
    ------
    ValueError
        If there are fewer than two members, two are the same judge, they were made for different
        targets and none is named, or too few rows are left that none of them has seen.
    """
    check_dataset(dataset)
    if len(members) < 2:
        raise InputError(f"a panel has two judges or more; got {', '.join(members) or 'none'}.")
    known_as: dict[str, str] = {}
    for name, one in members.items():
        other = known_as.setdefault(one.fingerprint, name)
        if other != name:
            raise InputError(
                f"{other} and {name} are the same judge (fingerprint {one.fingerprint}), and would "
                "count twice; name each once."
            )
    made_for = {folded(one.target): one.target for one in members.values()}
    if not settings.target and len(made_for) > 1:
        raise InputError(
            f"the judges were made for {', '.join(made_for.values())}; say which ratings the panel "
            "is to agree with."
        )
    targets = targets_of(
        dataset, settings.target or next(iter(made_for.values())), settings.aggregate
    )
    known = frozenset[str]().union(*(one.seen_keys for one in members.values()))
    places = unseen_places(dataset, targets, known)
    n_known = len(targets.rated) - len(places)
    groups = dataset.groups[places]
    split = None
    if len(np.unique(groups)) > 1:
        split = split_by_source(
            groups,
            targets.values[places],
            holdout=settings.holdout,
            rng=np.random.default_rng([settings.seed, 15]),
        )
    n = 0 if split is None else len(split.tuning)
    n_sources = 0 if split is None else len(np.unique(groups[split.tuning]))
    if split is None or n < FEWEST_ROWS or n_sources < FEWEST_SOURCES:
        what = "weights need" if settings.score == "learned" else "to tell the best judge takes"
        raise InputError(
            f"{what} {FEWEST_ROWS} rated rows of {FEWEST_SOURCES} sources that no judge of "
            f"the panel was made from, beside those held out; there are {n} of {n_sources}, and "
            f"{n_known} rows are of sources that one was made from. Give other rated rows, or "
            "judges compiled from the same ones, as those with one --seed are."
        )
    selection = rated_rows(dataset, targets, places[split.tuning])
    selection.refuse_constant(("score",))
    held = places[split.heldout]
    heldout = rated_rows(dataset, targets, held) if len(held) else None
    return PanelParts(targets=targets, selection=selection, heldout=heldout, n_known=n_known)
