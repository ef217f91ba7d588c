"""The questions: fields in the order of thought, texts from outside marked."""

import pytest

from judgesmith.programs.judging.adapter import untrusted_fields
from judgesmith.signatures.judgement import Assessment
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    AssessCriterion,
    GradeResponse,
    RateByCriteria,
    ScoreOverall,
)

ALL = [GradeResponse, RateByCriteria, AssessCriteria, AssessCriterion, ScoreOverall]


@pytest.mark.parametrize("signature", ALL)
def test_every_text_from_outside_is_marked(signature):
    own = {"task", "criteria", "criterion"}
    assert set(untrusted_fields(signature)) == set(signature.input_fields) - own


@pytest.mark.parametrize("signature", ALL)
def test_every_field_is_described_and_the_fences_are_explained(signature):
    fields = {**signature.input_fields, **signature.output_fields}
    assert all(field.json_schema_extra["desc"] for field in fields.values())
    assert "verbatim tags" in signature.instructions


@pytest.mark.parametrize("signature", ALL)
def test_marking_shows_nothing_to_the_model(signature):
    assert signature.input_fields["source"].annotation is str


def test_reasons_come_before_scores():
    for signature in (RateByCriteria, AssessCriterion, ScoreOverall):
        assert list(signature.output_fields) == ["explanation", "score"]
    assert list(Assessment.model_fields) == ["criterion", "explanation", "score"]


@pytest.mark.parametrize("signature", ALL)
def test_instructions_name_no_order_of_explanation_and_score(signature):
    words = signature.instructions.lower()
    assert not any(word in words for word in ("explain", "explanation", "first", "before", "then"))
