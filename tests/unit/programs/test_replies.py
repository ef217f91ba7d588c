"""An answer becomes a reply with fields, or with the reason why it has none."""

import pytest

from judgesmith.programs.judging.program import (
    ModelReply,
    ProbabilitiesOf,
    PromptRequest,
    all_or_fault,
    readable,
    too_long,
    unreadable,
    with_no_probabilities,
)
from judgesmith.programs.lm import ModelAnswer, ModelError, TransientModelError
from judgesmith.signatures.judgement import Cause, Reason

ASK = PromptRequest(
    predictor="p", inputs={}, probabilities=ProbabilitiesOf(field="x", answers=("a", "b"))
)


def test_an_answer_that_was_read_has_its_fields_and_its_call():
    assert readable({"x": "a"}, call="5f") == ModelReply(fields={"x": "a"}, call="5f")


def test_an_answer_that_breaks_off_inside_a_number_is_not_read():
    cut = ModelAnswer(text="[[ ## score ## ]]\n7", finish_reason="length")
    found = readable({"score": 7}, call="5f", answer=cut)
    assert (found.fields, found.call) == (None, "5f")
    assert "cut off at the model's limit of tokens" in str(found.cause)
    assert found.cause.reason is Reason.CUT_OFF


def test_what_ended_an_answer_is_the_reason_before_what_it_lacks():
    stopped = ModelAnswer(text="", finish_reason="content_filter")
    cause = unreadable("it is empty", answer=stopped).cause
    assert cause.reason is Reason.FILTERED
    assert "content filter stopped it" in str(cause)
    sentence = "the model's answer could not be read: it is empty"
    assert unreadable("it is empty").cause == Cause(Reason.UNREADABLE, sentence)


def test_texts_beyond_the_window_are_not_asked_about_again():
    assert too_long(ValueError("9000 tokens")).final
    assert too_long(ValueError("9000 tokens")).cause.reason is Reason.TOO_LONG


def test_probabilities_that_are_not_to_be_had_come_with_the_reason():
    found = with_no_probabilities(ModelReply(fields={"x": "a"}), ASK, "the endpoint refuses")
    assert found.probabilities["x"].reason == "the endpoint refuses"
    unread = unreadable("it is empty")
    assert with_no_probabilities(unread, ASK, "the endpoint refuses") is unread


def test_a_fault_of_the_set_up_comes_before_one_of_the_item():
    passing, lasting = TransientModelError("busy", status=503), ModelError("no key", status=401)
    with pytest.raises(ModelError, match="no key"):
        all_or_fault([ModelReply(), passing, lasting])
    with pytest.raises(TransientModelError):
        all_or_fault([ModelReply(), passing])
    assert all_or_fault([ModelReply(call="a")]) == (ModelReply(call="a"),)
