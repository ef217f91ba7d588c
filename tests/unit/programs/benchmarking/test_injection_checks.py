"""What a model made of a text is believed only where it changed what it says, and nothing else."""

import pytest

from judgesmith.programs.perturbing.injecting import (
    ELSEWHERE,
    NOWHERE,
    TOO_MUCH,
    ReportedError,
    verified_errors,
)
from judgesmith.programs.perturbing.orders import NOT_ANOTHER
from judgesmith.signatures.perturbation import EARLIER_TOUCHED, Edit, SubAspect, Target, with_error

TEXT = "Then Ann Bell left Rome for good. It rained all day. Nobody saw her go, and Ann was glad."
SIDES = [SubAspect(criterion="c", name=name) for name in ("one", "two", "three")]


def verified(answer, *places, target=None):
    said = [
        ReportedError(number=number, was=was, now=now, explanation="wrong")
        for number, (was, now) in enumerate(places, start=1)
    ]
    return verified_errors(answer, said, target or Target(text=TEXT), SIDES[: len(said)])


def with_earlier(old, new):
    at = TEXT.index(old)
    edit = Edit(start=at, end=at + len(old), text=new)
    return with_error(Target(text=TEXT), [edit], sub_aspect="zero", kind="model")


def standing(target):
    """Return what stands at the places of each error."""
    return [[target.text[start:end] for start, end in one.spans] for one in target.errors]


@pytest.mark.parametrize(
    ("old", "new", "places", "shown"),
    [
        ("left Rome", "left Oslo", [("Rome", "Oslo")], [["Oslo"]]),
        ("left Rome", "left Oslo", [("left Rome for good", "left Oslo for good")], [["Oslo"]]),
        (" for good", "", [("for good", "Rome.")], [[""]]),
        (" for good", "", [("", "Rome. It")], [[""]]),
        ("day. ", "day. Or not. ", [("", "Or not.")], [[" Or not."]]),
        ("It rained all day. ", "", [("It rained all day.", "")], [[""]]),
        ("rained", "raind", [("rained", "raind")], [["raind"]]),
        ("day.", "day", [("day.", "day")], [[""]]),
        ("rained all", "all rained", [("rained all", "all rained")], None),
    ],
)
def test_one_error_at_the_place_that_is_reported_is_taken(old, new, places, shown):
    answer = TEXT.replace(old, new)
    made = verified(answer, *places)
    assert made.text == answer
    (error,) = made.errors
    assert (error.sub_aspect, error.kind, error.explanation) == ("one", "model", "wrong")
    assert shown is None or standing(made) == shown


def test_a_name_may_be_another_one_wherever_it_stands():
    made = verified(TEXT.replace("Ann", "Eve"), ("Ann", "Eve"))
    assert standing(made) == [["Eve", "Eve"]]


def test_a_place_that_two_reports_share_goes_to_the_one_that_is_the_same_elsewhere():
    given = Target(text="Ann then met Bob. So Ann left.")
    places = [("Ann", "Eve"), ("Ann then met", "Eve then saw")]
    made = verified("Eve then saw Bob. So Eve left.", *places, target=given)
    assert standing(made) == [["Eve", "Eve"], ["saw"]]


def test_a_long_sentence_may_be_said_twice():
    long = f"{' '.join(f'word{n}' for n in range(60))}."
    made = verified(f"{long} {long} So.", ("", long), target=Target(text=f"{long} So."))
    assert standing(made) == [[f" {long}"]]


@pytest.mark.parametrize(
    "place", [("ANN WAS", "ann was"), ("and Ann was", "and Ann was"), (".", "")]
)
def test_capitals_and_marks_at_the_ends_of_quoted_words_do_not_matter(place):
    made = verified(TEXT.replace("Ann was glad.", "ann was glad"), place, ("glad.", "“glad”"))
    assert isinstance(made, Target) == (place[0] != ".")


def test_a_sentence_may_stand_elsewhere():
    moved = "It rained all day."
    answer = f"{moved} {TEXT.replace(f' {moved}', '')}"
    made = verified(answer, (moved, moved))
    assert made.text == answer
    assert len(made.errors[0].spans) == 2


def test_a_sentence_said_twice_is_one_error_whichever_is_called_the_second():
    twice = TEXT.replace("It rained all day.", "It rained all day. It rained all day.")
    made = verified(twice, ("", "It rained all day."))
    assert made.text == twice
    assert made.n_errors == 1


def test_several_errors_at_once_are_kept_apart_and_bound_in_order():
    answer = TEXT.replace("Rome", "Oslo").replace("rained", "raind").replace(" and", "")
    made = verified(
        answer, ("saw her go, and Ann", "saw her go, Ann"), ("Rome", "Oslo"), ("rained", "raind")
    )
    assert made.text == answer
    assert standing(made) == [[""], ["Oslo"], ["raind"]]
    assert [one.sub_aspect for one in made.errors] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("answer", "places", "fault"),
    [
        (TEXT, [("Rome", "Oslo")], NOT_ANOTHER),
        (TEXT.replace(" ", "  "), [("Rome", "Oslo")], NOT_ANOTHER),
        (TEXT.replace("Rome", "Oslo"), [("Ann", "Eve")], ELSEWHERE),
        (TEXT.replace("Rome", "Oslo").replace("glad", "sad"), [("Rome", "Oslo")], ELSEWHERE),
        (TEXT.replace("Rome", "Oslo"), [("Rome", "Oslo"), ("rained", "raind")], NOWHERE),
        (TEXT.replace("Rome", "Oslo"), [("Rome", "Oslo"), ("left Rome", "left Oslo")], NOWHERE),
        (TEXT.replace("Rome", "Oslo"), [("", "")], ELSEWHERE),
        ("Something else altogether, from end to end.", [("Then", "Something")], TOO_MUCH),
        ("Then Ann left.", [(TEXT, "Then Ann left.")], TOO_MUCH),
        (TEXT + " Blah blah blah." * 20, [("", "Blah blah blah.")], TOO_MUCH),
        (TEXT * 100, [("", TEXT)], TOO_MUCH),
        ("", [("Rome", "")], "empty"),
        ("I'm sorry, I cannot do that.", [("Rome", "")], "a refusal"),
        (
            f"Sure, here it is:\n{TEXT.replace('Rome', 'Oslo')}",
            [("Rome", "Oslo")],
            "a remark beside the text",
        ),
        (
            TEXT.replace("Rome", "Oslo [[ ## changed ## ]]"),
            [("Rome", "Oslo")],
            "marks of the layout of questions",
        ),
        (TEXT.replace("Rome", "罗马"), [("Rome", "罗马")], "another script"),
    ],
)
def test_whatever_else_was_done_is_refused(answer, places, fault):
    assert verified(answer, *places) == fault


def test_a_common_word_that_is_quoted_does_not_cover_changes_all_over_the_text():
    text = "The cat saw the dog and the bird and the cow and the pig."
    answer = "The cat saw dog and a bird and the cow and the pig."
    found = verified(answer, ("the", ""), target=Target(text=text))
    assert found == ELSEWHERE


def test_an_earlier_error_stays_where_it_is():
    earlier = with_earlier("Rome", "Oslo")
    answer = earlier.text.replace("Then Ann", "Then")
    made = verified(answer, ("Ann Bell", "Then Bell left"), target=earlier)
    assert standing(made) == [["Oslo"], [""]]
    assert [one.sub_aspect for one in made.errors] == ["zero", "one"]


@pytest.mark.parametrize("put", ["Rome", "Paris", ""])
def test_an_earlier_error_that_is_mended_or_changed_is_noticed(put):
    earlier = with_earlier("Rome", "Oslo")
    answer = earlier.text.replace(" Oslo", f" {put}".rstrip())
    assert verified(answer, ("left Oslo for", f"left {put} for"), target=earlier) in (
        EARLIER_TOUCHED,
    )


def test_what_an_earlier_error_left_out_may_not_come_back():
    earlier = with_earlier(" for good", "")
    assert verified(TEXT, ("Rome.", "Rome for good."), target=earlier) == EARLIER_TOUCHED


@pytest.mark.parametrize(
    ("text", "twice", "once", "quoted"),
    [
        ("It is cold now.", "It is is cold now.", "It is cold now.", "It is"),
        ("It is cold.", "It is cold. It is cold.", "It is cold.", "It is cold."),
        (
            "He has come. Ann left Rome.",
            "He has come. Ann left Rome. He has come.",
            "Ann left Rome. He has come.",
            "He has come. Ann",
        ),
    ],
)
def test_what_was_said_twice_may_not_be_left_out_where_it_was_said_first(text, twice, once, quoted):
    side = SIDES[:1]
    doubled = verified_errors(
        twice, [ReportedError(number=1, was=twice, now=twice)], Target(text=text), side
    )
    assert doubled.n_errors == 1
    said = [ReportedError(number=1, was=quoted, now=quoted)]
    assert verified_errors(once, said, doubled, side) == EARLIER_TOUCHED


@pytest.mark.parametrize("sign", ["a ", "的", "🎉 ", "\u202e"])
def test_texts_that_repeat_themselves_are_checked_in_no_time(sign):
    text = sign * 3000
    found = verified_errors(
        text + sign,
        [ReportedError(number=1, was=sign, now=sign * 2000)],
        Target(text=text),
        SIDES[:1],
    )
    assert isinstance(found, Target | str)


def test_texts_with_too_many_equal_words_are_not_compared():
    same = "so " * 1100
    found = verified(f"b {same}d", ("a", "b"), target=Target(text=f"a {same}c"))
    assert found == "too many equal words to compare"


def test_shapes_of_quotation_marks_and_blanks_stay_as_they_were():
    given = Target(text="“Ann”  left –\n\nRome.")
    made = verified('"Ann" left - Oslo.', ("Rome", "Oslo"), target=given)
    assert made.text == "“Ann”  left –\n\nOslo."
