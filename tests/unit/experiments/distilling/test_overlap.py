import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.experiments.distil.sampling import KnownInputs

ARTICLE = " ".join(f"word{n}" for n in range(60))


@pytest.mark.parametrize(
    "text",
    [
        ARTICLE,
        ARTICLE.upper(),
        ARTICLE.replace(" ", " ,\n"),
        f"(Reuters) – {ARTICLE}",
        " ".join(ARTICLE.split()[:35]),
        ARTICLE.replace("word30", "other"),
    ],
)
def test_an_input_is_known_in_another_edition(text):
    assert text in KnownInputs([ARTICLE])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?!",
        "word1 word2",
        " ".join(f"other{n}" for n in range(60)),
        # A quotation from the article makes no article.
        " ".join([*ARTICLE.split()[:20], *(f"other{n}" for n in range(60))]),
    ],
)
def test_another_input_is_not(text):
    assert text not in KnownInputs([ARTICLE, "", "…"])


def test_nothing_is_known_of_nothing():
    assert len(KnownInputs([])) == 0
    assert ARTICLE not in KnownInputs([])
    assert 3 not in KnownInputs([ARTICLE])


@given(st.text(max_size=40))
def test_whatever_has_a_word_is_known_as_it_is(text):
    assert (text in KnownInputs([text])) == (len(KnownInputs([text])) == 1)
