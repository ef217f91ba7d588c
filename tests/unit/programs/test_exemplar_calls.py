"""How many calls a judge by exemplars makes, counted where they arrive."""

from math import log

import pytest
from loopback import serving

from judgesmith.programs import score_batch
from judgesmith.programs.families.exemplar import exemplar_calls
from judgesmith.programs.families.modules import ExemplarJudge
from judgesmith.programs.lm import model
from judgesmith.signatures import RatedItem

HEAD, TAIL = "[[ ## verdict ## ]]\n", "\n\n[[ ## completed ## ]]"
TOP = {"Better": log(0.5), "Worse": log(0.3), "Similar": log(0.2)}
SURE = [{HEAD: 0.0}, TOP, {TAIL: 0.0}]


@pytest.fixture(scope="module")
def running():
    with serving() as server:
        yield server


@pytest.fixture
def server(running):
    """A server that writes a text of its own for every level, and compares."""
    running.reset()
    running.script(
        *(
            {"contains": f"\\n{k} of {n}", "answer": f"[[ ## exemplar ## ]]\nText {k} of {n}."}
            for n in range(2, 10)
            for k in range(1, n + 1)
        )
    )
    return running


def item(system, source="Ann left Rome."):
    return RatedItem(source=source, response=f"{system} says that she left.", system_id=system)


def lm_at(server, ledger=None, **more):
    return model("openai/m", api_base=server.url, ledger=ledger, **more)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.mark.no_cover
@pytest.mark.parametrize("n", range(2, 10))
def test_every_number_of_exemplars_takes_exactly_its_calls(server, n, tmp_path):
    server.script({"answer": f"{HEAD}Better{TAIL}", "tokens": SURE})
    judge = ExemplarJudge(levels=n)
    lm = lm_at(server, tmp_path / "ledger.sqlite")
    (first,) = score_batch(judge, [item("one")], lm=lm)
    how = first.weighting["overall"]
    assert (how.mode, how.mass) == ("probabilities", pytest.approx(1))
    assert how.sum == pytest.approx(n * (n + 1) / 2 * 0.2)
    counts = server.counts()
    assert counts["requests"] == counts["distinct"] == exemplar_calls(judge.protocol) == 2 * n
    (second,) = score_batch(judge, [item("two")], lm=lm)
    assert second.problem is None
    assert server.counts()["requests"] == 3 * n  # the second system's cost no exemplar
    assert second.calls[:n] == first.calls[:n]


def test_systems_that_are_judged_at_the_same_time_share_exemplars(server, tmp_path):
    server.script({"answer": f"{HEAD}Better{TAIL}", "tokens": SURE})
    items = [item(name, source) for source in ("Ann left.", "Bo came.") for name in "abcd"]
    found = score_batch(ExemplarJudge(), items, lm=lm_at(server, tmp_path / "ledger.sqlite"))
    assert [one.problem for one in found] == [None] * 8
    counts = server.counts()
    assert (counts["requests"], counts["repeated"]) == (2 * 5 + 8 * 5, 0)


def test_comparisons_of_one_response_are_under_way_at_once(running, server):
    server.script({"answer": f"{HEAD}Better{TAIL}", "tokens": SURE, "latency": 0.5})
    score_batch(ExemplarJudge(levels=9), [item("one")], lm=lm_at(server))
    assert server.counts()["most_in_flight"] == 9


def test_a_server_without_log_probabilities_is_sampled_and_said(server):
    server.script({"answer": f"{HEAD}Worse{TAIL}"})
    judge = ExemplarJudge(levels=3, n_sampled=4)
    (judgement,) = score_batch(judge, [item("one")], lm=lm_at(server))
    how = judgement.weighting["overall"]
    assert (how.mode, how.n, how.sum) == ("samples", 4, -6)
    assert "gave no log-probabilities" in how.reason
    assert server.counts()["requests"] == 3 + 3 + 3 * 4


@pytest.mark.no_cover
def test_a_server_that_refuses_log_probabilities_is_sampled_and_said(server):
    refusal = '{"error": {"message": "logprobs is not supported"}}'
    server.script({"contains": '"logprobs":', "status": 400, "body": refusal})
    server.script({"answer": f"{HEAD}Worse{TAIL}"})
    judge = ExemplarJudge(levels=2, n_sampled=2)
    lm = lm_at(server)
    first, second = (score_batch(judge, [item(name)], lm=lm)[0] for name in ("one", "two"))
    for judgement in (first, second):
        how = judgement.weighting["overall"]
        assert (how.mode, how.n) == ("samples", 2)
        assert "refuses log-probabilities" in how.reason
