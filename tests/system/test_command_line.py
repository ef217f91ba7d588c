"""What every command says of itself, how it refuses, and how it runs as a process of its own."""

import json
import subprocess
import sys

import pytest
from locking import digest

COMMANDS = [
    *("check", "infer", "compile", "ablate", "show", "panel", "take", "score", "prefer"),
    *(
        "evaluate",
        "compare",
        "rate",
        "errors",
        "perturb",
        "discern",
        "benchmark",
        "suggest",
        "exemplars",
        "studio",
    ),
    *("distil", "finetune", "export", "serve", "recheck", "drift", "init", "experiment", "report"),
]
GROUPS = {
    "sheet": ["write", "read", "write-errors", "read-errors"],
    "data": ["list", "convert"],
    "ledger": ["stats", "prune", "export", "rescue"],
    "cache": ["stats", "prune", "export", "rescue"],
    "ratings": ["status", "export", "import"],
    "label": [
        "suggest",
        "status",
        "export",
        "import",
        "write",
        "read",
        "write-errors",
        "read-errors",
    ],
    "monitor": ["drift", "recheck"],
}
HIDDEN = {"take", "prefer", "exemplars", "errors", "perturb", "benchmark", "ablate", "finetune"}


def test_help(story):
    """Its options stand on file in clear, what it says of them as a digest."""
    below = [(group, one) for group, names in GROUPS.items() for one in names]
    for words in [(), *((one,) for one in [*COMMANDS, *GROUPS]), *below]:
        done = story.run(*words, "--help", text=False)
        lines = [line.split() for line in done.out.splitlines()]
        said = [word.strip(",") for line in lines for word in line[:3] if word.startswith("-")]
        story.keep("options", " ".join(said))


def test_every_command_is_in_the_lock(story):
    out = story.run("--help").out
    titled = out.partition("Judge:")[2].splitlines()
    listed = [line.split()[0] for line in titled if line.startswith("  ") and line[2] > " "]
    assert not set(listed) - {*COMMANDS, *GROUPS}
    below = {one for group in ("label", "monitor") for one in GROUPS[group]}
    assert set(COMMANDS) - {*listed, *below} == HIDDEN


REFUSED = {
    "no command": ["compil", "data.jsonl"],
    "no option": ["score", "judge", "data.jsonl", "-o", "x.jsonl", "--colour"],
    "missing option": ["score", "judge", "data.jsonl"],
    "no file": ["check", "date.jsonl"],
    "no judge": ["score", "judge", "data.jsonl", "-o", "x.jsonl"],
    "bad rows": ["check", "bad.jsonl"],
    "bad scale": ["check", "data.jsonl", "--scale", "5..1"],
    "bad map": ["check", "data.jsonl", "--map", "source=nowhere"],
    "no target": ["compile", "data.jsonl", "-o", "x", "--target", "flow"],
    "no kind": ["compile", "data.jsonl", "-o", "x", "--judge", "dirct"],
    "both": ["compile", "data.jsonl", "-o", "x", "--rubric", "r.yaml", "--criteria", "general"],
    "no objective": ["compile", "data.jsonl", "-o", "x", "--objective", "qq"],
    "no choice": ["compile", "data.jsonl", "-o", "x", "--choose", "answers=red"],
    "no model": ["compile", "data.jsonl", "-o", "x", "--model", "gpt-4o"],
    "no host": ["check", "data.jsonl", "--only-host", "a.example"],
    "no price": ["infer", "data.jsonl", "-o", "x.yaml", "--max-usd", "1", "--price", "x"],
    "bad number": ["compile", "data.jsonl", "-o", "x", "--rounds", "many"],
    "no form": ["export", "judge", "--to", "pickle", "-o", "x"],
    "no number": ["take", "judge", "1", "-o", "x"],
    "no run": ["report", "run"],
    "no spec": ["experiment", "spec.yaml", "-o", "run"],
    "bad spec": ["experiment", "bad.yaml", "-o", "run"],
    "no scores": ["evaluate", "scores.jsonl", "data.jsonl"],
    "no ledger": ["ledger", "stats", "--ledger", "none.sqlite"],
    "no cassette": ["infer", "data.jsonl", "-o", "x.yaml", "--replay", "none.jsonl"],
    "no set": ["data", "convert", "summevl", "data.jsonl", "-o", "x.jsonl"],
    "no rows": ["ablate", "data.jsonl", "-o", "x", "--rows", "nothing"],
    "not a judge": ["serve", "data.jsonl"],
    "no kinds": ["perturb", "data.jsonl", "-o", "x.jsonl", "--kinds", "nagation"],
    "no track": ["experiment", "good.yaml", "-o", "run", "--track", "mlflow"],
}


def test_refusals(story, data):
    story.write("bad.jsonl", '{"response": 1}\n{"source": "no response"}\nno JSON\n')
    story.write("bad.yaml", "name: x\ndata: {a: {path: data.jsonl, target: [x]}}\nseed: [0]\n")
    story.write("r.yaml", "criteria: {fluency: Is it?}\n")
    for command in REFUSED.values():
        done = story.run(*command, "--json")
        assert done.status == 2
        assert done.out == ""
        assert set(json.loads(done.err.splitlines()[-1])) == {"error", "where", "hint"}


@pytest.fixture
def start(folder):
    """Run a command as a process of its own."""

    def command(*words, given=None):
        call = [sys.executable, "-W", "error", "-m", "judgesmith", *map(str, words)]
        done = subprocess.run(
            call, cwd=folder, input=given, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return command


def test_commands_are_processes(story, judge, start):
    texts = '{"source": "The bridge opened.", "response": "It opened."}\n'
    name = judge("direct")
    status, out, err = start("score", name, "-", "-o", "scores.jsonl", "--json", given=texts)
    story.keep("score", [status, story.plain.table(json.loads(out)), err])
    story.keep("scores", story.plain.file(story.folder / "scores.jsonl"))
    status, out, err = start("check", "missing.jsonl")
    story.keep("check", [status, out, err])
    status, out, err = start("--version")
    story.keep("version", [status, out.split()[0], err])


def test_an_exported_file_judges_as_the_judge_does(story, judge, server, sample_rows):
    story.rows("texts.jsonl", sample_rows[:6])
    story.plain.passing |= {"run"}
    name = judge("vanilla")
    asked = ["--model", "openai/m", "--api-base", server.url]
    story.run("score", name, "texts.jsonl", "-o", "scores.jsonl", *asked)
    story.run("export", name, "--to", "python", "-o", "judge.py", "--json")
    with (story.folder / "texts.jsonl").open(encoding="utf-8") as given:
        done = subprocess.run(
            [sys.executable, "judge.py", "--model", "m", "--base-url", server.url],
            stdin=given,
            capture_output=True,
            text=True,
            check=True,
        )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    story.keep("rows", story.plain.table(rows))
    kept = (story.folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert [row["score"] for row in rows] == [json.loads(line)["score"] for line in kept]
    assert digest(done.stderr)
