"""What an exported file mends of JSON comes to what the package makes of it."""

import json

import pytest

from judgesmith.programs.answer_mending import mended as by_json_repair
from judgesmith.programs.exporting.runtime.answer_mending import mended

PLAIN = [
    {"criterion": "fluency", "explanation": "It's ok, so.", "score": 85},
    {"criterion": "wit", "explanation": 'He said "no".', "score": 7.5},
]
TEXT = json.dumps(PLAIN)


def outcome(mend, text):
    try:
        return mend(text)
    except ValueError:
        return None


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("}", ",}").replace("]", ",]"),
        repr(PLAIN),
        TEXT.replace('"criterion"', "criterion").replace('"score"', "score"),
        TEXT.replace("85", "N/A"),
        TEXT.replace("85", "None").replace("7.5", "True"),
        TEXT.replace("85", "null").replace("7.5", "true").replace("}", ",}"),
        TEXT.replace("}, ", "},  // the next\n").replace("[", "[  # all of them\n"),
        TEXT.replace('"criterion"', "“criterion”"),
        TEXT.replace("so.", "so.\n\n-"),
        TEXT.replace("85", "[85]").replace("7.5", '{"points": [7]}').replace("}", ",}"),
    ],
)
def test_small_faults_are_mended_alike(text):
    found = outcome(mended, text)
    assert found is not None
    assert found == by_json_repair(text)


@pytest.mark.parametrize("n", range(1, len(TEXT)))
def test_an_answer_that_breaks_off_is_read_alike_or_not_at_all(n):
    found = outcome(mended, TEXT[:n])
    assert found in (None, outcome(by_json_repair, TEXT[:n]))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1 2]", '{"a" 1}', '{"a": 1} {"b": 2}', '{"a": 1, "a": 2}', "[" * 2000,
        '["a" b]', "['a", '["\\u00e9",]', '{"a": }', "[1,,2]", '["a "b" c"]', "[nan]", "[01]",
        '{"score": "a" b}',
    ],
)  # fmt: skip
def test_what_has_no_one_reading_is_refused(text):
    with pytest.raises(ValueError):
        mended(text)
