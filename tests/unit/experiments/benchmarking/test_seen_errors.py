"""What the comparator of a benchmark notices, kind by kind, and how its raters are asked."""

import math

import pytest

from judgesmith.experiments.benchmark.anchor_texts import model_ratings
from judgesmith.experiments.benchmark.models import UnfinishedError
from judgesmith.experiments.benchmark.plan import OneMore, seen_errors
from judgesmith.experiments.benchmark.rows import BenchmarkSource
from judgesmith.programs.benchmarking import Compared
from judgesmith.programs.lm import LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.perturbation import InjectedError, Target
from judgesmith.signatures.rubric import Criterion


class Sayer:
    """A comparator that says what it was told to, pair by pair."""

    def __init__(self, *said):
        self.said = said

    def each(self, pairs, *, progress=None):
        for pair, one in zip(pairs, self.said, strict=True):
            cause = None if one else Cause(Reason.UNREADABLE, "no answer")
            yield pair, Compared(given=one, swapped=one, cause=cause)


def one_more(source, *kinds):
    errors = [
        InjectedError(sub_aspect="side", kind=kind, spans=((0, 1),), removed=("",))
        for kind in kinds
    ]
    item = RatedItem(source_id=source, source=f"about {source}", response="")
    return OneMore(
        source=BenchmarkSource(id=source, first=item, indices=(0,)),
        better=Target(text="good", errors=tuple(errors[:-1])),
        worse=Target(text="worse", errors=tuple(errors)),
    )


def test_an_error_is_seen_where_the_text_without_it_wins_and_is_of_the_kind_put_in_last():
    pairs = [
        one_more("a", "typo"),
        one_more("a", "typo", "gap"),
        one_more("b", "typo"),
        one_more("b", "typo", "gap"),
    ]
    found = seen_errors(pairs, Sayer("first", "second", "first", "similar"))
    assert (found.accuracy.value, found.similar, found.n_unanswered) == (0.5, 0.25, 0)
    shares = {one.kind: (one.seen.value, one.fooled) for one in found.kinds}
    assert shares == {"gap (side)": (0.0, 0.5), "typo (side)": (1.0, 0.0)}


def test_pairs_without_an_answer_are_left_out_and_counted():
    pairs = [one_more(name, "typo") for name in "abc"]
    said = []
    found = seen_errors(pairs, Sayer("first", None, "similar"), note=said.append)
    assert said == [
        "1 of 3 pairs that the comparator was checked with have no answer, for example: no answer."
    ]
    assert (found.accuracy.value, found.accuracy.n, found.similar) == (0.5, 2, 0.5)
    assert found.n_unanswered == found.kinds[0].n_unanswered == 1
    silent = seen_errors(pairs[:1], Sayer(None))
    assert math.isnan(silent.accuracy.value)
    assert math.isnan(silent.similar)


def test_pairs_that_the_budget_did_not_reach_end_the_run():
    spent = Cause(Reason.OVER_BUDGET, "not asked", detail="the budget of 2 calls is spent.")

    class Spent:
        def each(self, pairs, *, progress=None):
            for pair in pairs:
                yield pair, Compared(cause=spent)

    with pytest.raises(UnfinishedError, match="the budget of 2 calls"):
        seen_errors([one_more("a", "typo")], Spent())


def test_ratings_are_samples_at_temperature_1_and_those_unread_are_undefined():
    asked = []

    class Engine:
        endpoint = "scripted"

        def answer(self, request):
            asked.append((request.settings.temperature, request.sample))
            return ModelAnswer(text="Well.", input_tokens=1, output_tokens=1)

    lm = ClientLM.over(LMClient(Engine()), "scripted", recipe={}, temperature=0.0)
    wit = Criterion(name="wit", definition="Is it witty?")
    item = RatedItem(source="It rained.", response="It rained.")
    ((one, two),) = model_ratings([item], wit, Scale(low=1, high=3), 2, lm=lm)
    assert math.isnan(one)
    assert math.isnan(two)
    assert {temperature for temperature, _ in asked} == {1.0}
    assert len(set(asked)) == len(asked) >= 2
