import pytest
from panelling import REPORT, error, missing

from judgesmith.programs.families.ensemble.merging import Entry, checked, numbered

GIVEN = numbered(
    {
        "a": [error("at ten", 2, "One."), missing("No date.", 3)],
        "b": [error("ten", 4, "Two."), error("Oslo", 1)],
    },
    REPORT,
)


def found(*entries, given=GIVEN, response=REPORT):
    kept, n_dropped = checked(entries, given, response)
    said = [(one.error.text, one.error.severity, one.members) for one in kept]
    return said, n_dropped


@pytest.mark.parametrize(
    "entry",
    [
        Entry(numbers=(1, 3), location="at ten", severity="1"),
        Entry(numbers=(1, 3), location='"AT  TEN"'),
        Entry(numbers=(1, 3, 99), location="at ten"),
        Entry(location="at ten"),
        Entry(numbers=(77,), location="at ten"),
    ],
)
def test_an_entry_that_stands_is_as_severe_as_the_severest_that_it_merges(entry):
    assert found(entry) == ([("at ten", 4, ("a", "b"))], 0)


@pytest.mark.parametrize(
    "entry",
    [
        Entry(numbers=(1,), location="at noon, in the rain and snow"),
        Entry(numbers=(1,), location="Its captain"),
        Entry(numbers=(4,), location="ten"),
        Entry(location="captain"),
        Entry(numbers=(1, 3), location="none"),
    ],
)
def test_what_is_not_there_or_touches_nothing_is_dropped_and_counted(entry):
    assert found(entry) == ([], 1)


def test_two_issues_at_one_place_keep_their_own_severities():
    entries = [
        Entry(numbers=(number,), location="ten", explanation=str(number)) for number in (1, 3)
    ]
    assert found(*entries) == ([("ten", 2, ("a",)), ("ten", 4, ("b",))], 0)


@pytest.mark.parametrize(
    ("location", "said", "n_dropped"),
    [
        ('"ten" and "Oslo"', [("ten", 4, ("a", "b")), ("Oslo", 1, ("b",))], 0),
        ("“ten”, “the moon above it all”", [("ten", 4, ("a", "b"))], 1),
        ('"left at "ten""', [("left at ten", 4, ("a", "b"))], 0),
    ],
)
def test_two_stretches_in_one_entry_are_two_errors(location, said, n_dropped):
    entry = Entry(numbers=(1, 3, 4), location=location)
    assert found(entry) == (said, n_dropped)


def test_what_is_missing_needs_an_annotator_who_misses_it():
    entry = Entry(numbers=(2,), location="(none)", explanation="The date.")
    assert found(entry) == ([("", 3, ("a",))], 0)
    assert found(Entry(location="none")) == ([("", 3, ("a",))], 0)
    assert found(Entry(location="none"), given=GIVEN[2:]) == ([], 1)


def test_of_words_that_stand_in_several_places_those_that_touch_are_meant():
    text = "ten " * 50
    one = error("x", 2, text="x").model_copy(update={"text": "ten", "start": 160, "end": 163})
    kept, _ = checked([Entry(numbers=(1,), location="ten")], numbered({"a": [one]}, text), text)
    assert (kept[0].error.start, kept[0].error.end) == (160, 163)


def test_the_same_entry_twice_counts_once():
    entry = Entry(numbers=(4,), location="Oslo")
    assert found(entry, entry) == ([("Oslo", 1, ("b",))], 1)


def test_errors_come_in_the_order_of_the_text_and_what_is_missing_last():
    said, _ = found(
        Entry(numbers=(2,), location="none"),
        Entry(numbers=(4,), location="Oslo"),
        Entry(numbers=(1,), location="ten"),
    )
    assert [text for text, _, _ in said] == ["ten", "Oslo", ""]


def test_of_endless_entries_those_beyond_reason_are_not_looked_at_and_are_counted():
    wrong = [Entry(numbers=(1,), location="the moon and the stars above it")] * 500
    assert found(*wrong, Entry(numbers=(4,), location="Oslo")) == ([], 501)
    assert found(Entry(numbers=(4,), location="Oslo"), *wrong) == ([("Oslo", 1, ("b",))], 500)


def test_a_stretch_far_from_what_it_names_does_not_stand_though_others_touch_it():
    assert found(Entry(numbers=(4,), location="ten")) == ([], 1)
    assert found(Entry(numbers=(3, 4), location="ten")) == ([("ten", 4, ("b",))], 0)
