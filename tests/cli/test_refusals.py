"""Bad input, command by command: what is said, with status 2, and nothing left behind."""

import json
import os
import re
import time

import pytest

ROW = {"source": "The sun is hot.", "response": "Hot.", "human": {"overall": [3]}}
SCALE = {"overall": [1, 5]}


def rated(n_sources=8, **fields):
    return [
        ROW
        | {"source_id": f"s{n}", "source": f"Source {n}."}
        | {"human": {"overall": [1 + n % 5]}, "scale": SCALE}
        | fields
        for n in range(n_sources)
    ]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES = {
    "good.jsonl": jsonl(rated()),
    "line7.jsonl": jsonl(rated(6)) + '{"source": "x", \n' + jsonl(rated(2)),
    "off.jsonl": jsonl([*rated(3), ROW | {"human": {"overall": [9]}, "scale": SCALE}]),
    "unrated.jsonl": jsonl([{"source": "a", "response": "b"}] * 3),
    "constant.jsonl": jsonl(rated(human={"overall": [3]})),
    "one.jsonl": jsonl(rated(source="Only one.", source_id="s")),
    "noscale.jsonl": jsonl([ROW]),
    "list.jsonl": "[1, 2]\n",
    "empty.jsonl": "",
    "latin.csv": "source,response,score\né,b,1\n".encode("latin-1"),
    "two.csv": "source,article,response,score\na,b,c,1\n",
    "flat.csv": "text,answer,stars\na,b,3\nc,d,4\n",
    "cells.csv": "source,response,score\na,b\n",
    "words.csv": "source,response,score\na,b,four\n",
    "broken.json": "{",
    "scores.jsonl": jsonl([{"source_id": "zz", "system_id": "", "score": 1.0}]),
    "fits.jsonl": jsonl([{"source_id": f"s{n}", "score": 1.0} for n in range(8)]),
    "twice.jsonl": jsonl([{"source_id": "s1", "score": 1.0}] * 2),
    "judges.jsonl": jsonl([{"source_id": "s1", "judge": name, "scores": [1]} for name in "ab"]),
    "text.jsonl": jsonl([{"source_id": "s1", "score": "good"}]),
    "notes.txt": "hello",
    "bad.gz": "hello",
    "bad.jsonl.gz": "hello",
    "bad.yaml": "criteria: [",
    "list.yaml": "- a",
    "twice.yaml": "task: x\ncriteria: [{name: a, definition: b}, {name: a, definition: c}]",
    "plain.sqlite": "this is no database, whatever its name may say about it" * 20,
}

COMPILE = ["compile", "good.jsonl", "-o", "new"]

REFUSED = [
    # data, through every command that reads it
    ("check missing.jsonl", "there is no file missing.jsonl."),
    ("check folder", "folder is a folder.\n(name a file in it.)"),
    ("check notes.txt", "notes.txt: file name: expected an ending of .jsonl"),
    ("check bad.gz", "bad.gz: file name: expected an ending of .jsonl"),
    ("check bad.jsonl.gz", "bad.jsonl.gz: file: expected a whole gzip file"),
    ("check line7.jsonl", "line7.jsonl:7: line: expected one JSON object; got"),
    ("check list.jsonl", "list.jsonl:1: line: expected one JSON object; got [1, 2]"),
    ("check broken.json", "broken.json:1: file: expected one JSON document"),
    ("check empty.jsonl", "empty.jsonl: file: expected at least one row; got none"),
    ("check off.jsonl", "off.jsonl:4: human.overall"),
    ("check noscale.jsonl", "--scale"),
    ("check latin.csv", "latin.csv:2: encoding: expected UTF-8"),
    ("check cells.csv", "cells.csv:2: row: expected 3 cells, as in the header; got 2"),
    ("check words.csv --scale 1..5", "words.csv:2: score: expected a number"),
    ("check flat.csv --map source=nothing", "nothing"),
    ("check flat.csv --map source", "source"),
    ("check good.jsonl --scale 5..1", "got 5 and 1"),
    ("check good.jsonl --scale 1..5 --scale overal=1..5", "--scale is given once for all or by"),
    ("check good.jsonl --scale 1..5 --scale 0..1", "name the criterion of each scale"),
    ("check good.jsonl --target overal", "did you mean overall?"),
    ("check good.jsonl --aggregate average", "Invalid value for '--aggregate'"),
    ("compile missing.jsonl -o new", "there is no file missing.jsonl."),
    ("compile line7.jsonl -o new", "line7.jsonl:7: line: expected one JSON object; got"),
    ("compile unrated.jsonl -o new", "unrated has no ratings to agree with; its 3 items"),
    ("compile constant.jsonl -o new", "all 8 rated items have the same value on overall, 3"),
    ("compile one.jsonl -o new", "there is 1 source; holding some out needs at least 2."),
    ("compile one.jsonl -o new --holdout 0", "must not share a source"),
    ("compile good.jsonl -o new --target overal", "did you mean overall?"),
    ("compile good.jsonl -o new --holdout 1", "Invalid value for '--holdout'"),
    ("compile good.jsonl -o new --objective spearmen", "spearmen"),
    ("compile good.jsonl -o new --objective q@word", "level must be one of"),
    ("compile good.jsonl -o new --rubric missing.yaml", "missing.yaml: cannot read the rubric"),
    ("compile good.jsonl -o new --rubric bad.yaml", "bad.yaml: "),
    ("compile good.jsonl -o new --rubric list.yaml", "list.yaml: expected a mapping"),
    ("compile good.jsonl -o new --rubric twice.yaml", "twice.yaml"),
    ("compile good.jsonl", "Missing option '-o'"),
    # where results go
    ("compile good.jsonl -o no/where", "there is no folder no to put where in; make it first."),
    ("compile good.jsonl -o /proc/new", "nothing can be written in /proc"),
    ("compile good.jsonl -o folder", "folder is there and holds no judge; name another folder."),
    ("compile good.jsonl -o folder --force", "folder is there and holds no judge"),
    ("compile good.jsonl -o notes.txt", "notes.txt is there and holds no judge"),
    ("compile good.jsonl -o judge", "judge holds a judge from another run"),
    ("score judge good.jsonl -o no/where.jsonl", "there is no folder no"),
    ("score judge good.jsonl -o /proc/out.jsonl", "nothing can be written in /proc"),
    (
        "score judge good.jsonl -o out.csv",
        "rows are written as JSON Lines.\n(name a file in .jsonl",
    ),
    ("score judge good.jsonl -o good.jsonl", "good.jsonl is the input itself; name another file."),
    ("score judge good.jsonl -o line7.jsonl", "line7.jsonl holds something else than scores"),
    ("ledger export -o no/where.jsonl --ledger missing.sqlite", "there is no folder no"),
    # judges
    ("show missing", "missing: no judge there; expected a judge.json."),
    ("show folder", "folder: no judge there; expected a judge.json."),
    ("show tampered", "changed since it was saved"),
    ("show judge --diff missing", "missing: no judge there"),
    ("score missing good.jsonl -o out.jsonl", "missing: no judge there"),
    ("score tampered good.jsonl -o out.jsonl", "changed since it was saved"),
    ("score judge missing.jsonl -o out.jsonl", "there is no file missing.jsonl."),
    ("score judge empty.jsonl -o out.jsonl", "expected at least one row; got none"),
    ("score judge latin.csv -o out.jsonl", "latin.csv:2: encoding: expected UTF-8"),
    ("score judge good.jsonl -o out.jsonl --max-unscored 2", "Invalid value for '--max-unscored'"),
    ("evaluate missing good.jsonl", "there is no judge and no file of scores called missing"),
    ("evaluate tampered good.jsonl", "changed since it was saved"),
    ("evaluate judge unrated.jsonl", "unrated has no ratings to agree with"),
    ("evaluate judge good.jsonl --target fluenci", "nobody rated 'fluenci' in good"),
    # scores
    ("evaluate scores.jsonl good.jsonl", "expected ids that occur in good"),
    ("evaluate empty.jsonl good.jsonl", "empty.jsonl: file: expected at least one row; got none"),
    ("evaluate line7.jsonl good.jsonl", "line7.jsonl:7: line: expected one JSON object"),
    ("evaluate text.jsonl good.jsonl", "text.jsonl:1: score: expected a number, or null"),
    ("evaluate good.jsonl good.jsonl", "good.jsonl:1: score: expected a number, or null with a"),
    ("evaluate twice.jsonl good.jsonl", "twice.jsonl:2: source_id, system_id: expected one score"),
    (
        "evaluate judges.jsonl good.jsonl",
        "one of a, b; got nothing\n(say which with judges.jsonl:NAME)",
    ),
    ("evaluate judges.jsonl:c good.jsonl", "one of a, b; got 'c'\n(say which with"),
    # models and what they may cost
    ("compile good.jsonl -o new --model nonsense", "a model is 'offline' or 'provider/model'"),
    ("compile good.jsonl -o new --model openai/m", "needs a key: set OPENAI_API_KEY"),
    ("compile good.jsonl -o new --model openai/m --api-base nowhere", "nowhere"),
    ("compile good.jsonl -o new --price cheap", "a price is two numbers with a comma between"),
    ("compile good.jsonl -o new --price -1,2", "a price is zero or more dollars"),
    ("compile good.jsonl -o new --model openai/unheard-of --max-usd 1", "max_usd needs a price"),
    ("compile good.jsonl -o new --max-calls -1", "max_calls must be zero or more; got -1."),
    ("compile good.jsonl -o new --rpm 0", "0"),
    ("compile good.jsonl -o new --concurrency 0", "Invalid value for '--concurrency'"),
    # the ledger
    ("compile good.jsonl -o new --ledger folder", "folder"),
    ("score judge good.jsonl -o out.jsonl --ledger plain.sqlite", "plain.sqlite"),
    ("ledger stats --ledger missing.sqlite", "there is no ledger at"),
    ("ledger stats --ledger folder", "there is no ledger at"),
    ("ledger stats --ledger plain.sqlite", "plain.sqlite"),
    ("ledger prune", "say which answers: --older-than-days, --model or both."),
    ("ledger prune --older-than-days -1", "Invalid value for '--older-than-days'"),
]


@pytest.fixture
def shelf(folder, judge, monkeypatch):
    """A folder with everything that can be wrong."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder").mkdir()
    tampered = folder / "tampered"
    tampered.mkdir()
    text = (judge / "judge.json").read_text()
    (tampered / "judge.json").write_text(text.replace('"overall"', '"overal"', 1))
    return folder


def contents(folder):
    """Every file with its content, but for the answers that were on their way."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if ".judgesmith" not in path.parts
    }


@pytest.mark.parametrize(("command", "said"), REFUSED, ids=[command for command, _ in REFUSED])
def test_bad_input_is_named_and_leaves_nothing_behind(run, shelf, command, said):
    before = contents(shelf)
    done = run(*command.split())
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert not re.search(r"zip\(\)|NoneType|object at 0x", done.err)
    after = contents(shelf)
    after.pop("folder-owners", None)
    assert after == before


@pytest.mark.parametrize(("command", "said"), REFUSED[::6])
def test_machines_are_told_the_same(run, shelf, command, said):
    done = run(*command.split(), "--json")
    assert (done.status, done.out) == (2, "")
    assert said in f"{done.fault['error']}\n({done.fault['hint']})"
    assert set(done.fault) == {"error", "where", "hint"}


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("check good.jsonl --target overal", "--target"),
        ("check constant.jsonl --target overal", "--target"),
        ("check unrated.jsonl --scale 5..1", "--scale"),
        ("check good.jsonl --scale 1..5 --scale 0..1", "--scale"),
        ("check flat.csv --map source", "--map"),
        ("evaluate judge good.jsonl --target fluenci", "--target"),
        ("evaluate judge constant.jsonl --target overall", "--target"),
        ("evaluate judge constant.jsonl", None),
        ("evaluate fits.jsonl good.jsonl --target fluenci", "--target"),
        ("evaluate fits.jsonl constant.jsonl --target overall", "--target"),
        ("evaluate judge line7.jsonl --target fluenci", "line7.jsonl:7"),
        ("evaluate judge good.jsonl --aggregate average", "--aggregate"),
    ],
)
def test_machines_are_told_which_option_is_wrong(run, shelf, command, where):
    done = run(*command.split(), "--json")
    assert (done.status, done.fault["where"]) == (2, where)


def test_a_server_that_is_not_there_is_given_up_soon(run, shelf, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    began = time.monotonic()
    done = run(*COMPILE, "--model", "openai/m", "--api-base", "http://127.0.0.1:9/v1")
    assert time.monotonic() - began < 10
    assert done.status == 2
    assert "Nothing has answered there so far: check the address (--api-base)" in done.err
    assert not (shelf / "new").exists()


def test_a_wrong_key_is_given_up_at_once_and_not_quoted(run, shelf, server, monkeypatch):
    key = f"sk-{'a1' * 20}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}})
    server.script({"status": 401, "body": body})
    done = run(*COMPILE, "--model", "openai/m", "--api-base", server.url)
    assert done.status == 2
    assert "Check the key in the environment." in done.err
    assert key not in done.err
    assert server.counts()["requests"] <= 32


def test_names_cannot_move_the_cursor_in_a_message(run, folder):
    name = f"\x1b[2J{os.urandom(2).hex()}.jsonl"
    done = run("check", name)
    assert done.status == 2
    assert "\\x1b[2J" in done.err
    assert "\x1b" not in done.err
