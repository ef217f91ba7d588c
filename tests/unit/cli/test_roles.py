"""``--role``: another model writes exemplars, from compile to score."""

import json
from pathlib import Path

import pytest

from judgesmith.cli import main
from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.role_options import roles_of
from judgesmith.programs import SavedJudge

ROWS = [
    {"source": f"Ann left town {n}. Bo stayed.", "response": f"Ann left {n}{end}", "score": score}
    for n in range(6)
    for end, score in ((".", 4), (" and and", 2), ("", 3))
]
WRITER = "[[ ## exemplar ## ]]\nA text."


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    return "rows.jsonl"


def compiled(data, *more):
    usual = ["-o", "judge", "--judge", "exemplar", "--choose", "levels=2", "--scale", "1..5"]
    return main(["compile", data, *usual, "--optimizer", "none", "--criteria", "general", *more])


def first_row(name):
    return Path(name).read_text().split("\n")[0]


def test_a_writer_is_asked_for_exemplars_and_named_in_the_judge(data, server, capsys):
    server.script({"answer": WRITER})
    roles = ["--role", "writer=openai/w", "--api-base", server.url]
    assert compiled(data, *roles, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    saved = SavedJudge.load("judge")
    assert (saved.model, dict(saved.roles)) == ("offline", {"writer": "openai/w"})
    bodies = [one["body"] for one in server.counts()["recent"]]
    # Worst and best of six sources, and the best once more: it is a copy of the worst.
    assert len(bodies) == 6 * 3
    assert all(one["model"] == "w" and "verdict" not in str(one) for one in bodies)
    # Both exemplars are the same text, with which a response is compared once.
    assert told["calls"] == 6 * 3 + len(ROWS)
    assert compiled(data, *roles) == 0  # the same run again asks nothing
    assert server.counts()["requests"] == 6 * 3

    scored = ["score", "judge", data, "-o", "one.jsonl", "--api-base", server.url]
    assert main(scored) == 2  # nobody named openai/w, nor does a model without a network allow it
    assert main([*scored[:-2], "--model", "offline", "--allow-model", "openai/w"]) == 2
    scored += ["--allow-model", "openai/w"]
    assert main(scored) == 0
    assert server.counts()["requests"] == 6 * 3
    row = json.loads(first_row("one.jsonl"))
    assert row["weighting"]["overall"]["mode"] == "probabilities"
    assert "sum" in row["weighting"]["overall"]

    assert main(["score", "judge", data, "-o", "two.jsonl", "--role", "writer=offline"]) == 0
    assert server.counts()["requests"] == 6 * 3
    assert first_row("one.jsonl") != first_row("two.jsonl")


def test_one_budget_holds_for_both(data, server, capsys):
    server.script({"answer": WRITER})
    roles = ["--role", "writer=openai/w", "--api-base", server.url, "--max-calls", "7", "--json"]
    compiled(data, *roles)
    assert server.counts()["requests"] <= 7


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--role", "writer"], "expected ROLE=MODEL; got 'writer'."),
        (["--role", "writer=offline", "--role", "writer=offline"], "named twice"),
        (["--role", "writter=offline"], "no role 'writter'."),
        (["--role", "writer=gpt"], "a model is 'offline' or 'provider/model'"),
    ],
)
def test_what_is_no_role_is_refused(data, capsys, more, said):
    assert compiled(data, *more) == 2
    assert said in capsys.readouterr().err


def test_a_judge_of_another_kind_has_no_writer(data, capsys):
    own = ["compile", data, "-o", "judge", "--judge", "direct", "--role", "writer=offline"]
    assert main([*own, "--scale", "1..5", "--optimizer", "none", "--criteria", "general"]) == 2
    assert "a judge of the family direct has no role 'writer'" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--model", "anthropic/x"], ["--models", "anthropic/x"]])
def test_a_model_that_cannot_tell_how_likely_a_text_is_is_refused_at_once(data, capsys, more):
    own = ["compile", data, "-o", "judge", "--judge", "gptscore", "--scale", "1..5", "--dry-run"]
    if "--models" in more:
        more = [*more, "--optimizer", "protocol"]
    assert main([*own, *more]) == 2
    assert "anthropic/x gives no log-probabilities of a text" in capsys.readouterr().err


def test_roles_are_read_by_name():
    assert roles_of(["writer = offline"]) == {"writer": "offline"}
    with pytest.raises(OptionError):
        roles_of(["=offline"])


def test_verdicts_by_samples_are_warned_of(data, server, capsys):
    server.script({"contains": "exemplar ## ]]", "answer": WRITER})
    server.script({"answer": "[[ ## verdict ## ]]\nBetter\n\n[[ ## completed ## ]]"})
    asked = ["--api-base", server.url, "--model", "openai/m"]
    assert compiled(data, *asked) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "scores rest on several sampled answers, not on probabilities" in said
    assert main(["score", "judge", data, "-o", "one.jsonl", *asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    ((reason, n),) = told["sampled"].items()
    assert reason.startswith("n = 5: the endpoint gave no log-probabilities")
    assert n == len(ROWS)
    assert json.loads(first_row("one.jsonl"))["weighting"]["overall"]["n"] == 5
