"""The steps of judges that point at errors, and of those that learned to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesmith.programs.families.forms import PromptFormat, prompt_format_named
from judgesmith.programs.families.forms.annotators import (
    StatedError,
    errors_of,
    form_for,
    quoted_in,
)
from judgesmith.programs.families.one_score import ANY_TASK
from judgesmith.programs.judging.program import AnySteps, Steps
from judgesmith.programs.judging.prompts import TEXTS, QuestionForm
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.scoring import (
    Answer,
    Asking,
    Once,
    each_scored,
    place_of,
    sampled_steps,
    score_on,
    whole_or_each,
)
from judgesmith.programs.judging.spans import Locator, Place
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.family_configs import MOST_ERRORS, AnnotatorConfig
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Note
from judgesmith.signatures.rubric import Criterion

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
    place = place_of(question)
    return None if place is None else protocol.rubric.criteria[place]


def annotator_form(protocol: AnnotatorConfig, question: str) -> PromptFormat:
    """Return the form that a question is asked in: which texts it shows, and on what it answers."""
    shown = protocol.shown_for(criterion_of(protocol, question))
    return prompt_format_named(form_for(shown, protocol.answers))


def annotator_questions(protocol: AnnotatorConfig) -> dict[str, QuestionForm]:
    """Return the questions of an annotator: one for each criterion, or one about the whole."""
    found = {}
    for name in whole_or_each(protocol, QuestionForm(), whole="annotate", each="annotate"):
        form = annotator_form(protocol, name)
        found[name] = QuestionForm(
            texts=tuple(text for text in TEXTS if text in form.outside),
            outputs=(dict(form.outputs),),
            form=form.name,
            answers=form.answers,
        )
    return found


def annotator_inputs(protocol: AnnotatorConfig, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
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


def pointing_steps(
    protocol: JudgeConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by answers that have ``errors`` beside their score."""
    read_score = score_on(protocol.answers)

    def once(asking: Asking) -> Once:
        errors: dict[str, tuple[ErrorSpan, ...]] = {}
        notes: dict[str, tuple[Note, ...]] = {}

        def ask(part: Asking, question: str, about: str) -> AnySteps[Answer]:
            criterion = criterion_of(protocol, question)

            def read(fields: Mapping[str, Any]) -> CriterionScore:
                score = read_score(fields)
                spans, said = error_spans(
                    errors_of(str(fields["errors"])),
                    response,
                    about=about,
                    criterion=criterion.name if criterion else "",
                )
                errors[question] = tuple(spans)
                notes[question] = (*said, *_contradiction(score, len(spans), about))
                return score

            return part.of(question, read, about=about)

        asked = list(family_of(protocol.judge).forms_of(protocol))
        found = yield from each_scored(protocol, asking, asked, ask)
        told = {
            "errors": tuple(one for name in asked for one in errors.get(name, ())),
            "notes": tuple(one for name in asked for one in notes.get(name, ())),
        }
        return found.model_copy(update=told)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


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


def places_of(location: str, find: Locator) -> Iterator[tuple[str, Place]]:
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
