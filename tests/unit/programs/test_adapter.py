"""Messages are laid out as DSPy's chat adapter lays them out, with texts from outside in fences."""

import json

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError

from judgesmith.programs.judging.adapter import PARTIAL, FencedAdapter, untrusted_fields
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.offline.requests import read_user
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    GradeResponse,
    ScoreOverall,
)
from judgesmith.signatures.questions.on_scale import with_explanation

INPUTS = {"source": "2 + 2?", "context": None, "response": "4"}


def last(messages):
    return messages[-1]["content"]


def test_without_texts_from_outside_it_is_dspys_chat_adapter():
    signature = dspy.Signature("question, hint -> answer, points: int")
    demos = [{"question": "a", "hint": "b", "answer": "c", "points": 3}]
    inputs = {"question": "2 + 2?", "hint": "even"}
    ours = FencedAdapter().format(signature, demos, inputs)
    assert ours == dspy.ChatAdapter().format(signature, demos, inputs)


@pytest.mark.parametrize(
    ("explain", "keys"),
    [
        ("before", ["criterion", "explanation", "score"]),
        ("after", ["criterion", "score", "explanation"]),
        ("none", ["criterion", "score"]),
    ],
)
def test_the_schema_of_records_lists_their_keys_as_they_are_to_be_written(explain, keys):
    signature = with_explanation(AssessCriteria, explain)
    structure = FencedAdapter().format_field_structure(signature)
    of_dspy = dspy.ChatAdapter().format_field_structure(signature)
    assert (structure == of_dspy) == (explain != "after")
    (line,) = [line for line in structure.split("\n") if "JSON schema" in line]
    schema = json.loads(line.partition("JSON schema: ")[2])
    (record,) = schema["$defs"].values()
    assert list(record["properties"]) == record["required"] == keys
    (line,) = [line for line in of_dspy.split("\n") if "JSON schema" in line]
    assert schema == json.loads(line.partition("JSON schema: ")[2])


def test_the_texts_between_the_fences_are_the_texts(hostile):
    inputs = {"source": f"About {hostile}", "context": hostile, "response": hostile}
    message = last(FencedAdapter().format(GradeResponse, [], inputs))
    shown = {name: unix_lines(text) for name, text in inputs.items()}
    assert read_user(message, list(GradeResponse.input_fields)) == shown


def test_a_missing_context_is_said_to_be_missing_and_differs_from_the_word():
    missing = last(FencedAdapter().format(GradeResponse, [], INPUTS))
    assert "[[ ## context ## ]]\n(none)\n" in missing
    word = last(FencedAdapter().format(GradeResponse, [], {**INPUTS, "context": "(none)"}))
    assert read_user(word, list(GradeResponse.input_fields))["context"] == "(none)"


def test_dspys_own_markers_in_a_text_stay_text(hostile):
    messages = FencedAdapter().format(GradeResponse, [], {**INPUTS, "response": hostile})
    assert all(isinstance(message["content"], str) for message in messages)
    assert unix_lines(hostile) in last(messages)


class TestDemonstrations:
    def test_they_keep_their_order_and_say_what_is_left_out(self):
        partial = {**INPUTS, "score": 70}
        whole = {**INPUTS, "explanation": "Right.", "score": 90}
        messages = FencedAdapter().format(
            ScoreOverall, [whole, partial], {**INPUTS, "task": "t", "assessments": "-"}
        )
        roles = [message["role"] for message in messages]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
        assert not messages[1]["content"].startswith(PARTIAL)
        assert messages[3]["content"].startswith(PARTIAL)
        assert messages[4]["content"].startswith(f"[[ ## explanation ## ]]\n{LEFT_OUT}\n")

    def test_records_may_leave_out_a_part_and_the_example_says_so(self):
        records = [{"criterion": "a", "explanation": LEFT_OUT, "score": 70}]
        whole = [{"criterion": "a", "explanation": "Right.", "score": 70}]
        inputs = {**INPUTS, "task": "t", "criteria": "a: b"}
        demos = [{**INPUTS, "assessments": one} for one in (records, whole)]
        messages = FencedAdapter().format(AssessCriteria, demos, inputs)
        assert messages[1]["content"].startswith(PARTIAL)
        assert f'"explanation": "{LEFT_OUT}"' in messages[2]["content"]
        assert not messages[3]["content"].startswith(PARTIAL)

    def test_one_that_shows_no_answer_is_passed_over(self):
        demo = {**INPUTS, "score": 70}
        inputs = {**INPUTS, "task": "t", "criteria": "a: b"}
        assert len(FencedAdapter().format(AssessCriteria, [demo], inputs)) == 2

    def test_each_has_fences_of_its_own(self, hostile):
        demo = {"source": hostile, "context": None, "response": hostile, "score": 1}
        question = FencedAdapter().format(GradeResponse, [demo], INPUTS)[1]["content"]
        found = read_user(question, list(GradeResponse.input_fields), partial=True)
        assert found["response"] == found["source"] == unix_lines(hostile)


class TestReading:
    def test_an_answer_is_read_by_its_types(self, answered):
        text = answered(explanation="Fine.", score="**85/100**")
        found = FencedAdapter().parse(ScoreOverall, text)
        assert found == {"explanation": "Fine.", "score": 85}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[[ ## score ## ]]\n1\n[[ ## score ## ]]\n2", "gives the field score twice"),
            ("high", "lacks the field score"),
            ("[[ ## score ## ]]\nhigh", "expected one number"),
        ],
    )
    def test_what_cannot_be_read_is_an_error_of_dspys(self, text, said):
        with pytest.raises(AdapterParseError, match=said):
            FencedAdapter().parse(GradeResponse, text)

    def test_there_is_no_second_call_through_another_adapter(self, scripted):
        lm, engine = scripted(lambda request: "high")
        predictor = dspy.Predict(GradeResponse)
        with (
            dspy.context(lm=lm, adapter=FencedAdapter()),
            pytest.raises(AdapterParseError),
        ):
            predictor(**INPUTS)
        assert len(engine.requests) == 1


def test_texts_from_outside_are_found_by_their_type():
    assert untrusted_fields(GradeResponse) == ("source", "context", "response")
    assert untrusted_fields(dspy.Signature("source, response -> score")) == ()
