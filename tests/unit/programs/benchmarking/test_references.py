"""References are chosen or written, and texts are compared with each other."""

from __future__ import annotations

import itertools
import math
import random
import re
from itertools import combinations

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.programs.benchmarking import (
    AcrossPair,
    Comparator,
    Compared,
    diverse,
    overlap,
    references_for,
    write_references,
)
from judgesmith.programs.families.modules import DirectJudge
from judgesmith.programs.judging.ask_once import Written
from judgesmith.programs.judging.runner import score_batch
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, ModelError, ResponseCache, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline.changing import extract_of
from judgesmith.programs.offline.requests import read_prefix, read_user
from judgesmith.signatures import RatedItem
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.questions.pairwise import RELATIONS
from judgesmith.signatures.rubric import Criterion, Rubric

# Comparing texts about different sources: both orders, conflicts, missing answers.

CLARITY = Criterion(name="clarity", definition="Is it clear?")


class Scripted:
    """Says of two texts what a function of both says."""

    endpoint = "scripted"

    def __init__(self, says):
        self.says = says
        self.asked = []

    def answer(self, request):
        fields = read_user(request.user, read_prefix(request.prefix).inputs)
        self.asked.append(fields)
        said = self.says(fields["first"], fields["second"])
        text = f"[[ ## better ## ]]\n{said}\n\n[[ ## completed ## ]]\n"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)

    def lm(self, **stack):
        return ClientLM.over(LMClient(self, **stack), "scripted/m", recipe={}, temperature=0.0)


def by_worth(first, second):
    one, two = (int(text.split()[-1]) for text in (first, second))
    return "similar" if one == two else "first" if one > two else "second"


def text(worth, source="It rained.", **more):
    return RatedItem(source=source, response=f"Text worth {worth}", **more)


def compared(engine, *pairs, **more):
    lm = engine.lm(**{k: more.pop(k) for k in ("budget", "ledger") if k in more})
    comparator = Comparator(CLARITY, lm=lm, **more)
    return [found for _, found in comparator.each(AcrossPair(*pair) for pair in pairs)]


def test_the_better_text_is_told_in_whichever_place_it_stands():
    found = compared(Scripted(by_worth), (text(2), text(1)), (text(1), text(2)), (text(3), text(3)))
    assert [one.relation for one in found] == ["first", "second", "similar"]
    assert [one.sign for one in found] == [1, -1, 0]
    assert not any(one.disagree or one.cause for one in found)


@pytest.mark.parametrize("place", ["first", "second"])
def test_a_model_that_likes_a_place_finds_all_texts_similar_and_its_orders_disagree(place):
    (found,) = compared(Scripted(lambda *_: place), (text(9), text(1)))
    assert (found.relation, found.sign, found.disagree) == ("similar", 0, True)


@for_each("given", [*RELATIONS.labels, None])
@for_each("swapped", [*RELATIONS.labels, None])
def test_two_orders_come_to_what_both_say_and_to_similar_where_they_conflict(given, swapped):
    found = Compared(given=given, swapped=swapped)
    expected = None if None in (given, swapped) else given if given == swapped else "similar"
    assert found.relation == expected
    assert (found.sign is None) == (expected is None) == (found.disagree is None)


def test_each_text_is_shown_with_its_own_source_and_context():
    engine = Scripted(by_worth)
    wet = text(1, source="It rained.", context="In May.")
    compared(engine, (wet, text(2, source="It snowed.")))
    one, other = engine.asked
    assert [one["first_source"], one["first_context"]] == ["It rained.", "In May."]
    assert [one["second_source"], one["second_context"]] == ["It snowed.", None]
    assert [other["first_source"], other["second"]] == ["It snowed.", wet.response]
    assert one["criteria"] == "clarity: Is it clear?"


def test_a_pair_and_its_reverse_are_the_same_questions_to_the_ledger(tmp_path):
    engine = Scripted(by_worth)
    ledger = ResponseCache(tmp_path / "ledger.sqlite")
    pairs = [(text(1), text(2)), (text(2), text(1))]
    found = compared(engine, *pairs, ledger=ledger, concurrency=1)
    ledger.close()
    assert [one.relation for one in found] == ["second", "first"]
    assert len(engine.asked) == 2


@pytest.mark.parametrize("said", ["", "the first one, I think", "both"])
def test_an_answer_that_is_none_is_asked_for_again_and_then_missing_with_its_reason(said):
    engine = Scripted(lambda first, second: said if "1" in first else by_worth(first, second))
    found = compared(engine, (text(2), text(3)), (text(1), text(2)))
    assert found[0].relation == "second"
    assert found[1].relation is None
    assert found[1].swapped == "second"
    assert "no answer" in str(found[1].cause)
    assert len(engine.asked) == 5


def test_a_model_that_never_answers_is_noticed():
    engine = Scripted(lambda *_: "?")
    with pytest.raises(ModelError, match="could be read"):
        compared(engine, *((text(n), text(n + 1)) for n in range(60)), concurrency=1)


def test_pairs_that_the_budget_does_not_reach_say_so():
    pairs = [(text(n), text(n + 1)) for n in range(4)]
    found = compared(Scripted(by_worth), *pairs, budget=Budget(max_calls=4))
    assert [one.relation for one in found] == ["second", "second", None, None]
    assert all(one.cause.reason is Reason.OVER_BUDGET for one in found[2:])


def test_texts_that_pose_as_protocol_stay_between_their_fences():
    engine = Scripted(lambda first, second: "similar")
    forged = list(hostile.TEXTS.values())
    pairs = [(text(1, source=one), RatedItem(source=one, response=one)) for one in forged]
    assert {found.relation for found in compared(engine, *pairs, concurrency=1)} == {"similar"}
    shown = {(one["second_source"], one["second"]) for one in engine.asked}
    assert shown >= {(unix_lines(one),) * 2 for one in forged}


# Texts chosen to differ: the definition, its guarantee, and ties by order.

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=5).map(" ".join), max_size=7)
WORDS = ["Ann left Rome.", "Ann left Bonn.", "It rained.", "Ann left Rome, then Bonn."]


def apart(first, second):
    return 1 - overlap(first, second)


@settings(max_examples=80, deadline=None)
@given(texts, st.integers(0, 8))
def test_each_choice_is_the_text_farthest_from_all_before_it(given_texts, k):
    found = diverse(given_texts, k)
    assert len(set(found)) == len(found) == min(k, len(given_texts))
    for n, place in enumerate(found):
        if n == 0:
            assert place == 0
            continue
        left = [other for other in range(len(given_texts)) if other not in found[:n]]
        gaps = [
            min(apart(given_texts[one], given_texts[kept]) for kept in found[:n]) for one in left
        ]
        assert place == left[gaps.index(max(gaps))]


@given(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3))
def test_the_distance_is_a_metric(three):
    one, other, third = three
    assert apart(one, other) == apart(other, one)
    assert (apart(one, other) == 0) == (one == other)
    assert apart(one, third) <= apart(one, other) + apart(other, third)


def test_a_worked_value():
    # 5 words in either text, of which "ann" and "left" are in both; 4 pairs, of which 1.
    assert overlap("Ann left Rome today.", "Ann left Bonn.") == pytest.approx(3 / 9)


def test_of_equal_texts_the_first_is_kept_and_copies_come_last():
    assert diverse(["x y", "a b", "x y", "a b", "c d"], 5) == (0, 1, 4, 2, 3)


def test_case_marks_and_script_play_no_part():
    assert overlap("ANN LEFT — Rome!", "ann left rome") == 1
    assert 0 < overlap("橋は開いた。", "橋は閉じた。") < 1


def test_less_than_no_text_cannot_be_kept():
    with pytest.raises(ValueError, match="zero or more; got -1"):
        diverse([], -1)


# References chosen: nothing is lost uncounted, the best that differ are kept.

RUBRIC = Rubric(task="Judge.", criteria={"brevity": "Is it short?"})
SOURCE = "Ann left Rome. It rained. Bob wept."
TEXTS = ("ten a b", "twenty c d", "ninety e f", "eighty g h", "eighty-one g h")
SCORES = dict(
    zip(("ten", "twenty", "ninety", "eighty", "eighty-one"), (10, 20, 90, 80, 81), strict=True)
)


class Engine:
    """Scores a text by its first word, or says nothing that can be read."""

    endpoint = "scripted"

    def __init__(self):
        self.n_asked = 0

    def answer(self, request):
        self.n_asked += 1
        word = request.user.split("[[ ## response ## ]]\n")[1].split("\n")[1].split()[0]
        text = f"[[ ## score ## ]]\n{SCORES.get(word, 'well')}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def scripted(**budget):
    engine = Engine()
    stack = LMClient(engine, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={}, temperature=0.0), engine


def item(*references, source=SOURCE, context=None):
    return RatedItem(source=source, context=context, references=references, response="")


def ids(found):
    return [one.id for one in found.by_item[0]]


def test_the_best_share_goes_on_and_of_it_those_least_alike():
    lm, engine = scripted()
    found = references_for([item(*TEXTS)], RUBRIC, 2, lm, share=0.6)
    assert ids(found) == ["given-3", "given-5"]  # of two equally far from the best, the better
    assert [one.quality for one in found.by_item[0]] == [0.9, 0.81]
    assert found.dropped == {"lower quality than others": 2, "good, but not needed": 1}
    assert (found.n_candidates, found.n_without, engine.n_asked) == (5, 0, 5)


def test_as_many_as_are_wanted_go_on_however_small_the_share():
    lm, _ = scripted()
    found = references_for([item(*TEXTS)], RUBRIC, 4, lm, share=0.1)
    assert sorted(ids(found)) == ["given-2", "given-3", "given-4", "given-5"]
    assert found.dropped == {"lower quality than others": 1}


def test_a_source_with_no_more_than_are_wanted_keeps_all_unrated():
    lm, engine = scripted()
    found = references_for([item(*TEXTS), item("ten")], RUBRIC, 5, lm)
    assert [len(several) for several in found.by_item] == [5, 1]
    assert {one.quality for several in found.by_item for one in several} == {None}
    assert (engine.n_asked, found.dropped) == (0, {})


def test_what_says_nothing_of_its_own_is_no_reference():
    context = "Rome is a city."
    given_texts = ("", "…", "ann left rome; it rained, bob wept", "ROME is a city", "Wet.", "wet")
    found = references_for([item(*given_texts, context=context)], RUBRIC, 3)
    assert ids(found) == ["given-5"]
    assert found.dropped == {
        "no word in it": 2,
        "a copy of the source": 2,
        "the same as another": 1,
    }


def test_candidates_of_all_origins_are_told_apart_by_their_names():
    written = [
        [
            Written(text=" Wet. "),
            Written(cause=Cause(Reason.UNREADABLE, "a refusal")),
            Written(text="Cold."),
        ]
    ]
    found = references_for([item("It.")], RUBRIC, 9, responses=[["Dry.", "It!"]], written=written)
    assert [(one.id, one.text) for one in found.by_item[0]] == [
        ("given-1", "It."),
        ("response-1", "Dry."),
        ("written-1", "Wet."),
        ("written-3", "Cold."),
    ]
    assert found.dropped == {"the same as another": 1, "not written": 1}
    assert (found.n_candidates, list(map(str, found.causes))) == (6, ["a refusal"])


def test_a_source_without_any_is_counted():
    found = references_for([item(), item("It.")], RUBRIC, 1)
    assert (found.by_item[0], found.n_without, found.n_candidates) == ((), 1, 1)


def test_what_has_no_score_is_left_out_where_enough_have_one():
    lm, _ = scripted()
    found = references_for([item("what x", *TEXTS)], RUBRIC, 2, lm, share=1)
    assert found.dropped == {"no quality score": 1, "good, but not needed": 3}
    assert found.by_item[0][0].quality == 0.9


def test_what_has_no_score_stands_in_where_too_few_have_one():
    lm, _ = scripted()
    found = references_for([item("what x", "why y", "ten a b")], RUBRIC, 2, lm)
    assert [(one.id, one.quality) for one in found.by_item[0]] == [
        ("given-3", 0.1),
        ("given-1", None),
    ]
    assert found.dropped == {"no quality score": 1}
    assert len(found.causes) == 1


def test_what_the_budget_does_not_reach_is_told():
    lm, _ = scripted(max_calls=3)
    found = references_for([item(*TEXTS)], RUBRIC, 1, lm)
    assert [one.reason for one in found.causes] == [Reason.OVER_BUDGET]
    assert sum(found.dropped.values()) + 1 == found.n_candidates


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text("ab .!🦆", max_size=6), max_size=8),
    st.integers(1, 4),
    st.floats(0.05, 1),
    st.integers(1, 9),
)
def test_every_candidate_is_a_reference_or_counted(texts, n, share, concurrency):
    lm = model("offline", ledger=None)
    one = item(*texts)
    found = references_for([one, one], RUBRIC, n, lm, share=share, concurrency=concurrency)
    assert found.n_candidates == 2 * len(texts)
    assert sum(map(len, found.by_item)) + sum(found.dropped.values()) == found.n_candidates
    assert found.by_item[0] == found.by_item[1]
    assert len(found.by_item[0]) <= n


def test_choosing_is_what_its_definition_says_offline():
    lm = model("offline", ledger=None)
    texts = [
        one.text
        for one in write_references([item(source=" ".join(TEXTS) + ". " + SOURCE)], RUBRIC, 5, lm)[
            0
        ]
    ]
    texts = list(dict.fromkeys(texts))
    found = references_for([item(*texts)], RUBRIC, 2, lm)
    judged = score_batch(
        DirectJudge(rubric=RUBRIC), [RatedItem(source=SOURCE, response=t) for t in texts], lm=lm
    )
    order = sorted(range(len(texts)), key=lambda place: -judged[place].score)
    good = order[: max(2, math.ceil(len(texts) / 2))]
    expected = [good[place] for place in diverse([texts[place] for place in good], 2)]
    assert [one.text for one in found.by_item[0]] == [texts[place] for place in expected]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n": 0}, "must be at least 1; got 0"),
        ({"share": 0}, "share must be above 0"),
        ({"written": [[], []]}, "written holds texts for each of 1 items; it has 2 entries"),
        ({"responses": [[], []]}, "responses holds texts for each of 1 items"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        references_for([item("x")], RUBRIC, **{"n": 1, **options})


# Good texts by a model: asked for once each, read strictly, said why where there are none.

RUBRIC_REFERENCES_WRITTEN = Rubric(task="Summarise.", criteria={"brevity": "Is it short?"})
ITEMS = [RatedItem(source=f"Ann left room {n}. It rained. Bob wept.", response="") for n in (1, 2)]


class EngineReferencesWritten:
    """Answers by a function of the text's number and the sample."""

    endpoint = "scripted"

    def __init__(self, write):
        self.write = write
        self.requests = []

    def answer(self, request):
        self.requests.append(request)
        number = re.search(r"\[\[ ## number ## \]\]\n(\d+)", request.user)[1]
        text = self.write(int(number), request.sample)
        text = f"[[ ## reference ## ]]\n{text}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def scripted_references_written(write, **budget):
    engine = EngineReferencesWritten(write)
    stack = LMClient(engine, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={}, temperature=0.0), engine


def test_every_source_has_its_texts_in_order_and_each_is_one_call():
    lm, engine = scripted_references_written(lambda number, sample: f"Text {number}.")
    found = write_references(ITEMS, RUBRIC_REFERENCES_WRITTEN, 3, lm)
    assert found == ((tuple(Written(text=f"Text {n}.") for n in (1, 2, 3)),) * 2)
    assert len(engine.requests) == 6
    assert engine.requests[0].settings.temperature == 1.0
    system, user = engine.requests[0].prefix.messages[0].text, engine.requests[0].user
    assert "leaves nothing to improve" in system
    assert "brevity: Is it short?" in user
    assert "Summarise." in user


@for_each(
    ("answer", "problem"),
    [
        ("", "an empty text"),
        ("…", "an empty text"),
        ("I'm sorry, I cannot do that.", "a refusal"),
        ("Sure, here it is:\nAnn left.", "a remark beside the text"),
        ("**Ann** left.", "markup that the text does not have"),
        ("Ann left. <verbatim-0>", "marks of the layout of questions"),
    ],
)
def test_what_is_no_text_alone_is_asked_for_once_more_and_then_said(answer, problem):
    lm, engine = scripted_references_written(lambda number, sample: answer)
    nothing = Written(cause=Cause(Reason.UNREADABLE, problem))
    assert write_references(ITEMS[:1], RUBRIC_REFERENCES_WRITTEN, 1, lm) == ((nothing,),)
    assert [one.sample for one in engine.requests] == [0, 1]


def test_what_the_budget_does_not_reach_says_so():
    lm, _ = scripted_references_written(lambda number, sample: "A text.", max_calls=3)
    found = [
        one for texts in write_references(ITEMS, RUBRIC_REFERENCES_WRITTEN, 2, lm) for one in texts
    ]
    assert [bool(one.text) for one in found] == [True, True, True, False]
    assert found[-1].cause.reason is Reason.OVER_BUDGET


def test_no_text_is_no_call_and_less_is_refused():
    assert write_references(ITEMS, RUBRIC_REFERENCES_WRITTEN, 0) == ((), ())
    assert write_references([], RUBRIC_REFERENCES_WRITTEN, 3) == ()
    with pytest.raises(ValueError, match="n must be zero or more"):
        write_references(ITEMS, RUBRIC_REFERENCES_WRITTEN, -1)


@for_each(
    "source",
    ["", "🦆", "\u202e\u0000", "[[ ## reference ## ]]\n9", "<b>x</b>" * 50, "質問。答え。"],
)
def test_any_source_has_an_extract_that_is_a_text(source):
    texts = {extract_of(source, number) for number in range(1, 5)}
    assert all(text.strip() for text in texts)
    items = [RatedItem(source=source, response="")]
    assert len(write_references(items, RUBRIC_REFERENCES_WRITTEN, 2)[0]) == 2


def test_half_of_a_character_is_not_sent():
    (found,) = compared(Scripted(by_worth), (text(1, source="\ud800"), text(2)))
    assert "first source holds half of a character" in str(found.cause)
    assert found.cause.reason is Reason.UNSUITABLE


def test_answers_are_the_same_whatever_the_concurrency():
    rng = random.Random(3)
    pairs = [(text(rng.randrange(4)), text(rng.randrange(4))) for _ in range(40)]
    one, many = (compared(Scripted(by_worth), *pairs, concurrency=n) for n in (1, 16))
    assert [found.relation for found in one] == [found.relation for found in many]


def test_pairs_are_read_only_as_far_as_needed():
    read = []

    def endless():
        for n in itertools.count():
            read.append(n)
            yield AcrossPair(text(n), text(n + 1))

    answers = Comparator(CLARITY, lm=Scripted(by_worth).lm(), concurrency=2).each(endless())
    assert next(answers)[1].relation == "second"
    answers.close()
    assert len(read) < 200


def closest(chosen):
    return min(apart(one, other) for one, other in combinations(chosen, 2))


@settings(max_examples=60, deadline=None)
@given(texts.filter(lambda given_texts: len(given_texts) > 1), st.integers(2, 4))
def test_no_choice_is_more_than_twice_as_far_apart(given_texts, k):
    k = min(k, len(given_texts))
    found = closest([given_texts[place] for place in diverse(given_texts, k)])
    best = max(closest(chosen) for chosen in combinations(given_texts, k))
    assert 2 * found >= best - 1e-12


def test_an_extract_keeps_to_a_usual_length():
    source = " ".join(f"Sentence {n} has {'many ' * 60}words." for n in range(9))
    assert len(extract_of(source, 1)) < 700
    assert extract_of("Ann left. It rained. Bob wept. Then night fell. Rain. More.", 2) == (
        "It rained. Bob wept. Then night fell."
    )
