"""The simulated endpoint answers over HTTP what it answers in the process that asks."""

import numpy as np
import pytest

from benchmarks.harness import NotRun
from benchmarks.simulated_endpoint.runs import Task
from benchmarks.simulated_endpoint.serving import served, simulated_lm
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.lm import model


def task(**given):
    try:
        return Task.drawn("topical_chat", 1, n_fresh=24, **given)
    except NotRun as reason:
        pytest.skip(str(reason))


def scores(judge, one, lm):
    one.world.asked.clear()
    return [found.score for found in score_batch(judge, one.fresh, lm=lm)]


def test_http_and_the_process_give_the_same_answers(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    one, judge = task(), ActiveCritic(overall="mean")
    near = scores(judge, one, simulated_lm(one.world))
    with served(one.world) as address:
        far = scores(judge, one, model("openai/simulated", api_base=address, ledger=None))
    assert near == far
    assert len(set(near)) > 5


def test_prompts_differ_in_a_world_and_are_alike_in_a_null_world():
    for is_null in (False, True):
        one = task(is_null=is_null)
        lm = simulated_lm(one.world)
        before, after = (scores(ActiveCritic(explain=how), one, lm) for how in ("before", "after"))
        assert (before == after) is is_null


def test_better_prompts_agree_better_with_the_ratings():
    one = task()
    assert one.expected(ActiveCritic()) > one.expected(ActiveCritic(variant="vanilla"))
    assert np.std(one.human) > 0
