"""``judgesmith perturb --model``: a model changes texts, each answer verified and on record."""

import json
import signal
import time

import pytest

from judgesmith.signatures.perturbation import Edit, edited

STEPS = "[[ ## steps ## ]]\n1. Look for names.\n2. Replace one.\n\n[[ ## completed ## ]]"
TEXTS = [f"Then Ann left house-{k} for good. It was late, and it rained." for k in range(6)]
KIND = ["--kinds", "fictional_entities/minor", "--amount", "fictional_entities/minor=1"]


def says(text):
    return f"[[ ## changed ## ]]\n{text}\n\n[[ ## completed ## ]]"


@pytest.fixture
def texts(folder):
    """A file of texts that nobody rated."""
    path = folder / "texts.jsonl"
    rows = [
        {"source_id": str(k), "system_id": "m", "source": "a story", "response": text}
        for k, text in enumerate(TEXTS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def model_server(server):
    """A server that does what it is told, but for one text, and options that ask it."""
    server.script(
        {"contains": "house-3", "answer": says("I'm sorry, I can't do that.")},
        *(
            {"contains": f"house-{k}", "answer": says(text.replace("Ann", "Zed"))}
            for k, text in enumerate(TEXTS)
        ),
        {"answer": STEPS},
    )
    server.options = ["--model", "openai/m", "--api-base", server.url, "--ledger", "l.sqlite"]
    return server


def rows_in(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_versions_are_made_by_the_model_and_asked_for_once(run, folder, texts, model_server):
    command = ["perturb", texts, "-o", "out.jsonl", *KIND, *model_server.options]
    done = run(*command, "--json")
    assert done.status == 0, done.err
    kind = done.json["kinds"]["fictional_entities/minor"]
    assert (kind["method"], kind["versions"]) == ("model", 5)
    assert kind["skipped"] == {"no usable answer: a refusal": 1}
    assert done.json["calls"] == model_server.counts()["requests"] == 1 + 5 + 3
    rows = rows_in(folder / "out.jsonl")
    originals = {row["source_id"]: row["response"] for row in rows if row["perturbation"] is None}
    versions = [row for row in rows if row["perturbation"] is not None]
    for row in versions:
        edits = [Edit(start=start, end=end, text=text) for start, end, text in row["edits"]]
        text = originals[row["source_id"]]
        assert edited(text, edits) == row["response"] == text.replace("Ann", "Zed")
        assert row["method"] == "model"
    first = (folder / "out.jsonl").read_bytes()
    again = run(*command, "--json", "--force")
    assert again.json["calls"] == 0
    assert model_server.counts()["requests"] == 9
    assert (folder / "out.jsonl").read_bytes() == first


def test_a_dry_run_counts_the_calls_and_sends_nothing(run, folder, texts, model_server):
    command = ["perturb", texts, "-o", "out.jsonl", *KIND, *model_server.options, "--dry-run"]
    assert run(*command).out.startswith("7 calls, 20 at most, for 6 versions; about ")
    found = run(*command, "--json").json
    assert (found["calls"], found["max_calls"], found["n_versions"]) == (7, 20, 6)
    assert model_server.counts()["requests"] == 0
    assert not (folder / "out.jsonl").exists()


def test_a_budget_that_ends_is_told_and_the_same_command_goes_on(run, folder, texts, model_server):
    command = ["perturb", texts, "-o", "out.jsonl", *KIND, *model_server.options, "--json"]
    done = run(*command, "--concurrency", "1", "--max-calls", "3")
    assert done.json["kinds"]["fictional_entities/minor"]["skipped"] == {"not asked": 4}
    assert "4 versions were not asked for: " in done.err
    done = run(*command, "--concurrency", "1", "--max-calls", "100", "--force")
    assert done.json["kinds"]["fictional_entities/minor"]["versions"] == 5
    assert model_server.counts()["requests"] == 1 + 5 + 3


@pytest.mark.no_cover
def test_an_interrupt_lets_what_is_asked_be_answered_and_the_same_command_goes_on(
    run, start, folder, texts, model_server
):
    command = ["perturb", texts, "-o", "out.jsonl", *KIND, *model_server.options]
    model_server.reset()
    model_server.script({"contains": "house-", "latency": 0.5, "answer": says("no")})
    model_server.script({"answer": STEPS})
    process = start(*command, "--concurrency", "2")
    while not (counts := model_server.counts())["in_flight"] or counts["requests"] < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert not (folder / "out.jsonl").exists()
    counts = model_server.counts()
    assert counts["answered"] == counts["requests"] < 1 + 3 * 6
    assert run(*command).status == 0
    assert model_server.counts()["requests"] == 1 + 3 * 6


def test_the_offline_model_says_that_rules_stand_in(run, folder, texts):
    done = run("perturb", texts, "-o", "out.jsonl", *KIND)
    assert done.status == 0
    assert "what a language model is to change is changed by rules" in done.out + done.err
    assert {row.get("method") for row in rows_in(folder / "out.jsonl")} <= {None, "rule"}


def test_a_model_that_cannot_be_asked_ends_the_command(run, folder, texts, server):
    server.script({"status": 401})
    options = ["--model", "openai/m", "--api-base", server.url, "--ledger", "l.sqlite"]
    done = run("perturb", texts, "-o", "out.jsonl", *KIND, *options)
    assert done.status == 2
    assert not (folder / "out.jsonl").exists()
