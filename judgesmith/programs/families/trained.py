"""Judges asked in prompt formats: published judge models, annotators, and models distilled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.families.forms import (
    FormatFile,
    PromptFormat,
    prompt_format_named,
    shipped_format,
)
from judgesmith.programs.families.forms.annotators import (
    LEVELS,
    MOST_ERRORS,
    POINTS,
    SEVERITIES,
    SHOWN,
    Shown,
    StatedError,
    errors_of,
    form_for,
    quoted_in,
)
from judgesmith.programs.judging import scoring
from judgesmith.programs.judging.program import RequestProgram
from judgesmith.programs.judging.prompts import TEXTS, QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily, family_of
from judgesmith.programs.judging.spans import Locator, SpanPlace
from judgesmith.signatures.config import JudgeConfig, WholeOrEachConfig
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Note
from judgesmith.signatures.rubric import Criterion, folded
from judgesmith.signatures.scale import PERCENT, Scale
from judgesmith.signatures.space import Rubrics, Space, asks_choices, field_choice, sampling_choices


class PromptFormatConfig(WholeOrEachConfig):
    """The configuration that all judge models with a prompt format share."""

    given_alone: ClassVar[tuple[str, ...]] = ("format",)
    form: ClassVar[str]

    format: str | FormatFile | None = Field(default=None, exclude_if=lambda given: given is None)

    @model_validator(mode="before")
    @classmethod
    def _as_its_format_has_it(cls, given: Any) -> Any:
        one = given.get("format") if isinstance(given, Mapping) else None
        if one is None:
            return given
        file = shipped_format(one) if isinstance(one, str) else FormatFile.model_validate(one)
        own = {"answers": file.scale, "asks": file.asks, "weighting": file.weighting}
        return {**own, **given}

    @property
    def form_name(self) -> str:
        """What questions call the format: its name, or the whole of one that does not ship."""
        given = self.format or self.form
        return given if isinstance(given, str) else given.text

    @model_validator(mode="after")
    def _keeps_to_the_form(self) -> Self:
        form = prompt_format_named(self.form_name)
        own = form.answers
        model = f"{'an' if self.judge[0] in 'aeiou' else 'a'} {self.judge} model"
        if self.answers != own:
            raise InputError(
                f"{model} answers on {own}, the scale of its training; got {self.answers}."
            )
        if self.demonstrations:
            raise InputError(f"the form of {model} has no demonstrations.")
        if self.weighting != "none" and len(form.outputs) > 1:
            raise InputError(
                f"{model} explains before its score, and then one level has nearly all "
                "probability: weighting must be none.",
                hint="choose samples instead.",
            )
        return self


class PrometheusConfig(PromptFormatConfig):
    """The configuration of a Prometheus judge."""

    form: ClassVar[str] = "prometheus-absolute"
    judge: Literal["prometheus"] = "prometheus"
    answers: Scale = Scale(low=1, high=5)


class ThemisConfig(PromptFormatConfig):
    """The configuration of a Themis judge."""

    form: ClassVar[str] = "themis"
    judge: Literal["themis"] = "themis"
    answers: Scale = Scale(low=1, high=5)


class AutoJConfig(PromptFormatConfig):
    """The configuration of an Auto-J judge."""

    form: ClassVar[str] = "auto-j-single"
    judge: Literal["auto-j"] = "auto-j"
    asks: Literal["criteria", "overall"] = "overall"
    answers: Scale = Scale(low=1, high=10)


class JudgeModelConfig(PromptFormatConfig):
    """The configuration of a judge model whose prompt format is named, or a file."""

    form: ClassVar[str] = "compassjudger"
    judge: Literal["judge-model"] = "judge-model"
    answers: Scale = Scale(low=1, high=10)


ANY_TASK = "A response was written to what follows."
"""What is said of the task where the rubric describes none."""


def form_questions(protocol: PromptFormatConfig) -> dict[str, QuestionForm]:
    form = prompt_format_named(protocol.form_name)
    texts = tuple(name for name in form.inputs if name in form.outside)
    asked = QuestionForm(
        texts=texts if form.fenced else (),
        told=() if form.fenced else texts,
        outputs=(dict(form.outputs),),
        form=form.name,
        answers=form.answers,
    )
    return scoring.whole_or_each(protocol, asked, whole="whole", each="one")


def form_inputs(protocol: PromptFormatConfig, question: str) -> dict[str, str]:
    rubric = protocol.rubric
    place = scoring.place_of(question)
    if place is None:
        lines = [f"{one.name}: {one.definition}" for one in rubric.criteria]
        definition = " ".join(lines) or "Is the response good as a whole?"
        criterion = Criterion(name="overall quality", definition=definition)
    else:
        criterion = rubric.criteria[place]
    told = prompt_format_named(protocol.form_name).criterion(criterion)
    return {"task": rubric.task or ANY_TASK, "criterion": told}


def form_once(protocol: PromptFormatConfig, asking: scoring.Asking) -> scoring.Once:
    """Judge one response once, with its errors where the format lists some."""
    if "errors" in prompt_format_named(protocol.form_name).outputs:
        return pointing_once(protocol, asking)
    return scoring.each_scored(protocol, asking, form_questions(protocol))


def form_space(protocol: PromptFormatConfig, rubrics: Rubrics = None) -> Space:
    return Space(choices=(*asks_choices(protocol, rubrics), *sampling_choices(protocol)))


def _family(name: str, protocol: type[PromptFormatConfig], about: str) -> JudgeFamily:
    return JudgeFamily(
        name=name,
        about=about,
        protocol=protocol,
        forms=form_questions,
        once=form_once,
        inputs=form_inputs,
        space=form_space,
        judge="judgesmith.programs.families.modules:PromptFormatJudge",
    )


PROMETHEUS = _family(
    "prometheus",
    PrometheusConfig,
    "asks a Prometheus model in its own form, for feedback and a score from 1 to 5",
)
THEMIS = _family(
    "themis",
    ThemisConfig,
    "asks a Themis model in its own form, for an analysis and a rating from 1 to 5",
)
AUTO_J = _family(
    "auto-j",
    AutoJConfig,
    "asks an Auto-J model in its own form, for a critique and a rating from 1 to 10",
)


JUDGE_MODEL = _family(
    "judge-model",
    JudgeModelConfig,
    "asks a model that was trained to judge in the prompt format that is named, or in a file",
)


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
    """The configuration of an annotator."""

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
            raise InputError("an annotator cannot use demonstrations.")
        if self.weighting != "none":
            raise InputError(
                "weighting must be none: an annotator lists errors before its score, and then "
                "one level has nearly all probability.",
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
        """Return the rules of the prompt, one per line; empty if they are off."""
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
        """The levels of severity, as the requested JSON shows them."""
        words = f'"one of {", ".join(SEVERITIES)}"'
        return _SEVERITY_POINTS if self.severity == "points" else words


def _listed(text: str) -> tuple[str, ...]:
    names = tuple(name for one in text.split(",") if (name := one.strip()))
    return () if names == ("none",) else names


_WHOLE = "Is the response good as a whole?"
# What stands behind a quotation and this is how it should be.
_CORRECTED = re.compile(
    r"(?<=[\"”»'’`)])\s*+\(?(?:→|[-=]>"
    r"|(?:should|ought to|must) (?:be|read|say)\b|instead of\b|rather than\b|correct(?:ed|ly)?\b)",
    re.IGNORECASE,
)
_QUOTED = 8  # quotations of one error that become errors of their own


def criterion_of(protocol: JudgeConfig, question: str) -> Criterion | None:
    """Return the criterion that a question is about; None for the whole."""
    place = scoring.place_of(question)
    return None if place is None else protocol.rubric.criteria[place]


def annotator_form(protocol: AnnotatorConfig, question: str) -> PromptFormat:
    """Return the form that a question is asked in: which texts it shows, and on what it answers."""
    shown = protocol.shown_for(criterion_of(protocol, question))
    return prompt_format_named(form_for(shown, protocol.answers))


def annotator_questions(protocol: AnnotatorConfig) -> dict[str, QuestionForm]:
    """Return the questions of an annotator: one for each criterion, or one about the whole."""
    found = {}
    for name in scoring.whole_or_each(protocol, QuestionForm(), whole="annotate", each="annotate"):
        form = annotator_form(protocol, name)
        found[name] = QuestionForm(
            texts=tuple(text for text in TEXTS if text in form.outside),
            outputs=(dict(form.outputs),),
            form=form.name,
            answers=form.answers,
        )
    return found


def annotator_inputs(protocol: AnnotatorConfig, question: str) -> dict[str, str]:
    rubric = protocol.rubric
    criterion = criterion_of(protocol, question)
    lines = " ".join(f"{one.name}: {one.definition}" for one in rubric.criteria)
    whole = Criterion(name="overall quality", definition=lines or _WHOLE)
    return {
        "task": rubric.task or ANY_TASK,
        "criterion": protocol.meaning_of(criterion or whole),
        "rules": protocol.rules_for(criterion),
        "grades": protocol.grades,
    }


def pointing_once(protocol: JudgeConfig, asking: scoring.Asking) -> scoring.Once:
    """Judge one response by answers that have ``errors`` beside their score."""
    read_score = scoring.score_on(protocol.answers)
    errors: dict[str, tuple[ErrorSpan, ...]] = {}
    notes: dict[str, tuple[Note, ...]] = {}

    def ask(part: scoring.Asking, question: str, about: str) -> RequestProgram[scoring.Answer]:
        criterion = criterion_of(protocol, question)

        def read(fields: Mapping[str, Any]) -> CriterionScore:
            score = read_score(fields)
            spans, said = error_spans(
                errors_of(str(fields["errors"])),
                asking.item.response,
                about=about,
                criterion=criterion.name if criterion else "",
            )
            errors[question] = tuple(spans)
            notes[question] = (*said, *_contradiction(score, len(spans), about))
            return score

        return part.of(question, read, about=about)

    asked = list(family_of(protocol.judge).forms(protocol))
    found = yield from scoring.each_scored(protocol, asking, asked, ask)
    told = {
        "errors": tuple(one for name in asked for one in errors.get(name, ())),
        "notes": tuple(one for name in asked for one in notes.get(name, ())),
    }
    return found.model_copy(update=told)


def _contradiction(score: CriterionScore, n_errors: int, about: str) -> tuple[Note, ...]:
    is_best = score.score == 100.0
    if is_best != bool(n_errors):
        return ()
    several = "1 error" if n_errors == 1 else f"{n_errors} errors"
    text = f"the best score, with {several}" if is_best else "less than the best, with no error"
    return (Note(kind="contradiction", about=about, text=text),)


def error_spans(
    stated: Sequence[StatedError], response: str, *, about: str, criterion: str = ""
) -> tuple[tuple[ErrorSpan, ...], tuple[Note, ...]]:
    """Return errors with their places, the most severe if they are many, and what was left out."""
    find = Locator(response)
    found = [
        ErrorSpan(
            text=quoted if place.start is None else response[place.start : place.end],
            start=place.start,
            end=place.end,
            severity=one.severity,
            explanation=one.explanation,
            located=place.located,
            ambiguous=place.ambiguous,
            criterion=criterion,
        )
        for one in stated
        for quoted, place in places_of(one.location, find)
    ]
    notes = []
    n_ungraded = sum(one.severity is None for one in stated)
    if n_ungraded:
        text = f"{n_ungraded} of {len(stated)} errors have no severity that can be read"
        notes.append(Note(kind="unread", about=about, text=text))
    if len(found) > MOST_ERRORS:
        text = f"{len(found) - MOST_ERRORS} of {len(found)} errors were left out, the mildest"
        notes.append(Note(kind="left out", about=about, text=text))
        worst = sorted(range(len(found)), key=lambda at: (-(found[at].severity or 0), at))
        found = [found[at] for at in sorted(worst[:MOST_ERRORS])]
    return tuple(found), tuple(notes)


def places_of(location: str, find: Locator) -> Iterator[tuple[str, SpanPlace]]:
    """Yield what a location quotes, each with its place: several quotations are several places."""
    whole = find.look(location)
    if whole.located in ("exact", "normalised", "missing"):
        yield location, find(location)
        return
    several = list(quoted_in(_CORRECTED.split(location, maxsplit=1)[0]))[:_QUOTED]
    if not several:
        yield location, find(location)
    for quoted in several:
        yield quoted, find(quoted, is_quoted=True)


def annotator_space(protocol: AnnotatorConfig, rubrics: Rubrics = None) -> Space:
    choices = (
        *asks_choices(protocol, rubrics),
        field_choice(protocol, "answers", {"words": LEVELS, "1-5": POINTS}),
        field_choice(protocol, "severity", ("points", "words")),
        field_choice(protocol, "rules", ("on", "off")),
        field_choice(protocol, "shown", ("fitting", *SHOWN)),
        *sampling_choices(protocol),
    )
    return Space(choices=choices)


ANNOTATOR = JudgeFamily(
    name="annotator",
    about="points at errors with their place, reason and severity, then gives a score",
    protocol=AnnotatorConfig,
    forms=annotator_questions,
    once=pointing_once,
    inputs=annotator_inputs,
    space=annotator_space,
    judge="judgesmith.programs.families.modules:AnnotatorJudge",
)


class DistilledConfig(PromptFormatConfig):
    """The configuration of a judge that asks a distilled model."""

    form: ClassVar[str] = "distilled"
    judge: Literal["distilled"] = "distilled"
    answers: Scale = PERCENT


DISTILLED = JudgeFamily(
    name="distilled",
    about="asks a model that learned from annotators, in the form of its training",
    protocol=DistilledConfig,
    forms=form_questions,
    once=pointing_once,
    inputs=form_inputs,
    space=form_space,
    judge="judgesmith.programs.families.modules:DistilledJudge",
)
