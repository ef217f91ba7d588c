import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import judgesmith

HEAVY = ["dspy", "pandas", "scipy", "numpy", "litellm", "optuna", "rich", "pydantic", "click"]


def test_importing_the_package_imports_nothing_heavy():
    program = f"import judgesmith, sys; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", judgesmith.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(judgesmith, name).__doc__


def test_the_names_are_sorted_and_are_all_that_is_shown():
    assert sorted(judgesmith.__all__) == judgesmith.__all__ == dir(judgesmith)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(judgesmith.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = [alias.asname or alias.name for node in block.body for alias in node.names]
    assert sorted(seen) == judgesmith.__all__


PACKAGE = Path(judgesmith.__file__).parent
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.parent.name)
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
    with pytest.raises(AttributeError, match="judgesmith has no 'jugde'; it has ActiveCritic,"):
        _ = judgesmith.jugde


def test_names_of_rooms_can_be_imported_as_modules():
    from judgesmith import metrics, programs

    assert (metrics.__name__, programs.__name__) == ("judgesmith.metrics", "judgesmith.programs")
