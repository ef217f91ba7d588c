import math

import optuna
import pytest
from working import at_the_same_time

from judgesmith.optimizers.search.work_queue import WorkQueue
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe
from judgesmith.optimizers.storage import open_storage, quiet
from judgesmith.signatures.space import Space

SPACE = Space(
    choices=[
        {"name": "variant", "options": [{"id": "fine"}, {"id": "vanilla"}]},
        {
            "name": "explain",
            "options": [{"id": "before"}, {"id": "after"}, {"id": "none"}],
            "only_if": {"variant": ["fine"]},
        },
        {"name": "answers", "options": [{"id": "0-100"}, {"id": "1-5"}]},
    ]
)


def proposer(storage=None, *, sampler=tpe, seed=0):
    return Proposer(
        study=open_storage(storage).study("one"), space=SPACE, sampler=sampler, seed=seed
    )


def propose_all(one, n=8):
    tried = {}
    for k in range(n):
        found = one.propose(k, tried)
        if found is not None:
            tried[configuration_id(found[1])] = found
            one.tell(found[0], float(k % 3))
    return tried


@pytest.mark.parametrize(
    "sampler", [tpe, lambda seed: optuna.samplers.RandomSampler(seed=seed)], ids=["tpe", "random"]
)
def test_every_configuration_is_proposed_once_and_then_none(sampler):
    tried = propose_all(proposer(sampler=sampler), n=20)
    assert set(tried) == {configuration_id(one) for one in SPACE.configurations()}
    assert len(tried) == SPACE.size == 8


def test_a_choice_that_does_not_arise_is_not_asked_for():
    for _, picked in propose_all(proposer()).values():
        assert ("explain" in picked) == (picked["variant"] == "fine")


def test_another_seed_proposes_in_another_order():
    first, second = (list(propose_all(proposer(seed=seed))) for seed in (0, 1))
    assert first != second


def test_a_proposal_that_the_study_holds_is_taken_from_there(tmp_path):
    kept = list(propose_all(proposer(tmp_path / "a.journal"), n=4))
    again = list(propose_all(proposer(tmp_path / "a.journal"), n=8))
    assert again[:4] == kept
    assert again == list(propose_all(proposer(), n=8))


def test_what_came_of_a_proposal_is_told_once():
    one = proposer()
    number, _ = one.propose(0, ())
    one.tell(number, 0.5)
    one.tell(number, 0.7)
    assert one.study.trials[number].value == 0.5


def test_what_is_undefined_is_no_value_to_learn_from():
    one = proposer()
    number, _ = one.propose(0, ())
    one.tell(number, math.nan)
    assert one.study.trials[number].state == optuna.trial.TrialState.FAIL


def test_a_trial_that_was_never_a_proposal_is_closed():
    one = proposer()
    left = one.study.ask()
    one.propose(0, ())
    assert one.study.trials[left.number].state == optuna.trial.TrialState.FAIL


def test_workers_that_propose_one_after_the_other_make_the_same_proposals(tmp_path):
    def work():
        kept, one = open_storage(tmp_path / "a.journal"), proposer(tmp_path / "a.journal")
        board, tried = WorkQueue(kept, "turns", poll=0.005), {}
        for k in range(8):
            with board.alone(f"proposal {k}"):
                number, picked = one.propose(k, tried)
            tried[configuration_id(picked)] = number, picked
            one.tell(number, float(k % 3))
        return tried

    with quiet():
        found = at_the_same_time(work, work, work)
    alone = propose_all(proposer())
    assert [list(one) for one in found] == [list(alone)] * 3
    assert found[0] == found[1] == found[2]


def test_a_worker_whose_trial_was_taken_for_abandoned_takes_the_proposal_of_the_other(tmp_path):
    first, second = (proposer(tmp_path / "a.journal") for _ in range(2))
    plain, others = first.study.ask, []

    def asked():
        trial = plain()
        if not others:
            others.append(second.propose(0, ()))
        return trial

    first.study.ask = asked
    assert first.propose(0, ()) == others[0]
    assert first.study.trials[0].state == optuna.trial.TrialState.FAIL


def test_what_fell_behind_is_pruned_with_its_last_value_and_what_it_was_expected_to_come_to():
    one = proposer()
    number, _ = one.propose(0, ())
    one.prune(number, [0.3], [0.8], 45)
    one.prune(number, [0.4], [0.9], 90)
    trial = one.study.trials[number]
    assert trial.state == optuna.trial.TrialState.PRUNED
    assert (trial.value, trial.intermediate_values) == (0.3, {45: 0.3})
    assert trial.user_attrs["expected"] == [0.8]
