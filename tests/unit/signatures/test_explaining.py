"""The same question with its explanation first, last or left out: nothing else changes."""

import pytest

from judgesmith.programs.judging.adapter import untrusted_fields
from judgesmith.signatures.judgement import (
    Assessment,
    AssessmentScoreFirst,
    AssessmentScoreOnly,
)
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    AssessCriterion,
    RateByCriteria,
    ScoreOverall,
)
from judgesmith.signatures.questions.on_scale import ASSESSMENTS, with_explanation

WITH_ONE_SCORE = [RateByCriteria, AssessCriterion, ScoreOverall]
ALL = [*WITH_ONE_SCORE, AssessCriteria]
WAYS = ["before", "after", "none"]


def described(fields):
    """Return what a model is told of fields, by name."""
    return {
        name: (field.annotation, field.json_schema_extra["desc"]) for name, field in fields.items()
    }


@pytest.mark.parametrize("signature", WITH_ONE_SCORE)
def test_the_explanation_stands_where_it_is_wanted(signature):
    orders = {way: list(with_explanation(signature, way).output_fields) for way in WAYS}
    assert orders == {
        "before": ["explanation", "score"],
        "after": ["score", "explanation"],
        "none": ["score"],
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("signature", ALL)
def test_instructions_inputs_and_fences_stay_as_they_are(signature, way):
    found = with_explanation(signature, way)
    assert found.instructions == signature.instructions
    assert described(found.input_fields) == described(signature.input_fields)
    assert list(found.input_fields) == list(signature.input_fields)
    assert untrusted_fields(found) == untrusted_fields(signature)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("signature", WITH_ONE_SCORE)
def test_what_is_still_asked_for_is_described_as_before(signature, way):
    before = described(signature.output_fields)
    found = described(with_explanation(signature, way).output_fields)
    assert found == {name: before[name] for name in found}


@pytest.mark.parametrize("signature", ALL)
def test_the_signature_itself_is_left_as_it_was(signature):
    before = described(signature.output_fields)
    for way in WAYS:
        with_explanation(signature, way)
    assert described(signature.output_fields) == before
    assert list(signature.output_fields) == list(before)


@pytest.mark.parametrize(
    ("way", "keys"),
    [
        ("before", ["criterion", "explanation", "score"]),
        ("after", ["criterion", "score", "explanation"]),
        ("none", ["criterion", "score"]),
    ],
)
def test_assessments_have_their_keys_in_the_order_of_thought(way, keys):
    field = with_explanation(AssessCriteria, way).output_fields["assessments"]
    assert field.annotation == ASSESSMENTS[way]
    (record,) = field.annotation.__args__
    assert list(record.model_fields) == keys
    assert field.json_schema_extra["desc"] == "one per criterion, in the order given"


def test_every_form_of_an_assessment_describes_a_key_alike():
    told = {
        (name, field.description)
        for form in (Assessment, AssessmentScoreFirst, AssessmentScoreOnly)
        for name, field in form.model_fields.items()
    }
    assert len(told) == 3


@pytest.mark.parametrize("form", [AssessmentScoreFirst, AssessmentScoreOnly])
def test_points_are_read_as_leniently_and_written_as_whole_numbers(form):
    one = form(criterion="a", explanation="b", score="85/100")
    assert one.score == 85
    assert '"score":85' in one.model_dump_json()
