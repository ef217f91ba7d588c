import re

import pytest
from optimizing import LIKERT, examples, levels, lm_of, number
from working import at_the_same_time

from judgesmith.optimizers import ProtocolSearch, RacingRule, ScreeningStage
from judgesmith.optimizers.search.confirmation import ImprovementTest
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.signatures.space import Space

SCREEN = ScreeningStage(n_again=4, n_finalists=1)

pytestmark = pytest.mark.no_cover


@pytest.fixture
def student():
    return ActiveCritic(variant="vanilla")


def search(lm, **settings):
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    scales = answers.model_copy(update={"options": answers.options[:3]})
    given = {"n_trials": 16, "space": Space(choices=[scales]), "n_demonstrations": 3}
    return ProtocolSearch(lm=lm, **{**given, "elimination": SCREEN, **settings})


HUMAN = {one["response"]: one["score"] for one in examples(range(60))}


def by_chance(user, shown, system):
    low, high = levels(system)
    return low + number(user + "".join(shown) + system, high - low)


def knows(user, system, noise):
    """Answer as people did, on the scale that is asked for, but for some noise."""
    low, high = levels(system)
    response = re.search(r"The council met[^\n]*\d\.", user.split("response ## ]]")[1])[0]
    share = (HUMAN[response] - 1) / 4
    return round(low + ((1 - noise) * share + noise * number(user + system) / 100) * (high - low))


def test_a_scale_and_demonstrations_that_were_planted_are_found(student):
    def rule(user, shown, system):
        noise = 0.2 + 0.3 * (levels(system) != (1, 5)) + 0.3 * (len(shown) != 2)
        return knows(user, system, noise=noise)

    optimizer = search(lm_of(rule), n_trials=40)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert judge.protocol.answers == LIKERT
    assert len(judge.protocol.demonstrations["grade"]) == 2
    trials = optimizer.trials_
    assert sum(one.n_rows == trials[0].n_rows for one in trials) == 2
    assert optimizer.n_judged_ < 0.6 * len(trials) * trials[0].n_rows


def test_an_ended_search_goes_on_and_asks_nothing_twice(student, tmp_path):
    ledgers = tmp_path / "whole", tmp_path / "cut"
    given = {"trainset": examples(range(30))}
    whole = search(lm_of(by_chance, ledger=ResponseCache(ledgers[0])))
    judge = whole.compile(student, **given)
    n_calls = lm_client_of(whole.lm).usage.calls
    storage = tmp_path / "a.journal"
    cut = search(lm_of(by_chance, ledger=ResponseCache(ledgers[1]), max_calls=150), storage=storage)
    cut.compile(student, **given)
    assert not cut.complete_
    again = search(lm_of(by_chance, ledger=ResponseCache(ledgers[1])), storage=storage)
    assert again.compile(student, **given).protocol == judge.protocol
    assert str(again.trials_) == str(whole.trials_)
    assert lm_client_of(cut.lm).usage.calls + lm_client_of(again.lm).usage.calls == n_calls


def test_workers_find_the_judge_of_one_and_ask_as_much_between_them(student, tmp_path):
    def judged(optimizer):
        return optimizer.compile(student, trainset=examples(range(30))).protocol

    one = search(lm_of(by_chance), batch=4)
    judge = judged(one)
    journal = tmp_path / "a.journal"
    workers = [search(lm_of(by_chance), batch=4, storage=journal) for _ in range(2)]
    found = at_the_same_time(*(lambda each=each: judged(each) for each in workers))
    assert found == [judge] * 2
    # Undefined values are not equal to themselves.
    assert {str(each.trials_) for each in workers} == {str(one.trials_)}
    asked = [lm_client_of(each.lm).usage.calls for each in workers]
    assert sum(asked) == lm_client_of(one.lm).usage.calls
    assert max(asked) < lm_client_of(one.lm).usage.calls


def test_searches_that_screen_otherwise_are_kept_apart(student, tmp_path):
    storage = tmp_path / "a.journal"
    names = set()
    for screen in (RacingRule(), SCREEN, ScreeningStage()):
        optimizer = search(lm_of(by_chance), elimination=screen, n_trials=2, storage=storage)
        optimizer.compile(student, trainset=examples(range(30)))
        names.add(optimizer.study_.study_name)
    assert len(names) == 3


def test_the_winner_is_taken_as_it_is_without_a_rule(student):
    optimizer = search(lm_of(by_chance), confirm=None)
    optimizer.compile(student, trainset=examples(range(30)))
    whole = [one for one in optimizer.trials_ if one.n_rows == optimizer.trials_[0].n_rows]
    assert optimizer.taken_ == max(whole, key=lambda one: one.rank).number
    ruled = search(lm_of(by_chance), confirm=ImprovementTest(level=1e-9))
    ruled.compile(student, trainset=examples(range(30)))
    assert ruled.taken_ == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sampler": lambda seed: None}, "proposes by itself; drop the sampler"),
        ({"objective": "q, -calls"}, "they give no ranking"),
    ],
)
def test_what_a_screen_cannot_do_is_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        ProtocolSearch(elimination=ScreeningStage(), **settings)
