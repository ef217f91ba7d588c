"""Judges whose every question has one score: direct, explain-eval, models' own formats."""

from __future__ import annotations

from judgesmith.programs.families.forms import PromptFormat, prompt_format_named
from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.scoring import place_of, whole_or_each
from judgesmith.signatures.config import DirectConfig, ExplainEvalConfig
from judgesmith.signatures.family_configs import PromptFormatConfig
from judgesmith.signatures.rubric import Criterion

_FORM = QuestionForm(outputs=({"score": "points"},))


def direct_forms(protocol: DirectConfig) -> dict[str, QuestionForm]:
    """Return the questions of a direct judge: one about the whole, or one for each criterion."""
    return whole_or_each(protocol, _FORM, whole="whole", each="one")


def explain_eval_forms(protocol: ExplainEvalConfig) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole."""
    outputs: dict[str, Kind] = {"score": "points"}
    if protocol.explain != "none":
        outputs["explanation"] = "text"
    form = QuestionForm(outputs=(outputs,))
    return whole_or_each(protocol, form, whole="analyse", each="analyse")


ANY_TASK = "A response was written to what follows."
"""What is said of the task where the rubric describes none."""


def absolute_form(protocol: PromptFormatConfig) -> PromptFormat:
    return prompt_format_named(protocol.form)


def form_questions(protocol: PromptFormatConfig) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole."""
    form = absolute_form(protocol)
    texts = tuple(name for name in form.inputs if name in form.outside)
    asked = QuestionForm(
        texts=texts, outputs=(dict(form.outputs),), form=form.name, answers=form.answers
    )
    return whole_or_each(protocol, asked, whole="whole", each="one")


def form_inputs(protocol: PromptFormatConfig, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    rubric = protocol.rubric
    place = place_of(question)
    if place is None:
        lines = [f"{one.name}: {one.definition}" for one in rubric.criteria]
        definition = " ".join(lines) or "Is the response good as a whole?"
        criterion = Criterion(name="overall quality", definition=definition)
    else:
        criterion = rubric.criteria[place]
    told = absolute_form(protocol).criterion(criterion)
    return {"task": rubric.task or ANY_TASK, "criterion": told}
