"""What holds for every rule and every text."""

import time
import unicodedata

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judgesmith.programs.perturbing import PERTURBATIONS, Donors, Every, amount_of, perturb
from judgesmith.programs.perturbing.rules import RULES
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped, edited

WAYS = tuple(PERTURBATIONS.values())
OTHER = RatedItem(source_id="2", source="other", response="Another text altogether. It has two.")
DONORS = Donors([OTHER])

# Runs of letters, marks, joiners, emoji, scripts without spaces or from right to left, line ends.
PIECES = """
The bridge in Rome was not opened by Ada 2019 3.5 IS a e\u0301 \u0301 ... '' - ’ ǅ ß １２ İ \x00
👩\u200d👩\u200d👧 🇩🇪 3\ufe0f\u20e3 !\ufe0f \u200d \u200b \u202e \ud800 桥梁开放了 。 橋 が
か\u3099 ภาษาไทย नमस्ते 각 مرحبا ؟ שלום ? !
"""
PIECES = (*PIECES.split(), ". ", ", ", " ", "\n\n", "\r\n", "\u00a0")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)


def item(text, **fields):
    return RatedItem(
        source_id="1", source="a report", response=text, extra={"wrong_ending": "Wrong."}, **fields
    )


def characters_of(text):
    places = {match.start() for match in regex.finditer(r"\X", text)}
    return places | {len(text)}


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(0, 5))
@example("", 0)
@example("word", 0)
@example("a\r\nb c", 0)
@example("3\ufe0f\u20e3 or 4\ufe0f\u20e3", 0)
@example("is\u200d it", 0)
def test_every_rule_differs_from_the_original_and_says_where_or_says_why_not(text, seed):
    borders = characters_of(text)
    for way in WAYS:
        found = perturb(item(text), way, donors=DONORS, seed=seed)
        if isinstance(found, Skipped):
            assert found.reason
            continue
        assert found.text != text
        assert edited(text, found.edits) == found.text
        assert all({edit.start, edit.end} <= borders for edit in found.edits)
        assert any(sign.isalnum() for sign in found.text)
        assert found == perturb(item(text), way, donors=DONORS, seed=seed)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("text", ["", " \n", "...", "👩\u200d👩\u200d👧👍🎉"])
def test_a_text_without_a_word_is_skipped(way, text):
    assert isinstance(perturb(item(text), way, donors=DONORS, seed=0), Skipped)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_draws_depend_on_seed_texts_and_name_alone(way):
    text = " ".join(f"The bridge {n} in Rome was opened by Ada in 2019." for n in range(9))
    one = perturb(item(text), way, donors=DONORS, seed=1)
    named = perturb(item(text, system_id="m", references=("r",)), way, donors=DONORS, seed=1)
    assert one == named
    if isinstance(one, Perturbed) and way.kind in ("character_typos", "reordering", "negation"):
        others = [perturb(item(text), way, donors=DONORS, seed=seed) for seed in range(2, 12)]
        assert any(other != one for other in others)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge in Rome was opened in 2019. It is not long! " * 3_800,
        "a" * 200_000,
        "桥梁开放了。" * 34_000,
        "👩\u200d👩\u200d👧 e\u0301" * 20_000,
    ],
    ids=["prose", "one word", "without spaces", "joined"],
)
@pytest.mark.no_cover
def test_a_long_text_takes_time_in_proportion(text):
    began = time.process_time()
    for way in WAYS:
        found = perturb(item(text), way, donors=DONORS, seed=0)
        if isinstance(found, Perturbed):
            assert found.text != text
    assert time.process_time() - began < 30


@pytest.mark.parametrize("name", ["character_typos/major", "reordering/major", "case_loss"])
def test_a_megabyte_is_changed_like_any_other_text(name):
    text = "The bridge in Rome was opened in 2019. It is not long! " * 19_000
    assert isinstance(perturb(item(text), PERTURBATIONS[name], seed=0), Perturbed)


def test_cjk_and_right_to_left_texts_are_changed_by_what_needs_no_english():
    for text in (
        "桥梁于周一开放。它有三百米长。人们很高兴。" * 3,
        "مرحبا بالعالم اليوم. كيف حالك يا صديقي؟ الجو جميل هنا. " * 3,
    ):
        found = {way.name: perturb(item(text), way, donors=DONORS, seed=0) for way in WAYS}
        for name in ("character_deletions/minor", "character_typos/minor", "word_deletions/minor"):
            assert isinstance(found[name], Perturbed), name
        for name in ("reordering/major", "grammatical_errors/minor", "repetition", "truncation"):
            assert isinstance(found[name], Perturbed), name
        assert isinstance(found["rewriting/minor"], Skipped)


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="no rule changes a text by 'sneezing'; give one of char"):
        perturb(item("a text"), Perturbation(kind="sneezing", level="word"), seed=0)


def test_an_amount_below_one_is_refused():
    with pytest.raises(ValueError, match="amount is at least 1 place; got 0"):
        perturb(item("a text"), PERTURBATIONS["character_typos"], amount=0, seed=0)


def test_every_perturbation_has_a_rule_and_every_rule_a_perturbation():
    assert {way.kind for way in WAYS} == set(RULES)


def test_an_amount_replaces_the_usual_one():
    found = perturb(item("abcdefgh"), PERTURBATIONS["character_deletions/major"], amount=2, seed=0)
    assert len(found.text) == 6
    assert amount_of(PERTURBATIONS["reordering/major"]) == Every()


def test_a_text_of_one_word_is_changed_where_characters_are_enough():
    found = {way.name: perturb(item("Constantinople"), way, donors=DONORS, seed=0) for way in WAYS}
    changed = {name for name, one in found.items() if isinstance(one, Perturbed)}
    assert {"character_deletions", "character_typos", "case_loss", "repetition"} <= changed
    assert {"word_deletions/minor", "reordering/minor", "truncation"}.isdisjoint(changed)


def test_versions_stay_in_the_normal_form_they_came_in_where_nothing_was_touched():
    text = unicodedata.normalize("NFD", "Él está aquí. Ella también. ") * 3
    found = perturb(item(text), PERTURBATIONS["reordering/minor"], seed=0)
    assert unicodedata.is_normalized("NFD", found.text)
