"""The search by effects of options: calls within the bound, strong options taken, noise left."""

from dataclasses import replace

import numpy as np
import pytest
from looping import for_each

import judgesmith
from benchmarks.harness import NotRun
from benchmarks.simulated_endpoint.runs import Task
from benchmarks.simulated_endpoint.serving import simulated_lm
from judgesmith import optimizers as o
from judgesmith.optimizers.search.effect_model import best_average
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import Budget, ResponseCache, lm_client_of


@pytest.fixture(scope="module")
def simulated():
    """Return a task on a simulated model to which prompts matter, and one to which none does."""

    try:
        return {
            null: Task.drawn("topical_chat", 3, is_null=null, n_fresh=20) for null in (False, True)
        }
    except NotRun as reason:
        pytest.skip(str(reason))


def searched(task, ledger=None, **settings):

    task.world.asked.clear()
    lm = simulated_lm(task.world, ledger=ledger)
    search = o.EffectSearch(lm=lm, seed=3, **settings)
    judge = search.compile(ActiveCritic(), trainset=task.examples)
    return search, judge, lm_client_of(lm).usage.calls


def test_effects_take_no_more_calls_than_estimated(simulated):
    task = simulated[False]
    search, _, calls = searched(task, effort="light")
    assert search.n_calls_at_most_ == 2 * len(task.examples) * 2
    assert calls <= 1.1 * search.n_calls_at_most_
    assert search.trials_[0].number == 0
    assert len(search.trials_) > 1
    assert isinstance(search.gain_, o.CrossFittedGain)
    assert search.gain_.n_rows == search.trials_[0].n_rows


def test_effects_of_a_model_to_which_no_prompt_matters_keep_the_baseline(simulated):
    task = simulated[True]
    search, judge, calls = searched(task, effort="medium")
    assert search.views_ == (0,)
    assert search.taken_ == 0
    assert judge.protocol == ActiveCritic().protocol
    assert calls <= 2 * len(task.examples) * 2


def test_effects_take_a_strong_option(simulated):

    task = simulated[False]
    effects = replace(task.world.effects, changes={"cot_free": 0.8}, typical=0.0)
    strong = replace(task, world=replace(task.world, effects=effects, agreement={}))
    search, judge, _ = searched(strong, effort="medium")
    assert judge.protocol.explain == "none"
    assert search.taken_ > 0
    assert search.expected_ > 0.1


@for_each(
    ("scores", "members", "sharper"),
    [
        pytest.param([[1, 2] * 10, [1, 2] * 10], (1, 0), 1.0, id="equal answers"),
        pytest.param([[1, 2] * 10, [1, 1, 2, 2] * 5], (1, 0), 2**0.5, id="unrelated answers"),
        pytest.param([[1, 2] * 10, [2, 1] * 10], (1, 0), 2**0.5, id="opposed answers"),
        pytest.param([[1, 2] * 10, [1] * 20], (1, 0), 1.0, id="one answer for all"),
        pytest.param([[1, 2, 3], [3, 1, 2]], None, 0.0, id="too few rows"),
    ],
)
def test_what_an_average_adds_follows_from_its_members_correlation(scores, members, sharper):
    found = best_average(
        1.0, np.array([0.0, 0.2]), np.array([0.0, 0.1]), np.array(scores, float), most=2
    )
    if members is None:
        assert found is None
        return
    assert found.members == members
    assert found.gain == pytest.approx(1.1 * sharper - 1.0)
    assert found.error == pytest.approx(0.05 * sharper)


def test_an_interrupted_search_of_effects_ends_as_if_it_was_not(simulated, tmp_path):

    task = simulated[False]
    whole, judge, calls = searched(task, effort="light")
    place = tmp_path / "answers.sqlite"
    task.world.asked.clear()
    lm = simulated_lm(task.world, ledger=ResponseCache(place), budget=Budget(max_calls=200))
    cut = o.EffectSearch(lm=lm, seed=3, effort="light")
    cut.compile(ActiveCritic(), trainset=task.examples)
    assert not cut.complete_
    again, found, rest = searched(task, ledger=ResponseCache(place), effort="light")
    assert found.protocol == judge.protocol
    assert again.trials_ == whole.trials_
    assert rest < calls
    with pytest.raises(ValueError, match="effort"):
        o.EffectSearch(effort="none")


def test_a_gain_that_no_block_defines_ends_the_search():
    # Within a source of two rows, both in order, every judge agrees as well as any other.
    rows = [
        {
            "source_id": str(n),
            "source": f"The bridge of town {n} opened on Monday.",
            "response": text.format(n),
            "score": score,
        }
        for n in range(12)
        for text, score in (("The bridge of town {} opened.", 1), ("the the brige ,, of {}", 0))
    ]
    found = judgesmith.compile(rows, judge="pairs", scale="0..1", holdout=0, progress=False)
    assert found.judge.protocol.judge == "pairs"
    assert found.notes
