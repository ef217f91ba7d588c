"""A judge with a matching hash may still be hostile: it is refused where it could do harm."""

import pytest

from judgesmith.programs.artifacts.record import SavedAgreement
from judgesmith.programs.artifacts.saved import check_questions
from judgesmith.programs.judging.prompts import Slot, Turn
from judgesmith.signatures.plain_data import record_faults


@pytest.fixture(params=[{}, {"variant": "vanilla"}, {"criteria_calls": "separate"}])
def judge(request, judge_of):
    """A judge with demonstrations, of several variants."""
    return judge_of(shown="Ann left.", **request.param)


def changed(judge, **update):
    """Return a judge's questions, the last of them changed."""
    *_, (name, question) = judge.templates().items()
    return {**judge.templates(), name: question.model_copy(update=update)}


def without(question, name):
    """Return the pieces of a question without one slot."""
    return tuple(one for one in question if not (isinstance(one, Slot) and one.name == name))


def test_a_judges_own_questions_pass(judge):
    assert check_questions(judge.protocol, judge.templates()) is None


def test_a_question_that_does_not_show_the_response_is_refused(judge):
    for name, question in judge.templates().items():
        pieces = without(question.question, "response")
        hidden = {**judge.templates(), name: question.model_copy(update={"question": pieces})}
        with pytest.raises(ValueError, match=f"the question {name} must show .*response"):
            check_questions(judge.protocol, hidden)


def test_a_question_that_shows_a_text_outside_its_fence_is_refused(judge):
    *_, question = judge.templates().values()
    pieces = tuple(
        one.model_copy(update={"fenced": False}) if isinstance(one, Slot) else one
        for one in question.question
    )
    with pytest.raises(ValueError, match="between fences"):
        check_questions(judge.protocol, changed(judge, question=pieces))


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"predictor": "other"}, "is called 'other' in itself"),
        ({"outputs": {"score": "text"}}, "cannot read the answers"),
        ({"outputs": {}}, "cannot read the answers"),
        ({"outputs": {"score": "points", "reward": "text"}}, "cannot read the answers"),
        ({"turns": ()}, "must begin with one system message"),
        ({"turns": (Turn(role="system", text="a"),) * 2}, "must begin with one system message"),
    ],
)
def test_a_question_that_cannot_be_asked_or_read_is_refused(judge, update, said):
    with pytest.raises(ValueError, match=said):
        check_questions(judge.protocol, changed(judge, **update))


def test_questions_that_the_protocol_does_not_ask_are_refused(judge):
    (name, question), *rest = judge.templates().items()
    for questions in ({}, dict(rest), {**judge.templates(), "more": question}):
        with pytest.raises(ValueError, match=f"the protocol asks {name}.*; got questions called"):
            check_questions(judge.protocol, questions)


@pytest.mark.parametrize(
    "agreement",
    [
        {},
        {"gain": None, "heldout": None, "criteria": None},
        {"heldout": {"dataset": {"q": None, "pearson": {"value": None, "n": 3}}, "sample": None}},
    ],
)
def test_agreement_that_was_measured_or_not_passes(agreement):
    assert SavedAgreement.model_validate(agreement).plain == agreement


@pytest.mark.parametrize(
    ("agreement", "said"),
    [
        ({"heldout": 5}, "heldout: expected fields by name"),
        ({"heldout": {"dataset": [1]}}, "heldout.dataset: expected fields by name"),
        ({"selection": {"dataset": {"q": "high"}}}, "selection.dataset.q: expected fields"),
        ({"selection": {"dataset": {"q": {}}}}, "selection.dataset.q: expected an estimate"),
        ({"heldout": {"dataset": {"q": {"value": "0.9"}}}}, "heldout.dataset.q.value"),
        ({"criteria": {"heldout": {"clear": 1}}}, "heldout.clear: expected fields by name"),
        ({"criteria": "none"}, "criteria: expected fields by name"),
    ],
)
def test_agreement_of_another_shape_is_refused(agreement, said):
    with pytest.raises(ValueError, match=said), record_faults():
        SavedAgreement.model_validate(agreement)
