"""The settings of a compilation that options and specification files can set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, JsonValue

from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.plain_data import SettingsModel

if TYPE_CHECKING:
    from judgesmith.optimizers.objectives.grammar import AnyObjective
else:
    AnyObjective = Any  # a validator checks it

Optimizer = Literal[
    "effects", "random", "protocol", "reflective", "balanced", "miprov2", "simba", "none"
]

_TUNING = "judgesmith.experiments.compile.tuning:Tuning"
_ESTIMATE = "judgesmith.experiments.compile.estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A value of ``--optimizer``: all that options, checks, estimates and the run know of it."""

    about: str  # what it does
    reads: tuple[str, ...] = ()  # settings that are for it
    learns_from: int = 0  # rows that it takes at least
    needs_wording: bool = True  # it rewrites what a model is asked
    minds_versions: bool = False  # its objective may look at changed texts
    resumes: bool = True  # it keeps files to be resumed from
    build: str | None = None  # the method that searches
    cost: str | None = None  # bound on calls, where rows and rounds do not say it


SEARCHES: Mapping[Optimizer, Search] = {
    "effects": Search(
        about="search the protocol by the effects of its options, within a bound on calls",
        reads=("n_draws", "fixed", "effort", "calls_per_item"),
        needs_wording=False,
        minds_versions=True,
        resumes=False,
        build=f"{_TUNING}.with_effects",
        cost=f"{_ESTIMATE}:effects_calls",
    ),
    "random": Search(
        about="search demonstrations",
        reads=("n_rounds",),
        needs_wording=False,
        minds_versions=True,
        resumes=False,
        build=f"{_TUNING}.with_demonstrations",
    ),
    "protocol": Search(
        about="search the whole protocol",
        reads=("n_trials", "n_draws", "fixed", "screen", "vary_samples", "storage", "models"),
        needs_wording=False,
        minds_versions=True,
        build=f"{_TUNING}.with_protocol",
        cost=f"{_ESTIMATE}:protocol_calls",
    ),
    "reflective": Search(
        about="rewrite texts after wrong scores",
        reads=("n_trials",),
        learns_from=9,
        build=f"{_TUNING}.with_reflection",
        cost=f"{_ESTIMATE}:reflective_calls",
    ),
    "balanced": Search(
        about="reword instructions until scores are spread evenly, without ratings",
        learns_from=10,
        build=f"{_TUNING}.with_even_answers",
        cost=f"{_ESTIMATE}:balanced_calls",
    ),
    "miprov2": Search(
        about="DSPy's MIPROv2",
        learns_from=4,
        build=f"{_TUNING}.with_dspy",
        cost=f"{_ESTIMATE}:miprov2_calls",
    ),
    "simba": Search(
        about="DSPy's SIMBA",
        learns_from=8,
        build=f"{_TUNING}.with_dspy",
        cost=f"{_ESTIMATE}:simba_calls",
    ),
    "none": Search(about="no search", needs_wording=False, minds_versions=True, resumes=False),
}


def searches_reading(setting: str) -> tuple[Optimizer, ...]:
    """Return the optimizers that a setting is for."""
    return tuple(name for name, one in SEARCHES.items() if setting in one.reads)


Effort = Literal["light", "medium", "heavy"]
Task = Literal["summarization", "story_completion", "question_answering", "dialogue", "translation"]
Group = Literal["data", "judge", "search", "run"]


def _told(
    group: Group,
    option: str | None = None,
    *,
    metavar: str | None = None,
    default: str | None = None,
    expert: bool = False,
) -> dict[str, JsonValue]:
    """Return where a field is set outside Python, and how its help describes its default."""
    return {
        "group": group,
        "option": option,
        "metavar": metavar,
        "default_text": default,
        "expert": expert,
    }


class CompileFields(SettingsModel):
    """Type, default, bounds and help of each setting; ``CompileSettings`` checks them together.

    Reading this declaration loads neither NumPy nor DSPy, so that commands can print their help.
    ``CompileSettings`` declares ``protocol`` and ``confirm``, whose types load both; their places
    here fix the order in which settings are saved.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: tuple[str, ...] = Field(
        default=(),
        description="Ratings to agree with: a criterion, 'overall', 'mean' or a sum NAME+NAME; "
        "with several, the judge scores each.",
        json_schema_extra=_told(
            "data",
            metavar="NAME",
            default="overall if rated, else mean; with human criteria every criterion",
        ),
    )
    aggregate: Aggregate = Field(
        default="mean",
        description="How the ratings of several raters become one value.",
        json_schema_extra=_told("data"),
    )
    judge: str | None = Field(
        default=None,
        exclude=True,  # the protocol contains it
        description="Judge family, such as 'active-critic' or 'direct'.",
        json_schema_extra=_told("judge", metavar="NAME", default="active-critic"),
    )
    protocol: Any = None
    criteria: Literal["inferred", "human", "given"] | None = Field(
        default=None,
        description="Source of the criteria: inferred from the ratings, rated by the raters, or "
        "those of the protocol. None compares inferred criteria with the general ones and keeps "
        "the better; several targets are the criteria themselves.",
    )
    inference: InferenceSettings = Field(
        default_factory=InferenceSettings,
        description="How the task and the criteria are inferred; the seed is that of the run.",
    )
    optimizer: Optimizer = Field(
        default="effects",
        description=f"{'; '.join(f'{name}: {one.about}' for name, one in SEARCHES.items())}. "
        "Weights are fitted after each.",
        json_schema_extra=_told("search", default="effects; random with rounds"),
    )
    objective: AnyObjective = Field(
        default="q",
        description="What is maximized: q, pearson@sample, 'q + 0.5*kappa - 0.01*calls', "
        "'q; kappa >= 0.4', or several for a protocol search: 'q, -calls'. d_min needs no ratings.",
        json_schema_extra=_told(
            "search",
            metavar="SUM[, SUM]…[; CONDITION]…",
            default="q; balanced_accuracy for two labels; q@sample for judges that rank within a "
            "source",
        ),
    )
    cost: str | None = Field(
        default=None,
        description="What a wrong verdict costs, by the human label, such as "
        "'fail=5,pass=1': the threshold has the lowest cost, and so has the judge unless another "
        "objective is named.",
        json_schema_extra=_told("search", metavar="LABEL=COST,…", default="by the objective"),
    )
    abstain: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Leave uncertain rows to human raters, so that at most this share of the "
        "verdicts is "
        "wrong (90% confidence).",
        json_schema_extra=_told("search", metavar="RATE", default="a verdict on every row"),
    )
    holdout: float = Field(
        default=0.3,
        ge=0,
        lt=1,
        description="Share of sources held out for the report; 0 uses all and reports nothing.",
        json_schema_extra=_told("run"),
    )
    n_demonstrations: int = Field(
        default=3,
        ge=0,
        description="Rated examples per prompt, at most where the protocol is searched (effects, "
        "protocol); 0 shows none.",
        json_schema_extra=_told("search", "demonstrations"),
    )
    rationale_length: int = Field(
        default=600,
        ge=0,
        description="Characters shown of a rater's words, in demonstrations and to rewrites; 0 "
        "shows none.",
        json_schema_extra=_told("judge", metavar="CHARACTERS", expert=True),
    )
    guidelines: int = Field(
        default=8,
        ge=0,
        description="Guidelines inferred from raters' words, at most; 0 infers none.",
        json_schema_extra=_told("judge", metavar="N", expert=True),
    )
    n_rounds: int = Field(
        default=11,
        ge=1,
        description="Demonstration sets that the random search tries.",
        json_schema_extra=_told("search", "rounds"),
    )
    n_trials: int = Field(
        default=30,
        ge=1,
        description="Configurations that a protocol search tries, or rewrites that a reflective "
        "search tries.",
        json_schema_extra=_told("search", "trials", default="30; 108 with screening"),
    )
    n_draws: int = Field(
        default=3,
        ge=1,
        description="Demonstration sets of each kind that compete in a search of effects or of the "
        "protocol.",
        json_schema_extra=_told("search", "draws", expert=True),
    )
    screen: bool = Field(
        default=False,
        description="Score all configurations of a protocol search on few rows first, estimate "
        "the effect of every option, and score only the best on all rows.",
        json_schema_extra=_told("search", expert=True),
    )
    effort: Effort = Field(
        default="medium",
        description="Calls of a search of effects: at most 2, 4 or 13 times those of scoring the "
        "learning rows once.",
        json_schema_extra=_told("search"),
    )
    calls_per_item: int | None = Field(
        default=None,
        ge=1,
        description="Most calls of one judgement, in a search of effects: twice those before the "
        "search, or more, averages several prompts.",
        json_schema_extra=_told("search", default="as many as before the search"),
    )
    fixed: tuple[str, ...] = Field(
        default=("samples",),
        description="Choices that a search of effects or of the protocol does not vary, see "
        "fixed_choices.",
    )
    confirm: Any = None
    learn_weights: bool = Field(
        default=True,
        description="Whether the score may be a learned combination of the answers.",
    )
    partial_demos: bool = Field(
        default=False,
        description="Also show the question about all criteria examples that have only an overall "
        "score.",
        json_schema_extra=_told("judge", expert=True),
    )
    percent_of_max: bool = Field(
        default=False,
        description="Show scores as percent of the highest point, not of the whole range.",
        json_schema_extra=_told("run", expert=True),
    )
    lexical: bool | None = Field(
        default=None,
        description="Allow lexical features in the learned weights.",
        json_schema_extra=_told("judge", default="with the offline model only", expert=True),
    )
    seed: int = Field(default=0, ge=0, description="Random seed.", json_schema_extra=_told("run"))
    texts: bool = Field(
        default=True, description="Whether the saved judge contains a few scored texts."
    )
    split_rows: bool = Field(
        default=False,
        description="Split rows instead of sources, as some papers do.",
        json_schema_extra=_told("run", expert=True),
    )
    earlier: str = Field(
        default="", description="Fingerprint of the judge that this run starts from, or empty."
    )
    models: tuple[str, ...] = Field(
        default=(),
        description="Further models that compete in a protocol search, under one budget.",
        json_schema_extra=_told("search", metavar="NAME,…"),
    )
    roles: Mapping[str, str] = Field(
        default_factory=dict,
        description="Models for other work than scoring, by role, such as writer=provider/model "
        "for the texts that an exemplar judge compares with; under one budget.",
        json_schema_extra=_told("judge", "role", metavar="ROLE=MODEL"),
    )
    task: Task | None = Field(
        default=None,
        description="Task whose perturbations d_min and d_avg use.",
        json_schema_extra=_told("data", default="the task that fits most texts"),
    )
    kinds: tuple[str, ...] = Field(
        default=(),
        description="Perturbations to use instead, by kind or by kind and degree.",
        json_schema_extra=_told("data", metavar="KIND,…"),
    )
    holdout_kinds: tuple[str, ...] = Field(
        default=(),
        description="Perturbations that the search does not use and the report lists apart.",
        json_schema_extra=_told("data", metavar="KIND,…"),
    )
    expert_weights: str | None = Field(
        default=None,
        exclude=True,  # it decides nothing but what is reported
        description="Shares of the criteria by kind of change, from a task or a FILE, for a second "
        "d_min and d_avg in the report.",
    )
    versions: int = Field(
        default=1,
        ge=0,
        description="Perturbed versions scored per row, in turns over the kinds; 0 scores all.",
        json_schema_extra=_told("data"),
    )
