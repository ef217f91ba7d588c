"""The steps of a judge that asks a model in its own form: of each criterion, or of all at once.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from judgesmith.programs.families.forms import ModelForm, form_named
from judgesmith.programs.judging.program import Steps
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.scoring import place_of, score_steps, whole_or_each
from judgesmith.signatures.family_configs import FormConfig
from judgesmith.signatures.rubric import Criterion

ANY_TASK = "A response was written to what follows."
"""What is said of the task where the rubric describes none."""


def absolute_form(protocol: FormConfig) -> ModelForm:
    """Return the form in which a protocol's model scores one response."""
    return form_named(protocol.form)


def form_questions(protocol: FormConfig) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole."""
    form = absolute_form(protocol)
    texts = tuple(name for name in form.inputs if name in form.outside)
    asked = QuestionForm(
        texts=texts, outputs=(dict(form.outputs),), form=form.name, answers=form.answers
    )
    return whole_or_each(protocol, asked, whole="whole", each="one")


def form_inputs(protocol: FormConfig, question: str) -> dict[str, str]:
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


def form_steps(
    protocol: FormConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""
    questions = form_questions(protocol)
    return score_steps(protocol, questions, source=source, response=response, context=context)
