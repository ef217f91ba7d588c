"""JSON is read in the shapes in which models write it, and never guessed."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.judging.answers import read_field, read_json, record_type, shaped, spelled
from judgesmith.signatures.judgement import Assessment, AssessmentScoreOnly
from judgesmith.signatures.questions.task_inference import ProposedCriteria, ProposedCriterion

A = {"criterion": "a", "explanation": "so", "score": 85}
B = {"criterion": "b", "explanation": "so", "score": 40}


def read(text):
    value = read_json(text if isinstance(text, str) else json.dumps(text), list[Assessment])
    return shaped(value, list[Assessment], "assessments")


@pytest.mark.parametrize(
    "value",
    [
        [A, B],
        {"assessments": [A, B]},
        {"Assessments": [A, B]},
        {"assessments": [A, B], "overall": 70},
        {"a": {"score": 85, "explanation": "so"}, "b": {"score": 40, "explanation": "so"}},
        {"assessments": {"a": {"Score": 85, "Explanation": "so"}, "b": B}},
        {"1": A, "2": B},
    ],
)
def test_records_may_be_wrapped_or_stand_by_name(value):
    assert read(value) == [A, B]


def test_one_record_may_stand_alone():
    assert read(A) == [A]
    assert read({"assessments": A}) == [A]


def test_scores_alone_may_stand_by_name():
    kind = list[AssessmentScoreOnly]
    found = shaped({"a": 85, "b": "40/100"}, kind, "assessments")
    assert found == [{"criterion": "a", "score": 85}, {"criterion": "b", "score": "40/100"}]


@pytest.mark.parametrize(
    "value",
    [
        {"assessments": [A], "corrected": [B]},
        {"first": [A], "second": [B]},
        {"a": 85, "b": 40},
        {},
        [[A], [B]],
    ],
)
def test_what_could_be_read_in_two_ways_is_left_as_it_is(value):
    assert read(value) == value


@pytest.mark.parametrize("value", [{"a": B}, {"b": {"Criterion": "a", "score": 5}}])
def test_a_record_that_contradicts_its_name_is_refused(value):
    with pytest.raises(ValueError, match="the JSON calls one record"):
        read(value)


def test_a_key_that_is_given_in_two_spellings_is_given_twice():
    with pytest.raises(ValueError, match="gives a key twice"):
        read([{**A, "Score": 5}])
    assert spelled({"Score": 1, "Mood": 2}, ["score"]) == {"score": 1, "Mood": 2}


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "As [asked], and (see [2]):\n```json\n{}\n```\nThat is all [of it].",
        "Here: {} Hope it helps [1].",
    ],
)
def test_brackets_in_prose_open_nothing(around):
    assert read(around.replace("{}", json.dumps([A]))) == [A]


@pytest.mark.parametrize(
    "text",
    [
        f"{json.dumps([A])} or rather {json.dumps([B])}",
        f"```json\n{json.dumps([A])}\n```\n```json\n{json.dumps([B])}\n```",
        f"[criterion: a, score: 1] {json.dumps(A)} {json.dumps(B)}",
        f"{{criterion: 'a', score: 100}} {json.dumps([B])}",
        f"{json.dumps([A])} {{score: 3}}",
    ],
)
def test_of_two_values_none_is_chosen(text):
    with pytest.raises(ValueError):
        read(text)


SHAPES = (
    '[{"criterion": "a", "explanation": "so", "score": %s}]',
    '[{"criterion": "a", "score": %s, "explanation": "so"}]',
    "[{'criterion': 'a', 'score': %s, 'explanation': 'so',}]",
    '[{criterion: "a", score: %s, explanation: "so"}]',
)


@pytest.mark.parametrize("shape", SHAPES)
class TestScoresInWords:
    @pytest.mark.parametrize(
        "words", ["80-90", "80 to 90", "80–90", "85 or 90", "8 5", "85 100", "~85", "N/A", "85_0"]
    )
    def test_of_which_the_beginning_is_no_number_are_refused(self, shape, words):
        with pytest.raises(ValueError, match="expected one"):
            read_field(shape % words, list[Assessment])

    @pytest.mark.parametrize(
        "words", ["85", "85.0", "85/100", "85 out of 100", "**85**", "85%", "+85", "85 points"]
    )
    def test_of_one_number_are_read_without_quotes(self, shape, words):
        (one,) = read_field(shape % words, list[Assessment])
        assert one.score == 85


class TestLists:
    @pytest.mark.parametrize(
        "text",
        [
            '["one", "two [2]"]',
            "```\n['one', 'two [2]',]\n```",
            "- one\n- two [2]",
            "1. one\n2. two [2]\n",
            "Here they are:\n\n* one\n\n* two [2]",
        ],
    )
    def test_texts_may_stand_in_json_or_with_bullets(self, text):
        assert read_json(text, list[str]) == ["one", "two [2]"]

    def test_an_object_around_them_is_passed_over(self):
        assert shaped({"names": ["one"]}, list[str], "names") == ["one"]

    @pytest.mark.parametrize("text", ["I can't [see] any", "[one, two]", "no list", "- one\ntwo"])
    def test_prose_is_no_list(self, text):
        try:
            found = read_json(text, list[str])
        except ValueError:
            return
        assert not isinstance(found, list)

    def test_only_lists_of_texts_have_bullets(self):
        assert not read_json("- one\n- two", list[Assessment])


def test_records_are_known_by_their_type():
    assert record_type(list[Assessment]) is Assessment
    assert record_type(ProposedCriteria) is ProposedCriterion
    assert [record_type(one) for one in (list[str], str, list, dict[str, int])] == [None] * 4


def test_proposed_criteria_are_read_in_all_these_shapes():
    one = {"name": "a", "definition": "b"}
    for value in ([one], {"criteria": [one]}, {"a": {"definition": "b"}}, {"a": "b"}, one):
        found = ProposedCriteria.model_validate(shaped(value, ProposedCriteria, "criteria"))
        assert [dict(each) for each in found.root] == [one]


@pytest.mark.parametrize(
    "text",
    ["[[" * 50_000, '[{"a' * 25_000, "[ " * 50_000, "- " * 50_000, "-\n" * 50_000, '["' * 50_000],
)
def test_huge_texts_are_lists_or_refused(text):
    for annotation in (list[Assessment], list[str]):
        with contextlib.suppress(ValueError):
            assert isinstance(read_json(text, annotation), list)


@pytest.mark.no_cover
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["assessments", "score", "criterion", "explanation", "1"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_value_is_shaped_or_refused_with_a_value_error(value):
    try:
        found = shaped(value, list[Assessment], "assessments")
    except ValueError:
        return
    assert type(found) is not dict or set(found) != {"criterion", "explanation", "score"}


def test_what_breaks_the_mending_is_no_json(monkeypatch):
    def breaking(*_, **__):
        raise AssertionError

    monkeypatch.setattr("json_repair.loads", breaking)
    with pytest.raises(ValueError, match="none that can be mended"):
        read_json("{'a': b}", dict)
