import gc

import pytest

from judgesmith.programs.families.modules import ActiveCritic
from judgesmith.programs.judging.runner import COLLECTING, YOUNG, Collecting, iter_scores
from judgesmith.signatures.items import RatedItem


@pytest.fixture(autouse=True)
def as_before():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_garbage_is_looked_for_seldom_until_the_last_of_several_runs_ends():
    gc.set_threshold(700, 11, 12)
    collecting = Collecting()
    first, second = collecting.seldom(), collecting.seldom()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == (YOUNG, 11, 12)
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (YOUNG, 11, 12)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("own", [(0, 10, 10), (10 * YOUNG, 10, 10)], ids=["never", "more seldom"])
def test_what_somebody_set_on_purpose_is_left_alone(own):
    gc.set_threshold(*own)
    with Collecting().seldom():
        assert gc.get_threshold() == own
    with Collecting().seldom():
        gc.set_threshold(5, 5, 5)
    assert gc.get_threshold() == (5, 5, 5)


def test_a_run_that_is_given_up_leaves_things_as_they_were():
    gc.set_threshold(700, 10, 10)
    items = (RatedItem(source="The ferry leaves at nine.", response=str(n)) for n in range(9))
    run = iter_scores(ActiveCritic(), items)
    next(run)
    assert gc.get_threshold()[0] == YOUNG
    run.close()
    assert gc.get_threshold() == (700, 10, 10)
    with COLLECTING.seldom():
        assert gc.get_threshold()[0] == YOUNG
