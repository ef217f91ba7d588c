"""The work queue, studies and journals that processes share."""

import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import optuna
import pytest
from optimizing import Engine, examples, levels, lm_of, number
from working import at_the_same_time, once_all_have_begun, wait_for

from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.search import work_queue
from judgesmith.optimizers.search.work_queue import WorkQueue
from judgesmith.optimizers.storage import (
    ENOUGH_TRIALS,
    JournalLock,
    check_storage,
    importances,
    journal_storage,
    open_storage,
    reachable,
)
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import Budget, LMClient, TransientModelError, lm_client_of
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.space import Space

# board

CLAIMING = """
import sys, time
from pathlib import Path
from judgesmith.optimizers.search.work_queue import WorkQueue
from judgesmith.optimizers.storage import open_storage

def work(items):
    print("claimed", flush=True)
    time.sleep(300)

path = Path(sys.argv[1])
WorkQueue(open_storage(path), "items", beside=path).results([["a", "b"]], work, most=2)
"""


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "a.journal"


def board(path, **settings):
    given = {"beside": path, "poll": 0.005, **settings}
    return WorkQueue(open_storage(path), "items", **given)


def test_every_item_is_done_by_one_worker_and_read_by_all(journal):
    done = []

    def work(items):
        done.extend(items)
        time.sleep(0.01)
        return {item: {"of": item} for item in items}

    groups = [["a", "b", "c"], ["d"], ["e", "f"]]
    workers = [board(journal) for _ in range(3)]
    found = at_the_same_time(
        *(lambda one=one, most=most: one.results(groups, work, most=most)
          for one, most in zip(workers, (1, 2, 1), strict=True))
    )  # fmt: skip
    assert sorted(done) == ["a", "b", "c", "d", "e", "f"]
    assert found == [{item: {"of": item} for item in "abcdef"}] * 3


def test_what_is_done_is_there_later(journal):
    board(journal).results([["a"]], lambda items: dict.fromkeys(items, 1.5))
    assert board(journal).results([["a"]], pytest.fail) == {"a": 1.5}
    assert board(journal).results([], pytest.fail) == {}


def test_an_item_whose_work_failed_is_free_again(journal):
    with pytest.raises(ZeroDivisionError):
        board(journal).results([["a"]], lambda items: 1 / 0)
    assert board(journal).results([["a"]], lambda items: {"a": 2}) == {"a": 2}


def test_the_claims_of_a_killed_process_are_free_at_once(journal):
    call = [sys.executable, "-c", CLAIMING, str(journal)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "claimed\n"
        os.kill(process.pid, signal.SIGKILL)
    found = board(journal).results([["a", "b"]], lambda items: dict.fromkeys(items, 0))
    assert found == {"a": 0, "b": 0}


def elsewhere(journal, **settings):
    """Return a board of a worker that is on another machine."""
    return board(journal, beside=None, **settings)


def test_claims_that_are_renewed_are_not_taken(journal, monkeypatch):
    first, second = elsewhere(journal, beat=0.02), elsewhere(journal, patience=1.5)
    now, seen, plain = [0.0], [-1], second._buried
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep)
    monkeypatch.setattr(work_queue, "time", clock)
    started = threading.Event()

    def buried(trial):
        found = plain(trial)
        seen.append(trial.user_attrs["beat"])
        return found

    def slow(items):
        started.set()
        for _ in range(4):
            last = seen[-1]
            wait_for(lambda last=last: seen[-1] > last)
            now[0] += 1.0
        return {"a": "slow"}

    second._buried = buried
    found = at_the_same_time(
        lambda: first.results([["a"]], slow),
        lambda: started.wait() and second.results([["a"]], pytest.fail),
    )
    assert found == [{"a": "slow"}] * 2


def test_claims_that_are_not_renewed_are_taken_and_what_was_published_first_counts(journal):
    first, second = elsewhere(journal, beat=60), elsewhere(journal, patience=0.05)
    started, taken = threading.Event(), threading.Event()

    def slow(items):
        started.set()
        taken.wait()
        return {"a": "slow"}

    def take():
        started.wait()
        try:
            return second.results([["a"]], lambda items: {"a": "quick"})
        finally:
            taken.set()

    found = at_the_same_time(lambda: first.results([["a"]], slow), take)
    assert found == [{"a": "quick"}] * 2


def test_one_goes_through_a_block_alone_and_the_others_after_it(journal):
    inside, order = [], []

    def through(name):
        with board(journal).alone("block"):
            if not order:
                inside.append(name)
                time.sleep(0.05)
            order.append(name)

    at_the_same_time(*(lambda name=name: through(name) for name in "abc"))
    assert len(inside) == 1
    assert order[0] == inside[0]
    assert sorted(order) == ["a", "b", "c"]


# journals


def test_half_a_line_that_a_kill_left_is_cut_off(tmp_path):
    path = tmp_path / "folder" / "a.journal"
    open_storage(path).study("one").add_trial(optuna.trial.create_trial(value=1.0))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code": 4, "study' + b"y" * 200_000)
    study = open_storage(path).study("one")
    study.add_trial(optuna.trial.create_trial(value=2.0))
    assert [one.value for one in open_storage(path).study("one").trials] == [1.0, 2.0]
    assert path.read_bytes().startswith(whole)


def test_a_lock_is_waited_for(tmp_path):
    path = tmp_path / "a.journal"
    first, second, order = JournalLock(path), JournalLock(path), []

    def wait():
        second.acquire()
        order.append("second")
        second.release()

    first.acquire()
    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(timeout=0.05)
    order.append("first")
    first.release()
    waiting.join()
    assert order == ["first", "second"]


# studies


def told(n):
    study = open_storage(None).study("one")
    study.sampler = optuna.samplers.RandomSampler(seed=0)
    for _ in range(n):
        trial = study.ask()
        best = trial.suggest_categorical("decisive", ["a", "b", "c"]) == "b"
        trial.suggest_categorical("idle", ["a", "b", "c"])
        study.tell(trial, float(best))
    return study


def test_what_decides_is_what_mattered():
    found = importances(told(40))
    assert next(iter(found)) == "decisive"
    assert sum(found.values()) == pytest.approx(1)
    assert found["decisive"] > 0.8


def test_a_study_in_a_file_is_there_again(tmp_path):
    kept = tmp_path / "folder" / "a.journal"
    open_storage(kept).study("one").add_trial(optuna.trial.create_trial(value=1.0))
    assert len(open_storage(str(kept)).study("one").trials) == 1
    assert open_storage(kept).study("other").trials == []


def test_a_study_in_a_database_is_there_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    check_storage(url)
    open_storage(url).study("one").add_trial(optuna.trial.create_trial(value=1.0))
    assert len(open_storage(url).study("one").trials) == 1


@pytest.mark.parametrize("url", ["a.journal", "odd://user:secret@host/name"])
def test_what_is_no_database_is_refused_without_its_secrets(url):
    with pytest.raises(ValueError) as fault:
        check_storage(url)
    assert "secret" not in str(fault.value)


def test_a_database_that_is_gone_is_told_without_its_secrets():
    with pytest.raises(ConnectionError, match="does not answer") as fault, reachable():
        raise optuna.exceptions.StorageInternalError("postgresql://me:secret@host")
    assert "secret" not in str(fault.value)
    assert fault.value.__suppress_context__


def test_of_several_objectives_each_has_importances_of_its_own():
    study = open_storage(None).study("two", n_objectives=2)
    options = optuna.distributions.CategoricalDistribution(["a", "b", "c"])
    for first, second in [*itertools.product("abc", "abc")] * 5:
        study.add_trial(
            optuna.trial.create_trial(
                params={"first": first, "second": second},
                distributions={"first": options, "second": options},
                values=[float(first == "b"), float(second == "c")],
            )
        )
    for place, name in enumerate(("first", "second")):
        shares = importances(study, place)
        assert next(iter(shares)) == name
        assert shares[name] > 0.8


# What a user who opens the study of a search with Optuna finds there.


def opened(folder):
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(folder / "a.journal")))


def by_chance(user, shown, system):
    low, high = levels(system)
    return low + number(user + "".join(shown) + system, high - low)


def space():
    """Return the choice between scales of whole points."""
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    return Space(choices=(answers.model_copy(update={"options": answers.options[:3]}),))


HUMAN = {one["response"]: one["score"] for one in examples(range(60))}


def better_with_fewer_shown(user, shown, system):
    """Answer as people did where nothing is shown, and by chance otherwise."""
    if shown:
        return by_chance(user, shown, system)
    low, high = levels(system)
    text = re.search(r"The council met[^\n]*\d\.", user.split("response ## ]]")[1])[0]
    return round(low + (high - low) * (HUMAN[text] - 1) / 4)


def searched(folder, *, rule=by_chance, **settings):
    given = {"n_trials": 9, "batch": 3, "n_demonstrations": 2, "space": space()}
    search = ProtocolSearch(lm=lm_of(rule), storage=folder / "a.journal", **{**given, **settings})
    search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(60)))
    return search


def test_a_study_on_a_disk_is_the_only_one_and_needs_no_name(tmp_path):
    search = searched(tmp_path, objective="q, -calls")
    study = optuna.load_study(study_name=None, storage=opened(tmp_path))
    assert study.study_name == search.study_.study_name
    proposals = [one for one in study.get_trials() if "k" in one.user_attrs]
    assert len(proposals) == 9
    done = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    others = [one for one in study.get_trials() if "k" not in one.user_attrs]
    assert not [one for one in others if one.state in done]
    assert study.best_trials


def test_what_fell_behind_is_pruned_with_its_value_on_the_rows_it_was_judged_on(tmp_path):
    search = searched(tmp_path, rule=better_with_fewer_shown)
    study = optuna.load_study(study_name=None, storage=opened(tmp_path))
    by_number = {one.number: one for one in search.trials_}
    n_rows = by_number[0].n_rows
    pruned = 0
    for one in study.get_trials():
        if "k" not in one.user_attrs:
            continue
        trial = by_number[one.user_attrs["k"] + 1]
        assert one.value == pytest.approx(trial.value)
        if trial.n_rows < n_rows:
            pruned += 1
            assert one.state == optuna.trial.TrialState.PRUNED
            assert one.intermediate_values == {trial.n_rows: one.value}
        else:
            assert one.state == optuna.trial.TrialState.COMPLETE
    assert pruned


def test_pruned_trials_tell_what_mattered():
    study = optuna.create_study(direction="maximize")
    kinds = {"a": optuna.distributions.CategoricalDistribution(("x", "y"))}
    for k in range(ENOUGH_TRIALS):
        picked = {"params": {"a": "xy"[k % 2]}, "distributions": kinds}
        state = optuna.trial.TrialState.PRUNED
        study.add_trial(
            optuna.trial.create_trial(
                state=state, user_attrs={"expected": [float(k % 2)]}, **picked
            )
        )
    assert importances(study) == {"a": 1.0}


def sampler(seed, n=8):
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=n)


def named(makes):
    study = []
    for make in makes:
        search = ProtocolSearch(
            lm=lm_of(by_chance), n_trials=1, n_demonstrations=0, space=space(), sampler=make
        )
        search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))
        study.append(search.study_.study_name)
    return study


class Sampling:
    def __init__(self, n):
        self.n = n

    def __call__(self, seed):
        return sampler(seed, self.n)

    made = __call__


@pytest.mark.parametrize(
    ("one", "again", "other"),
    [
        (lambda seed: sampler(seed), lambda seed: sampler(seed), lambda seed: sampler(seed, 3)),
        (Sampling(8).made, Sampling(8).made, Sampling(3).made),
    ],
    ids=["lambda", "method"],
)
def test_equal_samplers_share_a_study_and_different_ones_do_not(one, again, other):
    names = named([one, again, other])
    assert names[0] == names[1] != names[2]


# shared judging

N_CALLS = 10**6


class Worker:
    """A worker with a model, and no ledger, of its own."""

    def __init__(self, journal, rule, *, max_calls=N_CALLS):
        self.engine = Engine(rule)
        stack = LMClient(self.engine, ledger=None, budget=Budget(max_calls=max_calls))
        answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
        self.search = ProtocolSearch(
            lm=ClientLM.over(stack, "scripted", recipe={}),
            space=Space(choices=(answers,)),
            n_trials=8,
            batch=4,
            n_demonstrations=2,
            concurrency=4,
            storage=journal,
        )

    def __call__(self):
        student = ActiveCritic(variant="vanilla")
        return self.search.compile(student, trainset=examples(range(30))).protocol


def by_chance_shared_judging(user, shown, system):
    return number(user + "".join(shown) + system, 1 if "from 1 (" in system else 5)


@pytest.fixture
def alone():
    worker = Worker(None, by_chance_shared_judging)
    return worker(), worker


@pytest.mark.no_cover
def test_workers_find_the_judge_of_one_and_ask_as_much_between_them(journal, alone):
    judge, one = alone
    begun = threading.Barrier(3)
    workers = [
        Worker(journal, once_all_have_begun(by_chance_shared_judging, begun)) for _ in range(3)
    ]
    assert at_the_same_time(*workers) == [judge] * 3
    # Undefined values are not equal to themselves.
    assert {str(each.search.trials_) for each in workers} == {str(one.search.trials_)}
    asked = [each.engine.asked for each in workers]
    assert sum(asked) == one.engine.asked
    assert max(asked) < one.engine.asked


@pytest.mark.no_cover
def test_a_worker_without_budget_ends_and_the_other_does_its_part(journal, alone):
    poor, rich = (
        Worker(journal, by_chance_shared_judging, max_calls=50),
        Worker(journal, by_chance_shared_judging),
    )
    found = at_the_same_time(poor, rich)
    assert found[1] == alone[0]
    assert rich.search.complete_
    n_calls = lm_client_of(poor.search.lm).usage.calls
    assert n_calls <= 50
    assert not poor.search.complete_ or n_calls < 50


@pytest.mark.no_cover
def test_rows_without_an_answer_are_asked_by_whoever_needs_them(journal, alone):
    broken = []

    def once(user, shown, system):
        if len(broken) < 3:
            broken.append(user)
            raise TransientModelError("gone")
        return by_chance_shared_judging(user, shown, system)

    first = Worker(journal, once)
    first()
    second = Worker(journal, by_chance_shared_judging)
    second()
    assert broken
    assert second.engine.asked <= len(broken)


def test_a_block_that_failed_was_not_gone_through(journal):
    with pytest.raises(ZeroDivisionError), board(journal).alone("block"):
        raise ZeroDivisionError
    passed = []
    with board(journal).alone("block"):
        passed.append("block")
    with board(journal).alone("block"):
        passed.append("after it")
    assert passed == ["block", "after it"]


def test_a_journal_of_half_a_line_is_empty(tmp_path):
    path = tmp_path / "a.journal"
    path.write_bytes(b'{"op_code"')
    assert journal_storage(path).get_all_studies() == []
    assert path.read_bytes() == b""
