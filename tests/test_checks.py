"""The commands of ``.ci``: the same everywhere, every failure shown, honest about the data."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
CHECKS = runpy.run_path(str(ROOT / ".ci" / "checks.py"))

USES_DATA = """
def test_reads_the_data(data_folder):
    assert (data_folder / "checks.json").is_file()


def test_needs_nothing():
    assert True
"""


def readme_lines():
    """Return the lines of the first code block of the README."""
    readme = (ROOT / "README.md").read_text()
    return re.search(r"\A```sh\n(.*?)\n```", readme, flags=re.DOTALL).group(1).splitlines()


def run(*command, folder, **environment):
    """Run a command without the settings of this run; return its status and what it printed."""
    ours = ("JUDGESMITH_", "PYTEST_", "COV_")
    clean = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


def test_the_readme_opens_with_two_lines_that_make_their_own_environment():
    lines = readme_lines()
    assert len(lines) == 2
    assert all(line.startswith("python3 -m venv .venv && ") for line in lines)
    assert lines[0].endswith("compile sample -o judge")
    assert lines[1].endswith(".venv/bin/python .ci/checks.py")


def test_the_workflow_runs_the_second_line_of_the_readme():
    workflow = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    assert f"- run: {readme_lines()[1]}\n" in workflow


@pytest.fixture
def readme_that_runs(tmp_path):
    """Return a function that puts a second line in the README of a tree of its own and runs it."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")

    def ci_run(second_line):
        (tmp_path / "README.md").write_text(f"```sh\necho first\n{second_line}\n```\n")
        return run("bash", ".ci/run", folder=tmp_path)

    return ci_run


def test_ci_runs_the_second_line_of_the_readme_with_the_data_required(
    readme_that_runs,
):
    status, printed = readme_that_runs('echo "required $JUDGESMITH_REQUIRE_DATA"')
    assert status == 0
    assert printed.startswith("required 1\n")
    assert "first" not in printed


def test_ci_fails_as_the_second_line_does_and_still_says_what_the_extras_left_out(readme_that_runs):
    status, printed = readme_that_runs("exit 3")
    assert status == 3
    assert "NOT RUN" in printed


@pytest.fixture
def extras(tmp_path):
    """Return a function that runs the extras with services of its own and a Python that prints."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    shutil.rmtree(tmp_path / ".ci" / "services")
    (tmp_path / ".ci" / "services").mkdir()
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)

    def run_extras(services, program="echo asked: $*"):
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "test_other.py").write_text("")
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(0o755)
        for name, script in services.items():
            (tmp_path / ".ci" / "services" / name).write_text(script)
            (tmp_path / "tests" / f"test_{name}.py").write_text(f"pytestmark = pytest.mark.{name}")
        return run("bash", ".ci/extras", folder=tmp_path)

    return run_extras


def test_a_service_is_started_around_the_tests_that_are_marked_with_its_name(extras):
    status, printed = extras({"lamp": 'echo on; "$@"; echo off\n'})
    assert status == 0
    asked = r"^on\nasked: -m pytest -m lamp .* tests/test_lamp\.py\noff$"
    assert re.search(asked, printed, flags=re.MULTILINE)
    assert re.search(r"^  lamp +ok, \d+ s: off$", printed, flags=re.MULTILINE)


def test_a_service_that_cannot_be_had_is_not_run_and_the_others_are(extras):
    status, printed = extras({"a": "echo no lamp here; exit 77\n", "b": 'exec "$@"\n'})
    assert status == 0
    assert re.search(r"^  a +NOT RUN: no lamp here$", printed, flags=re.MULTILINE)
    assert re.search(r"^  b +ok", printed, flags=re.MULTILINE)


def test_a_service_with_large_libraries_runs_beside_one_without(extras):
    wait = "until [ -e {0} ]; do sleep 0.05; done\n"
    status, printed = extras(
        {
            "large": f'# with_libraries\ntouch here\n{wait.format("there")}exec "$@"\n',
            "small": f'touch there\n{wait.format("here")}exec "$@"\n',
        }
    )
    assert status == 0
    ends = re.findall(r"^  (\w+) +ok, \d+ s: asked: .*$", printed, flags=re.MULTILINE)
    assert ends == ["small", "large"]


@pytest.mark.parametrize(("program", "status"), [("echo 1 failed; exit 1", 1), ("exit 5", 5)])
def test_a_service_whose_tests_fail_or_are_none_fails_the_extras(extras, program, status):
    found, printed = extras({"lamp": 'exec "$@"\n'}, program)
    assert found == status
    assert re.search(r"^  lamp +FAILED", printed, flags=re.MULTILINE)


def test_every_service_has_a_marker_that_only_files_of_tests_give():
    services = {path.name for path in (ROOT / ".ci" / "services").iterdir()}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert services <= {marker.partition(":")[0] for marker in settings["markers"]}
    gives = re.compile(rf"mark\.({'|'.join(services)})\b")
    givers = [path.name for path in ROOT.glob("tests/**/*.py") if gives.search(path.read_text())]
    assert givers
    assert [name for name in givers if not name.startswith("test_")] == []


def test_the_checks_are_format_lint_types_imports_and_tests_in_this_order():
    assert list(CHECKS["CHECKS"]) == ["format", "lint", "types", "imports", "tests"]


@pytest.mark.parametrize(("asked", "counts"), [("1", True), ("0", False), (None, False)])
def test_lines_are_counted_where_that_is_asked_for(asked, counts, monkeypatch):
    monkeypatch.delenv("JUDGESMITH_COVERAGE", raising=False)
    if asked:
        monkeypatch.setenv("JUDGESMITH_COVERAGE", asked)
    checks = runpy.run_path(str(ROOT / ".ci" / "checks.py"))["CHECKS"]
    assert ("--cov" in checks["tests"]) is counts
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]
    assert settings["report"]["fail_under"] >= 85


def test_types_are_found_beside_the_tests_and_told_of_after_them(tmp_path, capfd):
    def python(program):
        return [sys.executable, "-c", program]

    wait = "import time, pathlib\nwhile not pathlib.Path('done').exists(): time.sleep(.01)"
    checks = {
        "types": python(f"{wait}\nprint('types ran')"),
        "imports": python("print('imports ran')"),
        "tests": python("import pathlib; pathlib.Path('done').touch(); print('tests ran')"),
    }
    assert CHECKS["run"](checks, tmp_path) == 0
    printed = capfd.readouterr().out
    assert re.findall(r"^(\w+) ran$", printed, re.MULTILINE) == ["imports", "tests", "types"]
    assert re.findall(r"^(\w+) .* ok$", printed, re.MULTILINE) == [*checks]


def test_every_check_runs_and_the_first_failure_gives_the_status(tmp_path, capfd):
    def python(program):
        return [sys.executable, "-c", program]

    checks = {
        "one": python("print('one ran')"),
        "two": python("raise SystemExit(4)"),
        "three": python("raise SystemExit(5)"),
        "four": python("print('four ran')"),
    }
    assert CHECKS["run"](checks, tmp_path) == 4
    printed = capfd.readouterr().out
    assert "one ran" in printed
    assert "four ran" in printed
    table = re.findall(r"^(\w+) +\d+\.\d s  (.*)$", printed, flags=re.MULTILINE)
    assert table == [
        ("one", "ok"),
        ("two", "FAILED, status 4"),
        ("three", "FAILED, status 5"),
        ("four", "ok"),
    ]


@pytest.fixture
def clone(tmp_path):
    """Return a clone with one test on real data, and no data beside it."""
    tests = tmp_path / "clone" / "tests"
    tests.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "conftest.py", tests)
    (tests / "test_small.py").write_text(USES_DATA)
    (tests.parent / "pytest.ini").write_text("[pytest]\nmarkers = data\naddopts = -q\n")
    return tests.parent


def pytest_in(clone, *, workers=0, **environment):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", str(workers)]
    return run(*command, folder=clone, **environment)


def test_without_the_data_its_tests_are_skipped_and_the_closing_lines_say_so(clone):
    status, printed = pytest_in(clone, workers=1)
    assert status == 0
    note, closing = printed.splitlines()[-2:]
    assert note.startswith("1 tests on real data were not run")
    assert closing.startswith("1 passed, 1 skipped")


def test_without_the_data_its_tests_fail_where_it_is_required(clone):
    status, printed = pytest_in(clone, JUDGESMITH_REQUIRE_DATA="1")
    assert status == 1
    assert "set JUDGESMITH_DATA" in printed


@pytest.mark.parametrize("named", [False, True])
def test_the_data_is_found_beside_the_clone_or_where_the_variable_says(clone, named):
    folder = clone.parent / ("elsewhere" if named else "shared/data")
    folder.mkdir(parents=True)
    (folder / "checks.json").write_text("{}")
    environment = {"JUDGESMITH_DATA": str(folder)} if named else {}
    status, printed = pytest_in(clone, JUDGESMITH_REQUIRE_DATA="1", **environment)
    assert status == 0
    assert printed.splitlines()[-1].startswith("2 passed")


@pytest.mark.no_cover
def test_no_line_is_counted_where_that_was_asked_for():
    assert not type(sys.gettrace()).__module__.startswith("coverage")
