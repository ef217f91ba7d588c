"""The front door: what it offers, and that tests outside tests/unit import from it."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from looping import for_each

import judgesmith

# front door

HEAVY = ["dspy", "pandas", "scipy", "numpy", "litellm", "optuna", "rich", "pydantic", "click"]


def test_importing_the_package_imports_nothing_heavy():
    program = f"import judgesmith, sys; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def saved():
    return judgesmith.compile("sample", optimizer="none", criteria="given").saved


@pytest.mark.parametrize(
    "command",
    [
        "['check', 'sample']",
        "['score', 'judge', 'sample-verdicts', '-o', 'scores.jsonl']",
        "['show', 'judge']",
    ],
)
def test_commands_import_only_what_they_need(command, saved, tmp_path):
    saved.save(tmp_path / "judge")
    program = f"""
import sys
from judgesmith.cli import main
try:
    main({command})
finally:
    heavy = ("dspy", "litellm", "pandas", "gepa", "sentencex", "optuna")
    print([one for one in heavy if one in sys.modules], file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")


@for_each("name", judgesmith.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(judgesmith, name).__doc__


def test_the_names_are_sorted_and_are_all_that_is_shown():
    packages = {"data", "experiments", "metrics", "optimizers", "programs", "signatures"}
    assert sorted(judgesmith.__all__) == judgesmith.__all__
    assert dir(judgesmith) == sorted({*judgesmith.__all__, *packages})


PACKAGE = Path(judgesmith.__file__).parent
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))


@for_each("path", STUBS)
def test_a_stub_lists_each_name_once_and_all_of_them_are_there_and_documented(path):
    door = import_module(".".join(path.parent.relative_to(PACKAGE.parent).parts))
    stub = ast.parse(path.read_text(encoding="utf-8"))
    listed = next(line.value for line in stub.body if isinstance(line, ast.Assign))
    assert sorted(ast.literal_eval(listed)) == door.__all__
    inside = {one.stem for one in path.parent.iterdir()}
    # A module of a public name would take its place once it is imported.
    assert inside.isdisjoint(door.__all__)
    assert inside >= set(dir(door)) - set(door.__all__)
    found = [getattr(door, name) for name in door.__all__]
    named = [one for one in found if inspect.isfunction(one) or inspect.isclass(one)]
    assert [one.__name__ for one in named if not one.__doc__] == []


def test_another_name_is_refused_with_those_there_are():
    with pytest.raises(AttributeError, match="'jugde'; did you mean Judge"):
        _ = judgesmith.jugde


def test_names_of_rooms_can_be_imported_as_modules():
    from judgesmith import metrics, programs

    assert (metrics.__name__, programs.__name__) == ("judgesmith.metrics", "judgesmith.programs")


# Tests outside ``tests/unit`` import what everybody may import, and nothing behind it.

HERE = Path(__file__).resolve().parent
DOORS = {
    "judgesmith",
    *(
        f"judgesmith.{one}"
        for one in (
            *("signatures", "programs", "metrics", "optimizers", "data", "experiments", "studio"),
            *("cli", "pytest_plugin"),
        )
    ),
}
HELD = ("api", "contracts", "system")
"""Folders of tests that keep to the doors already; it grows until all but ``unit`` do."""


def deep(tree):
    """Return what a module imports from behind a door."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{one.name}" for one in node.names}
            found += [node.module or ""] if not names <= DOORS else []
    return [one for one in found if one.partition(".")[0] == "judgesmith" and one not in DOORS]


@pytest.mark.parametrize("folder", HELD)
def test_tests_import_front_doors_alone(folder):
    paths = [one for one in sorted((HERE / folder).rglob("*.py")) if "before" not in one.parts]
    assert paths
    wrong = {
        str(path.relative_to(HERE)): found
        for path in paths
        if (found := deep(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert wrong == {}


@pytest.mark.parametrize("helper", ["locking.py", "loopback_door.py"])
def test_what_helps_them_does_so_too(helper):
    assert deep(ast.parse((HERE / "unit" / "support" / helper).read_text(encoding="utf-8"))) == []


def test_an_import_from_behind_a_door_is_noticed():
    code = "import judgesmith.programs.lm\nfrom judgesmith.metrics.records import Estimate\n"
    code += "from judgesmith import metrics\nfrom judgesmith.programs import Judge\n"
    assert deep(ast.parse(code)) == ["judgesmith.programs.lm", "judgesmith.metrics.records"]
