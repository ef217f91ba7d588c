import json

import pytest

from judgesmith.experiments.monitor.snapshot import labels_of, numbers_of, script_of
from judgesmith.signatures import RatedItem


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("El puente está cerrado", "Latin"),
        ("Мост закрыт, ok", "Cyrillic"),
        ("Η γέφυρα", "Greek"),
        ("다리가 닫혔다", "Hangul"),
        ("ブリッジ", "Kana"),
        ("橋已關閉", "Han"),
        ("पुल बंद है", "Devanagari"),
        ("🙂🙂 12", ""),
        ("", ""),
    ],
)
def test_the_script_is_that_of_most_letters(text, script):
    assert script_of(text) == script


def test_languages_are_told_by_common_words_or_not_at_all():
    german = RatedItem(response="Der Weg ist nicht gesperrt, und die Brücke ist es auch nicht.")
    assert labels_of(german)["response language"] == "German"
    assert labels_of(RatedItem(response="abracadabra"))["response language"] == "not told"


@pytest.mark.parametrize("text", ["", "\x00", "😀" * 9, "\u202eabc", "a" * 300_000, "<b>[[ ## "])
def test_any_text_is_measured_as_finite_numbers(text):
    found = numbers_of(RatedItem(source=text, context=text, response=text))
    assert found["response characters"] == len(text)
    json.dumps(found, allow_nan=False)
    labels_of(RatedItem(source=text, response=text))
