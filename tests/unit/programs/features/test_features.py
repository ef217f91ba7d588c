"""Features of a text for the offline model: overlap, structure, style and words."""

import gzip
import json

import numpy as np
import pytest
from looping import for_each

from judgesmith.programs.features import FEATURE_INDEX, FEATURE_NAMES, lexical_features
from judgesmith.programs.features import vector as vector_module
from judgesmith.programs.features.sentences import misspelled, sentence_features
from judgesmith.programs.features.texts import (
    CASELESS_NOTE,
    CHARACTER_NOTE,
    Text,
    TextCache,
    fragments,
    overlap_features,
    repeated_phrase,
    repetition_features,
    slot_features,
    slots_of,
    stem_of,
    unsupported,
)
from judgesmith.programs.features.vector import (
    broken_pairs,
    same_people,
    style_features,
    surface_faults,
)
from judgesmith.programs.features.words import is_word, rarity

# overlap

SOURCE = Text("Ann Lee won the cup in Rome on Monday. Bob came second after a long race.")


def test_a_copy_is_all_known_and_one_run():
    copy = Text("Ann Lee won the cup in Rome on Monday.")
    found = overlap_features(copy, SOURCE)
    assert fragments(copy, SOURCE).lengths == (9,)
    assert found["known_words"] == found["coverage"] == 1.0
    assert found["new_bigrams"] == found["recombined"] == 0.0


def test_words_moved_together_are_recombined_not_new_content():
    found = overlap_features(Text("Bob won the cup."), SOURCE)
    assert found["known_words"] == 1.0
    assert found["recombined"] == found["new_bigrams"] == pytest.approx(1 / 3)


def test_foreign_words_are_new_and_nothing_is_recombined():
    found = overlap_features(Text("Completely different phrases here"), SOURCE)
    assert found["known_words"] == found["recombined"] == found["density"] == 0.0
    assert found["new_bigrams"] == 1.0


def test_density_is_the_mean_squared_run():
    response = Text("Ann Lee won the race")
    found = overlap_features(response, SOURCE)
    assert fragments(response, SOURCE).lengths == (4,)
    assert found["density"] == pytest.approx(1.4350845)  # log(1 + 16 / 5)


def test_lead_and_position_tell_early_from_late():
    early = overlap_features(Text("Ann Lee won the cup"), SOURCE)
    late = overlap_features(Text("after a long race"), SOURCE)
    assert early["position"] < late["position"]


def test_names_and_numbers_found_in_the_context_are_supported():
    response = Text("So Carl met Ann and Dora at 7 or 8.")
    names, numbers = unsupported(response, SOURCE, Text("Carl came at 7."))
    assert (names, numbers) == (["Dora"], ["8"])


# structure

ARTICLE = "The council met on Monday to talk about the new bridge over the river. " * 12


def test_numbers_that_a_tokenizer_parted_are_known():
    source = Text("He lived 122. 5 years, earned $ 53 ,193 ,914 and 5, 000 pounds in 1908. 3 died.")
    assert (
        unsupported(Text("For 122.5 years he got 53,193,914 or 5,000."), source, Text(""))[1] == []
    )
    assert unsupported(Text("It was 122.6 or 193,915."), source, Text(""))[1] == ["122.6", "193915"]


def test_names_that_lost_their_capital_are_counted_and_sentences_with_them():
    source = "On Monday the men saw Ann Lee near Rome."
    small, large = (
        lexical_features(source, None, text) for text in ("ann lee left.", "Ann Lee left.")
    )
    assert (small["small_names"], small["lower_start"]) == (1.0, 1.0)
    assert (large["small_names"], large["lower_start"]) == (0.0, 0.0)


def test_slots_of_meaning_representations():
    assert slots_of("inform(name='red door';kids_allowed=no)") == [
        ("name", "red door"),
        ("kids_allowed", "no"),
    ]
    assert slots_of("name[The Eagle], food[French]") == [("name", "The Eagle"), ("food", "French")]
    assert Text("goodbye()").is_data
    assert not Text("He left (see a=b).").is_data


def test_missing_values_are_named_and_empty_values_ask_for_their_slot():
    features, missing = slot_features(
        "inform(name='red door';food=thai;kids_allowed=yes)", Text("Red door welcomes kids.")
    )
    assert missing == ("thai",)
    assert features["slots_covered"] == pytest.approx(2 / 3)


@for_each(
    ("form", "source", "context", "response"),
    [
        ("data", "Ada | bornIn | London", None, "Ada was born in London."),
        ("summary", ARTICLE, None, "The council talked about the bridge."),
        ("collection", "Review 1: good\nReview 2: bad\nReview 3: fine", None, "It is fine."),
        ("dialogue", "hi , how are you ?\nfine , and you ?", None, "I am well."),
        ("dialogue", "A: hello there\nB: good day", None, "Nice weather."),
        ("rewriting", "The physician gave her a remedy.", None, "The physician gave a cure."),
        ("continuation", "Ann lost a hat.", None, "She looked for it. A dog had it. She cried."),
        ("translation", "今天天气很好，我们去公园。", None, "The weather is fine, let us go."),
        (
            "translation",
            "The men are on the bridge, and it is not closed for them. It was old.",
            None,
            "Die Männer sind auf der Brücke, und sie ist nicht für sie gesperrt.",
        ),
        (
            "other",
            "Ann had a hat. It was red. She lost it by the river. A dog had found it there.",
            None,
            "He gave her the hat.",
        ),
        ("rewriting", "The bridge opened on Monday.", None, "Verdict: pass, completed."),
        ("other", "What is the capital of France?", None, "Paris."),
    ],
)
def test_the_form_is_seen_from_the_texts_alone(form, source, context, response):
    assert lexical_features(source, context, response).form == form


# style


def test_clean_text_has_no_faults():
    assert surface_faults(Text('She said "yes" (twice). Then he left.')) == {}


@for_each(
    ("text", "fault"),
    [
        ("It ended without", "unfinished"),
        ("He looked at the. She left.", "dangling"),
        ("He Paid. then she left.", "lower_start"),
        ('She said "yes.', "unbalanced"),
        ("The unk was here.", "placeholders"),
        ("A bad \ud800 character.", "placeholders"),
        ("He left, . She stayed.", "doubled_marks"),
        ("He went to is home.", "broken_pairs"),
    ],
)
def test_every_fault_is_found(text, fault):
    assert surface_faults(Text(text)) == {fault: 1}


@for_each(
    "text",
    [
        "The man who has it is late, and the one he met at the door is glad to go.",
        "An hour ago a university gave an honest answer to a useful question.",
        "The book she read, and the one he has, are on a shelf.",
        "There are two cats. Both are small.",
        "Er ist an dem Tag in Rom gewesen.",
    ],
)
def test_sound_sentences_have_no_broken_pairs(text):
    assert broken_pairs(Text(text)) == 0


def test_people_of_the_source_are_the_same_in_a_new_case():
    assert same_people(Text("She lost her hat."), Text("I met her.")) == 1.0
    assert same_people(Text("He lost my hat."), Text("I left.")) == 0.5


def test_repetition_is_seen_within_and_across_sentences():
    clean = repetition_features(Text("The cat sat down. A dog ran past."))
    again = repetition_features(Text("The cat sat down. The cat sat down."))
    stutter = repetition_features(Text("The cat cat sat on it on it."))
    assert clean["sentence_again"] == clean["stutter"] == clean["repeated_trigrams"] == 0.0
    assert again["sentence_again"] == 1.0
    assert again["repeated_trigrams"] > 0.3
    assert stutter["stutter"] == pytest.approx(1.0986123)  # log(1 + 2)
    assert repeated_phrase(Text("No phrase returns here.")) == ""


def test_a_harder_wording_loses_ease():
    plain, hard = Text("The dog ran home."), Text("Canine individuals perambulated residentially.")
    assert style_features(hard, plain)["ease_gain"] < 0 < style_features(plain, hard)["ease_gain"]


# vector

ODD = [
    "",
    " \n\t ",
    "\ud800",
    "\udcff lone \ud83d surrogates",
    "!?!?…",
    "x" * 10_000,
    "a b " * 5_000,
    "👩‍👩‍👧 ﷽ ‮ reversed",
    "नमस्ते दुनिया",
    "مرحبا بالعالم",
    "你好，世界。",
    "a\x00b",
    "|||\n|a|",
    "inform(",
    "f()",
]


@pytest.mark.no_cover
@for_each("response", ODD)
@for_each("source", [*ODD[:6], "A plain source, with Ann and 12 words in it."])
def test_odd_texts_give_finite_numbers(source, response):
    for context in (None, "", response):
        values = lexical_features(source, context, response).values
        assert values.shape == (len(FEATURE_NAMES),)
        assert np.isfinite(values).all()


def test_names_are_unique_and_index_the_vector():
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)
    found = lexical_features("one two", None, "one two three")
    assert found["words"] == found.values[FEATURE_INDEX["words"]] == np.log1p(3)


def test_the_vector_is_read_only_and_the_same_from_a_cold_cache():
    texts = ("Ann met Bob in Rome.", "Bob is 40.", "Bob, 40, met Ann.")
    warm = lexical_features(*texts)
    with pytest.raises(ValueError, match="read-only"):
        warm.values[0] = 1
    vector_module._vectors.clear()
    cold = lexical_features(*texts)
    assert cold is not warm
    assert (cold.values == warm.values).all()


@pytest.mark.parametrize("blank", ["", "\n "])
def test_a_blank_context_is_none(blank):
    absent = lexical_features("Short source here", None, "An answer")
    assert lexical_features("Short source here", blank, "An answer") is absent
    assert not absent.with_context
    assert lexical_features("Short source here", "More.", "An answer").form == "dialogue"


def test_a_script_outside_the_features_is_noted():
    assert "characters" in lexical_features("天气很好", None, "今天天气很好").script
    assert lexical_features("a b c", None, "plain words").script == ""


def test_what_is_kept_stays_bounded(monkeypatch):
    monkeypatch.setattr(vector_module, "_CACHE_VECTORS", 10)
    for number in range(35):
        lexical_features("source", None, f"response {number}")
    assert len(vector_module._vectors) <= 10


def test_unsupported_names_are_quoted_as_written_and_no_more_than_eight():
    response = "Then " + " ".join(f"Name{chr(65 + n)}x and" for n in range(12)) + " left."
    found = lexical_features("nobody came", None, response)
    assert found.unsupported[0] == "NameAx"
    assert len(found.unsupported) == 8
    assert found["unknown_names"] == np.log1p(12)


def test_real_summaries_differ_by_features(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(160), strict=False)]
    vectors = np.array(
        [lexical_features(r["source"], r["context"], r["response"]).values for r in rows]
    )
    assert np.isfinite(vectors).all()
    varying = {name for name, column in zip(FEATURE_NAMES, vectors.T, strict=True) if column.std()}
    assert {"new_bigrams", "density", "salient_recall", "unknown_names", "ease"} <= varying


# words


def test_tokenised_and_plain_text_give_the_same_words():
    assert (
        Text("Townsend's 1,000 fans didn't go.").words
        == Text("Townsend 's 1000 fans didn 't go .").words
    )


def test_sentences_end_at_marks_and_lines_but_not_after_initials_or_in_numbers():
    text = Text("J. Smith paid 3.50 today. He left!\nThen more")
    assert [text.words[start] for start, _ in text.sentences] == ["j", "he", "then"]


def test_a_mark_inside_a_word_ends_nothing():
    assert len(Text("see example.org/a.b now").sentences) == 1


def test_scripts_without_spaces_are_read_by_character():
    text = Text("今天天气很好。明天呢？")
    assert text.words == list("今天天气很好明天呢")
    assert len(text.sentences) == 2
    assert text.script == CHARACTER_NOTE


def test_scripts_without_capitals_are_noted_and_marks_stay_in_their_word():
    assert Text("ذهب الولد إلى المدرسة").script == CASELESS_NOTE
    assert Text("हिन्दी भाषा").words == ["हिन्दी", "भाषा"]
    assert Text("Das ist schön.").script == ""
    assert Text("Это хорошо.").script == ""


def test_stems_keep_content_only():
    assert [stem_of(word) for word in ("cat", "running", "12", "猫")] == ["", "runnin", "12", "猫"]


def test_parts_are_counted_in_numbered_collections_only():
    reviews = "Review 1: great pizza\nReview 2: pizza again\nReview 3: rude staff"
    assert Text(reviews).part_counts["pizza"] == 2
    assert not Text("great pizza\npizza again\nrude staff").part_counts


def test_the_cache_gives_the_same_object_and_stays_within_its_bound():
    cache = TextCache(1000)
    first = cache.read("a text")
    assert cache.read("a text") is first
    for number in range(50):
        cache.read(f"text {number} " + "x" * 90)
    assert sum(len(text) for text in cache._texts) <= 1000
    assert cache.read("a text") is not first
    cache.read("y" * 5000)
    assert "y" * 5000 not in cache._texts


# words and sentences

BRIDGE = Text(
    "The old bridge opened in 1970. Three men crossed it on Monday. It was not closed in the "
    "winter. Mexico paid 52,500 dollars for the paint, and twelve people got a prize."
)
NONE = Text("")


def test_words_exist_in_american_and_british_spelling_and_common_ones_are_not_rare():
    assert all(map(is_word, ["the", "colour", "color", "centre", "travelled", "t", "bridge"]))
    assert not any(map(is_word, ["brigde", "colouur", "xq"]))
    assert rarity("the") < rarity("bridge") < rarity("abutment") <= rarity("brigde") == 7.5


@pytest.mark.parametrize(
    ("response", "wrong"),
    [
        ("The old brigde was not clsoed for the men.", ["brigde", "clsoed"]),
        (
            "The brdige wsa odl in teh winter.",
            ["brdige", "wsa", "odl", "teh"],
        ),
        ("Die Brücke ist alt und nicht für die Leute.", []),
        ("La vieja puente no era para los hombres de la ciudad.", []),
        ("The Skylon was not made for Brexiteers.", []),  # names may be any letters
        ("They do n't cross it , for the 21 st of 40 km is closed .", []),
        ("Die Brücke ist alt und nchit für die lete Sanierung der Leute.", ["nchit", "lete"]),
        ("Die vorbeifliegende Möwe ist nicht auf der Brücke.", []),  # of two words
        ("La vieja puente no era para los homrbes de la ciudad.", ["homrbes"]),
        ("Den gamle bro er ikke til de mænd, der bor i byen.", []),  # no list has Danish
        ("老橋", []),
    ],
)
def test_misspelled_words_are_told_in_the_languages_of_the_lists(response, wrong):
    assert misspelled(Text(response), BRIDGE, Text("")) == wrong


def test_a_word_of_the_material_is_no_slip():
    assert misspelled(Text("The floof was in the box."), Text("It is a floof."), Text("")) == []


def test_a_sentence_is_held_by_one_sentence_and_going_back_is_seen():
    straight = sentence_features(
        Text("The old bridge opened. The paint cost dollars."), BRIDGE, NONE
    )
    back = sentence_features(Text("The paint cost dollars. The old bridge opened."), BRIDGE, NONE)
    spread = sentence_features(Text("The bridge men crossed in winter for dollars."), BRIDGE, NONE)
    assert (straight["backwards"], back["backwards"]) == (0.0, 1.0)
    assert straight["sentence_support"] == back["sentence_support"] > spread["sentence_support"]


def test_a_denial_is_new_where_the_source_denies_nothing():
    assert sentence_features(Text("It was not closed in winter."), BRIDGE, NONE)["denials"] == 0.0
    never = Text("Men never crossed the bridge.")
    assert sentence_features(never, BRIDGE, NONE)["denials"] > 0.0
    assert sentence_features(never, BRIDGE, Text("Do not cross it."))["denials"] > 0.0
    assert sentence_features(never, BRIDGE, Text("Nobody crossed it."))["denials"] == 0.0


def test_what_points_back_to_nothing_is_counted():
    first, later = "Ann Lee opened the bridge.", "Later that day Lee left."
    linked, unlinked = (Text(" ".join(pair)) for pair in ((first, later), (later, first)))
    assert sentence_features(linked, BRIDGE, NONE)["unlinked"] == 0.0
    assert sentence_features(unlinked, BRIDGE, NONE)["unlinked"] > 0.0


def test_rare_words_of_the_source_count_most_in_any_ending():
    found = sentence_features(Text("They painted the bridges and slept."), BRIDGE, NONE)["taken_up"]
    assert 0.5 < found < 1.0
    assert sentence_features(Text("Nobody slept."), BRIDGE, NONE)["taken_up"] == 0.0


@pytest.mark.parametrize(
    ("response", "names", "numbers"),
    [
        ("12 got prizes, 3 crossed in the 70s, for 52 500 dollars.", [], []),
        ("13 got prizes, 4 crossed in the 80s.", [], ["13", "4", "80"]),
        ("Mexico has paid. France has paid. Then France left.", ["France", "France"], []),
        ("Everybody was there. Scientists said so. Nothing had changed.", [], []),
    ],
)
def test_numbers_in_words_and_names_that_open_sentences_are_known(response, names, numbers):
    found = unsupported(Text(response), BRIDGE, Text(""))
    assert [sorted(one) for one in found] == [sorted(names), numbers]


REPORT = (
    "The bridge over the river Kell was closed on Monday after engineers found cracks in two "
    "of its pillars. Ferries carry passengers until the repairs are done. "
)


def test_a_sentence_about_something_else_strays():
    own = "Engineers found cracks in the pillars of the bridge."
    found = [
        lexical_features(REPORT, None, f"{own} {more}")["strays"]
        for more in (
            "Ferries carry passengers.",
            "That is how things stand.",
            "Penguins hatch eggs in Antarctica.",
            "Penguins hatch eggs. The eggs of penguins are heavy.",
        )
    ]
    assert found == [0.0, 0.0, 0.5, 0.0]


def test_sentences_of_common_words_are_no_content_of_a_summary():
    long, short = (5 * REPORT, REPORT)
    plain, padded = "Engineers found cracks.", "Engineers found cracks. That is how things stand."
    for name in ("content_words", "new_bigrams", "sentence_support", "variety"):
        one, other = (lexical_features(long, None, text)[name] for text in (plain, padded))
        assert one == other, name
    one, other = (lexical_features(short, None, text) for text in (plain, padded))
    assert one["content_words"] < other["content_words"]


@pytest.mark.parametrize(
    ("source", "response", "share"),
    [
        (
            "她被拘留，等待起诉和审判。",
            "She is in 拘留 and waits for the trial of the state.",
            2 / 13,
        ),
        ("Sie wartet auf den Prozess und ist nicht frei.", "She wartet and is not free.", 1 / 6),
        ("She waits at the Gare in the city of Lyon.", "She waits at the gare of the city.", 0.0),
        (REPORT, "Teh brdige ovr thhe rivr was clsoed on Mnday aftr cracs wer fuond.", 9 / 13),
    ],
)
def test_words_of_another_language_are_slips_where_the_text_is_not_in_it(source, response, share):
    assert lexical_features(source, None, response)["misspelled"] == pytest.approx(share)


def test_a_slip_hides_no_broken_pair_and_an_invented_name_half_of_one():
    right, slip, name, new = (
        lexical_features(REPORT, None, f"The bridge found the {word} of the river.")["recombined"]
        for word in ("cracks", "craccks", "Zogs", "whales")
    )
    assert slip == right > name > new
