"""The exported file over real HTTP: as a program, as a module, and by itself."""

import io
import json
import os
import shutil
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import loopback_offline
import openai
import pytest
from exporting import TEXTS, saved_of

from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.python_file import loaded
from judgesmith.programs.judging.runner import judge_items
from judgesmith.programs.lm import model

LINES = [
    json.dumps({"source_id": str(n), **one.model_dump(include={"source", "context", "response"})})
    for n, one in enumerate(TEXTS)
]


@pytest.fixture(scope="module")
def running_server():
    with loopback_offline.serving() as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A judge that says a number, and one that explains, with their files."""
    folder = tmp_path_factory.mktemp("files")
    judges = {
        "g_eval": saved_of("g-eval", asks="overall", weighting="none"),
        "fine": saved_of(max_tokens=900),
    }
    return {
        name: (one, export_judge(one, "python", folder / f"{name}.py").place)
        for name, one in judges.items()
    }


def run(module, arguments, lines=LINES):
    """Return exit status, rows and standard error of the program."""
    out, err = io.StringIO(), io.StringIO()
    sent = b"".join(one if isinstance(one, bytes) else one.encode() + b"\n" for one in lines)
    stdin = io.TextIOWrapper(io.BytesIO(sent), encoding="ascii")
    with mock.patch("sys.stdin", stdin), redirect_stdout(out), redirect_stderr(err):
        status = module.main([str(one) for one in arguments])
    return status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def check_rows(saved, rows):
    assert [row["source_id"] for row in rows] == ["0", "1"]
    for one, row in zip(saved.golden, rows, strict=True):
        assert row["score"] == pytest.approx(one.judgement.score, abs=1e-9)
        assert row["problem"] is None
        assert (row["judge"], row["target"]) == (saved.fingerprint, "overall")
        assert set(row["criteria"]) == set(one.judgement.criteria)


@pytest.mark.parametrize("name", ["g_eval", "fine"])
def test_the_program_scores_lines_as_the_judge_scored_them(name, made, server):
    saved, place = made[name]
    status, rows, said = run(loaded(place), ["--base-url", server.url])
    assert (status, said) == (0, "")
    check_rows(saved, rows)


def test_it_sends_what_the_package_sends(made, server, monkeypatch):
    saved, place = made["fine"]
    run(loaded(place), ["--base-url", server.url, "--model", "m", "--concurrency", 1])
    by_file = server.counts()["recent"]
    server.reset()
    judge_items(saved, TEXTS, lm=model("openai/m", api_base=server.url, ledger=None), concurrency=1)
    by_us = server.counts()["recent"]
    assert len(by_us) == len(by_file) == 4
    for ours, file in zip(by_us, by_file, strict=True):
        for field in ("model", "messages", "temperature", "max_tokens"):
            assert file["body"][field] == ours["body"][field], field


def test_the_function_takes_a_client_of_ones_own(made, server):
    saved, place = made["g_eval"]
    client = openai.OpenAI(base_url=server.url)
    first = TEXTS[0]
    row = loaded(place).judge(source=first.source, response=first.response, client=client)
    assert row["score"] == pytest.approx(saved.golden[0].judgement.score, abs=1e-9)
    assert "weighting" not in row


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ({"answer": "Sorry."}, "the model's answer could not be read: the answer lacks the field"),
        ({"answer": "[[ ## score ## ]] 4", "finish_reason": "length"}, "cut off at the model's"),
        ({"answer": "[[ ## score ## ]]\n9"}, "the model answered 9, outside 1..5"),
        ({"status": 422, "body": "{}"}, "the model refused the request: m: "),
        (
            {"status": 400, "body": '{"error": {"message": "maximum context length is 9"}}'},
            "the texts are longer than the model reads",
        ),
        ({"status": 503, "body": "{}"}, "the model could not be reached"),
        ({"body": '{"choices": []}'}, "the model could not be reached: m: the reply has no"),
    ],
)
def test_a_text_without_an_answer_is_unscored_and_says_why(behaviour, problem, made, server):
    _, place = made["g_eval"]
    server.script(behaviour)
    module = loaded(place)
    client = openai.OpenAI(base_url=server.url, max_retries=0)
    row = module.judge(source="s", response="r", client=client, model="m")
    assert row["score"] is None
    assert problem in row["problem"]


def test_a_wrong_key_ends_the_run_with_one_sentence(made, server):
    server.script({"status": 401, "body": '{"error": {"message": "no such key"}}'})
    status, rows, said = run(loaded(made["fine"][1]), ["--base-url", server.url])
    assert (status, rows) == (2, [])
    assert said.startswith("error: offline: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["[1]"], "line 1: expected a JSON object with source, response and perhaps context."),
        ([LINES[0], "", "{"], "line 3: expected a JSON object"),
        (['{"source": "s"}'], "line 1: response: expected a text; got nothing."),
        (['{"source": 1, "response": "r"}'], "line 1: source: expected a text; got int."),
        (['{"source": "s", "response": "r", "context": []}'], "context: expected a text; got list"),
        ([LINES[0], b'{"source": "\xe9"}'], "line 2: expected UTF-8; convert the file."),
        (
            ['{"source": "s", "response": "r", "system_id": {}}'],
            "line 1: system_id: expected an id; got dict.",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(lines, said, made, server):
    status, rows, error = run(loaded(made["fine"][1]), ["--base-url", server.url], lines)
    assert (status, rows) == (2, [])
    assert said in error
    assert server.counts()["requests"] == 0


def test_marks_of_utf8_and_numbers_as_ids_are_read_as_score_reads_them(made, server):
    first = (
        b'\xef\xbb\xbf{"source": "\xc3\xa9", "response": "r", "source_id": 7.0, "system_id": null}'
    )
    status, rows, said = run(loaded(made["fine"][1]), ["--base-url", server.url], [first])
    assert (status, said) == (0, "")
    assert [(row["source_id"], row["system_id"]) for row in rows] == [("7", "")]


def test_rows_without_a_score_are_counted(made, server):
    server.script({"answer": "Sorry.", "times": 2})
    options = ["--base-url", server.url, "--concurrency", 1]
    status, rows, said = run(loaded(made["g_eval"][1]), options)
    assert (status, [row["score"] is None for row in rows]) == (0, [True, False])
    assert said.startswith("1 of 2 rows without a score; the first, because the model's answer")


def test_help_says_which_model_is_asked(tmp_path, capsys):
    saved = saved_of(variant="vanilla", model="openai/100%s")
    module = loaded(export_judge(saved, "python", tmp_path / "judge.py").place)
    with pytest.raises(SystemExit, match="0"):
        module.main(["--help"])
    assert "[default: 100%s]" in " ".join(capsys.readouterr().out.split())


def test_a_missing_key_or_file_is_refused(made, monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    module = loaded(made["fine"][1])
    assert "set OPENAI_API_KEY in the environment" in run(module, [])[2]
    assert run(module, [tmp_path / "missing.jsonl"])[0] == 2


@pytest.mark.openai
@pytest.mark.parametrize("name", ["g_eval", "fine"])
def test_an_environment_with_only_the_openai_client_is_enough(name, made, server, tmp_path):
    saved, place = made[name]
    python = os.environ.get("JUDGESMITH_OPENAI_PYTHON")
    if python is None:
        pytest.skip("no $JUDGESMITH_OPENAI_PYTHON; .ci/services/openai makes one")
    shutil.copy(place, tmp_path)
    done = subprocess.run(
        [python, "-W", "error", place.name, "--base-url", server.url],
        input="\n".join(LINES),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"OPENAI_API_KEY": "sk-test", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    check_rows(saved, [json.loads(line) for line in done.stdout.splitlines()])
    without = subprocess.run([python, "-c", "import judgesmith"], capture_output=True, cwd=tmp_path)
    assert without.returncode == 1
