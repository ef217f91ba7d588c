"""Rules that perturb a text: their catalogue, what holds for all of them, and what each does."""

import unicodedata
from random import Random

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.data import read_items
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS
from judgesmith.programs.perturbing import (
    ADDITIONS,
    CONTROLS,
    PERTURBATIONS,
    TASKS,
    Donors,
    Every,
    amount_of,
    perturb,
    perturbations_for,
)
from judgesmith.programs.perturbing.catalogue import named_amounts, perturbations_named
from judgesmith.programs.perturbing.damage import LOOKALIKES, NEIGHBOURS, SLIPS, Slips
from judgesmith.programs.perturbing.grammar import WRONG_FORMS
from judgesmith.programs.perturbing.orders import (
    GENERAL_STEPS,
    can_be_ordered,
    no_use,
    order_of,
    read_order,
)
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.rules import RULES
from judgesmith.signatures.config import check_steps
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped, edited

WAYS = tuple(PERTURBATIONS.values())


def changed(text, name, amount=None, seed=0, *, source="", donors=None):
    item = RatedItem(source_id="1", source=source, response=text)
    return perturb(item, PERTURBATIONS[name], amount=amount, seed=seed, donors=donors)


def touched(text, name, amount=None, seed=0, **more):
    """Return the words of a text that were changed."""
    found = changed(text, name, amount, seed, **more)
    return [] if isinstance(found, Skipped) else [text[e.start : e.end] for e in found.edits]


def sentences(text):
    passage = Passage(text)
    return [passage.shown(span) for span in passage.sentences]


def words(text):
    passage = Passage(text)
    return [passage.shown(span) for span in passage.words]


# The catalogue: each task has the perturbations of the benchmark, found by name and amount.


@for_each(
    ("task", "n", "levels"),
    [
        ("summarization", 12, {"character", "word", "sentence"}),
        ("story_completion", 6, {"character", "word", "sentence"}),
        ("question_answering", 9, {"character", "word", "sentence"}),
        ("dialogue", 6, {"character", "word", "sentence"}),
        ("translation", 10, {"character", "word"}),
    ],
)
def test_each_task_has_the_perturbations_of_the_benchmark(task, n, levels):
    found = perturbations_for(task)
    assert (len(found), {way.level for way in found}) == (n, levels)
    assert all(way.lowers for way in found)
    assert {way.kind for way in found} == set(EXPERT_WEIGHTS[task])


@for_each(
    ("task", "name", "amount"),
    [
        ("summarization", "grammatical_errors/minor", "2"),
        ("summarization", "grammatical_errors/major", "all, at least 4"),
        ("question_answering", "grammatical_errors/major", "all, at least 3"),
        ("translation", "word_deletions/major", "25"),
        ("story_completion", "character_typos", "5"),
        ("summarization", "rewriting/major", "every 2nd, at least 2"),
    ],
)
def test_minor_and_major_are_as_in_the_benchmark(task, name, amount):
    assert str(TASKS[task][name]) == amount


def test_changed_numbers_and_swapped_names_are_absent_from_the_material():
    own = RatedItem(
        source_id="1",
        source="Ann Smith met Bob Miller in 1990 in Rome, 12 of them.",
        response="In 1990 Ann Smith met Bob Miller in Rome. Ann left.",
    )
    other = RatedItem(source_id="2", source="x", response="Then Bob met Carla in Paris in 1833.")
    donors = Donors([own, other])
    for seed in range(20):
        changed = perturb(own, PERTURBATIONS["number_change"], donors=donors, seed=seed)
        (year,) = set(words(changed.text)) - set(words(own.response))
        assert year.isdigit()
        assert year not in words(own.source)
        swapped = perturb(own, PERTURBATIONS["name_swap"], donors=donors, seed=seed)
        assert set(words(swapped.text)) - set(words(own.response)) <= {"Carla", "Paris"}
        invented = perturb(own, PERTURBATIONS["name_swap"], seed=seed)
        new = set(words(invented.text)) - set(words(own.response))
        assert new
        assert new.isdisjoint(words(own.source))


def test_any_other_task_has_rules_alone_each_with_an_amount():
    found = perturbations_for("advice")
    assert found == perturbations_for(None)
    assert all(way.method == "rule" for way in found)
    assert all(map(amount_of, WAYS))
    assert amount_of(PERTURBATIONS["negation"]) == 1
    assert amount_of(PERTURBATIONS["reordering/major"]) == Every()
    assert all(way.name == name for name, way in PERTURBATIONS.items())
    assert not any(way.lowers for way in CONTROLS)
    assert all(way.lowers for way in ADDITIONS)
    assert {way.kind for way in WAYS} == set(RULES)


def test_names_stand_for_degrees_of_the_task_and_groups_for_several():
    def names(*given, task=None):
        return [way.name for way in perturbations_named(given, task)]

    assert names("character_typos") == ["character_typos/minor", "character_typos/major"]
    assert names("character_typos", task="story_completion") == ["character_typos"]
    assert names("character_typos/major", task="story_completion") == ["character_typos/major"]
    assert names("controls", "padding") == [way.name for way in CONTROLS]
    assert names("all") == list(PERTURBATIONS)
    assert names("task", task="translation") == list(TASKS["translation"])
    three = ["fictional_entities", "fictional_entities/minor", "fictional_entities/major"]
    assert names("fictional_entities") == three


@for_each(
    ("given", "says"),
    [
        (["tipos"], "did you mean character_typos?"),
        (["reorder"], "did you mean reordering?"),
        (["entities"], "did you mean fictional_entities?"),
        (["sneezing"], "name one of character_deletions, "),
        ([], "no perturbation is named"),
    ],
)
def test_an_unknown_name_is_refused_with_a_close_one(given, says):
    with pytest.raises(ValueError) as caught:
        perturbations_named(given)
    assert says in str(caught.value)


def test_amounts_are_read_by_name():
    found = named_amounts(["word_deletions=3"], "translation")
    assert found == {"word_deletions/minor": 3, "word_deletions/major": 3}
    assert named_amounts(["reordering/minor=2"]) == {"reordering/minor": 2}


@for_each(
    ("given", "said"),
    [
        *(([given], None) for given in ("word_deletions", "word_deletions=0", "=3")),
        (["negation=1", "negation=2"], "given twice"),
        (["case_loss=5"], "case_loss has no amount; leave its amount"),
        (["reordering/minor=1"], "the amount of reordering/minor is 2 or more; got 1"),
    ],
)
def test_amounts_that_are_none_or_would_change_nothing_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        named_amounts(given)


@for_each("way", WAYS)
def test_whoever_takes_an_amount_heeds_it(way):
    items = read_items("sample").subset(range(6)).items
    text = " ".join(item.response for item in items)
    longer = [
        item.model_copy(update={"response": f"{text} It was {place} in 1999, 2004 and 2010."})
        for place, item in enumerate(items)
    ]
    made = [
        [perturb(one, way, amount=amount, donors=Donors(longer), seed=0) for one in longer]
        for amount in (2, 4)
    ]
    try:
        named_amounts([f"{way.name}=2"])
    except ValueError:
        assert made[0] == made[1]
    else:
        assert made[0] != made[1]


# What holds for every rule and every text.

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


@settings(max_examples=100)
@given(TEXTS, st.integers(0, 5))
@example("", 0)
@example("word", 0)
@example("a\r\nb c", 0)
@example("3\ufe0f\u20e3 or 4\ufe0f\u20e3", 0)
@example("is\u200d it", 0)
def test_every_rule_differs_from_the_original_and_says_where_or_says_why_not(text, seed):
    borders = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
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


@pytest.mark.parametrize("text", ["", " \n", "...", "👩\u200d👩\u200d👧👍🎉"])
def test_a_text_without_a_word_is_skipped(text):
    for way in WAYS:
        assert isinstance(perturb(item(text), way, donors=DONORS, seed=0), Skipped)


@for_each("way", WAYS)
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
        "The bridge in Rome was opened in 2019. It is not long! " * 400,
        "a" * 20_000,
        "桥梁开放了。" * 3_400,
        "👩\u200d👩\u200d👧 e\u0301" * 2_000,
    ],
    ids=["prose", "one word", "without spaces", "joined"],
)
@pytest.mark.no_cover
def test_a_long_text_is_changed_by_every_rule_that_applies(text):
    for way in WAYS:
        found = perturb(item(text), way, donors=DONORS, seed=0)
        assert isinstance(found, Skipped) or found.text != text


ANY_SCRIPT = (
    *("character_deletions/minor", "character_typos/minor", "word_deletions/minor"),
    *("reordering/major", "grammatical_errors/minor", "repetition", "truncation"),
)
ONE_WORD = ("character_deletions", "character_typos", "case_loss", "repetition")


@pytest.mark.parametrize(
    ("text", "does", "does_not"),
    [
        ("桥梁于周一开放。它有三百米长。人们很高兴。" * 3, ANY_SCRIPT, ["rewriting/minor"]),
        (
            "مرحبا بالعالم اليوم. كيف حالك يا صديقي؟ الجو جميل هنا. " * 3,
            ANY_SCRIPT,
            ["rewriting/minor"],
        ),
        ("Constantinople", ONE_WORD, ["word_deletions/minor", "reordering/minor", "truncation"]),
    ],
    ids=["Chinese", "Arabic", "one word"],
)
def test_texts_are_changed_by_what_needs_no_english_and_no_more_words(text, does, does_not):
    found = {way.name: perturb(item(text), way, donors=DONORS, seed=0) for way in WAYS}
    assert all(isinstance(found[name], Perturbed) for name in does)
    assert all(isinstance(found[name], Skipped) for name in does_not)


def test_an_unknown_kind_and_an_amount_below_one_are_refused():
    with pytest.raises(ValueError, match="no rule for the kind 'sneezing'; give one of char"):
        perturb(item("a text"), Perturbation(kind="sneezing", level="word"), seed=0)
    with pytest.raises(ValueError, match="amount must be at least 1; got 0"):
        changed("a text", "character_typos", 0)


def test_versions_stay_in_the_normal_form_they_came_in_where_nothing_was_touched():
    text = unicodedata.normalize("NFD", "Él está aquí. Ella también. ") * 3
    assert unicodedata.is_normalized("NFD", changed(text, "reordering/minor").text)


# What each rule makes of a text, whatever is drawn.

SOURCE = "The bridge over the river opened. The bridge carries trains. " * 3
FOUR = "One is here. Two is there. Three is gone! Four is late."
TWINS = [
    RatedItem(source_id="1", source="", response="A twin of this source."),
    RatedItem(source_id="2", source="", response="Whales sing."),
]


@for_each(
    ("name", "text", "amount", "made"),
    [
        ("case_loss", "The BRIDGE of Ä. McCoy", None, {"the bridge of ä. mccoy"}),
        ("punctuation_loss", "It's well-known: 3.5 km.", None, {"It's well-known 3.5 km"}),
        ("punctuation_loss", "the man , who left .", None, {"the man who left"}),
        ("punctuation_loss", "(One) two... three!?", None, {"One two three"}),
        ("punctuation_loss", "你好。再见！", None, {"你好再见"}),
        ("punctuation_loss", "a - b", None, {"a b"}),
        ("padding", "One is here. Two is there.", None, {"\nOne is here.\nTwo is there.\n"}),
        ("padding", "你好。再见。", None, {"\n你好。\n再见。\n"}),
        ("padding", "One.\n\nTwo.", None, {"\nOne.\n\nTwo.\n"}),
        ("grammatical_errors", "It is.", 1, {"It are."}),
        ("grammatical_errors", "It took the lead.", 1, {"It taking the lead."}),
        (
            "grammatical_errors",
            "He goes by a car.",
            1,
            {"Him goes by a car.", "He go by a car.", "He goes by car."},
        ),
        ("grammatical_errors", "Ann has opened.", 1, {"Ann has opening."}),
        ("grammatical_errors", "We walked.", 1, {"Us walked.", "We walking."}),
        ("grammatical_errors", "We tried.", 1, {"Us tried.", "We trying."}),
        ("reordering/minor", "One. Two.", 1, {"Two. One."}),
        (
            "reordering/minor",
            "One is here.\n\nTwo is there.",
            None,
            {"Two is there.\n\nOne is here."},
        ),
        ("repetition", "Only one.", None, {"Only one. Only one."}),
        ("repetition", "你好。", None, {"你好。你好。"}),
        (
            "key_sentence_omission",
            "It was sunny. The bridge over the river carries trains. People went home.",
            None,
            {"It was sunny. People went home."},
        ),
        (
            "key_sentence_omission",
            "Nobody came. The bridge carries trains.",
            None,
            {"Nobody came."},
        ),
        (
            "unsupported_addition",
            FOUR,
            None,
            {
                " ".join((*sentences(FOUR)[:n], "Whales sing.", *sentences(FOUR)[n:]))
                for n in range(1, 5)
            },
        ),
        ("negation", "The bridge is open.", None, {"The bridge is not open."}),
        ("negation", "It is not open.", None, {"It is open."}),
        ("negation", "They have never left.", None, {"They have left."}),
        ("negation", "It doesn't work.", None, {"It does work."}),
        ("negation", "She won't go.", None, {"She will go."}),
        ("negation", "He can’t go.", None, {"He can go."}),
        ("negation", "Can't he go?", None, {"Can he go?"}),
        ("negation", "he did n't go .", None, {"he did go ."}),
        ("negation", "he ca n't go .", None, {"he can go ."}),
        ("negation", "He had gone home.", None, {"He had not gone home."}),
        ("number_swap", "It cost 3.50 in 1919.", None, {"It cost 1919 in 3.50."}),
        *(
            ("paraphrase", text, None, {same})
            for text, same in (
                (
                    "The film isn't long. Kids often like it. He began late. Nobody left.",
                    "The film is not long. Children frequently like it. He started late. "
                    "Nobody left.",
                ),
                ("More than 50 people came.", "Over 50 people came."),
                ("Although it's late, I'm fine.", "Though it's late, I am fine."),
                ("He will be there.", "He'll be there."),
                ("Everyone began to run.", "Everybody started to run."),
            )
        ),
    ],
)
def test_a_rule_makes_this_of_a_text(name, text, amount, made):
    more = {"source": SOURCE, "donors": Donors(TWINS)}
    assert {changed(text, name, amount, seed, **more).text for seed in range(20)} == made


@for_each(
    ("name", "text", "amount", "reason"),
    [
        ("character_typos", "abc def", 10, "fewer than 10 places for typing slips"),
        ("case_loss", "no capital", None, "no capital letter"),
        ("case_loss", "没有大写", None, "no capital letter"),
        ("punctuation_loss", "no marks here", None, "no punctuation"),
        (
            "fictional_entities",
            "Trains came. \"Nobody saw. It's late: Perhaps.",
            None,
            "no name or number",
        ),
        ("fictional_entities", "桥梁很长。", None, "no name or number"),
        ("fictional_entities/major", "They went to Rome.", None, "fewer than 2 names and numbers"),
        ("grammatical_errors", "Stop!", 1, "no place for a fault of grammar"),
        ("grammatical_errors", "It is.", 3, "fewer than 3 places for faults of grammar"),
        ("reordering/major", "One. Two.", None, "fewer than 3 sentences"),
        ("reordering/minor", "Only one here.", None, "fewer than 2 sentences"),
        ("reordering/minor", "Same here. Same here.", None, "fewer than 2 different sentences"),
        ("key_sentence_omission", "Only one.", None, None),
        ("unsupported_addition", FOUR, None, "no text of another source to take a sentence from"),
        ("word_deletions/minor", "one two three", 3, "fewer than 4 words"),
        ("negation", "La puerta abre.", None, None),
        *(
            ("negation", text, None, None)
            for text in (
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
            )
        ),
        ("number_change", "the A40 and B2B", None, "no number in digits"),
        ("name_swap", "It was late.", None, "no name"),
        ("number_swap", "the A40 and B2B", None, "no number in digits"),
        ("paraphrase", "Nobody left.", None, "no word or phrase that rules can say otherwise"),
        *(
            ("paraphrase", text, None, None)  # words of one class, of an idiom or of a name
            for text in (
                "movie-like",
                "one-nearly",
                "maybes",
                "I'm's",
                "It took five takes to film the video.",
                "I had more than enough stock.",
                "They won Sunday's big match.",
                "He is also said to be in talks.",
                "He supported father John, whose mother died.",
                "They saw The Big Movie, and Nearly There.",
                "That was very nearly enough.",
                "Isn't it here? Don't you go? It occurred to him.",
                "He went more often than not.",
                "It is no more than 5 km.",
                "She started the car as quickly as she could.",
            )
        ),
        *(
            (name, text, None, "not in English, whose words alone the rules know")
            for name in ("paraphrase", "rewriting/minor", "negation", "empty_sentences")
            for text in ("Der Film ist nicht alt, und das Haus war am See.", "桥梁很长。它很好。")
            if not (name == "negation" and text[0] == "桥")
        ),
    ],
)
def test_a_text_that_a_rule_cannot_change_is_skipped_with_the_reason(name, text, amount, reason):
    found = changed(text, name, amount)
    assert isinstance(found, Skipped)
    assert reason in (None, found.reason)


# How much is changed, and where: characters and words.

PROSE = "The old bridge in Rome was opened by Ada Lovell in 1919, they said; it is long. " * 8


@settings(max_examples=60)
@given(st.text(alphabet="abé e\u0301你👍.1", max_size=40), st.integers(1, 12))
def test_exactly_k_letters_are_deleted_and_one_is_left_at_least(text, k):
    letters = len(Passage(text).letters)
    found = changed(text, "character_deletions", k)
    if letters <= k:
        assert found == Skipped(reason=f"fewer than {k + 1} letters and digits")
        return
    assert len(found.edits) == k
    assert all(edit.text == "" for edit in found.edits)
    assert all(text[edit.start].isalnum() for edit in found.edits)


@pytest.mark.parametrize("k", [1, 5, 50])
def test_exactly_k_typing_slips_are_made_none_beside_another(k):
    for seed in range(5):
        found = changed(PROSE, "character_typos", k, seed)
        assert len(found.edits) == k
        gaps = zip(found.edits, found.edits[1:], strict=False)
        assert all(after.start > before.end for before, after in gaps)


@given(st.text(alphabet="ab ", min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 20))
def test_slips_never_undo_each_other(text, k, seed):
    found = changed(text, "character_typos", k, seed)
    assert isinstance(found, Skipped) or found.text != text


@given(st.text(alphabet="ab.。! \n你\u0301", max_size=40))
def test_padding_changes_nothing_but_blanks(text):
    found = changed(text, "padding")
    assert isinstance(found, Skipped) or "".join(found.text.split()) == "".join(text.split())


@pytest.mark.parametrize("k", [1, 5, 9])
def test_exactly_k_words_in_a_row_are_deleted(k):
    text = "One, two three; four five. Six seven (eight) nine ten."
    for seed in range(12):
        found = changed(text, "word_deletions/minor", k, seed)
        left = words(found.text)
        assert len(left) == 10 - k
        assert any(words(text)[:at] + words(text)[at + k :] == left for at in range(11))
        assert "  " not in found.text
        assert len(found.edits) == 1


@for_each("text", ["In 1919.", "7 days", "5 and 5", "0", "It was 1,000,000."])
def test_a_single_number_becomes_another_of_its_length(text):
    for seed in range(6):
        found = changed(text, "number_swap", seed=seed)
        assert found.text != text
        assert [one.isdigit() for one in found.text] == [one.isdigit() for one in text]


@pytest.mark.parametrize("text", ["Roma won 1-0 there", "aged 3 and 5", "on 3 May 1919", "2, 3"])
def test_numbers_that_say_the_same_the_other_way_round_do_not_change_places(text):
    for seed in range(4):
        found = changed(text, "number_swap", seed=seed)
        assert len(found.edits) == 1
        assert sorted(found.text) != sorted(text)


def slip(kind, text, index, seed=0):
    """Return what one kind of slip makes of a text at a letter, or None."""
    change = kind(Slips(text, Passage(text).letters, Random(seed)), index)
    if change is None:
        return None
    start, end, put = change
    return text[:start] + put + text[end:]


@for_each(
    ("kind", "text", "index", "expected"),
    [
        (Slips.lookalike, "loud", 0, "1oud"),
        (Slips.lookalike, "été", 0, "eté"),
        (Slips.transposition, "the", 1, "teh"),
        (Slips.transposition, "see", 1, None),
        (Slips.omission, "cat", 1, "ct"),
        (Slips.omission, "see", 1, None),
        (Slips.omission, "a cat", 0, None),
        (Slips.doubling, "cat", 1, "caat"),
        (Slips.doubling, "see", 1, None),
        (Slips.undoubling, "see", 1, "se"),
        (Slips.undoubling, "cat", 1, None),
        (Slips.undoubling, "eee", 0, None),
        (Slips.extra_space, "cat", 0, "c at"),
        (Slips.extra_space, "cat", 2, None),
        (Slips.missing_space, "a cat", 0, "acat"),
        (Slips.missing_space, "a, cat", 0, None),
        (Slips.neighbour, "你好", 0, None),
        (Slips.extra, "你好", 0, None),
        (Slips.transposition, "你好", 0, "好你"),
        (Slips.doubling, "e\u0301t", 0, "e\u0301e\u0301t"),
    ],
)
def test_each_kind_of_slip_changes_what_it_says_or_nothing(kind, text, index, expected):
    assert slip(kind, text, index) == expected


def test_a_neighbour_is_beside_the_key_and_in_its_case():
    for seed in range(20):
        small, capital = slip(Slips.neighbour, "g", 0, seed), slip(Slips.neighbour, "G", 0, seed)
        assert small in NEIGHBOURS["g"]
        assert capital == small.upper()
    assert set(NEIGHBOURS["s"]) == set("adwezx")
    assert set(NEIGHBOURS["1"]) == {"2"}
    assert set(NEIGHBOURS["ы"]) >= set("фв")
    assert all(key not in near for key, near in NEIGHBOURS.items())
    assert all(key != other for key, other in LOOKALIKES.items())


def test_every_kind_of_slip_changes_the_text_where_it_happens():
    text = "Letter by letter, ill-assorted 1100 goods."
    for kind in SLIPS:
        made = {slip(kind, text, index) for index in range(len(Passage(text).letters))} - {None}
        assert made
        assert text not in made


# Names and numbers become others; what only looks like a name stays.

TEXT = "Ada Lovell met Bob in Rome on 3 May 1919. Bob left. Then Ada's train came; Rome slept."


@pytest.mark.parametrize("k", [1, 3])
def test_exactly_k_names_or_numbers_are_replaced_wherever_they_stand(k):
    for seed in range(8):
        found = changed(TEXT, "fictional_entities", k, seed)
        spans = {TEXT[edit.start : edit.end] for edit in found.edits}
        assert len(spans - {"Ada"}) == k
        assert ("Ada" in spans) == ("Ada Lovell" in spans)
        assert spans <= {"Bob", "Rome", "May", "3", "1919", "Ada Lovell", "Ada"}
        assert not any(span in found.text for span in spans - {"3"})
        made = {}
        for edit in found.edits:
            assert made.setdefault(TEXT[edit.start : edit.end], edit.text) == edit.text


def test_all_names_and_numbers_become_others():
    found = changed(TEXT, "fictional_entities/major")
    assert {TEXT[edit.start : edit.end] for edit in found.edits} >= {"Bob", "Rome", "May", "1919"}
    assert len({edit.text for edit in found.edits}) >= 6
    assert "'s train" in found.text
    found = changed("We saw " + ", ".join("0123456789") + ".", "fictional_entities/major")
    made = {edit.text for edit in found.edits}
    assert len(made) == 10
    assert not made & set("0123456789")  # more digits are taken where none is left


@for_each("seed", range(5))
def test_what_replaces_is_of_the_same_kind(seed):
    found = changed("It came on a Monday in May.", "fictional_entities", 2, seed)
    first, second = (edit.text for edit in found.edits)
    assert (first.endswith("day"), first != "Monday") == (True, True)
    assert (second.istitle(), second != "May") == (True, True)
    assert changed("They met at NATO.", "fictional_entities", 1, seed).edits[0].text.isupper()
    ordinal = changed("It came on the 21st of it.", "fictional_entities", 1, seed).edits[0].text
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(ordinal[1], "th")
    assert ordinal[-2:] == ending or ordinal[0] == "1"


GERMAN = (
    "Das Department erinnerte die Anwohner von Bonn daran, dass Sie und die Bären der EU in "
    "2019 nicht im Haus sind."
)


@for_each(
    ("text", "source", "names"),
    [
        (
            "Italy is dealing with boats in Italy's water, off Italy's coast, with 40 men.",
            "",
            ["Italy", "Italy", "Italy", "40"],
        ),
        ("Christopher Lawler fled. They met Ann.", "", ["Christopher Lawler", "Ann"]),
        ("Rome slept. It took 3 days.", "They left Rome.", ["Rome", "3"]),
        (
            "They saw 'The Fresh Prince'. The clip is of 'Will' and a man in The Hague.",
            "",
            ["Fresh Prince", "Will", "Hague"],
        ),
        ("Then Mr Bell met Dr Ann Lee.", "", ["Bell", "Ann Lee"]),
        (GERMAN, "", ["EU", "2019"]),
        (GERMAN, "It reminded residents of Bonn in 2019.", ["Bonn", "EU", "2019"]),
        ("Man Bites Dog In Rome 7 Times And 8", "", ["7", "8"]),
        (
            "New Zealand police saw Ann. New men came from New York.",
            "It was new there.",
            ["New Zealand", "Ann", "New York"],
        ),
        ("Das Werk zieht Werbung in der Nähe eines Krematoriums zurück.", "", []),
        ("Ich habe mit 30 Fachkräften geredet, wie man Müdigkeit meidet", "", []),
        ("桥梁长300米，建于1998年。", "", ["300", "1998"]),
    ],
)
def test_names_are_told_from_what_looks_like_one(text, source, names):
    assert touched(text, "fictional_entities/major", source=source) == names


# Faults of grammar: as many as asked for, of a form that is known, and none that is right.

FAULTY = (
    "The bridge was opened by the mayor. She said that it is a gift. They have a train. "
    "People walked home and they were happy."
)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_exactly_k_faults_are_made(k):
    for seed in range(10):
        assert len(changed(FAULTY, "grammatical_errors", k, seed).edits) == k


@for_each("seed", range(5))
def test_every_sentence_has_a_fault_and_there_are_as_many_as_asked_for(seed):
    found = changed(FAULTY, "grammatical_errors", Every(at_least=6), seed)
    assert len(found.edits) == 6
    for start, end in Passage(FAULTY).sentences:
        assert any(start <= edit.start < end for edit in found.edits)


@pytest.mark.parametrize("text", ["La porta verde cade subito.", "桥梁很长。"])
def test_other_languages_have_words_change_places(text):
    for seed in range(5):
        found = changed(text, "grammatical_errors", 1, seed).text
        assert sorted(found) == sorted(text)
        assert found[-1] == text[-1]


def test_no_wrong_form_is_the_form_itself():
    assert all(right != wrong for right, wrong in WRONG_FORMS.items())
    assert all(word == word.lower() for word in WRONG_FORMS)


def faults(text, k=1):
    """Return what is changed in a text, into what, over many draws."""
    made = [changed(text, "grammatical_errors", k, seed) for seed in range(40)]
    found = [edit for one in made if not isinstance(one, Skipped) for edit in one.edits]
    return {(text[edit.start : edit.end], edit.text) for edit in found}


@for_each(
    ("text", "right"),
    [
        ("Then Manchester United won.", ["United"]),
        ("He saw Josep Maria Bartomeu there.", ["Josep Maria", "Maria Bartomeu"]),
        ("See Reference section A there.", ["A"]),
        ("Then Jared went.", ["Jared"]),
        ("They went to the us then.", ["us"]),
        *((f"Then Chelsea {word} here; the team {word}.", [word]) for word in ("is", "was", "has")),
        ("He went to deliver the food to the players in the future.", [("the ", "")]),
        ("There is a few of them.", [("a ", "")]),
        ("Napoli lost to Roma 1-0.", [("lost", "loses")]),
        ("Then she left us some meatloaf.", [("left", "leaves")]),
        ("He was injured by it.", [("injured", "injuring")]),
    ],
)
def test_what_is_right_or_a_name_is_no_fault(text, right):
    found = faults(text)
    changed_words = {was for was, _ in found}
    assert not [one for one in right if one in found or one in changed_words]


def test_articles_go_where_english_needs_one_and_other_languages_get_no_english_forms():
    assert ("the ", "") in faults("It was the same.")
    text = "Sie ist an der Tür und was sie film nennt, ist nicht so das Mitglied, also die Frau."
    made = {put for _, put in faults(text, 2)}
    assert made
    assert all(len(put.split()) == 2 for put in made)


# Sentences change places, and texts are cut off.


@pytest.mark.parametrize("k", [2, 3, 4])
def test_exactly_k_sentences_change_places(k):
    before = sentences(FOUR)
    for seed in range(8):
        after = sentences(changed(FOUR, "reordering/minor", k, seed).text)
        assert sorted(before) == sorted(after)
        assert sum(one != other for one, other in zip(before, after, strict=True)) == k


@given(st.lists(st.sampled_from("ABCD"), min_size=3, max_size=9), st.integers(0, 9))
def test_no_sentence_stays_where_all_change_places_unless_most_are_the_same(letters, seed):
    text = " ".join(f"Here is {letter}." for letter in letters)
    found = changed(text, "reordering/major", seed=seed)
    if 2 * max(map(letters.count, letters)) > len(letters):
        assert found == Skipped(reason="more than half of the sentences are the same")
        return
    pairs = zip(sentences(text), sentences(found.text), strict=True)
    assert all(one != other for one, other in pairs)


def test_a_text_is_cut_off_inside_a_sentence():
    text = " ".join(f"Sentence number {n} has seven words." for n in range(6))
    for seed in range(20):
        found = changed(text, "truncation", seed=seed)
        assert text.startswith(found.text)
        assert not found.text.endswith(("words", "."))
        assert 0.35 <= len(words(found.text)) / len(words(text)) <= 0.85


# What a model is told holds what is to be done and how often, and is read back as that.

BY_MODEL = [one for one in WAYS if one.method == "model"]


def test_every_kind_by_model_has_an_order():
    assert all(map(can_be_ordered, BY_MODEL))
    check_steps(GENERAL_STEPS, of="any change")
    with pytest.raises(ValueError, match="no prompt exists for repetition; kinds that"):
        order_of(PERTURBATIONS["repetition"], 1)


@for_each("way", BY_MODEL)
def test_orders_are_one_line_and_say_how_much(way):
    for amount in (1, 2, 17, Every(), Every(at_least=4), Every(step=2, at_least=2)):
        order = order_of(way, amount)
        assert read_order(order) == (way.kind, amount)
        assert "\n" not in order
        assert order.endswith(".")
        assert not imitates_layout(order)


@pytest.mark.parametrize("text", ["", "Sing.", "repetition (1): Sing.", "rewriting (x): Sing."])
def test_what_is_no_order_is_read_as_none(text):
    assert read_order(text) is None


@for_each(
    ("name", "text", "reason"),
    [
        ("fictional_entities/major", "Then Ann left.", "fewer than 2 names and numbers"),
        ("fictional_entities/major", "Then Ann Mary left.", "fewer than 2 names and numbers"),
        ("fictional_entities/minor", "他去了罗马。", "no name or number"),
        ("fictional_entities/minor", "他2019年去了罗马。", ""),
        ("grammatical_errors/minor", "Ann left.", "fewer than 6 words"),
        ("rewriting/major", "Ann left.", "fewer than 2 sentences"),
        ("rewriting/minor", "Ann left.", ""),
        ("paraphrase", "ANN LEFT ROME.", "a text whose names cannot be told by capitals"),
        ("paraphrase", "👩‍👩‍👧 !", "no word"),
        ("paraphrase", "x" * 20_001, "longer than 20000 characters"),
    ],
)
def test_texts_that_cannot_be_changed_are_told_before_anybody_is_asked(name, text, reason):
    way = PERTURBATIONS[name]
    much = 2 if name == "grammatical_errors/minor" else None
    assert no_use(text, way, much or amount_of(way)) == reason


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
