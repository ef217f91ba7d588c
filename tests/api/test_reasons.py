"""Whatever leaves a text without a score has its code, in judgements, files and counts."""

import json

import loopback_door
import pytest

import judgesmith
from judgesmith import programs as p
from judgesmith.programs import lm
from judgesmith.signatures import Judgement, Reason

ANSWER = "[[ ## score ## ]]\n{}\n\n[[ ## completed ## ]]\n"
HALF = "[[ ## score ## ]]\n7"
LONG = {"error": {"message": "This model's maximum context length is 4096 tokens."}}

# What a response says, how the server answers it, and why it has no score.
CASES = [
    ("fine", {"answer": ANSWER.format(70)}, None),
    ("nonsense", {"answer": "I like trains."}, Reason.UNREADABLE),
    ("beyond", {"answer": ANSWER.format(700)}, Reason.UNREADABLE),
    ("half a word", {"answer": "[[ ## sco", "finish_reason": "length"}, Reason.CUT_OFF),
    (
        "half a number",
        {"answer": "[[ ## score ## ]]\n7", "finish_reason": "length"},
        Reason.CUT_OFF,
    ),
    ("unspeakable", {"answer": "", "finish_reason": "content_filter"}, Reason.FILTERED),
    ("rude", {"status": 422}, Reason.REFUSED),
    ("endless", {"status": 400, "body": json.dumps(LONG)}, Reason.TOO_LONG),
    ("silent", {"status": 503}, Reason.UNREACHABLE),
    ("half of \ud800", {}, Reason.UNSUITABLE),
]
ITEMS = [
    judgesmith.RatedItem(source_id=str(place), source="It rained.", response=name)
    for place, (name, _, _) in enumerate(CASES)
]
ALL = [reason for _, _, reason in CASES]


@pytest.fixture(scope="module")
def running_server():
    """A local model server that answers as it is told."""
    with loopback_door.serving() as server:
        yield server


@pytest.fixture
def asked(server, monkeypatch):
    """Return a model on the server, which answers each text as its case says."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server.script(*({"contains": name, **how} for name, how, _ in CASES if how))

    def made(**options):
        once = lm.Retry(attempts=1)
        return judgesmith.model("openai/m", api_base=server.url, retry=once, **options)

    return made


@pytest.mark.parametrize("kind", ["direct", "active-critic"])
def test_what_a_server_does_has_its_code(asked, kind, tmp_path):
    choices = {"direct": {}, "active-critic": {"variant": "vanilla"}}[kind]
    judge = p.family_of(kind).start(**choices)
    store = tmp_path / "answers.sqlite"
    first, again = (p.score_batch(judge, ITEMS, lm=asked(ledger=store)) for _ in range(2))
    assert [one.reason for one in first] == ALL
    assert [one.reason for one in again] == ALL  # of answers in the cache, too
    assert all((one.problem is None) == (one.reason is None) for one in first)


def test_a_budget_has_its_code(asked):
    judge = p.family_of("direct").start()
    few = asked(ledger=None, max_calls=1)
    found = p.score_batch(judge, ITEMS[:3], lm=few, concurrency=1)
    assert [one.reason for one in found] == [None, Reason.OVER_BUDGET, Reason.OVER_BUDGET]


def test_what_a_judge_lacks_has_its_code():
    found = p.score_batch(p.family_of("reference").start(), ITEMS[:1])
    assert [one.reason for one in found] == [Reason.UNSUITABLE]
    alone = p.score_batch(p.family_of("pairs").start(), ITEMS[:1])
    assert [one.reason for one in alone] == [Reason.UNSUITABLE]


def test_a_judgement_made_elsewhere_has_another_reason():
    old = {"score": None, "problem": "the answer was cut off"}
    assert Judgement.model_validate(old).reason is Reason.OTHER
    with pytest.raises(ValueError, match="a reason where it has a problem"):
        Judgement(score=3.0, reason=Reason.CUT_OFF)
