import pytest

from judgesmith.programs.perturbing import PERTURBATIONS, perturb
from judgesmith.signatures.perturbation import Skipped
from judgesmith.signatures.rated import RatedItem

TEXT = "Ada Lovell met Bob in Rome on 3 May 1919. Bob left. Then Ada's train came; Rome slept."


def changed(text, amount=None, seed=0, name="fictional_entities"):
    way = PERTURBATIONS[name]
    return perturb(RatedItem(response=text), way, amount=amount, seed=seed)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 3])
def test_exactly_k_names_or_numbers_are_replaced_wherever_they_stand(k, seed):
    found = changed(TEXT, k, seed)
    spans = {TEXT[edit.start : edit.end] for edit in found.edits}
    assert len(spans) == k
    known = {"Bob", "Rome", "May", "3", "1919", "Lovell", "Ada"}
    assert spans <= known
    for span in spans - {"3", "Ada"}:
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
        reason="fewer than 1 names and numbers"
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
