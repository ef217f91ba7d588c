"""A language is told by its commonest words, a script by its letters, and else by nothing."""

import pytest

from judgesmith.programs.perturbing.passage import FUNCTION_WORDS, is_foreign, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the bridge over the river was opened by her in the spring", "English"),
        (
            "die brücke über den fluss wurde von ihr im frühling eröffnet und ist nicht neu",
            "German",
        ),
        ("le pont sur la rivière a été ouvert par elle et il est dans le nord", "French"),
        ("el puente sobre el río fue abierto por ella y no es muy nuevo", "Spanish"),
        ("il ponte è della città e gli altri sono nel nord, anche questo", "Italian"),
        ("a ponte não é da cidade, mas foi aberta no ano em que são as obras", "Portuguese"),
        ("de brug is van het dorp en werd niet door hem voor zijn dood geopend", "Dutch"),
        ("bridge opened monday", None),
        ("", None),
    ],
)
def test_sentences_of_known_languages_are_told(text, language):
    assert language_of(text.split()) == language


def test_no_language_is_told_by_words_of_another_alone():
    for language, words in FUNCTION_WORDS.items():
        assert language_of(words) == language


@pytest.mark.parametrize(
    ("added", "original", "foreign"),
    [
        ("Bob", "Ann", False),
        ("Боб", "Ann", True),
        ("2019!", "Ann", False),
        ("Ångström", "Ann", False),
        ("鈴木", "走る", False),
        ("", "", False),
        ("Bob", "", True),
        ("a long line of Latin letters and one я", "Ann", False),
    ],
)
def test_letters_that_a_text_does_not_know_are_foreign(added, original, foreign):
    assert is_foreign(added, original) is foreign
