"""An answer is read leniently where its meaning is plain, and refused where it is not."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.answers import read_field, split_answer
from judgesmith.signatures.judgement import Assessment

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

    @pytest.mark.parametrize("text", ["", "85", "[[ ## Score ## ]]\n85", "[[## score ##]]\n85"])
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
            (json.dumps(RECORD), "the value: Input should be a valid list"),
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
    def test_huge_answers_take_no_long_time(self, text):
        began = time.perf_counter()
        with pytest.raises(ValueError):
            read(text)
        assert time.perf_counter() - began < 3.0

    @given(st.text('[]{}",:\\ a1\n', max_size=60))
    def test_any_text_gives_records_or_a_value_error(self, text):
        try:
            found = read(text)
        except ValueError:
            return
        assert all(isinstance(one, Assessment) for one in found)
