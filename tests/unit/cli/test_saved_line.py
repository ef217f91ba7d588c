"""What is printed to go on with: the same model, at the same server, and no secret."""

import shlex

import pytest

QUICK = ["--criteria", "general", "--optimizer", "none", "--judge", "direct"]


@pytest.mark.no_cover
def test_the_line_to_go_on_with_asks_the_server_that_was_asked(run, data, server):
    asked = ["--model", "openai/m", "--api-base", server.url]
    done = run("compile", data, "-o", "a judge", *QUICK, *asked)
    assert done.status == 0, done.err
    line = done.out.rstrip().splitlines()[-1]
    assert shlex.split(line) == [
        *("judgesmith", "score", "a judge", str(data), "-o", "SCORES.jsonl"),
        *("--model", "openai/m", "--api-base", server.url),
    ]


def test_nothing_more_is_printed_where_nothing_was_said_of_models(run, data):
    done = run("compile", data, "-o", "judge", *QUICK)
    assert done.out.endswith(f"  judgesmith score judge {data} -o SCORES.jsonl\n")


@pytest.mark.no_cover
def test_without_a_key_it_is_said_that_a_judge_keeps_no_address(run, data, server, monkeypatch):
    asked = ["--model", "openai/m", "--api-base", server.url]
    assert run("compile", data, "-o", "judge", *QUICK, *asked).status == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    command = ["score", "judge", data, "-o", "out.jsonl", "--ledger", "fresh.sqlite", "--json"]
    done = run(*command, "--allow-model", "openai/m")
    assert done.status == 2
    assert "needs a key" in done.fault["error"]
    assert done.fault["hint"].startswith("give --api-base")
