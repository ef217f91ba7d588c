"""Rules that perturb a text: words, sentences, characters, entities and grammar."""

import unicodedata
from random import Random

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

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

# catalogue


@pytest.mark.parametrize(
    ("task", "n"),
    [
        ("summarization", 12),
        ("story_completion", 6),
        ("question_answering", 9),
        ("translation", 10),
    ],
)
def test_each_task_has_the_perturbations_of_the_benchmark(task, n):
    found = perturbations_for(task)
    assert len(found) == n
    assert all(way.lowers for way in found)
    assert {way.kind for way in found} == set(EXPERT_WEIGHTS[task])


def test_minor_and_major_are_as_in_the_benchmark():
    amounts = {task: {name: str(much) for name, much in own.items()} for task, own in TASKS.items()}
    assert amounts["summarization"]["grammatical_errors/minor"] == "2"
    assert amounts["summarization"]["grammatical_errors/major"] == "all, at least 4"
    assert amounts["question_answering"]["grammatical_errors/major"] == "all, at least 3"
    assert amounts["translation"]["word_deletions/major"] == "25"
    assert amounts["story_completion"]["character_typos"] == "5"
    assert amounts["summarization"]["rewriting/major"] == "every 2nd, at least 2"


def test_levels_of_tasks():
    levels = {task: {way.level for way in perturbations_for(task)} for task in TASKS}
    assert levels["translation"] == {"character", "word"}
    assert levels["summarization"] == {"character", "word", "sentence"}


def test_names_tell_all_apart_and_controls_lower_nothing():
    assert all(way.name == name for name, way in PERTURBATIONS.items())
    assert not any(way.lowers for way in CONTROLS)
    assert all(way.lowers for way in ADDITIONS)


def test_any_other_task_has_rules_alone_each_with_an_amount():
    found = perturbations_for("dialogue")
    assert found == perturbations_for(None)
    assert all(way.method == "rule" for way in found)
    assert all(amount_of(way) for way in PERTURBATIONS.values())
    assert amount_of(PERTURBATIONS["negation"]) == 1
    assert amount_of(PERTURBATIONS["padding"]) == Every()


def test_names_stand_for_degrees_of_the_task_and_groups_for_several():
    def names(*given, task=None):
        return [way.name for way in perturbations_named(given, task)]

    assert names("character_typos") == ["character_typos/minor", "character_typos/major"]
    assert names("character_typos", task="story_completion") == ["character_typos"]
    assert names("character_typos/major", task="story_completion") == ["character_typos/major"]
    assert names("controls", "padding") == [way.name for way in CONTROLS]
    assert names("all") == list(PERTURBATIONS)
    assert names("task", task="translation") == list(TASKS["translation"])
    assert names("fictional_entities") == [
        *("fictional_entities", "fictional_entities/minor", "fictional_entities/major")
    ]


@pytest.mark.parametrize(
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
    assert named_amounts(["word_deletions=3"], "translation") == {
        "word_deletions/minor": 3,
        "word_deletions/major": 3,
    }
    for wrong in (["word_deletions"], ["word_deletions=0"], ["word_deletions=x"], ["=3"]):
        with pytest.raises(ValueError):
            named_amounts(wrong)
    with pytest.raises(ValueError, match="given twice"):
        named_amounts(["negation=1", "negation=2"])


def test_amounts_that_would_change_nothing_are_refused():
    with pytest.raises(ValueError, match="case_loss has no amount; leave its amount"):
        named_amounts(["case_loss=5"])
    with pytest.raises(ValueError, match="the amount of reordering/minor is 2 or more; got 1"):
        named_amounts(["reordering/minor=1"])
    assert named_amounts(["reordering/minor=2"]) == {"reordering/minor": 2}


@pytest.mark.parametrize("way", PERTURBATIONS.values(), ids=lambda way: way.name)
def test_whoever_takes_an_amount_heeds_it(way):
    items = read_items("sample").subset(range(12)).items
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


# characters

PROSE = "The old bridge in Rome was opened by Ada Lovell in 1919, they said; it is long. " * 8


def changed(text, name, amount=None, seed=0):
    return perturb(RatedItem(response=text), PERTURBATIONS[name], amount=amount, seed=seed)


@settings(max_examples=60, deadline=None)
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


@pytest.mark.parametrize("k", [1, 5, 10, 50])
@pytest.mark.parametrize("seed", range(5))
def test_exactly_k_typing_slips_are_made_none_beside_another(k, seed):
    found = changed(PROSE, "character_typos", k, seed)
    assert len(found.edits) == k
    gaps = zip(found.edits, found.edits[1:], strict=False)
    assert all(after.start > before.end for before, after in gaps)


def test_a_text_too_short_for_k_slips_is_skipped():
    assert changed("abc def", "character_typos", 10) == Skipped(
        reason="fewer than 10 places for typing slips"
    )


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab ", min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 20))
def test_slips_never_undo_each_other(text, k, seed):
    found = changed(text, "character_typos", k, seed)
    assert isinstance(found, Skipped) or found.text != text


def test_case_loss_writes_every_capital_small_and_nothing_else():
    found = changed("The BRIDGE of Ä. McCoy", "case_loss")
    assert found.text == "the bridge of ä. mccoy"
    assert [(edit.start, edit.end) for edit in found.edits] == [
        *((0, 1), (4, 10), (14, 15), (17, 18), (19, 20))
    ]
    assert changed("no capital", "case_loss") == Skipped(reason="no capital letter")
    assert changed("没有大写", "case_loss") == Skipped(reason="no capital letter")


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("It's well-known: 3.5 km.", "It's well-known 3.5 km"),
        ("the man , who left .", "the man who left"),
        ("(One) two... three!?", "One two three"),
        ("你好。再见！", "你好再见"),
        ("a - b", "a b"),
    ],
)
def test_punctuation_loss_drops_marks_around_words_and_leaves_no_double_blanks(text, without):
    assert changed(text, "punctuation_loss").text == without


def test_a_text_without_marks_keeps_them():
    assert changed("no marks here", "punctuation_loss") == Skipped(reason="no punctuation")


def test_minor_and_major_differ_in_number():
    minor = changed(PROSE, "character_deletions/minor")
    major = changed(PROSE, "character_deletions/major")
    assert isinstance(minor, Perturbed)
    assert (len(PROSE) - len(minor.text), len(PROSE) - len(major.text)) == (10, 50)


# controls


def padded(text):
    return perturb(RatedItem(response=text), PERTURBATIONS["padding"], seed=0)


def test_padding_sets_every_sentence_on_a_line_of_its_own():
    assert padded("One is here. Two is there.").text == "\nOne is here.\nTwo is there.\n"
    assert padded("你好。再见。").text == "\n你好。\n再见。\n"
    assert padded("One.\n\nTwo.").text == "\nOne.\n\nTwo.\n"


@given(st.text(alphabet="ab.。! \n你\u0301", max_size=40))
def test_padding_changes_nothing_but_blanks(text):
    found = padded(text)
    if isinstance(found, Perturbed):
        assert "".join(found.text.split()) == "".join(text.split())


# entities

TEXT = "Ada Lovell met Bob in Rome on 3 May 1919. Bob left. Then Ada's train came; Rome slept."


def changed_entities(text, amount=None, seed=0, name="fictional_entities"):
    way = PERTURBATIONS[name]
    return perturb(RatedItem(response=text), way, amount=amount, seed=seed)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 3])
def test_exactly_k_names_or_numbers_are_replaced_wherever_they_stand(k, seed):
    found = changed_entities(TEXT, k, seed)
    spans = {TEXT[edit.start : edit.end] for edit in found.edits}
    known = {"Bob", "Rome", "May", "3", "1919", "Ada Lovell", "Ada"}
    assert len(spans - {"Ada"}) == k
    assert ("Ada" in spans) == ("Ada Lovell" in spans)
    assert spans <= known
    for span in spans - {"3"}:
        assert span not in found.text
    made = {}
    for edit in found.edits:
        assert made.setdefault(TEXT[edit.start : edit.end], edit.text) == edit.text


def test_all_names_and_numbers_become_others():
    found = changed_entities(TEXT, name="fictional_entities/major")
    assert {TEXT[edit.start : edit.end] for edit in found.edits} >= {"Bob", "Rome", "May", "1919"}
    assert len({edit.text for edit in found.edits}) >= 6
    assert "'s train" in found.text


@pytest.mark.parametrize("seed", range(5))
def test_days_and_months_become_others(seed):
    found = changed_entities("It came on a Monday in May.", 2, seed)
    first, second = (edit.text for edit in found.edits)
    assert first.endswith("day")
    assert first != "Monday"
    assert second != "May"
    assert second.istitle()


def test_what_only_opens_a_sentence_is_no_name():
    assert changed_entities("Trains came. \"Nobody saw. It's late: Perhaps.") == Skipped(
        reason="no name or number"
    )


def test_a_text_without_capitals_has_its_numbers():
    assert changed_entities("桥梁长300米。").text != "桥梁长300米。"
    assert isinstance(changed_entities("桥梁很长。"), Skipped)


def test_capitals_stay_capitals():
    found = changed_entities("They met at NATO.")
    assert found.edits[0].text.isupper()


def test_one_alone_is_too_few_for_all():
    assert changed_entities("They went to Rome.", name="fictional_entities/major") == Skipped(
        reason="fewer than 2 names and numbers"
    )


def test_more_digits_are_taken_where_none_is_left():
    text = "We saw " + ", ".join("0123456789") + "."
    found = changed_entities(text, name="fictional_entities/major")
    assert len({edit.text for edit in found.edits}) == 10
    assert not {edit.text for edit in found.edits} & set("0123456789")


def replaced(text, source="", name="fictional_entities/major", seed=0):
    item = RatedItem(response=text, source=source)
    found = perturb(item, PERTURBATIONS[name], seed=seed)
    return [] if isinstance(found, Skipped) else [text[one.start : one.end] for one in found.edits]


def test_a_name_that_opens_a_sentence_is_replaced_with_the_others():
    text = "Italy is dealing with boats in Italy's water, off Italy's coast, with 40 men."
    assert replaced(text) == ["Italy", "Italy", "Italy", "40"]
    text = "Christopher Lawler fled. They met Ann."
    assert replaced(text) == ["Christopher Lawler", "Ann"]
    assert replaced("Rome slept. It took 3 days.", "They left Rome.") == ["Rome", "3"]


def test_what_opens_a_quotation_is_no_name_for_its_capital():
    text = "They saw 'The Fresh Prince'. The clip is of 'Will' and a man in The Hague."
    assert replaced(text) == ["Fresh Prince", "Will", "Hague"]


def test_titles_stay():
    assert replaced("Then Mr Bell met Dr Ann Lee.") == ["Bell", "Ann Lee"]


def test_of_german_nouns_only_clear_names_are_replaced():
    text = (
        "Das Department erinnerte die Anwohner von Bonn daran, dass Sie und die Bären der EU in "
        "2019 nicht im Haus sind."
    )
    assert replaced(text) == ["EU", "2019"]
    assert replaced(text, "It reminded residents of Bonn in 2019.") == ["Bonn", "EU", "2019"]


def test_titles_in_capitals_throughout_have_numbers_alone():
    assert replaced("Man Bites Dog In Rome 7 Times And 8") == ["7", "8"]


@pytest.mark.parametrize("seed", range(9))
def test_the_ending_of_an_ordinal_goes_with_its_number(seed):
    made = changed_entities("It came on the 21st of it.", 1, seed).edits[0].text
    assert made[-2:] == {"1": "st", "2": "nd", "3": "rd"}.get(made[1], "th") or made[0] == "1"


@pytest.mark.parametrize(
    "text",
    [
        "Das Werk zieht Werbung in der Nähe eines Krematoriums zurück.",
        "Ich habe mit 30 Fachkräften geredet, wie man Müdigkeit meidet",
    ],
)
def test_a_few_german_words_are_enough_to_take_nouns_for_nouns(text):
    assert all(word.isdigit() for word in replaced(text, name="fictional_entities"))


def test_an_adjective_belongs_to_a_name_that_follows():
    text = "New Zealand police saw Ann. New men came from New York."
    assert replaced(text, "It was new there.") == ["New Zealand", "Ann", "New York"]


# grammar

TEXT_GRAMMAR = (
    "The bridge was opened by the mayor. She said that it is a gift. They have a train. "
    "People walked home and they were happy."
)


def changed_grammar(text, amount=None, seed=0, name="grammatical_errors"):
    way = PERTURBATIONS[name]
    return perturb(RatedItem(response=text), way, amount=amount, seed=seed)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 2, 7])
def test_exactly_k_faults_are_made(k, seed):
    found = changed_grammar(TEXT_GRAMMAR, k, seed)
    assert len(found.edits) == k


@pytest.mark.parametrize("seed", range(10))
def test_every_sentence_has_a_fault_and_there_are_as_many_as_asked_for(seed):
    found = changed_grammar(TEXT_GRAMMAR, Every(at_least=6), seed)
    assert len(found.edits) == 6
    for start, end in Passage(TEXT_GRAMMAR).sentences:
        assert any(start <= edit.start < end for edit in found.edits)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It is.", {"It are."}),
        ("It took the lead.", {"It taking the lead."}),
        ("He goes by a car.", {"Him goes by a car.", "He go by a car.", "He goes by car."}),
        ("Ann has opened.", {"Ann has opening."}),
        ("We walked.", {"Us walked.", "We walking."}),
        ("We tried.", {"Us tried.", "We trying."}),
    ],
)
def test_faults_are_of_form_where_a_form_is_known(text, wrong):
    assert {changed_grammar(text, 1, seed).text for seed in range(20)} == wrong


@pytest.mark.parametrize("seed", range(5))
def test_other_languages_have_words_change_places(seed):
    text = "La porta verde cade subito."
    found = changed_grammar(text, 1, seed)
    assert sorted(found.text.rstrip(".").split()) == sorted(text.rstrip(".").split())
    chinese = changed_grammar("桥梁很长。", 1, seed)
    assert sorted(chinese.text) == sorted("桥梁很长。")
    assert chinese.text.endswith("。")


def test_a_text_without_room_is_skipped():
    assert changed_grammar("Stop!", 1) == Skipped(reason="no place for a fault of grammar")
    assert changed_grammar("It is.", 3) == Skipped(
        reason="fewer than 3 places for faults of grammar"
    )


def test_no_wrong_form_is_the_form_itself():
    assert all(right != wrong for right, wrong in WRONG_FORMS.items())
    assert all(word == word.lower() for word in WRONG_FORMS)


def faults(text, k=1, n_seeds=40):
    """Return what is changed in a text, into what, over many draws."""
    made = [changed_grammar(text, k, seed) for seed in range(n_seeds)]
    found = [edit for one in made if not isinstance(one, Skipped) for edit in one.edits]
    return {(text[edit.start : edit.end], edit.text) for edit in found}


@pytest.mark.parametrize(
    "text",
    [
        "Then Manchester United won.",
        "He saw Josep Maria Bartomeu there.",
        "See Reference section A there.",
        "Then Jared went.",
    ],
)
def test_names_are_left_as_they_are(text):
    names = {"United", "Josep Maria", "Maria Bartomeu", "A", "Jared"}
    assert not names & {was for was, _ in faults(text)}


def test_articles_go_only_where_english_needs_one():
    assert ("the ", "") not in faults("He went to deliver the food to the players in the future.")
    assert ("the ", "") in faults("It was the same.")
    assert ("a ", "") not in faults("There is a few of them.")


def test_another_tense_alone_is_no_error():
    assert ("lost", "loses") not in faults("Napoli lost to Roma 1-0.")
    assert ("left", "leaves") not in faults("Then she left us some meatloaf.")
    assert ("injured", "injuring") not in faults("He was injured by it.")


@pytest.mark.parametrize("word", ["is", "was", "has"])
def test_teams_may_be_one_or_many(word):
    assert word not in {was for was, _ in faults(f"Then Chelsea {word} here; the team {word}.")}


def test_a_country_in_small_letters_is_no_pronoun():
    assert "us" not in {was for was, _ in faults("They went to the us then.")}


def test_a_german_text_gets_no_english_forms():
    text = "Sie ist an der Tür und was sie film nennt, ist nicht so das Mitglied, also die Frau."
    made = {put for _, put in faults(text, 2)}
    assert made
    assert all(len(put.split()) == 2 for put in made)


# What a model is told holds what is to be done and how often, and is read back as that.

BY_MODEL = [one for one in PERTURBATIONS.values() if one.method == "model"]


def test_every_kind_by_model_has_an_order():
    assert all(map(can_be_ordered, BY_MODEL))
    with pytest.raises(ValueError, match="no prompt exists for repetition; kinds that"):
        order_of(PERTURBATIONS["repetition"], 1)


@pytest.mark.parametrize("way", BY_MODEL, ids=str)
@pytest.mark.parametrize(
    "amount", [1, 2, 17, Every(), Every(at_least=4), Every(step=2, at_least=2)]
)
def test_orders_are_one_line_and_say_how_much(way, amount):
    order = order_of(way, amount)
    assert read_order(order) == (way.kind, amount)
    assert "\n" not in order
    assert order.endswith(".")
    assert not imitates_layout(order)


@pytest.mark.parametrize("text", ["", "Sing.", "repetition (1): Sing.", "rewriting (x): Sing."])
def test_what_is_no_order_is_read_as_none(text):
    assert read_order(text) is None


def test_general_steps_are_steps():
    check_steps(GENERAL_STEPS, of="any change")


@pytest.mark.parametrize(
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


# What holds for every rule and every text.

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
        if isinstance(found, Perturbed):
            assert found.text != text


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
    with pytest.raises(
        ValueError, match="there is no rule for the kind 'sneezing'; give one of char"
    ):
        perturb(item("a text"), Perturbation(kind="sneezing", level="word"), seed=0)


def test_an_amount_below_one_is_refused():
    with pytest.raises(ValueError, match="amount must be at least 1; got 0"):
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


# sentences

FOUR = "One is here. Two is there. Three is gone! Four is late."


def changed_sentences(text, name, amount=None, seed=0, source="", donors=None):
    item = RatedItem(source_id="1", source=source, response=text)
    return perturb(item, PERTURBATIONS[name], amount=amount, seed=seed, donors=donors)


def sentences(text):
    passage = Passage(text)
    return [passage.shown(span) for span in passage.sentences]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_exactly_k_sentences_change_places(k, seed):
    before, after = (
        sentences(FOUR),
        sentences(changed_sentences(FOUR, "reordering/minor", k, seed).text),
    )
    assert sorted(before) == sorted(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == k


@given(st.lists(st.sampled_from("ABCD"), min_size=3, max_size=9), st.integers(0, 9))
def test_no_sentence_stays_where_all_change_places_unless_most_are_the_same(letters, seed):
    text = " ".join(f"Here is {letter}." for letter in letters)
    found = changed_sentences(text, "reordering/major", seed=seed)
    most = max(letters.count(letter) for letter in letters)
    if 2 * most > len(letters):
        assert found == Skipped(reason="more than half of the sentences are the same")
        return
    pairs = zip(sentences(text), sentences(found.text), strict=True)
    assert all(one != other for one, other in pairs)


def test_too_few_sentences_are_not_reordered():
    assert changed_sentences("One. Two.", "reordering/major") == Skipped(
        reason="fewer than 3 sentences"
    )
    assert changed_sentences("Only one here.", "reordering/minor") == Skipped(
        reason="fewer than 2 sentences"
    )
    assert changed_sentences("One. Two.", "reordering/minor", 1).text == "Two. One."
    assert changed_sentences("Same here. Same here.", "reordering/minor") == Skipped(
        reason="fewer than 2 different sentences"
    )


def test_what_stands_between_sentences_stays():
    found = changed_sentences("One is here.\n\nTwo is there.", "reordering/minor")
    assert found.text == "Two is there.\n\nOne is here."


def test_the_sentence_about_what_the_source_is_about_is_left_out():
    source = "The bridge over the river opened. The bridge carries trains. " * 3
    text = "It was sunny. The bridge over the river carries trains. People went home."
    found = changed_sentences(text, "key_sentence_omission", source=source)
    assert found.text == "It was sunny. People went home."
    last = changed_sentences(
        "Nobody came. The bridge carries trains.", "key_sentence_omission", source=source
    )
    assert last.text == "Nobody came."
    assert isinstance(changed_sentences("Only one.", "key_sentence_omission"), Skipped)


def test_a_sentence_of_another_source_is_added():
    donors = Donors(
        [
            RatedItem(source_id="1", source="", response="A twin of this source."),
            RatedItem(source_id="2", source="", response="Whales sing."),
        ]
    )
    found = {
        changed_sentences(FOUR, "unsupported_addition", seed=s, donors=donors).text
        for s in range(20)
    }
    assert len(found) == 4
    assert all(" Whales sing." in text and "twin" not in text for text in found)
    assert changed_sentences(FOUR, "unsupported_addition") == Skipped(
        reason="no text of another source to take a sentence from"
    )


def test_a_sentence_is_said_again_with_the_blank_of_the_text():
    assert changed_sentences("Only one.", "repetition").text == "Only one. Only one."
    assert changed_sentences("你好。", "repetition").text == "你好。你好。"


@pytest.mark.parametrize("seed", range(20))
def test_a_text_is_cut_off_inside_a_sentence(seed):
    text = " ".join(f"Sentence number {n} has seven words." for n in range(6))
    found = changed_sentences(text, "truncation", seed=seed)
    assert text.startswith(found.text)
    assert not found.text.endswith(("words", "."))
    assert 0.35 <= len(Passage(found.text).words) / len(Passage(text).words) <= 0.85


# slips


def slip(kind, text, index, seed=0):
    """Return what one kind of slip makes of a text at a letter, or None."""
    change = kind(Slips(text, Passage(text).letters, Random(seed)), index)
    if change is None:
        return None
    start, end, put = change
    return text[:start] + put + text[end:]


@pytest.mark.parametrize(
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


def test_keyboards_have_the_usual_neighbours():
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


# words


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
