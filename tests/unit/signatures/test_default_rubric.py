"""The rubric for those who have none asks about any kind of response."""

from judgesmith.signatures.rubric import DEFAULT_RUBRIC, Rubric


def test_every_criterion_is_a_question_with_both_ends_named():
    for criterion in DEFAULT_RUBRIC.criteria:
        assert criterion.definition.endswith("?")
        assert criterion.worst
        assert criterion.best


def test_it_can_be_written_down_edited_and_read_again():
    assert Rubric.from_yaml(DEFAULT_RUBRIC.to_yaml()) == DEFAULT_RUBRIC
