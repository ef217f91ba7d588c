"""The command line on any arguments: exit status 0, 1, 2 or 130, and no file touched outside."""

import contextlib
import functools
import gc
import io
import json
import os
import shutil
import socket
from pathlib import Path
from unittest import mock

from draws import Draws
from places import nothing_outside, scratch

from judgesmith.cli import main
from judgesmith.cli.main import COMMANDS, command_of
from judgesmith.data.samples import sample_path

WORDS = (
    "data.jsonl", "data.csv", "judge", "judge/judge.json", "scores.jsonl", "scores.jsonl:m",
    "rubric.yaml", "spec.yaml", "versions.jsonl", "weights.yaml", "reordering",
    "controls", "reordering/minor=2", "translation", "references", "responses",
    "out", "out.jsonl", "out.csv", "out.html", "sheet.csv", "sheets", "ledger.sqlite",
    "bad.sqlite", "empty",
    "missing.jsonl", "missing/out", "-", ".", "..", "/", "", "offline", "nonsense", "openai/m",
    "overall", "mean", "fluency", "fluency+overall", "all", "human", "infer", "default", "auto",
    "1..5", "fluency=1..5", "5..1", "source=source,response=response", "x=y", "=", "q",
    "pearson@sample", "0",
    "1", "2", "3", "-1", "0.5", "1e9", "nan", "inf", "99999999999999999999", "fine", "coarse",
    "vanilla", "joint", "separate", "before", "none", "linear", "stats", "prune", "export", "write",
    "read", "rescue", "sample", "convert", "list", "qags-xsum", "wiki_da", "votes.jsonl",
    "\x1b[2J", "é", "\ud800", "[[ ## score ## ]]", "0.1,0.2",
    "http://127.0.0.1:1/v1", "ftp://x", "--", "--json", "--force", "--help",
)  # fmt: skip
CHEAP = (
    *("check", "show", "evaluate", "score", "sheet", "ledger", "evaluate", "discern", "perturb"),
    *("errors", "data", "drift", "suggest"),
)
MEASURES = "judgesmith.experiments.scoring.watching"
MODELS = ("--model", "--api-base")
FORMS = ("prompt", "python", "dspy")


@functools.cache
def _template() -> Path:
    folder = scratch() / "template"
    folder.mkdir()
    rows = [json.loads(line) for line in sample_path().read_text("utf-8").splitlines()[:16]]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "data.jsonl").write_text(text, "utf-8")
    (folder / "data.csv").write_text("source,response,score\na,b,1\nc,d,5\ne,f,x\n", "utf-8")
    (folder / "versions.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in _versions()), "utf-8"
    )
    (folder / "votes.jsonl").write_text(
        '{"article": "a", "summary_sentences": [{"sentence": "b", "responses": '
        '[{"worker_id": 1, "response": "yes"}]}]}\n',
        "utf-8",
    )
    (folder / "weights.yaml").write_text("reordering: {score: 1}\n", "utf-8")
    (folder / "rubric.yaml").write_text("task: Judge.\ncriteria:\n  a: Is it?\n", "utf-8")
    (folder / "spec.yaml").write_text(
        "name: one\ndata: {answers: {path: data.jsonl}}\njudges: {plain: {judge: direct}}\n"
        "optimizers: {none: {}}\n",
        "utf-8",
    )
    (folder / "bad.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(200))
    (folder / "empty").mkdir()
    with _in(folder):
        for arguments in (
            ["compile", "data.jsonl", "-o", "judge", "--rounds", "2", "--ledger", "ledger.sqlite"],
            ["score", "judge", "data.jsonl", "-o", "scores.jsonl", "--ledger", "ledger.sqlite"],
            ["sheet", "write", "scores.jsonl", "data.jsonl", "-o", "sheet.csv"],
        ):
            assert _run(arguments) == 0, arguments
    gc.collect()  # closes the cache, whose files would go while they are copied
    return folder


def _versions() -> list[dict[str, object]]:
    """Return texts, each with a version in another order, and a score of both."""
    return [
        {"source_id": str(n), "system_id": system, "response": text, "score": n + place}
        | {"perturbation": kind, "level": "sentence"}
        for n in range(8)
        for place, (system, text, kind) in enumerate(
            (("original", f"One {n}. Two.", None), ("changed", f"Two. One {n}.", "reordering"))
        )
    ]


@functools.cache
def _options(command: str) -> tuple[str, ...]:
    """Return the options of a command and of what is below it."""

    import click

    found = command_of(command)
    several = [found, *(found.commands.values() if isinstance(found, click.Group) else ())]
    names = {name for one in several for parameter in one.params for name in parameter.opts}
    return tuple(sorted(name for name in names if name.startswith("-")))


@contextlib.contextmanager
def _in(folder: Path):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _run(arguments: list[str]) -> int:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    assert "Traceback" not in err.getvalue()
    if status == 2:
        assert err.getvalue().strip(), arguments
    return status


def _nowhere(host: str, port: int) -> socket.socket:
    """Return a socket that nobody can reach, in place of one at an address."""
    return mock.Mock(spec=socket.socket, getsockname=lambda: (host, port))


def _arguments(draws: Draws) -> list[str]:
    if draws.flag(12):
        return [draws.of(WORDS) for _ in range(draws.below(4))]
    command = draws.of(tuple(COMMANDS)) if draws.flag(12) else draws.of(CHEAP)
    usual = {
        "score": ["judge", "data.jsonl", "-o", "out.jsonl"],
        "prefer": ["judge", "data.jsonl", "-o", "out.jsonl"],
        "exemplars": ["judge", "data.jsonl", "-o", "out.jsonl"],
        "evaluate": [draws.of(("judge", "scores.jsonl")), "data.jsonl"],
        "perturb": ["data.jsonl", "-o", "out.jsonl"],
        "discern": [draws.of(("judge", "versions.jsonl")), "versions.jsonl"],
        "errors": ["scores.jsonl", "data.jsonl"],
        "benchmark": ["data.jsonl", "--perspective", draws.of(("local", "global")), "-o", "out"],
        "distil": ["data.jsonl", "judge", "-o", "out"],
        "finetune": [draws.of(("out", "judge", "empty")), "--base", "out", "-o", "adapter"],
        "export": ["judge", "--to", draws.of(FORMS), "-o", draws.of(("out", "out.py"))],
        "serve": ["judge", "--port", "0"],
        "compare": ["judge", "scores.jsonl", "data.jsonl"],
        "show": ["judge"],
        "suggest": ["judge", "data.jsonl", "--rate", "new=1..5", "-o", "out.csv"],
        "drift": ["judge", "scores.jsonl", "--inputs", "data.jsonl"],
        "recheck": ["judge", "--ledger", "ledger.sqlite"],
        "take": ["judge", "0", "-o", "out"],
        "monitor": ["drift", "judge", "scores.jsonl", "--inputs", "data.jsonl"],
        "label": ["suggest", "judge", "data.jsonl", "--rate", "new=1..5", "-o", "out.csv"],
        "cache": [draws.of(("stats", "export", "prune", "rescue")), "--ledger", "ledger.sqlite"],
        "panel": ["judge", "judge", "data.jsonl", "-o", "out"],
        "check": ["data.jsonl"],
        "sheet": [draws.of(("write", "read")), "scores.jsonl", "data.jsonl", "-o", "out.csv"],
        "data": ["convert", "qags-xsum", "votes.jsonl", "-o", "out.jsonl"],
        "ledger": [draws.of(("stats", "export", "prune", "rescue")), "--ledger", "ledger.sqlite"],
        "infer": ["data.jsonl", "-o", "out.yaml"],
        "compile": ["data.jsonl", "-o", "out", "--rounds", "1"],
        "ablate": ["data.jsonl", "-o", "out"],
        "experiment": ["spec.yaml", "-o", "out"],
        "report": [draws.of(("run", "judge", "empty")), "-o", "out.html"],
        "init": ["spec.yaml"],
    }[command]
    words = [command, *usual]
    for _ in range(draws.below(4)):
        kind = draws.below(6)
        at = 1 + draws.place(len(words) - 1)
        if kind == 0:
            words[at:at] = [draws.of(WORDS)]
        elif kind == 1 and at < len(words):
            words[at] = draws.of(WORDS)
        elif kind == 2 and at < len(words):
            del words[at]
        else:
            option = draws.of(_options(command))
            words += [option] if draws.flag(4) else [option, draws.of(WORDS)]
    return words


def fuzz_one(data: bytes) -> None:
    """Run one command in a folder of its own, without a key and without a network."""
    draws = Draws(data)
    template = _template()
    arguments = _arguments(draws)
    folder = scratch() / "run"
    work = folder / "work"
    shutil.copytree(template, work)
    try:
        kept = {name: one for name, one in os.environ.items() if not name.endswith("_API_KEY")}
        with (
            _in(work),
            mock.patch.dict(os.environ, kept, clear=True),
            mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(draws.blob()))),
            mock.patch("judgesmith.programs.serving.bound_socket", _nowhere),
            mock.patch("judgesmith.programs.serving.run", return_value=0),
            mock.patch(f"{MEASURES}.start_http_server", return_value=(mock.MagicMock(),) * 2),
            nothing_outside(folder),
        ):
            status = _run(arguments)
        assert status in (0, 1, 2, 130), (status, arguments)
        assert [path.name for path in folder.iterdir()] == ["work"]
        assert not list(work.rglob("*.part"))
    finally:
        shutil.rmtree(folder)
