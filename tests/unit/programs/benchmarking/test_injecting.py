"""Errors are injected by rules and by models, and the injected text is verified."""

import itertools
from random import Random

import pytest
from looping import for_each

from judgesmith.programs.lm import model
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.programs.perturbing.error_kinds import RULES, Room, TakenPlaces
from judgesmith.programs.perturbing.injecting import (
    ELSEWHERE,
    NOWHERE,
    TOO_MUCH,
    Counts,
    InjectionJob,
    ReportedError,
    drawn_sub_aspects,
    inject_each,
    injected_by_rule,
    known_sub_aspects,
    reported_errors,
    sequences,
    verified_errors,
)
from judgesmith.programs.perturbing.orders import NOT_ANOTHER
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import (
    EARLIER_TOUCHED,
    Edit,
    InjectedError,
    Skipped,
    SubAspect,
    Target,
    touches,
    with_error,
)

# Errors by rule: as many as asked for, each at its own place, the same for the same seed.

TEXTS = (
    "Ann Bell met Bob in Rome on 12 May 1999. The bridge was opened before the winter, but some "
    "people said it was unsafe. They have not used it since then; most of the 300 workers left.",
    "Police in Leeds have found a man who had been missing for 9 days. He was seen by a driver "
    "near the old mill. His family said that they were very happy to have him back.",
)
CRITERIA = ("coherence", "consistency", "fluency", "relevance", "conciseness", "meaning")


def jobs(criterion, texts=TEXTS, **changed):
    return [
        InjectionJob(
            key=f"{criterion} {place}",
            source_id=str(place),
            source=text,
            target=Target(text=text),
            criterion=criterion,
            sub_aspects=known_sub_aspects(criterion),
        ).model_copy(update=changed)
        for place, text in enumerate(texts)
    ]


@for_each("criterion", CRITERIA)
def test_three_sentences_have_room_for_fifteen_errors_one_after_the_other(criterion):
    counts = Counts()
    for _, found in sequences(jobs(criterion), 15, seed=0, counts=counts):
        assert [one.n_errors for one in found] == list(range(16))
        for before, after in itertools.pairwise(found):
            assert after.text != before.text
            for one, same in zip(before.errors, after.errors, strict=False):
                shown = [before.text[start:end] for start, end in one.spans]
                assert [after.text[start:end] for start, end in same.spans] == shown
                assert (same.kind, same.removed) == (one.kind, one.removed)
    assert (counts.wanted, counts.made, counts.short, counts.asked) == (30, 30, 0, 0)


def test_errors_of_a_text_are_kept_where_more_are_put_in():
    (job,) = jobs("fluency", TEXTS[:1])
    ((_, first),) = inject_each([job], seed=0)
    ((_, found),) = sequences([job.model_copy(update={"target": first})], 2, seed=0)
    assert found[0] == first
    assert [one.n_errors for one in found] == [4, 5, 6]


@for_each("criterion", CRITERIA)
def test_no_text_of_a_sequence_comes_back_however_often_a_word_is_there(criterion):
    for text in ("so " * 60 + "so.", 'He said "yes". She said "no". They said "maybe".'):
        for seed in range(3):
            ((_, found),) = sequences(jobs(criterion, [text]), 12, seed=seed)
            assert len({one.text for one in found}) == len(found) > 1


def test_what_was_said_twice_is_not_left_out_where_it_was_said_first():
    text = "It rained all day. Ann left Rome."
    twice = with_error(
        Target(text=text),
        [Edit(start=len(text), end=len(text), text=" It rained all day.")],
        sub_aspect="completeness",
        kind="repetition",
    )
    (job,) = jobs("relevance", [text], target=twice)
    for seed in range(40):
        made = injected_by_rule(job, twice, job.sub_aspects[0], rng=Random(seed))
        assert made.text.count("It rained all day.") == 2 or made.errors[-1].removed != (
            "It rained all day. ",
        )


def test_a_text_without_room_is_a_sequence_of_itself_and_counted_as_lost():
    counts = Counts()
    ((_, found),) = sequences(jobs("coherence", ["…"]), 3, seed=0, counts=counts)
    assert (len(found), counts.short, counts.lost) == (1, 1, 1)


def test_a_sub_aspect_without_room_gives_way_and_that_is_counted():
    names = SubAspect(criterion="c", name="names and numbers")
    spelling = SubAspect(criterion="c", name="spelling")
    given = jobs("c", ["It rained all day and all of the night."], sub_aspects=(names, spelling))
    counts = Counts()
    ((_, made),) = inject_each(given, seed=0, counts=counts)
    assert [one.sub_aspect for one in made.errors] == ["spelling", "spelling"]
    assert counts.rebound == 1


def test_the_offline_model_has_rules_stand_in_without_a_call():
    given, counts = jobs("fluency"), Counts()
    lm = model("offline", ledger=None)
    assert list(sequences(given, 3, lm, seed=0, counts=counts)) == list(sequences(given, 3, seed=0))
    assert counts.asked == 0


def test_all_sub_aspects_are_drawn_once_before_any_is_drawn_again():
    sides = [SubAspect(criterion="c", name=name) for name in "abc"]
    for seed in range(5):
        drawn = [one.name for one in drawn_sub_aspects(sides, 8, Random(seed))]
        assert set(drawn[:3]) == set(drawn[3:6]) == set("abc")
        assert len(set(drawn[6:])) == 2
    with pytest.raises(ValueError, match="at least one sub-aspect"):
        drawn_sub_aspects([], 1, Random(0))


# What a model made of a text is believed only where it changed what it says, and nothing else.

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


@for_each(
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


@for_each(
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


# Every rule makes one error, leaves alone what is wrong already, and takes any text.

TEXT_INJECTION_RULES = (
    "Ann Bell met Bob in Rome on 12 May 1999. The bridge was opened before the winter, but some "
    "people said it was unsafe. They have not used it since then; most of the 300 workers left."
)


def made(kind, target, seed=0, **told):
    """Return a target with an error of a kind, or None where there is no room for one."""
    found = RULES[kind].change(Room(target, rng=Random(seed), **told))
    if isinstance(found, Skipped):
        return None
    edits = [Edit(start=start, end=end, text=put) for start, end, put in sorted(found)]
    return with_error(target, edits, sub_aspect="any", kind=kind)


@for_each("kind", RULES)
def test_each_rule_makes_one_error_the_same_way_for_the_same_draws(kind):
    first, second = (made(kind, Target(text=TEXT_INJECTION_RULES), seed=3) for _ in range(2))
    assert first == second
    assert first.n_errors == 1
    assert first.text != TEXT_INJECTION_RULES


@for_each("kind", RULES)
def test_each_rule_says_what_is_wrong_in_a_line(kind):
    assert RULES[kind].kind == kind
    assert RULES[kind].says
    assert not RULES[kind].says.endswith(".")


@for_each("kind", RULES)
def test_no_rule_touches_an_earlier_error_however_many_there_are(kind):
    target = Target(text=TEXT_INJECTION_RULES)
    for seed in range(12):
        found = made(kind, target, seed)
        if found is None:
            break
        assert isinstance(found, Target)  # with_error refuses what touches another
        kept = zip(target.errors, found.errors, strict=False)
        for before, after in kept:
            shown = [target.text[start:end] for start, end in before.spans]
            assert [found.text[start:end] for start, end in after.spans] == shown
        target = found
    assert target.n_errors > 0


@for_each("kind", RULES)
def test_where_everything_is_wrong_already_there_is_no_room(kind):
    error = InjectedError(
        sub_aspect="any",
        kind="model",
        spans=((0, len(TEXT_INJECTION_RULES)),),
        removed=("Nothing.",),
    )
    found = made(kind, Target(text=TEXT_INJECTION_RULES, errors=(error,)))
    assert found is None or found.errors[1].removed == ("",)  # beside it, apart by a blank


@for_each(
    "text",
    [
        "",
        " ",
        "?!",
        "word",
        "她走了。他留下。",
        "😀 😀",
        "half: \ud800 a",
        "a\x00b",
        "a\u0301 \u202eb\u202c c.",
    ],
)
def test_any_text_is_changed_or_left_alone(text):
    for kind in RULES:
        found = made(kind, Target(text=text))
        assert found is None or isinstance(found, Target | str)


# What a model says of its errors is read leniently, and refused where it is not one for each.

ONE = '{"number": 1, "was": "a", "now": "b", "explanation": "x\\n y"}'


@for_each(
    "text",
    [
        f"[{ONE}]",
        f"Here:\n```json\n[{ONE},]\n```",
        f'{{"errors": [{ONE}]}}',
        ONE,
        '[{"was": "a", "now": "b", "explanation": "x y"}]',
        '[{"Number": "1.", "was": "…a…", "now": "...b", "explanation": "x y"}]',
    ],
)
def test_one_error_is_read_however_it_is_wrapped(text):
    (found,) = reported_errors(text, 1)
    assert (found.number, found.was, found.now, found.explanation) == (1, "a", "b", "x y")


def test_errors_come_in_the_order_of_their_numbers():
    text = '[{"number": 2, "was": "b", "now": ""}, {"number": 1, "was": null, "now": "a"}]'
    assert [(one.was, one.now) for one in reported_errors(text, 2)] == [("", "a"), ("b", "")]


@for_each(
    ("text", "n"),
    [
        ("[]", 1),
        ("", 1),
        ("none", 1),
        (f"[{ONE}, {ONE}]", 2),
        (f"[{ONE}]", 2),
        (f'[{ONE}, "b"]', 2),
        ('[{"number": "last", "was": "a"}]', 1),
        ("[" * 3000, 1),
        ("7", 1),
    ],
)
def test_anything_but_one_record_for_each_error_is_refused(text, n):
    with pytest.raises(ValueError, match=r"."):
        reported_errors(text, n)


# Taken places are found as if each had been looked at.


def test_looking_places_up_finds_what_looking_at_each_finds():
    rng = Random(0)
    for _ in range(500):
        spans = []
        for place in range(0, 40, 8):  # with a place between any two
            start = place + rng.randrange(3)
            spans.append((start, start + rng.randrange(5)))
        taken = TakenPlaces(rng.sample(spans, len(spans)))
        for _ in range(20):
            start = rng.randrange(45)
            end = start + rng.choice((0, 0, 1, 2, 7))
            put = rng.choice(("x", " x", "x ", " x "))
            edit = Edit(start=start, end=end, text=put)
            assert taken.is_met_by((start, end, put)) == any(touches(edit, one) for one in spans)
            wide = Edit(start=start, end=end, text="x")
            assert taken.meets(start, end) == any(touches(wide, one) for one in spans)


def test_what_is_drawn_depends_on_seed_and_key_alone():
    given = jobs("coherence")
    first, again, other = (dict(_texts(given, seed)) for seed in (0, 0, 1))
    assert first == again != other
    assert dict(_texts(reversed(given), 0)) == first
    (renamed,) = jobs("coherence", TEXTS[:1], key="another key")
    assert next(iter(_texts([renamed], 0)))[1] != first[given[0].key]


def _texts(given, seed):
    for job, found in sequences(given, 5, seed=seed):
        yield job.key, [one.text for one in found]


def test_sentences_of_other_sources_are_what_leads_away():
    side = SubAspect(criterion="coherence", name="one subject")
    donors = Donors(
        RatedItem(source_id=str(place), source=text, response=text)
        for place, text in enumerate(TEXTS)
    )
    (job, _) = jobs("coherence", sub_aspects=(side,))
    ((_, made),) = inject_each([job], seed=0, donors=donors)
    ((start, end),) = made.errors[0].spans
    assert made.text[start:end].strip() in TEXTS[1]


def test_no_sequence_is_without_a_step():
    with pytest.raises(ValueError, match="at least 1 step; got 0"):
        next(sequences(jobs("fluency"), 0, seed=0))
