import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.perturbing.passage import Passage


def shown(passage, spans):
    return [passage.shown(span) for span in spans]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("... !", []),
        ("Hi", ["Hi"]),
        ("Dr. Smith left. He is fine!", ["Dr. Smith left.", "He is fine!"]),
        ("the man . he left .", ["the man .", "he left ."]),
        ("你好。再见！", ["你好。", "再见！"]),
        ("مرحبا بالعالم. كيف حالك؟", ["مرحبا بالعالم.", "كيف حالك؟"]),
        ("One.\n\n\nTwo", ["One.", "Two"]),
        ("He left. '' ", ["He left. ''"]),
        ("👍 Then? '' Bye", ["👍 Then? ''", "Bye"]),
    ],
)
def test_sentences_hold_a_word_each_and_no_blanks_at_their_ends(text, sentences):
    passage = Passage(text)
    assert shown(passage, passage.sentences) == sentences


@given(st.text(alphabet="a.! \n\r\u0301\u200d👩B。你\ud800", max_size=60))
def test_parts_are_in_order_apart_and_made_of_whole_characters(text):
    passage = Passage(text)
    for spans in (passage.letters, passage.words, passage.sentences):
        ends = [place for span in spans for place in span]
        assert ends == sorted(ends)
    for spans in (passage.letters, passage.sentences):
        assert all(passage.is_between(place) for span in spans for place in span)
    assert sum(len(passage.words_of(one)) for one in passage.sentences) == len(passage.words)


def test_long_texts_have_the_sentences_that_their_windows_have():
    text = "The bridge opened on Monday. It is long! " * 500
    passage = Passage(text)
    assert len(passage.sentences) == 1000
    assert set(shown(passage, passage.sentences)) == {"The bridge opened on Monday.", "It is long!"}
    assert len(Passage("你好。" * 20_000).sentences) == 20_000
    assert len(Passage("word " * 20_000).sentences) == 1


def test_words_keep_apostrophes_hyphens_and_points_inside():
    passage = Passage("It's well-known: 3.5 km, U.S. «l’été» naïve_one")
    assert shown(passage, passage.words) == [
        *("It's", "well-known", "3.5", "km", "U.S", "l’été", "naïve", "one")
    ]


def test_scripts_without_spaces_have_a_word_per_character():
    passage = Passage("桥梁 opened が")
    assert shown(passage, passage.words) == ["桥", "梁", "opened", "が"]


def test_a_letter_has_its_marks():
    passage = Passage("e\u0301a\U0001f44d")
    assert passage.letters == [(0, 2), (2, 3)]
