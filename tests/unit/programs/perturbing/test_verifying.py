"""An answer counts where it changed what was asked for and nothing else; all others are refused."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.perturbing import PERTURBATIONS, amount_of, perturb
from judgesmith.programs.perturbing.orders import can_be_ordered, no_use, verified_change
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbed, edited

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


@pytest.mark.parametrize("case", GOOD, ids=GOOD)
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
    "a name left out": (
        "fictional_entities/minor",
        instead((" by Ada Marchetti", "")),
        BEYOND,
    ),
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
    "half of it": (
        "paraphrase",
        "In 1987 Ada Marchetti, in Rome, not two, Tiber.",
        "too short",
    ),
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


@pytest.mark.parametrize("case", BAD, ids=BAD)
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


@pytest.mark.parametrize("case", AROUND, ids=AROUND)
@pytest.mark.parametrize("kind", WAYS, ids=str)
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


@pytest.mark.parametrize("kind", WAYS, ids=str)
def test_huge_and_repetitive_answers_take_no_time(kind):
    begun = time.perf_counter()
    text = "a b " * 3000
    for answer in ("b a " * 3000, "x " * 2_000_000, text + "b " * 2000, "\u0301" * 100_000):
        verified_change(answer, text, kind, amount_of(kind))
    assert time.perf_counter() - begun < 20


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
