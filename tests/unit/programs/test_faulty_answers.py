"""One fault per item, all kinds in one run: scored after a second attempt, or unscored and why."""

import loopback_faults as faults
import pytest

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.lm import ModelError, Retry, lm_client_of, model
from judgesmith.signatures import RatedItem

pytestmark = pytest.mark.no_cover

GRADE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"
QUICK = Retry(attempts=3, first=0.001)


PASSING = [one for one in faults.PASSING if one not in ("http_429_seconds", "http_429_date")]
KINDS = [*faults.LASTING, *PASSING, *faults.HARMLESS, None]


@pytest.fixture(scope="module")
def running_server():
    with faults.serving(answer=GRADE) as server:
        yield server


UNREAD = ("the model's answer could not be read", "the model answered", "the answer")


def one_item_per_fault(server):
    """Return an item for each kind of fault, and one without."""
    for fault in KINDS[:-1]:
        plan = {"seed": 0, "share": 1.0, "kinds": [fault], "label": f"meets {fault}\\."}
        server.script({"plan": plan, "contains": f"meets {fault}."})
    return [RatedItem(source="s", response=f"This one meets {fault}.") for fault in KINDS]


def test_every_item_is_scored_or_unscored_for_the_reason_of_its_fault(server, tmp_path):
    items = one_item_per_fault(server)
    judge = ActiveCritic(variant="vanilla")

    def run(run_id="named"):
        place = tmp_path / "l.sqlite"
        lm = model("openai/m", api_base=server.url, ledger=place, retry=QUICK, run_id=run_id)
        return score_batch(judge, items, lm=lm), lm_client_of(lm)

    found, stack = run()
    for fault, judgement in zip(KINDS, found, strict=True):
        if fault in faults.LASTING:
            assert judgement.score is None, fault
            assert judgement.problem.startswith(faults.LASTING[fault]), (fault, judgement.problem)
        else:
            assert (judgement.score, judgement.problem) == (70.0, None), fault

    counts = server.counts()
    intents = stack.ledger.query("SELECT count(*) FROM intents")[0][0]
    assert counts["requests"] == stack.usage.calls == stack.spent.calls == intents

    # Answers, also bad ones, are on record; only what never was one is asked again.
    again, second = run()
    assert [one.score for one in again] == [one.score for one in found]
    unanswered = {"http_400": 1, "http_413": 1, "http_422": 1, "http_451": 1}
    unanswered |= {"too_long_a_prompt": 1, "down": QUICK.attempts}
    assert second.usage.calls == sum(unanswered.values())
    assert server.counts()["requests"] == counts["requests"] + second.usage.calls
    # Another run asks anew what could not be read, and so does the same one once it is finished.
    n_unread = sum((one.problem or "").startswith(UNREAD) for one in found)
    assert run(None)[1].usage.calls == second.usage.calls + 2 * n_unread
    second.finish()
    assert run()[1].usage.calls == second.usage.calls + 2 * n_unread


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_fault_of_the_set_up_ends_the_run(server, status):
    server.script({"contains": "text 7", "status": status})
    items = [RatedItem(source="s", response=f"text {n}") for n in range(9)]
    lm = model("openai/m", api_base=server.url, ledger=None)
    with pytest.raises(ModelError, match=f"HTTP {status}"):
        score_batch(ActiveCritic(variant="vanilla"), items, lm=lm, concurrency=2)
