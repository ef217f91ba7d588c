"""Bad input, command by command: the exact message, status 2, and nothing left behind."""

import importlib
import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judgesmith.cli.main import COMMANDS, command_of


def loaded():
    """Return the module beside this file, which benchmark ``bad_input`` loads as well."""
    place = Path(__file__).with_name("bad_inputs.py")
    spec = importlib.util.spec_from_file_location("bad_inputs", place)
    module = sys.modules.setdefault("bad_inputs", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


bad_inputs = loaded()
REFUSALS = bad_inputs.table()
# Words of Python, of its libraries and of their authors, which tell a stranger nothing.
FOREIGN = re.compile(
    r"Traceback|Errno|codec|NoneType|\bNone\b|\bTrue\b|\bFalse\b|object at 0x|<class|pydantic"
    r"|\w+Error\b|\w+Exception\b|validation error|Input should|zip\(\)|=="
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A folder with everything that can be wrong; nothing may change in it."""
    judge = bad_inputs.make_judge(tmp_path_factory.mktemp("made"))
    folder = tmp_path_factory.mktemp("shelf")
    bad_inputs.shelve(folder, judge)
    return folder


def by_command(refusals):
    """Return the refusals of each command as one parameter, and those with needs by themselves."""
    found = {}
    for one in refusals:
        found.setdefault(one.command if one.needs else one.command.split()[0], []).append(one)
    return [pytest.param(ones, id=name) for name, ones in found.items()]


def faults_of(refusals, shelf, **how):
    """Return what is wrong with each of some refusals, with its command; every one is tried."""
    if why := bad_inputs.missing_need(refusals[0]):
        pytest.skip(why)
    found = [(one.command, bad_inputs.faults_of(one, shelf, **how)) for one in refusals]
    return [(command, faults) for command, faults in found if faults]


@pytest.mark.parametrize("refusals", by_command(REFUSALS))
def test_bad_input_is_named_and_leaves_nothing_behind(refusals, shelf):
    assert faults_of(refusals, shelf) == []


def has_dry_runs(name):
    """Say whether a command has ``--dry-run``."""
    command = command_of(name)
    return any("--dry-run" in one.opts for one in command.params)


WITH_DRY_RUNS = {name for name in COMMANDS if has_dry_runs(name)}
REFUSED_DRY = [
    replace(one, command=f"{one.command} --dry-run")
    for one in REFUSALS
    if one.dry and one.command.split()[0] in WITH_DRY_RUNS and "--dry-run" not in one.command
]


@pytest.mark.parametrize("refusals", by_command(REFUSED_DRY))
def test_a_dry_run_refuses_what_the_run_refuses_in_the_same_words(refusals, shelf):
    assert faults_of(refusals, shelf, only_json=True) == []


def test_every_command_with_dry_runs_is_among_them():
    assert {one.command.split()[0] for one in REFUSED_DRY} == WITH_DRY_RUNS
    assert len(REFUSED_DRY) >= 400
    # What only the run refuses: a key that is missing, and options that go without a dry run.
    odd = [one for one in REFUSALS if not one.dry and "needs a key" not in one.says]
    alone = ("--spot-check", "--seconds-per-call", "version-scores.jsonl", "strangers.jsonl")
    assert all(any(part in one.command for part in alone) for one in odd)


@pytest.mark.no_cover
def test_what_is_said_is_a_sentence_of_ours():
    for refusal in REFUSALS:
        first, *others = refusal.says.splitlines()
        assert first.startswith("error: ")
        assert not FOREIGN.search(refusal.says)
        advice = [line for line in others if line.startswith("(")]
        assert len(advice) <= 1
        assert refusal.says.endswith("\n")
        # What to do is said once.
        assert not any(line.strip("().") in first for line in advice)


def test_every_command_is_in_the_table_and_no_line_twice():
    commands = [refusal.command for refusal in REFUSALS]
    assert len(set(commands)) + sum(bool(one.stdin) for one in REFUSALS) >= len(commands)
    others = {"cache", "label", "monitor"}  # whose commands are in it by their short names
    assert {one.split()[0] for one in commands} >= set(COMMANDS) - others
    assert len(commands) >= 100


def test_almost_every_refusal_names_a_place():
    nowhere = [refusal.command for refusal in REFUSALS if refusal.where is None]
    assert nowhere == ["check good.jsonl two.jsonl"]
