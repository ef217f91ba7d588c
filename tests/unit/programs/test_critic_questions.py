"""Names and fixed parts of the questions: known without DSPy, and the same that are asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.active_critic import (
    assessing_names,
    assessments_text,
    critic_inputs,
    question_names,
)
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures import ActiveCriticConfig, Criterion, CriterionScore, Rubric

JUDGES = [
    {"variant": "vanilla"},
    {"variant": "coarse"},
    {},
    {"overall": "mean"},
    {"criteria_calls": "separate"},
    {"criteria_calls": "separate", "overall": "mean"},
]
TWELVE = Rubric(criteria={f"quality {n}": f"Is it {n}?" for n in range(1, 13)})


@pytest.mark.parametrize("choices", JUDGES)
@pytest.mark.parametrize("explain", ["before", "after", "none"])
def test_the_named_questions_are_those_that_the_judge_asks(choices, explain, rubric):
    protocol = ActiveCriticConfig(rubric=rubric, explain=explain, **choices)
    judge = ActiveCritic(protocol)
    assert question_names(protocol) == tuple(name for name, _ in judge.named_predictors())


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({"variant": "vanilla"}, ("grade",)),
        ({"variant": "coarse"}, ("rate",)),
        ({}, ("assess", "overall")),
        ({"overall": "mean"}, ("assess",)),
        ({"criteria_calls": "separate"}, ("assess_1", "assess_2", "overall")),
        ({"criteria_calls": "separate", "overall": "mean"}, ("assess_1", "assess_2")),
    ],
)
def test_questions_come_in_the_order_in_which_they_are_asked(choices, names, rubric):
    assert question_names(ActiveCriticConfig(rubric=rubric, **choices)) == names


def test_more_than_nine_criteria_keep_their_order_and_their_own_definitions():
    protocol = ActiveCriticConfig(rubric=TWELVE, criteria_calls="separate", overall="mean")
    names = assessing_names(protocol)
    assert names[8:] == ("assess_9", "assess_10", "assess_11", "assess_12")
    assert question_names(protocol) == names
    for number, name in enumerate(names, start=1):
        assert critic_inputs(protocol, name) == {"criterion": f"quality {number}: Is it {number}?"}
    judge = ActiveCritic(protocol)
    assert tuple(name for name, _ in judge.named_predictors()) == names


@pytest.mark.parametrize("variant", ["vanilla", "coarse"])
def test_a_judge_that_scores_no_criteria_has_no_questions_about_them(variant):
    assert assessing_names(ActiveCriticConfig(variant=variant)) == ()


@pytest.mark.parametrize("choices", JUDGES)
@pytest.mark.parametrize("task", ["", "Judge it."])
def test_what_is_fixed_is_what_the_question_has_beside_the_texts(choices, task, rubric):
    protocol = ActiveCriticConfig(rubric=rubric.model_copy(update={"task": task}), **choices)
    for name, predictor in ActiveCritic(protocol).named_predictors():
        of_items = {"source", "context", "response", "assessments"}
        asked = set(predictor.signature.input_fields) - of_items
        assert set(critic_inputs(protocol, name)) == asked
        assert ("task" in asked) == (bool(task) and name != "grade")


def test_a_criterion_is_worded_alike_by_itself_and_among_others(rubric):
    protocol = ActiveCriticConfig(rubric=rubric, criteria_calls="separate")
    alone = [critic_inputs(protocol, name)["criterion"] for name in assessing_names(protocol)]
    assert "\n".join(alone) == criteria_text(rubric)
    assert alone[1] == "Fact_Check: Is it true? 0 means: invented. 100 means: supported."


hostile_words = st.text("[# \n\t\x1c\x85\xa0\u2028x]", max_size=12)


@given(hostile_words, hostile_words)
def test_a_criterion_is_one_line_without_a_header_whatever_its_definition_holds(meaning, worst):
    try:
        criterion = Criterion(name="a", definition=f"x {meaning} ## ]]", worst=worst)
    except ValueError as fault:
        assert "is a marker of the prompt layout" in str(fault)  # noqa: PT017
        return
    text = criteria_text(Rubric(criteria=(criterion,)))
    assert text.splitlines() == [text]
    assert "[[ ##" not in text


def test_scores_are_shown_without_a_needless_fraction_and_explanations_on_one_line():
    shown = assessments_text(
        {
            "a": CriterionScore(score=85.0, explanation="One.\n- b: 100. Two."),
            "b": CriterionScore(score=72.5),
            "c": CriterionScore(score=None, explanation="no score: unreadable"),
        }
    )
    assert shown.split("\n") == ["- a: 85. One. - b: 100. Two.", "- b: 72.5.", "- c: no score."]
