"""A question is asked once more where its answer is of no use, then given up with the reason."""

import pytest

from judgesmith.programs.judging.program import Calls, ModelReply, PromptRequest, asked
from judgesmith.signatures import Judgement
from judgesmith.signatures.judgement import Cause, Reason

ASK = PromptRequest(predictor="grade", inputs={"response": "r"})
UNREAD = Cause(Reason.UNREADABLE, "unreadable")


def read(fields):
    if fields["score"] > 100:
        raise ValueError(f"the model answered {fields['score']}")
    return fields["score"]


def play(replies):
    """Return what was asked, what came of it, and the calls, for one reply after another."""
    calls = Calls()
    steps = asked(ASK, read, again=7, calls=calls)
    questions = [next(steps)]
    for reply in replies:
        try:
            questions.append(steps.send(reply))
        except StopIteration as end:
            return questions, end.value, calls.made
    pytest.fail("more questions than replies")


def test_a_good_answer_is_taken():
    questions, value, made = play([ModelReply(fields={"score": 5}, call="a")])
    assert (questions, value, made) == ([ASK], 5, ["a"])


def test_the_second_attempt_is_another_sample_of_the_same_question():
    questions, value, made = play(
        [
            ModelReply(cause=UNREAD, call="a"),
            ModelReply(fields={"score": 5}, call="b"),
        ]
    )
    assert questions == [ASK, PromptRequest(predictor="grade", inputs=ASK.inputs, sample=7)]
    assert (value, made) == (5, ["a", "b"])


def test_two_bad_answers_give_the_last_reason():
    _, value, made = play(
        [
            ModelReply(cause=UNREAD),
            ModelReply(fields={"score": 300}, call="b"),
        ]
    )
    assert (value, made) == (Cause(Reason.UNREADABLE, "the model answered 300"), ["b"])


def test_where_asking_again_cannot_help_nothing_is_asked():
    questions, value, _ = play([ModelReply(cause=Cause(Reason.TOO_LONG, "too long"), final=True)])
    assert (len(questions), value) == (1, Cause(Reason.TOO_LONG, "too long"))


def test_a_reply_without_a_call_is_not_remembered():
    calls = Calls()
    reply = ModelReply(fields={"score": 1})
    assert calls(reply) is reply
    assert calls.made == []
    assert Judgement(score=1, calls=tuple(calls.made)).calls == ()
