"""Errors by rule: as many as asked for, each at its own place, the same for the same seed."""

import itertools
from collections import Counter
from random import Random

import pytest

from judgesmith.programs.lm import model
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.programs.perturbing.error_rules import (
    NO_ROOM,
    injected_by_rule,
    known_sub_aspects,
)
from judgesmith.programs.perturbing.injecting import (
    Counts,
    InjectionJob,
    drawn_sub_aspects,
    inject_each,
    sequences,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Edit, SubAspect, Target, with_error

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


@pytest.mark.parametrize("criterion", CRITERIA)
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


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n", [1, 4, 8])
def test_so_many_errors_at_once_as_sub_aspects_are_listed(criterion, n):
    drawn = drawn_sub_aspects(known_sub_aspects(criterion), n, Random(n))
    for _, made in inject_each(jobs(criterion, sub_aspects=drawn), seed=0):
        assert made.n_errors == n
        assert {one.sub_aspect for one in made.errors} <= {one.name for one in drawn}
        ordered = sorted(span for one in made.errors for span in one.spans)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(ordered))


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


def test_errors_of_a_text_are_kept_where_more_are_put_in():
    (job,) = jobs("fluency", TEXTS[:1])
    ((_, first),) = inject_each([job], seed=0)
    ((_, found),) = sequences([job.model_copy(update={"target": first})], 2, seed=0)
    assert found[0] == first
    assert [one.n_errors for one in found] == [4, 5, 6]


def test_a_short_text_has_a_short_sequence_and_too_many_errors_at_once_are_none():
    side = SubAspect(criterion="consistency", name="names and numbers")
    given = jobs("consistency", ["Ann met 3 men."], sub_aspects=(side,))
    counts = Counts()
    ((_, found),) = sequences(given, 9, seed=0, counts=counts)
    assert 1 < len(found) < 10
    assert (counts.short, counts.lost, dict(counts.dropped)) == (1, 0, {NO_ROOM.reason: 1})
    several = [given[0].model_copy(update={"sub_aspects": (side,) * 9})]
    ((_, made),) = inject_each(several, seed=0, counts=counts)
    assert made == NO_ROOM
    assert counts.dropped == Counter({NO_ROOM.reason: 2})


@pytest.mark.parametrize("criterion", CRITERIA)
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


def test_the_offline_model_has_rules_stand_in_without_a_call():
    given, counts = jobs("fluency"), Counts()
    lm = model("offline", ledger=None)
    assert list(sequences(given, 3, lm, seed=0, counts=counts)) == list(sequences(given, 3, seed=0))
    assert counts.asked == 0


@pytest.mark.parametrize(
    "text", ["她走了。他留下来。天下雨了。", "Он ушел. Она осталась дома. Шёл дождь."]
)
@pytest.mark.parametrize("criterion", ["fluency", "coherence"])
def test_texts_in_other_languages_have_errors_that_need_no_english(text, criterion):
    ((_, found),) = sequences(jobs(criterion, [text]), 3, seed=0)
    assert len(found) == 4


def test_all_sub_aspects_are_drawn_once_before_any_is_drawn_again():
    sides = [SubAspect(criterion="c", name=name) for name in "abc"]
    for seed in range(5):
        drawn = [one.name for one in drawn_sub_aspects(sides, 8, Random(seed))]
        assert set(drawn[:3]) == set(drawn[3:6]) == set("abc")
        assert len(set(drawn[6:])) == 2
    with pytest.raises(ValueError, match="at least one sub-aspect"):
        drawn_sub_aspects([], 1, Random(0))


def test_no_sequence_is_without_a_step():
    with pytest.raises(ValueError, match="at least 1 step; got 0"):
        next(sequences(jobs("fluency"), 0, seed=0))
