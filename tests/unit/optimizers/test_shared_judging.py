import threading

import pytest
from optimizing import Engine, examples, number
from working import at_the_same_time, once_all_have_begun

from judgesmith.optimizers import ProtocolSearch
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import Budget, LMClient, TransientModelError, lm_client_of
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.space import Space

pytestmark = pytest.mark.no_cover

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


def by_chance(user, shown, system):
    return number(user + "".join(shown) + system, 1 if "from 1 (" in system else 5)


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "a.journal"


@pytest.fixture
def alone():
    worker = Worker(None, by_chance)
    return worker(), worker


def test_workers_find_the_judge_of_one_and_ask_as_much_between_them(journal, alone):
    judge, one = alone
    begun = threading.Barrier(3)
    workers = [Worker(journal, once_all_have_begun(by_chance, begun)) for _ in range(3)]
    assert at_the_same_time(*workers) == [judge] * 3
    # Undefined values are not equal to themselves.
    assert {str(each.search.trials_) for each in workers} == {str(one.search.trials_)}
    asked = [each.engine.asked for each in workers]
    assert sum(asked) == one.engine.asked
    assert max(asked) < one.engine.asked


def test_one_worker_alone_on_a_journal_asks_what_it_asks_without(journal, alone):
    judge, one = alone
    worker = Worker(journal, by_chance)
    assert worker() == judge
    assert worker.engine.asked == one.engine.asked
    again = Worker(journal, by_chance)
    assert again() == judge
    assert again.engine.asked == 0


def test_a_worker_without_budget_ends_and_the_other_does_its_part(journal, alone):
    poor, rich = Worker(journal, by_chance, max_calls=50), Worker(journal, by_chance)
    found = at_the_same_time(poor, rich)
    assert found[1] == alone[0]
    assert rich.search.complete_
    n_calls = lm_client_of(poor.search.lm).usage.calls
    assert n_calls <= 50
    assert not poor.search.complete_ or n_calls < 50


def test_rows_without_an_answer_are_asked_by_whoever_needs_them(journal, alone):
    broken = []

    def once(user, shown, system):
        if len(broken) < 3:
            broken.append(user)
            raise TransientModelError("gone")
        return by_chance(user, shown, system)

    first = Worker(journal, once)
    first()
    second = Worker(journal, by_chance)
    second()
    assert broken
    assert second.engine.asked <= len(broken)


def test_a_worker_whose_first_prompts_nobody_can_follow_goes_on(journal):
    def rule(user, shown, system):
        return "no idea" if "poor" in system else by_chance(user, shown, system)

    judge = Worker(None, rule)()
    workers = [Worker(journal, rule) for _ in range(2)]
    assert at_the_same_time(*workers) == [judge] * 2
