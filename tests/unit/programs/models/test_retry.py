import random

import pytest
from lm15.errors import map_http_error

from judgesmith.programs.lm import Retry
from judgesmith.programs.lm.errors import TransientModelError, may_pass
from judgesmith.programs.lm.lm15_bridge import error_from_lm15


def waits(retry, *, attempts, retry_after=None, seed=0):
    rng = random.Random(seed)
    return [retry.wait(n, retry_after, rng=rng) for n in range(1, attempts + 1)]


def test_waits_are_spread_between_zero_and_a_doubling_ceiling():
    retry = Retry(attempts=99, first=1.0, longest=8.0)
    many = [waits(retry, attempts=6, seed=seed) for seed in range(300)]
    for column, ceiling in zip(zip(*many, strict=True), [1, 2, 4, 8, 8, 8], strict=True):
        assert 0.9 * ceiling < max(column) <= ceiling
        assert min(column) < 0.1 * ceiling


def test_the_same_seed_gives_the_same_waits():
    assert waits(Retry(), attempts=5) == waits(Retry(), attempts=5)


def test_what_the_server_asked_for_is_never_undercut():
    assert all(20.0 <= w <= 22.0 for w in waits(Retry(), attempts=5, retry_after=20.0))


def test_attempts_and_patience_are_limited():
    assert waits(Retry(attempts=2), attempts=3)[1:] == [None, None]
    assert waits(Retry(patience=60), attempts=1, retry_after=61.0) == [None]


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first": -1.0}, {"patience": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="more"):
        Retry(**wrong)


@pytest.mark.parametrize("status", [None, 200, 400, 401, 408, 409, 425, 429, 500, 503, 529])
def test_one_rule_decides_which_statuses_are_worth_another_attempt(status):
    passes = status in {408, 409, 425, 429, 500, 503, 529}
    assert may_pass(status) is passes
    fault = error_from_lm15(map_http_error(status or 418, "m"), "m", "e")
    # A reply that claims success and cannot be read is asked for again, too.
    assert isinstance(fault, TransientModelError) is (passes or status == 200)
