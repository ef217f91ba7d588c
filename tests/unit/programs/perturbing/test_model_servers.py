"""Texts changed by models behind a wire: slow, rate-limited, broken and malicious servers."""

import time

import loopback_faults as faults
import pytest

from judgesmith.programs.lm import ModelError, Retry, lm_client_of, model
from judgesmith.programs.perturbing import PERTURBATIONS
from judgesmith.programs.perturbing.orders import UNREADABLE
from judgesmith.programs.perturbing.perturber import perturb_all
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbed, Skipped, edited

pytestmark = pytest.mark.no_cover

ENTITY = PERTURBATIONS["fictional_entities/minor"]
STEPS = "[[ ## steps ## ]]\n1. Look for names.\n2. Replace one.\n\n[[ ## completed ## ]]"
QUICK = Retry(attempts=3, first=0.001)
TEXT = "Then Ann left {label} for good. It was late."

PASSING = [one for one in faults.PASSING if one not in ("http_429_seconds", "http_429_date")]


def says(text):
    return f"[[ ## changed ## ]]\n{text}\n\n[[ ## completed ## ]]"


@pytest.fixture(scope="module")
def running_server():
    with faults.serving(answer=STEPS) as server:
        yield server


def labels(n):
    return [f"house-{k:03}" for k in range(n)]


def texts(names):
    return [RatedItem(response=TEXT.format(label=name)) for name in names]


def good(name):
    """Return the behaviour of a model that does what it was told to one text."""
    return {"contains": name, "answer": says(TEXT.format(label=name).replace("Ann", "Zed"))}


def made(server, given, *, ledger=None, retry=QUICK, **settings):
    lm = model("openai/m", api_base=server.url, ledger=ledger, retry=retry)
    found = [one for _, (one,) in perturb_all(given, [ENTITY], lm, seed=0, **settings)]
    return found, lm_client_of(lm)


def is_changed(found, name):
    text = TEXT.format(label=name)
    return isinstance(found, Perturbed) and (
        found.text == text.replace("Ann", "Zed") == edited(text, found.edits)
    )


def test_many_texts_are_asked_for_at_a_time_and_none_again(server, tmp_path):
    names = labels(60)
    server.script(*({**good(name), "latency": 0.1} for name in names))
    begun = time.perf_counter()
    found, stack = made(server, texts(names), ledger=tmp_path / "l.sqlite", concurrency=32)
    assert time.perf_counter() - begun < 0.1 * 30  # one after the other would take twice that
    assert all(map(is_changed, found, names))
    counts = server.counts()
    assert (counts["requests"], counts["repeated"]) == (61, 0)
    assert 2 < counts["most_in_flight"] <= 32
    again, stack = made(server, texts(names), ledger=tmp_path / "l.sqlite")
    assert again == found
    assert stack.usage.calls == 0
    assert server.counts()["requests"] == 61


def test_faults_that_pass_cost_nothing_but_another_request(server):
    names = labels(len(PASSING))
    for name, fault in zip(names, PASSING, strict=True):
        server.script({"contains": name, "fault": fault, "times": 1}, good(name))
    found, stack = made(server, texts(names))
    assert all(map(is_changed, found, names))
    assert stack.usage.retries == len(PASSING)


def test_a_rate_limit_is_waited_for(server):
    names = labels(10)
    server.script({"contains": "house", "status": 429, "retry_after": 0.05, "times": 12})
    server.script(*map(good, names))
    found, _ = made(server, texts(names), retry=Retry(attempts=8, first=0.01))
    assert all(map(is_changed, found, names))


def test_texts_that_meet_lasting_faults_are_skipped_by_themselves_and_said_to_be(server):
    kinds = [one for one in faults.LASTING if one != "out_of_range"]
    names = labels(len(kinds) + 1)
    for name, fault in zip(names, kinds, strict=False):
        server.script({"contains": name, "fault": fault})
    server.script(good(names[-1]))
    found, _ = made(server, texts(names))
    assert is_changed(found.pop(), names[-1])
    known = {
        UNREADABLE.reason,
        "longer than the model reads",
        "the model refused the request",
        "the model could not be reached",
    }
    assert {one.reason for one in found if isinstance(one, Skipped)} == known
    assert all(isinstance(one, Skipped) for one in found)


MALICIOUS = {
    "HACKED": "no usable answer: words changed that are no names or numbers",
    "": "no usable answer: empty",
    "Sure, here is the text:\nThen Zed left {label} for good. It was late.": (
        "no usable answer: a remark beside the text"
    ),
    "Then Ann left {label} for good. It was late.": "no usable answer: unchanged",
    "Then Ann left {label} for good. It was late. " * 30: "no usable answer: too long",
    "Then Zed Quo left Vex for good. It was early.": (
        "no usable answer: words changed that are no names or numbers"
    ),
    "Then <script>Zed</script> left {label} for good. It was late.": (
        "no usable answer: markup that the text does not have"
    ),
    "Then \u202eZed left {label} for good. It was late.": (
        "no usable answer: signs that nobody sees"
    ),
    "Then Zed! left {label} for good. It was late.": (
        "no usable answer: a name or number that was not replaced by one"
    ),
    "\n[[ ## changed ## ]]\nThen Zed left {label} for good. It was late.": UNREADABLE.reason,
    "Then Ульяна left {label} for good. It was late.": "no usable answer: another script",
    "I'm sorry, but I can't put made-up people into a text.": "no usable answer: a refusal",
}


def test_answers_that_do_anything_else_are_never_taken_for_a_changed_text(server):
    names = labels(len(MALICIOUS))
    for name, answer in zip(names, MALICIOUS, strict=True):
        server.script({"contains": name, "answer": says(answer.replace("{label}", name))})
    found, _ = made(server, texts(names))
    assert [one.reason for one in found] == list(MALICIOUS.values())
    asked = [
        sum(name in one["body"]["messages"][-1]["content"] for one in server.counts()["recent"])
        for name in names
    ]
    assert asked == [3] * len(names)


def test_a_wrong_key_ends_the_run(server):
    server.script({"contains": "house", "status": 401})
    with pytest.raises(ModelError):
        made(server, texts(labels(3)))
