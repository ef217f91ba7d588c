"""What a run was told is told again: answers by their identity, failures in their own words."""

import pytest

from judgesmith.programs.lm import (
    BudgetSpent,
    LMClient,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Prefix,
    ResponseCache,
    TransientModelError,
)
from judgesmith.programs.lm.budget import Budget
from judgesmith.programs.lm.cache.recordings import (
    Failure,
    NotRecorded,
    Recording,
    play_recording,
    replaying,
    save_recording,
)
from judgesmith.programs.lm.errors import ContextWindowExceeded
from judgesmith.programs.lm.limits import Retry

FAULTS = {
    "refused": ModelError("m: no (HTTP 400)", status=400),
    "passing": TransientModelError("m: busy \ud800 (HTTP 503)", status=503),
    "too long": ContextWindowExceeded("m: too long"),
}


class Faulty:
    """An engine that answers some requests, and refuses those that are called like a fault."""

    endpoint = "http://somewhere"

    async def complete(self, request):
        return self.complete_sync(request)

    def complete_sync(self, request):
        if request.user in FAULTS:
            raise FAULTS[request.user]
        return ModelAnswer(text=request.user, input_tokens=1, output_tokens=1)

    async def aclose(self):
        pass

    def close(self):
        pass


def asked(user):
    return ModelRequest(model="a/b", prefix=Prefix(), user=user)


@pytest.fixture
def stack(tmp_path):
    """A stack that notes what it is told, beside answers of another run."""
    ledger = ResponseCache(tmp_path / "own.sqlite")
    LMClient(Faulty(), ledger=ledger).complete_sync(asked("another run"))
    budget = Budget(max_calls=5)
    once = Retry(attempts=1)
    return LMClient(Faulty(), ledger=ledger, budget=budget, retry=once, recording=Recording())


def played(stack, tmp_path, **how):
    """Record what a stack was told, and return one that plays it."""
    cassette = tmp_path / "one.jsonl"
    save_recording(stack.ledger, cassette, recording=stack.recording, **how)
    ledger = ResponseCache(tmp_path / "other.sqlite")
    recording = play_recording(cassette, ledger).recording
    return LMClient(replaying(Faulty()), ledger=ledger, recording=recording)


def told(stack, user):
    try:
        return stack.complete_sync(asked(user)).text
    except (ModelError, BudgetSpent) as fault:
        return type(fault), str(fault), vars(fault)


def test_every_answer_and_every_failure_comes_again(stack, tmp_path):
    users = ["one", *FAULTS, "two", "beyond the budget"]
    first = [told(stack, user) for user in users]
    assert [one if isinstance(one, str) else one[0] for one in first] == [
        *("one", ModelError, TransientModelError, ContextWindowExceeded, "two", BudgetSpent)
    ]
    again = played(stack, tmp_path, whole=False)
    assert [told(again, user) for user in users] == first
    assert (again.usage.calls, again.spent.calls) == (0, 0)
    with pytest.raises(NotRecorded, match="ends 'another run'"):
        again.complete_sync(asked("another run"))


def test_answers_of_other_runs_are_on_a_whole_cassette(stack, tmp_path):
    told(stack, "one")
    again = played(stack, tmp_path)
    assert [told(again, user) for user in ("one", "another run")] == ["one", "another run"]


def test_what_was_looked_up_is_noted(stack, tmp_path):
    assert [
        one and one.text for one in stack.lookup_many([asked("another run"), asked("new")])
    ] == [
        "another run",
        None,
    ]
    assert told(played(stack, tmp_path, whole=False), "another run") == "another run"


def test_a_request_that_was_answered_in_the_end_is_answered(stack, tmp_path, monkeypatch):
    monkeypatch.setitem(FAULTS, "at first", ModelError("m: no (HTTP 400)", status=400))
    assert told(stack, "at first")[0] is ModelError
    monkeypatch.delitem(FAULTS, "at first")
    assert told(stack, "at first") == "at first"
    assert stack.recording.failures == {}
    assert told(played(stack, tmp_path, whole=False), "at first") == "at first"


def test_what_is_no_failure_is_refused():
    for kind, spent in (("odd", ()), ("budget", ()), ("refused", (1, 2, 3, 4))):
        with pytest.raises(ValueError, match="no failure of a request"):
            Failure(model="a", endpoint="b", kind=kind, message="c", spent=spent)
