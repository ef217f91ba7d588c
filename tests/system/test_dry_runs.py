"""``--dry-run`` says what a command would ask; the command then asks that much."""

import json

import pytest

from judgesmith.cli import main

NONE = ["--optimizer", "none"]
JUDGES = {"plain": [], "pairs": ["--judge", "pairs"], "exemplar": ["--judge", "exemplar"]}
EXACT = [
    ["evaluate", "plain", "sample"],
    ["evaluate", "plain", "sample", "--perspective", "global"],
    ["evaluate", "plain", "sample", "--perspective", "local", "--samples", "2"],
    ["prefer", "pairs", "sample", "-o", "pairs.jsonl", "--pairs", "2"],
    ["exemplars", "exemplar", "sample", "-o", "exemplars.jsonl"],
]
AT_MOST = [
    ["evaluate", "pairs", "sample"],
    ["compare", "plain", "pairs", "sample"],
    ["infer", "sample", "-o", "rubric.yaml"],
    ["recheck", "plain"],
    ["export", "plain", "-o", "judge.py", "--to", "python", "--verify"],
]


@pytest.fixture(scope="module")
def judges(tmp_path_factory, all_rows):
    """A folder with some rows of the sample, and judges of three families."""
    place = tmp_path_factory.mktemp("judges")
    rows = "".join(f"{json.dumps(row)}\n" for row in all_rows[:60])
    (place / "sample.jsonl").write_text(rows, encoding="utf-8")
    for name, options in JUDGES.items():
        command = ["compile", str(place / "sample.jsonl"), "-o", str(place / name)]
        assert main([*command, *NONE, *options]) == 0
    return place


@pytest.fixture
def say(folder, judges, capsys):
    """Run a command with ``--json`` on a cache of its own; return what it prints."""

    def said(*words):
        places = {name: name for name in JUDGES} | {"sample": "sample.jsonl"}
        given = [str(judges / places[word]) if word in places else word for word in words]
        capsys.readouterr()
        assert main([*given, "--json", "--ledger", str(folder / "own.sqlite")]) == 0
        return json.loads(capsys.readouterr().out)

    return said


@pytest.fixture
def asked(say):
    """Run a command and return how many calls it made."""

    def run(*words):
        found = say(*words)
        return found["calls"] if "calls" in found else say("cache", "stats")["answers"]

    return run


@pytest.mark.parametrize("words", EXACT, ids=" ".join)
def test_the_estimate_is_what_the_run_asks(say, asked, folder, words):
    planned = say(*words, "--dry-run")
    assert list(folder.iterdir()) == []
    assert asked(*words) == planned["calls"] > 0


@pytest.mark.parametrize("words", AT_MOST, ids=" ".join)
def test_the_run_asks_no_more_than_the_estimate(say, asked, folder, words):
    planned = say(*words, "--dry-run")
    assert list(folder.iterdir()) == []
    assert 0 < asked(*words) <= planned["calls_at_most"] <= planned["max_calls"]


def test_scores_on_file_ask_nothing(say, folder):
    say("score", "plain", "sample", "-o", "scores.jsonl")
    for words in (["evaluate", "scores.jsonl", "sample"],):
        assert say(*words, "--dry-run")["max_calls"] == 0


def test_a_price_makes_it_dollars(say):
    price = ["--price", "0.15,0.60"]
    found = say("evaluate", "plain", "sample", "--dry-run", *price)
    tokens = found["input_tokens"] * 0.15 + found["output_tokens"] * 0.60
    assert found["cost_usd"] == pytest.approx(tokens / 1e6)
