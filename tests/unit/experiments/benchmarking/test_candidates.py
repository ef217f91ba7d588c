"""Texts that are to have a rating: what is ordered is made, dropped, or a copy, and counted."""

from dataclasses import replace

import numpy as np
import pytest
from benchmark_texts import rows

from judgesmith.data.items import DataSet
from judgesmith.experiments.benchmark.anchor_texts import LOOKED_AT, texts_looked_at
from judgesmith.experiments.benchmark.beginning import plan_of, start_of
from judgesmith.experiments.benchmark.global_building import COPY, Order, made_candidates
from judgesmith.experiments.benchmark.models import BenchmarkModels, UnfinishedError
from judgesmith.experiments.benchmark.plan import counting
from judgesmith.experiments.benchmark.rows import drawn_sources, sources_of
from judgesmith.experiments.benchmark.settings import ROLES, BenchmarkSettings, rating_levels
from judgesmith.programs.lm import LMClient, ModelAnswer, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.perturbing.orders import ATTEMPTS
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Reason
from judgesmith.signatures.perturbation import Skipped


@pytest.fixture(scope="module")
def plan(articles):
    settings = BenchmarkSettings(perspective="global", n_references=2)
    by_role = dict.fromkeys(ROLES, model("offline", ledger=None))
    made, _ = plan_of(start_of(articles, settings), BenchmarkModels(by_role=by_role))
    return made


def order(plan, n_errors, **more):
    source = plan.sources[0]
    given = {"reference": plan.references[source.id][0], "aimed": 2.0, **more}
    return Order(source=source, n_errors=n_errors, **given)


def test_candidates_have_the_errors_that_were_ordered_each_side_before_any_twice(plan):
    criterion = plan.criteria[0]
    orders = [order(plan, n) for n in (4, 4, 1)]
    found, counts = made_candidates(plan, criterion, orders, step="errors put in")
    assert [one.target.n_errors for one in found] == [4, 4, 1]
    assert found[0].target.text != found[1].target.text
    sides = {one.name for one in plan.sub_aspects[criterion.name]}
    assert {error.sub_aspect for error in found[0].target.errors} == sides
    assert (counts.wanted, counts.made) == (3, 3)


def test_without_errors_a_candidate_is_the_reference_and_a_second_one_a_copy(plan):
    found, counts = made_candidates(
        plan, plan.criteria[0], [order(plan, 0), order(plan, 0, aimed=3.0)], step="errors put in"
    )
    assert [(one.target.text, one.aimed) for one in found] == [(found[0].reference.text, 2.0)]
    assert counts.dropped == {COPY: 1}


def test_errors_of_one_side_alone_can_be_ordered(plan):
    side = plan.sub_aspects["fluency"][1]
    (one,), _ = made_candidates(
        plan, plan.criteria[0], [order(plan, 1, sides=(side,))], step="single errors put in"
    )
    assert one.target.errors[0].sub_aspect == side.name


class Mumbler:
    """Answers nothing that can be read; remembers which answer to a question was wanted."""

    endpoint = "scripted"

    def __init__(self):
        self.samples = []

    def answer(self, request):
        self.samples.append(request.sample)
        return ModelAnswer(text="Well.", input_tokens=1, output_tokens=1)


def test_a_model_that_is_asked_the_same_again_is_asked_for_another_answer(plan):
    engine = Mumbler()
    lm = ClientLM.over(LMClient(engine), "scripted", recipe={}, temperature=0.0)
    asking = replace(plan, models=BenchmarkModels(by_role=dict.fromkeys(ROLES, lm)))
    side = plan.sub_aspects["fluency"][:1]
    orders = [order(plan, 1, sides=side), order(plan, 1, sides=side, aimed=3.0)]
    found, counts = made_candidates(asking, plan.criteria[0], orders, step="errors put in")
    assert (found, counts.dropped.total()) == ([], 2)
    assert sorted(engine.samples) == list(range(2 * ATTEMPTS))


def test_errors_that_the_budget_did_not_reach_end_the_run():
    with counting() as counts:
        counts.outcome(Skipped(reason="unchanged"))
    with (
        pytest.raises(UnfinishedError, match="before all errors were put in"),
        counting() as counts,
    ):
        counts.outcome(Skipped(reason="no answer", code=Reason.OVER_BUDGET))


def test_sources_are_drawn_in_their_order_and_differ_by_seed():
    several = sources_of(DataSet(name="toy", items=tuple(rows(places=tuple("abcdefghij")))))
    drawn = [drawn_sources(several, 4, rng=np.random.default_rng(seed)) for seed in range(4)]
    for own in drawn:
        assert [one.id for one in own] == sorted(one.id for one in own)
    assert len({tuple(one.id for one in own) for own in drawn}) > 1
    assert drawn_sources(several, 99, rng=np.random.default_rng(0)) == several


def test_sources_without_an_id_get_one_and_none_has_that_of_another():
    items = [RatedItem(source=text, response="r") for text in ("a", "b", "a")]
    items.append(RatedItem(source_id="source-1", source="c", response="r"))
    found = sources_of(DataSet(name="toy", items=tuple(items)))
    assert [one.indices for one in found] == [(0, 2), (1,), (3,)]
    assert len({one.id for one in found}) == 3


def test_the_rater_is_shown_what_people_rated_nearest_to_each_rating(articles):
    some = DataSet(name="toy", items=articles.items * 10)
    found = texts_looked_at(some, "fluency", (1.0, 3.0), 1)
    assert len(found) == 2 * LOOKED_AT
    assert {some[index].human["fluency"] for index in found} == {(1.0,), (3.0,)}
    assert texts_looked_at(articles, "fluency", (1.0, 2.0, 3.0), 5) == list(range(12))


def test_of_texts_rated_alike_the_rater_is_shown_such_as_have_different_sources():
    items = [
        RatedItem(source_id=f"{n // 20}", response="r", human={"c": (2,)}, scale={"c": "1..2"})
        for n in range(20 * LOOKED_AT)
    ]
    found = texts_looked_at(DataSet(name="toy", items=tuple(items)), "c", (2.0,), 1)
    assert len({items[index].source_id for index in found}) == len(found) == LOOKED_AT


@pytest.mark.parametrize(
    ("scale", "says"),
    [
        (None, "nobody says what clear is rated on; say --scale clear=LOW..HIGH"),
        (Scale(low=0, high=0.5), "not whole points"),
        (Scale(low=0, high=11), "too many"),
        (Scale(low=0, high=3, higher_is_better=False), "people counted faults on clear"),
    ],
)
def test_a_scale_that_is_none_of_a_few_whole_points_is_refused(scale, says):
    with pytest.raises(ValueError, match=says):
        rating_levels("clear", scale)
    assert rating_levels("clear", Scale(low=0, high=1)) == (0.0, 1.0)
