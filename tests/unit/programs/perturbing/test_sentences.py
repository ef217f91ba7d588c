import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.perturbing import PERTURBATIONS, Donors, perturb
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped

FOUR = "One is here. Two is there. Three is gone! Four is late."


def changed(text, name, amount=None, seed=0, source="", donors=None):
    item = RatedItem(source_id="1", source=source, response=text)
    return perturb(item, PERTURBATIONS[name], amount=amount, seed=seed, donors=donors)


def sentences(text):
    passage = Passage(text)
    return [passage.shown(span) for span in passage.sentences]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_exactly_k_sentences_change_places(k, seed):
    before, after = sentences(FOUR), sentences(changed(FOUR, "reordering/minor", k, seed).text)
    assert sorted(before) == sorted(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == k


@given(st.lists(st.sampled_from("ABCD"), min_size=3, max_size=9), st.integers(0, 9))
def test_no_sentence_stays_where_all_change_places_unless_most_are_the_same(letters, seed):
    text = " ".join(f"Here is {letter}." for letter in letters)
    found = changed(text, "reordering/major", seed=seed)
    most = max(letters.count(letter) for letter in letters)
    if 2 * most > len(letters):
        assert found == Skipped(reason="more than half of the sentences are the same")
        return
    pairs = zip(sentences(text), sentences(found.text), strict=True)
    assert all(one != other for one, other in pairs)


def test_too_few_sentences_are_not_reordered():
    assert changed("One. Two.", "reordering/major") == Skipped(reason="fewer than 3 sentences")
    assert changed("Only one here.", "reordering/minor") == Skipped(reason="fewer than 2 sentences")
    assert changed("One. Two.", "reordering/minor", 1).text == "Two. One."
    assert changed("Same here. Same here.", "reordering/minor") == Skipped(
        reason="fewer than 2 different sentences"
    )


def test_what_stands_between_sentences_stays():
    found = changed("One is here.\n\nTwo is there.", "reordering/minor")
    assert found.text == "Two is there.\n\nOne is here."


def test_the_sentence_about_what_the_source_is_about_is_left_out():
    source = "The bridge over the river opened. The bridge carries trains. " * 3
    text = "It was sunny. The bridge over the river carries trains. People went home."
    found = changed(text, "key_sentence_omission", source=source)
    assert found.text == "It was sunny. People went home."
    last = changed(
        "Nobody came. The bridge carries trains.", "key_sentence_omission", source=source
    )
    assert last.text == "Nobody came."
    assert isinstance(changed("Only one.", "key_sentence_omission"), Skipped)


def test_a_sentence_of_another_source_is_added():
    donors = Donors(
        [
            RatedItem(source_id="1", source="", response="A twin of this source."),
            RatedItem(source_id="2", source="", response="Whales sing."),
        ]
    )
    found = {changed(FOUR, "unsupported_addition", seed=s, donors=donors).text for s in range(20)}
    assert len(found) == 4
    assert all(" Whales sing." in text and "twin" not in text for text in found)
    assert changed(FOUR, "unsupported_addition") == Skipped(
        reason="no text of another source to take a sentence from"
    )


def test_a_sentence_is_said_again_with_the_blank_of_the_text():
    assert changed("Only one.", "repetition").text == "Only one. Only one."
    assert changed("你好。", "repetition").text == "你好。你好。"


@pytest.mark.parametrize("seed", range(20))
def test_a_text_is_cut_off_inside_a_sentence(seed):
    text = " ".join(f"Sentence number {n} has seven words." for n in range(6))
    found = changed(text, "truncation", seed=seed)
    assert text.startswith(found.text)
    assert not found.text.endswith(("words", "."))
    assert 0.35 <= len(Passage(found.text).words) / len(Passage(text).words) <= 0.85
