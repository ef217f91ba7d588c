"""The command itself: faults, refusals and hostile output."""

import csv
import json
import os
import pickle
import pty
import re
import subprocess
import sys
from urllib.request import Request, urlopen

import click
import hostile
import numpy as np
import pytest
from looping import for_each

from judgesmith import FileError, InputError, JudgesmithError
from judgesmith.cli.main import COMMANDS, RELATED, VISIBLE, command_of
from judgesmith.cli.shared.faults import OptionError, blaming, fault_parts
from judgesmith.data import DataError, Problem
from judgesmith.errors import MissingFileError, file_faults
from judgesmith.programs.lm import BudgetSpent
from judgesmith.programs.lm.errors import TransientModelError
from judgesmith.signatures import Scale

# main

HEAVY = ["dspy", "pandas", "scipy", "numpy", "litellm", "optuna", "rich", "pydantic", "asyncio"]


def fresh(*arguments, program):
    """Run a program in a new process; return its status, output and errors."""
    call = [sys.executable, "-W", "error", "-c", program, *arguments]
    done = subprocess.run(call, capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout, done.stderr


HELPS = f"""
import sys
from judgesmith.cli import main
for name in ["", *{[*COMMANDS]!r}]:
    assert main([*name.split(), "--help"]) == 0
    print("loaded", name, *(one for one in {HEAVY!r} if one in sys.modules))
"""


@pytest.mark.no_cover
def test_help_imports_nothing_heavy():
    status, out, err = fresh(program=HELPS)
    assert (status, err) == (0, "")
    loaded = [line.split()[1:] for line in out.splitlines() if line.startswith("loaded")]
    assert out.count("Usage: judgesmith") == len(loaded) == 1 + len(COMMANDS)
    assert loaded[0] == []
    # Options of a command that are generated from a settings model take pydantic.
    assert {one for name, *found in loaded[1:] for one in found} <= {"pydantic"}


def test_the_help_lists_about_twenty_commands_and_each_lists_those_below_it(run):
    out = run("-h").out
    assert all(f"\n  {name} " in out for name in VISIBLE)
    assert len(VISIBLE) <= 21
    below = {name for names in RELATED.values() for name in names}
    assert set(VISIBLE) | below | {"ledger"} == set(COMMANDS)
    for parent, names in RELATED.items():
        out = run(parent, "-h").out
        shown = ["write", "suggest", "import"] if parent == "label" else names
        assert all(f" {name}" in out for name in shown)


def test_a_command_below_another_also_works_alone_and_no_file_is_taken_for_it(run, folder):
    two, one = run("discern", "perturb", "-h"), run("perturb", "-h")
    assert two.out.partition("\n")[2] == one.out.partition("\n")[2]
    assert "judgesmith label write" in run("label", "write", "-h").out
    assert run("label", "sheet", "write", "-h").status == 0
    (folder / "perturb").mkdir()
    assert "Usage: judgesmith discern [OPTIONS]" in run("discern", "perturb", "-h").out


def test_old_option_names_still_work_and_are_not_shown(run):
    out = run("recheck", "-h").out
    assert "--repeats" in out
    assert "--samples" not in out
    done = run("recheck", "none", "--samples", "0", "--json")
    assert (done.status, done.fault["where"]) == (2, "--repeats")


def options_of(command):
    if isinstance(command, click.Group):
        context = click.Context(command)
        below = [command.get_command(context, name) for name in command.list_commands(context)]
        return [one for each in below for one in options_of(each)]
    return [one for one in command.params if isinstance(one, click.Option)]


@for_each("name", COMMANDS)
def test_every_option_says_what_it_is_for(name):
    options = options_of(command_of(name))
    assert [one.name for one in options if not one.help] == []


@pytest.mark.no_cover
def test_a_reader_that_has_seen_enough_is_no_error(start, judge):
    process = start("show", judge, "--prompts")
    process.stdout.close()
    assert process.wait(120) == 0
    assert process.stderr.read() == ""
    process.stdout = None


@pytest.mark.no_cover
def test_letters_that_the_terminal_lacks_are_escaped(folder):
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    program = "import sys; from judgesmith.cli import main; sys.exit(main(sys.argv[1:]))"
    call = [sys.executable, "-c", program, "check", "sample"]
    out = subprocess.run(call, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True)
    assert b"\\u03b1 interval" in out.stdout
    assert "margin of error at r = 0.5          ±".encode("latin-1") in out.stdout


# -- what is a fault of ours, and what of the caller's ------------------------------------------


def broken(*_, **__):
    """Be a bug as NumPy tells of one."""
    np.zeros(2) + np.zeros(3)


def raising(fault):
    """Return a function that does nothing but raise an error."""

    def function(*_, **__):
        raise fault

    return function


@pytest.mark.parametrize("more", [[], ["--json"], ["--debug"]])
@pytest.mark.parametrize(
    "bug", [broken, *map(raising, [TypeError("b"), KeyError("b"), ImportError("b")])]
)
def test_a_bug_is_never_told_as_bad_input(run, data, capsys, monkeypatch, bug, more):
    monkeypatch.setattr("judgesmith.experiments.compile.chosen_targets.targets_of", bug)
    with pytest.raises((ValueError, TypeError, KeyError, ImportError)) as caught:
        run("compile", data, "--target", "overall", "-o", "judge", *more)
    assert not isinstance(caught.value, JudgesmithError)
    assert "error:" not in capsys.readouterr().err


BUG = """
import sys
import judgesmith.data.formats.opening as formats
def broken(*_):
    raise ValueError("operands could not be broadcast together")
formats._from_file = broken
from judgesmith.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_bug_is_a_traceback_and_status_1(data):
    status, out, err = fresh("check", str(data), "--json", program=BUG)
    assert (status, out) == (1, "")
    assert err.startswith("Traceback")
    assert err.endswith("ValueError: operands could not be broadcast together\n")


@pytest.mark.parametrize("where", [0, 1, 2])
def test_a_fault_of_the_user_has_a_traceback_only_where_it_is_asked_for(run, folder, where):
    command = ["check", "none.jsonl"]
    plain = run(*command)
    assert (plain.status, plain.err) == (2, "error: there is no file none.jsonl.\n")
    told = run(*command[:where], "--debug", *command[where:])
    assert told.status == 2
    assert told.err.startswith("Traceback")
    assert told.err.endswith(plain.err)


def test_after_two_dashes_debug_is_a_name(run, folder):
    assert run("check", "--", "--debug").err == "error: there is no file --debug.\n"


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (5, 5), ("why", 1)])
def test_an_exit_keeps_its_status(run, data, monkeypatch, code, status):
    monkeypatch.setattr("judgesmith.cli.data.check.load_data", raising(SystemExit(code)))
    done = run("check", data)
    assert (done.status, done.err) == (status, "why\n" if code == "why" else "")


@pytest.mark.parametrize(
    ("command", "unbuffered"), [(["check", "data.jsonl"], ""), (["show", "judge"], "1")]
)
def test_a_full_disk_under_the_output_is_one_message(judge, data, command, unbuffered):
    program = [sys.executable, "-m", "judgesmith", *command]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            program, stdout=full, stderr=subprocess.PIPE, text=True, timeout=240, env=env
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard output: No space left on device\n"


# faults


@for_each(
    ("fault", "where", "hint"),
    [
        (InputError("no luck"), None, None),
        (InputError("no rubric", at="a b.yaml"), "a b.yaml", None),
        (InputError("a.yaml: no rubric"), None, None),
        (InputError("a sentence: with a colon"), None, None),
        (InputError("no ratings of 'x'.", hint="did you mean y?"), None, "did you mean y?"),
        (InputError("need 2 rows; got 1."), None, None),
        (InputError("need 2 rows.", where="a.csv", hint="give more."), "a.csv", "give more."),
        (MissingFileError(2, "No such file", "a.csv"), "a.csv", None),
        (click.UsageError("what?"), None, None),
    ],
)
def test_a_fault_says_where_and_what_to_do_if_it_can(fault, where, hint):
    found = fault_parts(fault)
    assert (found["where"], found["hint"]) == (where, hint)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (PermissionError(13, "Permission denied", "a"), FileError),
        (FileNotFoundError(2, "Permission denied", "a"), FileNotFoundError),
        (FileExistsError(17, "Permission denied", "a"), FileExistsError),
    ],
)
def test_a_fault_of_the_system_is_a_sentence(fault, kind):
    with pytest.raises(kind) as caught, file_faults("b"):
        raise fault
    assert isinstance(caught.value, FileError)
    assert fault_parts(caught.value)["error"] == str(caught.value) == "a: Permission denied"
    assert (caught.value.errno, caught.value.filename) == (fault.errno, "a")


def test_what_a_server_refuses_is_no_fault_of_a_file():
    with pytest.raises(ConnectionResetError), file_faults():
        raise ConnectionResetError


def test_a_fault_that_is_raised_again_keeps_its_advice():
    inner = InputError("no scale.", hint="give one.")
    outer = InputError(inner, at="a.csv")
    assert str(outer) == "a.csv: no scale; give one."
    assert fault_parts(outer) == {
        "error": "a.csv: no scale.",
        "where": "a.csv",
        "hint": "give one.",
    }
    assert fault_parts(InputError(ValueError("no luck"), at="b"))["error"] == "b: no luck"
    assert fault_parts(pickle.loads(pickle.dumps(outer))) == fault_parts(outer)


def test_what_an_option_says_wrong_is_blamed_on_it():
    with pytest.raises(OptionError) as caught, blaming("--target"):
        raise InputError("no ratings of 'x'.", hint="did you mean y?")
    assert fault_parts(caught.value) == {
        "error": "no ratings of 'x'.",
        "where": "--target",
        "hint": "did you mean y?",
    }
    with pytest.raises(OptionError, match="name it"), blaming("--scale"):
        raise click.UsageError("name it")


def test_an_option_that_was_not_given_is_not_to_blame():
    with pytest.raises(ValueError, match="no luck") as caught, blaming("--target", given=False):
        raise InputError("no luck")
    assert fault_parts(caught.value)["where"] is None


@for_each(
    "fault",
    [
        DataError([Problem(where="a.csv:3", field="score", expected="a number", came="'x'")]),
        MissingFileError(2, "No such file", "a.csv"),
        BudgetSpent("spent", ceiling="max_calls", calls=1, tokens=0, usd=0.0, minutes=0.0),
        ValueError("operands could not be broadcast together"),
        KeyError("ours"),
    ],
)
def test_faults_that_know_their_place_or_are_of_no_option_stay_as_they_are(fault):
    with pytest.raises(type(fault)) as caught, blaming("--map"):
        raise fault
    assert caught.value is fault


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (lambda: Scale(low=1, high="x"), "high: expected a number; got 'x'"),
        (lambda: open("/dev/null/a"), "/dev/null/a: Not a directory"),  # noqa: PTH123, SIM115
    ],
)
def test_faults_of_libraries_are_blamed_in_words_of_our_own(cause, said):
    with pytest.raises(FileError if "null" in said else InputError, match=said), blaming("--x"):
        cause()


def test_a_fault_that_may_pass_says_that_the_same_command_goes_on():
    found = fault_parts(TransientModelError("m at x: busy (HTTP 503)", status=503).tried(6))
    assert found == {
        "error": "m at x: busy (HTTP 503), tried 6 times",
        "where": None,
        "hint": "wait, and give the same command again: it resumes from the cached answers.",
    }


# What a command says when something outside is wrong; bad input is in test_bad_input.

COMPILE = ["compile", "data.jsonl", "-o", "new"]


def test_a_server_that_is_not_there_is_given_up(run, folder, data, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    done = run(*COMPILE, "--model", "openai/m", "--api-base", "http://127.0.0.1:9/v1")
    assert done.status == 2
    assert "Nothing has answered there so far: check the address (--api-base)" in done.err
    assert not (folder / "new").exists()


def test_a_wrong_key_is_given_up_at_once_and_not_quoted(run, data, server, monkeypatch):
    key = f"sk-{'a1' * 20}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}})
    server.script({"status": 401, "body": body})
    done = run(*COMPILE, "--model", "openai/m", "--api-base", server.url)
    assert done.status == 2
    assert "(check the key in the environment.)" in done.err
    assert key not in done.err
    assert server.counts()["requests"] <= 32


# Whatever rows, names and options hold, no terminal obeys it and JSON stays JSON.

QUICK = ["--rounds", "2"]
EVIL = "\x1b]0;owned\x07\x1b[7;7H\x9b31m\u202e\u2066\u200b[bold]x[/bold]"
NAME = "fl\u202e[red]uency"

# What rich itself writes to move about in its bars of progress is no text of anybody's.
_OWN = re.compile(r"\x1b\[(?:\?25[lh]|\d*[ABK]|2K|[\d;]*m)")


def obeyed(text):
    """Return what a terminal would not merely show."""
    return sorted({one for one in text if not (one.isprintable() or one in "\n\t")})


@pytest.fixture
def evil_rows(folder):
    """Rated rows whose texts, ids, criteria and other fields are hostile, in a file that is."""
    texts = [text for text in hostile.TEXTS.values() if len(text) < 3000]
    rows = [
        {
            "source_id": f"{EVIL} {n // 3}",
            "system_id": f"{EVIL} {n % 3}",
            "source": texts[n // 3],
            "response": f"{texts[(n * 7 + 3) % len(texts)]} {n}",
            "human": {NAME: [1 + n % 5], "overall": [1 + n * 3 % 5]},
            "scale": {NAME: [1, 5], "overall": [1, 5]},
            "note": EVIL,
        }
        for n in range(40)
    ]
    place = folder / f"data {EVIL.replace('/', '')}.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place, rows


@pytest.mark.no_cover
def test_no_command_lets_a_terminal_obey(folder, run, evil_rows):
    data, rows = evil_rows
    judge = folder / "judge \x1b[2J"
    scores = folder / "scores \x1b[2J.jsonl"
    sheet = folder / "sheet.csv"
    for call in (
        ("check", data),
        ("infer", data, "-o", folder / "rubric \x1b[2J.yaml"),
        ("compile", data, "-o", judge, *QUICK),
        ("compile", data, "-o", folder / "other", "--criteria", "human", "--optimizer", "none"),
        ("show", judge),
        ("show", judge, "--prompts"),
        ("show", judge, "--diff", folder / "other"),
        ("score", judge, data, "-o", scores),
        ("evaluate", judge, data),
        ("evaluate", scores, data),
        ("compare", judge, scores, data),
        ("sheet", "write", scores, data, "-o", sheet, "--rows", "9"),
        ("ledger", "stats"),
    ):
        done = run(*call)
        assert done.status == 0, (call, done.err)
        assert not obeyed(done.out + done.err), call
        if call[0] in ("check", "compare", "show") and "--prompts" not in call:
            assert isinstance(run(*call, "--json").json, dict)
    for card in (judge / "README.md", folder / "other" / "README.md"):
        assert not obeyed(card.read_text(encoding="utf-8"))
    kept = json.loads((folder / "other" / "judge.json").read_bytes())["protocol"]["rubric"]
    assert [one["name"] for one in kept["criteria"]] == [NAME]
    written = scores.read_text(encoding="utf-8")
    assert not obeyed(written)
    found = [json.loads(line) for line in written.split("\n") if line]
    ids = [(row["source_id"], row["system_id"]) for row in found]
    assert ids == [(row["source_id"], row["system_id"]) for row in rows]
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert not [cell for cell in cells if obeyed(cell.replace("\u200c", "").replace("\u200d", ""))]
    assert not [cell for cell in cells if cell.lstrip(' "')[:1] in ("=", "+", "@")]


@pytest.mark.no_cover
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        (EVIL,),
        (f"--{EVIL}",),
        ("check", EVIL),
        ("check", "sample", "--map", EVIL),
        ("check", "sample", "--scale", EVIL),
        ("check", "sample", EVIL),
        ("compile", "sample", "-o", "judge", "--model", EVIL),
        ("compile", "sample", "-o", "judge", "--target", EVIL),
        ("compile", "sample", "-o", "judge", "--objective", EVIL),
        ("compile", "sample", "-o", "judge", "--variant", EVIL),
        ("compile", "sample", "-o", "judge", "--rubric", EVIL),
        ("compile", "sample", "-o", f"{EVIL}/judge"),
        ("compile", "sample", "-o", "judge", "--model", "openai/m", "--api-base", EVIL),
        ("score", EVIL, "sample", "-o", "scores.jsonl"),
        ("show", EVIL),
        ("ledger", "stats", "--ledger", EVIL),
    ],
    ids=lambda call: " ".join(call[:-1]) or ascii(call[0]),
)
def test_a_refusal_quotes_nothing_that_a_terminal_obeys(run, call, as_json):
    done = run(*call, *["--json"] * as_json)
    assert done.status == 2
    assert not obeyed(done.out + done.err)
    if as_json:
        assert done.fault["error"]


@pytest.mark.no_cover
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_progress_on_a_terminal_shows_names_as_they_are(folder, evil_rows):
    """The bars themselves are drawn with escapes; nothing in a name or a text adds one."""
    data, _ = evil_rows
    ours, theirs = pty.openpty()
    call = [
        sys.executable,
        "-m",
        "judgesmith",
        "compile",
        str(data),
        "-o",
        "judge",
        "--optimizer",
        "none",
    ]
    call += ["--optimizer", "none", "--target", NAME, "--target", "overall"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    seen = b""
    with subprocess.Popen(call, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # the other end is closed
            pass
        finally:
            os.close(ours)
    text = _OWN.sub("", seen.decode().replace("\r", ""))
    assert process.returncode == 0, text
    assert "\x1b[" in seen.decode()
    assert not obeyed(text)
    assert "fl\\u202e[red]uency" in text


# without dspy

HEAVY_WITHOUT_DSPY = ["dspy", "litellm", "optuna", "pandas", "scipy", "sklearn", "gepa"]
PROGRAM = f"""
import sys
from judgesmith.cli import main
for command in " ".join(sys.argv[1:]).split(" then "):
    status = main(command.split())
    print("left", status, [name for name in {HEAVY_WITHOUT_DSPY} if name in sys.modules])
"""


@pytest.mark.no_cover
def test_scoring_imports_nothing_heavy_and_asking_golden_items_again_no_dspy(
    judge, data, folder, server
):
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:2]))
    score = ["score", judge, data, "--max-unscored", "1", "-o"]
    watched = ["--log", folder / "run.jsonl", "--metrics-file", folder / "run.prom"]
    served = ["--model", "openai/m", "--api-base", server.url]
    commands = [*score, folder / "one.jsonl", *watched, "then", *score, folder / "two.jsonl"]
    commands += [*served, "then", "recheck", judge, "--json"]
    program = [sys.executable, "-W", "error", "-c", PROGRAM, *map(str, commands)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    offline, asked, again = [one for one in done.stdout.splitlines() if one.startswith("left")]
    assert (offline, asked) == ("left 0 []", "left 0 []")
    assert "dspy" not in again


@pytest.mark.no_cover
def test_a_server_imports_nothing_heavy(judge, folder):
    command = [sys.executable, "-W", "error", "-c", PROGRAM, "serve", str(judge), "--port", "0"]
    row = json.dumps({"source": "The bridge opened.", "response": "It opened."}).encode()
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True) as process:
        try:
            address = json.loads(process.stdout.readline())["address"]
            for path, body in (("judge", row), ("batch", b'{"items": [%b]}' % row)):
                asked = Request(f"{address}/v1/judges/judge/{path}", data=body)
                asked.add_header("Content-Type", "application/json")
                with urlopen(asked, timeout=120) as reply:
                    assert reply.status == 200
        finally:
            process.terminate()
        assert process.stdout.read() == "left 0 []\n"


@pytest.mark.no_cover
def test_no_family_of_judges_needs_dspy_to_be_asked():
    program = (
        "import sys\n"
        "from judgesmith.programs import known_families\n"
        "for one in known_families():\n"
        "    own = one.protocol.model_validate({})\n"
        "    for name in one.forms(own): one.inputs(own, name)\n"
        "    one.space(own); one.calls(own)\n"
        f"print([name for name in {HEAVY_WITHOUT_DSPY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
