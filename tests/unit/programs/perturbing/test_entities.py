import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, perturb
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Skipped

TEXT = "Ada Lovell met Bob in Rome on 3 May 1919. Bob left. Then Ada's train came; Rome slept."


def changed(text, amount=None, seed=0, name="fictional_entities"):
    way = PERTURBATIONS[name]
    return perturb(RatedItem(response=text), way, amount=amount, seed=seed)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 3])
def test_exactly_k_names_or_numbers_are_replaced_wherever_they_stand(k, seed):
    found = changed(TEXT, k, seed)
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
    found = changed(TEXT, name="fictional_entities/major")
    assert {TEXT[edit.start : edit.end] for edit in found.edits} >= {"Bob", "Rome", "May", "1919"}
    assert len({edit.text for edit in found.edits}) >= 6
    assert "'s train" in found.text


@pytest.mark.parametrize("seed", range(5))
def test_days_and_months_become_others(seed):
    found = changed("It came on a Monday in May.", 2, seed)
    first, second = (edit.text for edit in found.edits)
    assert first.endswith("day")
    assert first != "Monday"
    assert second != "May"
    assert second.istitle()


def test_what_only_opens_a_sentence_is_no_name():
    assert changed("Trains came. \"Nobody saw. It's late: Perhaps.") == Skipped(
        reason="no name or number"
    )


def test_a_text_without_capitals_has_its_numbers():
    assert changed("桥梁长300米。").text != "桥梁长300米。"
    assert isinstance(changed("桥梁很长。"), Skipped)


def test_capitals_stay_capitals():
    found = changed("They met at NATO.")
    assert found.edits[0].text.isupper()


def test_one_alone_is_too_few_for_all():
    assert changed("They went to Rome.", name="fictional_entities/major") == Skipped(
        reason="fewer than 2 names and numbers"
    )


def test_more_digits_are_taken_where_none_is_left():
    text = "We saw " + ", ".join("0123456789") + "."
    found = changed(text, name="fictional_entities/major")
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
    made = changed("It came on the 21st of it.", 1, seed).edits[0].text
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
