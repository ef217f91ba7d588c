import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.judging.logprobs import place_of_answer, places_in_records

PERCENTS = tuple(map(str, range(101)))
VERDICTS = ("Better", "Worse")


def stands(text, said, answers=PERCENTS, field="score"):
    place = place_of_answer(text, field, said, answers)
    return None if place is None else (text[slice(*place)], text[: place[0]])


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    ids=range(8),
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
