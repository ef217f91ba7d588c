"""Scoring in batches against a loopback implementation of OpenAI's files and batches."""

import json
import os
import signal
import time
from pathlib import Path

import loopback_batches
import pytest

from judgesmith.cli import main
from judgesmith.programs.lm import ResponseCache
from judgesmith.programs.lm.batches import BatchCoordinator
from judgesmith.programs.lm.batches import client as engine_module
from judgesmith.programs.lm.batches.state import BatchState

N_ROWS, N_CALLS = 8, 2


@pytest.fixture(scope="module")
def batch_server():
    with loopback_batches.serving() as server:
        yield server


@pytest.fixture
def server(batch_server, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    batch_server.reset()
    return batch_server


@pytest.fixture
def texts(folder, sample_rows):
    path = folder / "texts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sample_rows[:N_ROWS]))
    return path


@pytest.fixture
def score(run, judge, texts, server):
    """Score the texts with options of one's own; every name of an output has its own ledger."""

    def command(name, *options):
        asked = ["--model", "openai/m", "--api-base", server.url, "--ledger", f"{name}.sqlite"]
        return run("score", judge, texts, "-o", f"{name}.jsonl", *asked, "--json", *options)

    return command


@pytest.fixture
def in_batches(score):
    def command(name, *options):
        return score(name, "--batch", "--poll", "0.001", *options)

    return command


@pytest.fixture
def plain(score, folder):
    """The rows of ordinary scoring, as bytes."""
    done = score("plain")
    assert (done.status, done.json["calls"]) == (0, N_ROWS * N_CALLS)
    return (folder / "plain.jsonl").read_bytes()


@pytest.fixture
def place(folder):
    """A folder for files of requests and answers."""
    made = folder / "batches"
    made.mkdir()
    return made


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]


def answered(line, server):
    """Return what the server says of one request, as a line of a file of answers."""
    said = {"status_code": 200, "body": server._ask(line["url"], line["body"])}
    return {"custom_id": line["custom_id"], "response": said}


def problems(path):
    return [one["problem"] for one in lines_of(path)]


def test_rows_are_those_of_ordinary_scoring_and_nothing_is_left_beside_them(
    in_batches, plain, folder, server
):
    asked = server.counts()["requests"]
    done = in_batches("batched")
    assert (done.status, done.err) == (0, f"asking openai/m at {server.url}\n")
    assert done.json["calls"] == N_ROWS * N_CALLS
    assert (folder / "batched.jsonl").read_bytes() == plain
    counts = server.batch_counts()
    assert [one["status"] for one in counts["batches"]] == ["completed"] * N_CALLS
    assert set(counts["accepted"].values()) == {1}
    assert server.counts()["requests"] == asked + N_ROWS * N_CALLS
    assert not [one.name for one in folder.iterdir() if "batch" in one.name and "." not in one.name]
    assert not list(folder.glob("*.batch")) + list(folder.glob(".*jsonl*"))
    again = in_batches("batched").json
    assert (again["calls"], len(server.batch_counts()["batches"])) == (0, N_CALLS)


@pytest.mark.parametrize("fate", ["expired", "scrambled"])
def test_what_a_batch_leaves_unanswered_goes_into_another(fate, in_batches, plain, folder, server):
    server.script({"batch": fate})
    assert in_batches("batched").status == 0
    assert (folder / "batched.jsonl").read_bytes() == plain
    assert len(server.batch_counts()["batches"]) > N_CALLS


def test_requests_that_no_batch_answers_are_given_up_with_the_reason(in_batches, folder, server):
    server.script({"batch": "failed", "times": 99})
    done = in_batches("batched")
    assert (done.status, done.json["unscored"], done.json["calls"]) == (1, N_ROWS, 3 * N_ROWS)
    assert len(server.batch_counts()["batches"]) == 3
    (reason,) = set(problems(folder / "batched.jsonl"))
    assert reason.startswith("the model could not be reached: openai/m at http://127.0.0.1:")
    assert "the batch batch_2 is failed: scripted failure, tried 3 times" in reason


def test_a_refusal_of_one_item_leaves_it_unscored_as_in_ordinary_scoring(
    score, in_batches, folder, server, texts
):
    word = json.loads(texts.read_text().splitlines()[2])["response"][:30]
    no = {"contains": json.dumps(word)[1:-1], "status": 400}
    yes = {"answer": "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"}
    server.script(no, yes)
    score("plain")
    in_batches("batched")
    assert (folder / "batched.jsonl").read_bytes() == (folder / "plain.jsonl").read_bytes()
    assert any("refused the request" in str(one) for one in problems(folder / "batched.jsonl"))


@pytest.mark.parametrize(
    ("path", "method", "fault"),
    [
        ("/files", "POST", "lost"),
        ("/batches", "POST", "lost"),
        ("/files/", "GET", "lost"),
    ],
)
def test_faults_of_the_service_are_outlived_and_nothing_is_submitted_twice(
    path, method, fault, in_batches, folder, server
):
    server.script({"http": {"path": path, "method": method, "fault": fault}})
    done = in_batches("batched")
    assert (done.status, done.json["unscored"]) == (0, 0)
    assert set(server.batch_counts()["accepted"].values()) == {1}


@pytest.mark.parametrize("path", ["/batches/", "/files/"])
def test_what_the_server_does_not_know_at_first_is_looked_for_again(path, in_batches, server):
    server.script({"http": {"path": path, "method": "GET", "fault": 404}, "times": 3})
    done = in_batches("batched")
    assert (done.status, done.json["unscored"]) == (0, 0)
    assert set(server.batch_counts()["accepted"].values()) == {1}


@pytest.mark.parametrize("removes", [False, True])
def test_a_batch_that_is_gone_is_paid_again_only_where_somebody_says_so(
    removes, in_batches, plain, folder, server
):
    server.script({"http": {"path": "/batches/", "method": "GET", "fault": 404}, "times": 10})
    done = in_batches("batched")
    assert done.status == 2
    assert "does not know batch_0, or what came of it (HTTP 404, 10 times)" in done.err
    assert f"remove batched.jsonl.batch: then its {N_ROWS} requests" in done.err
    assert len(server.batch_counts()["batches"]) == 1
    if removes:
        (folder / "batched.jsonl.batch").unlink()
    assert in_batches("batched").json["unscored"] == 0
    assert (folder / "batched.jsonl").read_bytes() == plain
    assert set(server.batch_counts()["accepted"].values()) == ({1, 2} if removes else {1})


def test_a_wrong_key_ends_the_run_and_the_next_one_goes_on(in_batches, server):
    server.script({"http": {"path": "/files", "method": "POST", "fault": 401}})
    done = in_batches("batched")
    assert done.status == 2
    assert "HTTP 401" in done.err
    assert in_batches("batched").json["unscored"] == 0


def killed(k, after, arguments):
    """Run a command in a process of its own that is killed at its k-th step; say whether it was."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    steps = 0
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def step(function):
        def counted(*given, **named):
            nonlocal steps
            steps += 1
            if steps == k and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            found = function(*given, **named)
            if steps == k and after:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return counted

    for owner, names in (
        (BatchState, ("new_part", "move", "drop", "granted", "remove", "finished")),
        (ResponseCache, ("perform",)),
        (engine_module.BatchEngine, ("send", "fetch")),
    ):
        for name in names:
            setattr(owner, name, step(getattr(owner, name)))
    os._exit(main([str(one) for one in arguments]))


@pytest.mark.no_cover
def test_killed_at_any_step_it_goes_on_and_submits_nothing_twice(
    run, judge, texts, server, plain, folder
):
    asked = ["--model", "openai/m", "--api-base", server.url, "--batch", "--poll", "0.001"]
    n_kills = 0
    for k in range(1, 99, 8):
        name = f"batched{k}"
        server.reset()
        whole = ["score", judge, texts, "-o", f"{name}.jsonl", *asked]
        whole += ["--ledger", f"{name}.sqlite", "--max-calls", N_ROWS * N_CALLS]
        if not killed(k, k % 16 == 1, whole):
            break
        n_kills += 1
        done = run(*whole)
        assert done.status == 0, done.err
        assert (folder / f"{name}.jsonl").read_bytes() == plain, k
        assert set(server.batch_counts()["accepted"].values()) == {1}, k
        assert not list(folder.glob("*.batch")) + list(folder.glob(".*jsonl*"))
    assert n_kills > 3


@pytest.mark.no_cover
def test_ctrl_c_says_how_to_go_on_and_the_batch_is_not_submitted_again(
    run, start, judge, texts, server, folder
):
    server.script({"batch": "slow"})
    asked = ["--model", "openai/m", "--api-base", server.url, "--batch", "--poll", "0.05"]
    command = ["score", judge, texts, "-o", "batched.jsonl", *asked, "--json"]
    process = start(*command)
    end = time.monotonic() + 120
    while not server.batch_counts()["batches"] and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said.count("\n")) == (130, 2)  # what is asked, and the stop
    assert "run the same command again to resume" in said
    server._ask("/v1/batches/batch_0/cancel", {})
    assert run(*command).json["unscored"] == 0
    n_times = list(server.batch_counts()["accepted"].values())
    assert n_times.count(2) == N_ROWS // 2  # what the cancelled batch left


@pytest.mark.parametrize("calls", [1, 9])
def test_a_ceiling_on_calls_holds_exactly_and_is_spent_on_items_that_it_can_finish(
    calls, in_batches, folder, server
):
    done = in_batches("batched", "--max-calls", calls)
    assert done.status == 0
    assert sum(server.batch_counts()["accepted"].values()) == calls
    found = problems(folder / "batched.jsonl")
    assert found.count(None) == calls // N_CALLS
    reason = f"not asked: the budget of {calls} calls is spent."
    assert set(found) - {None} == {reason}
    more = in_batches("batched", "--max-calls", 1000).json
    assert more["unscored"] == 0
    assert set(server.batch_counts()["accepted"].values()) == {1}


def test_ceilings_on_tokens_and_dollars_hold(in_batches, folder, server):
    server.script({"answer": "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"})
    for name, options, most in (
        ("tokens", ["--max-tokens", 9000], 9000),
        ("dollars", ["--max-usd", 0.009, "--price", "1,1"], 9000),
    ):
        done = in_batches(name, *options)
        spent = ResponseCache(folder / f"{name}.sqlite").query("SELECT tokens, usd FROM runs")
        assert 0 < spent[0][0] <= most
        assert 0 < done.json["unscored"] <= N_ROWS
        assert "not asked: the budget of " in str(problems(folder / f"{name}.jsonl"))


def test_requests_in_files_are_answered_by_whoever_submits_them(
    score, plain, place, folder, server
):
    for number in range(1, N_CALLS + 1):
        done = score("filed", "--batch-files", place)
        (name,) = done.json["waiting"]
        assert name == str(place / f"requests-{number:04}.jsonl")
        assert score("filed", "--batch-files", place).json["waiting"] == [name]
        lines = lines_of(name)
        assert len(lines) == N_ROWS
        answers = [answered(one, server) for one in lines]
        (place / f"answers-{number}.jsonl").write_text("\n".join(map(json.dumps, answers)))
    done = score("filed", "--batch-files", place)
    assert done.json["unscored"] == 0
    assert (folder / "filed.jsonl").read_bytes() == plain
    assert server.batch_counts()["uploads"] == 0


def test_a_file_that_is_answered_in_part_is_followed_by_one_with_the_rest(score, place, server):
    (name,) = score("filed", "--batch-files", place).json["waiting"]
    lines = lines_of(name)
    one = lines[0]
    (place / "some.jsonl").write_text(json.dumps(answered(one, server)) + "\n{\n")
    (rest,) = score("filed", "--batch-files", place).json["waiting"]
    asked = {line["custom_id"] for line in lines_of(rest)}
    assert {two["custom_id"] for two in lines[1:]} < asked
    assert one["custom_id"] not in asked


def test_a_line_that_never_ends_is_refused(score, place, monkeypatch):
    (name,) = score("filed", "--batch-files", place).json["waiting"]
    monkeypatch.setattr(engine_module, "LONGEST", 2**20)
    (place / "answers.jsonl").write_text("{}\n" + " " * 2**20 + "{}\n")
    done = score("filed", "--batch-files", place)
    assert done.status == 2
    assert "answers.jsonl, line 2: expected one answer of at most 1 MiB; got a lon" in done.err
    assert Path(name).exists()


def test_a_copy_of_the_requests_in_the_folder_answers_none_of_them(score, place):
    (name,) = score("filed", "--batch-files", place).json["waiting"]
    (place / "submitted.jsonl").write_bytes(Path(name).read_bytes())
    assert score("filed", "--batch-files", place).json["waiting"] == [name]


def test_a_file_of_answers_that_is_still_being_copied_does_not_count(score, place, server):
    (name,) = score("filed", "--batch-files", place).json["waiting"]
    whole = b"".join(json.dumps(answered(one, server)).encode() + b"\n" for one in lines_of(name))
    (place / "answers.jsonl").write_bytes(whole[: len(whole) // 2])
    done = score("filed", "--batch-files", place)
    assert (done.status, "answers.jsonl ends amid a line" in done.err) == (2, True)
    assert Path(name).exists()
    (place / "answers.jsonl").write_bytes(whole)
    (second,) = score("filed", "--batch-files", place).json["waiting"]
    assert len(lines_of(second)) == N_ROWS  # the second questions, and none of the first


def test_what_ordinary_scoring_paid_after_a_batch_was_given_up_stays_paid(
    score, in_batches, folder, monkeypatch
):
    def stopped(coordinator):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(BatchCoordinator, "send", stopped)
        assert in_batches("both").status == 130
    assert score("both").json["unscored"] == 0
    ledger = ResponseCache(folder / "both.sqlite")
    ((run,),) = ledger.query("SELECT name FROM runs")
    before = ledger.spent(run)
    assert before.calls == N_ROWS * N_CALLS
    (folder / "both.jsonl").unlink()
    assert in_batches("both").json["unscored"] == 0
    after = ledger.spent(run)
    assert (after.calls, after.tokens) == (before.calls, before.tokens)


def test_batches_of_another_run_are_not_mixed(run, judge, in_batches, texts, server, score):
    server.script({"http": {"path": "/batches/", "method": "GET", "fault": 401}})
    assert in_batches("batched").status == 2
    assert "use --batch, as before" in score("batched", "--batch-files", ".").err
    texts.rename("other.jsonl")
    asked = ["--model", "openai/m", "--api-base", server.url, "--batch"]
    done = run("score", judge, "other.jsonl", "-o", "batched.jsonl", *asked)
    assert (done.status, "another judge, input or model" in done.err) == (2, True)


def test_a_file_of_another_run_is_refused_before_anything_is_asked(in_batches, folder, server):
    (folder / "batched.jsonl").write_text('{"judge": "another"}\n')
    done = in_batches("batched")
    assert (done.status, "rows of the judge another" in done.err) == (2, True)
    assert server.batch_counts()["uploads"] == 0
    assert not list(folder.glob("*.batch"))


def test_several_files_are_asked_about_together(run, judge, folder, server, sample_rows, score):
    for name, rows in (("a", sample_rows[:3]), ("b", sample_rows[3:N_ROWS])):
        path = folder / "in" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ["--model", "openai/m", "--api-base", server.url, "--batch", "--poll", "0.001"]
    done = run("score", judge, "in", "-o", "out/", *asked, "--json")
    assert (done.status, done.json["rows"], done.json["unscored"]) == (0, N_ROWS, 0)
    assert run("score", judge, "in", "-o", "out/", *asked, "--json").json["calls"] == 0
    score("plain")
    found = [(folder / "out" / f"{name}.jsonl").read_text() for name in "ab"]
    whole = [json.loads(line) for line in (folder / "plain.jsonl").read_text().splitlines()]
    rows = [json.loads(line) for line in "".join(found).splitlines()]
    assert [{**row, "run": ""} for row in rows] == [{**row, "run": ""} for row in whole]


def test_two_processes_are_not_at_work_on_the_same_rows(in_batches, folder):
    held = BatchState(folder / "batched.jsonl.batch", run="another")
    done = in_batches("batched")
    assert (done.status, "another process is at work with the batches" in done.err) == (2, True)
    held.close()
    assert in_batches("batched").json["unscored"] == 0


def test_the_state_holds_no_text_and_no_key(in_batches, folder, server, monkeypatch, texts):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-123456")
    server.script({"http": {"path": "/batches/", "method": "GET", "fault": 401}})
    assert in_batches("batched").status == 2
    (state,) = folder.glob("*.batch")
    kept = state.read_bytes()
    assert state.stat().st_mode & 0o777 == 0o600
    assert b"very-secret" not in kept
    assert json.loads(texts.read_text().splitlines()[0])["response"][:20].encode() not in kept
