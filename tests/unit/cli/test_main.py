import os
import signal
import subprocess
import sys
from importlib.metadata import version

import click
import numpy as np
import pytest
from working import wait_for

from judgesmith import JudgesmithError
from judgesmith.cli.main import COMMANDS, RELATED, VISIBLE, command_of

HEAVY = ["dspy", "pandas", "scipy", "numpy", "litellm", "optuna", "rich", "pydantic", "asyncio"]
REPORT = """
import sys
from judgesmith.cli import main
status = main(sys.argv[1:])
sys.stderr.write(" ".join(name for name in %r if name in sys.modules))
sys.exit(status)
"""


def fresh(*arguments, program=REPORT % HEAVY, **options):
    """Run a program in a new process; return its status, output and errors."""
    call = [sys.executable, "-W", "error", "-c", program, *arguments]
    done = subprocess.run(call, capture_output=True, text=True, timeout=240, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.no_cover
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["ledger", "stats"]])
def test_help_imports_nothing_heavy(command):
    status, out, loaded = fresh(*command, "--help")
    # Options of a command that are generated from a settings model take pydantic.
    assert (status, set(loaded.split()) - ({"pydantic"} if command else set())) == (0, set())
    assert "Usage: judgesmith" in out


def test_the_help_lists_about_twenty_commands_and_each_lists_those_below_it(run):
    out = run("-h").out
    assert all(f"\n  {name} " in out for name in VISIBLE)
    assert len(VISIBLE) <= 20
    below = {name for names in RELATED.values() for name in names}
    assert set(VISIBLE) | below | {"ledger"} == set(COMMANDS)
    for parent, names in RELATED.items():
        out = run(parent, "-h").out
        shown = ["write", "suggest"] if parent == "label" else names
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


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name):
    options = options_of(command_of(name))
    assert [one.name for one in options if not one.help] == []


def test_the_version_is_that_of_the_package(run):
    assert run("--version").out.split()[-1] == version("judgesmith")


def test_without_a_command_the_help_is_shown_as_a_mistake(run):
    done = run()
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: judgesmith")


def test_an_unknown_command_is_a_mistake(run):
    done = run("judge")
    assert done.status == 2
    assert done.err == "error: there is no command judge.\n(see 'judgesmith --help')\n"


def test_python_dash_m_is_the_same_command(start):
    process = start("--version")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("judgesmith")


def test_with_json_an_error_is_one_object_on_standard_error(run):
    done = run("check", "missing.jsonl", "--json")
    assert (done.status, done.out) == (2, "")
    said = {"error": "there is no file missing.jsonl.", "where": "missing.jsonl", "hint": None}
    assert done.fault == said


def test_with_json_a_wrong_option_says_where_to_look(run):
    done = run("check", "sample", "--json", "--sede", "1")
    assert done.fault["where"] == "--sede"
    assert done.fault["hint"] == "did you mean --scale or --seed or --sheet?"


def test_a_fault_of_ours_is_not_passed_off_as_bad_input(run, monkeypatch):
    from judgesmith.cli.data import check

    def broken(*_):
        raise KeyError("x")

    monkeypatch.setattr(check, "load_data", broken)
    with pytest.raises(KeyError):
        run("check", "sample")


@pytest.mark.no_cover
def test_an_interruption_ends_with_130_and_leaves_no_half_judge(
    start, folder, data, on_server, server
):
    server.script({"latency": 1.0})
    process = start("compile", data, "-o", "judge", *on_server)
    wait_for(lambda: server.counts()["requests"] > 0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    asking, stopping, spent = err.splitlines()
    assert spent.startswith("stopped after ")
    assert asking == f"asking openai/m at {server.url}"
    assert stopping.endswith("; run the same command again to resume.")
    assert sorted(path.name for path in folder.iterdir()) == [".judgesmith", "data.jsonl"]


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
    assert "known to at 95 %, if Pearson is 0.5  ±".encode("latin-1") in out.stdout


@pytest.mark.no_cover
def test_every_command_prints_one_object_with_json(run, folder, data, judge):
    ledger = folder / "ledger.sqlite"
    commands = [
        ["check", data],
        ["compile", data, "-o", "other", "--rounds", "2", "--ledger", ledger],
        ["compile", data, "-o", "other", "--rounds", "2", "--ledger", ledger],
        ["compile", data, "-o", "third", "--dry-run"],
        ["show", judge],
        ["show", judge, "--diff", "other"],
        ["score", judge, data, "-o", "out.jsonl", "--ledger", ledger],
        ["evaluate", judge, data, "--ledger", ledger],
        ["evaluate", "out.jsonl", data],
        ["ledger", "stats", "--ledger", ledger],
        ["ledger", "export", "--ledger", ledger, "-o", "answers.jsonl"],
        ["ledger", "prune", "--ledger", ledger, "--older-than-days", "1"],
    ]
    for command in commands:
        done = run(*command, "--json")
        assert done.status == 0, (command, done.err)
        assert isinstance(done.json, dict), command
        assert "NaN" not in done.out
        assert not done.err or done.err.startswith("note: "), command


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


def test_whoever_has_read_enough_is_no_fault(data):
    call = [sys.executable, "-m", "judgesmith", "show", "--help"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 0


@pytest.mark.parametrize("command", [["check", "data.jsonl"], ["show", "judge"]])
def test_a_full_disk_under_the_output_is_one_message(judge, data, command):
    program = [sys.executable, "-m", "judgesmith", *command]
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, timeout=240)
    assert done.returncode == 2
    assert done.stderr == "error: standard output: No space left on device\n"
