import math
import re

import pytest
from optimizing import examples, levels, lm_of, number

from judgesmith.optimizers import ImprovementTest, NoElimination, ProtocolSearch
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.signatures.space import Space

pytestmark = pytest.mark.no_cover

ROWS = examples(range(60))
"""96 of the 120 rows are to choose by, of 48 sources."""

HUMAN = {one["response"]: one["score"] for one in ROWS}


@pytest.fixture
def student():
    return ActiveCritic(variant="vanilla")


def search(lm, **settings):
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    space = Space(choices=(answers.model_copy(update={"options": answers.options[:3]}),))
    given = {"n_trials": 9, "batch": 3, "space": space, "n_demonstrations": 3, **settings}
    return ProtocolSearch(lm=lm, **given)


def response(user):
    return re.search(r"The council met[^\n]*\d\.", user.split("response ## ]]")[1])[0]


def by_chance(user, shown, system):
    low, high = levels(system)
    return low + number(user + "".join(shown) + system, high - low)


def knows_on(scale):
    """Return a rule by which a judge is right on one scale, and by chance on others."""

    def rule(user, shown, system):
        low, high = levels(system)
        if (low, high) != scale:
            return by_chance(user, shown, system)
        return round(low + (HUMAN[response(user)] - 1) / 4 * (high - low))

    return rule


def test_what_is_confirmed_asks_nothing(student):
    counted = []
    for confirm in (ImprovementTest(), None):
        lm = lm_of(by_chance)
        search(lm, elimination=NoElimination(), confirm=confirm).compile(student, trainset=ROWS)
        counted.append(lm_client_of(lm).usage.calls)
    assert counted[0] == counted[1] == 96 * (1 + 9)


def test_what_is_better_on_all_rows_is_taken_and_confirmed(student):
    optimizer = search(lm_of(knows_on((1, 5))))
    judge = optimizer.compile(student, trainset=ROWS)
    assert judge.protocol.answers.high == 5
    found = optimizer.confirmation_
    assert found.passed
    assert found.number == optimizer.taken_
    assert found.n_rows == 96
    assert found.chosen == pytest.approx(3.0)
    assert found.n_compared == len(optimizer.trials_) - 1


def test_where_all_answer_by_chance_the_student_stays(student):
    optimizer = search(lm_of(by_chance))
    judge = optimizer.compile(student, trainset=ROWS)
    assert judge.protocol == student.protocol
    assert optimizer.taken_ == 0
    assert not optimizer.confirmation_.passed


def test_without_a_rule_the_best_on_all_rows_is_taken(student):
    optimizer = search(lm_of(by_chance), confirm=None)
    optimizer.compile(student, trainset=ROWS)
    whole = {one.number: one.value for one in optimizer.trials_ if one.n_rows == 96}
    assert optimizer.taken_ == max(whole, key=whole.get)
    assert math.isnan(optimizer.confirmation_.p_value)


@pytest.mark.parametrize("max_calls", [70, 150, 260, 340])
def test_a_budget_that_ends_leaves_one_that_has_passed_or_the_student(student, max_calls):
    lm = lm_of(knows_on((1, 10)), max_calls=max_calls)
    optimizer = search(lm)
    judge = optimizer.compile(student, trainset=ROWS)
    assert lm_client_of(lm).usage.calls <= max_calls
    if optimizer.taken_:
        assert optimizer.confirmation_.passed
        assert judge.protocol.answers.high == 10
    else:
        assert judge.protocol == student.protocol


def test_cut_short_it_goes_on_to_the_same_choice(student, tmp_path):
    whole = search(lm_of(knows_on((1, 10))))
    judge = whole.compile(student, trainset=ROWS)
    found = []
    for max_calls in (230, None):
        budget = {} if max_calls is None else {"max_calls": max_calls}
        lm = lm_of(knows_on((1, 10)), ledger=ResponseCache(tmp_path / "ledger.sqlite"), **budget)
        again = search(lm, storage=tmp_path / "study.journal")
        found.append(again.compile(student, trainset=ROWS))
    assert found[1].protocol == judge.protocol
    assert again.confirmation_ == whole.confirmation_
    assert again.taken_ == whole.taken_ > 0
