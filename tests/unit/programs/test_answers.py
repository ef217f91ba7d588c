"""Answers of models: fields, JSON and quoted passages."""

import contextlib
import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.programs.judging.answers import (
    UnreadRecord,
    is_cut_off,
    read_answer,
    read_field,
    read_json,
    shaped,
    spelled,
    split_answer,
)
from judgesmith.programs.judging.logprobs import place_of_answer, places_in_records
from judgesmith.signatures.judgement import Assessment, AssessmentScoreOnly
from judgesmith.signatures.questions.task_inference import ProposedCriteria
from judgesmith.signatures.scale import Scale, read_yes

# An answer is read leniently where its meaning is plain, and refused where it is not.

RECORD = {"criterion": "fluency", "explanation": "Reads well.", "score": 85}
ONE = [Assessment(**RECORD)]


def read(text):
    return read_field(text, list[Assessment])


class TestSections:
    def test_windows_line_ends_make_no_difference(self):
        text = "[[ ## explanation ## ]]\r\na\r\nb\r\n[[ ## score ## ]]\r\n85\r\n"
        found = split_answer(text, ["explanation", "score"])
        assert found == {"explanation": "a\r\nb", "score": "85"}

    @for_each("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
    def test_no_other_character_starts_a_line(self, end):
        text = (
            f"[[ ## explanation ## ]]\nquote:{end}[[ ## score ## ]]{end}100\n[[ ## score ## ]]\n9"
        )
        found = split_answer(text, ["explanation", "score"])
        assert found["score"] == "9"
        assert "100" in found["explanation"]

    @pytest.mark.parametrize(
        "text",
        [
            "[[ ## score ## ]]\n85\n[[ ## score ## ]]\n15",
            "[[ ## score ## ]]\n85\n[[ ## score ## ]]\n85",
            "[[ ## score ## ]]\n100\n[[ ## completed ## ]]\n\n[[ ## score ## ]]\n15",
        ],
    )
    def test_two_answers_are_no_answer(self, text):
        with pytest.raises(ValueError, match="gives the field score twice"):
            split_answer(text, ["score"])

    @for_each(
        "header",
        [
            "[[ ## Score ## ]]",
            "[[## score ##]]",
            "**[[ ## score ## ]]**",
            "### [[ ## score ## ]]",
            "### **[[ ## score ## ]]**",
            "`[[ ## score ## ]]`",
        ],
    )
    def test_a_header_may_be_marked_and_spaced_in_other_ways(self, header):
        assert split_answer(f"{header}\n85", ["score"]) == {"score": "85"}
        assert split_answer(f"{header} 85", ["score"]) == {"score": "85"}
        with pytest.raises(ValueError, match="gives the field score twice"):
            split_answer(f"{header}\n85\n[[ ## score ## ]]\n15", ["score"])

    def test_a_quoted_header_is_text(self):
        text = "[[ ## explanation ## ]]\n> [[ ## score ## ]]\n> 100\n[[ ## score ## ]]\n9"
        assert split_answer(text, ["explanation", "score"])["score"] == "9"

    @pytest.mark.parametrize("text", ["", "85", "score: 85", "[[ score ]]\n85"])
    def test_a_missing_field_is_named(self, text):
        with pytest.raises(ValueError, match="the answer lacks the field score"):
            split_answer(text, ["score"])

    @given(st.text(st.characters(), max_size=200))
    def test_what_is_read_as_text_can_never_hold_a_header(self, explanation):
        text = f"[[ ## explanation ## ]]\n{explanation}\n[[ ## score ## ]]\n1"
        try:
            found = split_answer(text, ["explanation", "score"])
        except ValueError:
            return
        lines = found["explanation"].split("\n")
        assert not any(line.lstrip().startswith("[[ ## score ## ]]") for line in lines)


class TestScores:
    def test_a_whole_number_is_whole(self):
        assert repr(read_field("85", int)) == "85"
        assert read_field("85.5", int) == 85.5

    @for_each("text", ["", "good", "4 out of 5", "1e3", "nan", "80-90"])
    def test_what_is_no_number_is_refused(self, text):
        with pytest.raises(ValueError, match="expected one number from 0 to 100"):
            read_field(text, int)


class TestRecords:
    @for_each(
        "text",
        [
            '[{"criterion": "fluency", "explanation": "Reads well.", "score": "85/100"}]',
            '[{"criterion": "fluency", "explanation": "Reads well.", "score": 85,},]',
            "[{'criterion': 'fluency', 'explanation': 'Reads well.', 'score': 85}]",
            '[{"criterion": "fluency", "explanation": "Reads well.", "score": 85}',
            '[{"score": 85.0, "explanation": "Reads well.", "criterion": "fluency", "x": [1]}]',
            '[{"criterion": "fluency" "explanation": "Reads well." "score": 85}]',
            '[{"Criterion": "fluency", "**Explanation**": "Reads well.", "SCORE": 85}]',
            'As [asked]: [{"criterion": "fluency", "explanation": "Reads well.", "score": 85}] [1]',
        ],
    )
    def test_small_faults_are_mended(self, text):
        assert read(text) == ONE

    def test_a_quotation_inside_an_explanation_stays_text(self):
        text = '[{"criterion": "a", "explanation": "it says "score": 100, ha", "score": 20}]'
        (one,) = read(text)
        assert one.score == 20
        assert "100" in one.explanation

    def test_a_line_end_inside_an_explanation_is_kept(self):
        (one,) = read('[{"criterion": "a", "explanation": "one\ntwo\u2028three", "score": 20}]')
        assert one.explanation == "one\ntwo\u2028three"

    @pytest.mark.parametrize(
        "text",
        [
            json.dumps([RECORD]) + "\n\n" + json.dumps([RECORD | {"score": 5}]),
            json.dumps([RECORD]) + json.dumps([RECORD]),
            '[{"criterion": "a", "explanation": "b", "score": 100, "score": 5}]',
            "[{'criterion': 'a', 'explanation': 'b', 'score': 100, 'score': 5}]",
        ],
    )
    def test_two_values_where_one_was_asked_for_are_refused(self, text):
        with pytest.raises(ValueError):
            read(text)

    @for_each(
        ("text", "said"),
        [
            ('[{"criterion": "a", "explanation": "b"}]', "0.score: Field required"),
            ('[{"criterion": "a", "score": 1}]', "0.explanation: Field required"),
            ('[{"criterion": "a", "explanation": "b", "score": "good"}]', "0.score: expected one"),
            ('[{"criterion": "a", "explanation": "b", "score": null}]', "0.score: expected one"),
            ('[{"criterion": "a", "explanation": "b", "score": true}]', "0.score: expected one"),
            (json.dumps(RECORD | {"score": None}), "0.score: expected one"),
            ('{"mood": "good"}', "the value: Input should be a valid list"),
            ("no records at all", "the value: Input should be a valid list"),
            ("", "the value: Input should be a valid list"),
        ],
    )
    def test_what_is_missing_is_named(self, text, said):
        with pytest.raises(ValueError, match=said):
            read(text)

    @pytest.mark.parametrize("half", [r"\ud83d", r"\uDE00", r"\uD83d"])
    def test_half_a_character_becomes_the_sign_for_one(self, half):
        (one,) = read(
            '[{"criterion": "a", "explanation": "HALF!", "score": 2}]'.replace("HALF", half)
        )
        assert one.explanation == "\ufffd!"

    def test_half_a_character_in_text_becomes_it_too(self):
        found = split_answer("[[ ## explanation ## ]]\n\ud83d!", ["explanation"])
        assert found == {"explanation": "\ufffd!"}

    def test_numbers_beyond_all_bounds_do_not_stop_anything(self):
        text = '[{"criterion": "a", "explanation": "b", "score": %s}]'
        assert read(text % "Infinity")[0].score == float("inf")  # refused where ranges are known
        with pytest.raises(ValueError, match="expected one number"):
            read(text % ("9" * 400))
        with pytest.raises(ValueError):
            read(text % ("9" * 10_000))

    @for_each(
        "text",
        [
            '["' * 100_000,
            '[{"a": "' + ",\\:}\n" * 20_000,
            '["' + "'*\n" * 30_000,
            "[" + " " * 10**6 + "x",
            '[{"criterion": "' + "a" * 10**6,
            "lorem ipsum " * 10**5,
            "[lorem ipsum " * 10**4,
        ],
    )
    def test_huge_answers_are_refused(self, text):
        with pytest.raises(ValueError):
            read(text)

    @given(st.text('[]{}",:\\ a1\n', max_size=60))
    def test_any_text_gives_records_or_a_value_error(self, text):
        try:
            found = read(text)
        except ValueError:
            return
        assert all(isinstance(one, Assessment | UnreadRecord) for one in found)
        assert not found or any(isinstance(one, Assessment) for one in found)

    @pytest.mark.parametrize("bad", ["N/A", None, "80-90", True])
    def test_a_record_that_cannot_be_read_takes_nothing_from_the_others(self, bad):
        found = read(json.dumps([RECORD | {"criterion": "truth", "score": bad}, RECORD]))
        assert found[1:] == ONE
        assert found[0].criterion == "truth"
        assert found[0].problem.startswith("score: expected one number from 0 to 100; got")

    def test_a_record_about_nothing_is_no_record(self):
        with pytest.raises(ValueError, match=r"1\.criterion: Field required"):
            read(json.dumps([RECORD, {"explanation": "b", "score": 5}]))

    @pytest.mark.parametrize(
        "text",
        [
            '[{"criterion": "a", "explanation": "b", "score": 8',
            '[{"explanation": "b", "criterion": "a", "score": 85.5',
        ],
    )
    def test_a_number_at_which_the_answer_breaks_off_is_no_number(self, text):
        with pytest.raises(ValueError, match="breaks off inside a number"):
            read(text)


RATED = {"explanation": str, "score": int}
SEVERAL = {"assessments": list[Assessment]}


class TestAnswersWithoutSections:
    @for_each("text", ["85", " **85/100**\n", "```\n85\n```", "Score: 85", "85分"])
    def test_the_only_field_that_was_asked_for_may_stand_alone(self, text):
        assert read_answer(text, {"score": int}) == {"score": 85}
        with pytest.raises(ValueError, match="lacks the field explanation, score"):
            read_answer(text, RATED)

    @for_each(
        "text",
        [
            "I'm sorry, but I can't judge this.",
            "The text says 100.",
            'I will not repeat {"score": 100}.',
            'It says:\n```json\n{"score": 100}\n```\nI will not judge it.',
            "80-90",
        ],
    )
    def test_what_is_said_around_a_value_is_never_taken_for_the_answer(self, text):
        with pytest.raises(ValueError, match="the answer lacks the field score"):
            read_answer(text, {"score": int})

    @for_each(
        "text",
        [
            'Here you go: {"score": 55} Anything else?',
            'Sure, here is the JSON:\n```json\n{"score": 55}\n```\nOn 0-100, after 3 checks.',
            '<think>Is it 40? {"score": 40}</think>\n{"score": 55}\n\n[[ ## completed ## ]]',
            '[[ ## score ## ]]\nI give {"score": "55/100"}\n\n[[ ## completed ## ]]',
            'I said 55 of 100: {"result": {"score": 55}}',
        ],
    )
    def test_one_object_is_read_wherever_it_stands(self, text):
        assert read_answer(text, {"score": int}) == {"score": 55}

    @for_each(
        "text",
        [
            'First {"score": 55}, or rather {"score": 40}.',
            'It claims {"score": 99}. I give it 20.',
            'Here: {"score": 99}\n\nI would give it 20 for its style.',
            'Here: {"score": 99}\n\n20',
            'Here: {"score": 55} {"score": ',
            'The response ends with: {"score": 99}',
            'Here: {"score": 55}\n[[ ## completed ## ]]\n[[ ## completed ## ]]',
        ],
    )
    def test_an_object_beside_another_answer_is_refused(self, text):
        with pytest.raises(ValueError, match=r"lacks the field|another score|two JSON|breaks off"):
            read_answer(text, {"score": int})

    @for_each("said", ["yes", '"Yes."', "True", "true", "Yes, it is.", "Answer: yes"])
    def test_yes_has_several_words(self, said):
        scale = Scale.categorical("no", "yes")
        text = f"[[ ## score ## ]]\n{said}"
        assert read_answer(text, {"score": Literal["no", "yes"]}, scale) == {"score": "yes"}
        assert read_yes(said)
        with pytest.raises(ValueError, match="expected one of"):
            read_field("Yes and no", Literal["no", "yes"], scale=scale)

    def test_a_text_never_stands_for_a_field_by_itself(self):
        with pytest.raises(ValueError, match="the answer lacks the field description"):
            read_answer("I'm sorry, but I can't help.", {"description": str})

    @for_each(
        ("text", "said"),
        [
            ('{"explanation": "a", "score": 100}{"explanation": "b", "score": 5}', "Multiple"),
            ('{"explanation": "a", "score": 100, "Score": 5}', "gives a key twice"),
            ('{"explanation": "a", "score": "80-90"}', "expected one number"),
            ('{"explanation": 5, "score": 80}', "explanation: expected a text"),
            (r'{"explanation": "a\n[[ ## score ## ]]\n100", "score": 5}', "marks the fields"),
        ],
    )
    def test_two_values_and_other_than_was_asked_for_are_refused(self, text, said):
        with pytest.raises(ValueError, match=said):
            read_answer(text, RATED)

    @pytest.mark.parametrize(("word", "said"), [("true", "yes"), ("false", "no"), ('"no"', "no")])
    def test_a_truth_value_is_yes_or_no(self, word, said):
        found = read_answer(f'{{"names": ["a"], "complete": {word}}}', YES_NO)
        assert found == {"names": ["a"], "complete": said}

    @given(
        st.text('[]{}",:\\ a1\n#`*', max_size=60)
        | st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["score", "Score", "explanation", "criterion", "a"]), inner
                )
            ),
            max_leaves=9,
        ).map(json.dumps),
        st.sampled_from([RATED, SEVERAL, {"score": int}, {"names": list[str]}]),
    )
    def test_any_text_gives_all_fields_or_a_value_error(self, text, annotations):
        for answer in (text, "\n".join(f"[[ ## {name} ## ]]\n{text}" for name in annotations)):
            try:
                found = read_answer(answer, annotations)
            except ValueError:
                continue
            assert list(found) == list(annotations)


YES_NO = {"names": list[str], "complete": str}


@pytest.mark.parametrize("text", ["[[ ## score ## ]]\n8", "[[ ## score ## ]]\n85.5\n"])
def test_an_answer_may_be_cut_off_inside_its_last_number(text):
    assert is_cut_off(text)
    assert not is_cut_off(text + "\n[[ ## completed ## ]]")


# JSON is read in the shapes in which models write it, and never guessed.

A = {"criterion": "a", "explanation": "so", "score": 85}
B = {"criterion": "b", "explanation": "so", "score": 40}


def read_answer_json(text):
    value = read_json(text if isinstance(text, str) else json.dumps(text), list[Assessment])
    return shaped(value, list[Assessment], "assessments")


@for_each(
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
    assert read_answer_json(value) == [A, B]


def test_one_record_may_stand_alone():
    assert read_answer_json(A) == [A]
    assert read_answer_json({"assessments": A}) == [A]


def test_scores_alone_may_stand_by_name():
    kind = list[AssessmentScoreOnly]
    found = shaped({"a": 85, "b": "40/100"}, kind, "assessments")
    assert found == [{"criterion": "a", "score": 85}, {"criterion": "b", "score": "40/100"}]


@for_each(
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
    assert read_answer_json(value) == value


@pytest.mark.parametrize("value", [{"a": B}, {"b": {"Criterion": "a", "score": 5}}])
def test_a_record_that_contradicts_its_name_is_refused(value):
    with pytest.raises(ValueError, match="the JSON calls one record"):
        read_answer_json(value)


def test_a_key_that_is_given_in_two_spellings_is_given_twice():
    with pytest.raises(ValueError, match="gives a key twice"):
        read_answer_json([{**A, "Score": 5}])
    assert spelled({"Score": 1, "Mood": 2}, ["score"]) == {"score": 1, "Mood": 2}


@for_each(
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
        read_answer_json(text)


SHAPES = (
    '[{"criterion": "a", "explanation": "so", "score": %s}]',
    '[{"criterion": "a", "score": %s, "explanation": "so"}]',
    "[{'criterion': 'a', 'score': %s, 'explanation': 'so',}]",
    '[{criterion: "a", score: %s, explanation: "so"}]',
)


@pytest.mark.parametrize("shape", SHAPES)
class TestScoresInWords:
    @for_each(
        "words", ["80-90", "80 to 90", "80–90", "85 or 90", "8 5", "85 100", "~85", "N/A", "85_0"]
    )
    def test_of_which_the_beginning_is_no_number_are_refused(self, shape, words):
        with pytest.raises(ValueError, match="expected one"):
            read_field(shape % words, list[Assessment])

    @for_each(
        "words", ["85", "85.0", "85/100", "85 out of 100", "**85**", "85%", "+85", "85 points"]
    )
    def test_of_one_number_are_read_without_quotes(self, shape, words):
        (one,) = read_field(shape % words, list[Assessment])
        assert one.score == 85


class TestLists:
    @for_each(
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

    @pytest.mark.parametrize("text", ["I can't [see] any", "[one, two]", "no list", "- one\ntwo"])
    def test_prose_is_no_list(self, text):
        try:
            found = read_json(text, list[str])
        except ValueError:
            return
        assert not isinstance(found, list)

    def test_only_lists_of_texts_have_bullets(self):
        assert not read_json("- one\n- two", list[Assessment])


def test_proposed_criteria_are_read_in_all_these_shapes():
    one = {"name": "a", "definition": "b"}
    for value in ([one], {"criteria": [one]}, {"a": {"definition": "b"}}, {"a": "b"}, one):
        found = ProposedCriteria.model_validate(shaped(value, ProposedCriteria, "criteria"))
        assert [dict(each) for each in found.root] == [one]


@for_each(
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


# answer places

PERCENTS = tuple(map(str, range(101)))
VERDICTS = ("Better", "Worse")


def stands(text, said, answers=PERCENTS, field="score"):
    place = place_of_answer(text, field, said, answers)
    return None if place is None else (text[slice(*place)], text[: place[0]])


@for_each(
    ("value", "said", "expected"),
    [
        ("85", "85", "85"),
        ("**85**/100", "85", "**85"),
        ("Score (1-85): 85", "85", "85"),
        ('"85"', "85", '"85'),
        ("８５分", "85", "８５"),
        ("85 points, of 100", "85", "85"),
    ],
)
def test_a_number_is_found_where_it_was_given(value, said, expected):
    text = f"[[ ## explanation ## ]]\nIt is 85 words long.\n\n[[ ## score ## ]]\n{value}\n"
    found, before = stands(text, said)
    assert found == expected
    assert "[[ ## score ## ]]" in before


def test_the_last_of_equal_numbers_is_the_answer_where_the_first_is_of_a_range():
    text = "[[ ## score ## ]]\nScore (1-5): 5"
    assert stands(text, "5")[1].endswith(": ")


def test_a_word_is_found_with_its_quotes_and_not_inside_another():
    text = '[[ ## verdict ## ]]\nNothing Betterable: "better"\n\n[[ ## completed ## ]]'
    assert stands(text, "Better", VERDICTS, "verdict")[0] == '"better'


@pytest.mark.parametrize(
    "text",
    [
        '{"explanation": "\\"score\\": 85, they say 85", "score": 85}',
        '```json\n{"explanation": "85", "score": "85"}\n```',
        '[[ ## score ## ]]\n{"score": 85}',
        "85",
    ],
)
def test_an_answer_may_be_one_json_value(text):
    found, before = stands(text, "85")
    assert found.strip('"') == "85"
    assert "they say" not in before or before.endswith('"score": ')


def test_what_cannot_be_told_is_not_guessed():
    assert stands("[[ ## score ## ]]\neighty-five", "85") is None
    assert stands("[[ ## score ## ]]\n85.5", "85") is None
    assert stands("[[ ## score ## ]]\n85", "85.5") is None
    assert stands('{"score": 85, "score": 85}', "85") is None


def in_records(text, **said):
    found = places_in_records(text, "assessments", said, title="criterion", key="score")
    return {name: (start, text[start:end]) for name, (start, end) in found.items()}


def test_every_number_is_found_in_its_own_record():
    records = [
        {"criterion": "wit", "explanation": 'he said "score": 70, {"criterion": "x"', "score": 70},
        {"criterion": "**Fact_Check**", "score": 70, "explanation": "café ]}"},
        {"criterion": "brevity", "explanation": "score", "score": "70"},
    ]
    text = f"[[ ## assessments ## ]]\n{json.dumps(records, ensure_ascii=False)}\n"
    found = in_records(text, wit="70", **{"fact check": "70", "brevity": "70"})
    places = [start for start, _ in found.values()]
    assert [word for _, word in found.values()] == ["70", "70", '"70']
    assert places == sorted(set(places))
    assert text[: places[0]].endswith('"score": ')


def test_records_in_an_object_and_behind_a_fence_are_found():
    text = (
        '[[ ## assessments ## ]]\n```json\n{"assessments": [{"criterion": "wit", "score": 7},\n'
        '{"criterion": "pun", "score": 8}]}\n```\n\n[[ ## completed ## ]]'
    )
    assert in_records(text, wit="7", pun="8", lack="9").keys() == {"wit", "pun"}


@for_each(
    "text",
    [
        "[{'criterion': 'wit', 'score': 7}]",
        '[{"criterion": "wit", "score": 7} {"criterion": "wit", "score": 7}]',
        '[{"criterion": "wit", "score": 7.5}]',
        '[{"criterion": "wit", "explanation": "unended, "score": 7}]',
        "[{]",
        '{"wit": 7}',
        "",
        "[" * 100_000,
    ],
)
def test_faulty_json_and_other_numbers_have_no_place(text):
    assert in_records(f"[[ ## assessments ## ]]\n{text}", wit="7") == {}


@given(st.text(alphabet='[]{}"score:,#85 \n\\u', max_size=60))
def test_places_hold_what_was_read_whatever_the_text(text):
    for place in (
        place_of_answer(text, "score", "85", PERCENTS),
        places_in_records(text, "assessments", {"s": "85"}, title="s", key="score").get("s"),
    ):
        assert place is None or text[slice(*place)].strip("\"'`*_([<") == "85"


def test_what_was_thought_aloud_is_not_looked_at():
    text = "<think>\n[[ ## score ## ]]\n85\n</think>\n[[ ## score ## ]]\n85"
    start, end = place_of_answer(text, "score", "85", ["85"])
    assert (start, text[start:end]) == (len(text) - 2, "85")
