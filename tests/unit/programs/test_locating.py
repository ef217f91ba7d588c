"""Quotations are found where they stand, nearly as they stand, or not at all; never elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.judging.spans import Locator

TEXT = (
    "The old bridge in Łódź was opened in 1998 by “Mayor” Anna Nowak. It cost €4 million.\n\n"
    "It was closed in 2004 after the flood; the mayor’s office said it was  unsafe. "
    "Nobody was hurt. It was closed again."
)


def located(quoted, text=TEXT):
    """Return the words that a quotation is found to be, and how."""
    place = Locator(text)(quoted)
    words = None if place.start is None else text[place.start : place.end]
    return words, place.located


@pytest.mark.parametrize(
    ("quoted", "words", "how"),
    [
        ("opened in 1998", "opened in 1998", "exact"),
        ("  Nobody was hurt.\n", "Nobody was hurt.", "exact"),
        ('"Nobody was hurt."', "Nobody was hurt.", "exact"),
        ("«opened in 1998»", "opened in 1998", "exact"),
        ("**opened in 1998**", "opened in 1998", "exact"),
        ("`€4 million`", "€4 million", "exact"),
        ("…closed in 2004…", "closed in 2004", "exact"),
        ("It cost €4 million...", "It cost €4 million", "exact"),
        ("“Mayor” Anna Nowak", "“Mayor” Anna Nowak", "exact"),
        ('"Mayor" Anna Nowak', "“Mayor” Anna Nowak", "normalised"),
        ("OPENED IN 1998", "opened in 1998", "normalised"),
        ("it was unsafe", "it was  unsafe", "normalised"),
        ("the mayor's office", "the mayor’s office", "normalised"),
        ("million. It was closed in", "million.\n\nIt was closed in", "normalised"),
        ("The ol\u200bd bri\u00addge", "The old bridge", "normalised"),
        ("Ｎｏｂｏｄｙ was hurt", "Nobody was hurt", "normalised"),
        ("the whole response", TEXT, "normalised"),
        ("The old brigde in Lodz was opend", "The old bridge in Łódź was opened", "fuzzy"),
        ("after the flood; the mayor said it", None, "fuzzy"),
        ("The old bridge … by “Mayor” Anna", None, "fuzzy"),
        ("It was closed in 2004 [...] Nobody was hurt", None, "fuzzy"),
        ("opened in 1989", "opened in 1998", "fuzzy"),
        ("1999", None, "unresolved"),
        ("the bridge collapsed under a lorry", None, "unresolved"),
        ("cos", "cos", "exact"),
        ("xy", None, "unresolved"),
        ("None of the passengers survived", None, "missing"),
        ('"None of the passengers survived"', None, "unresolved"),
        ("“Nothing was ever heard of it”", None, "unresolved"),
        ("the whole sentence", None, "unresolved"),
        ("1998 … the bridge … hurt", None, "unresolved"),
        ("no", "No", "normalised"),
    ],
)
def test_a_quotation_is_found_as_exactly_as_it_can_be(quoted, words, how):
    found = located(quoted)
    assert found[1] == how
    if how != "fuzzy" or words is not None:
        assert found[0] == words


@pytest.mark.parametrize(
    "said",
    [
        *("none", "None.", "(omission)", "N/A", "—omitted—", "[missing]", "not mentioned", "", " "),
        *("no location", "keine", "无", "omission: the date", "Missing (who closed it)"),
        *('"none"', '"None (the date)"', "“N/A”"),
    ],
)
def test_what_is_not_there_is_missing_and_no_invention(said):
    assert located(said) == (None, "missing")


def test_words_that_say_nothing_is_there_may_be_quoted():
    text = "None of them came. None."
    assert located("None of them came", text) == ("None of them came", "exact")
    assert located('"None"', text) == ("None", "exact")
    assert located("none", text) == (None, "missing")


def test_words_left_out_stand_between_whole_words_as_near_to_each_other_as_can_be():
    text = "This is Iris. I saw the ferry. I know the captain. Thank you."
    assert located("I … you", text) == (text[text.index("I know") : -1], "fuzzy")
    assert located("This … ca", text)[1] == "unresolved"
    assert located("I k... captain", text) == ("I know the captain", "fuzzy")


def test_a_stretch_is_at_most_a_quarter_longer_or_shorter_than_the_quotation():
    quoted = "abcdefghijklmnopqrst"
    for n, how in ((5, "fuzzy"), (6, "unresolved")):
        assert located(quoted, f"Then abcdefghij{'x' * n}klmnopqrst came.")[1] == how


def test_turkish_letters_are_found_in_either_case():
    assert located("izmir", "I saw İZMİR then.") == ("İZMİR", "normalised")
    assert located("ISPARTA", "Sonra ısparta geldi.") == ("ısparta", "normalised")


def test_the_first_place_that_is_not_used_is_taken_and_said_to_be_one_of_several():
    find = Locator(TEXT)
    places = [find("It was closed") for _ in range(3)]
    assert [TEXT[one.start - 1] for one in places] == ["\n", " ", "\n"]
    assert all(one.ambiguous for one in places)
    assert not find("again").ambiguous


def test_whole_words_come_before_parts_of_others():
    text = "The other man saw the man in a mantle."
    assert Locator(text)("man").start == text.index("man saw")
    assert not Locator("Overcast. He cast it.")("cast").ambiguous
    assert located("bridg", "A bridge.") == ("bridg", "exact")


def test_other_scripts_and_accents_are_found_however_they_are_written():
    assert located("大桥于1998年开放", "这座大桥于1998年开放。") == ("大桥于1998年开放", "exact")
    assert located("这座大桥于1998年竣工开发了", "这座大桥于1998年竣工开放了。")[1] == "fuzzy"
    for text, quoted in (("Cafe\u0301 noir", "café"), ("Café noir", "cafe\u0301")):
        assert located(quoted, text) == (text.split(" ")[0], "normalised")
    assert located("😀 great", "It is 👩‍👩‍👧 😀 great") == ("😀 great", "exact")
    assert located("الجسر", "افتتح الجسر") == ("الجسر", "exact")


@given(
    st.text(max_size=60), st.integers(0, 50), st.integers(1, 12), st.sampled_from([str, str.upper])
)
def test_a_piece_of_a_text_is_always_found_and_is_what_was_quoted(text, start, length, change):
    piece = text[start : start + length]
    place = Locator(text)(change(piece))
    if place.start is not None:
        assert 0 <= place.start < place.end <= len(text)
    if change is str and piece.strip() and place.located != "missing":
        assert place.located in {"exact", "normalised"}


@pytest.mark.parametrize(
    "text",
    ["a" * 30_000, "ab " * 10_000, "\n" * 30_000, "“" * 30_000, "x" * 30_000 + " the end"],
    ids=["letters", "words", "lines", "marks", "one word"],
)
def test_a_huge_text_is_searched(text):
    find = Locator(text)
    for quoted in (
        "a",
        "aab" * 500,
        "the ende",
        "ab ba " * 20,
        "“" * 3_000,
        "... " * 2_000,
        "a … a … b",
    ):
        found = find(quoted)
        assert found.start is None or 0 <= found.start < found.end <= len(text)
