"""What can be chosen about judges of the families that have more to choose."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError, file_faults
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.config import JudgeConfig, WholeOrEachConfig
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.rubric import Criterion, folded
from judgesmith.signatures.scale import PERCENT, Scale

G_EVAL_ENDS = ("fails by these steps", "passes all of these steps")
"""What the lowest and the highest score mean."""

GENERAL_STEPS = (
    "Read the source, and note what a response to it has to do.",
    "Read the response from beginning to end.",
    "Collect what speaks for it and what speaks against it, by what is to be judged alone.",
    "Weigh both sides, the graver faults first, and settle on the score.",
)
"""What stands where a criterion has no steps of its own."""

MOST_STEPS = 12
_LONGEST_STEP = 600


class GEvalConfig(WholeOrEachConfig):
    """The whole of a judge that scores by evaluation steps, but its model."""

    judge: Literal["g-eval"] = "g-eval"
    plan: Literal["own", "general"] = "own"
    steps: Mapping[str, tuple[str, ...]] = {}
    answers: Scale = Scale(low=1, high=5)
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("steps")
    @classmethod
    def _stand_on_lines(cls, steps: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for name, several in steps.items():
            check_steps(several, of=name)
        return steps

    def steps_for(self, criterion: Criterion) -> tuple[str, ...] | None:
        """Return the steps of a criterion; None where it has none of its own."""
        return self.steps.get(steps_key(criterion)) or self.steps.get(criterion.name)

    def for_own_rubric(self) -> Self:
        kept = lines_for(self.rubric.criteria, self.steps)
        if not self.rubric.criteria and "overall" in self.steps:
            kept["overall"] = self.steps["overall"]
        return self.model_copy(update={"steps": kept})


def steps_key(criterion: Criterion) -> str:
    return f"{criterion.name}: {' '.join(criterion.definition.split())}"


def lines_for(
    criteria: Sequence[Criterion], lines: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return those of several lines by criterion that are for one of ``criteria``."""
    keys = {key for one in criteria for key in (steps_key(one), one.name)}
    return {key: several for key, several in lines.items() if key in keys}


def check_steps(steps: tuple[str, ...], *, of: str) -> None:
    """Refuse steps that could not stand in a question, one per line."""
    if not 1 <= len(steps) <= MOST_STEPS:
        raise InputError(f"expected 1 to {MOST_STEPS} steps for {of[:60]}; got {len(steps)}.")
    for step in steps:
        is_line = 0 < len(step) <= _LONGEST_STEP and step == " ".join(step.split())
        if not is_line or imitates_layout(step):
            raise InputError(
                f"a step for {of[:60]} is one line of text, {_LONGEST_STEP} characters at most, "
                f"without the markers of questions; got {step[:80]!r}."
            )


CHECKLIST_ENDS = ("it does not hold", "it holds")
"""What no and yes mean."""

NO_YES = Scale.categorical("no", "yes")

MOST_WRITTEN = 5
"""Questions per criterion that a model is asked for at most."""


class ChecklistConfig(JudgeConfig):
    """The whole of a judge that asks yes or no, but its model."""

    judge: Literal["checklist"] = "checklist"
    plan: Literal["own", "rubric"] = "own"
    questions: Mapping[str, tuple[str, ...]] = {}
    answers: Scale = NO_YES
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("questions")
    @classmethod
    def _are_questions(cls, given: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for name, several in given.items():
            check_questions_of(several, of=name)
        return given

    @model_validator(mode="after")
    def _asks_yes_or_no(self) -> Self:
        if self.answers != NO_YES:
            raise InputError(f"a checklist is answered by no or yes; got {self.answers}.")
        return self

    @property
    def scores_criteria(self) -> bool:
        """Each criterion has a score: the share of its questions with the answer yes."""
        return True

    @property
    def own_score(self) -> str:
        return "the mean of the criteria"

    def questions_for(self, criterion: Criterion) -> tuple[str, ...]:
        """Return what is asked of a criterion, its definition where it has no questions."""
        own = self.questions.get(steps_key(criterion)) or self.questions.get(criterion.name)
        if own and self.plan == "own":
            return own
        said = " ".join(criterion.definition.split())
        return (said if said.endswith("?") else f"Does this hold for the response: {said}?",)

    def for_own_rubric(self) -> Self:
        kept = lines_for(self.rubric.criteria, self.questions)
        return self.model_copy(update={"questions": kept})


def check_questions_of(questions: tuple[str, ...], *, of: str) -> None:
    check_steps(questions, of=of)
    for one in questions:
        if not one.endswith(("?", "？", "؟")):
            raise InputError(f"a question for {of[:60]} ends on a question mark; got {one[:80]!r}.")


THREE = Scale.categorical("Worse", "Similar", "Better")
"""How a second text compares with a first one."""

YES_NO = Scale.categorical("No", "Yes")
"""Whether a first text is better than a second one."""

MANNERS = {
    "dialogue": "a turn of two or three informal sentences, as people talk",
    "story": "one paragraph of fewer than 150 words, whose last sentence is complete",
    "summar": "one paragraph of two to four sentences",
    "translat": "as long as the source, in its register",
}
"""Length and register of exemplars, by what the name of a type of task holds."""

ANY_MANNER = "as long as such responses usually are, in their usual tone, complete to the last word"


class ExemplarConfig(WholeOrEachConfig):
    """The whole of a judge by synthetic exemplars but its models."""

    judge: Literal["exemplar"] = "exemplar"
    asks: Literal["overall", "criteria"] = "overall"
    levels: int = Field(default=5, ge=2, le=100)
    form: Literal["three", "yes-no"] = "three"
    order: Literal["one", "both"] = "one"
    normalisation: Literal["affine", "level"] = "affine"
    mirrored: bool = False
    verdicts: Literal["probabilities", "samples"] = "probabilities"
    n_sampled: int = Field(default=5, ge=1, le=1000)
    writer_temperature: FiniteFloat = Field(default=0.0, ge=0.0, le=2.0)
    manner: str = ""

    @field_validator("manner")
    @classmethod
    def _no_marker(cls, manner: str) -> str:
        if imitates_layout(manner):
            raise InputError(f"the manner holds what questions are laid out with: {manner[:80]!r}.")
        return " ".join(manner.split())

    @model_validator(mode="after")
    def _draws_in_its_own_way(self) -> Self:
        if self.samples != 1 or self.weighting != "none":
            raise InputError(
                "an exemplar judge asks every comparison once, or as often as n_sampled says with "
                "verdicts='samples'.",
                hint="leave samples and weighting as they are.",
            )
        return self

    @property
    def own_score(self) -> str:
        if self.scores_criteria:
            return "the mean of the criteria, each by comparisons with exemplars"
        return "comparisons with exemplars of quality as a whole"

    @property
    def words(self) -> Scale:
        return THREE if self.form == "three" else YES_NO

    @property
    def asked_manner(self) -> str:
        kind = self.rubric.task_type.lower()
        known = (text for part, text in MANNERS.items() if part in kind)
        return self.manner or next(known, ANY_MANNER)


PREFERENCES = Scale.categorical("B", "tie", "A")
"""What a comparison is answered with; the better the text that is shown first, the higher."""


class PairwiseConfig(JudgeConfig):
    """The whole of a judge that compares but its model."""

    judge: Literal["pairs"] = "pairs"
    ranking: Literal["beam", "all"] = "beam"
    beam: int = Field(default=8, ge=1, le=64)
    doubt: FiniteFloat = Field(default=0.1, ge=0.0, le=0.5)
    answers: Scale = PREFERENCES
    weighting: Literal["none", "probabilities"] = "probabilities"

    @model_validator(mode="after")
    def _compares(self) -> Self:
        if self.answers != PREFERENCES:
            raise InputError(
                f"a comparison is answered with {', '.join(reversed(PREFERENCES.labels))}; got "
                f"{self.answers}."
            )
        if self.aggregation != Aggregation():
            raise InputError(
                "ranks within a source become no points by weights.",
                hint="leave the aggregation as it is.",
            )
        return self

    @property
    def own_score(self) -> str:
        return "the rank among the responses to the same source"


Shown = Literal["source+context", "source", "response"]
"""Which texts stand beside the response: the source and what it rests on, the source, or none."""

SHOWN: tuple[Shown, ...] = ("source+context", "source", "response")

LEVELS = Scale.categorical("Unacceptable", "Poor", "Fair", "Good", "Excellent")
"""The overall score in words; 1 to 5 in numbers."""

POINTS = Scale(low=1, high=5)
"""The overall score in numbers."""

SEVERITIES = ("Neutral", "Minor", "Moderate", "Major", "Critical")
"""How bad an error is, in words for 1 to 5."""

MOST_ERRORS = 8
"""How many errors an annotator names at most; of more the most severe are kept."""

# What a reader of the response alone can tell. A name that is not here gets all there is.
_ABOUT_LANGUAGE = ("fluen", "gramma", "spell", "orthogr", "punctuat", "readab", "legib", "typo")

_WORST = "it fails in this respect, and its errors leave little of use"
_BEST = "it leaves nothing to wish for in this respect"

_RULES = (
    "Go by what is shown here; do not rest a verdict on what you know from elsewhere.",
    "Call an error whatever hurts the response in this respect, be it small.",
    "Name what is wrong only if you can say why; if nothing is, name no error and give {best}.",
    "Give less than {best} only where you name at least one error.",
)
_IGNORED = "Leave these to others, however bad they are: {names}."
_SEVERITY_POINTS = "a whole number from 1 (hardly matters) to 5 (ruins the response)"


class AnnotatorConfig(WholeOrEachConfig):
    """The whole of an annotator but its model."""

    by_criterion: ClassVar[tuple[str, ...]] = ("shows", "ignores")

    judge: Literal["annotator"] = "annotator"
    answers: Scale = LEVELS
    severity: Literal["points", "words"] = "points"
    rules: Literal["on", "off"] = "on"
    shown: Literal["fitting", "source+context", "source", "response"] = "fitting"
    shows: Mapping[str, Shown] = Field(default_factory=dict)
    ignores: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("ignores", mode="before")
    @classmethod
    def _names_with_commas(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: _listed(one) if isinstance(one, str) else one for name, one in given.items()}

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.answers not in (LEVELS, POINTS):
            raise InputError(
                f"an annotator answers on {', '.join(LEVELS.labels)}, or on {POINTS}; got "
                f"{', '.join(self.answers.labels) or self.answers}."
            )
        if self.demonstrations:
            raise InputError("an annotator is shown no demonstrations.")
        if self.weighting != "none":
            raise InputError(
                "an annotator lists errors before its score, after which one level has nearly all "
                "probability: weighting must be none.",
                hint="choose samples instead.",
            )
        return self

    def shown_for(self, criterion: Criterion | None) -> Shown:
        """Return which texts stand beside the response; None asks about the whole."""
        if criterion is not None and criterion.name in self.shows:
            return self.shows[criterion.name]
        if self.shown != "fitting":
            return self.shown
        words = folded(criterion.name).split() if criterion is not None else ()
        is_language = any(word.startswith(_ABOUT_LANGUAGE) for word in words)
        return "response" if is_language else "source+context"

    def rules_for(self, criterion: Criterion | None) -> str:
        """Return the rules as they are told, one per line; empty where there are none."""
        if self.rules == "off":
            return ""
        best = self.answers.labels[-1] if self.answers.labels else f"{self.answers.high:g}"
        rules = [one.format(best=best) for one in _RULES]
        if criterion is not None:
            others = tuple(name for name in self.rubric.names if name != criterion.name)
            if names := self.ignores.get(criterion.name, others):
                rules.append(_IGNORED.format(names=", ".join(names)))
        return "\n".join(f"- {one}" for one in rules)

    def meaning_of(self, criterion: Criterion) -> str:
        names = self.answers.labels or (f"{self.answers.low:g}", f"{self.answers.high:g}")
        ends = {names[0]: criterion.worst or _WORST, names[-1]: criterion.best or _BEST}
        said = [f"{level} means: {text.rstrip('.')}." for level, text in ends.items()]
        return f"{criterion.name}: {' '.join(' '.join([criterion.definition, *said]).split())}"

    @property
    def grades(self) -> str:
        """What an error's severity is asked for on, as it stands in the JSON that is asked for."""
        words = f'"one of {", ".join(SEVERITIES)}"'
        return _SEVERITY_POINTS if self.severity == "points" else words


def _listed(text: str) -> tuple[str, ...]:
    names = tuple(name for one in text.split(",") if (name := one.strip()))
    return () if names == ("none",) else names


class PromptFormatConfig(WholeOrEachConfig):
    """The part of a protocol that all models with a form of their own share."""

    form: ClassVar[str]

    @model_validator(mode="after")
    def _keeps_to_the_form(self) -> Self:
        own = type(self).model_fields["answers"].default
        model = f"{'an' if self.judge[0] in 'aeiou' else 'a'} {self.judge} model"
        if self.answers != own:
            raise InputError(f"{model} answers on {own}, as it was trained to; got {self.answers}.")
        if self.demonstrations:
            raise InputError(f"the form of {model} shows no demonstrations.")
        if self.weighting != "none":
            raise InputError(
                f"{model} writes words before its score, after which one level has "
                "nearly all probability: weighting must be none.",
                hint="choose samples instead.",
            )
        return self


class PrometheusConfig(PromptFormatConfig):
    """The whole of a judge that asks a Prometheus model but that model."""

    form: ClassVar[str] = "prometheus-absolute"
    judge: Literal["prometheus"] = "prometheus"
    answers: Scale = Scale(low=1, high=5)


class ThemisConfig(PromptFormatConfig):
    """The whole of a judge that asks a Themis model but that model."""

    form: ClassVar[str] = "themis"
    judge: Literal["themis"] = "themis"
    answers: Scale = Scale(low=1, high=5)


class AutoJConfig(PromptFormatConfig):
    """The whole of a judge that asks an Auto-J model but that model."""

    form: ClassVar[str] = "auto-j-single"
    judge: Literal["auto-j"] = "auto-j"
    asks: Literal["criteria", "overall"] = "overall"
    answers: Scale = Scale(low=1, high=10)


class DistilledConfig(PromptFormatConfig):
    """The whole of a judge that asks a distilled model but that model."""

    form: ClassVar[str] = "distilled"
    judge: Literal["distilled"] = "distilled"
    answers: Scale = PERCENT


PLACES = "JUDGESMITH_WEIGHTS"
"""The environment variable that says where weights are: folders, parted as in ``PATH``."""

_NAME = re.compile(r"sha256:[0-9a-f]{64}")
_READ = (".json", ".txt", ".model", ".safetensors")  # settings, words and numbers; no README
_found: dict[str, Path] = {}  # where this process was shown weights, by name


def weights_name(weights: str) -> str:
    """Return the name of the weights in a folder; a name stays as it is."""
    if _NAME.fullmatch(weights):
        return weights
    folder = _folder(weights or _only_place())
    name = _content(folder)
    _found[name] = folder
    return name


def weights_folder(name: str) -> Path:
    known = _found.get(name)
    if known is not None and known.is_dir() and _content(known) == name:
        return known
    for place in _places():
        if weights_name(place) == name:
            return _found[name]
    there = "names others" if _places() else "is not set"
    raise InputError(
        f"the weights {name[:19]}… are needed, and ${PLACES} {there}: let it name the folder that "
        "holds them."
    )


def _places() -> list[str]:
    return [one for one in os.environ.get(PLACES, "").split(os.pathsep) if one]


def _only_place() -> str:
    places = _places()
    if len(places) != 1:
        raise InputError(
            "BERTScore needs the weights of a language model, and nothing is downloaded: give "
            f"weights= or let ${PLACES} name one folder; it names {len(places) or 'none'}."
        )
    return places[0]


@file_faults()
def _folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {path}: BERTScore takes the path of weights on this machine, not "
            "a name on a hub, as nothing is downloaded."
        )
    if not (folder / "config.json").is_file():
        raise InputError(f"there is no model in {path}: expected config.json in it.")
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"there are no weights in {path}: expected *.safetensors. Other forms can run code as "
            "they are read; save the model again with save_pretrained."
        )
    return folder.resolve()


@file_faults()
def _content(folder: Path) -> str:
    files = sorted(
        one
        for one in folder.iterdir()
        if one.suffix in _READ and one.name[0] != "." and one.is_file()
    )
    states = ((one, one.stat()) for one in files)
    return _hash(tuple((one, state.st_size, state.st_mtime_ns) for one, state in states))


@functools.lru_cache(maxsize=64)
@file_faults()
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    whole = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as content:
            part = hashlib.file_digest(content, "sha256").hexdigest()
        whole.update(f"{part} {path.name}\n".encode())
    return f"sha256:{whole.hexdigest()}"


Metric = Literal["rougeL", "rouge1", "rouge2", "bleu", "chrf", "meteor", "bertscore"]


class ReferenceConfig(JudgeConfig):
    """The whole of a reference metric."""

    judge: Literal["reference"] = "reference"
    metric: Metric = "rougeL"
    against: Literal["references", "source", "context"] = "references"
    several: Literal["max", "mean"] = "max"
    stem: Literal["none", "porter"] = "none"
    tokens: Literal["13a", "intl", "zh", "char"] = "13a"
    synonyms: Literal["none", "wordnet"] = "none"
    weights: str = Field(default="", validate_default=True)
    layer: int | None = Field(default=None, ge=1)

    @field_validator("weights")
    @classmethod
    def _known_by_content(cls, weights: str, info: ValidationInfo) -> str:
        wanted = weights or info.data.get("metric") == "bertscore"
        return weights_name(weights) if wanted else weights

    @model_serializer(mode="wrap")
    def _family_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = super()._family_first(plain)
        unset = [name for name in ("weights", "layer") if not found.get(name)]
        return {name: value for name, value in found.items() if name not in unset}

    @model_validator(mode="after")
    def _asks_nobody(self) -> Self:
        for name in ("samples", "weighting", "temperature"):
            usual = type(self).model_fields[name].default
            if getattr(self, name) != usual:
                raise InputError(
                    f"a reference metric asks no model: {name} must be {usual}; got "
                    f"{getattr(self, name)}."
                )
        return self

    @property
    def tells_rubric(self) -> bool:
        return False

    @property
    def own_score(self) -> str:
        return f"{self.metric} against {self.against}"
