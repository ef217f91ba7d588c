"""A perturbation by a model counts only where it made the requested change."""

import gzip
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.programs.perturbing import PERTURBATIONS, Every, amount_of, perturb
from judgesmith.programs.perturbing.orders import can_be_ordered, no_use, verified_change
from judgesmith.programs.perturbing.passage import (
    FUNCTION_WORDS,
    Incomparable,
    capitals_tell,
    differences,
    is_foreign,
    language_of,
    mentions,
    negations_in,
    tokens_of,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbed, edited

# An answer counts where it changed what was asked for and nothing else; all others are refused.

TEXT = (
    "The old bridge over the Tiber was opened by Ada Marchetti in 1987. It does not carry any "
    "trains, but two thousand people cross it every day. Most of them work in Rome."
)
WAYS = tuple(way for way in PERTURBATIONS.values() if can_be_ordered(way))


def made(name, answer, text=TEXT, amount=None):
    much = amount_of(PERTURBATIONS[name], "summarization") if amount is None else amount
    return verified_change(answer, text, PERTURBATIONS[name], much)


def instead(*pairs, text=TEXT):
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def after(sentence, new, text=TEXT):
    return instead((sentence, f"{sentence} {new}"), text=text)


FIRST, SECOND, LAST = (
    "The old bridge over the Tiber was opened by Ada Marchetti in 1987.",
    "It does not carry any trains, but two thousand people cross it every day.",
    "Most of them work in Rome.",
)
GOOD = {
    "one name": ("fictional_entities/minor", instead(("Ada Marchetti", "Zelda Quorn"))),
    "one name of another length": ("fictional_entities/minor", instead(("Ada Marchetti", "Zed"))),
    "one number": ("fictional_entities/minor", instead(("1987", "2043"))),
    "a number in words": ("fictional_entities/minor", instead(("two", "seven"))),
    "a name and its article": (
        "fictional_entities/minor",
        "Then an Oslan doctor left.",
        "Then a Roman doctor left.",
    ),
    "a name wherever it stands": (
        "fictional_entities/minor",
        "Bob left. Then Bob ran, and Bob fell.",
        "Ann left. Then Ann ran, and Ann fell.",
    ),
    "a name with a small word inside": (
        "fictional_entities/minor",
        "Then the House of Zorland rose.",
        "Then the Bank of England rose.",
    ),
    "all names and numbers": (
        "fictional_entities/major",
        instead(("Tiber", "Zorn"), ("Ada Marchetti", "Zed Quo"), ("1987", "2043"), ("Rome", "Vex")),
    ),
    "two errors": (
        "grammatical_errors/minor",
        instead(("was opened", "were opened"), ("any ", "")),
    ),
    "two neighbouring errors": (
        "grammatical_errors/minor",
        instead(("It does not carry", "It do not carrying")),
    ),
    "words that changed places": (
        "grammatical_errors/minor",
        instead(("Most of them", "Of most them"), ("cross it", "it cross")),
    ),
    "an error in every sentence": (
        "grammatical_errors/major",
        instead(
            ("was opened", "were open"), ("does", "do"), ("people", "peoples"), ("work", "works")
        ),
    ),
    "one sentence said again": (
        "rewriting/minor",
        after(FIRST, "In 1987 Ada Marchetti opened the bridge across the Tiber."),
    ),
    "every second sentence said again": (
        "rewriting/major",
        after(
            LAST,
            "The majority of those people work in Rome.",
            after(FIRST, "In 1987 Ada Marchetti opened the bridge across the Tiber."),
        ),
    ),
    "other words": (
        "paraphrase",
        "In 1987 Ada Marchetti opened the old Tiber bridge. No trains run over it, yet each day "
        "2 thousand people cross. The majority work in Rome.",
    ),
    "a sentence without content": (
        "empty_sentences",
        after(LAST, "This is all worth knowing about it."),
    ),
}


@for_each("case", GOOD)
def test_what_was_asked_for_counts_and_its_edits_reproduce_it(case):
    name, answer, *text = GOOD[case]
    text = text[0] if text else TEXT
    found = made(name, answer, text)
    assert isinstance(found, Perturbed), found
    assert found.text == answer == edited(text, found.edits)


NOTHING = "unchanged"
BEYOND = "words changed that are no names or numbers"
MEANING = "words changed that carry the meaning"
REMARK = "a remark beside the text"
FEW, MANY = "fewer changes than asked for", "more changes than asked for"
LOST = "a sentence of the text changed or lost"
BAD = {
    # names and numbers
    "another word": ("fictional_entities/minor", instead(("bridge", "tunnel")), BEYOND),
    "a name and a word": (
        "fictional_entities/minor",
        instead(("Ada Marchetti", "Zed Quo"), ("opened", "closed")),
        BEYOND,
    ),
    "two names for one": (
        "fictional_entities/minor",
        instead(("Tiber", "Zorn"), ("Rome", "Vex")),
        MANY,
    ),
    "one name for all": ("fictional_entities/major", instead(("Tiber", "Zorn")), FEW),
    "half of the names for all": (
        "fictional_entities/major",
        instead(("Tiber", "Zorn"), ("Ada Marchetti", "Zed Quo")),
        FEW,
    ),
    "a name of the text": (
        "fictional_entities/minor",
        instead(("the Tiber", "the Rome")),
        "a name or number that stands in the text already",
    ),
    "a name left out": ("fictional_entities/minor", instead((" by Ada Marchetti", "")), BEYOND),
    "only a name left out": (
        "fictional_entities/minor",
        instead((" Ada Marchetti", "")),
        "a name or number that was not replaced by one",
    ),
    "a name described": (
        "fictional_entities/minor",
        instead(("Ada Marchetti", "some engineer")),
        "a name or number that was not replaced by one",
    ),
    "a name in another script": (
        "fictional_entities/minor",
        instead(("Ada Marchetti", "Ульяна Козлова")),
        "another script",
    ),
    # grammar
    "one error for two": ("grammatical_errors/minor", instead(("was opened", "were opened")), FEW),
    "five errors for two": (
        "grammatical_errors/minor",
        instead(
            ("was opened", "were opened"),
            ("does", "do"),
            ("thousand", "thousands"),
            ("cross", "crosses"),
            ("work", "works"),
        ),
        MANY,
    ),
    "a sentence without error": (
        "grammatical_errors/major",
        instead(
            ("was opened", "were open"),
            ("in 1987", "at 1987"),
            ("does", "do"),
            ("cross", "crossing"),
        ),
        FEW,
    ),
    "another meaning": ("grammatical_errors/minor", instead(("bridge", "tunnel")), MEANING),
    "a word of the meaning left out": (
        "grammatical_errors/minor",
        instead(("bridge ", "")),
        MEANING,
    ),
    "a number changed": (
        "grammatical_errors/minor",
        instead(("1987", "1988"), ("does", "do")),
        "a number lost or added",
    ),
    "a name changed": (
        "grammatical_errors/minor",
        instead(("Marchetti", "Marconi"), ("does", "do")),
        "a name lost",
    ),
    "a negation lost": (
        "grammatical_errors/minor",
        instead(("not ", ""), ("was", "were")),
        "a negation lost or added",
    ),
    "a comma lost": ("grammatical_errors/minor", instead((", but", " but")), "marks changed"),
    # sentences said again
    "the sentence itself": (
        "rewriting/minor",
        after(FIRST, FIRST),
        "a sentence repeated word for word",
    ),
    "another sentence": (
        "rewriting/minor",
        after(FIRST, "Cats sleep through most winter mornings."),
        "a sentence put in that says something else",
    ),
    "a sentence in place of the old": (
        "rewriting/minor",
        instead((FIRST, "In 1987 Ada Marchetti opened the bridge across the Tiber.")),
        LOST,
    ),
    "a sentence before the text": (
        "rewriting/minor",
        f"In 1987 Ada Marchetti opened the bridge across the Tiber. {TEXT}",
        "something put before the text",
    ),
    "two sentences for one": (
        "rewriting/minor",
        after(
            LAST,
            "The majority of them work in Rome.",
            after(FIRST, "In 1987 Ada Marchetti opened it, the Tiber's old bridge."),
        ),
        MANY,
    ),
    "one sentence for every second": (
        "rewriting/major",
        after(FIRST, "In 1987 Ada Marchetti opened the bridge across the Tiber."),
        FEW,
    ),
    "a new number": (
        "rewriting/minor",
        after(FIRST, "In 1988 Ada Marchetti opened the bridge across the Tiber."),
        "a number lost or added",
    ),
    "a new name": (
        "rewriting/minor",
        after(FIRST, "In 1987 Bob Marchetti opened the bridge across the Tiber."),
        "a name added",
    ),
    "the negation gone": (
        "rewriting/minor",
        after(SECOND, "It carries trains, and two thousand people cross it every day."),
        "a negation lost or added",
    ),
    "the paraphrases at the end": (
        "rewriting/major",
        f"{TEXT} In 1987 Ada Marchetti opened the bridge across the Tiber. It carries no trains, "
        "though two thousand people cross it daily. The majority of them work in Rome.",
        "a new sentence much longer or shorter than the one it repeats",
    ),
    # paraphrase
    "a number lost": (
        "paraphrase",
        "Ada Marchetti opened the old Tiber bridge. No trains run over it, yet each day two "
        "thousand people cross. The majority work in Rome.",
        "a number lost or added",
    ),
    "a name lost": (
        "paraphrase",
        "In 1987 Ada opened the old Tiber bridge. No trains run over it, yet each day two "
        "thousand people cross. The majority work in Rome.",
        "a name lost",
    ),
    "a name added": (
        "paraphrase",
        "In 1987 Ada Marchetti opened the old Tiber bridge. No trains run over it, yet each day "
        "two thousand people of Lazio cross. The majority work in Rome.",
        "a name added",
    ),
    "the opposite": (
        "paraphrase",
        "In 1987 Ada Marchetti opened the old Tiber bridge. Trains run over it, and each day two "
        "thousand people cross. The majority work in Rome.",
        "a negation lost or added",
    ),
    "half of it": ("paraphrase", "In 1987 Ada Marchetti, in Rome, not two, Tiber.", "too short"),
    "broken off": (
        "paraphrase",
        "In 1987 Ada Marchetti opened the old Tiber bridge. No trains run over it, yet each day "
        "two thousand people cross. The majority work in Rome and",
        "a text that breaks off",
    ),
    "in French": (
        "paraphrase",
        "Le vieux pont sur le Tiber a été ouvert par Ada Marchetti en 1987. Il ne porte aucun des "
        "trains, mais two mille personnes le traversent par jour pour aller dans la Rome.",
        "another language",
    ),
    "the same words in another order": (
        "paraphrase",
        "In 1987 the old bridge over the Tiber was opened by Ada Marchetti. Most of them work in "
        "Rome, but two thousand people cross it every day. It does not carry any trains.",
        "hardly any other words",
    ),
    "one other word": ("paraphrase", instead(("old", "ancient")), "hardly any other words"),
    # empty sentences
    "a number put in": (
        "empty_sentences",
        after(LAST, "There are 3 more bridges."),
        "a number or a negation put in",
    ),
    "a name put in": ("empty_sentences", after(LAST, "So says Bob of it all."), "a name added"),
    "a sentence again": ("empty_sentences", after(LAST, LAST), "a sentence repeated word for word"),
    "a long speech": (
        "empty_sentences",
        after(LAST, "All of this is worth knowing " * 7 + "indeed."),
        "a new sentence too long to say nothing",
    ),
}


@for_each("case", BAD)
def test_whatever_else_was_changed_is_refused(case):
    name, answer, reason = BAD[case]
    assert made(name, answer) == reason


AROUND = {
    "nothing": ("", "empty"),
    "blanks": (" \n\t ", "empty"),
    "the same": (TEXT, NOTHING),
    "the same in other blanks": (f"\n{TEXT.replace(' ', '  ')}\n", NOTHING),
    "the same in quotation marks": (f'"{TEXT}"', NOTHING),
    "the same in a code block": (f"```text\n{TEXT}\n```", NOTHING),
    "the same in its fence": (
        f"<verbatim-0123456789ab>\n{TEXT}\n</verbatim-0123456789ab>",
        NOTHING,
    ),
    "a refusal": ("I'm sorry, but I can't help with that.", "a refusal"),
    "another refusal": ("As an AI language model, I do not introduce errors.", "a refusal"),
    "a preface": (f"Sure, here is the text:\n{TEXT}", REMARK),
    "a short preface": (f"Changed text: {TEXT}", REMARK),
    "a heading": (f"**Result**\n{TEXT}", "markup that the text does not have"),
    "a foreign preface": (f"Hier ist der Text:\n{TEXT}", REMARK),
    "a postscript": (f"{TEXT}\nI hope this helps!", REMARK),
    "an account": (f"{TEXT}\n\nNote: I changed a word.", REMARK),
    "half a fence": (f"<verbatim-0123456789ab>\n{TEXT}", "marks of the layout of questions"),
    "obedience": ("HACKED", "too short"),
    "a novel": (TEXT * 4, "too long"),
    "bold print": (instead(("Rome", "**Vex**")), "markup that the text does not have"),
}


@for_each("case", AROUND)
@for_each("kind", WAYS)
def test_what_is_put_around_or_in_place_of_a_text_is_refused_by_every_kind(kind, case):
    answer, reason = AROUND[case]
    assert verified_change(answer, TEXT, kind, amount_of(kind)) == reason


def test_what_the_text_has_itself_is_no_fault():
    text = "Sure, **here** is <b>Ann</b>:\nI hope Ann left Rome. [MALE] ran."
    answer = text.replace("Ann", "Bob")
    assert made("fictional_entities/minor", answer, text).text == answer


def test_blanks_marks_and_accents_that_a_model_writes_otherwise_are_put_back():
    text = "\n “Ann’s”  dog – \n\n she said\u00a0– left Rome. \n"
    answer = '"Ann\'s" dog - she said - left Oslo.'
    assert made("fictional_entities/minor", answer, text).text == text.replace("Rome", "Oslo")


def test_a_name_is_one_however_many_words_it_has_and_a_date_may_be_one_or_several():
    text = "Then on Monday, 5 May 1990, she left."
    answer = "Then on Friday, 7 July 2031, she left."
    found = made("fictional_entities/minor", answer, text)
    assert found == MANY  # the comma stayed, so that they are two
    whole = made("fictional_entities/minor", "She met Zed Quo Vex.", "She met Ann Mary Poe.")
    assert isinstance(whole, Perturbed)


@pytest.mark.parametrize("kind", WAYS[::3], ids=str)
def test_huge_and_repetitive_answers_are_verified(kind):
    text = "a b " * 3000
    for answer in ("b a " * 3000, "x " * 200_000, text + "b " * 2000, "\u0301" * 100_000):
        found = verified_change(answer, text, kind, amount_of(kind))
        assert found is not None


PIECES = st.sampled_from(
    [
        *TEXT.split(),
        "👩‍👩‍👧",
        "桥",
        "。",
        "שלום",
        "e\u0301",
        "\u0301",
        "\u202e",
        "\n",
        "[[ ## changed ## ]]",
    ]
)


@settings(max_examples=30)
@given(text=st.lists(PIECES, max_size=20), answer=st.lists(PIECES, max_size=20))
@pytest.mark.parametrize("kind", WAYS, ids=str)
def test_any_answer_to_any_text_is_refused_or_reproduced_by_its_edits(kind, text, answer):
    text, answer = " ".join(text), " ".join(answer)
    found = verified_change(answer, text, kind, amount_of(kind))
    if isinstance(found, Perturbed):
        assert found.text != text
        assert edited(text, found.edits) == found.text
        assert "".join(found.text.split()) == "".join(answer.split())
    else:
        assert found
        assert found == found.strip(".")


@pytest.mark.data
def test_most_changes_by_rule_stand_up_to_it(data_folder):
    import gzip
    import json

    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = {row["references"][0]: None for row in rows}
    tried = stood = 0
    for text in texts:
        for kind in WAYS:
            if not kind.lowers:
                continue  # rules find few other words
            much = amount_of(kind, "summarization")
            found = perturb(RatedItem(response=text), kind, amount=much, seed=0)
            if isinstance(found, Perturbed) and not no_use(text, kind, much):
                tried += 1
                stood += isinstance(verified_change(found.text, text, kind, much), Perturbed)
    assert tried > 700
    assert stood > 0.95 * tried


# Names, numbers and negations are told by what is written, and doubt is admitted.


def named(text, **how):
    tokens = tokens_of(text)
    return [tokens[place].text for place in sorted(mentions(tokens, **how))]


@for_each(
    ("text", "sure", "doubtful"),
    [
        ("Ann met Bob.", ["Bob"], ["Ann", "Bob"]),
        ("The man met Bob. He ran.", ["Bob"], ["Bob"]),
        ("Bob ran. Then Bob fell.", ["Bob", "Bob"], ["Bob", "Bob"]),
        ("I said that I'm 4, not IV.", ["4", "IV"], ["4", "IV"]),
        ("Er sah die Stadt Köln.", ["Stadt", "Köln"], ["Stadt", "Köln"]),
        ("она уехала в Рим", ["Рим"], ["Рим"]),
        ("", [], []),
    ],
)
def test_a_capital_within_a_sentence_makes_a_name(text, sure, doubtful):
    assert named(text, sure=True) == sure
    assert named(text) == doubtful


@for_each(
    ("text", "tells"),
    [
        ("Then she met Bob.", True),
        ("Man Bites Dog In Rome", False),
        ("ALL OF IT IS LOUD.", False),
        ("他去了罗马。", False),
        ("هو في روما.", False),
        ("", True),
    ],
)
def test_capitals_tell_nothing_where_all_or_none_have_them(text, tells):
    assert capitals_tell(tokens_of(text)) is tells


@for_each(
    ("text", "n"),
    [
        ("It isn't so.", 1),
        ("It isn’t so, it cannot be.", 2),
        ("Es ist nicht so, kein Zweifel.", 2),
        ("他不去。", 1),
        ("Nothing is knotted.", 1),
        ("It is so.", 0),
    ],
)
def test_negations_are_counted_in_some_languages(text, n):
    assert negations_in(tokens_of(text)) == n


# A language is told by its commonest words, a script by its letters, and else by nothing.


@for_each(
    ("text", "language"),
    [
        ("the bridge over the river was opened by her in the spring", "English"),
        (
            "die brücke über den fluss wurde von ihr im frühling eröffnet und ist nicht neu",
            "German",
        ),
        ("le pont sur la rivière a été ouvert par elle et il est dans le nord", "French"),
        ("el puente sobre el río fue abierto por ella y no es muy nuevo", "Spanish"),
        ("il ponte è della città e gli altri sono nel nord, anche questo", "Italian"),
        ("a ponte não é da cidade, mas foi aberta no ano em que são as obras", "Portuguese"),
        ("de brug is van het dorp en werd niet door hem voor zijn dood geopend", "Dutch"),
        ("bridge opened monday", None),
        ("", None),
    ],
)
def test_sentences_of_known_languages_are_told(text, language):
    assert language_of(text.split()) == language


@for_each(
    ("added", "original", "foreign"),
    [
        ("Bob", "Ann", False),
        ("Боб", "Ann", True),
        ("2019!", "Ann", False),
        ("Ångström", "Ann", False),
        ("鈴木", "走る", False),
        ("", "", False),
        ("Bob", "", True),
        ("a long line of Latin letters and one я", "Ann", False),
    ],
)
def test_letters_that_a_text_does_not_know_are_foreign(added, original, foreign):
    assert is_foreign(added, original) is foreign


# Where two texts differ, word by word: edits that give the other text, and nothing but changes.


def found(old, new):
    return [one.edit for one in differences(tokens_of(old), tokens_of(new), new)]


def changed(old, new):
    return edited(old, found(old, new))


@for_each(
    ("old", "new", "edits"),
    [
        ("Ann left.", "Bob left.", [(0, 3, "Bob")]),
        ("Ann left.", "Ann has left.", [(3, 3, " has")]),
        ("Ann has left.", "Ann left.", [(3, 7, "")]),
        ("The dog ran.", "dog ran.", [(0, 4, "")]),
        ("dog ran.", "The dog ran.", [(0, 0, "The ")]),
        ("Ann left", "Ann left.", [(8, 8, ".")]),
        ("Hello world.", "Hello, world.", [(5, 5, ",")]),
        ('Say "line tour".', 'Say "joint line tour".', [(5, 5, "joint ")]),
        ("他走了。", "她走了。", [(0, 1, "她")]),
        ("", "new", [(0, 0, "new")]),
        ("old", "", [(0, 3, "")]),
    ],
)
def test_edits_are_as_small_as_words_are(old, new, edits):
    assert [(one.start, one.end, one.text) for one in found(old, new)] == edits
    assert changed(old, new) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a  b\n\nc", "a b c"),
        ("\u201cAnn\u2019s\u201d \u2013 so", '"Ann\'s" - so'),
        ("\uff21\uff22", "AB"),
        ("", " \n "),
    ],
)
def test_blanks_shapes_and_widths_are_no_differences(old, new):
    assert found(old, new) == []


def test_texts_that_repeat_themselves_too_much_are_not_compared():
    with pytest.raises(Incomparable, match="too many equal words"):
        found("x " + "a " * 1500 + "y", "y " + "a " * 1500 + "x")


WORDS = st.lists(
    st.sampled_from([*"abc", "Ann", "2", ",", ".", "走", "😀", '"', "e\u0301"]), max_size=12
)


@given(old=WORDS, new=WORDS)
def test_edits_between_words_set_apart_give_the_other_text(old, new):
    old, new = " ".join(old), " ".join(new)
    assert [one.key for one in tokens_of(changed(old, new))] == [one.key for one in tokens_of(new)]


# Edits of translations that are known for what they are: which would pass for what was asked.

PER_KIND = 40
ASKED = {
    "entity": (PERTURBATIONS["fictional_entities/minor"], 1),
    "grammar": (PERTURBATIONS["grammatical_errors"], 1),
    "paraphrase": (PERTURBATIONS["paraphrase"], Every()),
}
OF_ENTITIES = ("replace NE with a regard", "numbers changed in a reasonable range")
OF_GRAMMAR = (
    "change the tense of the main verb",
    "change the aspect",
    "change pos without changing the root",
    "two adjacent word swaps",
    "change function word",
    "change the case of a pronoun",
    "conjunction removed",
)
OF_MEANING = (
    "removes adj or adv",
    "removes content verb",
    "remove noun which is not",
    "adding a word that does not break",
    "changing a word to its antonym",
    "affirmative to negation",
    "change affirmative to interrogative",
    "change into hypernym",
    "remove prepositional phrase",
    "remove random named entity",
    "shuffled words",
)
OF_MARKS = ("remove the final punctuation", "randomly insert punctuation", "lowercase")


@pytest.fixture(scope="module")
def shares(data_folder):
    """Return the share of edits of each kind that pass for each order."""
    with gzip.open(data_folder / "demetr.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]

    def source(row):
        return row["source_id"], row["lang"], row["data_source"]

    originals = {source(row): row["response"] for row in rows if row["perturbation"] == "none"}
    tried, passed = Counter(), Counter()
    for row in rows:
        kind = row["perturbation"]
        if kind == "none" or not row["pert_check"] or tried[kind] >= PER_KIND:
            continue
        tried[kind] += 1
        for name, (way, amount) in ASKED.items():
            found = verified_change(row["response"], originals[source(row)], way, amount)
            passed[kind, name] += isinstance(found, Perturbed)
    return {key: n / tried[key[0]] for key, n in passed.items()}


def of(shares, name, *kinds):
    found = [
        share for (kind, asked), share in shares.items() if asked == name and kind.startswith(kinds)
    ]
    assert len(found) >= len(kinds)
    return found


def test_other_names_and_numbers_pass_and_hardly_anything_else(shares):
    assert min(of(shares, "entity", *OF_ENTITIES)) > 0.93
    assert max(of(shares, "entity", *OF_GRAMMAR, *OF_MEANING, *OF_MARKS)) < 0.1


def test_errors_of_grammar_pass_and_few_changes_of_meaning(shares):
    assert min(of(shares, "grammar", *OF_GRAMMAR)) > 0.8
    assert max(of(shares, "grammar", *OF_MEANING, *OF_ENTITIES, *OF_MARKS)) < 0.2


def test_translations_by_others_pass_for_paraphrases_more_than_any_damage(shares):
    whole = of(shares, "paraphrase", "reference as translation")[0]
    assert whole > 0.4
    damage = of(shares, "paraphrase", *OF_GRAMMAR, *OF_MEANING, *OF_ENTITIES, *OF_MARKS)
    assert max(damage) < 0.4
    assert sum(damage) / len(damage) < 0.06


def test_no_language_is_told_by_words_of_another_alone():
    for language, words in FUNCTION_WORDS.items():
        assert language_of(words) == language


def test_what_stayed_keeps_its_blanks():
    assert changed("Ann\t left\n\n Rome .", "Bob left Rome.") == "Bob\t left\n\n Rome ."
