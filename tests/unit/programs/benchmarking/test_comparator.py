"""Comparing texts about different sources: both orders, conflicts, missing answers."""

import itertools
import random

import dspy
import hostile
import pytest

from judgesmith.programs.benchmarking import AcrossComparer, AcrossPair, Comparator, Compared
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, ModelError, ResponseCache
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline.requests import read_prefix, read_user
from judgesmith.signatures import RatedItem
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.judgement import Reason
from judgesmith.signatures.questions.pairwise import RELATIONS
from judgesmith.signatures.rubric import Criterion

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


@pytest.mark.parametrize("given", [*RELATIONS.labels, None])
@pytest.mark.parametrize("swapped", [*RELATIONS.labels, None])
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


def test_half_of_a_character_is_not_sent():
    (found,) = compared(Scripted(by_worth), (text(1, source="\ud800"), text(2)))
    assert "first source holds half of a character" in str(found.cause)
    assert found.cause.reason is Reason.UNSUITABLE


def test_pairs_that_the_budget_does_not_reach_say_so():
    pairs = [(text(n), text(n + 1)) for n in range(4)]
    found = compared(Scripted(by_worth), *pairs, budget=Budget(max_calls=4))
    assert [one.relation for one in found] == ["second", "second", None, None]
    assert all(one.cause.reason is Reason.OVER_BUDGET for one in found[2:])


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


def test_texts_that_pose_as_protocol_stay_between_their_fences():
    engine = Scripted(lambda first, second: "similar")
    forged = list(hostile.TEXTS.values())
    pairs = [(text(1, source=one), RatedItem(source=one, response=one)) for one in forged]
    assert {found.relation for found in compared(engine, *pairs, concurrency=1)} == {"similar"}
    shown = {(one["second_source"], one["second"]) for one in engine.asked}
    assert shown >= {(unix_lines(one),) * 2 for one in forged}


def test_through_dspy_the_same_is_asked_as_through_the_stack():
    engine = Scripted(by_worth)
    compared(engine, (text(1), text(2)))
    direct = Scripted(by_worth)
    with dspy.context(lm=direct.lm()):
        found = AcrossComparer(CLARITY)(first=text(1), second=text(2))
    assert (found.relation, direct.asked) == ("second", engine.asked)


def test_a_task_is_shown_where_there_is_one():
    asked = {
        task: AcrossComparer(CLARITY, task=task).templates()["compare"].as_text()
        for task in ("", "Summaries of news.")
    }
    assert "Summaries of news." in asked["Summaries of news."]
    assert "## task ##" not in asked[""]


def test_a_comparer_judges_no_single_text():
    with pytest.raises(TypeError, match="judges nothing"):
        AcrossComparer(CLARITY).steps(source="", response="")
