import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, perturb
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped


def changed(text, name, amount=None, seed=0):
    return perturb(RatedItem(response=text), PERTURBATIONS[name], amount=amount, seed=seed)


def words(text):
    passage = Passage(text)
    return [passage.shown(span) for span in passage.words]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [1, 5, 9])
def test_exactly_k_words_in_a_row_are_deleted(k, seed):
    text = "One, two three; four five. Six seven (eight) nine ten."
    found = changed(text, "word_deletions/minor", k, seed)
    left = words(found.text)
    assert len(left) == 10 - k
    assert any(words(text)[:at] + words(text)[at + k :] == left for at in range(11))
    assert "  " not in found.text
    assert len(found.edits) == 1


def test_some_word_is_left():
    assert changed("one two three", "word_deletions/minor", 3) == Skipped(
        reason="fewer than 4 words"
    )
    assert len(words(changed("one two three", "word_deletions/minor", 2).text)) == 1


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("The bridge is open.", {"The bridge is not open."}),
        ("It is not open.", {"It is open."}),
        ("They have never left.", {"They have left."}),
        ("It doesn't work.", {"It does work."}),
        ("She won't go.", {"She will go."}),
        ("He can’t go.", {"He can go."}),
        ("Can't he go?", {"Can he go?"}),
        ("he did n't go .", {"he did go ."}),
        ("he ca n't go .", {"he can go ."}),
    ],
)
def test_a_statement_is_turned_round(text, negated):
    assert {changed(text, "negation", seed=seed).text for seed in range(9)} <= negated


def test_only_english_verbs_are_negated():
    assert isinstance(changed("La puerta abre.", "negation"), Skipped)


def test_numbers_change_places():
    assert changed("It cost 3.50 in 1919.", "number_swap").text == "It cost 1919 in 3.50."


@pytest.mark.parametrize("text", ["In 1919.", "7 days", "5 and 5", "0", "It was 1,000,000."])
@pytest.mark.parametrize("seed", range(6))
def test_a_single_number_becomes_another_of_its_length(text, seed):
    found = changed(text, "number_swap", seed=seed)
    assert found.text != text
    assert len(found.text) == len(text)
    assert [one.isdigit() for one in found.text] == [one.isdigit() for one in text]


def test_codes_are_no_numbers():
    assert changed("the A40 and B2B", "number_swap") == Skipped(reason="no number in digits")


@pytest.mark.parametrize(
    "text",
    [
        "They join it on May 2nd.",
        "A photographer who did these portraits came.",
        "Nor does he have plans.",
        "He has one goal.",
        "She had her car stolen.",
        "It opens at 10 am daily.",
        "By the will of all.",
        "Could he go?",
        "He runs as long as he can and more.",
        "It is no longer here.",
        "He went whether or not it rained.",
    ],
)
def test_what_cannot_be_negated_by_a_word_is_left_alone(text):
    assert isinstance(changed(text, "negation"), Skipped)


def test_have_is_negated_where_it_is_an_auxiliary():
    assert changed("He had gone home.", "negation").text == "He had not gone home."


@pytest.mark.parametrize("text", ["Roma won 1-0 there", "aged 3 and 5", "on 3 May 1919", "2, 3"])
@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_say_the_same_the_other_way_round_do_not_change_places(text, seed):
    found = changed(text, "number_swap", seed=seed)
    assert len(found.edits) == 1
    assert sorted(found.text) != sorted(text)
