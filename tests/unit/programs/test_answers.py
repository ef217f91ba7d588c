"""An answer is read leniently where its meaning is plain, and refused where it is not."""

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.judging.answers import (
    UnreadRecord,
    is_cut_off,
    read_answer,
    read_field,
    split_answer,
)
from judgesmith.signatures.judgement import Assessment
from judgesmith.signatures.scale import Scale, read_yes

RECORD = {"criterion": "fluency", "explanation": "Reads well.", "score": 85}
ONE = [Assessment(**RECORD)]


def read(text):
    return read_field(text, list[Assessment])


class TestSections:
    def test_the_wanted_fields_are_found_among_others(self):
        text = "Sure!\n[[ ## mood ## ]]\ngood\n[[ ## score ## ]]\n85\n[[ ## completed ## ]]\nBye."
        assert split_answer(text, ["score"]) == {"score": "85"}

    def test_a_value_may_stand_beside_its_header(self):
        assert split_answer("  [[ ## score ## ]] 85", ["score"]) == {"score": "85"}

    def test_windows_line_ends_make_no_difference(self):
        text = "[[ ## explanation ## ]]\r\na\r\nb\r\n[[ ## score ## ]]\r\n85\r\n"
        found = split_answer(text, ["explanation", "score"])
        assert found == {"explanation": "a\r\nb", "score": "85"}

    @pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
    def test_no_other_character_starts_a_line(self, end):
        text = (
            f"[[ ## explanation ## ]]\nquote:{end}[[ ## score ## ]]{end}100\n[[ ## score ## ]]\n9"
        )
        found = split_answer(text, ["explanation", "score"])
        assert found["score"] == "9"
        assert "100" in found["explanation"]

    def test_a_header_within_a_line_is_text(self):
        text = "[[ ## explanation ## ]]\nit says [[ ## score ## ]] 100\n[[ ## score ## ]]\n9"
        assert split_answer(text, ["explanation", "score"])["score"] == "9"

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

    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize("text", ["", "good", "4 out of 5", "1e3", "nan", "80-90"])
    def test_what_is_no_number_is_refused(self, text):
        with pytest.raises(ValueError, match="expected one number from 0 to 100"):
            read_field(text, int)

    def test_text_is_left_as_it_is(self):
        assert read_field(" a\n{b} ", str) == " a\n{b} "


class TestRecords:
    @pytest.mark.parametrize(
        "around",
        ["{}", "```json\n{}\n```", "```\n{}\n```", "Here they are:\n{}\nThat is all.", "\n\n{}\n"],
    )
    def test_text_around_the_records_is_passed_over(self, around):
        assert read(around.replace("{}", json.dumps([RECORD]))) == ONE

    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize(
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

    def test_an_escaped_character_is_read_whole(self):
        (one,) = read(r'[{"criterion": "a", "explanation": "\ud83d\ude00", "score": 20}]')
        assert one.explanation == "😀"

    def test_numbers_beyond_all_bounds_do_not_stop_anything(self):
        text = '[{"criterion": "a", "explanation": "b", "score": %s}]'
        assert read(text % "Infinity")[0].score == float("inf")  # refused where ranges are known
        with pytest.raises(ValueError, match="expected one number"):
            read(text % ("9" * 400))
        with pytest.raises(ValueError):
            read(text % ("9" * 10_000))

    @pytest.mark.parametrize(
        "text", ["[" * 100_000, '{"a":' * 50_000, '[{"a":' * 2000, "[1," * 100_000]
    )
    def test_deep_nesting_is_refused(self, text):
        with pytest.raises(ValueError):
            read(text)

    @pytest.mark.parametrize(
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
    @pytest.mark.parametrize(
        "text",
        [
            '{"explanation": "Brief.", "score": 85}',
            '```json\n{"explanation": "Brief.", "score": "85/100",}\n```',
            "\n {'Score': '**85**', 'Explanation': 'Brief.', 'mood': 'good'}\n",
        ],
    )
    def test_an_answer_may_be_one_json_object_with_all_fields(self, text):
        assert read_answer(text, RATED) == {"explanation": "Brief.", "score": 85}

    @pytest.mark.parametrize("text", ["85", " **85/100**\n", "```\n85\n```", "Score: 85", "85分"])
    def test_the_only_field_that_was_asked_for_may_stand_alone(self, text):
        assert read_answer(text, {"score": int}) == {"score": 85}
        with pytest.raises(ValueError, match="lacks the field explanation, score"):
            read_answer(text, RATED)

    @pytest.mark.parametrize("wrap", ["{}", '{{"assessments": {}}}', "```json\n{}\n```"])
    def test_so_may_records(self, wrap):
        found = read_answer(wrap.format(json.dumps([RECORD])), SEVERAL)
        assert found == {"assessments": ONE}

    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize(
        "said", ["yes", '"Yes."', "True", "true", "Yes, it is.", "Answer: yes"]
    )
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

    @pytest.mark.parametrize(
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
