from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.perturbing.damage import whole_characters
from judgesmith.programs.perturbing.passage import Passage

KEYCAP = "3\ufe0f\u20e3"


def test_what_replaces_part_of_a_character_keeps_the_rest_of_it():
    assert whole_characters([(0, 1, "5")], Passage(KEYCAP)) == [(0, 3, "5\ufe0f\u20e3")]


def test_what_is_left_out_goes_with_its_marks():
    assert whole_characters([(1, 2, "")], Passage("a!\ufe0fb")) == [(1, 3, "")]
    assert whole_characters([(1, 2, "")], Passage("a\r\nb")) == [(1, 3, "")]


def test_what_is_put_in_goes_behind_the_character():
    assert whole_characters([(1, 1, " not")], Passage("e\u0301 a")) == [(2, 2, " not")]


def test_a_change_that_changes_nothing_is_none():
    assert whole_characters([(0, 1, "a"), (1, 2, "c")], Passage("ab")) == [(1, 2, "c")]


def test_of_two_changes_to_one_character_the_first_counts():
    found = whole_characters([(0, 1, "5"), (1, 2, "x")], Passage(KEYCAP))
    assert found == [(0, 3, "5\ufe0f\u20e3")]


@given(st.text(alphabet="ae\u0301\u200d👩\r\n3\ufe0f", max_size=20), st.data())
def test_changes_stay_in_order_and_between_characters(text, data):
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = zip(places[::2], places[1::2], strict=False)
    passage = Passage(text)
    found = whole_characters([(start, end, "x") for start, end in pairs], passage)
    ends = [place for start, end, _ in found for place in (start, end)]
    assert ends == sorted(ends)
    assert all(passage.is_between(place) for place in ends)
