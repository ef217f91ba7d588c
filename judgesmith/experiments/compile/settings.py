"""The settings that define a compiled judge, next to data and model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.data.items import DataSet
from judgesmith.data.targets import Targets
from judgesmith.errors import InputError
from judgesmith.experiments.compile.fields import SEARCHES, CompileFields, Search
from judgesmith.experiments.compile.human_criteria import known_criterion
from judgesmith.experiments.evaluate.within_source import RANKED_OBJECTIVE, check_within_source
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.grammar import as_objectives
from judgesmith.optimizers.objectives.verdicts import ThresholdRule, VerdictCost, costs_of
from judgesmith.optimizers.space.candidates import check_fixed
from judgesmith.optimizers.space.proposing import identity_of
from judgesmith.optimizers.trials import ImprovementTest
from judgesmith.programs.judging.registry import AnyProtocol, check_roles, family_of
from judgesmith.signatures import ActiveCriticConfig
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.rubric import DEFAULT_RUBRIC, Criterion, Rubric, folded

if TYPE_CHECKING:
    import dspy

    from judgesmith.optimizers.objectives.grammar import AnyObjective
else:
    AnyObjective = Any  # a validator checks it

_OF_WORDS = ("rationale_length", "guidelines")

SCREENED_TRIALS = 108
"""Configurations that a screened search tries by default."""


class CompileSettings(CompileFields):
    """Everything but data and model that decides what a compiled judge becomes.

    The fields are the single declaration of these settings: the options of ``judgesmith compile``,
    the fields of experiment specifications and the reference are generated from them. The
    ``objective`` may also be an ``Objective`` or a function, ``f(table) -> float`` or
    ``metric(example, prediction, trace=None) -> float``.

    Raises
    ------
    ValueError
        If a value is out of its range, or parts of the settings exclude each other.

    Examples
    --------
    >>> settings = CompileSettings(target="coherence", optimizer="protocol", holdout=0.25)
    >>> settings.target, settings.objective, settings.protocol.judge
    (('coherence',), 'q', 'active-critic')
    >>> CompileSettings(judge="pairs").objective
    'q@sample'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    protocol: AnyProtocol = Field(
        default_factory=ActiveCriticConfig,
        description="Configuration of the judge before the search; by default that of the family.",
    )
    confirm: ImprovementTest | None = Field(
        default=ImprovementTest(),
        description="Test that a change must pass to replace the baseline; a search of effects "
        "takes it where the chance of no gain is at most four times the level. None keeps the best "
        "on the validation rows without a test.",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_the_family_has_it(cls, given: Any) -> Any:
        """Take the family's own protocol where none is given, and no demonstrations it lacks."""
        if not isinstance(given, Mapping):
            return given
        found = dict(given)
        protocol = found.get("protocol")
        if isinstance(name := found.get("judge"), str):
            if protocol is None:
                found["protocol"] = protocol = family_of(name).protocol.model_validate({})
            elif isinstance(protocol, Mapping):
                found["protocol"] = protocol = {"judge": name, **protocol}
        own = protocol.get("judge") if isinstance(protocol, Mapping) else protocol
        name = getattr(own, "judge", own)
        if isinstance(name, str) and not family_of(name).has_demonstrations:
            found.setdefault("n_demonstrations", 0)
        if isinstance(name, str) and family_of(name).ranks:
            found["learn_weights"] = False  # ranks within a source become no points by weights
            found.setdefault("objective", RANKED_OBJECTIVE)
        if found.get("screen"):
            found.setdefault("n_trials", SCREENED_TRIALS)
        if "n_rounds" in found:
            found.setdefault("optimizer", "random")
        return found

    @field_validator("target", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("objective")
    @classmethod
    def _an_objective(cls, given: AnyObjective) -> AnyObjective:
        if not isinstance(given, str):  # a text is checked where it is used
            as_objectives(given)
        return given

    @field_validator("cost")
    @classmethod
    def _costs(cls, given: str | None) -> str | None:
        if given is not None:
            costs_of(given)
        return given

    @field_serializer("objective", when_used="json")
    def _told_apart(self, given: AnyObjective) -> str:
        """Return a text, or what tells a function from others of its name."""
        return given if isinstance(given, str) else identity_of(given)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.judge not in (None, self.protocol.judge):
            raise InputError(
                f"the judge is to be {self.judge}, and the protocol is of {self.protocol.judge}.",
                hint="drop one of the two.",
            )
        shows_examples = family_of(self.protocol.judge).has_demonstrations
        if not shows_examples and (self.n_demonstrations or self.partial_demos):
            raise InputError(
                f"a {self.protocol.judge} judge shows no graded examples.",
                hint="leave "
                f"{'n_demonstrations' if self.n_demonstrations else 'partial_demos'} out.",
            )
        if family_of(self.protocol.judge).ranks:
            check_within_source(self.aims, judge=self.protocol.judge)
            if self.split_rows:
                raise InputError(
                    f"{self.protocol.judge} ranks all responses to a source, which stay together.",
                    hint="leave split_rows out.",
                )
        if "criteria" in self.inference.without:
            raise InputError(
                "criteria that are not inferred are those of people (criteria='human') or of a "
                "rubric.",
                hint="leave 'criteria' out of inference.without.",
            )
        if "fixed" in self.search.reads:
            check_fixed(self.fixed, self.protocol)
        if self.screen and "screen" not in self.search.reads:
            raise InputError(
                "a search of the protocol is screened (optimizer='protocol'), and this is "
                f"{self.optimizer}.",
                hint="leave screen out.",
            )
        if self.calls_per_item is not None and "calls_per_item" not in self.search.reads:
            raise InputError(
                "calls per item are given to a search of effects (optimizer='effects'), and this "
                f"is {self.optimizer}.",
                hint="leave calls_per_item out.",
            )
        if len(set(self.target)) < len(self.target):
            raise InputError(f"every target is named once; got {', '.join(self.target)}.")
        return self

    @model_serializer(mode="wrap")
    def _without_another_search(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what only another search would read: it decides nothing."""
        found: dict[str, Any] = plain(self)
        of_some = ("n_draws", "fixed", "n_trials", "effort")
        unread = tuple(name for name in of_some if name not in self.search.reads)
        optional = ("models", "roles", "screen", "calls_per_item", "cost", "abstain")
        unread += tuple(name for name in optional if not getattr(self, name))
        unread += () if self.minds_versions else ("task", "kinds", "holdout_kinds", "versions")
        usual = CompileFields.model_fields
        unread += tuple(n for n in _OF_WORDS if getattr(self, n) == usual[n].default)
        return {name: value for name, value in found.items() if name not in unread}

    @property
    def search(self) -> Search:
        """What is known of the optimizer."""
        return SEARCHES[self.optimizer]

    @property
    def aims(self) -> Objective | SeveralObjectives:
        """What is made as large as possible, as searches take it.

        Raises
        ------
        InputError
            If the objective is a text that cannot be read.
        """
        return as_objectives(self.objective)

    @property
    def minds_versions(self) -> bool:
        """Whether the objective looks at changed versions of texts."""
        try:
            return "versions" in self.aims.needs
        except ValueError:  # which whoever uses it will say
            return False

    @property
    def n_to_show(self) -> int:
        """How many demonstrations there must be training rows for."""
        if self.optimizer == "none":
            return 0
        return max(self.search.learns_from, self.n_demonstrations)

    @property
    def infers_guidelines(self) -> bool:
        """Whether guidelines are inferred, where training rows have raters' words."""
        own = self.protocol
        searches = self.optimizer != "none" and own.tells_rubric and not self.earlier
        return bool(self.guidelines) and searches and not own.rubric.guidelines

    @property
    def criteria_from(self) -> Literal["inferred", "human", "given"]:
        """Where the rubric comes from, settled."""
        if self.criteria is not None:
            return self.criteria
        if len(self.target) > 1:
            return "human"
        as_it_is = self.optimizer == "none" or not self.protocol.tells_rubric
        if as_it_is or self.protocol.rubric != DEFAULT_RUBRIC:
            return "given"
        return "inferred"

    @property
    def rubrics_compete(self) -> bool:
        """Whether an inferred rubric has to hold its own against the default one."""
        asked = self.criteria is not None or bool(self.inference.without)
        return self.criteria_from == "inferred" and not asked

    def fingerprint(self, dataset: DataSet, model: str, endpoint: str = "") -> str:
        """Return twelve hex digits that change when data, model or any setting does.

        So they do with the endpoint that answers, and with the version of this package.
        """
        whole = [
            self.model_dump(mode="json"),
            dataset.digest,
            model,
            endpoint,
            version("judgesmith"),
        ]
        return fingerprint_of(whole)


_DECIDED = {
    "variant": ("variant",),
    "criteria_calls": ("variant", "criteria_calls"),
    "explain": ("explain",),
    "rubric": ("rubric",),
    "criteria": ("rubric",),
}
_LEFT_OUT = {
    "explanations": ("explain",),
    "task": ("rubric",),
    "mcs": ("variant",),
    "os": ("variant", "overall"),
}


def choices_said(options: Collection[str], without: Collection[str]) -> tuple[str, ...]:
    """Return the choices that options have made, each once."""
    made = [name for option, names in _DECIDED.items() if option in options for name in names]
    made += [name for part in without for name in _LEFT_OUT.get(part, ())]
    return tuple(dict.fromkeys(made))


def check_role_models(settings: CompileSettings, roles: Mapping[str, dspy.LM]) -> None:
    """Refuse roles that the judge's family lacks, and models that the settings do not name."""
    check_roles(family_of(settings.protocol.judge), settings.roles)
    if set(roles) != set(settings.roles):
        raise InputError(
            f"the roles with a model are those of the settings "
            f"({', '.join(settings.roles) or 'none'}); got {', '.join(roles) or 'none'}."
        )
    objective = settings.aims
    if roles and "usd" in objective.needs:
        raise InputError(
            f"what judgements cost ({objective}) is reckoned at the price of one model, and "
            f"{', '.join(roles)} has another.",
            hint="leave usd out of the objective, or the role.",
        )


UNRATED = "auto"
"""The target of a judge that was made without ratings: whatever people come to rate."""


def is_unlabelled(dataset: DataSet, settings: CompileSettings) -> bool:
    """Say whether a judge is made of these texts without any rating."""
    if dataset.criteria or not settings.minds_versions:
        return False
    return not settings.aims.rated_terms


def without_equal_ratings(dataset: DataSet, settings: CompileSettings) -> DataSet:
    """Return rows as unrated ones, where all ratings are equal and the objective takes none."""
    asked = bool(settings.target) or settings.criteria in ("inferred", "human")
    if asked or not settings.minds_versions or not dataset.criteria:
        return dataset
    if settings.aims.rated_terms:
        return dataset
    ratings: dict[str, set[float]] = {}
    for item in dataset:
        for name, given in item.human.items():
            ratings.setdefault(name, set()).update(given)
    if any(len(values) > 1 for values in ratings.values()):
        return dataset
    note = (
        f"all ratings in {dataset.name} are equal, and {settings.aims} takes none: they were "
        "left out, and a judge is made as for texts without ratings."
    )
    items = tuple(one.model_copy(update={"human": {}, "scale": {}}) for one in dataset)
    return replace(dataset, items=items, notes=(*dataset.notes, note))


def settings_without_labels(dataset: DataSet, settings: CompileSettings) -> CompileSettings:
    """Return the settings for unrated texts; for others they stay unchanged."""
    if dataset.criteria or not settings.minds_versions:
        return settings
    if terms := settings.aims.rated_terms:
        raise InputError(
            "the objective compares scores with human ratings "
            f"({', '.join(dict.fromkeys(terms))}), and "
            f"{dataset.name} has no ratings.",
            hint="leave that out, as d_min and d_avg need none, or say "
            "--map score=COLUMN if a column holds ratings.",
        )
    if settings.criteria in ("inferred", "human"):
        raise InputError(
            f"{dataset.name} has no ratings, so criteria cannot be inferred from them or taken "
            "from them.",
            hint="give a rubric, or leave it to the general one.",
        )
    update: dict[str, Any] = {
        "criteria": "given",
        "learn_weights": False,
        "n_demonstrations": 0,
        "partial_demos": False,
    }
    if settings.optimizer in ("effects", "random"):  # which compare with ratings
        update |= {"optimizer": "protocol", "calls_per_item": None}
    if settings.earlier:
        update["target"] = ()
    elif (criteria := _criteria_named(settings)) is not None:
        rubric = Rubric(task=DEFAULT_RUBRIC.task, criteria=criteria)
        update["protocol"] = settings.protocol.model_copy(update={"rubric": rubric})
    return settings.model_copy(update=update)


def _criteria_named(settings: CompileSettings) -> tuple[Criterion, ...] | None:
    """Return the targets as criteria, where the usual ones lack some and all names are known."""
    known = set(map(folded, DEFAULT_RUBRIC.names))
    if settings.protocol.rubric != DEFAULT_RUBRIC or known >= set(map(folded, settings.target)):
        return None
    found = tuple(one for name in settings.target if (one := known_criterion(name)) is not None)
    return found if len(found) == len(settings.target) else None


_BARE_COST = re.compile(r"\bcost\b(?!\s*\()")


def settings_for_labels(
    settings: CompileSettings, targets: Targets, *, said: bool | None = None
) -> CompileSettings:
    """Return the settings for what people gave: of labels, with a judge and objective for them."""
    scale, given = targets.scale, settings.model_fields_set
    for name in ("cost", "abstain"):
        if getattr(settings, name) is not None and not (
            scale.is_verdict and len(scale.labels) == 2
        ):
            raise InputError(
                f"{name} is for two labels such as pass and fail; {targets.name} is on {scale}.",
                where=f"--{name}",
                hint="leave it out, or say which ratings are labels (--labels fail,pass).",
            )
    if not scale.is_verdict:
        return settings
    update: dict[str, Any] = {}
    priced = "cost" if settings.cost is None else str(VerdictCost(costs_of(settings.cost)))
    if "objective" not in given and (len(scale.labels) == 2 or not scale.ordered):
        update["objective"] = f"-{priced}" if settings.cost else "balanced_accuracy"
    elif isinstance(settings.objective, str):
        update["objective"] = _BARE_COST.sub(priced, settings.objective)
    if said is None:
        said = bool({"judge", "protocol"} & given)
    own = settings.protocol
    if not said:
        family = family_of("verdict")
        config = family.protocol
        if not family.has_demonstrations:
            update |= {"n_demonstrations": 0, "partial_demos": False}
        kept = own.model_fields_set & {"rubric", "explain", "max_tokens", "samples", "temperature"}
        update["protocol"] = config(answers=scale, **{name: getattr(own, name) for name in kept})
    elif own.judge == "verdict":
        update["protocol"] = own.model_copy(update={"answers": scale})
    elif not scale.ordered:
        raise InputError(
            f"labels without an order ({', '.join(scale.labels)}) are given by a verdict judge, "
            f"and this is {own.judge}.",
            where="--judge",
            hint="say --judge verdict, or give the labels an order.",
        )
    if not scale.ordered:
        update["learn_weights"] = False
    if settings.calls_per_item is not None:
        raise InputError(
            "scores of several prompts are averaged for ratings; a threshold for labels is learned "
            "for one prompt, and an average has another.",
            where="--calls-per-item",
            hint="leave it out; 'judgesmith panel JUDGE JUDGE DATA -o PANEL' has several "
            "compiled judges vote on the label.",
        )
    return settings.model_copy(update=update)


def threshold_rule(settings: CompileSettings) -> ThresholdRule:
    """Return what the threshold is selected by: costs, where they are named, or the objective."""
    rule = ThresholdRule.of(settings.aims)
    if settings.cost is None:
        return rule
    return ThresholdRule(((-1.0, VerdictCost(costs_of(settings.cost))),), rule.floors)


def instead_of_guess(
    optimizer: object = None, task: object = None, criteria: object = None, **_: object
) -> str | None:
    """Return what to give in the place of an optimizer of DSPy or Optuna, or of a kind of judge."""
    if isinstance(criteria, Mapping):
        return "judgesmith.ActiveCritic(rubric={'criteria': {…}}) is a judge with criteria."
    if isinstance(task, str) and task.startswith("pair"):
        return 'judge="pairs" compares responses to one source.'
    given = optimizer
    kind = given if isinstance(given, type) else type(given)
    name = given if isinstance(given, str) else kind.__name__
    for own, dspys in (
        ("reflective", "GEPA"),
        ("miprov2", "MIPROv2"),
        ("simba", "SIMBA"),
        ("protocol", "Optuna"),
    ):
        if name.lower() in (dspys.lower(), dspys.lower().removesuffix("v2")):
            return f"{dspys} is optimizer={own!r}."
    if isinstance(given, str) or not hasattr(kind, "compile"):
        return None
    return (
        f"give one of these names, or call {name} yourself: "
        "optimizer.compile(judge, trainset=judgesmith.to_examples(data))."
    )


def optuna_objects(settings: CompileSettings, sampler: object, pruner: object) -> dict[str, Any]:
    """Return what a search of the protocol takes in the place of its own sampler and rule."""
    given = {"sampler": sampler, "elimination": pruner}
    found = {name: one for name, one in given.items() if one is not None}
    if not found:
        return {}
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

    for name, one, fits in (
        ("sampler", sampler, isinstance(sampler, BaseSampler) or callable(sampler)),
        ("pruner", pruner, isinstance(pruner, BasePruner)),
    ):
        if one is not None and (not fits or isinstance(one, type)):
            raise TypeError(f"judgesmith.compile: {name}: expected one of Optuna's; got {one!r}.")
    if settings.optimizer != "protocol":
        raise InputError(
            f"judgesmith.compile: a search by {settings.optimizer} takes no sampler or pruner.",
            hint='choose optimizer="protocol".',
        )
    return found
