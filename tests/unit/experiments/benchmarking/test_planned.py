"""What a benchmark will ask: as many questions as it then does where every text has room."""

import pytest

from judgesmith.experiments.benchmark.beginning import start_of
from judgesmith.experiments.benchmark.building import planned_steps
from judgesmith.experiments.benchmark.models import BenchmarkModels, check_benchmark_roles
from judgesmith.experiments.benchmark.settings import ROLES, BenchmarkSettings
from judgesmith.programs.lm import model


def planned(dataset, **settings):
    own = model("offline", ledger=None)
    by_role = dict.fromkeys(ROLES, own) | settings.pop("roles", {})
    start = start_of(dataset, BenchmarkSettings(**settings))
    return {one.step: one for one in planned_steps(start, BenchmarkModels(by_role=by_role))}


def asked(made):
    return {one["step"]: one["questions"] for one in made.report["questions"] if one["questions"]}


def test_a_local_benchmark_asks_what_was_planned(articles, sequences):
    found = planned(articles, perspective="local", steps=4, n_references=2)
    assert {step: one.calls for step, one in found.items()} == asked(sequences)


def test_a_global_benchmark_asks_no_more_than_was_planned(articles, ratings):
    found = planned(
        articles,
        perspective="global",
        criteria=("fluency",),
        n_candidates=0,
        per_rating=1,
        n_anchors=2,
        n_samples=2,
        n_references=2,
    )
    done = asked(ratings)
    assert set(done) == set(found)
    for step, one in found.items():
        assert 0.5 * one.calls < done[step] <= one.calls, step


def test_a_model_that_puts_errors_in_is_asked_for_each_and_three_times_at_most(articles):
    injector = model("openai/m", api_base="http://127.0.0.1:9/v1", ledger=None)
    found = planned(
        articles, perspective="local", steps=5, n_candidates=3, roles={"injector": injector}
    )
    step = found["errors put in"]
    assert (step.role, step.model, step.calls, step.max_calls) == (
        "injector",
        "openai/m",
        2 * 4 * 5,
        3 * 2 * 4 * 5,
    )
    assert found["references written"].calls == 12


@pytest.mark.parametrize(
    ("role", "says"), [("compare", "did you mean comparator"), ("x", "it has writer, injector")]
)
def test_a_role_that_nobody_has_is_refused_with_the_nearest(role, says):
    with pytest.raises(ValueError, match=says):
        check_benchmark_roles([role])
